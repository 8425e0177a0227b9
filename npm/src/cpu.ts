// Sorts typed arrays on the CPU: by the engine's own sort if that is fastest, otherwise by counting or an LSD radix sort.
//
// Keys are unsigned words in the order of their elements, by the bijections of the Rust library: −inf … −0, +0 … +inf, then NaN of positive sign
// by ascending bits, then NaN of negative sign by descending bits. Elements move as integers, because engines may alter the bits of NaN in
// numbers.

/** The size and the interpretation of an element's bits. */
export interface Form {
  bytes: 1 | 2 | 4 | 8;
  is: "unsigned" | "signed" | "float";
}

export type Elements = Pick<Uint8Array, "buffer" | "byteOffset" | "length">;

/** The minimum number of elements for which these sorts are faster than the engine's, by bytes of an element: for integers, and for floats. */
const PAYS = { 1: [256, 256], 2: [8192, 2048], 4: [2048, 512], 8: [Infinity, 2048] } as const;

/** The minimum number of two-byte elements for which counting is faster than a radix sort. */
const COUNTED = 1 << 16;

/** The maximum number of elements for which an insertion sort finds positions fastest. */
const FEW = 64;

const BITS = 11;
const MASK = (1 << BITS) - 1;
const UNSIGNED = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array };

/**
 * For each digit of a word: the count of each value, later the next place of each value. Reused, since small arrays sort faster without an
 * allocation.
 */
const tables = [0, 1, 2].map(() => new Uint32Array(1 << BITS)) as [Uint32Array, Uint32Array, Uint32Array];

/** The map between elements and keys, of the high word if there are two. Elements of one or two bytes are in the highest bytes of their word. */
interface Order {
  /** The bits that differ in all keys, and the further bits that differ in keys of negative floats. */
  flip: number;
  negative: number;
  /** The number of NaN of negative sign, which move from the beginning to the end. */
  nans: number;
  /** The key of +inf in ascending order, if the order is descending: keys up to this one are mirrored. */
  last: number | undefined;
}

function orderOf({ bytes, is }: Form, descending: boolean): Order {
  if (is !== "float") {
    return { flip: (is === "signed" ? 1 << 31 : 0) ^ (descending ? -1 : 0), negative: 0, nans: 0, last: undefined };
  }
  const unit = bytes === 2 ? 1 << 16 : 1;
  const nans = { 1: 0, 2: 0x3ff << 16, 4: 0x7fffff, 8: 0x100000 }[bytes];
  return { flip: 1 << 31, negative: 0x7fffffff & -unit, nans, last: descending ? (-2 * nans - (bytes === 8 ? 0 : unit)) >>> 0 : undefined };
}

function keyOf(bits: number, { flip, negative, nans, last }: Order): number {
  const key = (bits ^ ((bits >> 31) & negative) ^ flip) - nans;
  return last !== undefined && key >>> 0 <= last ? (last - key) | 0 : key | 0;
}

function bitsOf(key: number, { flip, negative, nans, last }: Order): number {
  const bits = ((last !== undefined && key >>> 0 <= last ? last - key : key) + nans) ^ flip;
  return bits ^ ((bits >> 31) & negative);
}

/** The low and the high words of 64-bit elements, and the distance between words in their arrays. */
type Words = [low: Int32Array, high: Int32Array, step: 1 | 2];

/**
 * Maps elements to keys, or back. The end of NaN must be the end of a high word, so keys of 64-bit floats are greater by one than by the rule of
 * 32-bit floats.
 */
