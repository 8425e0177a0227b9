//! The texts of kernels beside sorts, which a caller records: they prepare narrow keys, and use sorted
//! keys.
//!
//! ```text
//! widen     elements of 8 or 16 bits  ─▸ keys of 32 bits in their order, which are sorted
//! narrow    keys                      ─▸ elements
//! gather    positions, arrays         ─▸ arrays in the order of the positions
//! unique    sorted keys               ─▸ the first of equal keys with its value, and their number
//! merge     two sorted runs           ─▸ one
//! ```
//!
//! Arguments are words, in the order of the struct `Arguments` in each text: immediates, or in a
//! buffer.

use std::fmt::Write;

use gpusort_shaders::wgsl;

use crate::error::Error;
use crate::kernels::{constants, unroll};
use crate::key::Encoding;
use crate::plan::{KeyTransform, MergeTile};

/// Invocations in a workgroup of any of these kernels.
pub const BESIDE_WORKGROUP: u32 = 1 << WORKGROUP_LOG2;
const WORKGROUP_LOG2: u32 = 8;

/// The maximum number of arrays that one dispatch gathers, with fewer storage buffers than any device has.
pub const MOST_GATHERED: usize = 3;

/// Keys that an invocation of [`Beside::unique`] loads at a time, so that it waits for memory once.
const TOGETHER: (&str, u32) = ("TOGETHER", 4);

/// Elements in a tile for the counts of [`Beside::unique`].
pub const UNIQUE_TILE: u32 = 4096;

/// Returns the number of words for the notes of [`Beside::unique`] on `n` elements: a number for each tile,
/// and a bit for each element.
pub const fn unique_words(n: u64) -> u64 {
    n.div_ceil(UNIQUE_TILE as u64) * (1 + UNIQUE_TILE as u64 / 32)
}

/// Elements of fewer than 32 bits, sorted as keys of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Narrow {
    /// Bits of an element: 8 or 16.
    pub bits: u32,
    /// The meaning of the bits.
    pub encoding: Encoding,
    /// True if the largest element comes first; NaN come last.
    pub descending: bool,
}

/// The settings of these texts.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// The order of keys; keys of narrow elements are words without a sign.
    pub transform: KeyTransform,
    /// The caller's elements, if they are narrow.
    pub narrow: Option<Narrow>,
    /// True if arguments are immediates.
    pub has_immediates: bool,
}

impl Narrow {
    fn text(self) -> String {
        let all = (1 << self.bits) - 1;
        let sign = 1 << (self.bits - 1);
        let (flipped, nans) = match self.encoding {
            Encoding::Unsigned => (0, 0),
            Encoding::Signed => (sign, 0),
            Encoding::Float { exponent } => (0, (sign >> exponent) - 1),
        };
        let own = [
            ("NARROW_BITS", self.bits),
            ("NARROW_FLIPPED", if self.descending { flipped ^ all } else { flipped }),
            ("NARROW_IS_FLOAT", matches!(self.encoding, Encoding::Float { .. }).into()),
            ("NARROW_NANS", nans),
            ("NARROW_DESCENDING", self.descending.into()),
        ];
        constants(&own) + wgsl("callers/narrow")
    }
}

impl Beside {
    /// Returns the common beginning of the kernels' texts. `tile` is the number of elements in workgroup memory.
    fn begin(&self, tile: u32) -> String {
        constants(&[("WORKGROUP_SIZE", BESIDE_WORKGROUP), ("TILE_SIZE", tile)])
            + wgsl("common")
            + wgsl("callers/byte")
            + wgsl(if self.has_immediates { "arguments_immediate" } else { "arguments_uniform" })
    }

    /// Returns the text of a caller's keys, bound under this name, and of the functions that read and write them.
    fn keys(&self, name: &str, binding: u32) -> String {
        let (element, access) = match self.narrow {
            Some(_) => ("atomic<u32>", wgsl("callers/array_packed")),
            None => ("Key", wgsl("callers/array")),
        };
        format!("@group(0) @binding({binding}) var<storage, read_write> {name}: array<{element}>;\n")
            + &access.replace("ELEMENTS", name)
    }

