//! The WGSL that gpusort's kernels are put together from, by the names of its files.
//!
//! It is a crate because two need it: `gpusort-planner`, whose kernels sort, and `gpusort`, whose
//! recorder computes their arguments on the device.

macro_rules! files {
    ($($name:literal)*) => {
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!($name, ".wgsl"))),)*];
    };
}

files! {
    "arguments_immediate" "arguments_uniform" "batch" "batch_equal" "batch_found" "batch_key"
    "batch_listed" "batch_offsets" "batch_payload" "common" "copy" "element_key" "element_payload" "fused" "fused_halves" "fused_sort"
    "fused_stages" "fused_tiles" "iota" "key_1" "key_2" "last_swap" "local" "merge" "merge_neighbours"
    "phase" "step" "top" "transpose"
    "callers/access" "callers/access_payload" "callers/access_payload_slices" "callers/access_slices"
    "callers/array" "callers/array_packed" "callers/byte" "callers/copy" "callers/elements"
    "callers/floats_1" "callers/floats_2" "callers/gather" "callers/gather_array" "callers/host"
    "callers/integers" "callers/keys" "callers/merge" "callers/merge_key" "callers/merge_payload"
    "callers/narrow" "callers/places" "callers/places_slices" "callers/prepare" "callers/prepare_rows"
    "callers/prepare_top" "callers/rotated_1" "callers/rotated_2" "callers/segments" "callers/slices"
    "callers/unique" "callers/unique_write" "callers/widen"
    "radix/choose" "radix/chosen" "radix/chosen_pass" "radix/clear" "radix/clear_all" "radix/clear_own"
    "radix/count" "radix/counted" "radix/counts_all" "radix/counts_leading" "radix/cut" "radix/digits"
    "radix/either" "radix/either_key" "radix/either_payload" "radix/elements" "radix/finish"
    "radix/finish_key" "radix/finish_payload" "radix/histogram" "radix/histogram_segments" "radix/in_order" "radix/key"
    "radix/keys" "radix/lane" "radix/lane_group" "radix/leading" "radix/lookback" "radix/mask_1"
    "radix/mask_4" "radix/note_each" "radix/note_subgroups" "radix/part" "radix/part_segments"
    "radix/part_whole" "radix/pass" "radix/payload" "radix/peers" "radix/rank_barrier" "radix/rank_groups"
    "radix/rank_masks" "radix/rank_shuffle" "radix/runs" "radix/sample" "radix/scan" "radix/scatter"
    "radix/scatter_again" "radix/scatter_once" "radix/sorted" "radix/sums" "radix/sums_groups"
    "radix/tile" "radix/tile_key" "radix/tile_payload" "radix/totals" "radix/vary" "radix/vary_first"
    "radix/vary_none" "radix/varying" "radix/window" "radix/word_1" "radix/word_2"
    "select/choose" "select/chosen" "select/clear" "select/count" "select/histogram" "select/keep"
    "select/key" "select/payload" "select/return" "select/select"
    "text/parse" "text/print" "text/search"
}

/// The text of a file, which is named by its path without `.wgsl`: `radix/scan`.
///
/// # Panics
///
/// There is no such file.
#[must_use]
pub fn wgsl(name: &str) -> &'static str {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("shaders/lib.rs lists no '{name}'")).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn all_files_are_listed() {
        let (mut there, mut left) = (0, vec![Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()]);
        while let Some(folder) = left.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    left.push(path);
                } else if path.extension().is_some_and(|extension| extension == "wgsl") {
                    there += 1;
                }
            }
        }
        assert_eq!(there, FILES.len(), "a file has a place in the list");
    }
}
