//! `gpusort tune`, and what `auto` makes of what it has kept.

use std::fs;
use std::process::{Command, Output};
use std::thread;

use gpusort_cpu::Digits;
use gpusort_engine::cost::{ByDigits, Costs, CpuCosts, Crossover, Curve, GpuCosts};
use serde_json::Value;

use crate::device;
use crate::support::command::{gpusort, stderr};
use crate::support::files::Folder;

/// The command with its settings in this folder.
fn with_settings(folder: &Folder, args: &[&str]) -> Command {
    let mut command = gpusort(args);
    command.env("XDG_CONFIG_HOME", folder.path("settings"));
    command
}

fn run(folder: &Folder, args: &[&str]) -> Output {
    with_settings(folder, args).output().unwrap()
}

/// Keeps costs by which one of the two takes no time at all.
fn keep(folder: &Folder, cpu_ms: f64, gpu_ms: Option<f64>) {
    keep_with(folder, cpu_ms, gpu_ms, Vec::new());
}

/// The same, and from how many elements on which algorithm is faster on the GPU.
fn keep_with(folder: &Folder, cpu_ms: f64, gpu_ms: Option<f64>, crossovers: Vec<Crossover>) {
    let sorts = |ms| {
        let shapes = [(1, false), (2, false), (1, true), (2, true)];
        shapes.map(|(key_words, records)| Curve { key_words, records, times: vec![(1 << 16, ms)] }).to_vec()
    };
    let name = device::gpu().info().name.clone();
    let costs = Costs {
        measured_here: true,
        gpu: gpu_ms.map(|ms| GpuCosts { name, start_ms: 1.0, sorts: sorts(ms), crossovers }),
        cpus: vec![CpuCosts {
            name: "C".to_owned(),
            cores: 2,
            sorts: sorts(cpu_ms),
            by_digits: None,
            lines: None,
        }],
        binary_bytes_per_ms: 1e6,
        text_bytes_per_ms: 1e6,
    };
    fs::create_dir_all(folder.path("settings/gpusort")).unwrap();
    fs::write(folder.path("settings/gpusort/costs.json"), costs.to_json().unwrap()).unwrap();
}

