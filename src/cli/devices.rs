//! `gpusort devices`: lists the devices that can sort, for people or as JSON.

use gpusort::AdapterInfo;
use gpusort_base::human::{bytes, grouped, wrapped};
use gpusort_bench::machine::Machine;
use gpusort_bench::table::WIDTH;
use gpusort_engine::gpu::adapters;
use gpusort_planner::plan::Subgroups;
use serde_json::{Value, json};

/// The width of the first column, which has what `--device` takes.
const INDENT: usize = 5;

pub(super) fn run(json: bool) -> anyhow::Result<()> {
    let (adapters, machine) = (adapters(), super::machine());
    if json {
        let gpus = adapters.iter().enumerate().map(|(number, adapter)| object(number, adapter));
        let all: Vec<Value> = gpus.chain([cpu(&machine)]).collect();
        super::print(&(serde_json::to_string_pretty(&all)? + "\n"))?;
    } else {
        let mut text = String::new();
        for (number, adapter) in adapters.iter().enumerate() {
            text += &entry(&number.to_string(), &adapter.name, &details(adapter));
        }
        text += &entry("cpu", &machine.cpu, &[machine.details()]);
        super::print(&text)?;
    }
    if adapters.is_empty() {
        super::say(
            "no GPU found; install a graphics driver. Linux needs its Vulkan driver and libvulkan1 (a \
             software driver is mesa-vulkan-drivers)",
        );
    }
    Ok(())
}

/// A device with lines about it, each wrapped.
fn entry(device: &str, name: &str, details: &[String]) -> String {
    let first = format!("{device:INDENT$}{name}");
    let line = |line: &String| wrapped(&format!("{:INDENT$}{line}", ""), WIDTH, INDENT);
    wrapped(&first, WIDTH, INDENT) + &details.iter().map(line).collect::<String>()
}

fn details(adapter: &AdapterInfo) -> [String; 2] {
    let limits = &adapter.limits;
    let subgroups = match limits.subgroups {
        None => "no subgroups".to_owned(),
        Some(Subgroups { smallest, largest, .. }) if smallest == largest => {
            format!("subgroups of {smallest}")
        }
        Some(Subgroups { smallest, largest, .. }) => format!("subgroups of {smallest} to {largest}"),
    };
    [
        format!("{}, {}, driver {}", adapter.backend, adapter.kind.name(), adapter.driver),
        format!(
            "limits: buffer {}, binding {}, workgroup memory {}, {} invocations per workgroup, {subgroups}",
            bytes(limits.buffer_bytes),
            bytes(limits.binding_bytes),
            bytes(limits.workgroup_bytes),
            grouped(limits.invocations),
        ),
    ]
}

fn object(number: usize, adapter: &AdapterInfo) -> Value {
    let limits = &adapter.limits;
    json!({
        // The value for --device.
        "device": number.to_string(),
        "name": adapter.name,
        "backend": adapter.backend,
        "kind": adapter.kind.name(),
        "driver": adapter.driver,
        "limits": {
            "buffer_bytes": limits.buffer_bytes,
            "binding_bytes": limits.binding_bytes,
            "workgroup_bytes": limits.workgroup_bytes,
            "invocations": limits.invocations,
            "subgroup": limits.subgroups.map(|subgroups| [subgroups.smallest, subgroups.largest]),
        },
    })
}

/// The CPU, with the fields of GPUs and its own.
fn cpu(machine: &Machine) -> Value {
    json!({
        "device": "cpu",
        "name": machine.cpu,
        "backend": "cpu",
        "kind": "cpu",
        "driver": null,
        "limits": null,
        "cores": machine.cores,
        "instructions": machine.instructions,
        "memory_bytes": machine.memory_bytes,
    })
}
