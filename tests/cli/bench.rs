//! `gpusort bench` as a person or a script runs it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use gpusort_planner::plan::{self, Algorithm, Variant};
use serde_json::Value;

use crate::device;
use crate::support::command::{gpusort, refused, sorted, stderr};
use crate::support::files::Folder;
#[cfg(target_os = "linux")]
use crate::support::process::wait_until_it_waits;
#[cfg(unix)]
use crate::support::process::{end, read_all, send};

/// The columns that the specification lists, in its order.
const COLUMNS: &str = "device,algo,variant,type,dist,n,runs,dispatches,bytes_moved,median_ms,min_ms,max_ms,\
                       end_to_end_ms,keys_per_s,ns_per_element,bytes_per_s,vs_cpu";

/// What a bench of one GPU measures: two sorts of the CPU, and each algorithm.
const ON_GPU: usize = 2 + Algorithm::ALL.len();

/// What a bench of the CPU measures: two sorts, and each network.
fn on_cpu() -> usize {
    2 + Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_network()).count()
}

/// How a bench names gpusort's own sort.
fn own_sort() -> String {
    let cores = gpusort_base::parallel::cores();
    format!("gpusort, {cores} core{}", if cores == 1 { "" } else { "s" })
}

/// A bench of few runs, of which none is left out for lack of time, however busy the machine is.
fn few_runs<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["bench", "--runs", "3", "--warmup", "0", "--time-limit", "1000000"], more].concat()
}

/// Standard output of such a bench, which must succeed.
fn bench(more: &[&str]) -> String {
    sorted(&few_runs(more), "")
}

#[test]
fn every_size_and_method_has_its_line() {
    let table = bench(&["-d", &format!("{},cpu", device::name()), "--sizes", "16..256", "-t", "u32,text"]);
    for kind in ["u32, uniform", "text, uniform"] {
        let section = table.split(&format!("\n{kind}\n")).nth(1).unwrap_or_else(|| panic!("{kind}: {table}"));
        let section = section.split("\n\n").next().unwrap();
        let lines: Vec<&str> = section.lines().skip(1).collect();
        let of_cpu = [own_sort(), "sort_unstable, 1 core".to_owned()];
        let limits = device::gpu().info().limits;
        let on_gpu = Algorithm::ALL
            .map(|algorithm| format!("{algorithm} {} [1]", plan::default_variant(algorithm, &limits)));
        let networks = Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_network());
        let on_cpu: Vec<_> = networks.map(|algorithm| format!("{algorithm} network [2]")).collect();
        let methods = [&of_cpu[..], &on_gpu, &on_cpu].concat();
        assert_eq!(lines.len(), 3 * methods.len(), "{section}");
        for (group, n) in lines.chunks(methods.len()).zip(["16", "64", "256"]) {
            assert!(group[0].trim_start().starts_with(&format!("{n}  ")), "{}", group[0]);
            for (line, method) in group.iter().zip(&methods) {
                assert!(line.contains(method), "{line}");
            }
        }
    }
    assert!(!table.contains('\x1b'), "no colours but for a terminal");
    assert!(table.contains("u32 uniform on "), "the crossover is named: {table}");
}

