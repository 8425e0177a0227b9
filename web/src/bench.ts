// Measures sorts on this device, one after another, and verifies what each of them leaves.

import { argsort, type KeyType, sort, Sorter } from "gpusort";

export interface Setup {
  type: KeyType;
  /** Whether positions move with the keys. */
  pairs: boolean;
  sizes: number[];
}

export interface Measured {
  contender: string;
  n: number;
  /** The median, in milliseconds. */
  ms: number;
  runs: number;
}

/** Why there is no time. */
export interface Problem {
  contender: string;
  n: number;
  problem: string;
}

type Keys = InstanceType<(typeof ARRAYS)[KeyType]>;

/** Milliseconds of a sort, and what it leaves: keys, or positions. */
type Run = (times: number) => Promise<{ ms: number; left: () => Promise<Keys> }>;

/** Enough runs of a contender take so long, in milliseconds; one whose runs take longer gets no larger sizes. */
const ENOUGH = 300;
const TOO_LONG = 4000;
const RUNS = [3, 15] as const;

/** Clocks of browsers are coarse: a run is of so many sorts, at most, as take so long. */
const SORTS = 64;
const LEAST = 5;

const ARRAYS = { u32: Uint32Array, i32: Int32Array, f32: Float32Array, u64: BigUint64Array, i64: BigInt64Array, f64: Float64Array };

/** The contender that has no part of the package. */
export const ENGINE = "engine's sort";

/** The contenders, and what is timed. */
export function contenders({ pairs }: Setup, gpu: GPUDevice | undefined): [name: string, what: string][] {
  const own = pairs ? "argsort" : "sort";
  const timed = gpu?.features.has("timestamp-query") ? "by the GPU's clock" : "until the GPU reports the end, for lack of timestamp queries";
  return [
    [ENGINE, pairs ? "positions in a Uint32Array, sorted by a function that compares keys" : "TypedArray.prototype.sort"],
    ["gpusort, CPU", `await ${own}(array, { device: "cpu" })`],
    ...(gpu
      ? ([
          ["gpusort, GPU with copies", `await ${own}(array, { device }): upload, sort and read back`],
          ["gpusort, GPU alone", `Sorter.record of buffers on the GPU, ${timed}`],
        ] as [string, string][])
      : []),
  ];
}

/** Random keys: any bits of integers, and floats around 0. */
export function randomKeys(type: KeyType, n: number): Keys {
  const keys = new ARRAYS[type](n);
  if (keys instanceof Float32Array || keys instanceof Float64Array) {
    return keys.map(() => (Math.random() - 0.5) * 1e6);
  }
  const words = new Uint32Array(keys.buffer);
  for (let at = 0; at < words.length; at++) {
    words[at] = Math.random() * 2 ** 32;
  }
  return keys;
}

const wordsOf = (keys: Keys) => new Uint32Array(keys.buffer, keys.byteOffset, keys.byteLength / 4);

/** What is wrong with sorted keys, or with positions of the keys in order; `undefined` if nothing. */
export function wrong(keys: Keys, expected: Keys, left: Keys, pairs: boolean): string | undefined {
  if (left.length !== keys.length) return `${left.length} of ${keys.length} elements`;
  const [own, right, found] = [wordsOf(keys), wordsOf(expected), wordsOf(left)];
  const width = keys.BYTES_PER_ELEMENT / 4;
  if (!pairs) {
    const at = right.findIndex((word, at) => word !== found[at]);
    return at < 0 ? undefined : `element ${Math.floor(at / width)} is another`;
  }
  // Equal keys in the order of their positions: no position can be there twice then.
  for (let at = 0; at < keys.length; at++) {
    let isSame = at > 0;
    for (let word = 0; word < width; word++) {
      if (own[found[at]! * width + word] !== right[at * width + word]) return `position ${at} is another`;
      isSame &&= right[at * width + word] === right[(at - 1) * width + word];
    }
    if (isSame && found[at - 1]! >= found[at]!) return `position ${at} is not after the one before`;
  }
  return undefined;
}

