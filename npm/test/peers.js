// Times sorts of random u32 beside two other sorts for WebGPU on one device, each with its defaults: WebGPU-Radix-Sort
// (github.com/kishimisu/WebGPU-Radix-Sort) and gridwise (github.com/gridwise-webgpu/gridwise). In Node by Dawn, which
// `npm install --no-save webgpu` installs:
//
//     node test/peers.js KISHIMISU GRIDWISE [keys|pairs]     after `sh web/build.sh`, which makes what keeps the GPU busy
//
// The two are folders, or modules made of them. Folders import as they are, from Node 20.19 on: gridwise by onesweep.mjs, since
// its index.mjs names an export that is not there. One module of each, for a page or a machine without network:
//
//     cp KISHIMISU/dist/esm/radix-sort-esm.js kishimisu.mjs
//     npx esbuild@0.25 GRIDWISE/onesweep.mjs --bundle --format=esm --keep-names --outfile=gridwise.mjs
//
// In a page: `await peers(device, { kishimisu, gridwise }, console.log)` with the two modules; on a software adapter with `{ isHardware: false }`.

import { Sorter } from "../dist/index.js";
import { read } from "./support.js";

/** What is wrong with a sort of keys whose payload was their positions, or "". */
function wrong(keys, expected, found, payload) {
  if (!expected.every((key, i) => key === found[i])) return "keys";
  if (!payload) return "";
  const seen = new Uint8Array(keys.length);
  payload.forEach((position) => (seen[position] = 1));
  return seen.every((it) => it === 1) && payload.every((position, i) => keys[position] === found[i]) ? "" : "payload";
}

/** Each contender gets buffers of keys and perhaps a payload, and returns what records a sort of these in place, or why it cannot. */
const contenders = {
  gpusort: async (device, _, { keys, payload, n }) => {
    const sorter = await Sorter.create(device, { key: "u32", ...(payload && { payload: "u32" }) });
    const workspace = sorter.workspace(n);
    return (encoder) => sorter.record(encoder, workspace, { keys, ...(payload && { payload }) });
  },
  kishimisu: async (device, { RadixSortKernel }, { keys, payload, n }) => {
    const kernel = new RadixSortKernel({ device, keys, values: payload, count: n });
    return (encoder) => {
      const pass = encoder.beginComputePass();
      kernel.dispatch(pass);
      pass.end();
    };
  },
  gridwise: async (device, { OneSweepSort }, { keys, payload, n, buffer }) => {
    // It ranks keys by ballots of 32 lanes, and with its emulation of subgroups a software adapter does not end.
    const { subgroupMinSize, subgroupMaxSize } = device.adapterInfo;
    if (!device.features.has("subgroups") || subgroupMinSize !== 32 || subgroupMaxSize !== 32) return "needs subgroups of 32";
    const sort = new OneSweepSort({ device, datatype: "u32", direction: "ascending", type: payload ? "keyvalue" : "keysonly", inputLength: n });
    const buffers = { keysInOut: keys, keysTemp: buffer(), ...(payload && { payloadInOut: payload, payloadTemp: buffer() }) };
    return (encoder) => sort.execute({ encoder, ...buffers });
  },
};

/** Sorts 2^log2 elements by each contender in turn, `runs` times, and returns the median milliseconds of each on the GPU, or why there is none. */
async function race(device, modules, hasPayload, log2, runs, spinUp) {
  const n = 1 << log2;
  const keys = Uint32Array.from({ length: n }, () => Math.random() * 2 ** 32);
  const expected = keys.slice().sort();
  const made = [];
  const buffer = (usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST, size = 4 * n) => {
    made.push(device.createBuffer({ size, usage }));
    return made.at(-1);
  };
  const upload = (array) => {
    const target = buffer();
    device.queue.writeBuffer(target, 0, array);
    return target;
  };
  const sources = [upload(keys), ...(hasPayload ? [upload(Uint32Array.from(keys, (_, i) => i))] : [])];
  const queries = device.createQuerySet({ type: "timestamp", count: 2 });
  const stamps = buffer(GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC, 16);
  const mark = (encoder, writes) => encoder.beginComputePass({ timestampWrites: { querySet: queries, ...writes } }).end();
  const all = [];
  const medians = {};
  for (const [name, make] of Object.entries(contenders)) {
    const [own, payload] = sources.map(() => buffer());
    const record = await make(device, modules[name], { keys: own, payload, n, buffer });
    if (typeof record === "string") medians[name] = record;
    else all.push({ name, own, payload, times: [], record });
  }
  const fill = await spinUp?.(device);
  // In turn, so that a change of the GPU's clock meets all of them.
  for (let run = 0; run < runs; run++) {
    for (const { own, payload, times, record } of all) {
      const encoder = device.createCommandEncoder();
      fill?.(encoder);
      [own, payload].forEach((target, at) => target && encoder.copyBufferToBuffer(sources[at], 0, target, 0, 4 * n));
      mark(encoder, { endOfPassWriteIndex: 0 });
      await record(encoder);
      mark(encoder, { beginningOfPassWriteIndex: 1 });
      encoder.resolveQuerySet(queries, 0, 2, stamps, 0);
      device.queue.submit([encoder.finish()]);
      const [begin, end] = new BigUint64Array(await read(device, stamps));
      times.push(Number(end - begin) / 1e6);
    }
  }
  for (const { name, own, payload, times } of all) {
    const [found, moved] = [new Uint32Array(await read(device, own)), payload && new Uint32Array(await read(device, payload))];
    const fault = wrong(keys, expected, found, moved);
    medians[name] = fault === "" ? times.sort((a, b) => a - b)[runs >> 1] : `WRONG ${fault}`;
  }
  made.forEach((it) => it.destroy());
  queries.destroy();
  return medians;
}

