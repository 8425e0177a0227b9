// Tests in a browser: what is sorted on its adapter is compared with the order that the documents say, and as it was
// before. Each line that it logs begins with "gpusort:"; the last is "gpusort: done".

import { Sorter } from "../dist/index.js";
import { arraysOnGpu } from "./arrays_page.js";
import { check, log, read, refused } from "./support.js";

const ARRAYS = { u32: Uint32Array, i32: Int32Array, f32: Float32Array, u64: BigUint64Array, i64: BigInt64Array, f64: Float64Array };

/** A number for every word, the same in each run. */
function random(seed) {
  let state = BigInt(seed) * 0x9e3779b97f4a7c15n + 1n;
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 33n);
  };
}

/** Keys: bits of every kind, or few values, or special ones. */
function keysOf(type, n, seed) {
  const next = random(seed);
  const words = new Uint32Array((n * ARRAYS[type].BYTES_PER_ELEMENT) / 4);
  for (let i = 0; i < words.length; i++) {
    words[i] = (next() ^ (next() << 9)) >>> 0;
  }
  const keys = new ARRAYS[type](words.buffer);
  const one = type.endsWith("64") && type !== "f64" ? BigInt : Number;
  const special = type.startsWith("f") ? [0, -0, NaN, -NaN, Infinity, -Infinity, 1.5, -1.5] : [0, 1, 7, 2 ** 31 - 1];
  if (seed % 3 === 1) keys.forEach((_, i) => (keys[i] = one(next() % 7)));
  if (seed % 3 === 2) keys.forEach((_, i) => (keys[i] = one(special[next() % special.length])));
  return keys;
}

/** Whether a comes before b, in the documented order: -0 before +0, NaN last, also in a descending one. */
function compare(a, b, descending) {
  const nan = [a, b].map((key) => key !== key);
  if (nan[0] || nan[1]) return nan[0] - nan[1];
  if (a === b) {
    const zeros = a === 0 ? Object.is(b, -0) - Object.is(a, -0) : 0;
    return descending ? -zeros : zeros;
  }
  return a < b === !descending ? -1 : 1;
}

/** Positions in the documented order, where equal keys keep theirs. NaN of other bits are other keys: left out. */
function positionsOf(keys, n, descending) {
  return Array.from({ length: n }, (_, i) => i).sort((a, b) => compare(keys[a], keys[b], descending) || a - b);
}

function upload(device, array, bytes = array.byteLength) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const buffer = device.createBuffer({ size: Math.max(bytes, 4), usage });
  device.queue.writeBuffer(buffer, 0, array.buffer, array.byteOffset, array.byteLength);
  return buffer;
}

/** The bits of keys, of which NaN are all the same. */
const bitsOf = (keys) => Array.from(keys, (key) => (key !== key ? "NaN" : Object.is(key, -0) ? "-0" : String(key)));

/** Sorts keys with their positions as payload, which shows the order of equal ones. */
async function sorted(device, sorter, keys, { n = keys.length, first = 0, onGpu = false, argsort = false, capacity = n, k, segments }) {
  const each = keys.BYTES_PER_ELEMENT;
  const workspace = sorter.workspace(Math.max(capacity, 1));
  const buffer = upload(device, keys);
  const isWritten = argsort || sorter.spec.payload === "positions";
  const payload = upload(device, Uint32Array.from(keys, (_, i) => (isWritten ? 99 : Math.max(i - first, 0))));
  const rest = { size: (keys.length - first) * 4, offset: first * 4, buffer: payload };
  const counts = upload(device, new Uint32Array([7, n]));
  const count = onGpu ? { buffer: counts, offset: 4 } : n;
  const slice = { buffer, offset: first * each, size: (keys.length - first) * each };
  const encoder = device.createCommandEncoder();
  const what = { keys: slice, ...(sorter.spec.payload && { payload: rest }) };
  if (argsort) sorter.recordArgsort(encoder, workspace, { keys: slice, positions: rest, count });
  else if (segments) sorter.recordSegments(encoder, workspace, what, segments);
  else if (k !== undefined) sorter.recordTop(encoder, workspace, { ...what, count }, k);
  else sorter.record(encoder, workspace, { ...what, count });
  device.queue.submit([encoder.finish()]);
  const after = new keys.constructor(await read(device, buffer, keys.byteLength));
  const moved = new Uint32Array(await read(device, payload, keys.length * 4));
  [buffer, payload, counts].forEach((it) => it.destroy());
  workspace.destroy();
  return { after, moved };
}

