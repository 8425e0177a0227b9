// The oracle for typed arrays that are sorted, and the tests of these on a GPU.

import { argsort, sort } from "../dist/index.js";

/** Unsigned words as wide as elements. */
export const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array };

const all = [
  "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Float16Array",
  "Int32Array", "Uint32Array", "Float32Array", "BigInt64Array", "BigUint64Array", "Float64Array",
];

/** The types of arrays that this engine has. */
export const TYPES = Object.fromEntries(all.filter((name) => name in globalThis).map((name) => [name, globalThis[name]]));

export const KINDS = ["random", "few", "special", "rising", "falling", "equal", "narrow"];

/** The elements as unsigned words. */
export const bitsOf = (array) => new WORDS[array.BYTES_PER_ELEMENT](array.buffer, array.byteOffset, array.length);

/** Keys of a kind, the same in each run. Random bits have NaN of every payload. */
export function keysOf(type, n, kind, seed) {
  let state = BigInt(seed + n) * 0x9e3779b97f4a7c15n + 1n;
  const next = () => Number((state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)) >> 33n);
  const keys = new TYPES[type](n);
  const bytes = new Uint8Array(keys.buffer);
  const isFloat = type.startsWith("Float");
  const one = type.startsWith("Big") ? BigInt : Number;
  for (let i = 0; i < bytes.length; i++) bytes[i] = next();
  if (kind === "random" && isFloat) {
    // Every fourth is a NaN of any payload and sign.
    const high = keys.BYTES_PER_ELEMENT;
    for (let i = 3; i < n; i += 4) {
      bytes[i * high + high - 1] |= 0x7f;
      bytes[i * high + high - 2] |= { 2: 0, 4: 0x80, 8: 0xf0 }[high];
      if (high === 2) bytes[i * high + 1] |= 0x7c;
    }
  }
  const floats = [0, -0, NaN, -Infinity, Infinity, 1.5, -1.5, 5e-324, -5e-324, 1e300];
  const special = isFloat ? floats : [0, 1, -1, 127, -128, 128, 32767, 65535, 2147483647, -2147483648];
  if (kind === "few") keys.forEach((_, i) => (keys[i] = one((next() % 7) - 3)));
  if (kind === "special") keys.forEach((_, i) => (keys[i] = one(special[next() % special.length])));
  if (kind === "narrow") keys.forEach((_, i) => (keys[i] = one(100_000 + (next() % 5000))));
  if (kind === "equal") keys.fill(one(-7));
  if (kind === "rising" || kind === "falling") {
    const copy = bitsOf(keys).slice();
    const order = positionsOf(keys, false);
    if (kind === "falling") order.reverse();
    order.forEach((at, i) => (bitsOf(keys)[i] = copy[at]));
  }
  return keys;
}

/** Positions in the documented order: −0 before +0, NaN last, positive ones by rising bits before negative ones by falling bits. */
export function positionsOf(keys, descending) {
  const bits = bitsOf(keys);
  const half = 2 ** (8 * keys.BYTES_PER_ELEMENT - 1);
  const byBits = (a, b) => {
    const negative = [bits[a] >= half, bits[b] >= half];
    if (negative[0] !== negative[1]) return negative[0] ? 1 : -1;
    return bits[a] === bits[b] ? 0 : bits[a] < bits[b] !== negative[0] ? -1 : 1;
  };
  const compare = (a, b) => {
    const [x, y] = [keys[a], keys[b]];
    if (x !== x || y !== y) return x !== x && y !== y ? byBits(a, b) : x !== x ? 1 : -1;
    const order = x === y ? (x === 0 ? Object.is(y, -0) - Object.is(x, -0) : 0) : x < y ? -1 : 1;
    return descending ? -order : order;
  };
  return Array.from({ length: keys.length }, (_, i) => i).sort((a, b) => compare(a, b) || a - b);
}

