// Slices of a caller's buffers, counts in buffers, and errors about invalid arguments.

/** A buffer, or a part of a buffer that begins at a multiple of the element size. */
export type Slice = GPUBuffer | { buffer: GPUBuffer; offset?: number | undefined; size?: number | undefined };

/** The number of elements; or the place of a u32 on the GPU, read when the sort runs. */
export type Count = number | GPUBuffer | { buffer: GPUBuffer; offset?: number | undefined };

/** The alignment of binding offsets, sufficient for every device. */
export const ALIGNMENT = 256;

/** An invalid argument; the message names it. */
export class Misuse extends Error {
  override name = "Misuse";
}

/** Returns the number of letters to insert, delete or replace between two words; 0 if one begins with the other. */
function distance(a: string, b: string): number {
  if (Math.min(a.length, b.length) > 2 && (a.startsWith(b) || b.startsWith(a))) {
    return 0;
  }
  const first = Array.from({ length: b.length + 1 }, (_, at) => at);
  const step = (row: number[], letter: string, at: number) => {
    const next = [at + 1];
    [...b].forEach((other, i) => next.push(Math.min(row[i]! + Number(letter !== other), row[i + 1]! + 1, next[i]! + 1)));
    return next;
  };
  return [...a].reduce(step, first).at(-1)!;
}

/** Throws `Misuse` for an object with an unknown key, and names the nearest known key. */
export function checkKeys(name: string, object: object, ...known: string[]): void {
  const key = Object.keys(object).find((key) => !known.includes(key));
  if (key !== undefined) {
    const near = known.map((it) => ({ it, far: distance(key.toLowerCase(), it) })).filter(({ it, far }) => far <= it.length / 3);
    const nearest = near.sort((a, b) => a.far - b.far)[0]?.it;
    const remedy = nearest === undefined ? "leave it out" : `did you mean '${nearest}'?`;
    throw new Misuse(`${name}: unknown key '${key}' (keys: ${known.join(", ")}); ${remedy}`);
  }
}

/** A slice, and its binding. */
export interface Bound {
  name: string;
  buffer: GPUBuffer;
  /** The offset of the binding, in bytes. */
  offset: number;
  /** The number of elements from the beginning of the binding to the slice. */
  first: number;
  /** The number of elements, and the number of bytes of each. */
  length: number;
  each: number;
}

/** The parts of a slice. */
function partsOf(name: string, slice: Slice): { buffer: GPUBuffer; offset: number; size: number } {
  const isPart = typeof slice === "object" && slice && "buffer" in slice;
  const { buffer, offset = 0, size = undefined } = isPart ? slice : { buffer: slice };
  // A typed array also has a `buffer`.
  if (typeof buffer?.usage !== "number") {
    throw new Misuse(`${name}: pass a GPUBuffer or { buffer, offset, size }`);
  }
  if (isPart) {
    checkKeys(name, slice, "buffer", "offset", "size");
  }
  if (!(offset >= 0 && offset <= buffer.size)) {
    throw new Misuse(`${name}: byte offset ${offset} is outside its buffer of ${buffer.size} bytes`);
  }
  return { buffer, offset, size: size ?? buffer.size - offset };
}

export function bound(name: string, slice: Slice, each: number): Bound {
  const { buffer, offset, size } = partsOf(name, slice);
  if ((buffer.usage & GPUBufferUsage.STORAGE) === 0) {
    throw new Misuse(`${name}: the buffer lacks usage STORAGE; create it with GPUBufferUsage.STORAGE`);
  }
  if (offset % each !== 0) {
    throw new Misuse(`${name}: byte offset ${offset} is not a multiple of ${each}`);
  }
  if (!(size >= 0 && offset + size <= buffer.size)) {
    throw new Misuse(`${name}: ${size} bytes from ${offset} on exceed its buffer of ${buffer.size} bytes`);
  }
  const before = offset % ALIGNMENT;
  return { name, buffer, offset: offset - before, first: before / each, length: Math.floor(size / each), each };
}

/** Returns the slice of a count in its buffer. */
export function boundCount(count: Exclude<Count, number>): Bound {
  const { buffer, offset, size } = partsOf("count", count);
  if (size < 4) {
    throw new Misuse(`the count at byte ${offset} is outside its buffer of ${buffer.size} bytes`);
  }
  return bound("count", { buffer, offset, size: 4 }, 4);
}

const bytesOf = ({ first, length, each }: Bound) => (first + length) * each;

/** Returns the binding of a slice. */
export function bindingOf(slice: Bound): GPUBufferBinding {
  return { buffer: slice.buffer, offset: slice.offset, size: bytesOf(slice) };
}

/** Throws `Misuse` for slices that exceed the limit of a binding, or whose bindings overlap. */
export function checkSlices(device: GPUDevice, slices: Bound[]): void {
  const limit = device.limits.maxStorageBufferBindingSize;
  slices.forEach((slice, at) => {
    if (bytesOf(slice) > limit) {
      throw new Misuse(
        `${slice.name}: ${bytesOf(slice)} bytes exceed the device's limit of ${limit} in one binding; ` +
          "start the device with a larger maxStorageBufferBindingSize",
      );
    }
    const end = (it: Bound) => it.offset + bytesOf(it);
    const overlaps = (it: Bound) => it.buffer === slice.buffer && it.offset < end(slice) && slice.offset < end(it);
    const other = slices.slice(0, at).find(overlaps);
    if (other) {
      throw new Misuse(`${other.name} and ${slice.name} overlap; use slices at least ${ALIGNMENT} bytes apart`);
    }
  });
}
