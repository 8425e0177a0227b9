// Tests of sort and argsort of typed arrays without a GPU: `node --test test/arrays.js`, after `npx tsc -p .`.
//
// Each result is compared, bit by bit, with that of a slow comparison sort in the documented order, and as a set of bits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { argsort, Misuse, sort, Sorter } from "../dist/index.js";
import { argsortOnCpu, sortOnCpu } from "../dist/cpu.js";
import { bitsOf, keysOf, KINDS, positionsOf, TYPES, wrong } from "./arrays_page.js";

const SIZES = [0, 1, 2, 3, 15, 16, 17, 64, 65, 255, 256, 257, 1000, 4099, 70_001];

/** A view that begins after other elements, in the middle of a buffer. */
function within(keys, Buffer = ArrayBuffer) {
  const each = keys.BYTES_PER_ELEMENT;
  const view = new keys.constructor(new Buffer((keys.length + 8) * each), 3 * each, keys.length);
  new Uint8Array(view.buffer).fill(0xa5);
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength));
  return view;
}

const around = (view) => {
  const bytes = new Uint8Array(view.buffer);
  return [...bytes.subarray(0, view.byteOffset), ...bytes.subarray(view.byteOffset + view.byteLength)];
};

for (const type of Object.keys(TYPES)) {
  test(`${type}: every size and kind of keys, in both directions`, async () => {
    for (const n of SIZES) {
      for (const [seed, kind] of KINDS.entries()) {
        // Few kinds of many elements: the oracle is slow.
        if (n > 10_000 && (seed + type.length) % 3 !== 0) continue;
        const keys = keysOf(type, n, kind, seed);
        for (const descending of [false, true]) {
          const view = within(keys);
          const order = positionsOf(view, descending);
          const found = await argsort(view, { descending });
          const what = `${type} ${n} ${kind} ${descending}`;
          assert.equal(found.constructor, Uint32Array);
          assert.deepEqual(bitsOf(view), bitsOf(keys), `${what}: argsort leaves the array`);
          assert.equal(await sort(view, { descending, device: "cpu" }), view);
          assert.equal(wrong(keys, order, view, found), undefined, what);
          assert.ok(around(view).every((byte) => byte === 0xa5), `${what}: bytes around the view`);
        }
      }
    }
  });
}

test("the oracle fails on wrong results", () => {
  const keys = new Float64Array([3, -0, NaN, 0, 1, 1]);
  const order = positionsOf(keys, false);
  assert.deepEqual(order, [1, 3, 4, 5, 0, 2]);
  assert.deepEqual(positionsOf(keys, true), [0, 4, 5, 3, 1, 2]);
  const sorted = Float64Array.from(order, (at) => keys[at]);
  assert.equal(wrong(keys, order, sorted, Uint32Array.from(order)), undefined);
  const nan = sorted.slice();
  new Uint32Array(nan.buffer)[10] ^= 1;
  assert.match(wrong(keys, order, nan, Uint32Array.from(order)), /element 5/);
  assert.match(wrong(keys, order, sorted.with(0, 0), Uint32Array.from(order)), /element 0/);
  assert.match(wrong(keys, order, sorted, Uint32Array.from([1, 3, 5, 4, 0, 2])), /position 2/);
  assert.match(wrong(keys, order, sorted.subarray(1), Uint32Array.from(order)), /5 elements/);
  assert.match(wrong(keys, [0, 0, 0, 0, 0, 0], new Float64Array(6).fill(3), new Uint32Array(6)), /lost or altered/);
  // NaN by their bits: positive ones rise, negative ones follow and fall.
  const nans = new Float32Array(Uint32Array.of(0xffc00001, 0xffc00002, 0x7fc00002, 0x7fc00001, 0x7f800000).buffer);
  assert.deepEqual(positionsOf(nans, false), [4, 3, 2, 1, 0]);
  assert.deepEqual(positionsOf(nans, true), [4, 3, 2, 1, 0]);
});

test("views of shared memory", async () => {
  for (const type of ["Float64Array", "Float32Array", "BigInt64Array", "Uint8Array"]) {
    for (const n of [10, 5000]) {
      const keys = keysOf(type, n, "random", 5);
      const view = within(keys, SharedArrayBuffer);
      const order = positionsOf(view, false);
      const found = await argsort(view);
      await sort(view);
      assert.equal(wrong(keys, order, view, found), undefined);
    }
  }
});

