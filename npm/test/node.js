// The tests of page.js without a browser, on a GPU: by Dawn for Node, which `npm install --no-save webgpu` installs.
//
//     node test/node.js [all]     as page.js
//     node test/node.js bench     milliseconds of sorts of u32 on the GPU, medians of 21, each size compared with TypedArray.sort;
//                                 "plain" after it leaves out subgroups. After `sh web/build.sh`, which makes what keeps the GPU busy
//     node test/node.js arrays    milliseconds of sort() and argsort(), copies included: TypedArray.sort, on the CPU, on the GPU

import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
// What Node has of its own here cannot be assigned.
Object.defineProperty(globalThis, "navigator", { value: { gpu: create(["disable-dawn-features=timestamp_quantization"]) }, configurable: true });
globalThis.location = { hash: process.argv[2] === "all" ? "#all" : "" };
globalThis.window = { close() {} };

const log = console.log;
console.log = (text) => {
  log(text);
  if (/FAILED|WRONG/.test(text)) process.exitCode = 1;
};

const modules = import("../dist/index.js");

async function deviceOf() {
  const { Sorter } = await modules;
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  const features = [...(process.argv[3] === "plain" ? [] : Sorter.requiredFeatures(adapter)), "timestamp-query"];
  const device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits: Sorter.requiredLimits(1 << 26) });
  console.log(`${adapter.info.vendor} ${adapter.info.device || adapter.info.description}, ${features.join() || "no subgroups"}`);
  return device;
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

async function arrays() {
  const { argsort, sort } = await modules;
  const device = await deviceOf();
  const random = (type, n) => {
    const words = Uint32Array.from({ length: (n * type.BYTES_PER_ELEMENT) / 4 }, () => Math.random() * 2 ** 32);
    if (type === Float32Array || type === Float64Array) return type.from({ length: n }, () => Math.random());
    return new type(words.buffer);
  };
  for (const type of [Uint32Array, Float32Array, Float64Array]) {
    for (const log2 of [14, 16, 17, 18, 19, 20, 22, 24]) {
      const keys = random(type, 1 << log2);
      const expected = keys.slice().sort();
      const time = async (work) => {
        const times = [];
        for (let run = 0; run < (log2 > 20 ? 4 : 8); run++) {
          const array = keys.slice();
          const begin = performance.now();
          await work(array);
          if (run > 0) times.push(performance.now() - begin);
          if (work.sorts && !expected.every((key, i) => key === array[i])) console.log("WRONG");
        }
        return median(times).toFixed(2);
      };
      const sorts = (device) => Object.assign((array) => sort(array, { device }), { sorts: true });
      const times = [
        await time((array) => array.sort()),
        await time(sorts("cpu")),
        await time(sorts(device)),
        await time((array) => argsort(array, { device: "cpu" })),
        await time((array) => argsort(array, { device })),
      ];
      console.log(`${type.name} 2^${log2}: TypedArray.sort ${times[0]}, cpu ${times[1]}, gpu ${times[2]}; argsort cpu ${times[3]}, gpu ${times[4]}`);
    }
  }
}

async function bench() {
  const { Sorter } = await modules;
  const device = await deviceOf();
  const { spinUp } = await import("../../web/dist/spin.js");
  for (const payload of [undefined, "u32"]) {
    const sorter = await Sorter.create(device, { key: "u32", payload });
    for (const log2 of [16, 18, 20, 22, 24]) {
      const n = 1 << log2;
      const keys = Uint32Array.from({ length: n }, () => Math.random() * 2 ** 32);
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
      const [source, target, moved] = [0, 1, 2].map(() => device.createBuffer({ size: 4 * n, usage }));
      device.queue.writeBuffer(source, 0, keys);
      const workspace = sorter.workspace(n);
      const queries = device.createQuerySet({ type: "timestamp", count: 2 });
      const stamps = device.createBuffer({ size: 16, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
      const read = device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      const mark = (encoder, writes) => encoder.beginComputePass({ timestampWrites: { querySet: queries, ...writes } }).end();
      const fill = await spinUp(device);
      const times = [];
      for (let run = 0; run < 21; run++) {
        const encoder = device.createCommandEncoder();
        fill(encoder);
        encoder.copyBufferToBuffer(source, 0, target, 0, 4 * n);
        mark(encoder, { endOfPassWriteIndex: 0 });
        sorter.record(encoder, workspace, { keys: target, ...(payload && { payload: moved }) });
        mark(encoder, { beginningOfPassWriteIndex: 1 });
        encoder.resolveQuerySet(queries, 0, 2, stamps, 0);
        encoder.copyBufferToBuffer(stamps, 0, read, 0, 16);
        device.queue.submit([encoder.finish()]);
        await read.mapAsync(GPUMapMode.READ);
        const [begin, end] = new BigUint64Array(read.getMappedRange());
        times.push(Number(end - begin) / 1e6);
        read.unmap();
      }
      const milliseconds = median(times);
      const result = device.createBuffer({ size: 4 * n, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(target, 0, result, 0, 4 * n);
      device.queue.submit([encoder.finish()]);
      await result.mapAsync(GPUMapMode.READ);
      const found = new Uint32Array(result.getMappedRange());
      const isRight = keys.sort().every((key, i) => key === found[i]);
      console.log(`${payload ? "pairs" : "keys"} 2^${log2}: ${milliseconds.toFixed(4)} ms${isRight ? "" : " WRONG"}`);
      [source, target, moved, result, stamps, read].forEach((buffer) => buffer.destroy());
      workspace.destroy();
    }
  }
}

const modes = { bench, arrays };
await (modes[process.argv[2]]?.() ?? import("./page.js"));
process.exit();
