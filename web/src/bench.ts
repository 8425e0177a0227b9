// Measures sorts on this device, one after another, and verifies each result.

import { argsort, type KeyType, sort, Sorter } from "gpusort";
import { turn } from "./dom.js";
import type { Found } from "./gpu.js";
import { spinUp, submitted } from "./spin.js";

export interface Setup {
  type: KeyType;
  /** True if positions move with the keys. */
  pairs: boolean;
  sizes: number[];
}

/** The median of `runs` runs in milliseconds; or the problem that prevented a measurement. */
export type Measured = { contender: string; n: number; ms: number; runs: number };
export type Problem = { contender: string; n: number; problem: string };

type Keys = InstanceType<(typeof ARRAYS)[KeyType]>;
/** The result: sorted keys, or positions. */
type Left = Keys | Uint32Array;
type Fill = ((encoder: GPUCommandEncoder) => void) | undefined;

/** A contender with its keys. A run of `times` sorts returns the mean time of a sort in milliseconds, and the last result. */
interface Ready {
  run: (times: number) => Promise<{ ms: number; left: () => Promise<Left> }>;
  end?: () => void;
}

export interface Contender {
  name: string;
  /** A description of the measured work. */
  what: string;
  ready: (keys: Keys, fill: Fill) => Ready | Promise<Ready>;
}

/** The time after which a contender has enough runs, and the time after which it gets no larger sizes, in milliseconds. */
const ENOUGH = 300;
const TOO_LONG = 4000;
const RUNS = [3, 15] as const;

/** The maximum number of sorts in a run, and the time that a run should take, in milliseconds: browsers have coarse clocks. */
const SORTS = 64;
const LEAST = 5;

const ARRAYS = { u32: Uint32Array, i32: Int32Array, f32: Float32Array, u64: BigUint64Array, i64: BigInt64Array, f64: Float64Array };

export function contenders(setup: Setup, gpu: GPUDevice | undefined): Contender[] {
  const { pairs } = setup;
  const own = pairs ? "argsort" : "sort";
  const byPackage = (device: "cpu" | GPUDevice) => (keys: Keys, fill: Fill) => {
    const before = async () => device !== "cpu" && fill && submitted(device, fill);
    return timed(() => keys.slice(), (copy) => (pairs ? argsort(copy, { device }) : sort(copy, { device })), before);
  };
  const byEngine = (keys: Keys) => {
    const compare = (a: number, b: number) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b);
    return pairs ? timed(() => Uint32Array.from({ length: keys.length }, (_, at) => at), (positions) => positions.sort(compare)) : timed(() => keys.slice(), (copy) => copy.sort());
  };
  const clock = gpu?.features.has("timestamp-query") ? "by the GPU's clock" : "until the GPU reports the end, because it has no timestamp queries";
  const all: Contender[] = [
    { name: "engine's sort", what: pairs ? "a Uint32Array of positions, sorted with a comparison of keys" : "TypedArray.prototype.sort", ready: byEngine },
    { name: "gpusort, CPU", what: `await ${own}(array, { device: "cpu" })`, ready: byPackage("cpu") },
  ];
  if (gpu === undefined) return all;
  return all.concat(
    { name: "gpusort, GPU with copies", what: `await ${own}(array, { device }): upload, sort and read back`, ready: byPackage(gpu) },
    { name: "gpusort, GPU alone", what: `Sorter.record of buffers on the GPU, ${clock}`, ready: (keys, fill) => alone(gpu, setup, keys, fill) },
  );
}

/** Returns random keys: integers with any bits, and floats around 0. */
export function randomKeys(type: KeyType, n: number): Keys {
  const keys = new ARRAYS[type](n);
  if (keys instanceof Float32Array || keys instanceof Float64Array) return keys.map(() => (Math.random() - 0.5) * 1e6);
  wordsOf(keys).forEach((_, at, words) => (words[at] = Math.random() * 2 ** 32));
  return keys;
}

const wordsOf = (keys: Left) => new Uint32Array(keys.buffer, keys.byteOffset, keys.byteLength / 4);

/** Returns the error in sorted keys, or in positions of the keys in order; `undefined` if the result is correct. */
export function wrong(keys: Keys, expected: Keys, left: Left, pairs: boolean): string | undefined {
  if (left.length !== keys.length) return `${left.length} of ${keys.length} elements`;
  const [own, right, found] = [wordsOf(keys), wordsOf(expected), wordsOf(left)];
  const width = keys.BYTES_PER_ELEMENT / 4;
  // Equal keys must be in the order of their positions, so no position can occur twice.
  for (let at = 0; at < keys.length; at++) {
    let isSame = at > 0;
    for (let word = at * width; word < (at + 1) * width; word++) {
      if ((pairs ? own[(found[at]! - at) * width + word] : found[word]) !== right[word]) return `element ${at} is another`;
      isSame &&= right[word] === right[word - width];
    }
    if (pairs && isSame && found[at - 1]! >= found[at]!) return `position ${at} is not after the one before`;
  }
  return undefined;
}

/**
 * Returns true if `expected` ascends, and by the sum of its words is a permutation of the keys: the engine's own sort has no other
 * oracle.
 */
function isSorted(keys: Keys, expected: Keys): boolean {
  const sum = (keys: Keys) => wordsOf(keys).reduce((sum, word) => (sum + Math.imul(word ^ (word >>> 15), 0x2c1b3c6d)) | 0, 0);
  return expected.every((key, at) => at === 0 || expected[at - 1]! <= key) && sum(keys) === sum(expected);
}

