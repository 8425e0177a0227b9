// Reads numbers and tables from bytes, and writes them in another order. Numbers keep their spelling, and rows
// their bytes: only what decides the order is decoded.

import { valueOf } from "./numbers.js";

/** Where records lie in the bytes, and the line on which each begins. */
interface Records {
  begins: number[];
  ends: number[];
  lines: number[];
}

export interface Content extends Records {
  kind: "numbers" | "table";
  bytes: Uint8Array;
  /** The end of the header, which stays in front. */
  header: number;
  /** Names of columns; none of numbers. */
  columns: string[];
  delimiter: number;
}

export type Keys = Uint32Array | Int32Array | BigUint64Array | BigInt64Array | Float64Array;

const [TAB, LF, CR, SPACE, QUOTE, COMMA, SEMICOLON] = [9, 10, 13, 32, 34, 44, 59] as const;
const decoder = new TextDecoder();

const shown = (text: string) => `'${text.length > 30 ? `${text.slice(0, 29)}…` : text}'`;

/** Numbers between spaces, commas and ends of lines. */
function numbers(bytes: Uint8Array): Content {
  const [begins, ends, lines]: [number[], number[], number[]] = [[], [], []];
  let begin = -1;
  let line = 1;
  for (let at = 0; at <= bytes.length; at++) {
    const byte = at < bytes.length ? bytes[at]! : LF;
    const isBetween = byte === SPACE || byte === TAB || byte === LF || byte === CR || byte === COMMA || byte === SEMICOLON;
    if (!isBetween && begin < 0) begin = at;
    if (isBetween && begin >= 0) {
      begins.push(begin);
      ends.push(at);
      lines.push(line);
      begin = -1;
    }
    if (byte === LF) line++;
  }
  return { kind: "numbers", bytes, header: 0, columns: [], delimiter: COMMA, begins, ends, lines };
}

/** Rows of a table: an end of a line between quotes belongs to its field. Blank lines are left out. */
function table(bytes: Uint8Array): Content {
  const [begins, ends, lines]: [number[], number[], number[]] = [[], [], []];
  const first = bytes.subarray(0, bytes.includes(LF) ? bytes.indexOf(LF) : bytes.length);
  const times = (delimiter: number) => first.reduce((sum, byte) => sum + Number(byte === delimiter), 0);
  const delimiter = [COMMA, TAB, SEMICOLON].reduce((best, other) => (times(other) > times(best) ? other : best));
  let [begin, line, opened] = [0, 1, 0];
  let lineOfRow = 1;
  let [isInside, isFieldsBegin] = [false, true];
  for (let at = bytes[0] === 0xef ? 3 : 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === LF) line++;
    if (isInside) {
      if (byte === QUOTE && bytes[at + 1] === QUOTE) at++;
      else if (byte === QUOTE) isInside = false;
    } else if (byte === QUOTE && isFieldsBegin) {
      isInside = true;
      opened = line;
    } else if (byte === LF) {
      const isBlank = at === begin || (at === begin + 1 && bytes[begin] === CR);
      if (!isBlank) {
        begins.push(begin);
        ends.push(at + 1);
        lines.push(lineOfRow);
      }
      begin = at + 1;
      lineOfRow = line;
    }
    isFieldsBegin = !isInside && (byte === delimiter || byte === LF);
  }
  if (isInside) {
    throw new Error(`line ${opened}: the quote is not closed; add one at the end of the field`);
  }
  if (begin < bytes.length) {
    begins.push(begin);
    ends.push(bytes.length);
    lines.push(lineOfRow);
  }
  const header = ends[0] ?? 0;
  const rows = { begins: begins.slice(1), ends: ends.slice(1), lines: lines.slice(1) };
  const content: Content = { kind: "table", bytes, header, columns: [], delimiter, ...rows };
  return { ...content, columns: header > 0 ? fields(content, begins[0]!, header) : [] };
}

/** The fields of a row, without their quotes; the others are empty if one alone is wanted. */
export function fields({ bytes, delimiter }: Content, begin: number, end: number, wanted?: number): string[] {
  const all: string[] = [];
  if (bytes[end - 1] === LF) end--;
  if (bytes[end - 1] === CR) end--;
  if (begin === 0 && bytes[0] === 0xef) begin = 3;
  for (let from = begin, at = begin; at <= end; at++) {
    if (at === from && bytes[at] === QUOTE && at < end) {
      for (at++; at < end && (bytes[at] !== QUOTE || bytes[at + 1] === QUOTE); at++) {
        if (bytes[at] === QUOTE) at++;
      }
    }
    if (at >= end || bytes[at] === delimiter) {
      const text = (wanted ?? all.length) === all.length ? decoder.decode(bytes.subarray(from, Math.min(at, end))) : "";
      all.push(text.startsWith('"') ? text.replace(/^"|"$/g, "").replaceAll('""', '"') : text);
      from = at + 1;
    }
  }
  return all;
}

/** What these bytes hold. Without a kind, the first word decides: a number, or the name of a column. */
export function content(bytes: Uint8Array, kind: "auto" | "numbers" | "table", name = ""): Content {
  const first = decoder.decode(bytes.subarray(0, 4096)).trimStart().split(/[\s,;]/, 1)[0]!;
  const isNumbers = kind === "auto" ? !/\.(csv|tsv)$/i.test(name) && valueOf(first) !== undefined : kind === "numbers";
  return isNumbers ? numbers(bytes) : table(bytes);
}