/// The timing of a sort of this file that must be right, and the notes beside it.
fn timing(folder: &Folder, args: &[&str], file: &str) -> (Value, String) {
    let sorted = folder.arg("sorted.u32");
    let args = [&["sort", file, "-o", &sorted, "--json"], args].concat();
    let output = run(folder, &args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    let words = |file: &str| -> Vec<u32> { bytemuck::pod_collect_to_vec(&fs::read(file).unwrap()) };
    if file.rsplit('.').next() == Some("u32") {
        let mut expected = words(file);
        expected.sort_unstable();
        assert!(words(&sorted) == expected);
    }
    (serde_json::from_slice(&output.stdout).unwrap(), stderr(&output))
}

fn generate(folder: &Folder, n: &str, name: &str) -> String {
    let file = folder.arg(name);
    assert!(run(folder, &["gen", "-q", "-c", n, "-o", &file]).status.success());
    file
}

#[test]
fn auto_uses_the_costs_that_tune_saved() {
    let folder = Folder::new();
    // Large enough to be read by several cores, in several pieces.
    let file = generate(&folder, "3_000_001", "data.u32");
    keep(&folder, 1e6, Some(1.0));
    let (told, _) = timing(&folder, &[], &file);
    let kind = device::gpu().info().kind.name();
    assert_eq!(told["device"]["kind"], kind);
    let why = told["why"].as_str().unwrap();
    assert!(why.starts_with("3,000,001 elements: about") && why.contains("on the GPU"), "{why}");

    keep(&folder, 1.0, Some(1e6));
    assert_eq!(timing(&folder, &[], &file).0["device"]["kind"], "cpu");
    keep(&folder, 1e6, None);
    let (told, _) = timing(&folder, &[], &file);
    assert_eq!(told["device"]["kind"], "cpu");
    assert!(told["why"].as_str().unwrap().ends_with(", no GPU"), "{told}");

    // The GPU's algorithm by what was measured of it.
    for (elements, algorithm, why) in [
        (3_000_001, "radix", "; radix sort is faster from 3,000,001 elements on"),
        (3_000_002, "bitonic", "; bitonic sort is faster below 3,000,002 elements"),
    ] {
        keep_with(
            &folder,
            1e6,
            Some(1.0),
            vec![Crossover { algorithm: gpusort::Algorithm::Radix, key_words: 1, records: false, elements }],
        );
        let (told, _) = timing(&folder, &[], &file);
        assert_eq!(told["algo"], algorithm);
        assert!(told["why"].as_str().unwrap().ends_with(why), "{told}");
    }

    // Where anything is named, nothing is compared.
    keep(&folder, 1e6, Some(1.0));
    let (told, _) = timing(&folder, &["-d", "cpu"], &file);
    assert_eq!((&told["device"]["kind"], &told["why"]), (&"cpu".into(), &"--device cpu".into()));
    // Few elements have nothing started for them.
    let few = generate(&folder, "1000", "few.u32");
    let (told, _) = timing(&folder, &[], &few);
    assert_eq!(told["why"], "1,000 elements are too few for a GPU");
    assert_eq!(told["ms"]["device"], 0.0);
    // Text, which is known only when it was read.
    let text = generate(&folder, "200_000", "data.txt");
    let (told, _) = timing(&folder, &["--to", "bin"], &text);
    assert_eq!(told["device"]["kind"], kind);
}

#[test]
fn the_cpu_sorts_by_digits_where_tune_found_them_faster() {
    let folder = Folder::new();
    let file = generate(&folder, "300_000", "data.u32");
    keep(&folder, 1.0, None);
    let kept = folder.path("settings/gpusort/costs.json");
    let costs = Costs::from_json(&fs::read_to_string(&kept).unwrap()).unwrap();
    let own = gpusort_cpu::instructions();
    let by_vectors = if own == "plain" { "radix" } else { "quicksort" };
    // By the tables, what others measured says nothing of these.
    let by_table = timing(&folder, &[], &file).0["variant"].clone();
    for (instructions, digits, expected) in [
        (own, Digits::ALWAYS, Value::from("radix")),
        (own, Digits::NEVER, by_vectors.into()),
        ("others", Digits::ALWAYS, by_table.clone()),
        ("others", Digits::NEVER, by_table),
    ] {
        let mut costs = costs.clone();
        costs.cpus[0].cores = thread::available_parallelism().unwrap().get();
        let digits = [digits.clone(), digits];
        costs.cpus[0].by_digits = Some(ByDigits { instructions: instructions.to_owned(), digits });
        fs::write(&kept, costs.to_json().unwrap()).unwrap();
        for args in [&[][..], &["-d", "cpu"]] {
            assert_eq!(timing(&folder, args, &file).0["variant"], expected, "{instructions} {args:?}");
        }
    }
}

#[test]
fn invalid_costs_are_reported_and_ignored() {
    let folder = Folder::new();
    let file = generate(&folder, "100_000", "data.u32");
    keep(&folder, 1e6, Some(1.0));
    fs::write(folder.path("settings/gpusort/costs.json"), "{\"gpu\": 5}").unwrap();
    let (told, notes) = timing(&folder, &[], &file);
    assert_eq!(told["device"]["kind"], "cpu");
    assert!(notes.contains("costs.json: run 'gpusort tune' to replace it"), "{notes}");
    assert!(told["why"].as_str().unwrap().ends_with("'gpusort tune' measures this one"), "{told}");
    assert_eq!(timing(&folder, &["-q"], &file).1, "");
}

#[test]
fn tune_measures_this_machine_and_saves_the_costs() {
    let folder = Folder::new();
    let name = device::gpu().info().name.clone();
    let output = run(&folder, &["tune", "-d", &name, "--largest", "64K"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains(&name) && shown.contains("65,536  64-bit records"), "{shown}");
    let kept = folder.path("settings/gpusort/costs.json");
    let (saved, lines) = (format!("saved in {}", kept.display()), shown.lines());
    assert!(lines.filter(|line| **line != saved).all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.trim_end().ends_with(kept.to_str().unwrap()), "{shown}");
    let costs = Costs::from_json(&fs::read_to_string(kept).unwrap()).unwrap();
    let gpu = costs.gpu.unwrap();
    assert_eq!((gpu.name, gpu.sorts.len(), costs.cpus.len()), (name, 4, 1));
    let kinds: Vec<_> = gpu.crossovers.iter().map(|seen| (seen.key_words, seen.records)).collect();
    assert_eq!(kinds, [(1, false), (1, true), (2, false), (2, true)]);
    assert!(gpu.crossovers.iter().all(|seen| seen.elements >= 4096), "{:?}", gpu.crossovers);
    let by_digits = costs.cpus[0].by_digits.as_ref().map(|own| &*own.instructions);
    assert_eq!(by_digits, Some(gpusort_cpu::instructions()).filter(|&own| own != "plain"));
    assert!(gpu.start_ms > 0.0 && costs.binary_bytes_per_ms > 0.0 && costs.text_bytes_per_ms > 0.0);

    let refused = run(&folder, &["tune", "-d", "no such GPU"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("no GPU has 'no such GPU' in its name"), "{}", stderr(&refused));
}
