//! Quicksort by vectors, written once for all instruction sets.
//!
//! The functions are unsafe for one reason: they call the operations of a vector, and the processor must
//! have their instructions. The compiler inlines the functions into [`Vector::run`], which enables these
//! instructions.

use std::mem::MaybeUninit;
use std::slice;

use gpusort_order::key::Word;

use super::ROWS;
use crate::random;

/// A vector of keys.
///
/// # Safety of its functions
///
/// - The processor has the instructions.
/// - The pointer of a load can be read for all lanes that it loads, and the pointer of a store
///   written.
pub(super) trait Vector: Copy {
    type Key: Word;
    /// The vector of half the lanes; the shortest vector names itself.
    type Half: Vector<Key = Self::Key>;
    /// The number of keys in a vector.
    const LANES: usize;
    /// The greatest key.
    const MOST: Self::Key;

    /// Runs an operation where the compiler may use the instructions.
    unsafe fn run<O: Operation>(operation: O) -> O::Output;
    unsafe fn load(from: *const Self::Key) -> Self;
    unsafe fn store(self, to: *mut Self::Key);
    /// Loads the first `count` lanes, fewer than all; the other lanes hold the greatest key.
    unsafe fn load_first(from: *const Self::Key, count: usize) -> Self;
    /// Stores the first `count` lanes, fewer than all.
    unsafe fn store_first(self, to: *mut Self::Key, count: usize);
    unsafe fn splat(key: Self::Key) -> Self;
    unsafe fn min(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    /// Sets the bit of each lane whose key is less than the key of the other vector.
    unsafe fn is_less(self, other: Self) -> u32;
    /// Moves the lanes of these bits to the front; the lanes behind them are arbitrary.
    #[inline(always)]
    unsafe fn compress(self, lanes: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { self.divide(lanes) }
    }
    /// Moves the lanes of these bits to the front, and the other lanes behind them.
    unsafe fn divide(self, lanes: u32) -> Self;
    /// Fills each lane `i` with the key of lane `i ^ X`.
    unsafe fn swap<const X: usize>(self) -> Self;
    /// Orders the keys of lanes `i` and `i ^ X`: the lane with the highest bit of `X` gets the greater
    /// key.
    unsafe fn exchange<const X: usize>(self) -> Self;
}

/// Returns, for each set of lanes, the places in these lanes and then the other places, in the order after
/// [`Vector::divide`]. Each lane has `PLACES / lanes` places.
pub(super) const fn divided<const PLACES: usize, const SETS: usize>(lanes: usize) -> [[u8; PLACES]; SETS] {
    let mut all = [[0; PLACES]; SETS];
    let mut set = 0;
    while set < SETS {
        // Visits each place twice: in lanes of the set, and then in the other lanes.
        let (mut turn, mut filled) = (0, 0);
        while turn < 2 * PLACES {
            let (place, is_in) = (turn % PLACES, turn < PLACES);
            if (set >> (place * lanes / PLACES) & 1 == 1) == is_in {
                all[set][filled] = place as u8;
                filled += 1;
            }
            turn += 1;
        }
        set += 1;
    }
    all
}

/// Code that the compiler translates for an instruction set.
pub(super) trait Operation {
    type Output;

    /// Runs the operation, inlined into [`Vector::run`].
    unsafe fn run(self) -> Self::Output;
}

/// A closure as an operation.
#[cfg(target_arch = "x86_64")]
pub(super) struct Work<F>(pub(super) F);

#[cfg(target_arch = "x86_64")]
impl<R, F: FnOnce() -> R> Operation for Work<F> {
    type Output = R;