function map64(source: Words, target: Words, n: number, { flip, negative, nans, last }: Order, isBack: boolean): void {
  const [fromLow, fromHigh, from] = source;
  const [toLow, toHigh, to] = target;
  const isFloat = negative !== 0;
  const one = isFloat ? 1 : 0;
  const flipLow = isFloat ? 0 : (flip << 1) >> 31;
  for (let i = 0; i < n; i++) {
    let low = fromLow[i * from]!;
    let high = fromHigh[i * from]!;
    if (!isBack) {
      const sign = high >> 31;
      low = ((low ^ flipLow ^ (isFloat ? sign : 0)) + one) | 0;
      high = ((high ^ flip ^ (sign & negative)) - nans + (low === 0 ? one : 0)) | 0;
    }
    if (last !== undefined && (high >>> 0 < last || (high >>> 0 === last && low >>> 0 <= 1))) {
      high = (last - high - (low >>> 0 > 1 ? 1 : 0)) | 0;
      low = (1 - low) | 0;
    }
    if (isBack) {
      high = (high + nans - (low === 0 ? one : 0)) ^ flip;
      const sign = high >> 31;
      high ^= sign & negative;
      low = (low - one) ^ flipLow ^ (isFloat ? sign : 0);
    }
    toLow[i * to] = low;
    toHigh[i * to] = high;
  }
}

/** Returns 1 if keys are in order, −1 if they are in reverse order, and 0 otherwise. In a stable sort, keys in reverse order must differ. */
function runOf(high: Int32Array, low: Int32Array, flip: number, isStable: boolean): -1 | 0 | 1 {
  const top = 1 << 31;
  const equal = isStable ? 1 : 0;
  let way: -1 | 0 | 1 = 0;
  let before = high[0]! ^ flip ^ top;
  let lowBefore = low[0]! ^ top;
  for (let i = 1; i < high.length; i++) {
    const own = high[i]! ^ flip ^ top;
    const lowOwn = low[i]! ^ top;
    const next = before < own ? 1 : before > own ? -1 : lowBefore < lowOwn ? 1 : lowBefore > lowOwn ? -1 : equal;
    if (next !== 0) {
      if (next === -way) {
        return 0;
      }
      way = next;
    }
    before = own;
    lowBefore = lowOwn;
  }
  return way === 0 ? 1 : way;
}

/** Sorts keys by the bits from `low` on, with the words that move with them. Returns true if the result is in the other arrays. */
function radix(
  keys: Int32Array, moved: Int32Array | undefined, otherKeys: Int32Array, otherMoved: Int32Array | undefined, low: number, flip: number,
): boolean {
  const n = keys.length;
  const any = keys[0]! ^ flip;
  tables.forEach((table) => table.fill(0));
  count(keys, low, flip, ...tables);
  let isOther = false;
  for (let digit = 0, shift = low; shift < 32; digit++, shift += BITS) {
    const table = tables[digit]!;
    if (table[(any >>> shift) & MASK] === n) {
      continue;
    }
    for (let at = 0, sum = 0; at <= MASK; at++) {
      const of = table[at]!;
      table[at] = sum;
      sum += of;
    }
    const [from, to] = isOther ? [otherKeys, keys] : [keys, otherKeys];
    if (moved) {
      scatterPairs(from, isOther ? otherMoved! : moved, to, isOther ? moved : otherMoved!, table, shift, flip);
    } else {
      scatter(from, to, table, shift, flip);
    }
    isOther = !isOther;
  }
  return isOther;
}

function count(keys: Int32Array, low: number, flip: number, first: Uint32Array, second: Uint32Array, third: Uint32Array): void {
  for (let i = 0; i < keys.length; i++) {
    const key = (keys[i]! ^ flip) >>> low;
    first[key & MASK]!++;
    second[(key >>> BITS) & MASK]!++;
    third[key >>> (2 * BITS)]!++;
  }
}

function scatter(from: Int32Array, to: Int32Array, table: Uint32Array, shift: number, flip: number): void {
  for (let i = 0; i < from.length; i++) {
    const key = from[i]!;
    to[table[((key ^ flip) >>> shift) & MASK]!++] = key;
  }
}

