// Records sorts of the caller's buffers into the caller's encoder.
//
//   prepare     writes the arguments of all dispatches, since only the device may know the number of elements
//   [copy]      copies keys that must not change
//   passes      alternate between the slices and the workspace; the first maps elements to keys, the last maps them back
//
// The sorter submits nothing. Recording creates only bind groups, a buffer for offsets that the host knows, and, at their
// first use, pipelines of segments and of first elements. The parameters have one slot for each digit's arguments, two for
// the beginnings of slices (for passes that read the caller's slices, and for passes that write them), one for the copy,
// and one for each group of short segments.

import { type Before, Pipelines } from "./pipelines.js";
import { type Amount, chunkOf, gridOf, numberOf, type Pass, type Sort } from "./plan.js";
import { ALIGNMENT, type Bound, bindingOf, bound, boundCount, checkKeys, checkSlices, type Count, Misuse, type Slice } from "./slices.js";

/** The types of keys: little-endian numbers in a buffer. */
export type KeyType = "u32" | "i32" | "f32" | "u64" | "i64" | "f64";

export interface Spec {
  key: KeyType;
  /** A u32 for each key, which moves with the key or receives its position. Without a payload, keys are sorted alone. */
  payload?: "u32" | "positions" | undefined;
  /** True for descending order; false by default. NaN is last in both orders. */
  descending?: boolean | undefined;
  /** True if workspaces have memory for `recordArgsort`; true by default. */
  argsort?: boolean | undefined;
  /** True if workspaces have memory for segments by offsets and for long rows; true by default. */
  segments?: boolean | undefined;
}

/** The input of a sort: keys, the payload if the specification has one, and the number of keys. */
export interface Elements {
  keys: Slice;
  payload?: Slice | undefined;
  /** The number of keys; all keys by default. A count on the GPU is clamped to the slices and the workspace. */
  count?: Count | undefined;
}

/**
 * The segments: rows of equal length, or segments from each offset to the next. Offsets count elements from the beginning
 * of the keys.
 */
export type Segments = { rows: number; offsets?: undefined } | { rows?: undefined; offsets: Uint32Array | Slice };

/** The maximum number of elements of a sort. */
export const MOST = (1 << 30) - 1;

/** The number of workgroups that keeps any device busy with a copy. */
const MOST_COPYING = 1 << 14;

/** The maximum number of groups of short segments. */
const GROUPS = 4;

const WORKGROUP = 256;
/** The maximum number of workgroups of `fill`, which share the long segments. */
const MOST_FILLING = 264;

/** A slice, and its name in messages. */
type Named = [string, Slice];

/** The checked arguments of a sort of at least one element. */
interface Checked {
  keys: Bound;
  payload: Bound | undefined;
  /** The maximum number of elements. */
  most: number;
  /** The place of their number on the GPU, if the host does not know it. */
  count: Bound | undefined;
  /** True if the payload is only written. */
  iota: boolean;
  keepsKeys: boolean;
}

/** Memory for sorts of up to `capacity` elements, one after another. */
export class Workspace {
  /** @internal */
  isDestroyed = false;

  /** @internal */
  constructor(
    readonly capacity: number,
    /** The number of bytes on the GPU. */
    readonly bytes: number,
    /** @internal */
    readonly owner: Sorter,
    /** @internal */
    readonly buffers: Map<string, GPUBuffer>,
    /** @internal */
    readonly group: GPUBindGroup,
  ) {}

  /** Frees the memory. Do not submit sorts afterwards that were recorded with this workspace. */
  destroy(): void {
    this.isDestroyed = true;
    this.buffers.forEach((buffer) => buffer.destroy());
  }
}

/** Records sorts of elements of one kind on one device. */
export class Sorter {
  private readonly own: Sort;
  private readonly withPositions: Sort;

  private constructor(
    readonly spec: Spec,
    private readonly pipelines: Pipelines,
  ) {
    const { payload, descending = false } = spec;
    this.own = pipelines.sort(descending, payload !== undefined);
    this.withPositions = pipelines.sort(descending, true);
  }

