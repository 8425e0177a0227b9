// Written by crates/npm: do not edit.
import type { Method } from "../plan.js";

/** The most elements. */
export const most = 64;

/** Bits of a digit. */
export const digitBits = 8;

export const methods: Method[] = [
  {
    algorithm: "bitonic",
    variant: "fused",
    tiles: [4, 8, 16],
    what: "Batcher's bitonic network merges sorted blocks of 1, 2, 4, … elements. A tile may gather elements from all over the array. If their positions differ only in certain bits, the tile can take every step whose stride is one of these bits. So a pass takes as many steps as the tile has bits, even across the end of a stage.",
    load: () => import("./bitonic-fused.js"),
  },
  {
    algorithm: "bitonic",
    variant: "local-global",
    tiles: [4, 8, 16],
    what: "Batcher's bitonic network merges sorted blocks of 1, 2, 4, … elements. Steps with small distances stay within a tile. The first pass sorts tiles in workgroup memory. Each later stage takes one pass for every step that leaves the tiles, and one pass for all remaining steps.",
    load: () => import("./bitonic-local-global.js"),
  },
  {
    algorithm: "bitonic",
    variant: "transpose",
    tiles: [4, 8, 16],
    what: "Batcher's bitonic network merges sorted blocks of 1, 2, 4, … elements. Read the array as a matrix whose rows are tiles. A transposition turns columns into rows, so that steps across the array become steps within one tile. Extra passes transpose the matrix and transpose it back.",
    load: () => import("./bitonic-transpose.js"),
  },
  {
    algorithm: "bitonic",
    variant: "naive",
    tiles: [4],
    what: "Batcher's bitonic network merges sorted blocks of 1, 2, 4, … elements. Each step of the network is a pass. It reads and writes every element, and compares it once.",
    load: () => import("./bitonic-naive.js"),
  },
  {
    algorithm: "odd-even",
    variant: "block",
    tiles: [4, 8, 16],
    what: "Odd-even transposition compares neighbours, from even and from odd positions in turn. Blocks take the place of elements. The first pass sorts tiles. Each later pass merges the two halves of every tile; in every second pass the tiles are shifted by half a tile.",
    load: () => import("./odd-even-block.js"),
  },
  {
    algorithm: "odd-even",
    variant: "naive",
    tiles: [4],
    what: "Odd-even transposition compares neighbours, from even and from odd positions in turn. Each phase is a pass. The GPU notes the last phase that swapped; after two phases without a swap, the rest return at once. This variant is for demonstration.",
    load: () => import("./odd-even-naive.js"),
  },
  {
    algorithm: "radix",
    variant: "onesweep",
    tiles: [8, 16],
    what: "A radix sort compares nothing. It moves elements to the other array by a digit of eight bits, the lowest digit first; elements with the same digit keep their order. One pass builds the histograms of all digits.",
    load: () => import("./radix-onesweep.js"),
  },
  {
    algorithm: "radix",
    variant: "reduce-scan",
    tiles: [8, 16],
    what: "A radix sort compares nothing. Look-back needs workgroups that make progress while others wait, which not every GPU guarantees. This variant counts each digit tile by tile, sums the counts, and then moves the elements. It reads the keys once more for each digit.",
    load: () => import("./radix-reduce-scan.js"),
  },
];