#[test]
fn exports_hold_the_fields_of_the_specification() {
    let folder = Folder::new();
    let [json, csv, markdown, plot] = ["x.json", "x.csv", "x.md", "x.svg"].map(|name| folder.arg(name));
    let args = ["-d", &device::name(), "--sizes", "100,10K", "--with-positions", "--dist", "zipf,sorted"];
    let exports =
        ["--export-json", &json, "--export-csv", &csv, "--export-markdown", &markdown, "--plot", &plot];
    bench(&[&args[..], &exports].concat());

    let mut reader = csv::Reader::from_path(&csv).unwrap();
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), COLUMNS);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2 * 2 * ON_GPU, "two distributions, two sizes");

    let whole: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let machine = &whole["machine"];
    assert_eq!(machine["version"], env!("CARGO_PKG_VERSION"));
    assert!(["plain", "avx2", "avx512"].contains(&machine["instructions"].as_str().unwrap()), "{machine}");
    assert!(machine["cores"].as_u64().unwrap() > 0 && machine["memory_bytes"].as_u64().unwrap() > 0);
    let device = &machine["devices"][0];
    assert!(device["start_ms"].as_f64().unwrap() > 0.0 && device["copy_bytes_per_s"].as_f64().unwrap() > 0.0);
    let results = whole["results"].as_array().unwrap();
    assert_eq!(results.len(), rows.len());
    for (result, row) in results.iter().zip(&rows) {
        for (column, field) in COLUMNS.split(',').zip(row) {
            match &result[column] {
                Value::String(text) => assert_eq!(text, field, "{column}"),
                Value::Number(number) => {
                    let difference = (number.as_f64().unwrap() - field.parse::<f64>().unwrap()).abs();
                    assert!(difference <= number.as_f64().unwrap() * 1e-12, "{column}: {number} {field}");
                }
                other => panic!("{column}: {other}"),
            }
        }
        assert_eq!(result["type"], "u32+p");
        let samples: Vec<f64> =
            result["samples_ms"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
        assert_eq!(samples.len(), 3);
        let mut rising = samples.clone();
        rising.sort_by(f64::total_cmp);
        let told = ["min_ms", "median_ms", "max_ms"].map(|name| result[name].as_f64().unwrap());
        assert_eq!(rising, told);
        let speed = result["n"].as_f64().unwrap() / rising[1] * 1e3;
        // Told in whole keys.
        assert!((result["keys_per_s"].as_f64().unwrap() - speed).abs() <= 0.5 + speed * 1e-12);
        let each = result["ns_per_element"].as_f64().unwrap();
        assert!((each - rising[1] * 1e6 / result["n"].as_f64().unwrap()).abs() <= each * 1e-12);
        let bytes = result["bytes_per_s"].as_f64().unwrap();
        assert!((bytes - 4.0 * speed).abs() <= 0.5 + bytes * 1e-12, "positions are not counted");
        assert!(result["end_to_end_ms"].as_f64().unwrap() > 0.0);
        if result["algo"] == "bitonic" {
            assert!(
                result["dispatches"].as_u64().unwrap() > 0 && result["bytes_moved"].as_u64().unwrap() > 0
            );
            assert!(result["upload_ms"].as_f64().unwrap() > 0.0 && result["part_of_copy"].as_f64().is_some());
        }
    }

    let markdown = fs::read_to_string(&markdown).unwrap();
    let tables: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(tables.len(), rows.len() + 2 * 2, "a title and a rule for each distribution");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(tables.iter().all(|line| columns(line) == columns(tables[0])), "{markdown}");

    let picture = fs::read_to_string(&plot).unwrap();
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    // One that knows no style sheets finds literal colours.
    assert!(picture.contains("fill=\"white\"") && !picture.contains("var("));
    for text in ["bitonic fused", "odd-even block", &own_sort(), "number of elements", "128", "8K"] {
        assert!(picture.contains(text), "{text}");
    }
    assert_eq!(folder.names(), ["x.csv", "x.json", "x.md", "x.svg"], "nothing else is left");
}

#[test]
fn an_export_to_standard_output_replaces_the_table() {
    let csv = bench(&["-d", "cpu", "--sizes", "16,32", "--export-csv", "-"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(csv.lines().next(), Some(COLUMNS));
    assert_eq!(reader.records().map(Result::unwrap).count(), 2 * on_cpu());
    let json: Value =
        serde_json::from_str(&bench(&["-d", "cpu", "--sizes", "16", "--export-json", "-"])).unwrap();
    assert_eq!(json["results"].as_array().unwrap().len(), on_cpu());
    let plot = bench(&["-d", "cpu", "--sizes", "16..1K", "--plot", "-"]);
    for text in ["u32, uniform", "┤", "256", &format!("A {}", own_sort()), "B sort_unstable, 1 core"] {
        assert!(plot.contains(text), "{text}: {plot}");
    }
    assert!(!plot.contains('\x1b'));
}

#[test]
fn tables_fit_80_columns_with_any_options() {
    let name = device::name();
    let several = format!("{name},cpu");
    for args in [
        &["-d", "cpu"][..],
        &["-d", &name, "--variant", "all"],
        &["-d", &several, "--variant", "all", "--with-positions", "-t", "u32,f64,text", "--plot", "-"],
        &["-d", &several, "--dist", "nearly-sorted,few-distinct"],
        &["-d", &several, "--sizes", "64,16M", "--time-limit", "0.000001"],
    ] {
        let table = bench(&[&["--sizes", "16,1K"], args].concat());
        let widest = table.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= 80, "{args:?}: {widest}");
    }
}

#[test]
fn json_replaces_the_table() {
    let folder = Folder::new();
    let file = folder.arg("x.json");
    let output = gpusort(&few_runs(&["-d", "cpu", "--sizes", "1e1,1.5e1", "--json", "--export-json", &file]))
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output), "", "no table there, either");
    assert_eq!(output.stdout, fs::read(&file).unwrap());
    let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(whole["results"].as_array().unwrap().len(), 2 * on_cpu());
    assert_eq!(whole["results"][0]["n"], 10);
    assert!(whole["machine"]["cpu"].is_string());
}