/** Whether the keys rise, and are others' in another order by the sum of their words: the engine's own sort has no other oracle. */
function isSorted(keys: Keys, expected: Keys): boolean {
  const sum = (keys: Keys) => wordsOf(keys).reduce((sum, word) => (sum + Math.imul(word ^ (word >>> 15), 0x2c1b3c6d)) | 0, 0);
  return expected.every((key, at) => at === 0 || expected[at - 1]! <= key) && sum(keys) === sum(expected);
}

/** The mean time of several sorts, of copies that are made before. */
async function timed<T>(times: number, made: () => T, work: (of: T) => Keys | Promise<Keys>): Promise<{ ms: number; left: () => Promise<Keys> }> {
  const all = Array.from({ length: times }, made);
  let last: Keys;
  const begin = performance.now();
  for (const of of all) last = await work(of);
  const ms = (performance.now() - begin) / times;
  return { ms, left: async () => last };
}

/** What each contender does with these keys. */
async function runsOf({ type, pairs }: Setup, keys: Keys, gpu: GPUDevice | undefined, name: string): Promise<{ run: Run; end: () => void }> {
  const own = (device: "cpu" | GPUDevice): Run => (times) =>
    timed(times, () => keys.slice(), (copy) => (pairs ? argsort(copy, { device }) : sort(copy, { device })));
  const compare = (a: number, b: number) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b);
  const engine: Run = (times) =>
    pairs
      ? timed(times, () => Uint32Array.from({ length: keys.length }, (_, at) => at), (positions) => positions.sort(compare))
      : timed(times, () => keys.slice(), (copy) => copy.sort());
  const end = () => {};
  if (name === ENGINE) return { run: engine, end };
  if (name === "gpusort, CPU") return { run: own("cpu"), end };
  return name === "gpusort, GPU with copies" ? { run: own(gpu!), end } : alone(gpu!, type, keys, pairs);
}

