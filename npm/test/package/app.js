// What a page does with the package: sorts keys of one type, in buffers and in an array. It logs the order, and which scripts that loaded.

import { log, read } from "./support.js";

export async function run({ Sorter, sort }) {
  try {
    const adapter = await navigator.gpu.requestAdapter();
    const device = await adapter.requestDevice();
    device.onuncapturederror = ({ error }) => log(`FAILED: ${error.message}`);
    const sorter = await Sorter.create(device, { key: "u32", payload: "positions", argsort: false, segments: false });
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const [keys, payload] = [0, 1].map(() => device.createBuffer({ size: 20, usage }));
    device.queue.writeBuffer(keys, 0, Uint32Array.of(30, 10, 4294967295, 10, 20));
    const encoder = device.createCommandEncoder();
    sorter.record(encoder, sorter.workspace(5), { keys, payload });
    device.queue.submit([encoder.finish()]);
    const words = async (buffer) => new Uint32Array(await read(device, buffer));
    log(`keys ${await words(keys)} from ${await words(payload)}`);
    log(`array ${await sort(Uint32Array.of(3, 1, 2), { device })}`);
  } catch (error) {
    log(`FAILED: ${error.message}`);
  }
  const scripts = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
  for (const script of scripts) if (script.endsWith(".js")) log(`loaded ${script}`);
  log("done");
  // The page of a worker closes itself.
  globalThis.window?.close();
}
