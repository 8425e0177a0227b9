// Performs plans on a few numbers. Which positions are compared, what each pass does and in which words comes
// from `generated/`; only the comparisons and the moves by a digit are made here.

import { digitBits } from "./generated/index.js";

/** A variant of an algorithm, and how its sorts are loaded. */
export interface Method {
  algorithm: string;
  variant: string;
  /** Sizes of tiles that it has plans for. */
  tiles: number[];
  what: string;
  load: () => Promise<{ sorts: Sorts }>;
}

/** A layer of a pass: the number of a step, what is done with a digit, or where the element of each position comes from. */
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

/** Kind, first position, positions, elements after it, workgroups, bytes moved. */
type Row = [number, number, number, number, number, number];

export interface Sorts {
  /** Names of steps, and the positions that they compare, in pairs: the smaller element goes to the first. */
  steps: [string, number[]][];
  /** For each layout of tiles, the tint of each position. */
  tints: string[];
  kinds: Kind[];
  /** The passes, for each size of tiles and each number of elements from 2 on. */
  sorts: Row[][][];
}

/** Where the smaller element goes, where the other goes, and whether they changed places. */
export type Compared = [low: number, high: number, swapped: boolean];

/** What fills up: behind all elements. */
export const FILLER = -1;

/** Operations that are made at once. Elements are positions in the input, or `FILLER`. */
export interface Layer {
  does: "compare" | "place" | "clear" | "count" | "sum" | "move";
  name: string;
  pairs: Compared[];
  /** For each position the one that its element comes from. */
  from: number[];
  /** Of each value of a digit: how many there are, or how many lower ones. */
  counts: number[];
  before: number[];
  after: number[];
}

export interface Pass extends Kind {
  number: number;
  first: number;
  workgroups: number;
  moved: number;
  /** The tint of each of its positions; empty without tiles. */
  tinted: string;
  layers: Layer[];
  before: number[];
  after: number[];
}

const VALUES = 2 ** digitBits;

/** A digit of a key, counted from the lowest. */
export const digitOf = (key: number, digit: number) => (key >>> (digit * digitBits)) & (VALUES - 1);

/** Performs the sort of these keys: of `Uint32Array`, whose order is that of the elements. */
export function perform(sorts: Sorts, tile: number, keys: Uint32Array): Pass[] {
  const rows = sorts.sorts[tile]?.[keys.length - 2];
  if (rows === undefined) throw new Error(`there is no plan for ${keys.length} elements; use 2 to ${(sorts.sorts[0]?.length ?? 0) + 1}`);
  let elements = Array.from(keys, (_, at) => at);
  // The counts that the last pass made, and the next ones use.
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
