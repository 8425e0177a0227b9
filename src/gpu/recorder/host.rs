//! Host parameters: what the host passes to the kernels that run before a plan's, which write the
//! arguments of the plan's.

use std::fmt::Write;

use gpusort_planner::kernels::Grid;
use gpusort_shaders::wgsl;

use super::{ALIGNMENT, Recorder};
use crate::error::Error;

/// The text before that of such a kernel: the offsets of members in argument structs, and
/// `host.wgsl`.
pub(super) fn text() -> String {
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

impl Recorder {
    /// Dispatches at least so many workgroups of a pipeline, with its buffers and its host
    /// parameters: a number and four bytes.
    pub(super) fn dispatch_with_host_parameters(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        pipeline: &wgpu::ComputePipeline,
        group: &wgpu::BindGroup,
        workgroups: u32,
        (number, bytes): (u32, [u32; 4]),
    ) -> Result<(), Error> {
        let [number_0, number_1, number_2, number_3] = number.to_le_bytes().map(u32::from);
        let [byte_0, byte_1, byte_2, byte_3] = bytes;
        let bytes = [number_0, number_1, number_2, number_3, byte_0, byte_1, byte_2, byte_3];
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.set_bind_group(1, &self.host, &bytes.map(|byte| byte * ALIGNMENT as u32));
        let grid = Grid::new(workgroups.into(), &self.context.info.limits)?;
        pass.dispatch_workgroups(grid.x, grid.y, 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_lies_where_structs_have_it() {
        let text = text();
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
