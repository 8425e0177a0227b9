// Sorts typed arrays: on the GPU where that is faster, copies there and back included, else on the CPU.

import { argsortOnCpu, type Form, sortOnCpu } from "./cpu.js";
import { Misuse } from "./slices.js";
import type { KeyType, Sorter, Workspace } from "./sorter.js";

/** From how many elements on "auto" takes the GPU. */
const PAYS = { sort: 1 << 18, argsort: 1 << 17 };

/** After how many failures on its own device "auto" stays on the CPU. */
const FAILURES = 2;

/** How long a failed call waits to be told that its device is lost, in milliseconds. */
const UNTIL_LOST = 200;

const TYPES: Record<string, Form & { key?: KeyType }> = {
  Int8Array: { bytes: 1, is: "signed" },
  Uint8Array: { bytes: 1, is: "unsigned" },
  Uint8ClampedArray: { bytes: 1, is: "unsigned" },
  Int16Array: { bytes: 2, is: "signed" },
  Uint16Array: { bytes: 2, is: "unsigned" },
  Float16Array: { bytes: 2, is: "float" },
  Int32Array: { bytes: 4, is: "signed", key: "i32" },
  Uint32Array: { bytes: 4, is: "unsigned", key: "u32" },
  Float32Array: { bytes: 4, is: "float", key: "f32" },
  BigInt64Array: { bytes: 8, is: "signed", key: "i64" },
  BigUint64Array: { bytes: 8, is: "unsigned", key: "u64" },
  Float64Array: { bytes: 8, is: "float", key: "f64" },
};

/** A Float16Array, which not every engine has. */
interface Halves extends ArrayBufferView {
  readonly length: number;
  readonly [Symbol.toStringTag]: "Float16Array";
  [index: number]: number;
}

/** What can be sorted. */
export type Sortable =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Halves
  | Int32Array | Uint32Array | Float32Array | BigInt64Array | BigUint64Array | Float64Array;

export interface SortOptions {
  /** Largest first; NaN stays last. */
  descending?: boolean;
  /** A device of yours, "cpu", or "auto": a GPU for many elements, if there is one. Elements of one or two bytes are sorted on the CPU. */
  device?: "auto" | "cpu" | GPUDevice;
}

/**
 * Sorts in place, and returns the same array: −0 before +0, NaN last. Elements keep their bits.
 *
 * On the CPU the call blocks the event loop until the array is sorted; call it in a worker if that takes too long. On a GPU the
 * array is read and written later, until the promise is settled: leave it alone until then. If it is rejected, the array is as it was.
 */
export async function sort<A extends Sortable>(array: A, options?: SortOptions): Promise<A> {
  await run("sort", array, options);
  return array;
}

/** The positions of the elements in order; equal elements keep theirs. The array stays as it is; otherwise as `sort`. */
export async function argsort(array: Sortable, options?: SortOptions): Promise<Uint32Array<ArrayBuffer>> {
  return (await run("argsort", array, options)) as Uint32Array<ArrayBuffer>;
}

const typeName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)!.get!;

type Result = Uint32Array<ArrayBuffer> | void;

// Not async: few elements take less time than a promise.
function run(what: "sort" | "argsort", array: Sortable, options: SortOptions = {}): Result | Promise<Result> {
  const type = TYPES[typeName.call(array) as string] ?? refuse(array);
  const { descending = false, device = "auto" } = options;
  if (typeof options !== "object") {
    throw new Misuse(`options: ${typeof options} is no object; the order is ascending, or by { descending: true }`);
  }
  if (device !== "auto" && device !== "cpu" && !(typeof device === "object" && device && "queue" in device)) {
    throw new Misuse(`device: ${String(device)} is none of "auto", "cpu" and a GPUDevice`);
  }
  const n = array.length;
  const onCpu = () => (what === "sort" ? sortOnCpu : argsortOnCpu)(array, type, descending);
  const { key } = type;
  if (device === "cpu" || key === undefined || n < (device === "auto" ? PAYS[what] : 1)) {
    return onCpu();
  }
  if (device !== "auto") {
    return inTurn(device, (state) => onGpu(state, device, what, array, key, descending));
  }
  return automatic(what, array, key, descending, onCpu);
}

