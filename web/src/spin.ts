// Keeps a GPU busy before measurements: an idle GPU lowers its clock, and at first takes several times as long. The work uses no
// memory, so caches keep their content.

const TEXT = `
@group(0) @binding(0) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(256)
fn spin(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = result[0] + id.x;
    for (var i = 0u; i < 20000u; i++) { x = x * 1664525u + 1013904223u; }
    if x == 1u { result[0] = x; }
}`;

/** The minimum milliseconds of work before each measurement, and before the first one. */
const [BEFORE, AT_FIRST] = [40, 1000];

/** Works until the clock is high. Resolves to a function that records further work, for just before a measurement. */
export async function spinUp(gpu: GPUDevice): Promise<(encoder: GPUCommandEncoder) => void> {
  const module = gpu.createShaderModule({ code: TEXT });
  const pipeline = await gpu.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "spin" } });
  const buffer = gpu.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE });
  const group = gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer } }] });
  let workgroups = 16;
  const fill = (encoder: GPUCommandEncoder) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(workgroups);
    pass.end();
  };
  for (const end = performance.now() + AT_FIRST; performance.now() < end; ) {
    const ms = await submitted(gpu, fill);
    if (ms < BEFORE && workgroups < 32768) workgroups *= 2;
  }
  return fill;
}

/** Records and submits commands. Resolves to the milliseconds until the GPU reports the end. */
export async function submitted(gpu: GPUDevice, record: (encoder: GPUCommandEncoder) => void): Promise<number> {
  const encoder = gpu.createCommandEncoder();
  record(encoder);
  const begin = performance.now();
  gpu.queue.submit([encoder.finish()]);
  await gpu.queue.onSubmittedWorkDone();
  return performance.now() - begin;
}
