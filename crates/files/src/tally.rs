//! Tallies inputs: the number of records and a checksum, which do not depend on the order of the records,
//! and the first and the last record.

use gpusort_order::KeyMap;

use super::dataset::Content;
use super::parts::Parts;
use gpusort_base::error::Error;
use gpusort_base::parallel;
use gpusort_engine::key_buf::{KeyBuf, KeyWidth, by_width};
use gpusort_external::frames::checksum;
use gpusort_formats::batch::{KeyedBatch, shown};
use gpusort_formats::binary;
use gpusort_formats::places::Places;

/// The tally of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of records.
    pub records: u64,
    /// The sum of the records' checksums, modulo 2^64. A checksum is the xxh3 of a record's written bytes.
    pub checksum: u64,
    /// The keys of the first record, as messages show them.
    pub first: Vec<String>,
    /// The keys of the last record, as messages show them.
    pub last: Vec<String>,
}

impl Tally {
    /// Reads the parts to the end, and tallies them.
    pub(super) fn of(parts: Parts) -> Result<Self, Error> {
        let (mut tally, how) = (Self::default(), parts.how);
        for part in parts {
            let part = part?;
            let n = part.len();
            if n == 0 {
                continue;
            }
            let (sum, [first, last]) = match part.content {
                Content::Numbers { keys, map, .. } if how.bits().is_some() => {
                    let keys = keys.collect()?;
                    let shown =
                        keys.ends().expect("the part has keys").map(|key| vec![binary::shown(key, map)]);
                    (sum_of_elements(&keys, map), shown)
                }
                content => {
                    let records = content.into_records(how)?;
                    let places = Places::of(&records.pieces);
                    let found = [0, n - 1].map(|at| places.find(at as u32));
                    (sum_of(&records), found.map(|(piece, record)| shown(piece, record, how, None).1))
                }
            };
            if tally.records == 0 {
                tally.first = first;
            }
            tally.last = last;
            tally.records += n as u64;
            tally.checksum = tally.checksum.wrapping_add(sum);
        }
        Ok(tally)
    }
}

/// Returns the sum of the checksums of records.
fn sum_of(records: &KeyedBatch) -> u64 {
    let sums = parallel::map_parts(&records.pieces, |piece| {
        let mut bytes = Vec::new();
        (0..piece.len()).fold(0_u64, |sum, record| {
            bytes.clear();
            piece.push(record, &mut bytes);
            sum.wrapping_add(checksum(&bytes))
        })
    });
    sums.into_iter().fold(0, u64::wrapping_add)
}

/// Returns the sum of the checksums of elements.
pub(super) fn sum_of_elements(keys: &KeyBuf, map: KeyMap) -> u64 {
    fn sum<W: KeyWidth>(keys: &[W], map: KeyMap) -> u64 {
        let (of_word, size) = (W::map(map), map.element.bytes());
        keys.iter().fold(0, |sum, key| {
            let bits: u64 = key.bits(of_word).into();
            sum.wrapping_add(checksum(&bits.to_le_bytes()[..size]))
        })
    }
    /// The number of elements that justifies a parallel task.
    const PART: usize = 1 << 16;
    let sums = by_width!(keys, blocks => {
        parallel::map_parts(blocks.iter().flat_map(|block| block.chunks(PART)), |keys| sum(keys, map))
    });
    sums.into_iter().fold(0, u64::wrapping_add)
}
