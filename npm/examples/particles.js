// Translucent particles, drawn back to front. Each frame is one command buffer: a compute pass writes the depth of each particle, gpusort orders
// their numbers by depth, and the vertex shader reads the numbers in that order. The CPU never sees a particle.

import { Sorter } from "../dist/index.js";

const code = /* wgsl */ `
struct View { right: vec4f, up: vec4f, forward: vec4f, eye: vec4f, focal: vec2f, size: f32, time: f32 }
struct Particle { at: vec3f, color: u32 }
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read_write> placed: array<Particle>;
@group(0) @binding(2) var<storage, read_write> depths: array<f32>;
@group(0) @binding(3) var<storage, read_write> order: array<u32>;
@group(0) @binding(1) var<storage, read> particles: array<Particle>; // the same buffers, in the bind group of the render pass
@group(0) @binding(2) var<storage, read> drawn: array<u32>;

fn random(seed: u32) -> f32 {
  var bits = (seed + 1) * 0x9e3779b1u;
  bits = (bits ^ (bits >> 15)) * 0x6c8e9cf5u;
  bits = (bits ^ (bits >> 13)) * 0x51d7348du;
  return f32(bits ^ (bits >> 16)) / 4294967296;
}

// Particles flow along a trefoil knot. Each is a function of its number and the time, so none needs to be uploaded.
@compute @workgroup_size(64) fn place(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
  let i = id.x + id.y * grid.x * 64;
  if (i >= arrayLength(&depths)) { return; }
  let t = 6.2831853 * (random(4 * i) + 0.006 * view.time);
  let height = 2 * random(4 * i + 1) - 1;
  let turn = 6.2831853 * random(4 * i + 2);
  let spread = random(4 * i + 3);
  let normal = vec3f(sqrt(1 - height * height) * vec2f(cos(turn), sin(turn)), height);
  let radius = 0.52 * sqrt(sqrt(spread)) + 1.6 * pow(spread, 60); // a tube that is dense at its skin, and some dust
  let at = vec3f(sin(t) + 2 * sin(2 * t), cos(t) - 2 * cos(2 * t), -1.3 * sin(3 * t)) + radius * normal;
  let light = 0.55 + 0.45 * dot(normal, normalize(vec3f(0.4, 0.8, 0.5)));
  let hue = vec3f(0.58, 0.48, 0.56) + vec3f(0.42, 0.36, 0.40) * cos(t + vec3f(0.3, 2.0, 4.2));
  placed[i] = Particle(at, pack4x8unorm(vec4f(hue * light, 0.55)));
  depths[i] = dot(at - view.eye.xyz, view.forward.xyz);
  order[i] = i;
}
struct Corner { @builtin(position) position: vec4f, @location(0) at: vec2f, @location(1) color: vec4f }
@vertex fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) rank: u32) -> Corner {
  let particle = particles[drawn[rank]];
  let at = vec2f(f32(vertex & 1), f32(vertex >> 1)) * 2 - 1;
  let seen = particle.at - view.eye.xyz;
  let flat = vec2f(dot(seen, view.right.xyz), dot(seen, view.up.xyz)) + at * view.size;
  return Corner(vec4f(flat * view.focal, 0, dot(seen, view.forward.xyz)), at, unpack4x8unorm(particle.color));
}
@fragment fn disc(corner: Corner) -> @location(0) vec4f {
  let alpha = corner.color.a * smoothstep(1, 0.2, length(corner.at));
  return vec4f(corner.color.rgb * alpha, alpha);
}`;

