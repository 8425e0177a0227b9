// Sorts typed arrays on a GPU if that is faster including both transfers, otherwise on the CPU.

import { isSoftware } from "./adapter.js";
import { argsortOnCpu, type Form, sortOnCpu } from "./cpu.js";
import { checkKeys, Misuse } from "./slices.js";
import type { KeyType, Sorter, Workspace } from "./sorter.js";

/** The minimum number of elements for which "auto" takes the GPU. */
export const PAYS = { sort: 1 << 18, argsort: 1 << 17 };

/** The number of consecutive failures after which "auto" stays on the CPU. */
const FAILURES = 2;

/** The maximum time that a failed call waits for the report of a lost device, in milliseconds. */
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

/** A Float16Array; some engines lack this type. */
interface Halves extends ArrayBufferView {
  readonly length: number;
  readonly [Symbol.toStringTag]: "Float16Array";
  [index: number]: number;
}

/** The supported typed arrays. */
export type Sortable =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Halves
  | Int32Array | Uint32Array | Float32Array | BigInt64Array | BigUint64Array | Float64Array;

export interface SortOptions {
  /** True for descending order; false by default. NaN is last in both orders. */
  descending?: boolean | undefined;
  /**
   * A device of yours, "cpu", or "auto" (the default): a GPU for many elements, if available. The CPU sorts elements of one or two
   * bytes.
   */
  device?: "auto" | "cpu" | GPUDevice | undefined;
}

/**
 * Sorts in place, and resolves to the same array: −0 before +0, NaN last. Elements keep their bits. Invalid arguments reject with
 * `Misuse`.
 *
 * On the CPU, the call blocks the event loop until the array is sorted; call it in a worker if that takes too long. On a GPU, the
 * array is read and written later: do not use it until the promise is settled. If the promise is rejected, the array is unchanged.
 */
export async function sort<A extends Sortable>(array: A, options?: SortOptions): Promise<A> {
  await run("sort", array, options);
  return array;
}

/**
 * Resolves to the positions of the elements in sorted order; equal elements keep their order. The array does not change. Otherwise
 * like `sort`.
 */
export async function argsort(array: Sortable, options?: SortOptions): Promise<Uint32Array> {
  return (await run("argsort", array, options)) as Uint32Array;
}

const typeName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)!.get!;

type Result = Uint32Array | void;

