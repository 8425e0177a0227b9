//! Sorts, selection and merges on all cores: the fast sort of `auto`, and sorting networks.
//!
//! An internal part of `gpusort`: any release may change all of it.

mod counts;
mod divided;
mod items;
mod local;
mod merge;
mod network;
mod packed;
mod radix;
mod slice;
mod sort;
mod top;
mod vector;
mod windows;

pub use items::{Keyed, Piece, join, records};
pub use merge::{merge, merge_by};
pub use network::sort as sort_by_network;
pub use packed::positions;
pub use slice::{is_in_order, sort_shorts, sort_words};
pub use sort::{is_for_one, sort};
pub use top::top;
pub use vector::{Digits, prefer_digits};
pub use windows::windows;

/// Returns the next random number, for samples: Knuth's MMIX generator, with good highest bits.
#[inline]
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state
}

/// Returns the name of the instruction set that sorts keys on the CPU.
pub fn instructions() -> &'static str {
    vector::Instructions::chosen().name()
}

#[cfg(test)]
mod tests {
    //! Tests of sorts while another thread changes the input, which may be a NumPy array, a mapped file or shared
    //! memory. Any result will do, but accesses stay within the arrays and positions remain a permutation.

    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
    use std::thread;

    use gpusort_order::item::Pair;

    use super::items::Keyed;
    use super::{positions, random, sort, sort_shorts, sort_words, top};

    /// Returns random numbers for tests: good in all bits, and equal on every machine.
    pub(crate) fn numbers() -> impl FnMut() -> u64 {
        let mut state = 1;
        move || {
            let number = random(&mut state);
            (number ^ number >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        }
    }

    /// Sizes around the thresholds for one core and for all cores.
    const SIZES: [usize; 5] = [700, 5_000, 30_000, 100_000, 300_001];

    /// Returns a key function with this spread; the function returns another key at every call.
    fn unsteady(spread: u64) -> impl Fn(u64) -> u64 + Copy + Send + Sync {
        static READ: AtomicU64 = AtomicU64::new(0);
        move |key| {
            let read = READ.fetch_add(0x9E37_79B9_7F4A_7C15, Relaxed);
            match spread {
                0 => key ^ read,
                // Small keys, except a few.
                1 if read >> 54 == 0 => key ^ read,
                1 => (key ^ read) >> 40,
                // Keys that stay between the extremes.
                2 => (key & 0xFFFF) | (read & 0xF_0000),
                // Keys with the exponents of floats.
                _ => (((key ^ read) >> 12) as f64).to_bits(),
            }
        }
    }

    fn is_permutation(positions: &[u32], n: usize) -> bool {
        let mut seen = vec![false; n];
        positions.iter().for_each(|&position| seen[position as usize] = true);
        positions.len() == n && seen.into_iter().all(|seen| seen)
    }

    #[test]
    fn a_wrong_permutation_is_noticed() {
        assert!(is_permutation(&[1, 0, 2], 3));
        assert!(!is_permutation(&[1, 1, 2], 3) && !is_permutation(&[0, 1], 3));
    }

    #[test]
    fn keys_that_differ_at_each_reading_are_sorted_somehow() {
        let mut random = numbers();
        for n in SIZES {
            let elements: Vec<u64> = (0..n).map(|_| random()).collect();
            for spread in 0..4 {
                let key = unsteady(spread);
                let narrow = move |element| (key(element) >> 16) as u32;
                assert!(
                    is_permutation(&positions(&[Keyed { elements: &elements, key }]).0, n),
                    "{n} {spread}"
                );
                let (found, _) = positions(&[Keyed { elements: &elements, key: narrow }]);
                assert!(is_permutation(&found, n), "{n} {spread}, 32 bits");
                assert_eq!(sort(vec![Keyed { elements: &elements, key }]).0.len(), n);
                assert_eq!(sort(vec![Keyed { elements: &elements, key: narrow }]).0.len(), n);
                let kept =
                    top(&[Keyed { elements: &elements, key }], n / 9, |key, payload| Pair { key, payload });
                assert_eq!(kept.len(), n / 9);
                sort_words(&mut elements.clone(), false, key, |key| key);
            }
        }
    }

    /// Sorts the elements repeatedly while another thread changes them.
    fn while_changing<T: Copy + Send + Sync>(elements: &mut [T], sort: impl Fn(&mut [T])) {
        let (words, bytes) = (elements.as_mut_ptr().addr(), size_of_val(elements));
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = numbers();
                while !is_done.load(Relaxed) {
                    let number = random();
                    let place = words + (number % (bytes as u64 / 8)) as usize * 8;
                    // SAFETY:
                    // - The 8 bytes lie within the elements, which outlive this thread.
                    // - The place is aligned, since offsets from the aligned allocation are multiples of 8.
                    unsafe { AtomicU64::from_ptr(place as *mut u64) }.store(number, Relaxed);
                }
            });
            (0..40).for_each(|_| sort(elements));
            is_done.store(true, Relaxed);
        });
    }

    #[test]
    fn elements_that_another_thread_writes_to_are_sorted_somehow() {
        let mut random = numbers();
        for n in SIZES.map(|n| n / 8 * 8) {
            let mut wide: Vec<u64> = (0..n).map(|_| random()).collect();
            while_changing(&mut wide, |words| _ = sort_words(words, true, |word| word, |word| word));
            while_changing(&mut wide, |words| _ = sort_words(words, false, |word| !word, |word| !word));
            let elements: &mut [u16] = bytemuck::cast_slice_mut(&mut wide);
            while_changing(&mut elements[..n], |shorts| {
                sort_shorts(shorts, 16, u32::from, |key| key as u16);
            });
            let narrow: &mut [u32] = bytemuck::cast_slice_mut(&mut wide);
            while_changing(&mut narrow[..n], |words| _ = sort_words(words, true, |word| word, |word| word));
            while_changing(&mut narrow[..n], |words| {
                assert!(is_permutation(&positions(&[Keyed { elements: &*words, key: |word| word }]).0, n));
            });
        }
    }
}
