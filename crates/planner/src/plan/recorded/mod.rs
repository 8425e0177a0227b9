//! The texts of kernels that run before a plan in a caller's recorded sort: they write the arguments of the plan's
//! kernels, copy keys that the sort must not change, and find segments.
//!
//! ```text
//! prepare        n of the host, or of a buffer  ─▸ arguments of each digit's passes, zeros where these count
//! copy           keys ─▸ copied keys             for an argsort
//! prepare_rows   rows and their length          ─▸ arguments of the pass over rows
//! prepare_top    n, k                           ─▸ arguments of a selection: prepare_top, want
//! segments       offsets [begin] [classify] ┐
//!                                           ├ [fill] lists of short segments, tiles of long ones, arguments of all passes
//!                long rows [number_rows] ───┘
//!                offsets of short segments [begin] [check] arguments of the pass over all of them
//! ```

mod beside;
mod callers;

use std::fmt::Write;

use gpusort_shaders::wgsl;

pub use self::beside::{BESIDE_WORKGROUP, Beside, MOST_GATHERED, Narrow, UNIQUE_TILE, unique_words};
pub use self::callers::CallerPlans;
use crate::error::{Error, at_most};
use crate::kernels::{FIRST_CLASS_LOG2, FusedTile, Group, Select, constants, most_segments};
use crate::limits::Limits;
use crate::plan::{longest_row, segment_groups};

/// Words of the description of segments before its list of long segments, and words of each long segment.
const BEGINS: u32 = 32;
const EACH: u32 = 3;

/// The maximum number of groups of classes of segments: one for each size of a tile.
pub const MOST_GROUPS: u32 = 4;

/// Returns the common beginning of these texts: the offsets of members in argument structs, and `host.wgsl`.
fn host_text() -> String {
    let mut text = String::new();
    for (prefix, of, source) in [
        ("RADIX", "Arguments", wgsl("radix/pass")),
        ("SELECT", "Arguments", wgsl("select/select")),
        ("ROWS", "Arguments", wgsl("batch_equal")),
        ("LISTED", "Arguments", wgsl("batch_listed")),
        ("OFFSETS", "Arguments", wgsl("batch_offsets")),
        ("COPY", "Arguments", wgsl("callers/copy")),
        ("SLICES", "Slices", wgsl("callers/slices")),
    ] {
        for (place, member) in members(source, of).enumerate() {
            let _ = writeln!(text, "const {prefix}_{} = {place}u;", member.to_uppercase());
        }
    }
    text + wgsl("callers/host")
}

/// Returns the names of a struct's members, which are all words.
fn members<'a>(text: &'a str, of: &str) -> impl Iterator<Item = &'a str> {
    let after = text.split_once(&format!("struct {of} {{")).map_or("", |(_, after)| after);
    let members = after.split_once('}').map_or("", |(members, _)| members);
    members.lines().filter_map(|line| line.trim().strip_suffix(": u32,"))
}

/// Returns the text of `prepare`.
pub fn prepare_text() -> String {
    host_text() + wgsl("callers/prepare")
}

/// Returns the text of `prepare_rows`.
pub fn prepare_rows_text() -> String {
    host_text() + wgsl("callers/prepare_rows")
}

/// Returns the text of `copy` for keys of this number of words, with arguments as immediates or in a buffer.
pub fn copy_text(key_words: u32, has_immediates: bool) -> String {
    let arguments = wgsl(if has_immediates { "arguments_immediate" } else { "arguments_uniform" });
    format!("const KEY_WORDS = {key_words}u;\n{arguments}{}", wgsl("callers/copy"))
}

/// Returns the text of `prepare_top` and `want`.
pub fn prepare_top_text(callers: &CallerPlans) -> String {
    let transform = callers.transform;
    let own = [("DIGITS", Select::digits(transform.bits)), ("SLICES", transform.digits())];
    Select::constants() + &constants(&own) + &host_text() + wgsl("callers/prepare_top")
}

/// Returns the maximum number of long segments in `n` elements.
pub fn most_long_segments(n: u32, limits: &Limits) -> u32 {
    most_segments(n, longest_row(limits))
}

/// Returns the words of the description of segments in `n` elements.
pub fn segments_words(n: u32, limits: &Limits) -> u64 {
    u64::from(BEGINS) + u64::from(EACH) * u64::from(most_long_segments(n, limits))
}

/// Returns the text of the kernels that find segments.
///
/// # Errors
///
/// Fails for limits that no tile keeps, or for tiles of more sizes than [`MOST_GROUPS`].
pub fn segments_text(callers: &CallerPlans) -> Result<String, Error> {
    let groups = segment_groups(&callers.limits)?;
    at_most([("tiles of different sizes", groups.len() as u64, MOST_GROUPS.into())])?;
    let classes = || groups.iter().flat_map(|(tile, group)| group.classes().map(move |_| (tile, group)));
    let mut text = String::new();
    let mut array = |name: &str, numbers: &mut dyn Iterator<Item = u32>| {
        let numbers: Vec<String> = numbers.map(|number| format!("{number}u")).collect();
        let _ = writeln!(text, "const {name} = array<u32, {}>({});", numbers.len(), numbers.join(", "));
    };
    array("TILE_LOG2S", &mut classes().map(|(tile, _): (&FusedTile, _)| tile.log2()));
    array("GROUP_FIRSTS", &mut groups.iter().map(|(_, group)| group.log2.0 - FIRST_CLASS_LOG2));
    array("GROUPS", &mut classes().map(|(_, group): (_, &Group)| group.number));
    text += &constants(&[
        ("TILE", callers.tuning.tile.size()),
        ("DIGITS", callers.transform.digits()),
        ("LONGEST", longest_row(&callers.limits)),
        ("CLASSES", classes().count() as u32),
        ("GROUP_COUNT", groups.len() as u32),
        ("FIRST_CLASS_LOG2", FIRST_CLASS_LOG2),
        ("BEGINS", BEGINS),
        ("EACH", EACH),
    ]);
    Ok(text + &host_text() + wgsl("callers/segments"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_lies_where_structs_have_it() {
        let text = host_text();
        for constant in ["RADIX_DROPS_KEYS = 6u", "SELECT_IOTA = 7u", "LISTED_TILES = 0u", "COPY_FIRST = 1u"]
        {
            assert!(text.contains(&format!("const {constant};")), "{constant}");
        }
        // No argument is written by a bare number.
        let sources = [
            wgsl("callers/host"),
            wgsl("callers/prepare"),
            wgsl("callers/prepare_rows"),
            wgsl("callers/prepare_top"),
            wgsl("callers/segments"),
        ];
        let mut places = 0;
        for place in sources.iter().flat_map(|source| source.split("parameters[").skip(1)) {
            let (place, _) = place.split_once(']').unwrap();
            let (_, member) = place.rsplit_once(' ').unwrap_or(("", place));
            assert!(text.contains(&format!("const {member} = ")), "{place}");
            places += 1;
        }
        assert!(places > 25, "{places}");
        // The comparison must be able to fail.
        assert!(!text.contains("const 3u = ") && members("struct B { a: u32,", "A").next().is_none());
    }
}