function scatterPairs(
  from: Int32Array, fromMoved: Int32Array, to: Int32Array, toMoved: Int32Array, table: Uint32Array, shift: number, flip: number,
): void {
  for (let i = 0; i < from.length; i++) {
    const key = from[i]!;
    const at = table[((key ^ flip) >>> shift) & MASK]!++;
    to[at] = key;
    toMoved[at] = fromMoved[i]!;
  }
}

/** Sorts low words with equal high words; returns false if too many high words are equal. */
function settle(low: Int32Array, high: Int32Array): boolean {
  for (let first = 0, end = 1; first < high.length; first = end++) {
    let isSorted = true;
    for (; end < high.length && high[end] === high[first]; end++) {
      isSorted &&= low[end - 1]! >>> 0 <= low[end]! >>> 0;
    }
    if (!isSorted && end - first > FEW) {
      return false;
    }
    for (let i = first + 1; !isSorted && i < end; i++) {
      const own = low[i]!;
      let to = i;
      for (; to > first && low[to - 1]! >>> 0 > own >>> 0; to--) {
        low[to] = low[to - 1]!;
      }
      low[to] = own;
    }
  }
  return true;
}

/** Sorts by the count of each value. */
function sortByCounting(bits: Uint8Array | Uint16Array | Uint32Array, up: number, order: Order): void {
  const counts = new Uint32Array(2 ** (32 - up));
  for (let i = 0; i < bits.length; i++) {
    counts[bits[i]!]!++;
  }
  for (let key = 0, at = 0; at < bits.length; key++) {
    const value = bitsOf(key << up, order) >>> up;
    for (const end = at + counts[value]!; at < end; at++) {
      bits[at] = value;
    }
  }
}

/** Sorts by the engine: numbers, or keys if an element is NaN, since the engine ignores the bits of NaN. */
function sortByEngine(array: Float64Array, form: Form, descending: boolean): void {
  const n = array.length;
  let i = 0;
  while (form.is === "float" && i < n && array[i] === array[i]) {
    i++;
  }
  if (i === n || form.is !== "float") {
    array.sort();
    if (descending) {
      array.reverse();
    }
    return;
  }
  const order = orderOf(form, descending);
  const up = 32 - 8 * form.bytes;
  const bits = new UNSIGNED[form.bytes](array.buffer as ArrayBuffer, array.byteOffset, n);
  const map = (isBack: boolean) => {
    if (bits instanceof BigUint64Array) {
      const words = new Int32Array(bits.buffer, bits.byteOffset, 2 * n);
      const own: Words = [words, words.subarray(1), 2];
      return map64(own, own, n, order, isBack);
    }
    for (let i = 0; i < n; i++) {
      bits[i] = (isBack ? bitsOf : keyOf)(bits[i]! << up, order) >>> up;
    }
  };
  map(false);
  bits.sort();
  map(true);
}