    /// Returns the text of the type and the order of keys.
    fn order(&self) -> String {
        let key = wgsl(&format!("key_{}", self.transform.element.key_words().count()));
        key.to_owned() + &self.transform.text() + &self.narrow.map_or_else(String::new, Narrow::text)
    }

    /// Returns the text of `widen` and `narrow`, for narrow elements.
    pub fn widen(&self) -> String {
        self.begin(1) + &self.narrow.map_or_else(String::new, Narrow::text) + wgsl("callers/widen")
    }

    /// Returns the text of `gather`, for arrays with these numbers of words per element, at most [`MOST_GATHERED`].
    pub fn gather(&self, words: &[u32]) -> String {
        let mut text = self.begin(1);
        let mut block = String::new();
        for (number, words) in words.iter().enumerate() {
            let array = |which: &str, binding: usize| {
                format!(
                    "@group(0) @binding({binding}) var<storage, read_write> {which}_{number}: array<u32>;\n"
                )
            };
            let _ = writeln!(text, "const WORDS_{number} = {words}u;");
            text += &(array("source", 2 + 2 * number) + &array("target", 3 + 2 * number));
            text += &wgsl("callers/gather_array").replace("NUMBER", &number.to_string());
            let _ = writeln!(block, "        case {number}u: {{ gather_{number}(first, count, local); }}");
        }
        let _ = writeln!(text, "const ARRAYS = {}u;", words.len());
        text + wgsl("callers/gather")
            + &format!(
                "\nfn gather_block(array: u32, first: u32, count: u32, local: u32) {{\n    switch array {{\n{block}        default: {{}}\n    }}\n}}\n"
            )
    }

    /// Returns the text of `count_firsts`, `number_firsts` and `note_firsts`; with `written`, also of
    /// `write_firsts`. The two flags say whether values exist, and whether counts do.
    pub fn unique(&self, written: Option<(bool, bool)>) -> String {
        let mut text = self.begin(1) + &constants(&[("TILE", UNIQUE_TILE), TOGETHER]) + &self.order();
        text += &self.keys("keys", 2);
        text += &unroll(wgsl("callers/unique"), &[TOGETHER]);
        if let Some((values, counts)) = written {
            text += &constants(&[("HAS_VALUES", values.into()), ("HAS_COUNTS", counts.into())]);
            text += &self.keys("unique", 5);
            text += wgsl("callers/unique_write");
        }
        text
    }

    /// Returns the number of elements in a tile of [`Self::merge`].
    ///
    /// # Errors
    ///
    /// Never in practice: kernels have this tile.
    pub fn merge_tile(&self, payload: bool) -> Result<MergeTile, Error> {
        // Fits 16,352 bytes of workgroup memory, which every device has. The numbers are odd, so that
        // neighbours find their elements in different banks.
        let words = self.transform.element.key_words().count() + u32::from(payload);
        MergeTile::new(WORKGROUP_LOG2, [15, 7, 5][words as usize - 1])
    }

    /// Returns the text of `merge_runs`, for keys alone or with values.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::merge_tile`].
    pub fn merge(&self, payload: bool) -> Result<String, Error> {
        let tile = self.merge_tile(payload)?;
        let own = tile.constants();
        let mut text = self.begin(tile.size()) + &constants(&own[1..]) + &self.order();
        for (name, binding) in [("first_keys", 2), ("second_keys", 3), ("merged_keys", 4)] {
            text += &self.keys(name, binding);
        }
        let element = wgsl(if payload { "callers/merge_payload" } else { "callers/merge_key" });
        Ok(text + wgsl("callers/merge") + element + &unroll(wgsl("merge"), &own))
    }
}