test("half precision, also where the engine lacks Float16Array", () => {
  const form = { bytes: 2, is: "float" };
  for (const n of [0, 1, 3, 41, 257, 4099, 70_001]) {
    const halves = keysOf("Uint16Array", n, "random", 9);
    // As wider floats, in the same order: the exponent of 31 is that of NaN and infinity, and 0 that of numbers below all others.
    const wide = Uint32Array.from(halves, (bits) => {
      const exponent = (bits >> 10) & 31;
      return (((bits >> 15) << 31) | ((exponent === 31 ? 255 : exponent) << 23) | ((bits & 1023) << 13)) >>> 0;
    });
    for (const descending of [false, true]) {
      const order = positionsOf(new Float32Array(wide.buffer), descending);
      const found = argsortOnCpu(halves, form, descending);
      // A few are sorted by the engine as numbers, which they are not here.
      const sorted = n > 10_000 ? halves.slice() : Uint16Array.from(order, (at) => halves[at]);
      if (n > 10_000) sortOnCpu(sorted, form, descending);
      assert.equal(wrong(halves, order, sorted, found), undefined, `${n} ${descending}`);
    }
  }
});

test("an array of another realm, and a subclass", async () => {
  const { runInNewContext } = await import("node:vm");
  assert.deepEqual([...(await sort(runInNewContext("new Int32Array([3, -1, 2])")))], [-1, 2, 3]);
  assert.deepEqual([...(await sort(Buffer.from([3, 1, 2])))], [1, 2, 3]);
});

test("what cannot be sorted is refused with the remedy", async () => {
  const cases = [
    [[1, 2], undefined, /Array is no typed array; pass Float64Array\.from/],
    [[1n, 2n], undefined, /BigInt64Array\.from/],
    [new DataView(new ArrayBuffer(8)), undefined, /DataView .*byteOffset/],
    [new ArrayBuffer(8), undefined, /ArrayBuffer .* new Float64Array/],
    ["abc", undefined, /String is no typed array/],
    [null, undefined, /Null/],
    [new Uint8Array(2), (a, b) => b - a, /options: function .* descending: true/],
    [new Uint8Array(2), { device: "gpu" }, /device: gpu is none of/],
    [new Uint8Array(2), { device: {} }, /is none of/],
    [new Uint8Array(2), { device: null }, /null is none of/],
    [new Uint8Array(2), { descending: 1 }, /descending: a number is no boolean/],
    [new Uint8Array(2), null, /null is no object/],
    [new Uint8Array(2), { descend: true }, /^options: unknown key 'descend' \(keys: descending, device\); did you mean 'descending'\?$/],
    [new Uint8Array(2), { Device: "cpu" }, /'Device'.* mean 'device'/],
    [new Uint8Array(2), { descending: true, stable: true }, /unknown key 'stable' \(keys: descending, device\); leave it out$/],
    [new Uint8Array(2), { ["x".repeat(10_000)]: 1 }, /; leave it out$/],
  ];
  for (const [array, options, message] of cases) {
    for (const call of [sort, argsort]) {
      await assert.rejects(call(array, options), (error) => error instanceof Misuse && message.test(error.message) || assert.fail(`${error}`));
    }
  }
});

/** A device without a GPU: what it is asked to do succeeds and does nothing, but for what `fails`, which also throws or loses it. */
function fakeDevice(fails = {}) {
  const log = [];
  let lose;
  const lost = new Promise((resolve) => (lose = resolve));
  const anything = new Proxy(() => {}, { get: (_, name) => (name === "then" ? undefined : anything), apply: () => anything });
  const known = {
    log,
    created: 0,
    lost,
    features: new Set(),
    limits: { maxBufferSize: 2 ** 28, maxStorageBufferBindingSize: 2 ** 27, maxComputeWorkgroupsPerDimension: 65_535 },
    written: [],
    queue: { writeBuffer: (_, at, data) => log.push("write") && known.written.push(data.buffer), submit: () => log.push("submit") },
    createBuffer({ size, usage }) {
      known.created++;
      if (fails.create) throw new RangeError("no memory");
      return {
        size, usage, unmap() {}, destroy() {},
        getMappedRange: () => new ArrayBuffer(size),
        async mapAsync() {
          log.push("map");
          if (fails.lost) lose({ reason: "unknown", message: "the driver hung" });
          if (fails.lost || fails.map) throw new Error("not mapped");
          fails.meanwhile?.();
          await new Promise((resolve) => setTimeout(resolve, 5));
          log.push("mapped");
        },
      };
    },
    scopes: [],
    pushErrorScope: (filter) => known.scopes.push(filter),
    async popErrorScope() {
      return known.scopes.pop() === fails.scope ? { message: `fake ${fails.scope}` } : null;
    },
  };
  return new Proxy(known, { get: (_, name) => (name in known ? known[name] : anything[name]) });
}

