//! `gpusort devices`: lists the devices that can sort.

use std::io::Write;

use gpusort::AdapterInfo;
use gpusort::unstable::gpu::adapters;
use gpusort::unstable::human::bytes;
use gpusort_planner::plan::Subgroups;

pub(super) fn run() -> anyhow::Result<()> {
    let mut text = String::new();
    let adapters = adapters();
    for (number, adapter) in adapters.iter().enumerate() {
        text.push_str(&format!("{number}    {}\n", describe(adapter)));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    text.push_str(&format!("cpu  CPU\n     {cores}\n"));
    super::print(&text)?;
    if adapters.is_empty() {
        let _ = writeln!(
            std::io::stderr(),
            "gpusort: no GPU found; a graphics driver is needed, on Linux with its Vulkan part and libvulkan1 \
             (mesa-vulkan-drivers has a software one)"
        );
    }
    Ok(())
}

fn describe(adapter: &AdapterInfo) -> String {
    let limits = &adapter.limits;
    let subgroup = match limits.subgroups {
        None => "none".to_owned(),
        Some(Subgroups { smallest, largest, .. }) if smallest == largest => smallest.to_string(),
        Some(Subgroups { smallest, largest, .. }) => format!("{smallest} to {largest}"),
    };
    format!(
        "{}\n     {}, {}, driver {}\n     buffer {}, binding {}, workgroup memory {}, {} invocations a workgroup, \
         subgroup {subgroup}",
        adapter.name,
        adapter.backend,
        adapter.kind.name(),
        adapter.driver,
        bytes(limits.buffer_bytes),
        bytes(limits.binding_bytes),
        bytes(limits.workgroup_bytes),
        limits.invocations,
    )
}