    #[inline(always)]
    unsafe fn run(self) -> R {
        (self.0)()
    }
}

/// Runs the body for each row, unrolled: the compiler keeps an array in registers only if no loop
/// indexes it.
macro_rules! each_row {
    ($rows:expr, $row:ident => $body:expr) => {
        each_row!(@ $rows, $row => $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $rows:expr, $row:ident => $body:expr; $($number:literal)*) => {
        $(if $number < $rows {
            let $row = $number;
            $body
        })*
    };
}

/// Puts pairs of rows in order, lane by lane.
macro_rules! order {
    ($rows:ident; $(($low:expr, $high:expr))*) => {$(
        let (low, high) = ($rows[$low], $rows[$high]);
        ($rows[$low], $rows[$high]) = (low.min(high), low.max(high));
    )*};
}

/// Sorts each column by the smallest known networks (Knuth, Green).
#[inline(always)]
unsafe fn sort_columns<V: Vector, const ROWS: usize>(rows: &mut [V; ROWS]) {
    // SAFETY: the caller's promise.
    unsafe {
        match ROWS {
            16 => {
                order!(rows; (0, 13)(1, 12)(2, 15)(3, 14)(4, 8)(5, 6)(7, 11)(9, 10));
                order!(rows; (0, 5)(1, 7)(2, 9)(3, 4)(6, 13)(8, 14)(10, 15)(11, 12));
                order!(rows; (0, 1)(2, 3)(4, 5)(6, 8)(7, 9)(10, 11)(12, 13)(14, 15));
                order!(rows; (0, 2)(1, 3)(4, 10)(5, 11)(6, 7)(8, 9)(12, 14)(13, 15));
                order!(rows; (1, 2)(3, 12)(4, 6)(5, 7)(8, 10)(9, 11)(13, 14));
                order!(rows; (1, 4)(2, 6)(5, 8)(7, 10)(9, 13)(11, 14));
                order!(rows; (2, 4)(3, 6)(9, 12)(11, 13)(3, 5)(6, 8)(7, 9)(10, 12));
                order!(rows; (3, 4)(5, 6)(7, 8)(9, 10)(11, 12)(6, 7)(8, 9));
            }
            8 => {
                order!(rows; (0, 2)(1, 3)(4, 6)(5, 7)(0, 4)(1, 5)(2, 6)(3, 7)(0, 1)(2, 3)(4, 5)(6, 7));
                order!(rows; (2, 4)(3, 5)(1, 4)(3, 6)(1, 2)(3, 4)(5, 6));
            }
            4 => {
                order!(rows; (0, 2)(1, 3)(0, 1)(2, 3)(1, 2));
            }
            _ => {
                order!(rows; (0, 1));
            }
        }
    }
}

/// Merges neighbouring groups of lanes, each in order row by row, into groups of `X + 1` lanes.
///
/// A bitonic merge with mirrored steps: row `r` meets row `r ^ d`, where `d` is a power of two minus one,
/// and lane `l` meets lane `l ^ X`. Because `d` is odd, each pair of rows has an odd row, so mirroring the
/// lanes of odd rows once suffices.
#[inline(always)]
unsafe fn merge<V: Vector, const ROWS: usize, const X: usize>(rows: &mut [V; ROWS]) {
    // SAFETY: the caller's promise.
    unsafe {
        each_row!(ROWS, row => if row % 2 == 1 { rows[row] = rows[row].swap::<X>() });
        each_row!(ROWS, row => if ROWS > 8 && row & 8 == 0 { order!(rows; (row, row ^ 15)); });
        each_row!(ROWS, row => if ROWS > 4 && row & 4 == 0 { order!(rows; (row, row ^ 7)); });
        each_row!(ROWS, row => if ROWS > 2 && row & 2 == 0 { order!(rows; (row, row ^ 3)); });
        each_row!(ROWS, row => if row & 1 == 0 { order!(rows; (row, row ^ 1)); });
        // Then the steps within a row; the first step is mirrored, too.
        each_row!(ROWS, row => rows[row] = rows[row].exchange::<X>());
        if X >= 15 {
            each_row!(ROWS, row => rows[row] = rows[row].exchange::<4>());
        }
        if X >= 7 {
            each_row!(ROWS, row => rows[row] = rows[row].exchange::<2>());
        }
        if X >= 3 {
            each_row!(ROWS, row => rows[row] = rows[row].exchange::<1>());
        }
    }
}

/// Sorts up to `ROWS` vectors of keys in registers.
struct SortRows<V: Vector, const ROWS: usize> {
    from: *const V::Key,
    to: *mut V::Key,
    count: usize,
}

impl<V: Vector, const ROWS: usize> Operation for SortRows<V, ROWS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let Self { from, to, count } = self;
        // SAFETY: the caller's promise; each row is of keys below `count`.
        unsafe {
            let mut rows = [V::splat(V::MOST); ROWS];
            each_row!(ROWS, row => {
                let begin = row * V::LANES;
                if count >= begin + V::LANES {
                    rows[row] = V::load(from.add(begin));
                } else if count > begin {
                    rows[row] = V::load_first(from.add(begin), count - begin);
                }
            });
            sort_columns::<V, ROWS>(&mut rows);
            merge::<V, ROWS, 1>(&mut rows);
            if V::LANES > 2 {
                merge::<V, ROWS, 3>(&mut rows);
            }
            if V::LANES > 4 {
                merge::<V, ROWS, 7>(&mut rows);
            }
            if V::LANES > 8 {
                merge::<V, ROWS, 15>(&mut rows);
            }
            each_row!(ROWS, row => {
                let begin = row * V::LANES;
                if count >= begin + V::LANES {
                    rows[row].store(to.add(begin));
                } else if count > begin {
                    rows[row].store_first(to.add(begin), count - begin);
                }
            });
        }
    }
}