/** The texts that decide the order: numbers, or the fields of a column. */
export function textsOf(content: Content, column: number): string[] {
  const { bytes, begins, ends, lines, kind } = content;
  return begins.map((begin, at) => {
    if (kind === "numbers") return decoder.decode(bytes.subarray(begin, ends[at]));
    const all = fields(content, begin, ends[at]!, column);
    if (column >= all.length) {
      const name = `'${content.columns[column]}'`;
      throw new Error(`line ${lines[at]}: there are ${all.length} fields, but ${name} is number ${column + 1}; complete the line`);
    }
    return all[column]!;
  });
}

/** The keys of these numbers, in the first of u32, i32, u64 and i64 that holds all of them, or in f64. */
function keysOf(texts: string[], lines: number[], kind: Content["kind"]): { type: string; keys: Keys } {
  const values = texts.map((text, at) => {
    const value = valueOf(text);
    if (value === undefined) {
      const remedy = kind === "numbers" ? "read it as a table" : "sort as text";
      throw new Error(`line ${lines[at]}: ${shown(text)} is not a number; correct it, or ${remedy}`);
    }
    return value;
  });
  const isInteger = (text: string) => /^[+-]?\d+$/.test(text);
  const range = (least: number, end: number) => values.every((value) => value >= least && value < end);
  if (texts.every(isInteger)) {
    if (range(0, 2 ** 32)) return { type: "u32", keys: Uint32Array.from(values) };
    if (range(-(2 ** 31), 2 ** 31)) return { type: "i32", keys: Int32Array.from(values) };
    const big = texts.map((text) => BigInt(text.replace("+", "")));
    const within = (least: bigint, end: bigint) => big.findIndex((value) => value < least || value >= end);
    if (within(0n, 1n << 64n) < 0) return { type: "u64", keys: BigUint64Array.from(big) };
    const beyond = within(-1n << 63n, 1n << 63n);
    if (beyond < 0) return { type: "i64", keys: BigInt64Array.from(big) };
    throw new Error(`line ${lines[beyond]}: ${shown(texts[beyond]!)} fits no integer of 64 bits with the others; remove it, or sort as text`);
  }
  const inexact = texts.findIndex((text, at) => isInteger(text) && BigInt(text.replace("+", "")) !== BigInt(values[at]!));
  if (inexact >= 0) {
    const text = shown(texts[inexact]!);
    throw new Error(`line ${lines[inexact]}: ${text} would be rounded beside numbers with decimals; remove either, or sort as text`);
  }
  return { type: "f64", keys: Float64Array.from(values) };
}

export interface Sorted {
  positions: Uint32Array;
  /** The type of the keys, or text. */
  type: string;
  /** Milliseconds of the argsort alone. */
  ms: number;
}

/** The records in order: by number if the first text is one, else by code units. Empty texts are last. */
export async function order(
  content: Content,
  column: number,
  { descending, asText }: { descending: boolean; asText: boolean },
  argsort: (keys: Keys, descending: boolean) => Promise<Uint32Array>,
): Promise<Sorted> {
  const texts = textsOf(content, column);
  const [full, empty]: [number[], number[]] = [[], []];
  texts.forEach((text, at) => (text.trim() === "" ? empty : full).push(at));
  const isText = asText || (content.kind === "table" && full.length > 0 && valueOf(texts[full[0]!]!.trim()) === undefined);
  const own = full.map((at) => (isText ? texts[at]! : texts[at]!.trim()));
  const { type, keys } = isText ? { type: "text", keys: undefined } : keysOf(own, full.map((at) => content.lines[at]!), content.kind);
  const begin = performance.now();
  const places = keys === undefined ? byText(own, descending) : await argsort(keys, descending);
  const ms = performance.now() - begin;
  const positions = new Uint32Array(texts.length);
  places.forEach((place, at) => (positions[at] = full[place]!));
  positions.set(empty, full.length);
  return { positions, type, ms };
}

function byText(texts: string[], descending: boolean): Uint32Array {
  const compare = (a: number, b: number) => (texts[a] === texts[b] ? 0 : texts[a]! < texts[b]! === descending ? 1 : -1);
  return Uint32Array.from(texts, (_, at) => at).sort((a, b) => compare(a, b) || a - b);
}

/** The records in this order, each as it was: a header first, numbers one on a line. */
export function written({ bytes, begins, ends, header, kind }: Content, positions: Uint32Array): Uint8Array<ArrayBuffer> {
  const ending = kind === "table" && bytes[header - 2] === CR ? [CR, LF] : [LF];
  // The last row may have none, and a header without rows, too.
  const endsLine = (end: number) => kind === "table" && bytes[end - 1] === LF;
  const sizes = positions.reduce((sum, at) => sum + ends[at]! - begins[at]! + (endsLine(ends[at]!) ? 0 : ending.length), header);
  const all = new Uint8Array(sizes);
  all.set(bytes.subarray(0, header));
  let to = header;
  for (const at of positions) {
    all.set(bytes.subarray(begins[at], ends[at]), to);
    to += ends[at]! - begins[at]!;
    if (!endsLine(ends[at]!)) {
      all.set(ending, to);
      to += ending.length;
    }
  }
  return all;
}
