// Performs plans on a few numbers. The compared positions and the descriptions of passes come from `generated/`; this
// module performs only the comparisons and the moves by a digit.

import { digitBits } from "./generated/index.js";

/** A variant of an algorithm, with its sorts. */
export interface Method {
  algorithm: string;
  variant: string;
  /** The tile sizes of its plans. */
  tiles: number[];
  what: string;
  load: () => Promise<{ sorts: Sorts }>;
}

/** The operation of a layer: a step by its number, an operation on a digit, or the source position of each position. */
type Does = number | "clear" | "count" | "sum" | "move" | number[];

interface Kind {
  kernel: string;
  what: string;
  digit?: number;
  tile?: number;
  held?: string;
  tints?: number;
  does: Does[];
}

/**
 * The number of the kind, the first position, the number of positions, the number of elements afterwards, workgroups, and
 * bytes moved.
 */
type Row = [number, number, number, number, number, number];

export interface Sorts {
  /** The names of steps, and their pairs of positions: the smaller element goes to the first of a pair. */
  steps: [string, number[]][];
  /** The tint of each position, for each layout of tiles. */
  tints: string[];
  kinds: Kind[];
  /** The passes, for each tile size and each number of elements from 2 on. */
  sorts: Row[][][];
}

/** The position of the smaller element, the position of the other one, and true if they changed places. */
export type Compared = [low: number, high: number, swapped: boolean];

/** The padding, which sorts after all elements. */
export const FILLER = -1;

/** Simultaneous operations. Elements are positions in the input, or `FILLER`. */
export interface Layer {
  does: "compare" | "place" | "clear" | "count" | "sum" | "move";
  name: string;
  pairs: Compared[];
  /** The source position of each position. */
  from: number[];
  /** The number of elements with each value of a digit, or with lower values. */
  counts: number[];
  before: number[];
  after: number[];
}

export interface Pass extends Kind {
  number: number;
  first: number;
  workgroups: number;
  moved: number;
  /** The tint of each position of the pass; empty without tiles. */
  tinted: string;
  layers: Layer[];
  before: number[];
  after: number[];
}

const VALUES = 2 ** digitBits;

/** Returns a digit of a key, counted from the lowest. */
export const digitOf = (key: number, digit: number) => (key >>> (digit * digitBits)) & (VALUES - 1);

/**
 * Performs the sort of these keys, which have the order of their elements. Throws if no plan has this number of elements.
 */
export function perform(sorts: Sorts, tile: number, keys: Uint32Array): Pass[] {
  const rows = sorts.sorts[tile]?.[keys.length - 2];
  if (rows === undefined) throw new Error(`there is no plan for ${keys.length} elements; use 2 to ${(sorts.sorts[0]?.length ?? 0) + 1}`);
  let elements = Array.from(keys, (_, at) => at);
  // The counts of the last counting pass, for the passes after it.
  let counts: number[] = [];
  const key = (at: number) => (elements[at] === FILLER ? Infinity : keys[elements[at]!]!);
  const compared = (low: number, high: number): Compared => {
    const swapped = key(high) < key(low);
    if (swapped) [elements[low], elements[high]] = [elements[high]!, elements[low]!];
    return [low, high, swapped];
  };
  const layer = ({ what, digit = 0 }: Kind, does: Does, first: number, count: number): Layer => {
    const made: Layer = { does: "place", name: what, pairs: [], from: [], counts: [], before: elements.slice(), after: [] };
    if (typeof does === "number") {
      const [name, positions] = sorts.steps[does]!;
      Object.assign(made, { does: "compare", name });
      for (let at = 0; at < positions.length; at += 2) {
        const [low, high] = [positions[at]!, positions[at + 1]!];
        if (Math.max(low, high) < count) made.pairs.push(compared(first + low, first + high));
      }
    } else if (Array.isArray(does)) {
      made.from = does;
    } else {
      made.does = does;
      const digitAt = (at: number) => digitOf(key(at), digit);
      if (does === "count") counts = Array.from({ length: VALUES }, (_, value) => elements.filter((_, at) => digitAt(at) === value).length);
      if (does === "sum") counts = counts.map((_, value) => counts.slice(0, value).reduce((sum, count) => sum + count, 0));
      if (does === "count" || does === "sum") made.counts = counts;
      if (does === "move") made.from = elements.map((_, at) => at).sort((a, b) => digitAt(a) - digitAt(b) || a - b);
    }
    if (made.from.length > 0) elements = made.from.map((from) => elements[from] ?? FILLER);
    made.after = elements.slice();
    return made;
  };
  return rows.map(([number, first, count, length, workgroups, moved], at) => {
    const kind = sorts.kinds[number]!;
    const before = elements.slice();
    while (elements.length < length) elements.push(FILLER);
    const layers = kind.does.map((does) => layer(kind, does, first, count));
    elements.length = length;
    const tinted = kind.tints === undefined ? "" : sorts.tints[kind.tints]!.slice(0, count);
    return { ...kind, number: at + 1, first, workgroups, moved, tinted, layers, before, after: elements.slice() };
  });
}