/** What draws particles into the canvas, or undefined where there is no WebGPU. */
export async function particles(canvas) {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) return undefined;
  // Both are optional: gpusort is faster with subgroups, and times need timestamps.
  const requiredFeatures = ["subgroups", "timestamp-query"].filter((feature) => adapter.features.has(feature));
  const device = await adapter.requestDevice({ requiredFeatures });
  const sorter = await Sorter.create(device, { key: "f32", payload: "u32", descending: true }); // the farthest first
  const context = canvas.getContext("webgpu");
  const format = navigator.gpu.getPreferredCanvasFormat();
  context.configure({ device, format, alphaMode: "premultiplied" }); // the page's background shows through
  const module = device.createShaderModule({ code });
  const place = await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
  const over = { srcFactor: "one", dstFactor: "one-minus-src-alpha" };
  const draw = await device.createRenderPipelineAsync({
    layout: "auto",
    vertex: { module },
    fragment: { module, targets: [{ format, blend: { color: over, alpha: over } }] },
    primitive: { topology: "triangle-strip" },
  });
  const entries = (...buffers) => buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const bind = (pipeline, ...buffers) => device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: entries(...buffers) });
  const view = device.createBuffer({ size: 80, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  const isTimed = device.features.has("timestamp-query");
  const queries = isTimed && device.createQuerySet({ type: "timestamp", count: 3 });
  const stamps = device.createBuffer({ size: 24, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
  const read = device.createBuffer({ size: 24, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const stamped = (writes) => (isTimed ? { timestampWrites: { querySet: queries, ...writes } } : {});
  const drawing = { device, frame, made: undefined, times: undefined };

  /** Buffers for some number of particles: they are made again only when that changes. */
  function make(count) {
    drawing.made?.buffers.forEach((buffer) => buffer.destroy());
    drawing.made?.workspace.destroy();
    const buffer = (bytes) => device.createBuffer({ size: count * bytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
    const [placed, depths, order] = [16, 4, 4].map(buffer);
    const groups = [bind(place, view, placed, depths, order), bind(draw, view, placed, order)];
    drawing.made = { count, buffers: [placed, depths, order], groups, workspace: sorter.workspace(count) };
  }

  function frame({ count, isSorted, yaw, pitch, distance, time }) {
    if (drawing.made?.count !== count) make(count);
    const { buffers, groups, workspace } = drawing.made;
    const [sy, cy, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
    const forward = [-sy * cp, -sp, -cy * cp];
    const eye = forward.map((it) => -it * distance);
    const focal = 1.8 * Math.min(1, canvas.width / canvas.height);
    const values = [cy, 0, -sy, 0, -sy * sp, cp, -cy * sp, 0, ...forward, 0, ...eye, 0];
    values.push((focal * canvas.height) / canvas.width, focal, 2.6 / Math.cbrt(count), time);
    device.queue.writeBuffer(view, 0, new Float32Array(values));

    const encoder = device.createCommandEncoder();
    const workgroups = Math.ceil(count / 64);
    const placing = encoder.beginComputePass(stamped({ endOfPassWriteIndex: 0 }));
    placing.setPipeline(place);
    placing.setBindGroup(0, groups[0]);
    placing.dispatchWorkgroups(Math.min(workgroups, 4096), Math.ceil(workgroups / 4096));
    placing.end();
    if (isSorted) sorter.record(encoder, workspace, { keys: buffers[1], payload: buffers[2] });
    const colorAttachments = [{ view: context.getCurrentTexture().createView(), loadOp: "clear", storeOp: "store" }];
    const drawn = encoder.beginRenderPass({ colorAttachments, ...stamped({ beginningOfPassWriteIndex: 1, endOfPassWriteIndex: 2 }) });
    drawn.setPipeline(draw);
    drawn.setBindGroup(0, groups[1]);
    drawn.draw(4, count);
    drawn.end();
    device.queue.submit([encoder.finish()]);
    if (isTimed && read.mapState === "unmapped") readTimes(); // else an earlier frame's are still on their way
  }

  function readTimes() {
    const encoder = device.createCommandEncoder();
    encoder.resolveQuerySet(queries, 0, 3, stamps, 0);
    encoder.copyBufferToBuffer(stamps, 0, read, 0, 24);
    device.queue.submit([encoder.finish()]);
    const note = () => {
      const [placed, sorted, drawn] = Array.from(new BigUint64Array(read.getMappedRange()), Number);
      drawing.times = { sort: (sorted - placed) / 1e6, draw: (drawn - sorted) / 1e6 };
      read.unmap();
    };
    read.mapAsync(GPUMapMode.READ).then(note, () => {}); // refused when the device is lost, which the page tells
  }
  return drawing;
}