async function automatic(what: "sort" | "argsort", array: Sortable, key: KeyType, descending: boolean, onCpu: () => Result): Promise<Result> {
  const n = array.length;
  const own = await ownDevice();
  if (own === undefined || n >= 2 ** 30 || array.byteLength > mostOf(own)) {
    return onCpu();
  }
  try {
    return await inTurn(own, (state) => onGpu(state, own, what, array, key, descending));
  } catch (error) {
    if (array.length !== n) {
      throw error;
    }
    failures += (error as Error).name === "OutOfMemory" ? 0 : 1;
    return onCpu();
  }
}

function refuse(it: unknown): never {
  const name = Object.prototype.toString.call(it).slice(8, -1);
  const remedies: Record<string, string> = {
    Array: `${typeof (it as unknown[])?.[0] === "bigint" ? "BigInt64Array" : "Float64Array"}.from(it)`,
    DataView: "a typed array of its part of the buffer, such as new Float64Array(it.buffer, it.byteOffset)",
    ArrayBuffer: "a typed array of it, such as new Float64Array(it)",
    SharedArrayBuffer: "a typed array of it, such as new Float64Array(it)",
    GPUBuffer: "it to Sorter.record, which sorts buffers",
  };
  throw new Misuse(`array: ${name} is no typed array; pass ${remedies[name] ?? "one, such as a Float64Array"}`);
}

let own: Promise<GPUDevice | undefined> | undefined;
let failures = 0;

/** The device of "auto", which is requested when it is first needed, and again after it was lost. */
function ownDevice(): Promise<GPUDevice | undefined> | undefined {
  return failures < FAILURES ? (own ??= request().catch(() => undefined)) : undefined;
}

async function request(): Promise<GPUDevice | undefined> {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter({ powerPreference: "high-performance" });
  const { vendor, architecture, device: name, description, isFallbackAdapter } = adapter?.info ?? ({} as Partial<GPUAdapterInfo>);
  const isSoftware = /swiftshader|llvmpipe|lavapipe|software|basic render/i.test([vendor, architecture, name, description].join());
  if (!adapter || isFallbackAdapter || isSoftware) {
    return undefined;
  }
  const { Sorter } = await import("./sorter.js");
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredFeatures: Sorter.requiredFeatures(adapter),
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
  void device.lost.then(() => (own = undefined));
  return device;
}

/** The memory that a sorter's calls share. */
interface Room {
  capacity: number;
  workspace: Workspace;
  keys: GPUBuffer;
  positions?: GPUBuffer;
}

interface State {
  /** Settled when the calls before are done. */
  turn: Promise<unknown>;
  sorters: Map<string, Promise<Sorter>>;
  rooms: Map<Sorter, Room>;
}

const states = new WeakMap<GPUDevice, State>();

/** Does the work when the device's calls before are done: they share memory. */
function inTurn<T>(device: GPUDevice, work: (state: State) => Promise<T>): Promise<T> {
  const state = states.get(device) ?? { turn: Promise.resolve(), sorters: new Map(), rooms: new Map() };
  states.set(device, state);
  const done = state.turn.then(() => work(state));
  state.turn = done.catch(() => {});
  return done;
}

function mostOf({ limits }: GPUDevice): number {
  return Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
}

function sorterOf({ sorters }: State, device: GPUDevice, key: KeyType, descending: boolean): Promise<Sorter> {
  const name = `${key} ${descending}`;
  const made = sorters.get(name) ?? import("./sorter.js").then(({ Sorter }) => Sorter.create(device, { key, descending, segments: false }));
  sorters.set(name, made);
  made.catch(() => sorters.delete(name));
  return made;
}