/// Sorts up to `ROWS` vectors of keys, by the shortest vectors that hold the keys: merging lanes takes
/// more steps than merging rows.
#[inline(always)]
unsafe fn sort_few<V: Vector>(from: *const V::Key, to: *mut V::Key, count: usize) {
    type Quarter<V> = <<V as Vector>::Half as Vector>::Half;
    debug_assert!(count <= ROWS * V::LANES, "the keys fit the registers");
    // SAFETY: the caller's promise.
    unsafe {
        if count > ROWS * V::Half::LANES {
            V::run(SortRows::<V, ROWS> { from, to, count });
        } else if count > ROWS * Quarter::<V>::LANES {
            V::run(SortRows::<V::Half, ROWS> { from, to, count });
        } else if count > ROWS / 2 * Quarter::<V>::LANES {
            V::run(SortRows::<Quarter<V>, ROWS> { from, to, count });
        } else if count > ROWS / 4 * Quarter::<V>::LANES {
            V::run(SortRows::<Quarter<V>, 8> { from, to, count });
        } else {
            V::run(SortRows::<Quarter<V>, 4> { from, to, count });
        }
    }
}

/// Partitions keys: keys less than the pivot, or up to it, go to `low`, and the rest to `high`. Both
/// sides keep their order, and one side may overwrite the input. Returns the number of low keys.
struct Divide<V: Vector, const UP_TO: bool> {
    from: *const V::Key,
    low: *mut V::Key,
    high: *mut V::Key,
    count: usize,
    pivot: V::Key,
}