async function one(device, sorter, keys, how) {
  const { n = keys.length, first = 0, argsort = false } = how;
  const { after, moved } = await sorted(device, sorter, keys, how);
  const { key, payload, descending = false } = sorter.spec;
  const what = `${key} ${payload ?? ""} ${JSON.stringify({ ...how, length: keys.length, descending })}`;
  const part = keys.subarray(first);
  const order = positionsOf(part, n, descending);
  const [before, found] = [bitsOf(keys), bitsOf(after)];
  const expected = argsort ? before : before.map((bits, i) => (i < first || i >= first + n ? bits : before[first + order[i - first]]));
  check(`${what}: keys`, same(found, expected));
  if (payload || argsort) {
    // NaN are ordered by their bits, which the oracle does not look at.
    const of = (positions) => Array.from(positions).filter((at) => part[at] === part[at]);
    check(`${what}: positions`, same(of(moved.subarray(first, first + n)), of(order)));
    const isWritten = argsort || payload === "positions";
    check(`${what}: beyond`, Array.from(moved.subarray(first + n)).every((at, i) => at === (isWritten ? 99 : first + n + i - first)));
  }
}

/** The first k, and what is beside them. */
async function top(device, sorter, keys, how) {
  const { n = keys.length, k } = how;
  const { after, moved } = await sorted(device, sorter, keys, how);
  const order = positionsOf(keys, n, sorter.spec.descending).slice(0, k);
  const what = `top ${JSON.stringify({ ...how, ...sorter.spec })}`;
  const bits = bitsOf(keys);
  check(`${what}: keys`, same(bitsOf(after).slice(0, k), order.map((at) => bits[at])));
  const of = (positions) => Array.from(positions).filter((at) => keys[at] === keys[at]);
  if (sorter.spec.payload) check(`${what}: positions`, same(of(moved.subarray(0, order.length)), of(order)));
}

/** Each segment by itself, and nothing outside of them. */
async function inSegments(device, sorter, keys, segments, offsets) {
  const { after, moved } = await sorted(device, sorter, keys, { segments });
  const { payload, descending, key } = sorter.spec;
  const what = `segments ${key} ${payload ?? ""} ${offsets.length} ${JSON.stringify(segments.rows ?? "")}`;
  const bits = bitsOf(keys);
  const expected = [...bits];
  const numbers = Array.from(keys, (_, i) => (payload === "positions" ? 99 : i));
  for (let at = 0; at + 1 < offsets.length; at++) {
    const [begin, end] = [offsets[at], offsets[at + 1]];
    positionsOf(keys.subarray(begin, end), end - begin, descending).forEach((from, to) => {
      expected[begin + to] = bits[begin + from];
      numbers[begin + to] = payload === "positions" ? from : begin + from;
    });
  }
  check(`${what}: keys`, same(bitsOf(after), expected));
  // NaN are ordered by their bits, which the oracle does not look at.
  const of = (positions) => Array.from(positions).filter((_, at) => after[at] === after[at]);
  if (payload) check(`${what}: payload`, same(of(moved), of(numbers)));
}

const same = (a, b) => a.length === b.length && a.every((it, i) => it === b[i]);