globalThis.GPUBufferUsage ??= { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 };
globalThis.GPUMapMode ??= { READ: 1 };
globalThis.GPUShaderStage ??= { COMPUTE: 4 };

const LARGE = 1 << 20;
const keys = keysOf("Float32Array", LARGE, "random", 1);
const expected = keys.slice();
sortOnCpu(expected, { bytes: 4, is: "float" }, false);
const isSame = (a, b) => Buffer.from(a.buffer).equals(Buffer.from(b.buffer));

/** Sorts by a module of its own with these devices of an adapter, in turn; how many were requested. */
async function automatic(devices, calls = 1, info = {}, first = keys.slice()) {
  let requests = 0;
  const adapter = {
    info, features: new Set(["subgroups"]), limits: { maxBufferSize: 2 ** 28, maxStorageBufferBindingSize: 2 ** 27 },
    async requestDevice({ requiredFeatures, requiredLimits }) {
      assert.deepEqual(requiredFeatures, ["subgroups"]);
      assert.equal(requiredLimits.maxBufferSize, 2 ** 28);
      return devices[requests++] ?? assert.fail("one device too many");
    },
  };
  Object.defineProperty(globalThis, "navigator", { value: { gpu: { requestAdapter: async () => adapter } }, configurable: true });
  const own = await import(`../dist/arrays.js?${Math.random()}`);
  try {
    for (let call = 0; call < calls; call++) {
      const array = call === 0 ? first : keys.slice();
      assert.equal(await own.sort(array), array);
      assert.ok(isSame(array, expected), `call ${call} is sorted`);
    }
  } finally {
    delete globalThis.navigator;
  }
  return requests;
}

test("auto: without a GPU, and with one in software, sorts are on the CPU", async () => {
  const array = keys.slice();
  await sort(array);
  assert.ok(isSame(array, expected));
  assert.equal(await automatic([], 1, { isFallbackAdapter: true }), 0);
  assert.equal(await automatic([], 1, { vendor: "google", architecture: "swiftshader" }), 0);
  assert.equal(await automatic([], 1, { description: "llvmpipe (LLVM 15.0.6, 256 bits)" }), 0);
});

test("auto: a device that fails leaves the array to the CPU, and twice is enough", async () => {
  for (const fails of [{ create: true }, { map: true }, { scope: "validation" }]) {
    const device = fakeDevice(fails);
    assert.equal(await automatic([device], 3), 1, JSON.stringify(fails));
    assert.ok(device.log.filter((it) => it === "submit").length <= 2);
  }
});

test("auto: without memory on the GPU, each call tries again", async () => {
  const device = fakeDevice({ scope: "out-of-memory" });
  assert.equal(await automatic([device], 4), 1);
  assert.equal(device.log.filter((it) => it === "submit").length, 4);
});

test("auto: an array larger than a binding of the device is not given to it", async () => {
  const device = fakeDevice();
  device.limits.maxStorageBufferBindingSize = 4 * LARGE - 4;
  assert.equal(await automatic([device], 1), 1);
  assert.equal(device.created, 0);
});

test("auto: an array whose buffer is gone meanwhile is an error, not sorted as an empty one", async () => {
  const array = keys.slice();
  const device = fakeDevice({ meanwhile: () => structuredClone(array.buffer, { transfer: [array.buffer] }) });
  await assert.rejects(automatic([device], 1, {}, array), { name: "Misuse" });
});

test("auto: a lost device is replaced once in the next call", async () => {
  const devices = [fakeDevice({ lost: true }), fakeDevice({ lost: true })];
  assert.equal(await automatic(devices, 4), 2);
});

test("an own device: errors name the remedy, and leave the array as it was", async () => {
  const cases = [
    [{ lost: true }, /device: it is lost \(unknown: the driver hung\); request a new one/],
    [{ scope: "out-of-memory" }, /out of memory for 1000 elements; .* device: "cpu"/],
    [{ scope: "validation" }, /fake validation/],
    [{ map: true }, /not mapped/],
  ];
  for (const [fails, message] of cases) {
    const device = fakeDevice(fails);
    const array = keysOf("Int32Array", 1000, "random", 2);
    const before = array.slice();
    await assert.rejects(sort(array, { device }), message);
    await assert.rejects(argsort(array, { device }), message);
    assert.ok(isSame(array, before));
  }
  const array = keysOf("Int32Array", 1000, "random", 2);
  const device = fakeDevice({ meanwhile: () => structuredClone(array.buffer, { transfer: [array.buffer] }) });
  await assert.rejects(sort(array, { device }), (error) => error instanceof Misuse && /detached/.test(error.message));
});