impl<V: Vector, const UP_TO: bool> Operation for Divide<V, UP_TO> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run(self) -> usize {
        /// Vectors loaded before the first store.
        const TOGETHER: usize = 4;
        let Self { from, low, high, count, pivot } = self;
        let all = (1_u32 << V::LANES) - 1;
        // SAFETY:
        // - The caller's promise.
        // - A store ends no further than the loads so far, in either array: the loaded keys include
        //   all low keys and all high keys.
        unsafe {
            let pivot = V::splat(pivot);
            let (mut at, mut lows) = (0, 0);
            let is_low = |keys: V| if UP_TO { pivot.is_less(keys) ^ all } else { keys.is_less(pivot) };
            macro_rules! divide {
                ($keys:expr) => {{
                    let lanes = is_low($keys);
                    $keys.compress(lanes).store(low.add(lows));
                    $keys.compress(lanes ^ all).store(high.add(at - lows));
                    lows += lanes.count_ones() as usize;
                    at += V::LANES;
                }};
            }
            while at + TOGETHER * V::LANES <= count {
                let first = V::load(from.add(at));
                let second = V::load(from.add(at + V::LANES));
                let third = V::load(from.add(at + 2 * V::LANES));
                let fourth = V::load(from.add(at + 3 * V::LANES));
                divide!(first);
                divide!(second);
                divide!(third);
                divide!(fourth);
            }
            while at + V::LANES <= count {
                let keys = V::load(from.add(at));
                divide!(keys);
            }
            if at < count {
                let keys = V::load_first(from.add(at), count - at);
                let there = (1_u32 << (count - at)) - 1;
                let lanes = is_low(keys) & there;
                let more = lanes.count_ones() as usize;
                keys.compress(lanes).store_first(low.add(lows), more);
                keys.compress(lanes ^ there).store_first(high.add(at - lows), count - at - more);
                lows += more;
            }
            lows
        }
    }
}

/// Partitions at least eight vectors of keys in place: keys less than the pivot, or up to it, come
/// first. Returns the number of these keys.
///
/// Each step reads from the end with less free space, so that both ends always have space for a
/// write. The outermost vectors leave the first space; they are written last.
struct DivideInPlace<V: Vector, const UP_TO: bool> {
    keys: *mut V::Key,
    count: usize,
    pivot: V::Key,
}

impl<V: Vector, const UP_TO: bool> Operation for DivideInPlace<V, UP_TO> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run(self) -> usize {
        /// Vectors read from one end at a time.
        const TOGETHER: usize = 4;
        /// The maximum number of lanes in a vector.
        const MOST_LANES: usize = 16;
        let Self { keys, count, pivot: key } = self;
        let all = (1_u32 << V::LANES) - 1;
        let chunk = TOGETHER * V::LANES;
        let mut last = [V::MOST; 3 * TOGETHER * MOST_LANES];
        let kept = last.as_mut_ptr();
        // SAFETY:
        // - The caller's promise.
        // - There are at least two chunks.
        // - The two ends together have two free chunks between the written and the unread keys. After
        //   another read they have three, with at least one at either end: the read takes place at the
        //   end with less space.
        // - The four vectors of a step write at most one chunk at either end.
        // - Two chunks and less than one more come last: `last` holds them, and the free space between
        //   the ends takes them.
        unsafe {
            kept.copy_from_nonoverlapping(keys, chunk);
            kept.add(chunk).copy_from_nonoverlapping(keys.add(count - chunk), chunk);
            let pivot = V::splat(key);
            let (mut low, mut high) = (0, count);
            let (mut begin, mut end) = (chunk, count - chunk);
            while end - begin >= chunk {
                // Selects without a branch, which would be mispredicted.
                let from_begin = begin - low <= high - end;
                let from = keys.add(if from_begin { begin } else { end - chunk });
                begin += if from_begin { chunk } else { 0 };
                end -= if from_begin { 0 } else { chunk };
                let vectors = [
                    V::load(from),
                    V::load(from.add(V::LANES)),
                    V::load(from.add(2 * V::LANES)),
                    V::load(from.add(3 * V::LANES)),
                ];
                for vector in vectors {
                    let lanes = if UP_TO { pivot.is_less(vector) ^ all } else { vector.is_less(pivot) };
                    let divided = vector.divide(lanes);
                    divided.store(keys.add(low));
                    divided.store(keys.add(high - V::LANES));
                    low += lanes.count_ones() as usize;
                    high -= V::LANES - lanes.count_ones() as usize;
                }
            }
            kept.add(2 * chunk).copy_from_nonoverlapping(keys.add(begin), end - begin);
            let (to, count) = (keys.add(low), high - low);
            let lows = V::run(Divide::<V, UP_TO> { from: kept, low: to, high: kept, count, pivot: key });
            to.add(lows).copy_from_nonoverlapping(kept, count - lows);
            low + lows
        }
    }
}