async function withDevice(features, name) {
  const adapter = await navigator.gpu.requestAdapter();
  const requiredFeatures = features.filter((feature) => adapter.features.has(feature));
  const device = await adapter.requestDevice({ requiredFeatures });
  device.onuncapturederror = (event) => log(`FAILED: ${event.error.message}`);
  let cases = 0;
  const times = async (work) => {
    await work;
    cases++;
  };
  const isAll = location.hash === "#all";
  const begin = performance.now();
  const hasSubgroups = device.features.has("subgroups");
  // Kernels of integers differ in one constant: the quick form has each on the first device alone.
  const types = Object.keys(ARRAYS).filter((key) => isAll || !hasSubgroups || !key.startsWith("i"));
  for (const key of types) {
    log(`${name}: ${key} after ${((performance.now() - begin) / 1000).toFixed(0)} s`);
    for (const descending of [false, true]) {
      for (const payload of [undefined, "u32", "positions"]) {
        // In the quick form each payload in one direction, since a direction is one constant of the kernels.
        const isQuick = descending === (payload === "positions" ? hasSubgroups : payload === "u32");
        if (!isAll && !isQuick) continue;
        const sorter = await Sorter.create(device, { key, payload, descending });
        // Those with positions differ from the others in who writes them.
        const sizes = payload === "positions" ? [1000] : isAll ? [0, 1, 2, 3, 255, 257, 1000, 4099, 20_001, 100_003] : [0, 1, 2, 257, 4099];
        for (const [at, n] of sizes.entries()) {
          await times(one(device, sorter, keysOf(key, n, at), {}));
        }
        await times(one(device, sorter, keysOf(key, 5000, 3), { n: 3001, first: 67, capacity: 4000 }));
        await times(one(device, sorter, keysOf(key, 5000, 4), { n: 3001, first: 67, onGpu: true, capacity: 4900 }));
        await times(one(device, sorter, keysOf(key, 5000, 5), { n: 4001, argsort: true, capacity: 4900 }));
        await times(one(device, sorter, keysOf(key, 5000, 6), { n: 0, onGpu: true, capacity: 4900 }));
        // In the quick form those of one sort on each device, since each has kernels of its own.
        const isOne = payload === "positions" && (hasSubgroups ? key === "f64" && descending : key === "u32" && !descending);
        if (isAll || isOne) {
          await sorter.compile({ top: true, segments: true, rows: 5 });
          await times(top(device, sorter, keysOf(key, 20_001, 7), { k: 100 }));
          await times(top(device, sorter, keysOf(key, 20_001, 6), { k: 4099, n: 17_000, onGpu: true, capacity: 20_001 }));
          await times(top(device, sorter, keysOf(key, 300, 6), { k: 7 }));
          // From how many on the first are selected depends on the device.
          const least = Math.ceil((1 << 22) / (keysOf(key, 2, 0).byteLength / 8 + 1)) + 1;
          if (isAll && key === "u32" && !descending) await times(top(device, sorter, keysOf(key, least, 3), { k: 1000 }));
          const longest = sorter.longestRow;
          const lengths = [3, 0, 1, 8, 9, 70, 2, 1000, 0, longest, longest + 1, 1, 40, 2 * longest + 77];
          const offsets = lengths.reduce((all, length) => [...all, all.at(-1) + length], [5]);
          const n = offsets.at(-1) + 11;
          await times(inSegments(device, sorter, keysOf(key, n, 4), { offsets: Uint32Array.from(offsets) }, offsets));
          const onGpu = upload(device, Uint32Array.from([9, ...offsets]));
          await times(inSegments(device, sorter, keysOf(key, n, 6), { offsets: { buffer: onGpu, offset: 4 } }, offsets));
          // Offsets that do not ascend: all stays as it is.
          const wrong = upload(device, Uint32Array.from([0, 9, 8]));
          await times(inSegments(device, sorter, keysOf(key, 20, 6), { offsets: wrong }, []));
          for (const [rows, length] of [[1, 1], [700, 5], [33, 100], [3, longest], [2, longest + 3]]) {
            const ends = Array.from({ length: rows + 1 }, (_, row) => row * length);
            // The oracle knows no numbers that were written before.
            await times(inSegments(device, sorter, keysOf(key, rows * length, 4), { rows: length }, ends));
          }
          onGpu.destroy();
        }
      }
    }
  }
  if (!hasSubgroups) await arraysOnGpu(device, check, log);
  const million = await Sorter.create(device, { key: "u32", payload: "u32", segments: false });
  if (isAll) await times(one(device, million, keysOf("u32", 1_000_003, 3), {}));
  const sorter = await Sorter.create(device, { key: "f32", payload: "u32", argsort: false, segments: false });
  const keys = upload(device, new Float32Array(8));
  const workspace = sorter.workspace(4);
  const encoder = device.createCommandEncoder();
  const record = (what) => () => sorter.record(encoder, workspace, what);
  const payload = upload(device, new Uint32Array(8));
  await refused("a missing payload", record({ keys }), ["pass payload"]);
  await refused("too many", record({ keys, payload }), ["room for 4", "one for 8"]);
  await refused("a short payload", record({ keys, payload: { buffer: payload, size: 8 }, count: 3 }), ["payload: 2 elements", "count is 3"]);
  await refused("an odd offset", record({ keys: { buffer: keys, offset: 2 }, payload }), ["byte offset 2"]);
  await refused("the same buffer", record({ keys, payload: keys, count: 2 }), ["overlap"]);
  await refused("a count outside", record({ keys, payload, count: { buffer: keys, offset: 32 } }), ["outside its buffer of 32"]);
  await refused("an array as keys", record({ keys: new Float32Array(8), payload }), ["keys: pass a GPUBuffer"]);
  await refused("no keys", record({ payload }), ["keys: pass a GPUBuffer"]);
  await refused("an offset beyond", record({ keys: { buffer: keys, offset: 256 }, payload }), ["keys: byte offset 256", "32 bytes"]);
  await refused("a count of another type", record({ keys, payload, count: 3n }), ["count: pass a GPUBuffer"]);
  await refused("a direction of another type", () => Sorter.create(device, { key: "f32", descending: 1 }), ["descending", "true or false"]);
  await refused("rows of nothing", () => sorter.compile({ rows: 0 }), ["rows: 0"]);
  await refused("no argsort", () => sorter.recordArgsort(encoder, workspace, { keys, positions: payload }), ["argsort: true"]);
  const inside = (segments) => () => sorter.recordSegments(encoder, workspace, { keys, payload }, segments);
  await refused("no segments", inside({ offsets: Uint32Array.of(0, 2) }), ["segments: true"]);
  await refused("rows that are not whole", inside({ rows: 3 }), ["8 elements", "rows of 3"]);
  await refused("another's workspace", () => million.record(encoder, workspace, { keys, payload }), ["workspace()"]);
  await refused("no capacity", async () => sorter.workspace(0), ["capacity of 0"]);
  await refused("too large a capacity", async () => sorter.workspace(1 << 29), ["536870912 elements", "start the device with a larger max"]);
  await refused("another type", () => Sorter.create(device, { key: "f16" }), ["f16", "use u32"]);
  await refused("another payload", () => Sorter.create(device, { key: "f32", payload: "u64" }), ["u64"]);
  const destroyed = sorter.workspace(4);
  destroyed.destroy();
  await refused("a destroyed workspace", () => sorter.record(encoder, destroyed, { keys, payload, count: 2 }), ["was destroyed"]);
  const withSegments = await Sorter.create(device, { key: "u32" });
  const offsets = { offsets: Uint32Array.of(0, 9) };
  await refused("offsets beyond", () => withSegments.recordSegments(encoder, withSegments.workspace(8), { keys }, offsets), ["segment 0", "at most 8"]);
  check("bytes of a workspace", workspace.bytes === sorter.workspaceBytes(4) && sorter.workspaceBytes(4) < million.workspaceBytes(4));
  device.destroy();
  await device.lost;
  await refused("a lost device", record({ keys, payload, count: 2 }), ["was lost"]);
  log(`${name}: ${cases} sorts, features ${[...device.features].filter((it) => it === "subgroups").join() || "none"}`);
}

try {
  const begin = performance.now();
  // The comparison must be able to fail.
  check("the oracle", positionsOf([3, NaN, -0, 0, 1], 5, true).join() === "0,4,3,2,1" && !same(["1"], ["2"]));
  await withDevice([], "default limits alone");
  await withDevice(["subgroups"], "with what else there is");
  log(`${((performance.now() - begin) / 1000).toFixed(0)} s`);
} catch (error) {
  log(`FAILED: ${error.message}`);
}
log("done");
window.close();
