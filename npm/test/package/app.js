// What a page does with the package: sorts keys of one type, in buffers and in an array. It logs the order, and which scripts that loaded.

const log = (text) => console.log(`gpusort: ${text}`);

async function read(device, buffer) {
  const target = device.createBuffer({ size: buffer.size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, target, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await target.mapAsync(GPUMapMode.READ);
  return new Uint32Array(target.getMappedRange().slice(0));
}

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
    log(`keys ${await read(device, keys)} from ${await read(device, payload)}`);
    log(`array ${await sort(Uint32Array.of(3, 1, 2), { device })}`);
  } catch (error) {
    log(`FAILED: ${error.message}`);
  }
  const scripts = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
  for (const script of scripts) if (script.endsWith(".js")) log(`loaded ${script}`);
  log("done");
  window.close();
}