#[test]
fn an_export_is_written_even_if_another_output_fails() {
    let folder = Folder::new();
    let [json, csv] = ["x.json", "x.csv"].map(|name| folder.arg(name));
    // The reader of the table has seen enough after a line.
    let args = few_runs(&["-d", "cpu", "--sizes", "16..1K", "--export-json", &json]);
    let mut child = gpusort(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let whole: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(whole["results"].as_array().unwrap().len(), 4 * on_cpu(), "four sizes");
    // One export fails; the other is made all the same.
    if cfg!(target_os = "linux") {
        let args = ["-d", "cpu", "--sizes", "16", "--export-json", "/dev/full", "--export-csv", &csv];
        let output = gpusort(&few_runs(&args)).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("/dev/full"), "{}", stderr(&output));
        assert_eq!(csv::Reader::from_path(&csv).unwrap().into_records().count(), 4);
    }
}

#[test]
fn a_bench_without_results_keeps_the_old_plot() {
    let folder = Folder::new();
    let plot = folder.write("x.svg", "<svg/>");
    let args = ["bench", "-d", "cpu", "--sizes", "1M", "--time-limit", "0.000001", "--plot", &plot];
    let output = gpusort(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no result to plot"), "{}", stderr(&output));
    assert_eq!(fs::read(&plot).unwrap(), b"<svg/>");
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_a_bench_whose_export_blocks() {
    let folder = Folder::new();
    let pipe = folder.fifo("pipe");
    let args = few_runs(&["-d", "cpu", "--sizes", "1", "--export-csv", &pipe]);
    let mut child = gpusort(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // All is measured, and it waits for a reader of the export.
    assert!(lines.map(Result::unwrap).any(|line| line.contains("odd-even network")));
    #[cfg(target_os = "linux")]
    wait_until_it_waits(&child);
    assert!(child.try_wait().unwrap().is_none(), "it waits");
    send("-TERM", &child);
    assert_eq!(end(&mut child).code(), Some(130));
}

#[test]
fn devices_have_the_names_that_devices_lists() {
    let listed: Value = serde_json::from_str(&sorted(&["devices", "--json"], "")).unwrap();
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let devices = format!("{},cpu", device::name());
    let whole: Value = serde_json::from_str(&bench(&["-d", &devices, "--sizes", "16", "--json"])).unwrap();
    let results = whole["results"].as_array().unwrap();
    for entry in results.iter().chain(whole["machine"]["devices"].as_array().unwrap()) {
        let name = entry["device"].as_str().or(entry["name"].as_str()).unwrap();
        assert!(listed.contains(&name), "{name} {listed:?}");
    }
    assert_eq!(results[0]["device"], whole["machine"]["cpu"]);
}

#[test]
fn each_device_is_measured_once() {
    let csv = bench(&["-d", "cpu, CPU,cpu", "--sizes", "16", "--export-csv", "-"]);
    assert_eq!(csv.lines().count(), 1 + 4, "{csv}");
    // One element is nothing to do for a GPU, so nothing to be faster at.
    let method = ["-a", "bitonic", "--variant", "fused"];
    let csv = bench(&[&["-d", &device::name(), "--sizes", "1", "--export-csv", "-"], &method[..]].concat());
    assert!(csv.lines().last().unwrap().ends_with(','), "{csv}");
}

#[test]
fn wrong_bench_options_are_refused() {
    for (args, said) in [
        (&["--sizes", "1M..1K"][..], "begins after its end; write 1K..1M"),
        (&["--sizes", "1..8*1"], "must be at least 2"),
        (&["--sizes", "many"], ": expected a number such as 1000, 1_000, 1e6 or 64K"),
        (&["--runs", "0"], "expected a number of at least 1"),
        (&["--time-limit", "0"], "expected a number of seconds above 0"),
        (&["--algo", "quick"], "possible values: all, bitonic, odd-even"),
        (&["--algo", "odd-even", "--variant", "fused"], "odd-even has no variant 'fused'"),
        (&["--dist", "normal"], "possible values"),
        (&["--device", "no such device"], "no GPU has 'no such device' in its name"),
        (&["--export-csv", "/no/such/folder/x.csv"], "the folder /no/such/folder does not exist"),
        (
            &["--export-csv", "-", "--export-json", "-"],
            "standard output: --export-json and --export-csv both write there; name another file for --export-csv",
        ),
        (&["--json", "--plot", "-"], "standard output: --json and --plot both write there"),
        (&["--json", "--export-json", "-"], "standard output: --json and --export-json both"),
        (&["--export-csv", "x", "--export-json", "x"], "x: --export-json and --export-csv both write there"),
        (&["numbers.txt"], "unexpected argument"),
    ] {
        let message = refused(&[&["bench"], args].concat(), "");
        assert!(message.contains(said), "{args:?}: {message}");
    }
}

#[test]
fn only_the_requested_variants_are_measured() {
    let columns = |args: &[&str]| {
        let csv = bench(&[&["-d", &device::name(), "--sizes", "64", "--export-csv", "-"], args].concat());
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let method = |row: csv::StringRecord| format!("{} {}", &row[1], &row[2]);
        reader.records().map(Result::unwrap).map(method).skip(2).collect::<Vec<_>>().join(", ")
    };
    let methods = |is_asked: fn(Algorithm, Variant) -> bool| {
        let mut methods = Vec::new();
        for algorithm in Algorithm::ALL {
            let asked = algorithm.variants().iter().filter(|&&variant| is_asked(algorithm, variant));
            methods.extend(asked.map(|variant| format!("{algorithm} {variant}")));
        }
        methods.join(", ")
    };
    let is_default = |algorithm: Algorithm, variant| {
        variant == plan::default_variant(algorithm, &device::gpu().info().limits)
    };
    assert_eq!(columns(&[]), methods(is_default));
    assert_eq!(columns(&["-a", "all,bitonic"]), methods(is_default));
    assert_eq!(columns(&["--variant", "naive"]), methods(|_, variant| variant == Variant::Naive));
    assert_eq!(
        columns(&["--variant", "transpose,block"]),
        methods(|_, variant| variant == Variant::Transpose || variant == Variant::Block)
    );
    assert_eq!(
        columns(&["-a", "bitonic", "--variant", "all"]),
        methods(|algorithm, _| algorithm == Algorithm::Bitonic)
    );
}

#[test]
fn methods_over_the_time_limit_are_skipped_with_a_line() {
    let table = bench(&["-d", "cpu", "--sizes", "64,1M", "--time-limit", "0.5", "-a", "odd-even"]);
    let line =
        table.lines().find(|line| line.contains("odd-even network") && line.contains("skipped: 3 runs"));
    assert!(line.is_some(), "{table}");
    // The rest is on the next lines.
    let text = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(": more than 500 ms; raise --time-limit"), "{table}");
}

#[test]
#[cfg(unix)]
fn an_interrupt_exports_the_results_so_far() {
    let folder = Folder::new();
    let csv = folder.arg("x.csv");
    // A first size that is soon done, and one whose thousand runs take longer than the test would
    // wait.
    let args = ["bench", "-d", "cpu", "--sizes", "64,16M", "--runs", "1000", "--time-limit", "10000"];
    let mut child = gpusort(&[&args[..], &["--export-csv", &csv]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The first size's last line comes when the next has begun.
    assert!(lines.any(|line| line.unwrap().contains("odd-even network")));
    send("-INT", &child);
    assert_eq!(end(&mut child).code(), Some(130));
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(read_all(child.stderr.take().unwrap()), "");
    let rows = csv::Reader::from_path(&csv).unwrap().into_records().map(Result::unwrap).count();
    assert!(rows >= on_cpu(), "the results of the first size are exported: {rows}, {rest:?}");
    assert_eq!(folder.names(), ["x.csv"]);
}

#[test]
fn a_closed_pipe_ends_a_bench_quietly() {
    let mut child = gpusort(&few_runs(&["-d", "cpu", "--sizes", "16..4K"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    assert!(first.starts_with("gpusort "), "{first}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn progress_names_what_is_measured() {
    let args = ["-d", "cpu", "--sizes", "4K", "-a", "odd-even", "--time-limit", "1000000"];
    let output = gpusort(&[&["bench", "--progress", "always"], &args[..]].concat()).output().unwrap();
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(said.contains("4,096 u32 uniform, odd-even network") && said.contains("/17 runs"), "{said}");
    let quiet = gpusort(&["bench", "-d", "cpu", "--sizes", "16", "-q"]).output().unwrap();
    assert_eq!(stderr(&quiet), "");
}
