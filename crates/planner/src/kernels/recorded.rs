//! The texts of the kernels that run before a plan's in a sort that a caller records: they write the
//! arguments of the plan's, and copy keys that are to stay.
//!
//! ```text
//! prepare        n of the host, or of a buffer  ─▸ arguments of each digit's passes, zeros where these count
//! copy           keys ─▸ copied keys             for an argsort
//! prepare_rows   rows and their length          ─▸ arguments of the pass over rows
//! ```

use std::fmt::Write;

use gpusort_shaders::wgsl;

/// The text before that of such a kernel: the offsets of members in argument structs, and
/// `host.wgsl`.
#[must_use]
pub fn host_text() -> String {
    let mut text = String::new();
    for (prefix, of, source) in [
        ("RADIX", "Arguments", wgsl("radix/pass")),
        ("SELECT", "Arguments", wgsl("select/select")),
        ("ROWS", "Arguments", wgsl("batch_equal")),
        ("LISTED", "Arguments", wgsl("batch_listed")),
        ("COPY", "Arguments", wgsl("callers/copy")),
        ("SLICES", "Slices", wgsl("callers/access_slices")),
    ] {
        for (place, member) in members(source, of).enumerate() {
            let _ = writeln!(text, "const {prefix}_{} = {place}u;", member.to_uppercase());
        }
    }
    text + wgsl("callers/host")
}

/// The names of a struct's members, all of them words.
fn members<'a>(text: &'a str, of: &str) -> impl Iterator<Item = &'a str> {
    let after = text.split_once(&format!("struct {of} {{")).map_or("", |(_, after)| after);
    let members = after.split_once('}').map_or("", |(members, _)| members);
    members.lines().filter_map(|line| line.trim().strip_suffix(": u32,"))
}

/// The text of `prepare`.
#[must_use]
pub fn prepare_text() -> String {
    host_text() + wgsl("callers/prepare")
}

/// The text of `prepare_rows`.
#[must_use]
pub fn prepare_rows_text() -> String {
    host_text() + wgsl("callers/prepare_rows")
}

/// The text of `copy`, for keys of so many words; with arguments as immediates or in a buffer.
#[must_use]
pub fn copy_text(key_words: u32, has_immediates: bool) -> String {
    let arguments = wgsl(if has_immediates { "arguments_immediate" } else { "arguments_uniform" });
    format!("const KEY_WORDS = {key_words}u;\n{arguments}{}", wgsl("callers/copy"))
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
        // Nothing is written by a number.
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