/** What is wrong with a sorted array and with positions. */
export function wrong(keys, order, sorted, positions) {
  const n = keys.length;
  if (sorted.length !== n || positions.length !== n) return `${sorted.length} elements and ${positions.length} positions of ${n}`;
  const [before, after] = [bitsOf(keys), bitsOf(sorted)];
  for (let i = 0; i < n; i++) {
    if (after[i] !== before[order[i]]) return `element ${i} has bits ${after[i].toString(16)}, not ${before[order[i]].toString(16)}`;
    if (positions[i] !== order[i]) return `position ${i} is ${positions[i]}, not ${order[i]}`;
  }
  // As integers, whose sort leaves no bits out.
  const [had, has] = [before.slice().sort(), after.slice().sort()];
  const lost = had.findIndex((bits, i) => bits !== has[i]);
  return lost < 0 ? undefined : `lost or altered: ${had[lost].toString(16)}`;
}

const ON_GPU = ["Uint32Array", "Int32Array", "Float32Array", "BigUint64Array", "BigInt64Array", "Float64Array"];

/** Sorts on this device, and compares with the oracle; `check(what, condition)` throws. */
export async function arraysOnGpu(device, check, log) {
  let cases = 0;
  const same = (a, b) => bitsOf(a).every((bits, i) => bits === bitsOf(b)[i]);
  const one = async (type, n, kind, descending, options) => {
    const keys = keysOf(type, n, kind, 3);
    const what = `${type} ${n} ${kind} ${descending ? "descending" : ""} ${options.device === device ? "on the device" : options.device}`;
    const array = new keys.constructor(new ArrayBuffer((n + 2) * keys.BYTES_PER_ELEMENT), keys.BYTES_PER_ELEMENT, n);
    bitsOf(array).set(bitsOf(keys));
    const positions = await argsort(array, { descending, ...options });
    check(`${what}: argsort leaves the array`, same(array, keys));
    check(`${what}: the array itself`, (await sort(array, { descending, ...options })) === array);
    const found = wrong(keys, positionsOf(keys, descending), array, positions);
    check(`${what}: ${found}`, found === undefined);
    cases += 2;
  };
  for (const type of ON_GPU) {
    for (const n of [0, 1, 2, 1000, 4099]) {
      for (const descending of [false, true]) {
        for (const kind of n < 1000 ? ["special"] : ["random", "special"]) await one(type, n, kind, descending, { device });
      }
    }
  }
  // On the CPU of this engine, with the types that it has.
  for (const type of Object.keys(TYPES)) {
    for (const n of [17, 1000, 20_001]) {
      for (const kind of ["random", "few"]) await one(type, n, kind, false, { device: "cpu" });
    }
  }
  const buffers = [2000, 5000, 10].map((n) => keysOf("Float32Array", n, "random", n));
  const arrays = buffers.map((keys) => keys.slice());
  const calls = [sort(arrays[0], { device }), argsort(arrays[1], { device }), sort(arrays[2], { device, descending: true })];
  const [, positions] = await Promise.all(calls);
  const orders = buffers.map((keys, i) => positionsOf(keys, i === 2));
  check("at once: the first", wrong(buffers[0], orders[0], arrays[0], Uint32Array.from(orders[0])) === undefined);
  check("at once: the positions", positions.every((at, i) => at === orders[1][i]));
  check("at once: the last", wrong(buffers[2], orders[2], arrays[2], Uint32Array.from(orders[2])) === undefined);

  const refused = async (what, array, lost, words) => {
    const before = array.slice();
    const message = await sort(array, { device: lost }).then(() => "nothing", (error) => error.message);
    check(`${what}: ${message}`, words.every((word) => message.includes(word)) && same(array, before));
  };
  const adapter = async () => (await navigator.gpu.requestAdapter()).requestDevice();
  const lost = await adapter();
  const array = keysOf("Float32Array", 3000, "random", 1);
  await sort(array.slice(), { device: lost });
  lost.destroy();
  await refused("a lost device", array, lost, ["lost", "destroyed", "request a new one"]);
  const dying = await adapter();
  const result = refused("a device that is lost meanwhile", array, dying, ["lost", "request a new one"]);
  setTimeout(() => dying.destroy(), 0);
  await result;
  const few = await adapter();
  await refused("more than the device binds", new Float32Array(few.limits.maxStorageBufferBindingSize / 4 + 1), few, ["maxStorageBufferBindingSize"]);

  // Where the adapter is software, this is on the CPU.
  const many = keysOf("Uint32Array", 1 << 20, "random", 1);
  const expected = many.slice().sort();
  check("auto", same(await sort(many), expected));
  log(`arrays: ${cases} sorts`);
}
