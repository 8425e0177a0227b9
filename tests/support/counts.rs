//! What plans leave on a CPU, and what their passes count on the way.
//!
//! The interpreter's twins of passes that count do nothing: a stable sort needs no counts. What a
//! device must have counted is said here.

use std::collections::BTreeMap;

use gpusort_planner::item::Item;
use gpusort_planner::kernels::DIGIT_BITS;
use gpusort_planner::plan::{Kernel, Plan, Radix, RadixWork, Scope, Select, SelectWork};

/// What buffers beside keys and payload hold, by name.
pub type AuxContents = BTreeMap<&'static str, Vec<u32>>;

/// Values of a digit of the radix sort.
const RADIX: usize = 1 << DIGIT_BITS;

/// Performs the plan with this padding, and returns what its passes have counted in the end.
pub fn interpret<T: Item>(plan: &Plan, elements: &mut Vec<T>, last: T) -> AuxContents {
    let mut counted = AuxContents::new();
    let n = elements.len();
    assert_eq!(plan.n() as usize, n, "the plan is for another size");
    elements.resize(plan.room().max(plan.other_room()) as usize, last);
    for dispatch in plan.dispatches() {
        let part = &mut elements[dispatch.first() as usize..][..dispatch.count() as usize];
        match dispatch.kernel() {
            Kernel::Radix(radix) => count(radix, part, &mut counted),
            Kernel::Select(select) => choose(select, part, &mut counted),
            _ => {}
        }
        dispatch.kernel().perform(part, &[], last);
    }
    elements.truncate(n);
    counted
}

/// What a pass of the radix sort leaves of counts, of elements as they were before it.
fn count<T: Item>(radix: Radix, elements: &[T], counted: &mut AuxContents) {
    let digit_of = |element: &T, digit: u32| (element.key() >> (digit * DIGIT_BITS)) as usize % RADIX;
    let size = radix.tile.size() as usize;
    let chunk = size * radix.chunk as usize;
    let chunks = if chunk == 0 { 0 } else { elements.len().div_ceil(chunk) };
    // What is chosen is not known here.
    if radix.scope != Scope::All {
        return;
    }
    match radix.work {
        RadixWork::Clear => {
            counted.insert("histograms", vec![0; radix.digits as usize * RADIX]);
            counted.insert("varying_bits", vec![0; 4]);
        }
        RadixWork::Histogram => {
            let histograms = counted.get_mut("histograms").unwrap();
            for digit in 0..radix.digits {
                for element in elements {
                    histograms[digit as usize * RADIX + digit_of(element, digit)] += 1;
                }
            }
        }
        RadixWork::Count { .. } => {
            // How often each value is in the chunk before each tile; and in each chunk, by values.
            let mut tile_sums = Vec::new();
            let mut chunk_sums = vec![0; RADIX * chunks];
            for (number, chunk) in elements.chunks(chunk).enumerate() {
                let mut counts = [0; RADIX];
                for tile in chunk.chunks(size) {
                    tile_sums.extend(counts);
                    tile.iter().for_each(|element| counts[digit_of(element, radix.digit)] += 1);
                }
                (0..RADIX).for_each(|value| chunk_sums[value * chunks + number] = counts[value]);
            }
            counted.extend([("tile_sums", tile_sums), ("chunk_sums", chunk_sums)]);
        }
        RadixWork::Scan => {
            for value in 0..RADIX {
                let mut sum = 0;
                for count in &mut counted.get_mut("chunk_sums").unwrap()[value * chunks..][..chunks] {
                    sum += std::mem::replace(count, sum);
                }
                counted.get_mut("histograms").unwrap()[radix.digit as usize * RADIX + value] = sum;
            }
        }
        RadixWork::Sweep(_) | RadixWork::Scatter => {
            // A device finds the place of each element by what was counted before.
            let mut counts = vec![0; RADIX];
            elements.iter().for_each(|element| counts[digit_of(element, radix.digit)] += 1);
            assert_eq!(counted["histograms"][radix.digit as usize * RADIX..][..RADIX], counts);
        }
        _ => {}
    }
    // In each word of a key the bits that are set in some key, and those that are not set in some.
    if let RadixWork::Histogram | RadixWork::Count { first: true } = radix.work {
        let varying = counted.get_mut("varying_bits").unwrap();
        for (place, varying) in varying.iter_mut().enumerate().take(radix.digits as usize / 2) {
            let flipped = if place % 2 == 0 { 0 } else { u64::MAX };
            for element in elements {
                *varying |= ((element.key() ^ flipped) >> (place / 2 * 32)) as u32;
            }
        }
    }
}

/// The same of a pass of the selection.
fn choose<T: Item>(select: Select, elements: &[T], counted: &mut AuxContents) {
    /// The first bit of each digit in a word, and how many bits it has.
    const DIGITS: [(u32, u32); 3] = [(0, 10), (10, 11), (21, 11)];
    const VALUES: usize = 1 << 11;
    let (shift, width) = DIGITS[select.digit as usize % 3];
    let shift = 32 * (select.digit / 3) + shift;
    if select.work == SelectWork::Clear {
        counted.insert("digit_counts", vec![0; VALUES]);
        counted.insert("chosen", vec![0, 0, select.k, 0]);
    }
    // The last selected key, as far as it is known; how many of those that agree with it are
    // selected; whether it is known whole.
    let [low, high, wanted, is_whole] = counted["chosen"][..] else { panic!("four words") };
    let last = u64::from(low) | u64::from(high) << 32;
    match select.work {
        SelectWork::Histogram if is_whole == 0 => {
            let counts = counted.get_mut("digit_counts").unwrap();
            for key in elements.iter().map(|element| element.key()) {
                if ((key ^ last) >> shift) >> width == 0 {
                    counts[(key >> shift) as usize & ((1 << width) - 1)] += 1;
                }
            }
        }
        SelectWork::Choose if is_whole == 0 => {
            let counts = counted.insert("digit_counts", vec![0; VALUES]).unwrap();
            let mut left = wanted;
            let is_last = |count: &u32| {
                let is_last = left <= *count;
                left -= if is_last { 0 } else { *count };
                is_last
            };
            let digit = counts.iter().position(is_last).expect("as many as are selected");
            let all = counts[digit] == left;
            let last = last | (digit as u64) << shift | if all { (1 << shift) - 1 } else { 0 };
            counted.insert("chosen", vec![last as u32, (last >> 32) as u32, left, all.into()]);
        }
        SelectWork::Count => {
            // Of each chunk: keys less than the last one, and equal ones.
            let chunk = 4096 * elements.len().div_ceil(4096).div_ceil(1056);
            let of_chunk = |elements: &[T]| {
                let count = |is: fn(&u64, &u64) -> bool| {
                    elements.iter().filter(|element| is(&element.key(), &last)).count() as u32
                };
                [count(u64::lt), count(u64::eq)]
            };
            counted.insert("chunk_counts", elements.chunks(chunk).flat_map(of_chunk).collect());
        }
        SelectWork::Keep => {
            // A device keeps elements by the last selected key.
            let count = |is: fn(&u64, &u64) -> bool| {
                elements.iter().filter(|element| is(&element.key(), &last)).count() as u32
            };
            assert_eq!(
                count(u64::lt) + count(u64::eq).min(wanted),
                select.k,
                "the last selected key is known"
            );
        }
        _ => {}
    }
}
