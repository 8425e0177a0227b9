// What the tests in pages share.

// In one line: of others the log has but the first.
export const log = (text) => console.log(`gpusort: ${text.replace(/\s+/g, " ")}`);

export function check(what, condition) {
  if (!condition) throw new Error(what);
}

/** Checks that a call fails, with all of these words in its message. */
export async function refused(what, call, words) {
  try {
    await call();
  } catch (error) {
    return check(`${what}: ${error.message}`, words.every((word) => error.message.includes(word)));
  }
  throw new Error(`${what} is not refused`);
}

/** The bytes of a buffer on the GPU. */
export async function read(device, buffer, bytes = buffer.size) {
  const target = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, target, 0, bytes);
  device.queue.submit([encoder.finish()]);
  await target.mapAsync(GPUMapMode.READ);
  const data = target.getMappedRange().slice(0);
  target.destroy();
  return data;
}