function roomOf({ rooms }: State, sorter: Sorter, n: number, bytes: number, isArgsort: boolean): Room {
  const { device } = sorter;
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  let room = rooms.get(sorter);
  if (room === undefined || room.capacity < n) {
    if (room) {
      release(room);
      rooms.delete(sorter);
    }
    const power = 2 ** Math.ceil(Math.log2(Math.max(n, 1024)));
    const capacity = power * bytes <= mostOf(device) ? power : n;
    room = { capacity, workspace: sorter.workspace(capacity), keys: device.createBuffer({ size: capacity * bytes, usage }) };
    rooms.set(sorter, room);
  }
  if (isArgsort) {
    room.positions ??= device.createBuffer({ size: room.capacity * 4, usage });
  }
  return room;
}

function release({ workspace, keys, positions }: Room): void {
  workspace.destroy();
  keys.destroy();
  positions?.destroy();
}

async function onGpu(
  state: State, device: GPUDevice, what: "sort" | "argsort", array: Sortable, key: KeyType, descending: boolean,
): Promise<Result> {
  const n = array.length;
  const isArgsort = what === "argsort";
  let isOutOfMemory = false;
  let isTold = false;
  let staging: GPUBuffer | undefined;
  try {
    await refuseLost(device, 0);
    const sorter = await sorterOf(state, device, key, descending);
    const bytes = isArgsort ? 4 * n : array.byteLength;
    let thrown: unknown;
    device.pushErrorScope("validation");
    device.pushErrorScope("out-of-memory");
    try {
      const { workspace, keys, positions } = roomOf(state, sorter, n, array.byteLength / n, isArgsort);
      staging = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      device.queue.writeBuffer(keys, 0, array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
      const encoder = device.createCommandEncoder();
      if (isArgsort) {
        sorter.recordArgsort(encoder, workspace, { keys, positions: positions!, count: n });
      } else {
        sorter.record(encoder, workspace, { keys, count: n });
      }
      encoder.copyBufferToBuffer(isArgsort ? positions! : keys, 0, staging, 0, bytes);
      device.queue.submit([encoder.finish()]);
    } catch (error) {
      thrown = error;
    }
    const mapping = thrown === undefined ? staging!.mapAsync(GPUMapMode.READ) : Promise.reject(thrown);
    const [mapped, memory, validation] = await Promise.allSettled([mapping, device.popErrorScope(), device.popErrorScope()]);
    const told = [memory, validation].map((scope) => (scope.status === "fulfilled" ? scope.value : null));
    isOutOfMemory = told[0] != null;
    const first = told.find((error) => error !== null);
    isTold = first != null;
    if (first) {
      throw new Error(`device: ${first.message}`);
    }
    if (mapped.status === "rejected") {
      throw mapped.reason;
    }
    if (array.length !== n) {
      throw new Misuse("array: its buffer was detached or resized during the sort; leave it as it is until the promise is settled");
    }
    const result = new Uint8Array(staging!.getMappedRange());
    const target = isArgsort ? new Uint32Array(n) : array;
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(result);
    return isArgsort ? (target as Uint32Array<ArrayBuffer>) : undefined;
  } catch (error) {
    state.rooms.forEach(release);
    state.rooms.clear();
    await refuseLost(device, isTold ? 0 : UNTIL_LOST);
    if (isOutOfMemory) {
      const failed = new Error(`device: it is out of memory for ${n} elements; sort fewer, or with { device: "cpu" }`, { cause: error });
      failed.name = "OutOfMemory";
      throw failed;
    }
    throw error;
  } finally {
    staging?.destroy();
  }
}

/** Throws if the device is lost, or will be in so many milliseconds. */
async function refuseLost(device: GPUDevice, milliseconds: number): Promise<void> {
  const later = milliseconds === 0 ? undefined : new Promise<undefined>((resolve) => setTimeout(resolve, milliseconds));
  const loss = await Promise.race([device.lost, later]);
  if (loss) {
    const why = [loss.reason, loss.message].filter(Boolean).join(": ");
    throw new Error(`device: it is lost (${why}); request a new one, or sort with { device: "auto" }`);
  }
}