  get device(): GPUDevice {
    return this.pipelines.device;
  }

  /**
   * Loads and compiles the kernels. The device needs no features; `subgroups` reduces the time of a sort to 0.7 to 0.8. The
   * kernels of segments and of first elements are compiled by `compile`, or at their first use. Rejects with `Misuse` if
   * arguments are invalid or the device's limits are too low.
   */
  static async create(device: GPUDevice, spec: Spec): Promise<Sorter> {
    if (typeof device?.createBindGroup !== "function") {
      throw new Misuse("device: pass a GPUDevice, as adapter.requestDevice() returns");
    }
    if (typeof spec !== "object" || spec === null) {
      throw new Misuse('spec: pass an object such as { key: "f32", payload: "u32" }');
    }
    checkKeys("spec", spec, "key", "payload", "descending", "argsort", "segments");
    if (spec.payload !== undefined && spec.payload !== "u32" && spec.payload !== "positions") {
      throw new Misuse(`${String(spec.payload)} is no payload; use "u32" or "positions", or leave it out`);
    }
    if (typeof (spec.descending ?? false) !== "boolean") {
      throw new Misuse(`descending: a ${typeof spec.descending} is no boolean; pass true or false`);
    }
    const pipelines = await Pipelines.load(device, spec.key);
    const sorter = new Sorter({ ...spec }, pipelines);
    const { own, withPositions } = sorter;
    const all = (sort: Sort) => sort.passes.map((pass) => sort.kernels[pass.kernel]!);
    const argsort = spec.argsort === false ? [] : [pipelines.compile(withPositions, [...all(withPositions), "copy"])];
    await Promise.all([pipelines.compile(own, [...all(own), "prepare"]), ...argsort]);
    return sorter;
  }

  /** Returns the features to request a device with: subgroups, if the adapter has them. */
  static requiredFeatures(adapter: GPUAdapter): GPUFeatureName[] {
    return (["subgroups"] as GPUFeatureName[]).filter((feature) => adapter.features.has(feature));
  }

  /**
   * Returns the limits to request a device with for sorts of `capacity` elements of 64 bits: larger buffers if necessary.
   */
  static requiredLimits(capacity: number): Record<string, number> {
    const bytes = 8 * capacity + ALIGNMENT;
    return {
      ...(bytes > 256 << 20 && { maxBufferSize: bytes }),
      ...(bytes > 128 << 20 && { maxStorageBufferBindingSize: bytes }),
    };
  }

  /** Compiles kernels before their first use: for segments by offsets, for rows of this length, for first elements. */
  async compile(of: { segments?: boolean | undefined; rows?: number | undefined; top?: boolean | undefined }): Promise<void> {
    checkKeys("compile", of, "segments", "rows", "top");
    const { own, pipelines } = this;
    const isNumbered = this.spec.payload === "positions";
    const before: Before[] = [];
    const kernels = new Set<number>();
    const add = (passes: Pass[]) => passes.forEach((pass) => kernels.add((isNumbered ? pass.numbered : undefined) ?? pass.kernel));
    if (of.rows !== undefined && !(Number.isInteger(of.rows) && of.rows > 0)) {
      throw new Misuse(`rows: ${of.rows} is no number of elements; use an integer from 1 on`);
    }
    const isLong = (of.rows ?? 0) > own.longest;
    if (of.rows !== undefined && !isLong) {
      kernels.add(own.rows[Math.ceil(Math.log2(of.rows))]![isNumbered ? 1 : 0]);
      before.push("prepare_rows");
    }
    if (of.segments || isLong) {
      add(own.segments.passes);
      before.push("begin", "classify", "number_rows", "fill");
    }
    if (of.top) {
      add(own.top.passes);
      before.push("prepare_top", "want");
    }
    await pipelines.compile(own, [...[...kernels].map((kernel) => own.kernels[kernel]!), ...before]);
  }