/** Logs a table of medians, and returns whether all results were right. */
export async function peers(device, modules, log, { log2s = [16, 18, 20, 22], kinds = ["keys", "pairs"], runs = 21, isHardware = true } = {}) {
  const [keys, sorted] = [Uint32Array.of(5, 3), Uint32Array.of(3, 5)];
  const faults = [[sorted, Uint32Array.of(1, 0)], [keys], [sorted, Uint32Array.of(0, 1)], [sorted, Uint32Array.of(1, 1)]];
  const told = faults.map(([found, payload]) => wrong(keys, sorted, found, payload)).join();
  if (told !== ",keys,payload,payload") throw new Error("the comparison is wrong");
  const names = Object.keys(contenders);
  const others = names.slice(1);
  log(`| milliseconds on the GPU, medians of ${runs} | ${[...names, ...others.map((name) => `gpusort ÷ ${name}`)].join(" | ")} |`);
  log(`|---|${"---:|".repeat(names.length + others.length)}`);
  let isRight = true;
  const { spinUp } = isHardware ? await import("../../web/dist/spin.js") : {};
  for (const kind of kinds) {
    for (const log2 of log2s) {
      const medians = await race(device, modules, kind === "pairs", log2, runs, spinUp);
      const cells = names.map((name) => (typeof medians[name] === "number" ? medians[name].toFixed(4) : medians[name]));
      const ratios = others.map((name) => (typeof medians[name] === "number" ? (medians.gpusort / medians[name]).toFixed(2) : ""));
      log(`| ${kind} 2^${log2} | ${[...cells, ...ratios].join(" | ")} |`);
      isRight &&= !Object.values(medians).some((median) => String(median).startsWith("WRONG"));
    }
  }
  return isRight;
}

/** A device with what the contenders use, and the adapter's limits. */
export async function deviceOf(gpu) {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter?.features.has("timestamp-query")) throw new Error("no adapter with the feature timestamp-query; use another GPU or driver");
  const requiredFeatures = ["timestamp-query", "subgroups"].filter((feature) => adapter.features.has(feature));
  const requiredLimits = {};
  for (const name in adapter.limits) {
    if (typeof adapter.limits[name] === "number") requiredLimits[name] = adapter.limits[name];
  }
  return adapter.requestDevice({ requiredFeatures, requiredLimits });
}

async function main([kishimisu, gridwise, kind]) {
  if (gridwise === undefined) throw new Error("name the folders of both: node test/peers.js KISHIMISU GRIDWISE [keys|pairs]");
  const { statSync } = await import("node:fs");
  const { join } = await import("node:path");
  const { pathToFileURL } = await import("node:url");
  const load = (at, entry) => import(pathToFileURL(statSync(at).isDirectory() ? join(at, entry) : at));
  const modules = { kishimisu: await load(kishimisu, "dist/esm/radix-sort-esm.js"), gridwise: await load(gridwise, "onesweep.mjs") };
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  // What Node has of its own here cannot be assigned.
  Object.defineProperty(globalThis, "navigator", { value: { gpu: create(["disable-dawn-features=timestamp_quantization"]) }, configurable: true });
  const device = await deviceOf(navigator.gpu);
  device.onuncapturederror = ({ error }) => {
    console.log(`FAILED: ${error.message}`);
    process.exitCode = 1;
  };
  const { vendor, device: name, description } = device.adapterInfo;
  console.log(`${vendor} ${name || description}, ${[...device.features].filter((it) => it === "subgroups").join() || "no subgroups"}`);
  if (!(await peers(device, modules, console.log, kind ? { kinds: [kind] } : {}))) process.exitCode = 1;
  process.exit();
}

if (globalThis.process?.argv[1]?.endsWith("peers.js")) await main(process.argv.slice(2));
