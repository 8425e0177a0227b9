// What a family of kernels is, which crates/npm writes, and what its numbers mean.

/** What is counted, of which `size` says more; how often; what is added; and the most. */
export interface Amount {
  of: "one" | "tiles" | "chunks" | "long" | "long tiles" | "blocks" | "selected" | "parts" | "listed";
  size?: number[];
  times?: number;
  plus?: number;
  most?: number;
}

export interface Kernel {
  entry: string;
  /** Numbers of declarations, in the family's list. */
  items: number[];
  /** The bindings of group 0, and for each which buffer it is and whether it is only read. */
  bindings: number[];
  buffers: [string, boolean][];
}

export interface Pass {
  kernel: number;
  /** The kernel that numbers the payload, where it is another one. */
  numbered?: number;
  digit?: number;
  /** The group of segments that it sorts. */
  group?: number;
  /** Whether elements are in the other array after it. */
  swaps?: boolean;
  workgroups: Amount;
}

export interface Sort {
  descending: boolean;
  payload: boolean;
  /** Elements in a tile. */
  tile: number;
  /** Chunks of tiles, at most. */
  chunks: number;
  /** Elements in the longest row or segment that is sorted with others. */
  longest: number;
  /** Digits in a key. */
  digits: number;
  /** Words of the buffers that kernels need beside keys and payload. */
  buffers: Record<string, Amount>;
  passes: Pass[];
  /** What selects the first of at least so many elements, and the text that writes its arguments. */
  top: { least: number; items: number[]; buffers: Record<string, Amount>; passes: Pass[] };
  /** What sorts segments, groups of short ones first, and the text that finds them. */
  segments: { items: number[]; buffers: Record<string, Amount>; passes: Pass[] };
  /** For rows of up to each power of two: the kernel, that which numbers, and rows in a tile. */
  rows: [number, number, number][];
  kernels: Kernel[];
}

/** Kernels for keys of one type on devices of one class. */
export interface Family {
  items: string[];
  sorts: Sort[];
}

/** What a number is for: `n` elements of at most `capacity`, of which the first `k` are selected. */
export interface Size {
  capacity: number;
  n: number;
  k?: number;
}

/** Tiles that one workgroup counts, in a workspace for so many elements. */
export function chunkOf(sort: Sort, capacity: number): number {
  return Math.ceil(Math.ceil(capacity / sort.tile) / sort.chunks);
}

/** The number that this is for so many elements. */
export function numberOf({ of, size = [], times = 1, plus = 0, most = Infinity }: Amount, sort: Sort, { capacity, n, k = 0 }: Size): number {
  const [first = 1, second = 1] = size;
  const tiles = Math.ceil(n / sort.tile);
  const long = Math.floor(n / (sort.longest + 1));
  const base = {
    one: () => 1,
    tiles: () => tiles,
    chunks: () => Math.ceil(tiles / chunkOf(sort, capacity)),
    long: () => long,
    "long tiles": () => tiles + long,
    blocks: () => Math.ceil(n / first),
    selected: () => Math.ceil(k / first),
    parts: () => Math.ceil(n / Math.max(first, Math.ceil(Math.ceil(n / first) / second) * first)),
    // For each class the elements in its shortest segment, and the segments in a tile.
    listed: () => {
      let sum = 0;
      for (let at = 0; at < size.length; at += 2) {
        sum += Math.ceil(Math.floor(n / size[at]!) / size[at + 1]!);
      }
      return sum;
    },
  }[of]();
  return Math.min(times * base + plus, most);
}

/** The flattest grid of at least so many workgroups. */
export function gridOf(workgroups: number, most: number): [number, number] {
  const rows = Math.max(1, Math.ceil(workgroups / most));
  return [Math.ceil(workgroups / rows), rows];
}

/** The text of these declarations. */
export function textOf(family: Family, items: number[]): string {
  return items.map((item) => family.items[item]).join("");
}