/// The maximum number of divisions: enough for keys that fill the address space.
const MOST: usize = 2 * 64 + 8;

/// The cost, in divisions, of a division that leaves almost all keys together.
const BAD: u32 = 4;

/// A range of unsorted keys.
#[derive(Clone, Copy)]
struct Rest<K> {
    begin: usize,
    count: usize,
    /// The number of divisions left to this range.
    divisions: u32,
    /// A lower bound of the keys.
    least: Option<K>,
}

/// Sorts keys. `rest` sorts ranges that pivots divide badly.
pub(super) struct Sort<'a, V: Vector> {
    pub(super) keys: &'a mut [V::Key],
    /// Scratch memory. A range with more keys than fit is divided in place, which takes longer.
    pub(super) room: &'a mut [MaybeUninit<V::Key>],
    pub(super) rest: &'a mut dyn FnMut(&mut [V::Key]),
    /// The maximum depth of divisions; only inputs made against the pivots reach it.
    pub(super) divisions: u32,
    /// The seed of the samples.
    pub(super) random: u64,
}

impl<V: Vector> Operation for Sort<'_, V> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let Self { keys, room, rest, divisions, mut random } = self;
        if keys.len() <= ROWS * V::LANES {
            let (to, count) = (keys.as_mut_ptr(), keys.len());
            // SAFETY: the caller's promise.
            return unsafe { sort_few::<V>(to, to, count) };
        }
        let divisions = divisions.min(MOST as u32);
        let mut now = Rest { begin: 0, count: keys.len(), divisions, least: None };
        let (keys, capacity) = (keys.as_mut_ptr(), room.len());
        let room = room.as_mut_ptr().cast::<V::Key>();
        // True if the current range lies at the beginning of the room, as right parts do.
        let mut is_in_room = false;
        let mut left = [Rest { begin: 0, count: 0, divisions: 0, least: None }; MOST];
        let mut lefts = 0;
        loop {
            let Rest { begin, count, divisions, least } = now;
            // SAFETY:
            // - The caller's promise.
            // - Ranges are within the keys.
            // - A range enters the room only if it fits and the room holds no other range.
            unsafe {
                let to = keys.add(begin);
                let from = if is_in_room { room } else { to };
                if count <= ROWS * V::LANES {
                    sort_few::<V>(from, to, count);
                } else if divisions == 0 {
                    if is_in_room {
                        to.copy_from_nonoverlapping(room, count);
                    }
                    rest(slice::from_raw_parts_mut(to, count));
                } else {
                    let pivot = pivot::<V>(from, count, &mut random);
                    let fits = count <= capacity;
                    let (mut from, mut lows) = (from, 0);
                    if least != Some(pivot) {
                        if fits {
                            lows = V::run(Divide::<V, false> { from, low: to, high: room, count, pivot });
                            from = room;
                        } else {
                            lows = V::run(DivideInPlace::<V, false> { keys: to, count, pivot });
                        }
                    }
                    let mut above = Some(pivot);
                    let is_least = lows == 0;
                    if is_least {
                        // The pivot is the least key: keys equal to the pivot are in their final place.
                        lows = if fits {
                            V::run(Divide::<V, true> { from, low: to, high: room, count, pivot })
                        } else {
                            V::run(DivideInPlace::<V, true> { keys: to, count, pivot })
                        };
                        above = None;
                    }
                    let is_bad = lows.min(count - lows) < count / 16;
                    let divisions = divisions.saturating_sub(if is_bad { BAD } else { 1 });
                    if !is_least {
                        left[lefts] = Rest { begin, count: lows, divisions, least };
                        lefts += 1;
                    }
                    let (begin, count) = (begin + lows, count - lows);
                    now = Rest { begin, count, divisions, least: above };
                    is_in_room = fits;
                    continue;
                }
            }
            if lefts == 0 {
                return;
            }
            lefts -= 1;
            (now, is_in_room) = (left[lefts], false);
        }
    }
}

