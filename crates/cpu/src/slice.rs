//! Sorts a slice in place, by keys that map back to its elements.
//!
//! One core sorts small inputs, which fit its cache, in scratch memory that it keeps: other cores would wake
//! too late. A single core sorts every input. On several cores, larger inputs are partitioned or scattered to
//! buckets in a second array, by [`divided`](super::divided) or [`radix`], and each bucket comes back sorted.
//! Elements with few distinct values are counted.

use std::mem::MaybeUninit;

use gpusort_order::key::Word;

use super::counts::{self, PLACES, TABLES};
use super::divided::Divided;
use super::items::{Keyed, sample};
use super::local::{Room, as_unwritten};
use super::radix;
use super::sort::{SERIAL, is_for_one};
use super::vector::{IN_REGISTERS, Instructions};
use gpusort_base::memory::Kept;
use gpusort_base::parallel;
use gpusort_base::report::Form;

/// Fewer elements of two bytes are not checked for few distinct values.
const FEW: usize = 1 << 12;

/// From this number on, a counting sort takes all elements of two bytes.
const MANY: usize = 1 << 19;

/// Sorts words by their keys, on all cores. `bits` is the inverse of `key`; with `is_key`, each word equals
/// its key.
pub fn sort_words<W: Word>(
    words: &mut [W],
    is_key: bool,
    key: impl Fn(W) -> W + Copy + Send + Sync,
    bits: impl Fn(W) -> W + Copy + Send + Sync,
) -> Form {
    let n = words.len();
    if let Some(form) = put_in_order(words, key) {
        return form;
    }
    let with = Instructions::chosen();
    let in_place = |words: &mut [W], sort: &mut dyn FnMut(&mut [W]) -> Form| {
        if is_key {
            return sort(words);
        }
        with.with(|| words.iter_mut().for_each(|word| *word = key(*word)));
        let form = sort(words);
        with.with(|| words.iter_mut().for_each(|key| *key = bits(*key)));
        form
    };
    if n <= with.in_registers::<W>() {
        return in_place(words, &mut |keys| {
            with.sort(keys, &mut [], |_| {});
            Form::Quicksort
        });
    }
    if counts::sort_few(words, key, bits) {
        return Form::Radix;
    }
    let is_for_one = is_for_one(n);
    let sample = |step| sample(&[Keyed { elements: &*words, key }], step);
    if !is_for_one && (!with.sorts::<W>() || with.prefers_digits::<W>(n, parallel::threads(), sample)) {
        let mut room = Kept::new::<W>(n);
        if let Some((scattered, buckets)) = radix::scatter(&[Keyed { elements: words, key }], room.places(n))
        {
            let give = move |keys: &[W], words: &mut [W]| {
                // A copy stays in registers.
                let bits = bits;
                words.iter_mut().zip(keys).for_each(|(word, &key)| *word = bits(key));
            };
            radix::sort_buckets(scattered, buckets, words, &give);
        }
        return Form::Radix;
    }
    if is_for_one || parallel::threads() == 1 {
        return in_place(words, &mut |keys| Room::with(|room| room.sort_shared(keys)));
    }
    let mut memory = Kept::new::<W>(n);
    let divided = Divided::new(with, &[Keyed { elements: &*words, key }], 0, &mut memory);
    let give = move |keys: &mut [W], words: &mut [MaybeUninit<W>]| {
        with.write(words, keys.iter().map(|&key| bits(key)));
    };
    // SAFETY: `give` writes words alone.
    divided.sort(unsafe { as_unwritten(words) }, &give);
    Form::Quicksort
}

/// Sorts elements of one or two bytes by keys of `bits` bits. `element` is the inverse of `key`.
pub fn sort_shorts<T: Copy + Send + Sync, K: Word>(
    elements: &mut [T],
    bits: u32,
    key: impl Fn(T) -> K + Copy + Send + Sync,
    element: impl Fn(K) -> T + Copy + Send + Sync,
) -> Form {
    let n = elements.len();
    if let Some(form) = put_in_order(elements, key) {
        return form;
    }
    let with = Instructions::chosen();
    if n <= with.in_registers::<u32>() {
        let mut wide = [0_u32; IN_REGISTERS];
        let wide = &mut wide[..n];
        with.with(|| {
            let keys = elements.iter().map(|&element| Into::<u64>::into(key(element)) as u32);
            wide.iter_mut().zip(keys).for_each(|(wide, key)| *wide = key);
        });
        with.sort(wide, &mut [], |_| {});
        with.with(|| {
            elements.iter_mut().zip(wide).for_each(|(to, key)| *to = element(K::of_u64((*key).into())));
        });
        return Form::Quicksort;
    }
    let is_sorted = match bits {
        8 => counts::sort_bits::<PLACES, TABLES, _, _>(elements, 0, key, element),
        _ if n >= MANY => counts::sort_bits::<{ 1 << 16 }, 1, _, _>(elements, 0, key, element),
        _ => n >= FEW && counts::sort_few(elements, key, element),
    };
    if !is_sorted {
        Room::with(|room| room.sort_shorts(elements, key, element));
    }
    Form::Radix
}

/// Detects elements in order, and reverses elements in reverse order. Returns `None` for other elements.
fn put_in_order<T: Copy + Sync, K: Word>(
    elements: &mut [T],
    key: impl Fn(T) -> K + Copy + Send + Sync,
) -> Option<Form> {
    if is_in_order(elements, |a, b| key(a) <= key(b)) {
        return Some(Form::InOrder);
    }
    is_in_order(elements, |a, b| key(a) >= key(b)).then(|| {
        elements.reverse();
        Form::Reversed
    })
}

/// Returns true if `holds` is true for all pairs of neighbours.
pub fn is_in_order<T: Copy + Sync>(
    elements: &[T],
    holds: impl Fn(T, T) -> bool + Copy + Send + Sync,
) -> bool {
    const BLOCK: usize = 1 << 12;
    let each = |first: &[T]| {
        // Reads the whole block: a loop that may end early does not use vectors.
        !first.iter().zip(&first[1..]).fold(false, |lost, (&a, &b)| lost | !holds(a, b))
    };
    let pairs = elements.len().saturating_sub(1);
    let block = |at: usize| each(&elements[at * BLOCK..=pairs.min((at + 1) * BLOCK)]);
    let blocks = pairs.div_ceil(BLOCK);
    // The first few elements show that most inputs are in no order.
    let begin = &elements[..elements.len().min(16)];
    begin.windows(2).all(|pair| holds(pair[0], pair[1]))
        && if elements.len() <= SERIAL.end {
            (0..blocks).all(block)
        } else {
            block(0) && parallel::all(1..blocks, &block)
        }
}