/** Measures sorts of copies; the copies are made before. */
function timed<T>(made: () => T, work: (copy: T) => Left | Promise<Left>, before?: () => Promise<unknown>): Ready {
  return {
    run: async (times) => {
      const all = Array.from({ length: times }, made);
      let last: Left;
      await before?.();
      const begin = performance.now();
      for (const copy of all) last = await work(copy);
      return { ms: (performance.now() - begin) / times, left: async () => last };
    },
  };
}

/** Measures sorts of buffers on the GPU. */
async function alone(gpu: GPUDevice, { type, pairs }: Setup, keys: Keys, fill: Fill): Promise<Ready> {
  const sorter = await Sorter.create(gpu, { key: type, ...(pairs && { payload: "positions" as const }), argsort: false, segments: false });
  const all: { destroy(): void }[] = [];
  const kept = <T extends { destroy(): void }>(it: T) => (all.push(it), it);
  const end = () => all.forEach((it) => it.destroy());
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ, QUERY_RESOLVE } = GPUBufferUsage;
  const buffer = (size: number, usage = STORAGE | COPY_SRC | COPY_DST) => kept(gpu.createBuffer({ size, usage }));
  const bytes = keys.byteLength;
  gpu.pushErrorScope("out-of-memory");
  const workspace = kept(sorter.workspace(keys.length));
  const [source, read, stamps] = [buffer(bytes), buffer(Math.max(bytes, 16), MAP_READ | COPY_DST), buffer(16, QUERY_RESOLVE | COPY_SRC)];
  const most = Math.min(Math.max(2 ** 22 / keys.length, 1), SORTS);
  const targets = Array.from({ length: most }, () => ({ keys: buffer(bytes), ...(pairs && { payload: buffer(4 * keys.length) }) }));
  if ((await gpu.popErrorScope()) !== null) {
    end();
    throw new Error("the GPU is out of memory; measure smaller sizes");
  }
  gpu.queue.writeBuffer(source, 0, keys);
  const querySet = gpu.features.has("timestamp-query") ? kept(gpu.createQuerySet({ type: "timestamp", count: 2 })) : undefined;
  const mark = (encoder: GPUCommandEncoder, at: { beginningOfPassWriteIndex: number } | { endOfPassWriteIndex: number }) => {
    if (querySet) encoder.beginComputePass({ timestampWrites: { querySet, ...at } }).end();
  };
  const got = async (from: GPUBuffer, size: number) => {
    await submitted(gpu, (encoder) => encoder.copyBufferToBuffer(from, 0, read, 0, size));
    await read.mapAsync(GPUMapMode.READ);
    const copy = read.getMappedRange().slice(0, size);
    read.unmap();
    return copy;
  };
  const run: Ready["run"] = async (times) => {
    const some = targets.slice(0, times);
    await submitted(gpu, (encoder) => {
      some.forEach((target) => encoder.copyBufferToBuffer(source, 0, target.keys, 0, bytes));
      if (!querySet) fill?.(encoder);
    });
    let ms = await submitted(gpu, (encoder) => {
      // The GPU's timestamps exclude this work; the browser's clock would include it.
      if (querySet) fill?.(encoder);
      mark(encoder, { endOfPassWriteIndex: 0 });
      some.forEach((target) => sorter.record(encoder, workspace, target));
      mark(encoder, { beginningOfPassWriteIndex: 1 });
      if (querySet) encoder.resolveQuerySet(querySet, 0, 2, stamps, 0);
    });
    if (querySet) {
      const [from, to] = new BigUint64Array(await got(stamps, 16));
      // The clock of a GPU may be set back.
      if (to! > from!) ms = Number(to! - from!) / 1e6;
    }
    const { keys, payload } = some.at(-1)!;
    const left = async () => (payload ? new Uint32Array(await got(payload, payload.size)) : new ARRAYS[type](await got(keys, bytes)));
    return { ms: ms / some.length, left };
  };
  return { run, end };
}

/** Measures all contenders, smallest sizes first, until `signal` aborts. */
export async function* bench(setup: Setup, { gpu, isSoftware }: Partial<Found>, signal: AbortSignal): AsyncGenerator<Measured | Problem> {
  const fill = gpu && !isSoftware ? await spinUp(gpu) : undefined;
  const left = new Set(contenders(setup, gpu));
  for (const n of setup.sizes) {
    const keys = randomKeys(setup.type, n);
    const expected = keys.slice().sort();
    if (!isSorted(keys, expected)) throw new Error(`${n} elements: the engine's own sort is wrong; report it to the browser's makers`);
    for (const contender of left) {
      const { name, ready } = contender;
      await turn();
      if (signal.aborted) return;
      let made: Ready | undefined;
      try {
        made = await ready(keys, fill);
        const times: number[] = [];
        // The first run includes compilation.
        await made.run(1);
        const begin = performance.now();
        let last = await made.run(1);
        const sorts = Math.min(Math.max(Math.ceil(LEAST / last.ms), 1), SORTS);
        while (times.length < RUNS[0] || (times.length < RUNS[1] && performance.now() - begin < ENOUGH)) {
          await turn();
          if (signal.aborted) return;
          last = await made.run(sorts);
          times.push(last.ms);
          if (performance.now() - begin > TOO_LONG) break;
        }
        if (performance.now() - begin > TOO_LONG) left.delete(contender);
        const problem = wrong(keys, expected, await last.left(), setup.pairs);
        if (problem !== undefined) throw new Error(`WRONG: ${problem}; report it to gpusort`);
        yield { contender: name, n, ms: times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!, runs: times.length };
      } catch (error) {
        left.delete(contender);
        yield { contender: name, n, problem: error instanceof Error ? error.message : String(error) };
      } finally {
        made?.end?.();
      }
    }
  }
}