// Not async, because a promise takes longer than a sort of few elements.
function run(what: "sort" | "argsort", array: Sortable, options: SortOptions = {}): Result | Promise<Result> {
  const type = TYPES[typeName.call(array) as string] ?? refuse(array);
  if (typeof options !== "object" || options === null) {
    throw new Misuse(`options: ${options === null ? "null" : typeof options} is no object; the order is ascending, or by { descending: true }`);
  }
  checkKeys("options", options, "descending", "device");
  const { descending = false, device = "auto" } = options;
  if (typeof descending !== "boolean") {
    throw new Misuse(`descending: a ${typeof descending} is no boolean; pass true or false`);
  }
  if (device !== "auto" && device !== "cpu" && !(typeof device === "object" && device && "queue" in device)) {
    const what = typeof device === "string" || device === null ? String(device) : `a value of type ${typeof device}`;
    throw new Misuse(`device: ${what} is none of "auto", "cpu" and a GPUDevice`);
  }
  const n = array.length;
  if (n >= 2 ** 32) {
    throw new Misuse(`array: ${n} elements are too many; sort parts of fewer than 2^32`);
  }
  const onCpu = () => (what === "sort" ? sortOnCpu : argsortOnCpu)(array, type, descending);
  const { key } = type;
  if (device === "cpu" || key === undefined || n < (device === "auto" ? PAYS[what] : 1)) {
    return onCpu();
  }
  if (device !== "auto") {
    return inTurn(device, (state) => onGpu(state, device, what, array, n, key, descending));
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
    const result = await inTurn(own, (state) => onGpu(state, own, what, array, n, key, descending));
    failures = 0;
    return result;
  } catch (error) {
    if (array.length !== n) {
      throw error;
    }
    failures += (error as Error).name === "OutOfMemory" ? 0 : 1;
    if (failures === FAILURES) {
      own.destroy();
    }
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
let wasLost = false;
/** Consecutive failures. */
let failures = 0;

/** Returns the device of "auto", requested at the first use and again after a loss. */
function ownDevice(): Promise<GPUDevice | undefined> | undefined {
  if (failures >= FAILURES) {
    return undefined;
  }
  own ??= request()
    .catch(() => undefined)
    .then((device) => {
      // After a loss, adapters may be unavailable for a while.
      if (device === undefined && wasLost) {
        own = undefined;
      }
      return device;
    });
  return own;
}

async function request(): Promise<GPUDevice | undefined> {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter || isSoftware(adapter.info)) {
    return undefined;
  }
  const { Sorter } = await import("./sorter.js");
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredFeatures: Sorter.requiredFeatures(adapter),
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
  void device.lost.then(() => {
    own = undefined;
    wasLost = true;
  });
  return device;
}

/** The memory of a device's last call, kept for the next one. */
interface Room {
  sorter: Sorter;
  capacity: number;
  workspace: Workspace;
  keys: GPUBuffer;
  positions: GPUBuffer | undefined;
}

interface State {
  /** Settles when all earlier calls are done. */
  turn: Promise<void>;
  sorters: Map<string, Promise<Sorter>>;
  room: Room | undefined;
  loss: GPUDeviceLostInfo | undefined;
}

const states = new WeakMap<GPUDevice, State>();

/** Runs `work` after all earlier calls on the device, which share its memory. */
function inTurn<T>(device: GPUDevice, work: (state: State) => Promise<T>): Promise<T> {
  let state = states.get(device);
  if (state === undefined) {
    const made: State = { turn: Promise.resolve(), sorters: new Map(), room: undefined, loss: undefined };
    void device.lost.then((loss) => (made.loss = loss));
    states.set(device, made);
    state = made;
  }
  const known = state;
  const done = known.turn.then(() => work(known));
  // Without the result, which would otherwise stay in memory.
  known.turn = done.then(
    () => {},
    () => {},
  );
  return done;
}

function mostOf({ limits }: GPUDevice): number {
  return Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
}

function sorterOf({ sorters }: State, device: GPUDevice, key: KeyType, descending: boolean, argsort: boolean): Promise<Sorter> {
  const name = `${key} ${descending} ${argsort}`;
  const spec = { key, descending, argsort, segments: false };
  const made = sorters.get(name) ?? import("./sorter.js").then(({ Sorter }) => Sorter.create(device, spec));
  sorters.set(name, made);
  made.catch(() => sorters.delete(name));
  return made;
}

function roomOf(state: State, sorter: Sorter, n: number, bytes: number): Room {
  if (state.room?.sorter !== sorter || state.room.capacity < n) {
    release(state);
    const { device } = sorter;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const power = 2 ** Math.ceil(Math.log2(Math.max(n, 1024)));
    const capacity = power * bytes <= mostOf(device) ? power : n;
    const buffer = (each: number) => device.createBuffer({ size: capacity * each, usage });
    const positions = sorter.spec.argsort ? buffer(4) : undefined;
    state.room = { sorter, capacity, workspace: sorter.workspace(capacity), keys: buffer(bytes), positions };
  }
  return state.room;
}

function release(state: State): void {
  state.room?.workspace.destroy();
  state.room?.keys.destroy();
  state.room?.positions?.destroy();
  state.room = undefined;
}

async function onGpu(
  state: State, device: GPUDevice, what: "sort" | "argsort", array: Sortable, n: number, key: KeyType, descending: boolean,
): Promise<Result> {
  const isArgsort = what === "argsort";
  let isOutOfMemory = false;
  let isTold = false;
  let staging: GPUBuffer | undefined;
  try {
    refuseLost(state);
    const sorter = await sorterOf(state, device, key, descending, isArgsort);
    const bytes = isArgsort ? 4 * n : array.byteLength;
    refuseChanged(array, n);
    let thrown: unknown;
    device.pushErrorScope("validation");
    device.pushErrorScope("out-of-memory");
    try {
      const { workspace, keys, positions } = roomOf(state, sorter, n, array.byteLength / n);
      staging = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      device.queue.writeBuffer(keys, 0, fixed(array) as BufferSource);
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
    const first = told.find((error) => error != null);
    if (first) {
      isTold = true;
      throw new Error(`device: ${first.message}`);
    }
    if (mapped.status === "rejected") {
      throw mapped.reason;
    }
    refuseChanged(array, n);
    const result = new Uint8Array(staging!.getMappedRange());
    const target = isArgsort ? new Uint32Array(n) : array;
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(result);
    return isArgsort ? (target as Uint32Array) : undefined;
  } catch (error) {
    release(state);
    for (let waited = 0; !isTold && !state.loss && !(error instanceof Misuse) && waited < UNTIL_LOST; waited += 20) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    refuseLost(state);
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

/** Returns the bytes of an array in a buffer of fixed size: WebGPU refuses resizable buffers. */
function fixed({ buffer, byteOffset, byteLength }: Sortable): Uint8Array {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const { resizable, growable } = buffer as { resizable?: boolean; growable?: boolean };
  return resizable || growable ? bytes.slice() : bytes;
}

function refuseChanged(array: Sortable, n: number): void {
  if (array.length !== n) {
    throw new Misuse("array: its buffer was detached or resized during the sort; leave it as it is until the promise is settled");
  }
}

function refuseLost({ loss }: State): void {
  if (loss) {
    const why = [loss.reason, loss.message].filter(Boolean).join(": ");
    throw new Error(`device: it is lost (${why}); request a new one, or sort with { device: "auto" }`);
  }
}
