// What a family of kernels is, which crates/npm writes, and what its numbers mean.

/** What a number is made of: "one", the tiles of the elements, or the chunks of these; how often. */
export type Count = ["one" | "tiles" | "chunks", number];

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
  digit: number;
  /** Whether elements are in the other array after it. */
  swaps: boolean;
  workgroups: Count;
}

export interface Sort {
  descending: boolean;
  payload: boolean;
  /** Elements in a tile. */
  tile: number;
  /** Chunks of tiles, at most. */
  chunks: number;
  /** Digits in a key. */
  digits: number;
  /** Words of the buffers that kernels need beside keys and payload. */
  buffers: Record<string, Count>;
  kernels: Kernel[];
  passes: Pass[];
}

/** Kernels for keys of one type on devices of one class. */
export interface Family {
  items: string[];
  sorts: Sort[];
}

/** Tiles that one workgroup counts, in a workspace for so many elements. */
export function chunkOf(sort: Sort, capacity: number): number {
  return Math.ceil(Math.ceil(capacity / sort.tile) / sort.chunks);
}

/** The number that this is for `n` of at most `capacity` elements. */
export function numberOf([of, times]: Count, sort: Sort, capacity: number, n: number): number {
  const tiles = Math.ceil(n / sort.tile);
  const base = of === "one" ? 1 : of === "tiles" ? tiles : Math.ceil(tiles / chunkOf(sort, capacity));
  return times * base;
}

/** The flattest grid of at least so many workgroups. */
export function gridOf(workgroups: number, most: number): [number, number] {
  const rows = Math.max(1, Math.ceil(workgroups / most));
  return [Math.ceil(workgroups / rows), rows];
}

/** The text of a kernel. */
export function textOf(family: Family, kernel: Kernel): string {
  return kernel.items.map((item) => family.items[item]).join("");
}
