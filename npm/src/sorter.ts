// Records sorts into a caller's encoder, of buffers on the caller's device.
//
// Each sort is one compute pass: `prepare` writes the arguments of all dispatches, since only the
// device may know how many elements there are; then the dispatches of the plan follow. Nothing is
// submitted here, and recording makes nothing but bind groups.

import { classes, copy1, copy2, families, prepare } from "./generated/index.js";
import { chunkOf, gridOf, type Kernel, numberOf, type Sort, textOf } from "./plan.js";

/** Types of keys: numbers as they lie in the buffer. */
export type KeyType = "u32" | "i32" | "f32" | "u64" | "i64" | "f64";

export interface Spec {
  key: KeyType;
  /** A u32 beside each key that moves with it; without it keys are sorted alone. */
  payload?: "u32" | undefined;
  /** Largest first; NaN stays last. */
  descending?: boolean;
}

/** A buffer, or a part of one that begins at a multiple of its elements' size. */
export type Slice = GPUBuffer | { buffer: GPUBuffer; offset?: number; size?: number };

/** How many elements: a number, or a u32 on the GPU that is read when the sort runs. */
export type Count = number | { buffer: GPUBuffer; offset?: number };

/** What offsets of bindings are multiples of, on every device. */
const ALIGNMENT = 256;

/** The most elements of a sort. */
export const MOST = (1 << 30) - 1;

interface Bound {
  buffer: GPUBuffer;
  /** Where it is bound from, and how many bytes of it. */
  offset: number;
  size: number;
  /** Elements between there and its first one. */
  first: number;
  length: number;
}

/** An argument that cannot be, which the message names. */
export class Misuse extends Error {
  override name = "Misuse";
}

function bound(what: string, slice: Slice, bytes: number): Bound {
  const { buffer, offset = 0, size = undefined } = "buffer" in slice ? slice : { buffer: slice };
  const length = size ?? buffer.size - offset;
  if (offset < 0 || offset % bytes !== 0 || length < 0 || offset + length > buffer.size) {
    throw new Misuse(`${what}: from byte ${offset} on ${length} bytes are no elements of ${bytes} bytes in a buffer of ${buffer.size}`);
  }
  if ((buffer.usage & GPUBufferUsage.STORAGE) === 0) {
    throw new Misuse(`${what}: the buffer lacks GPUBufferUsage.STORAGE`);
  }
  const before = offset % ALIGNMENT;
  const elements = Math.floor(length / bytes);
  return { buffer, offset: offset - before, size: before + elements * bytes, first: before / bytes, length: elements };
}

interface Made {
  kernel: Kernel;
  layout: GPUBindGroupLayout;
  pipeline: GPUComputePipeline;
}

interface Recorded {
  sort: Sort;
  kernels: Made[];
}

/** Memory for sorts of up to `capacity` elements, in turn. */
export class Workspace {
  /** @internal */
  constructor(
    readonly capacity: number,
    /** Bytes on the GPU. */
    readonly bytes: number,
    /** @internal */
    readonly owner: Sorter,
    /** @internal */
    readonly buffers: Map<string, GPUBuffer>,
    /** @internal */
    readonly groups: { arguments: GPUBindGroup },
  ) {}

  destroy(): void {
    this.buffers.forEach((buffer) => buffer.destroy());
  }
}

/** Records sorts of elements of one kind on one device. */
export class Sorter {
  private constructor(
    readonly device: GPUDevice,
    readonly spec: Spec,
    private readonly layouts: Record<"arguments" | "bytes" | "prepare" | "copy", GPUBindGroupLayout>,
    private readonly pipelines: Record<"prepare" | "copy", GPUComputePipeline>,
    private readonly host: GPUBindGroup,
    private readonly anyNumber: GPUBuffer,
    private readonly own: Recorded,
    private readonly withPositions: Recorded,
  ) {}

