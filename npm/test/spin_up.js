// Keeps a GPU busy around what is timed: an idle one lowers its clock (an H100 from 1,980 to 345 MHz within a second, while the CPU
// verifies a result), and sorts then take up to five times as long. It computes without memory, so that caches stay as they are.

const TEXT = `
@group(0) @binding(0) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(256)
fn spin(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = result[0] + id.x;
    for (var i = 0u; i < 20000u; i++) { x = x * 1664525u + 1013904223u; }
    if x == 1u { result[0] = x; }
}`;

/** Returns what records work of some tens of milliseconds: `fill(encoder)`, before what is timed in the same encoder. */
export async function filler(device) {
  const module = device.createShaderModule({ code: TEXT });
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "spin" } });
  const buffer = device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE });
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer } }] });
  let workgroups = 1024;
  const fill = (encoder) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(workgroups);
    pass.end();
  };
  while ((await timeOf(device, fill)) < 40 && workgroups < 32768) workgroups *= 2;
  return fill;
}

async function timeOf(device, fill) {
  const begin = performance.now();
  const encoder = device.createCommandEncoder();
  fill(encoder);
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  return performance.now() - begin;
}

/** Works for so many milliseconds. */
export async function spinUp(device, fill, milliseconds = 1000) {
  for (const end = performance.now() + milliseconds; performance.now() < end; ) await timeOf(device, fill);
}
