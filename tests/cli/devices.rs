//! Which device sorts, and the notes about it.

use crate::device;
use crate::support::command::{run, run_in_environment, sorted, stderr};
use crate::support::files::Folder;

#[test]
fn a_machine_without_a_gpu() {
    // No driver at all, as on a machine without a Vulkan loader's drivers.
    let without = |args: &[&str]| {
        let none = [("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];
        run_in_environment(&none, args, "2\n1\n")
    };
    for (args, note) in [
        (&["sort"][..], None),
        (&["sort", "-a", "bitonic"], Some("the bitonic network runs on the CPU")),
        (&["sort", "-a", "odd-even"], Some("the odd-even network runs on the CPU")),
        (&["sort", "-a", "bitonic", "--variant", "local-global"], Some("the bitonic network")),
    ] {
        let output = without(&[args, &["-v"]].concat());
        assert_eq!(output.stdout, b"1\n2\n", "{args:?}: {}", stderr(&output));
        match note {
            Some(note) => assert!(
                stderr(&output).contains(note) && stderr(&output).contains(" network, "),
                "{}",
                stderr(&output)
            ),
            None => assert!(!stderr(&output).contains("gpusort:"), "{}", stderr(&output)),
        }
    }
    assert_eq!(stderr(&without(&["sort", "-q", "-a", "bitonic"])), "");
    let output = without(&["sort", "-d", "gpu"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--device cpu") && output.stdout.is_empty(), "{}", stderr(&output));
    let output = without(&["devices"]);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).starts_with("cpu "));
    assert!(stderr(&output).contains("no GPU found; install a graphics driver"), "{}", stderr(&output));
}

#[test]
fn devices_are_listed_with_their_limits() {
    let list = sorted(&["devices"], "");
    assert!(list.contains(&device::gpu().info().name), "{list}");
    for word in ["vulkan", "binding", "workgroup memory", "subgroup", "cpu"] {
        assert!(list.contains(word), "{list}");
    }
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    assert!(list.starts_with("0    ") && list.contains("\n     vulkan, "), "{list}");
}

#[test]
fn devices_are_listed_as_json() {
    let list: serde_json::Value = serde_json::from_str(&sorted(&["devices", "--json"], "")).unwrap();
    let list = list.as_array().unwrap();
    let info = device::gpu().info();
    let gpu = list.iter().find(|device| device["name"] == info.name).unwrap();
    assert_eq!((&gpu["backend"], &gpu["kind"]), (&info.backend.into(), &info.kind.name().into()));
    assert_eq!(gpu["limits"]["binding_bytes"], info.limits.binding_bytes);
    // What --device takes.
    let number = gpu["device"].as_str().unwrap();
    assert_eq!(sorted(&["sort", "-q", "-d", number], "2\n1\n"), "1\n2\n");
    let cpu = list.last().unwrap();
    assert_eq!((&cpu["device"], &cpu["kind"]), (&"cpu".into(), &"cpu".into()));
    assert!(["plain", "avx2", "avx512"].contains(&cpu["instructions"].as_str().unwrap()), "{cpu}");
    assert!(cpu["cores"].as_u64().unwrap() > 0 && cpu["memory_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn several_devices_are_named_by_their_numbers() {
    let folder = Folder::new();
    let file = folder.arg("n.u32");
    run(&["gen", "--count", "1100000", "-o", &file], "");
    let expected = run(&["sort", "-q", "-d", "cpu", &file, "-o", "-"], "").stdout;
    let output = run(&["sort", "-d", "0,0", "--json", "--timing", "stderr", &file, "-o", "-"], "");
    assert!(output.status.success() && output.stdout == expected, "{}", stderr(&output));
    let told: serde_json::Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!((told["devices"].as_array().unwrap().len(), &told["runs"]), (2, &4.into()), "{told}");
    assert_eq!(told["device"], told["devices"][0]);
    let why = told["why"].as_str().unwrap();
    assert!(
        why.starts_with("chosen by --device; ") && why.ends_with("; in 4 shares on 2 GPUs, merged there"),
        "{told}"
    );
    let output = run(&["sort", "-d", "0,99", &file], "");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(stderr(&output).contains("99"), "{}", stderr(&output));
    // There are none but software ones, or all of these do.
    let output = run(&["sort", "-d", "all", &file, "-o", "-"], "");
    assert!(output.stdout == expected || stderr(&output).contains("--device cpu"), "{}", stderr(&output));
}
