// The format of a family of kernels, which crates/npm writes, and the meaning of its numbers.

/** A number of words or workgroups: the counted unit, with its sizes in `size`; the factor; the addend; and the maximum. */
export interface Amount {
  of: "one" | "tiles" | "chunks" | "long" | "long tiles" | "blocks" | "selected" | "parts" | "listed";
  size?: number[];
  times?: number;
  plus?: number;
  most?: number;
}

export interface Kernel {
  entry: string;
  /** The numbers of declarations in the family's list. */
  items: number[];
  /** The bindings of group 0; for each the name of its buffer, and true if the kernel only reads it. */
  bindings: number[];
  buffers: [string, boolean][];
}

export interface Pass {
  kernel: number;
  /** The kernel that writes positions as payload, if it is another kernel. */
  numbered?: number;
  digit?: number;
  /** The group of segments that the pass sorts. */
  group?: number;
  /** True if the pass moves elements to the other array. */
  swaps?: boolean;
  workgroups: Amount;
}

export interface Sort {
  descending: boolean;
  payload: boolean;
  /** The number of elements in a tile. */
  tile: number;
  /** The maximum number of chunks of tiles. */
  chunks: number;
  /** The length of the longest row or segment that shares a tile with others. */
  longest: number;
  /** The number of digits in a key. */
  digits: number;
  /** The numbers of words of the kernels' further buffers, beside keys and payload. */
  buffers: Record<string, Amount>;
  passes: Pass[];
  /** The selection of first elements, for at least `least` elements: its passes, and the text that writes their arguments. */
  top: { least: number; items: number[]; buffers: Record<string, Amount>; passes: Pass[] };
  /** The sort of segments: its passes, groups of short segments first, and the text that finds segments. */
  segments: { items: number[]; buffers: Record<string, Amount>; passes: Pass[] };
  /** For rows up to each power of two: the kernel, the kernel that writes positions, and the number of rows in a tile. */
  rows: [number, number, number][];
  kernels: Kernel[];
}

/** Kernels for keys of one type on devices of one class. */
export interface Family {
  items: string[];
  sorts: Sort[];
}

/** The sizes that determine an amount: `n` elements of at most `capacity`, and `k` selected elements. */
export interface Size {
  capacity: number;
  n: number;
  k?: number;
}

/** Returns the number of tiles that one workgroup counts, in a workspace for `capacity` elements. */
export function chunkOf(sort: Sort, capacity: number): number {
  return Math.ceil(Math.ceil(capacity / sort.tile) / sort.chunks);
}

/** Returns an amount for these sizes. */
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
    // For each class, the length of its shortest segment, and the number of segments in a tile.
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

/** Returns the grid with the fewest rows that has at least this number of workgroups. */
export function gridOf(workgroups: number, most: number): [number, number] {
  const rows = Math.max(1, Math.ceil(workgroups / most));
  return [Math.ceil(workgroups / rows), rows];
}

/** Returns the text of these declarations. */
export function textOf(family: Family, items: number[]): string {
  return items.map((item) => family.items[item]).join("");
}
