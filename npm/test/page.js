// Tests in a browser: what is sorted on its adapter is compared with the order that the documents say, and as it was
// before. Each line that it logs begins with "gpusort:"; the last is "gpusort: done".

import { Sorter } from "../dist/index.js";

const ARRAYS = { u32: Uint32Array, i32: Int32Array, f32: Float32Array, u64: BigUint64Array, i64: BigInt64Array, f64: Float64Array };
const log = (text) => console.log(`gpusort: ${text}`);

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

function check(what, condition) {
  if (!condition) throw new Error(what);
}

async function read(device, buffer, bytes) {
  const target = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, target, 0, bytes);
  device.queue.submit([encoder.finish()]);
  await target.mapAsync(GPUMapMode.READ);
  const data = target.getMappedRange().slice(0);
  target.destroy();
  return data;
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
async function sorted(device, sorter, keys, { n = keys.length, first = 0, onGpu = false, argsort = false, capacity = n }) {
  const each = keys.BYTES_PER_ELEMENT;
  const workspace = sorter.workspace(Math.max(capacity, 1));
  const buffer = upload(device, keys);
  const payload = upload(device, Uint32Array.from(keys, (_, i) => (argsort ? 99 : Math.max(i - first, 0))));
  const rest = { size: (keys.length - first) * 4, offset: first * 4, buffer: payload };
  const counts = upload(device, new Uint32Array([7, n]));
  const count = onGpu ? { buffer: counts, offset: 4 } : n;
  const what = { keys: { buffer, offset: first * each, size: (keys.length - first) * each }, count };
  const encoder = device.createCommandEncoder();
  if (argsort) sorter.recordArgsort(encoder, workspace, { ...what, positions: rest });
  else sorter.record(encoder, workspace, sorter.spec.payload ? { ...what, payload: rest } : what);
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
  const expected = argsort ? bitsOf(keys) : bitsOf(keys).map((bits, i) => (i < first || i >= first + n ? bits : bitsOf([part[order[i - first]]])[0]));
  check(`${what}: keys`, bitsOf(after).join() === expected.join());
  if (payload || argsort) {
    // NaN are ordered by their bits, which the oracle does not look at.
    const of = (positions) => Array.from(positions).filter((at) => part[at] === part[at]).join();
    check(`${what}: positions`, of(moved.subarray(first, first + n)) === of(order));
    check(`${what}: beyond`, Array.from(moved.subarray(first + n)).every((at, i) => at === (argsort ? 99 : first + n + i - first)));
  }
}

async function refused(what, call, words) {
  try {
    await call();
  } catch (error) {
    return check(`${what}: ${error.message}`, words.every((word) => error.message.includes(word)));
  }
  throw new Error(`${what} is not refused`);
}

async function withDevice(features, name) {
  const adapter = await navigator.gpu.requestAdapter();
  const requiredFeatures = features.filter((feature) => adapter.features.has(feature));
  const device = await adapter.requestDevice({ requiredFeatures });
  device.onuncapturederror = (event) => log(`FAILED: ${event.error.message}`);
  let cases = 0;
  for (const key of Object.keys(ARRAYS)) {
    for (const descending of [false, true]) {
      for (const payload of [undefined, "u32"]) {
        const sorter = await Sorter.create(device, { key, payload, descending });
        const sizes = location.hash === "#all" ? [0, 1, 2, 3, 255, 257, 1000, 4099, 20_001, 100_003] : [0, 1, 2, 257, 4099];
        for (const [at, n] of sizes.entries()) {
          await one(device, sorter, keysOf(key, n, at), {});
          cases++;
        }
        await one(device, sorter, keysOf(key, 5000, 3), { n: 3001, first: 67, capacity: 4000 });
        await one(device, sorter, keysOf(key, 5000, 4), { n: 3001, first: 67, onGpu: true, capacity: 4900 });
        await one(device, sorter, keysOf(key, 5000, 5), { n: 4001, argsort: true, capacity: 4900 });
        await one(device, sorter, keysOf(key, 5000, 6), { n: 0, onGpu: true, capacity: 4900 });
        cases += 4;
      }
    }
  }
  const sorter = await Sorter.create(device, { key: "f32", payload: "u32" });
  const keys = upload(device, new Float32Array(8));
  const workspace = sorter.workspace(4);
  const record = (what) => () => sorter.record(device.createCommandEncoder(), workspace, what);
  await refused("a missing payload", record({ keys }), ["payload", "has one"]);
  await refused("too many", record({ keys, payload: upload(device, new Uint32Array(8)) }), ["8 elements", "room for 4"]);
  await refused("an odd offset", record({ keys: { buffer: keys, offset: 2 }, payload: keys }), ["from byte 2"]);
  await refused("the same buffer", record({ keys, payload: keys, count: 2 }), ["overlap"]);
  await refused("no capacity", async () => sorter.workspace(0), ["capacity"]);
  await refused("too large a capacity", async () => sorter.workspace(1 << 29), ["maxStorageBufferBindingSize"]);
  await refused("another type", () => Sorter.create(device, { key: "f16" }), ["f16"]);
  log(`${name}: ${cases} sorts, features ${[...device.features].filter((it) => it === "subgroups").join() || "none"}`);
}

try {
  const begin = performance.now();
  // The comparison must be able to fail.
  check("the oracle", positionsOf([3, NaN, -0, 0, 1], 5, true).join() === "0,4,3,2,1");
  await withDevice([], "default limits alone");
  await withDevice(["subgroups"], "with what else there is");
  log(`${((performance.now() - begin) / 1000).toFixed(0)} s`);
} catch (error) {
  log(`FAILED: ${error.message}`);
}
log("done");
window.close();
