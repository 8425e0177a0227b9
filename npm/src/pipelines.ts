// The kernels for one type of keys on one device: layouts and pipelines, each created once.

import { classes, copy1, copy2, families, prepare, prepareRows } from "./generated/index.js";
import { type Family, type Kernel, type Sort, textOf } from "./plan.js";
import { ALIGNMENT, Misuse } from "./slices.js";

/** A pipeline, and the layout of its buffers. */
export interface Made {
  layout: GPUBindGroupLayout;
  pipeline: GPUComputePipeline;
}

/** The source of a pipeline. */
interface Source {
  text: string;
  entry: string;
  bindings: [number, GPUBufferBindingLayout][];
  /** True if the arguments come from the host byte by byte, instead of from slots. */
  isHost: boolean;
}

/** Kernels that run before those of a plan. */
export type Before = "prepare" | "prepare_rows" | "copy" | "prepare_top" | "want" | "begin" | "classify" | "number_rows" | "fill";

const storage: GPUBufferBindingLayout = { type: "storage" };
const readOnly: GPUBufferBindingLayout = { type: "read-only-storage" };
const uniform: GPUBufferBindingLayout = { type: "uniform" };

const FOUND: [number, GPUBufferBindingLayout][] = [[0, storage], [1, storage], [2, readOnly], [3, storage]];
const FILLED: [number, GPUBufferBindingLayout][] = [0, 4, 5, 6, 7, 8].map((binding) => [binding, storage]);
const TOP: [number, GPUBufferBindingLayout][] = [[0, storage], [1, readOnly]];

const BINDINGS: Record<Before, [number, GPUBufferBindingLayout][]> = {
  prepare: [[0, storage], [1, storage], [2, storage], [3, uniform], [4, readOnly]],
  prepare_rows: [[0, storage]],
  copy: [[0, readOnly], [1, storage]],
  prepare_top: TOP,
  want: TOP,
  begin: FOUND,
  classify: FOUND,
  number_rows: FILLED,
  fill: FILLED,
};

/** The loaded kernels of each device, by type of keys; sorters share them. */
const loaded = new WeakMap<GPUDevice, Map<string, Promise<Pipelines>>>();

export class Pipelines {
  private readonly making = new Map<string, Promise<void>>();
  private readonly made = new Map<string, Made>();
  private readonly layouts = new Map<string, GPUBindGroupLayout>();
  readonly arguments: GPUBindGroupLayout;
  private readonly bytes: GPUBindGroupLayout;
  /**
   * The bindings of a table of bytes, one for each byte of the host's arguments: two sorts in one encoder must not share a buffer that the host
   * writes.
   */
  readonly host: GPUBindGroup;
  /** The largest u32, bound as the count if the host knows the count. */
  readonly noCount: GPUBuffer;
  isLost = false;

  private constructor(
    readonly device: GPUDevice,
    private readonly family: Family,
    private readonly keyWords: number,
    private readonly enabled: string,
  ) {
    const dynamic = [0, 1, 2, 3, 4, 5, 6, 7].map((byte): [number, GPUBufferBindingLayout] => [byte, { ...uniform, hasDynamicOffset: true }]);
    this.arguments = this.layout(dynamic.slice(0, 2));
    this.bytes = this.layout(dynamic);
    void device.lost.then(() => (this.isLost = true));
    const table = new Uint32Array(256 * (ALIGNMENT / 4));
    for (let byte = 0; byte < 256; byte++) {
      table[byte * (ALIGNMENT / 4)] = byte;
    }
    const buffer = this.filled("bytes", table, GPUBufferUsage.UNIFORM);
    this.host = this.bind(this.bytes, dynamic.map(([binding]) => [binding, { buffer, offset: 0, size: 16 }]));
    this.noCount = this.filled("any number", Uint32Array.of(0xffffffff), GPUBufferUsage.STORAGE);
  }

  /** Loads the kernels for a type of keys on this device. Rejects with `Misuse` if the device's limits are too low. */
  static async load(device: GPUDevice, key: string): Promise<Pipelines> {
    const own = classOf(device);
    const load = families[`${key}_${own}`];
    if (load === undefined) {
      throw new Misuse(`${key} keys are not supported; use u32, i32, f32, u64, i64 or f64`);
    }
    const needed = {
      maxStorageBuffersPerShaderStage: 8,
      maxUniformBuffersPerShaderStage: 9,
      maxDynamicUniformBuffersPerPipelineLayout: 8,
      maxComputeInvocationsPerWorkgroup: 256,
    } as const;
    for (const [limit, least] of Object.entries(needed)) {
      if (device.limits[limit as keyof typeof needed] < least) {
        throw new Misuse(`the device has too low a limit; start it with ${limit} of ${least} or more`);
      }
    }
    const ofDevice = loaded.get(device) ?? new Map<string, Promise<Pipelines>>();
    loaded.set(device, ofDevice);
    const words = key.endsWith("64") ? 2 : 1;
    const enabled = own === "none" ? "" : "enable subgroups;\nrequires subgroup_id;\n";
    const pipelines = ofDevice.get(key) ?? load().then(({ family }) => new Pipelines(device, family, words, enabled));
    ofDevice.set(key, pipelines);
    // A failed load may succeed next time.
    pipelines.catch(() => ofDevice.delete(key));
    return pipelines;
  }