test("a sorter of buffers needs a device and a specification", async () => {
  await assert.rejects(Sorter.create(undefined, { key: "f32" }), (error) => error instanceof Misuse && /device: pass a GPUDevice/.test(error.message));
  await assert.rejects(Sorter.create(fakeDevice()), (error) => error instanceof Misuse && /spec: pass an object/.test(error.message));
});

test("every object of a sorter refuses a key that it does not know", async () => {
  const device = fakeDevice();
  const encoder = device.createCommandEncoder();
  const buffer = () => ({ size: 1024, usage: GPUBufferUsage.STORAGE });
  const sorter = await Sorter.create(device, { key: "f32", payload: undefined });
  const workspace = sorter.workspace(8);
  const keys = buffer();
  const elements = { keys, count: 8 };
  const refused = (what, call, found, known, meant) =>
    assert.rejects(async () => call(), (error) => {
      assert.equal(error.message, `${what}: unknown key '${found}' (keys: ${known}); ${meant ? `did you mean '${meant}'?` : "leave it out"}`);
      return error instanceof Misuse;
    });
  const ofSpec = "key, payload, descending, argsort, segments";
  await refused("spec", () => Sorter.create(device, { key: "f32", keys: "f32" }), "keys", ofSpec, "key");
  await refused("spec", () => Sorter.create(device, { key: "f32", decsending: true }), "decsending", ofSpec, "descending");
  await refused("compile", () => sorter.compile({ row: 5 }), "row", "segments, rows, top", "rows");
  for (const call of [(it) => sorter.record(encoder, workspace, it), (it) => sorter.recordTop(encoder, workspace, it, 2)]) {
    call(elements);
    await refused("elements", () => call({ keys, length: 8 }), "length", "keys, payload, count");
  }
  const recordArgsort = (it) => sorter.recordArgsort(encoder, workspace, it);
  recordArgsort({ ...elements, positions: buffer() });
  await refused("elements", () => recordArgsort({ ...elements, position: buffer() }), "position", "keys, positions, count", "positions");
  const recordSegments = (it, segments) => sorter.recordSegments(encoder, workspace, it, segments);
  recordSegments({ keys: { buffer: keys, size: 32 } }, { rows: 4 });
  await refused("elements", () => recordSegments(elements, { rows: 4 }), "count", "keys, payload");
  await refused("segments", () => recordSegments({ keys }, { offset: Uint32Array.of(0, 4) }), "offset", "rows, offsets", "offsets");
  await refused("keys", () => sorter.record(encoder, workspace, { keys: { buffer: keys, ofset: 256 } }), "ofset", "buffer, offset, size", "offset");
  await refused("count", () => sorter.record(encoder, workspace, { keys, count: { buffer: buffer(), at: 4 } }), "at", "buffer, offset, size");
});

test("an array that is detached while it waits is an error, and one that may be resized is copied", async () => {
  const device = fakeDevice();
  const [first, second] = [1000, 2000].map((n) => keysOf("Int32Array", n, "random", 2));
  const calls = [sort(first, { device }), argsort(second, { device })];
  structuredClone(second.buffer, { transfer: [second.buffer] });
  await calls[0];
  await assert.rejects(calls[1], (error) => error instanceof Misuse && /detached/.test(error.message));
  assert.equal(device.log.join(), "write,submit,map,mapped");
  await sort(new Int32Array(new ArrayBuffer(4000, { maxByteLength: 8000 })), { device });
  assert.equal(device.written.at(-1).resizable, false);
});

test("an own device: one call after the other, and small types and empty arrays are not given to it", async () => {
  const device = fakeDevice();
  const arrays = [1000, 10, 2000].map((n) => keysOf("Int32Array", n, "random", 2));
  await Promise.all(arrays.map((array) => sort(array, { device })));
  assert.equal(device.log.join(), Array(3).fill("write,submit,map,mapped").join());
  // What this device returns is zeros.
  assert.ok(arrays.every((array) => array.every((value) => value === 0)));
  await sort(new Int32Array(), { device });
  assert.deepEqual(await argsort(new Float64Array(), { device }), new Uint32Array());
  assert.deepEqual([...(await sort(Int16Array.of(2, 1), { device }))], [1, 2]);
  assert.equal(device.log.length, 12);
});