/** Sorts of buffers that are on the GPU. */
async function alone(gpu: GPUDevice, type: KeyType, keys: Keys, pairs: boolean): Promise<{ run: Run; end: () => void }> {
  const room = Math.min(gpu.limits.maxBufferSize, gpu.limits.maxStorageBufferBindingSize);
  if (keys.byteLength > room) throw new Error(`a buffer would need ${keys.byteLength} bytes, and the device binds ${room}`);
  const sorter = await Sorter.create(gpu, { key: type, ...(pairs && { payload: "u32" as const }) });
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const [bytes, more] = [keys.byteLength, 4 * keys.length];
  gpu.pushErrorScope("out-of-memory");
  const workspace = sorter.workspace(keys.length);
  const all: (GPUBuffer | GPUQuerySet)[] = [];
  const buffer = (size: number, of = usage) => {
    const made = gpu.createBuffer({ size, usage: of });
    all.push(made);
    return made;
  };
  const [source, numbers, read] = [buffer(bytes), buffer(more), buffer(Math.max(bytes, more, 16), GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST)];
  const most = Math.min(Math.max(2 ** 22 / keys.length, 1), SORTS);
  const targets = Array.from({ length: most }, () => ({ keys: buffer(bytes), ...(pairs && { payload: buffer(more) }) }));
  const end = () => {
    all.forEach((it) => it.destroy());
    workspace.destroy();
  };
  if ((await gpu.popErrorScope()) !== null) {
    end();
    throw new Error("the GPU is out of memory");
  }
  gpu.queue.writeBuffer(source, 0, keys);
  gpu.queue.writeBuffer(numbers, 0, Uint32Array.from({ length: keys.length }, (_, at) => at));
  const queries = gpu.features.has("timestamp-query") ? gpu.createQuerySet({ type: "timestamp", count: 2 }) : undefined;
  if (queries) all.push(queries);
  const stamps = buffer(16, GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC);
  const submit = (record: (encoder: GPUCommandEncoder) => void) => {
    const encoder = gpu.createCommandEncoder();
    record(encoder);
    gpu.queue.submit([encoder.finish()]);
    return gpu.queue.onSubmittedWorkDone();
  };
  const got = async (size: number) => {
    await read.mapAsync(GPUMapMode.READ);
    const copy = read.getMappedRange().slice(0, size);
    read.unmap();
    return copy;
  };
  const mark = (encoder: GPUCommandEncoder, at: { beginningOfPassWriteIndex: number } | { endOfPassWriteIndex: number }) => {
    if (queries) encoder.beginComputePass({ timestampWrites: { querySet: queries, ...at } }).end();
  };
  const run: Run = async (times) => {
    const some = targets.slice(0, times);
    await submit((encoder) =>
      some.forEach((target) => {
        encoder.copyBufferToBuffer(source, 0, target.keys, 0, bytes);
        if (target.payload) encoder.copyBufferToBuffer(numbers, 0, target.payload, 0, more);
      }),
    );
    const begin = performance.now();
    await submit((encoder) => {
      mark(encoder, { endOfPassWriteIndex: 0 });
      some.forEach((target) => sorter.record(encoder, workspace, target));
      mark(encoder, { beginningOfPassWriteIndex: 1 });
      if (queries) {
        encoder.resolveQuerySet(queries, 0, 2, stamps, 0);
        encoder.copyBufferToBuffer(stamps, 0, read, 0, 16);
      }
    });
    let ms = performance.now() - begin;
    if (queries) {
      const [from, to] = new BigUint64Array(await got(16));
      // Clocks of GPUs may be set back.
      if (to! > from!) ms = Number(to! - from!) / 1e6;
    }
    const left = async () => {
      const last = some[some.length - 1]!;
      await submit((encoder) => encoder.copyBufferToBuffer(last.payload ?? last.keys, 0, read, 0, pairs ? more : bytes));
      return pairs ? new Uint32Array(await got(more)) : (new ARRAYS[type](await got(bytes)) as Keys);
    };
    return { ms: ms / some.length, left };
  };
  return { run, end };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

/** Measures all, the smallest sizes first, until it is stopped. */
export async function* bench(setup: Setup, gpu: GPUDevice | undefined, signal: AbortSignal): AsyncGenerator<Measured | Problem> {
  const left = new Set(contenders(setup, gpu).map(([name]) => name));
  for (const n of setup.sizes) {
    const keys = randomKeys(setup.type, n);
    const expected = keys.slice().sort();
    if (!isSorted(keys, expected)) throw new Error(`${n} elements: the engine's own sort is wrong; report it to the browser's makers`);
    for (const contender of left) {
      await turn();
      if (signal.aborted) return;
      let end = () => {};
      try {
        const made = await runsOf(setup, keys, gpu, contender);
        end = made.end;
        const times: number[] = [];
        // The first run compiles.
        await made.run(1);
        const begin = performance.now();
        let last = await made.run(1);
        const sorts = Math.min(Math.max(Math.ceil(LEAST / last.ms), 1), SORTS);
        while (times.length < RUNS[0] || (times.length < RUNS[1] && performance.now() - begin < ENOUGH)) {
          await turn();
          if (signal.aborted) return;
          last = await made.run(sorts);
          times.push(last.ms);
          if (performance.now() - begin > TOO_LONG) {
            left.delete(contender);
            break;
          }
        }
        const problem = wrong(keys, expected, await last.left(), setup.pairs);
        const ms = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
        yield problem === undefined ? { contender, n, ms, runs: times.length } : { contender, n, problem: `WRONG: ${problem}` };
      } catch (error) {
        left.delete(contender);
        yield { contender, n, problem: error instanceof Error ? error.message : String(error) };
      } finally {
        end();
      }
    }
  }
}