/// Divides keys by sorted splitters, first by the middle splitter.
pub(super) struct DivideBySplitters<'a, V: Vector> {
    pub(super) keys: &'a mut [V::Key],
    /// Scratch memory, at least as long as `keys`.
    pub(super) room: &'a mut [MaybeUninit<V::Key>],
    pub(super) splitters: &'a [V::Key],
    /// The end of the keys less than each splitter, and then the end of the keys.
    pub(super) ends: &'a mut [u32],
}

impl<V: Vector> Operation for DivideBySplitters<'_, V> {
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        /// Keys of the buckets from `first` to `last`.
        #[derive(Clone, Copy)]
        struct Range {
            begin: usize,
            count: usize,
            first: usize,
            last: usize,
        }
        let Self { keys, room, splitters, ends } = self;
        let mut now = Range { begin: 0, count: keys.len(), first: 0, last: splitters.len() };
        let (keys, room) = (keys.as_mut_ptr(), room.as_mut_ptr().cast::<V::Key>());
        // Right parts lie in the room, as in a sort.
        let mut is_in_room = false;
        let mut left = [now; usize::BITS as usize];
        let mut lefts = 0;
        loop {
            let Range { begin, count, first, last } = now;
            if first < last && count > 0 {
                let middle = first.midpoint(last);
                // SAFETY:
                // - The caller's promise.
                // - Ranges are within the keys, and the room has the length of the keys.
                // - The keys of no other range are in the room.
                let lows = unsafe {
                    let low = keys.add(begin);
                    let from = if is_in_room { room } else { low };
                    V::run(Divide::<V, false> { from, low, high: room, count, pivot: splitters[middle] })
                };
                left[lefts] = Range { count: lows, last: middle, ..now };
                lefts += 1;
                now = Range { begin: begin + lows, count: count - lows, first: middle + 1, last };
                is_in_room = true;
                continue;
            }
            if is_in_room {
                // SAFETY: as above.
                unsafe { keys.add(begin).copy_from_nonoverlapping(room, count) };
            }
            ends[first..=last].fill((begin + count) as u32);
            if lefts == 0 {
                return;
            }
            lefts -= 1;
            (now, is_in_room) = (left[lefts], false);
        }
    }
}

/// The pivot is the median of up to `SAMPLES` keys.
const SAMPLES: usize = 64;

/// Returns the places of the keys sampled for a pivot, out of `count`: a sample fits `ROWS` vectors.
#[inline(always)]
pub(super) fn sampled(lanes: usize, count: usize, state: &mut u64) -> impl ExactSizeIterator<Item = usize> {
    let samples = if count >= 128 * lanes { SAMPLES.min(ROWS * lanes) } else { SAMPLES / 4 };
    let step = count / samples;
    (0..samples).map(move |place| place * step + (((random(state) >> 48) as usize * step) >> 16))
}

/// Returns about the median of these keys: the median of a sample.
#[inline(always)]
unsafe fn pivot<V: Vector>(from: *const V::Key, count: usize, random: &mut u64) -> V::Key {
    let places = sampled(V::LANES, count, random);
    let samples = places.len();
    let mut sample = [V::MOST; SAMPLES];
    for (key, place) in sample.iter_mut().zip(places) {
        // SAFETY: the place is less than `samples * step`, at most `count`.
        *key = unsafe { *from.add(place) };
    }
    let to = sample.as_mut_ptr();
    // SAFETY:
    // - The caller's promise.
    // - The sample has this length.
    unsafe { sort_few::<V>(to, to, samples) };
    sample[samples / 2]
}