  /** Loads and compiles the kernels. A device may have the feature `subgroups`, and needs none. */
  static async create(device: GPUDevice, spec: Spec): Promise<Sorter> {
    const { key, payload, descending = false } = spec;
    const own = classOf(device);
    const load = families[`${key}_${own}`];
    if (load === undefined) {
      throw new Misuse(`key: ${String(key)} is none of u32, i32, f32, u64, i64, f64`);
    }
    if (payload !== undefined && payload !== "u32") {
      throw new Misuse(`payload: ${String(payload)} is not u32`);
    }
    const { family } = await load();
    const enabled = own === "none" ? "" : "enable subgroups;\nrequires subgroup_id;\n";
    const uniform = (binding: number, hasDynamicOffset: boolean): GPUBindGroupLayoutEntry => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: "uniform", hasDynamicOffset },
    });
    const storage = (binding: number, readOnly: boolean): GPUBindGroupLayoutEntry => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: readOnly ? "read-only-storage" : "storage" },
    });
    const layout = (entries: GPUBindGroupLayoutEntry[]) => device.createBindGroupLayout({ entries });
    const layouts = {
      arguments: layout([uniform(0, true), uniform(1, true)]),
      bytes: layout([0, 1, 2, 3, 4, 5, 6, 7].map((byte) => uniform(byte, true))),
      prepare: layout([storage(0, false), storage(1, false), storage(2, false), uniform(3, false), storage(4, true)]),
      copy: layout([storage(0, true), storage(1, false)]),
    };
    const pipeline = (code: string, entryPoint: string, bindGroupLayouts: GPUBindGroupLayout[]) =>
      device.createComputePipelineAsync({
        label: `gpusort ${entryPoint}`,
        layout: device.createPipelineLayout({ bindGroupLayouts }),
        compute: { module: device.createShaderModule({ code }), entryPoint },
      });
    const words = is64(key) ? 2 : 1;
    const made = new Map<string, Promise<Made>>();
    const recorded = async (hasPayload: boolean): Promise<Recorded> => {
      const sort = family.sorts.find((sort) => sort.descending === descending && sort.payload === hasPayload) as Sort;
      const kernel = async (kernel: Kernel): Promise<Made> => {
        const bindings = layout(kernel.bindings.map((binding, at) => storage(binding, kernel.buffers[at]![1])));
        return { kernel, layout: bindings, pipeline: await pipeline(enabled + textOf(family, kernel), kernel.entry, [bindings, layouts.arguments]) };
      };
      const of = (it: Kernel) => {
        const name = it.items.join();
        const known = made.get(name) ?? kernel(it);
        made.set(name, known);
        return known;
      };
      return { sort, kernels: await Promise.all(sort.kernels.map(of)) };
    };
    const [sorts, withPositions, preparing, copying] = await Promise.all([
      recorded(payload !== undefined),
      recorded(true),
      pipeline(prepare, "prepare", [layouts.prepare, layouts.bytes]),
      pipeline(words === 2 ? copy2 : copy1, "copy", [layouts.copy, layouts.arguments]),
    ]);
    // A byte that the host passes is an entry of this table: what is recorded twice in one encoder
    // must not share a buffer that is written.
    const table = new Uint8Array(256 * ALIGNMENT);
    for (let byte = 0; byte < 256; byte++) {
      table[byte * ALIGNMENT] = byte;
    }
    const bytes = filled(device, table, GPUBufferUsage.UNIFORM);
    const host = device.createBindGroup({
      layout: layouts.bytes,
      entries: [0, 1, 2, 3, 4, 5, 6, 7].map((binding) => ({ binding, resource: { buffer: bytes, offset: 0, size: 16 } })),
    });
    const anyNumber = filled(device, new Uint8Array([255, 255, 255, 255]), GPUBufferUsage.STORAGE);
    const pipelines = { prepare: preparing, copy: copying };
    return new Sorter(device, { ...spec }, layouts, pipelines, host, anyNumber, sorts, withPositions);
  }

  /** Allocates memory for sorts of up to `capacity` elements. */
  workspace(capacity: number): Workspace {
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > MOST) {
      throw new Misuse(`capacity: ${capacity} is not from 1 to ${MOST}`);
    }
    const { device, own, withPositions } = this;
    const n = Math.max(capacity, 2);
    const keyBytes = is64(this.spec.key) ? 8 : 4;
    const sizes = new Map<string, number>([
      ["keys", n * keyBytes],
      ["copied keys", n * keyBytes],
      ["positions", n * 4],
      ["nothing", 4],
      ["parameters", (own.sort.digits + 3) * ALIGNMENT],
    ]);
    for (const { sort } of [own, withPositions]) {
      for (const [name, count] of Object.entries(sort.buffers)) {
        sizes.set(name, Math.max(sizes.get(name) ?? 0, 4 * numberOf(count, sort, n, n)));
      }
    }
    const { maxBufferSize, maxStorageBufferBindingSize } = device.limits;
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    const large = [...sizes].find(([, size]) => size > most);
    if (large !== undefined) {
      throw new Misuse(
        `capacity: ${capacity} elements need a buffer of ${large[1]} bytes, but the device binds ${most}; ` +
          "request it with larger maxBufferSize and maxStorageBufferBindingSize",
      );
    }
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM;
    const buffers = new Map<string, GPUBuffer>();
    for (const [name, size] of sizes) {
      const isUniform = name === "parameters";
      buffers.set(name, device.createBuffer({ label: `gpusort ${name}`, size, usage: isUniform ? usage : GPUBufferUsage.STORAGE }));
    }
    for (const [name, { sort }] of [["fixed", own], ["fixed argsort", withPositions]] as const) {
      const fixed = new Uint32Array([capacity, sort.tile, chunkOf(sort, n), sort.digits]);
      buffers.set(name, filled(device, new Uint8Array(fixed.buffer), GPUBufferUsage.UNIFORM));
    }
    const parameters = buffers.get("parameters")!;
    const entries = [32, 16].map((size, binding) => ({ binding, resource: { buffer: parameters, size } }));
    const groups = { arguments: device.createBindGroup({ layout: this.layouts.arguments, entries }) };
    const bytes = [...buffers.values()].reduce((sum, buffer) => sum + buffer.size, 0);
    return new Workspace(capacity, bytes, this, buffers, groups);
  }

  /** Records a sort of keys, and of their payload if the specification has one, in place. */
  record(encoder: GPUCommandEncoder, workspace: Workspace, what: { keys: Slice; payload?: Slice; count?: Count }): void {
    if ((what.payload !== undefined) !== (this.spec.payload !== undefined)) {
      throw new Misuse(what.payload ? "payload: the specification has none" : "payload: the specification has one");
    }
    this.recordAny(encoder, workspace, this.own, what.keys, what.payload, what.count, false);
  }

  /** Records an argsort: writes the positions of the keys in order, as u32. The keys stay as they are. */
  recordArgsort(encoder: GPUCommandEncoder, workspace: Workspace, what: { keys: Slice; positions: Slice; count?: Count }): void {
    this.recordAny(encoder, workspace, this.withPositions, what.keys, what.positions, what.count, true);
  }

  private recordAny(
    encoder: GPUCommandEncoder,
    workspace: Workspace,
    { sort, kernels }: Recorded,
    keySlice: Slice,
    payloadSlice: Slice | undefined,
    count: Count | undefined,
    isArgsort: boolean,
  ): void {
    if (workspace.owner !== this) {
      throw new Misuse("workspace: it is another sorter's");
    }
    const keys = bound("keys", keySlice, is64(this.spec.key) ? 8 : 4);
    const payload = payloadSlice && bound(isArgsort ? "positions" : "payload", payloadSlice, 4);
    if (payload && payload.buffer === keys.buffer && payload.offset < keys.offset + keys.size && keys.offset < payload.offset + payload.size) {
      throw new Misuse("keys and payload overlap, or are closer than 256 bytes in one buffer");
    }
    const isKnown = count === undefined || typeof count === "number";
    const asked = typeof count === "number" ? count : keys.length;
    if (!Number.isInteger(asked) || asked < 0) {
      throw new Misuse(`count: ${asked} is no number of elements`);
    }
    if (isKnown && (asked > keys.length || (payload && asked > payload.length) || asked > workspace.capacity)) {
      const room = Math.min(keys.length, payload?.length ?? keys.length, workspace.capacity);
      throw new Misuse(`count: ${asked} elements, but keys, payload and workspace have room for ${room}`);
    }
    const most = Math.min(asked, keys.length, payload?.length ?? keys.length, workspace.capacity);
    if (most === 0) {
      return;
    }
    const counted = isKnown ? undefined : bound("count", count, 4);
    if (counted && counted.length < 1) {
      throw new Misuse("count: the buffer has no u32 there");
    }
    const { device } = this;
    const scratch = (name: string): GPUBufferBinding => ({ buffer: workspace.buffers.get(name)! });
    const slice = ({ buffer, offset, size }: Bound): GPUBufferBinding => ({ buffer, offset, size });
    const pass = encoder.beginComputePass({ label: "gpusort" });

    const parts = [most & 255, (most >>> 8) & 255, (most >>> 16) & 255, most >>> 24];
    const flags = isArgsort ? 1 | 2 | 4 : 0;
    const host = [...parts, keys.first, payload?.first ?? 0, counted?.first ?? 0, flags];
    const bind = (layout: GPUBindGroupLayout, resources: [number, GPUBufferBinding][]) =>
      device.createBindGroup({ layout, entries: resources.map(([binding, resource]) => ({ binding, resource })) });
    pass.setPipeline(this.pipelines.prepare);
    pass.setBindGroup(
      0,
      bind(this.layouts.prepare, [
        [0, scratch("parameters")],
        [1, scratch("histograms")],
        [2, scratch("varying_bits")],
        [3, scratch(isArgsort ? "fixed argsort" : "fixed")],
        [4, counted ? slice(counted) : { buffer: this.anyNumber }],
      ]),
    );
    pass.setBindGroup(1, this.host, host.map((byte) => byte * ALIGNMENT));
    pass.dispatchWorkgroups(sort.digits);

    const group = workspace.groups.arguments;
    if (isArgsort) {
      pass.setPipeline(this.pipelines.copy);
      pass.setBindGroup(0, bind(this.layouts.copy, [[0, slice(keys)], [1, scratch("copied keys")]]));
      pass.setBindGroup(1, group, [(sort.digits + 2) * ALIGNMENT, 0]);
      const words = (most * (is64(this.spec.key) ? 8 : 4)) / 4;
      pass.dispatchWorkgroups(Math.min(Math.ceil(words / 256), device.limits.maxComputeWorkgroupsPerDimension, 1 << 14));
    }

    const front: Record<string, GPUBufferBinding> = {
      keys: isArgsort ? scratch("copied keys") : slice(keys),
      payload: payload ? slice(payload) : scratch("nothing"),
    };
    const back: Record<string, GPUBufferBinding> = { keys: scratch("keys"), payload: payload ? scratch("positions") : scratch("nothing") };
    const groups = new Map<string, GPUBindGroup>();
    let isBack = false;
    for (const { kernel: number, digit, swaps, workgroups } of sort.passes) {
      const { kernel, layout, pipeline } = kernels[number]!;
      const name = `${number} ${isBack}`;
      const [here, there] = isBack ? [back, front] : [front, back];
      const resource = (name: string): GPUBufferBinding =>
        name.startsWith("other ") ? there[name.slice(6)]! : (here[name] ?? scratch(name));
      const made =
        groups.get(name) ?? bind(layout, kernel.bindings.map((binding, at) => [binding, resource(kernel.buffers[at]![0])]));
      groups.set(name, made);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, made);
      pass.setBindGroup(1, group, [digit * ALIGNMENT, (sort.digits + (isBack ? 1 : 0)) * ALIGNMENT]);
      const capacity = Math.max(workspace.capacity, 2);
      const grid = gridOf(numberOf(workgroups, sort, capacity, most), device.limits.maxComputeWorkgroupsPerDimension);
      pass.dispatchWorkgroups(...grid);
      isBack = isBack !== swaps;
    }
    pass.end();
  }
}

function is64(key: KeyType): boolean {
  return key.endsWith("64");
}

/** The class of a device: by the subgroups that it has, and that its adapter tells of. */
function classOf(device: GPUDevice): string {
  const info = (device as { adapterInfo?: { subgroupMinSize?: number; subgroupMaxSize?: number } }).adapterInfo;
  const knows = globalThis.navigator?.gpu?.wgslLanguageFeatures?.has("subgroup_id") ?? false;
  const has = device.features.has("subgroups" as GPUFeatureName) && knows;
  // Where an adapter tells nothing, or 0, they may have as many lanes as there are.
  const least = info?.subgroupMinSize || 4;
  const most = info?.subgroupMaxSize || 128;
  const known = classes.find((it) => has && it.least > 0 && it.least <= least && most <= it.most);
  return known?.name ?? "none";
}

function filled(device: GPUDevice, bytes: Uint8Array, usage: number): GPUBuffer {
  const buffer = device.createBuffer({ size: Math.max(bytes.length, 4), usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(bytes);
  buffer.unmap();
  return buffer;
}