  /** Returns the plans of sorts in this direction, with or without a payload. */
  sort(descending: boolean, payload: boolean): Sort {
    return this.family.sorts.find((sort) => sort.descending === descending && sort.payload === payload)!;
  }

  /** Creates pipelines asynchronously. */
  async compile(sort: Sort, kernels: (Kernel | Before)[]): Promise<void> {
    const make = (kernel: Kernel | Before) => {
      const [name, source] = this.source(sort, kernel);
      const making = this.making.get(name) ?? this.make(name, source);
      this.making.set(name, making);
      return making;
    };
    await Promise.all(kernels.map(make));
  }

  private async make(name: string, source: Source): Promise<void> {
    const layout = this.layout(source.bindings);
    try {
      this.made.set(name, { layout, pipeline: await this.device.createComputePipelineAsync(this.descriptor(layout, source)) });
    } catch (error) {
      this.making.delete(name);
      throw error;
    }
  }

  /** Returns a pipeline. If it does not exist yet, the device creates it before its next work. */
  get(sort: Sort, kernel: Kernel | Before): Made {
    const [name, source] = this.source(sort, kernel);
    let made = this.made.get(name);
    if (made === undefined) {
      const layout = this.layout(source.bindings);
      made = { layout, pipeline: this.device.createComputePipeline(this.descriptor(layout, source)) };
      this.made.set(name, made);
    }
    return made;
  }

  bind(layout: GPUBindGroupLayout, resources: [number, GPUBufferBinding][]): GPUBindGroup {
    return this.device.createBindGroup({ layout, entries: resources.map(([binding, resource]) => ({ binding, resource })) });
  }

  private source(sort: Sort, kernel: Kernel | Before): [string, Source] {
    if (typeof kernel !== "string") {
      const bindings = kernel.bindings.map((binding, at): [number, GPUBufferBindingLayout] => [binding, kernel.buffers[at]![1] ? readOnly : storage]);
      const name = kernel.items.join();
      return [name, { text: this.enabled + textOf(this.family, kernel.items), entry: kernel.entry, bindings, isHost: false }];
    }
    const isTop = BINDINGS[kernel] === TOP;
    const isSegments = BINDINGS[kernel] === FOUND || BINDINGS[kernel] === FILLED;
    const own = isTop ? sort.top.items : isSegments ? sort.segments.items : [];
    const texts: Record<string, string> = { prepare, prepare_rows: prepareRows, copy: this.keyWords === 2 ? copy2 : copy1 };
    const text = texts[kernel] ?? textOf(this.family, own);
    return [`${kernel} ${own.join()}`, { text, entry: kernel, bindings: BINDINGS[kernel], isHost: kernel !== "copy" }];
  }

  private descriptor(layout: GPUBindGroupLayout, { text, entry, isHost }: Source): GPUComputePipelineDescriptor {
    const bindGroupLayouts = [layout, isHost ? this.bytes : this.arguments];
    return {
      label: `gpusort ${entry}`,
      layout: this.device.createPipelineLayout({ bindGroupLayouts }),
      compute: { module: this.device.createShaderModule({ label: `gpusort ${entry}`, code: text }), entryPoint: entry },
    };
  }

  private layout(bindings: [number, GPUBufferBindingLayout][]): GPUBindGroupLayout {
    const name = JSON.stringify(bindings);
    let layout = this.layouts.get(name);
    if (layout === undefined) {
      const entries = bindings.map(([binding, buffer]) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer }));
      layout = this.device.createBindGroupLayout({ entries });
      this.layouts.set(name, layout);
    }
    return layout;
  }

  /** Returns a buffer with these words. */
  filled(label: string, words: Uint32Array, usage: number): GPUBuffer {
    const buffer = this.device.createBuffer({ label: `gpusort ${label}`, size: words.byteLength, usage, mappedAtCreation: true });
    new Uint32Array(buffer.getMappedRange()).set(words);
    buffer.unmap();
    return buffer;
  }
}

/** Returns the class of a device, by the size of its subgroups and its adapter's vendor. */
function classOf(device: GPUDevice): string {
  const info = (device as { adapterInfo?: Partial<GPUAdapterInfo> }).adapterInfo;
  const knows = globalThis.navigator?.gpu?.wgslLanguageFeatures?.has("subgroup_id") ?? false;
  const has = device.features.has("subgroups" as GPUFeatureName) && knows;
  // If an adapter reports no sizes, or 0, a subgroup may have any number of lanes that WebGPU allows.
  const least = info?.subgroupMinSize || 4;
  const most = info?.subgroupMaxSize || 128;
  const isOwn = ({ vendor }: { vendor?: string }) => vendor === undefined || vendor === info?.vendor;
  const known = classes.find((it) => has && it.least > 0 && it.least <= least && most <= it.most && isOwn(it));
  return known?.name ?? "none";
}