  /** The length of the longest row that shares a tile with other rows; such rows need no memory of the workspace. */
  get longestRow(): number {
    return this.own.longest;
  }

  /** Returns the number of bytes of each buffer of a workspace. */
  private sizes(capacity: number): Map<string, number> {
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > MOST) {
      throw new Misuse(`no workspace has a capacity of ${capacity}; use 1 to ${MOST}`);
    }
    const { own, withPositions, spec } = this;
    const n = Math.max(capacity, 2);
    const sizes = new Map<string, number>();
    const add = (name: string, bytes: number) => sizes.set(name, Math.max(sizes.get(name) ?? 0, bytes));
    const addAll = (sort: Sort, buffers: Record<string, Amount>) =>
      Object.entries(buffers).forEach(([name, words]) => add(name, 4 * numberOf(words, sort, { capacity: n, n })));
    add("keys", n * this.keyBytes);
    add("nothing", 4);
    add("parameters", (own.digits + 3 + GROUPS) * ALIGNMENT);
    add("fixed", 16);
    addAll(own, own.buffers);
    if (spec.argsort !== false) {
      add("copied keys", n * this.keyBytes);
      add("fixed argsort", 16);
      addAll(withPositions, withPositions.buffers);
    }
    if (spec.argsort !== false || own.payload) {
      add("positions", n * 4);
    }
    if (spec.segments !== false) {
      addAll(own, own.segments.buffers);
      // Bound even without tiles of long segments.
      add("segment_tiles", 16);
    }
    if (n >= own.top.least) {
      addAll(own, own.top.buffers);
    }
    return sizes;
  }

  /** Returns the number of bytes of a workspace for `capacity` elements. */
  workspaceBytes(capacity: number): number {
    return [...this.sizes(capacity).values()].reduce((sum, size) => sum + size, 0);
  }

  /** Allocates memory for sorts of up to `capacity` elements. It serves any number of sorts, one after another. */
  workspace(capacity: number): Workspace {
    this.checkDevice();
    const { device, pipelines } = this;
    const sizes = this.sizes(capacity);
    const limits = ["maxBufferSize", "maxStorageBufferBindingSize"] as const;
    for (const [name, size] of sizes) {
      const limit = limits.find((limit) => device.limits[limit] < size);
      if (limit !== undefined) {
        throw new Misuse(`${capacity} elements need ${size} bytes of ${name} in one buffer; start the device with a larger ${limit}`);
      }
    }
    const { STORAGE, UNIFORM } = GPUBufferUsage;
    const fixed = (sort: Sort) => new Uint32Array([capacity, sort.tile, chunkOf(sort, Math.max(capacity, 2)), sort.digits]);
    const contents: Record<string, Uint32Array> = { fixed: fixed(this.own), "fixed argsort": fixed(this.withPositions) };
    const buffer = ([name, size]: [string, number]): [string, GPUBuffer] => {
      const words = contents[name];
      const usage = name === "parameters" ? STORAGE | UNIFORM : STORAGE;
      return [name, words ? pipelines.filled(name, words, UNIFORM) : device.createBuffer({ label: `gpusort ${name}`, size, usage })];
    };
    const buffers = new Map([...sizes].map(buffer));
    const parameters = buffers.get("parameters")!;
    const group = pipelines.bind(pipelines.arguments, [[0, { buffer: parameters, size: 32 }], [1, { buffer: parameters, size: 16 }]]);
    return new Workspace(capacity, this.workspaceBytes(capacity), this, buffers, group);
  }

  /** Records a sort of keys, and of their payload if the specification has one, in place. */
  record(encoder: GPUCommandEncoder, workspace: Workspace, elements: Elements): void {
    checkKeys("elements", elements, "keys", "payload", "count");
    const sort = this.checked(workspace, elements, this.payload(elements), workspace.capacity);
    if (sort) {
      this.recordSort(encoder, workspace, sort);
    }
  }

  /** Records an argsort: writes the positions of the keys in sorted order, as u32. The keys do not change. */
  recordArgsort(encoder: GPUCommandEncoder, workspace: Workspace, what: { keys: Slice; positions: Slice; count?: Count | undefined }): void {
    checkKeys("elements", what, "keys", "positions", "count");
    if (this.spec.argsort === false) {
      throw new Misuse("the specification leaves out the argsort; use argsort: true");
    }
    const sort = this.checked(workspace, what, ["positions", what.positions], workspace.capacity);
    if (sort) {
      this.recordSort(encoder, workspace, { ...sort, iota: true, keepsKeys: true });
    }
  }

  /**
   * Records a sort that leaves the first `k` keys in order at the beginning, with their payload. Later elements are
   * unspecified: some may be duplicated, others lost.
   */
  recordTop(encoder: GPUCommandEncoder, workspace: Workspace, elements: Elements, k: number): void {
    checkKeys("elements", elements, "keys", "payload", "count");
    if (!Number.isInteger(k) || k < 0) {
      throw new Misuse(`${k} is no number of elements; use an integer from 0 on`);
    }
    const sort = this.checked(workspace, elements, this.payload(elements), workspace.capacity);
    if (!sort || k === 0) {
      return;
    }
    const { own } = this;
    const { keys, payload, most, count, iota } = sort;
    // A sort of all elements is faster.
    if (most < own.top.least || k > Math.floor(most / 4)) {
      return this.recordSort(encoder, workspace, sort);
    }
    const pass = encoder.beginComputePass({ label: "gpusort top" });
    const buffers: [number, GPUBufferBinding][] = [[0, whole(workspace, "parameters")], [1, this.count(count)]];
    this.dispatchBefore(pass, own, "prepare_top", buffers, 1, most, [keys.first, payload?.first ?? 0, count?.first ?? 0, Number(iota)]);
    this.dispatchBefore(pass, own, "want", buffers, 1, k, [0, 0, 0, 0]);
    this.recordPasses(pass, workspace, sort, own, own.top.passes, k);
    pass.end();
    // The selection already wrote positions.
    this.recordSort(encoder, workspace, { ...sort, most: k, iota: false });
  }

  /**
   * Records a separate sort of each segment; positions count within their segment. Keys outside segments do not change. Rows
   * of up to `longestRow` may exceed the workspace's capacity. Offsets must ascend and must not exceed the number of keys.
   * Invalid offsets in a `Uint32Array` throw `Misuse`; with invalid offsets on the GPU nothing is sorted, and positions are
   * unspecified. A `Uint32Array` is copied into a new buffer: to record in every frame, pass a buffer of your own instead.
   */
  recordSegments(encoder: GPUCommandEncoder, workspace: Workspace, elements: Omit<Elements, "count">, segments: Segments): void {
    checkKeys("elements", elements, "keys", "payload");
    checkKeys("segments", segments, "rows", "offsets");
    const payload = this.payload(elements);
    const { length } = bound("keys", elements.keys, this.keyBytes);
    const all = (capacity: number) => this.checked(workspace, { ...elements, count: length }, payload, capacity);
    const { rows, offsets } = segments;
    if (rows !== undefined) {
      if (!Number.isInteger(rows) || rows < 1 || length % rows !== 0) {
        throw new Misuse(`${length} elements do not make whole rows of ${rows}`);
      }
      if (rows <= this.longestRow) {
        const sort = all(MOST);
        return sort && this.recordRows(encoder, workspace, sort, rows);
      }
    }
    if (this.spec.segments === false) {
      throw new Misuse("the specification leaves out segments; use segments: true");
    }
    if (rows !== undefined) {
      const sort = all(workspace.capacity);
      return sort && this.recordFound(encoder, workspace, sort, rows, undefined);
    }
    const isKnown = offsets instanceof Uint32Array;
    if (isKnown) {
      const at = offsets.findIndex((offset, at) => offset > (offsets[at + 1] ?? offset) || (offsets[at + 1] ?? 0) > length);
      if (at >= 0) {
        throw new Misuse(`segment ${at} is ${offsets[at]}..${offsets[at + 1]}; offsets must ascend to at most ${length}`);
      }
      if (offsets.length < 2) {
        return;
      }
    }
    const sort = all(workspace.capacity);
    const { limits } = this.device;
    if (isKnown && offsets.byteLength > Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize)) {
      throw new Misuse(`offsets: ${offsets.byteLength} bytes exceed the device's limit; start it with a larger maxStorageBufferBindingSize`);
    }
    if (!sort) {
      return;
    }
    const buffer = isKnown ? this.pipelines.filled("offsets", offsets, GPUBufferUsage.STORAGE) : offsets;
    const found = bound("offsets", buffer, 4);
    const shared = [sort.keys, sort.payload].find((other) => other?.buffer === found.buffer);
    if (shared) {
      throw new Misuse(`${shared.name} and offsets share a buffer; use a buffer for each`);
    }
    checkSlices(this.device, [found]);
    if (found.length >= 2) {
      this.recordFound(encoder, workspace, sort, 0, found);
    }
  }

  private get keyBytes(): number {
    return this.spec.key.endsWith("64") ? 8 : 4;
  }

  private payload({ payload }: { payload?: Slice | undefined }): Named | undefined {
    if (payload !== undefined && this.spec.payload === undefined) {
      throw new Misuse("a payload was passed, but the specification has none; use payload");
    }
    if (payload === undefined && this.spec.payload !== undefined) {
      throw new Misuse("the specification has a payload; pass payload");
    }
    return payload && ["payload", payload];
  }

  private checkDevice(): void {
    if (this.pipelines.isLost) {
      throw new Misuse("the device was lost; create a sorter on a new one");
    }
  }

  /**
   * Returns the checked arguments of a sort, or undefined without elements. Throws `Misuse` for more than `capacity`
   * elements.
   */
  private checked(workspace: Workspace, elements: Elements, beside: Named | undefined, capacity: number): Checked | undefined {
    this.checkDevice();
    if (workspace.owner !== this) {
      throw new Misuse("the workspace belongs to another sorter; use workspace() of this one");
    }
    if (workspace.isDestroyed) {
      throw new Misuse("the workspace was destroyed; use workspace() for another one");
    }
    const keys = bound("keys", elements.keys, this.keyBytes);
    const payload = beside && bound(...beside, 4);
    const { count = keys.length } = elements;
    const slices = [keys, ...(payload ? [payload] : [])];
    if (typeof count === "number") {
      if (!Number.isInteger(count) || count < 0) {
        throw new Misuse(`${count} is no number of elements; use an integer from 0 on`);
      }
      const short = slices.find((slice) => slice.length < count);
      if (short) {
        throw new Misuse(`${short.name}: ${short.length} elements, but the count is ${count}`);
      }
      if (count > capacity) {
        throw new Misuse(`the workspace has room for ${capacity} elements; create one for ${count}`);
      }
    }
    const most = typeof count === "number" ? count : Math.min(capacity, ...slices.map((slice) => slice.length));
    const counted = typeof count === "number" ? undefined : boundCount(count);
    if (most === 0) {
      return undefined;
    }
    // Bindings cover at most this number of elements.
    slices.forEach((slice) => (slice.length = most));
    checkSlices(this.device, counted ? [...slices, counted] : slices);
    return { keys, payload, most, count: counted, iota: this.spec.payload === "positions", keepsKeys: false };
  }

  private recordSort(encoder: GPUCommandEncoder, workspace: Workspace, sorted: Checked): void {
    const { keys, payload, most, count, iota, keepsKeys } = sorted;
    const sort = keepsKeys ? this.withPositions : this.own;
    const pass = encoder.beginComputePass({ label: "gpusort" });
    const buffers: [number, GPUBufferBinding][] = [
      [0, whole(workspace, "parameters")],
      [1, whole(workspace, "histograms")],
      [2, whole(workspace, "varying_bits")],
      [3, whole(workspace, keepsKeys ? "fixed argsort" : "fixed")],
      [4, this.count(count)],
    ];
    const flags = Number(iota) | (keepsKeys ? 2 | 4 : 0);
    this.dispatchBefore(pass, sort, "prepare", buffers, sort.digits, most, [keys.first, payload?.first ?? 0, count?.first ?? 0, flags]);
    if (keepsKeys) {
      const { pipeline, layout } = this.pipelines.get(sort, "copy");
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.pipelines.bind(layout, [[0, bindingOf(keys)], [1, whole(workspace, "copied keys")]]));
      pass.setBindGroup(1, workspace.group, [(sort.digits + 2) * ALIGNMENT, 0]);
      const words = (most * this.keyBytes) / 4;
      pass.dispatchWorkgroups(Math.min(Math.ceil(words / WORKGROUP), this.mostInRow, MOST_COPYING));
    }
    this.recordPasses(pass, workspace, sorted, sort, sort.passes);
    pass.end();
  }

  private recordRows(encoder: GPUCommandEncoder, workspace: Workspace, sort: Checked, length: number): void {
    const { own } = this;
    const pass = encoder.beginComputePass({ label: "gpusort rows" });
    const host = [length & 255, length >>> 8, sort.keys.first, sort.payload?.first ?? 0];
    this.dispatchBefore(pass, own, "prepare_rows", [[0, whole(workspace, "parameters")]], 1, sort.most, host);
    const [moved, numbered, each] = own.rows[Math.ceil(Math.log2(length))]!;
    const workgroups: Amount = { of: "one", times: Math.ceil(sort.most / length / each) };
    // The kernel's arguments are in the first slot, and include the beginnings of slices.
    this.recordPasses(pass, workspace, sort, { ...own, digits: 0 }, [{ kernel: moved, numbered, workgroups }]);
    pass.end();
  }

  /** Records sorts of rows longer than a tile, or of segments with these offsets. */
  private recordFound(encoder: GPUCommandEncoder, workspace: Workspace, sort: Checked, length: number, offsets: Bound | undefined): void {
    const { own } = this;
    const { keys, payload, most, iota } = sort;
    const pass = encoder.beginComputePass({ label: "gpusort segments" });
    const filled: [number, GPUBufferBinding][] = [
      [0, whole(workspace, "segments")],
      [4, whole(workspace, "segment_tiles")],
      [5, whole(workspace, "histograms")],
      [6, whole(workspace, "varying_bits")],
      [7, whole(workspace, "parameters")],
      [8, whole(workspace, "segment_classes")],
    ];
    const firstPayload = payload?.first ?? 0;
    if (offsets) {
      const found: [number, GPUBufferBinding][] = [
        [0, whole(workspace, "segments")],
        [1, whole(workspace, "keys")],
        [2, bindingOf(offsets)],
        [3, iota && payload ? bindingOf(payload) : whole(workspace, "nothing")],
      ];
      this.dispatchBefore(pass, own, "begin", found, 1, most, [0, 0, 0, 0]);
      const host = [offsets.first, firstPayload, Number(iota), 0];
      this.dispatchBefore(pass, own, "classify", found, Math.ceil((offsets.length - 1) / WORKGROUP), most, host);
    } else {
      this.dispatchBefore(pass, own, "number_rows", filled, Math.ceil(most / length / WORKGROUP), most, bytesOf(length));
    }
    const host = [offsets?.first ?? 0, keys.first, firstPayload, Number(iota)];
    this.dispatchBefore(pass, own, "fill", filled, Math.min(MOST_FILLING, Math.max(1, Math.floor(most / (own.longest + 1)))), most, host);
    const isThere = ({ group }: Pass) => (group === undefined ? most > own.longest : offsets !== undefined);
    this.recordPasses(pass, workspace, sort, own, own.segments.passes.filter(isThere), 0, offsets);
    pass.end();
  }

  /** Records a dispatch of a kernel with a number and four bytes from the host. */
  private dispatchBefore(
    pass: GPUComputePassEncoder,
    sort: Sort,
    kernel: Before,
    buffers: [number, GPUBufferBinding][],
    workgroups: number,
    number: number,
    bytes: number[],
  ): void {
    const { pipeline, layout } = this.pipelines.get(sort, kernel);
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, this.pipelines.bind(layout, buffers));
    pass.setBindGroup(1, this.pipelines.host, [...bytesOf(number), ...bytes].map((byte) => byte * ALIGNMENT));
    pass.dispatchWorkgroups(...gridOf(workgroups, this.mostInRow));
  }

  /** Records passes over the caller's slices and the workspace. */
  private recordPasses(
    pass: GPUComputePassEncoder,
    workspace: Workspace,
    { keys, payload, most, iota, keepsKeys }: Checked,
    sort: Sort,
    passes: Pass[],
    k = 0,
    offsets?: Bound,
  ): void {
    const front: Record<string, GPUBufferBinding> = {
      keys: keepsKeys ? whole(workspace, "copied keys") : bindingOf(keys),
      payload: payload ? bindingOf(payload) : whole(workspace, "nothing"),
    };
    const back: Record<string, GPUBufferBinding> = {
      keys: whole(workspace, "keys"),
      payload: whole(workspace, payload ? "positions" : "nothing"),
    };
    // The list occupies the other array, since short segments are sorted before any pass needs that array.
    const named: Record<string, GPUBufferBinding> = { segment_list: back["keys"]! };
    named["segment_offsets"] = offsets ? bindingOf(offsets) : whole(workspace, "nothing");
    const groups = new Map<string, GPUBindGroup>();
    let isBack = false;
    for (const { kernel, numbered, digit = 0, group, swaps, workgroups } of passes) {
      const capacity = Math.max(workspace.capacity, 2);
      const count = numberOf(workgroups, sort, { capacity, n: most, k });
      if (count === 0) {
        continue;
      }
      const number = (iota ? numbered : undefined) ?? kernel;
      const own = sort.kernels[number]!;
      const { pipeline, layout } = this.pipelines.get(sort, own);
      const [here, there] = isBack ? [back, front] : [front, back];
      const resource = (name: string): GPUBufferBinding =>
        name.startsWith("other ") ? there[name.slice(6)]! : (here[name] ?? named[name] ?? whole(workspace, name));
      const name = `${number} ${isBack}`;
      let bindings = groups.get(name);
      if (bindings === undefined) {
        bindings = this.pipelines.bind(layout, own.bindings.map((binding, at) => [binding, resource(own.buffers[at]![0])]));
        groups.set(name, bindings);
      }
      const slot = group === undefined ? digit : sort.digits + 3 + group;
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindings);
      pass.setBindGroup(1, workspace.group, [slot * ALIGNMENT, (sort.digits + (isBack ? 1 : 0)) * ALIGNMENT]);
      pass.dispatchWorkgroups(...gridOf(count, this.mostInRow));
      isBack = isBack !== (swaps ?? false);
    }
  }

  private get mostInRow(): number {
    return this.device.limits.maxComputeWorkgroupsPerDimension;
  }

  /** Returns the binding of the count, or of the largest u32 if the host knows the count. */
  private count(count: Bound | undefined): GPUBufferBinding {
    return count ? bindingOf(count) : { buffer: this.pipelines.noCount };
  }
}

function whole(workspace: Workspace, name: string): GPUBufferBinding {
  return { buffer: workspace.buffers.get(name)! };
}

/** Returns the bytes of a number, lowest first. */
function bytesOf(number: number): number[] {
  return [number & 255, (number >>> 8) & 255, (number >>> 16) & 255, number >>> 24];
}
