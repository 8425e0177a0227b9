// Reads numbers and tables from bytes, and writes them in another order. Numbers keep their spelling, and rows keep their bytes: only the fields
// that determine the order are decoded.

import { isTooLarge, valueOf } from "./numbers.js";

export interface Content {
  kind: "numbers" | "table";
  bytes: Uint8Array;
  /** The end of the part that stays in front: a byte order mark, a header. */
  header: number;
  /** The names of columns, all different; empty for numbers. */
  columns: string[];
  /** The delimiter; NONE if each line is one field, including its quotes. */
  delimiter: number;
  /** The beginning and the end of each record. */
  begins: number[];
  ends: number[];
}

/** The interpretation of bytes; rows are a table without a header. */
export type Reading = "auto" | "numbers" | "table" | "rows" | "lines";

export type Keys = Uint32Array | Int32Array | BigUint64Array | BigInt64Array | Float64Array;

const [LF, CR, QUOTE] = [10, 13, 34] as const;
const [COMMA, TAB, SEMICOLON] = [44, 9, 59] as const;
export const NONE = -1;
/** Dates and times at the start of a line: in digits, or after the name of a month or a day. */
const DATES = [
  /^"?\d{1,4}[-/.:]\d[-\d/.:TZ+ ]*([ap]m|utc|gmt)?(?=[",;\t]|$)/i,
  /^"?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]? +\d/i,
];
/** The start of an object or an array of JSON, but not of a name in brackets. */
const JSON_START = /^(\{|\[\s*(["[{\]\d-]|true|false|null))/;
const BETWEEN = new Set([9, 10, 13, 32, 44, 59]);
const utf8 = new TextDecoder();
/** Decodes each byte to one code unit, in the order of bytes: the decoded texts compare like their bytes. */
const raw = new TextDecoder("x-user-defined");

/** Quotes a text of raw code units for a message. */
function shown(text: string): string {
  const decoded = utf8.decode(Uint8Array.from(text, (unit) => unit.charCodeAt(0) & 0xff));
  return `'${decoded.length > 30 ? `${decoded.slice(0, 29)}…` : decoded}'`;
}

const lineAt = (bytes: Uint8Array, at: number) => bytes.subarray(0, at).reduce((line, byte) => line + Number(byte === LF), 1);

/** Finds numbers between spaces, commas and line ends. Throws for several numbers on a line, unless `areSeveral` permits them. */
function numbers(bytes: Uint8Array, header: number, areSeveral: boolean): Content {
  const [begins, ends]: [number[], number[]] = [[], []];
  for (let at = header, line = 0, last = -1; at < bytes.length; at++) {
    if (bytes[at] === LF) line++;
    if (BETWEEN.has(bytes[at]!)) continue;
    if (line === last && !areSeveral) {
      throw new Error(`line ${line + 1}: more than one number, but the first line has one; read it as numbers, or as a table`);
    }
    last = line;
    begins.push(at);
    while (at + 1 < bytes.length && !BETWEEN.has(bytes[at + 1]!)) at++;
    ends.push(at + 1);
  }
  return { kind: "numbers", bytes, header, columns: [], delimiter: COMMA, begins, ends };
}

/** Returns the end of the field that begins here; a field in quotes may contain line ends. */
function fieldEnd(bytes: Uint8Array, from: number, delimiter: number): number {
  let at = from;
  if (bytes[at] === QUOTE && delimiter !== NONE) {
    for (at++; bytes[at] !== QUOTE || bytes[at + 1] === QUOTE; at++) {
      if (bytes[at] === QUOTE) at++;
      if (at >= bytes.length) throw new Error(`line ${lineAt(bytes, from)}: the quote is not closed; add one at the end of the field`);
    }
  }
  while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== LF) at++;
  return at;
}

/** Returns the first line of a text, without quoted parts. */
const firstOf = (text: string) => text.replace(/"[^"]*("|$)/g, "").trimStart().split("\n", 1)[0]!;

/** Finds the rows of a table. Blank lines are left out, except in a table of one column, where they are empty fields. */
function table(bytes: Uint8Array, mark: number, reading: Reading): Content {
  const hasHeader = reading === "table";
  const first = firstOf(raw.decode(bytes.subarray(mark, mark + 65536)));
  if (/\r[^]/.test(first)) throw new Error("the lines end in CR alone; save the file with line ends LF or CR LF");
  const times = (delimiter: number) => first.split(String.fromCharCode(delimiter)).length;
  const delimiter = reading === "lines" ? NONE : [COMMA, TAB, SEMICOLON].reduce((best, other) => (times(other) > times(best) ? other : best));
  const content: Content = { kind: "table", bytes, header: mark, columns: [], delimiter, begins: [], ends: [] };
  const { columns, begins, ends } = content;
  for (let begin = mark, end; begin < bytes.length; begin = end) {
    let at = fieldEnd(bytes, begin, delimiter);
    while (bytes[at] === delimiter) at = fieldEnd(bytes, at + 1, delimiter);
    end = Math.min(at + 1, bytes.length);
    const isBlank = at === begin || (at === begin + 1 && bytes[begin] === CR);
    if (isBlank && columns.length !== 1) continue;
    const isFirst = columns.length === 0;
    if (isFirst) {
      const names = fields(content, begin, end);
      const isOwn = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
      const named = (name: string, at: number) => (isOwn(name) ? name : `${name}, column ${at + 1}`);
      columns.push(...names.map((name, at) => (hasHeader && name !== "" ? named(name, at) : `column ${at + 1}`)));
    }
    if (isFirst && hasHeader) {
      content.header = end;
    } else {
      begins.push(begin);
      ends.push(end);
    }
  }
  return content;
}

/** Returns the fields of a row, without their quotes. With `wanted`, the other fields are empty. */
export function fields({ bytes, delimiter }: Content, begin: number, end: number, decoder = utf8, wanted?: number): string[] {
  const all: string[] = [];
  if (bytes[end - 1] === LF) end--;
  if (bytes[end - 1] === CR) end--;
  for (let from = begin, to; from <= end; from = to + 1) {
    to = Math.min(fieldEnd(bytes, from, delimiter), end);
    const text = (wanted ?? all.length) === all.length ? decoder.decode(bytes.subarray(from, to)) : "";
    all.push(text.startsWith('"') && delimiter !== NONE ? text.replace(/^"|"$/g, "").replaceAll('""', '"') : text);
  }
  return all;
}

/** Returns true for a line that begins with a number, a date or a time: such a line does not name columns. */
const isData = (line: string) =>
  DATES.some((form) => form.test(line)) || valueOf(line.split(/[,;\t]/, 1)[0]!.replace(/^"|"$/g, "").trim()) !== undefined;

/**
 * Guesses the reading of a text that does not begin with a number. The first line of a single column is a header only if the second line is
 * data.
 */
function guess(text: string, isCsv: boolean): Reading {
  const [first = "", second = ""] = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (JSON_START.test(first)) return "lines";
  const isTable = isCsv || /[,;\t]/.test(firstOf(text));
  if (!isData(first) && (isTable || isData(second))) return "table";
  return isTable || first.startsWith('"') ? "rows" : "lines";
}

/** Reads bytes. The reading "auto" considers the first two lines: a single number, or a row of numbers, is not a header. */
export function content(bytes: Uint8Array, reading: Reading, name = ""): Content {
  const [one, two, three] = bytes;
  if (bytes.includes(0) || (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff)) {
    throw new Error("this is binary, or text in UTF-16; save it as text in UTF-8");
  }
  const mark = one === 0xef && two === 0xbb && three === 0xbf ? 3 : 0;
  if (reading === "numbers") return numbers(bytes, mark, true);
  if (reading !== "auto") return table(bytes, mark, reading);
  const begin = bytes.findIndex((byte, at) => at >= mark && !BETWEEN.has(byte));
  const end = begin < 0 ? -1 : bytes.indexOf(LF, begin);
  const isAlone = end < 0 || bytes.subarray(end).every((byte) => BETWEEN.has(byte));
  const words = raw.decode(bytes.subarray(Math.max(begin, 0), end < 0 ? bytes.length : end)).match(/[^\s,;]+/g) ?? [];
  const isCsv = /\.(csv|tsv)$/i.test(name);
  if (valueOf(words[0] ?? "") === undefined) {
    return table(bytes, mark, guess(utf8.decode(bytes.subarray(Math.max(begin, 0), begin + 65536)), isCsv));
  }
  return isCsv || (words.length > 1 && !isAlone) ? table(bytes, mark, "rows") : numbers(bytes, mark, isAlone);
}

/** Returns the texts that determine the order: numbers, or the fields of a column. */
export function textsOf(content: Content, column: number): string[] {
  const { bytes, begins, ends, kind, columns } = content;
  return begins.map((begin, at) => {
    if (kind === "numbers") return raw.decode(bytes.subarray(begin, ends[at]));
    const all = fields(content, begin, ends[at]!, raw, column);
    if (all.length !== columns.length) {
      const count = all.length === 1 ? "1 field" : `${all.length} fields`;
      throw new Error(`line ${lineAt(bytes, begin)}: ${count}, but the first line has ${columns.length}; correct the line, or read the text as lines`);
    }
    return all[column]!;
  });
}

/** Returns the keys of these numbers, in the first type of u32, i32, u64 and i64 that holds all numbers, or else in f64. */
function keysOf(texts: string[], fail: (at: number, what: string) => never): { type: string; keys: Keys } {
  const values = texts.map((text, at) => valueOf(text) ?? fail(at, "is not a number"));
  const isInteger = (text: string) => /^[+-]?\d+$/.test(text);
  const range = (least: number, end: number) => values.every((value) => value >= least && value < end);
  const exact = (text: string) => BigInt(text.replace("+", ""));
  if (texts.every(isInteger)) {
    if (range(0, 2 ** 32)) return { type: "u32", keys: Uint32Array.from(values) };
    if (range(-(2 ** 31), 2 ** 31)) return { type: "i32", keys: Int32Array.from(values) };
    const big = texts.map(exact);
    const beyond = (bits: 63n | 64n, least: bigint) => big.findIndex((value) => value < least || value >= 1n << bits);
    if (beyond(64n, 0n) < 0) return { type: "u64", keys: BigUint64Array.from(big) };
    const at = beyond(63n, -1n << 63n);
    return at < 0 ? { type: "i64", keys: BigInt64Array.from(big) } : fail(at, "fits no integer of 64 bits with the others");
  }
  texts.forEach((text, at) => {
    if (isTooLarge(text, values[at]!)) fail(at, "is too large for 64 bits");
    if (isInteger(text) && exact(text) !== BigInt(values[at]!)) fail(at, "would be rounded beside numbers with decimals");
  });
  return { type: "f64", keys: Float64Array.from(values) };
}

/**
 * Returns the order of the records: by number if the first text is a number, otherwise by bytes. Empty texts are last. The time covers the
 * argsort alone.
 */
export async function order(
  content: Content,
  column: number,
  { descending, asText }: { descending: boolean; asText: boolean },
  argsort: (keys: Keys, descending: boolean) => Promise<Uint32Array>,
): Promise<{ positions: Uint32Array; type: string; ms: number }> {
  const texts = textsOf(content, column);
  const [full, empty]: [number[], number[]] = [[], []];
  texts.forEach((text, at) => (text.trim() === "" ? empty : full).push(at));
  const isText = asText || (content.kind === "table" && valueOf((texts[full[0]!] ?? "").trim()) === undefined);
  const own = full.map((at) => (isText ? texts[at]! : texts[at]!.trim()));
  const fail = (at: number, what: string): never => {
    const line = lineAt(content.bytes, content.begins[full[at]!]!);
    throw new Error(`line ${line}: ${shown(own[at]!)} ${what}; correct it, or sort as text`);
  };
  const { type, keys } = isText ? { type: "text", keys: undefined } : keysOf(own, fail);
  const begin = performance.now();
  const places = keys === undefined ? byText(own, descending) : await argsort(keys, descending);
  const ms = performance.now() - begin;
  const positions = new Uint32Array(texts.length);
  places.forEach((place, at) => (positions[at] = full[place]!));
  positions.set(empty, full.length);
  return { positions, type, ms };
}

function byText(texts: string[], descending: boolean): Uint32Array {
  const before = descending ? 1 : -1;
  return Uint32Array.from(texts, (_, at) => at).sort((a, b) => (texts[a] === texts[b] ? a - b : texts[a]! < texts[b]! ? before : -before));
}

/** Writes the records in this order with their original bytes, after the part that stays in front. Each number gets its own line. */
export function written({ bytes, begins, ends, header, kind }: Content, positions: Uint32Array): Uint8Array<ArrayBuffer> {
  // If the last row lacks a line end, it gets the line end of the first line.
  const first = kind === "numbers" ? bytes.indexOf(LF) : bytes[header - 1] === LF ? header - 1 : (ends[0] ?? 0) - 1;
  const ending = bytes[first] === LF && bytes[first - 1] === CR ? [CR, LF] : [LF];
  const endsLine = (at: number) => kind === "table" && bytes[ends[at]! - 1] === LF;
  const all = new Uint8Array(positions.reduce((sum, at) => sum + ends[at]! - begins[at]! + (endsLine(at) ? 0 : ending.length), header));
  all.set(bytes.subarray(0, header));
  let to = header;
  for (const at of positions) {
    all.set(bytes.subarray(begins[at], ends[at]), to);
    to += ends[at]! - begins[at]!;
    if (endsLine(at)) continue;
    all.set(ending, to);
    to += ending.length;
  }
  return all;
}
