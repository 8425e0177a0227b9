// Numbers to look at: as they are typed, as the presets make them, and as keys of 32 bits.

export interface Numbers {
  /** Each as it is written. */
  texts: string[];
  type: "u32" | "i32" | "f32";
  /** In the order of the numbers. */
  keys: Uint32Array;
}

export const PRESETS = ["random", "reversed", "few values", "nearly sorted"];

const NUMBER = /^[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|infinity|nan)$/i;

/** What a text says as a number; `undefined` if nothing. */
export function valueOf(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const word = text.toLowerCase().replace("+", "");
  return word.endsWith("nan") ? NaN : Number(word.replace(/inf(inity)?$/, "Infinity"));
}

/** Whether a number became infinite that is not written so. */
export const isTooLarge = (text: string, value: number) => Math.abs(value) === Infinity && !/inf/i.test(text);

/** The numbers of a text, between commas or spaces. */
export function parsed(text: string, most: number): Numbers {
  const texts = text.split(/[\s,;]+/).filter((text) => text !== "");
  const fail = (at: number, what: string): never => {
    throw new Error(`number ${at + 1}: '${texts[at]}' ${what}`);
  };
  const values = texts.map((text, at) => valueOf(text) ?? fail(at, "is not a number; write numbers between commas or spaces"));
  if (texts.length < 2 || texts.length > most) throw new Error(`${texts.length} number${texts.length === 1 ? "" : "s"}; write 2 to ${most}`);
  const integers = values.every((value) => Number.isInteger(value) && !Object.is(value, -0));
  const within = (least: number, end: number) => integers && values.every((value) => value >= least && value < end);
  const type = within(0, 2 ** 32) ? "u32" : within(-(2 ** 31), 2 ** 31) ? "i32" : "f32";
  values.forEach((value, at) => {
    if (type !== "f32") return;
    if (isTooLarge(texts[at]!, Math.fround(value))) fail(at, "is too large for 32 bits; use numbers up to 3e38");
    if (integers && (Math.fround(value) !== value || Math.abs(value) > Number.MAX_SAFE_INTEGER)) {
      fail(at, "fits no type of 32 bits with the others; use numbers from -2147483648 to 2147483647");
    }
  });
  return { texts, type, keys: Uint32Array.from(values, (value) => keyOf(value, type)) };
}

/** The key whose order is that of the numbers: -0 before +0, NaN last. */
function keyOf(value: number, type: Numbers["type"]): number {
  if (type !== "f32") return (type === "i32" ? value ^ 0x80000000 : value) >>> 0;
  if (Number.isNaN(value)) return 0xffffffff;
  const bits = new Uint32Array(new Float32Array([value]).buffer)[0]!;
  return (bits >>> 31 === 1 ? ~bits : bits | 0x80000000) >>> 0;
}

/** Numbers below 1000, the same for the same seed. */
export function preset(name: string, n: number, seed: number): string {
  let state = (seed * 2654435761 + 12345) >>> 0;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const random = Array.from({ length: n }, () => next(1000));
  const few = [next(250), 250 + next(250), 500 + next(500)];
  const rising = random.slice().sort((a, b) => a - b);
  const nearly = rising.slice();
  for (let swap = 0; swap < Math.ceil(n / 8); swap++) {
    const [a, b] = [next(n), next(n)];
    [nearly[a], nearly[b]] = [nearly[b]!, nearly[a]!];
  }
  const all = { random, reversed: rising.reverse(), "few values": random.map((value) => few[value % 3]), "nearly sorted": nearly };
  return all[name as keyof typeof all].join(", ");
}

/** The number of smaller keys, for each key. */
export function ranksOf(keys: Uint32Array): number[] {
  const sorted = keys.slice().sort();
  return Array.from(keys, (key) => sorted.indexOf(key));
}