/** Sorts in place. */
export function sortOnCpu(array: Elements, form: Form, descending: boolean): void {
  const { buffer, byteOffset, length: n } = array;
  const isFloat = form.is === "float";
  if (n < PAYS[form.bytes][isFloat ? 1 : 0]) {
    return sortByEngine(array as Float64Array, form, descending);
  }
  const order = orderOf(form, descending);
  if (form.bytes !== 8) {
    const up = 32 - 8 * form.bytes;
    const bits = new UNSIGNED[form.bytes](buffer as ArrayBuffer, byteOffset, n);
    if (form.bytes === 1 || (form.bytes === 2 && n >= COUNTED)) {
      return sortByCounting(bits, up, order);
    }
    // Four-byte integers serve as keys in place.
    const isKeys = up === 0 && !isFloat;
    const keys: Int32Array = up === 0 ? new Int32Array(buffer, byteOffset, n) : new Int32Array(n);
    const other = new Int32Array(n);
    for (let i = 0; !isKeys && i < n; i++) {
      keys[i] = keyOf(bits[i]! << up, order);
    }
    const flip = isKeys ? order.flip : 0;
    const run = runOf(keys, keys, flip, false);
    if (run !== 0 && (isKeys || up > 0)) {
      return void (run < 0 && bits.reverse());
    }
    if (run < 0) {
      keys.reverse();
    } else if (run === 0 && radix(keys, undefined, other, undefined, up, flip)) {
      keys.set(other);
    }
    for (let i = 0; !isKeys && i < n; i++) {
      bits[i] = bitsOf(keys[i]!, order) >>> up;
    }
    return;
  }
  const words: Int32Array = new Int32Array(buffer, byteOffset, 2 * n);
  const own: Words = [words, words.subarray(1), 2];
  let [low, high]: [Int32Array, Int32Array] = [new Int32Array(n), new Int32Array(n)];
  map64(own, [low, high, 1], n, order, false);
  const run = runOf(high, low, 0, false);
  if (run !== 0) {
    return void (run < 0 && new BigUint64Array(buffer as ArrayBuffer, byteOffset, n).reverse());
  }
  // The array itself is the second place for words. The high words usually determine the order.
  let [otherLow, otherHigh] = [words.subarray(0, n), words.subarray(n)];
  const [scratchLow, scratchHigh] = [low, high];
  const swap = (isOther: boolean) => {
    [low, high, otherLow, otherHigh] = isOther ? [otherLow, otherHigh, low, high] : [low, high, otherLow, otherHigh];
  };
  swap(radix(high, low, otherHigh, otherLow, 0, 0));
  if (!settle(low, high)) {
    swap(radix(low, high, otherLow, otherHigh, 0, 0));
    swap(radix(high, low, otherHigh, otherLow, 0, 0));
  }
  if (low !== scratchLow) {
    scratchLow.set(low);
    scratchHigh.set(high);
  }
  map64([scratchLow, scratchHigh, 1], own, n, order, true);
}

/** Returns the positions of the elements in sorted order; equal elements keep their order. */
export function argsortOnCpu(array: Elements, form: Form, descending: boolean): Uint32Array<ArrayBuffer> {
  const n = array.length;
  const order = orderOf(form, descending);
  const high = new Int32Array(n);
  let low = high;
  if (form.bytes === 8) {
    const words = new Int32Array(array.buffer, array.byteOffset, 2 * n);
    low = new Int32Array(n);
    map64([words, words.subarray(1), 2], [low, high, 1], n, order, false);
  } else {
    const up = 32 - 8 * form.bytes;
    const bits = new UNSIGNED[form.bytes](array.buffer as ArrayBuffer, array.byteOffset, n);
    for (let i = 0; i < n; i++) {
      high[i] = keyOf(bits[i]! << up, order);
    }
  }
  let positions = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    positions[i] = i;
  }
  const run = n <= FEW ? 0 : runOf(high, low, 0, true);
  if (run < 0) {
    positions.reverse();
  } else if (n <= FEW) {
    insert(positions, high, low);
  } else if (run === 0) {
    let [keys, otherKeys, other] = [low, new Int32Array(n), new Int32Array(n)];
    const sortBy = (from: number) => {
      if (radix(keys, positions, otherKeys, other, from, 0)) {
        [positions, other] = [other, positions];
      }
    };
    if (form.bytes === 8) {
      sortBy(0);
      for (let i = 0; i < n; i++) {
        keys[i] = high[positions[i]!]!;
      }
    }
    sortBy(form.bytes === 8 ? 0 : 32 - 8 * form.bytes);
  }
  return new Uint32Array(positions.buffer);
}

/** Sorts a few positions by insertion. */
function insert(positions: Int32Array, high: Int32Array, low: Int32Array): void {
  for (let i = 1; i < positions.length; i++) {
    const [h, l] = [high[i]! >>> 0, low[i]! >>> 0];
    let to = i;
    for (; to > 0; to--) {
      const before = positions[to - 1]!;
      const b = high[before]! >>> 0;
      if (b < h || (b === h && low[before]! >>> 0 <= l)) {
        break;
      }
      positions[to] = before;
    }
    positions[to] = i;
  }
}
