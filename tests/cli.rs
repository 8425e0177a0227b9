//! The real binary, as a person or a script runs it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use gpusort::key::ElementType;
use serde_json::Value;

use crate::device;
use crate::inputs::{elements, random};
use crate::oracle::compare;

/// The command with these arguments, in an environment without defaults of its own.
pub fn gpusort(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpusort"));
    for default in ["DEVICE", "ALGO", "TIMING", "PROGRESS", "MEMORY", "TEMP_DIR"] {
        command.env_remove(format!("GPUSORT_{default}"));
    }
    // Nor with signals that whoever runs the tests ignores, as a shell does for what is in its background.
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // SAFETY: `signal` may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            })
        };
    }
    // Nor with costs that were measured here.
    command.env("XDG_CONFIG_HOME", "/nowhere").args(args);
    command
}

/// Runs it with this on standard input.
pub fn run_with(mut command: Command, stdin: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may refuse its options without reading.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().unwrap()
    })
}

pub fn run(args: &[&str], stdin: &str) -> Output {
    run_with(gpusort(args), stdin.as_bytes())
}

/// Standard output of a run that must succeed.
pub fn sorted(args: &[&str], stdin: &str) -> String {
    let output = run(args, stdin);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run that must be refused: exit 2, nothing on standard output, a message on stderr.
pub fn refused(args: &[&str], stdin: &str) -> String {
    let output = run(args, stdin);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(!message.is_empty(), "{args:?}");
    message
}

/// A folder of its own for a test, and paths in it as arguments.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn arg(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.arg(name)
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name).to_str().unwrap().to_owned()
}

fn shuffled_lines(n: usize) -> String {
    let mut numbers: Vec<(u64, usize)> = random(n as u64).take(n).zip(1..).collect();
    numbers.sort_unstable();
    numbers.iter().map(|(_, number)| format!("{number}\n")).collect()
}

fn lines_to(n: usize) -> String {
    (1..=n).map(|number| format!("{number}\n")).collect()
}

#[test]
fn fixtures_sort_as_expected() {
    let read = |name: &str| fs::read(fixture(name)).unwrap();
    for args in [
        &["-d", "cpu"][..],
        &["-d", "cpu", "-a", "bitonic"],
        &["-d", "cpu", "-a", "odd-even"],
        &["-d", &device::name(), "-a", "bitonic"],
        &["-d", &device::name(), "-a", "odd-even"],
    ] {
        for (input, expected, more) in [
            ("elevations.txt", "elevations.sorted.txt", &[][..]),
            ("constants.txt", "constants.sorted.txt", &[]),
            ("specials.f32", "specials.sorted.f32", &[]),
            ("specials.f32", "specials.reversed.f32", &["-r"]),
            ("sales.csv", "sales.sorted.csv", &["-k", "price", "-k", "id:r"]),
        ] {
            let mut command = gpusort(&["sort", &fixture(input)]);
            let output = run_with(
                {
                    command.args(args).args(more);
                    command
                },
                b"",
            );
            assert!(output.status.success(), "{}", stderr(&output));
            assert!(output.stdout == read(expected), "{input} {args:?}");
        }
    }
}

#[test]
fn a_pipeline_of_a_hundred_thousand() {
    let (input, expected) = (shuffled_lines(100_000), lines_to(100_000));
    for args in [
        &["sort"][..],
        &["sort", "-a", "bitonic"],
        &["sort", "-a", "bitonic", "-d", &device::name()],
        &["sort", "-ng", "-"],
    ] {
        assert!(sorted(args, &input) == expected, "{args:?}");
    }
}

#[test]
fn spelling_order_and_directions() {
    let input = "3\nnan\n-0\n0\n-inf\n1e3\n007\n";
    assert_eq!(sorted(&["sort"], input), "-inf\n-0\n0\n3\n007\n1e3\nnan\n");
    assert_eq!(sorted(&["sort", "-r"], input), "1e3\n007\n3\n0\n-0\n-inf\nnan\n");
    assert_eq!(
        sorted(&["sort", "-a", "bitonic", "-d", &device::name()], input),
        "-inf\n-0\n0\n3\n007\n1e3\nnan\n"
    );
}

#[test]
fn nothing_in_nothing_out() {
    assert_eq!(sorted(&["sort"], ""), "");
    assert_eq!(sorted(&["sort", "-a", "bitonic", "-d", &device::name()], ""), "");
    assert_eq!(sorted(&["sort", "-f", "bin"], ""), "");
    assert_eq!(sorted(&["sort"], "7"), "7\n");
}

#[test]
fn binary_of_every_type_both_ways_and_in_place() {
    let folder = Folder::new();
    for element in ElementType::ALL {
        for descending in [false, true] {
            let bits = elements(element, 5000, 0);
            let bytes = |bits: &[u64]| -> Vec<u8> {
                bits.iter().flat_map(|word| word.to_le_bytes()[..element.bytes()].to_vec()).collect()
            };
            let name = format!("a.{element}");
            let file = folder.write(&name, bytes(&bits));
            let mut args = vec!["sort", &file, "-o", &file];
            if descending {
                args.push("-r");
            }
            let timing = sorted(&args, "");
            assert!(timing.contains(&format!("5,000 {element}")), "{timing}");
            let mut expected = bits;
            expected.sort_by(|&a, &b| compare(element, descending, a, b));
            assert!(fs::read(&file).unwrap() == bytes(&expected), "{element} {descending}");
        }
    }
    assert_eq!(folder.names().len(), 6, "no temporary file is left");
}

#[test]
fn types_of_binary_files() {
    let folder = Folder::new();
    let bin = folder.write("a.bin", 7_u32.to_le_bytes());
    let floats = folder.write("a.f32", 7_f32.to_le_bytes());
    let doubles = folder.write("a.f64", 7_f64.to_le_bytes());
    assert_eq!(sorted(&["sort", "--to", "text", &bin], ""), "7\n");
    assert_eq!(sorted(&["sort", "--to", "text", "-t", "f32", &floats], ""), "7\n");
    assert_eq!(sorted(&["sort", "--to", "text", &doubles], ""), "7\n");
    let output = run(&["sort", &bin], "");
    assert!(stderr(&output).contains("u32 (assumed)"), "{}", stderr(&output));
    assert!(refused(&["sort", &floats, &doubles], "").contains("--type"));
    assert!(refused(&["sort", &floats, "-"], "").contains("--from"));
    // A type given by hand wins over the extension.
    assert_eq!(sorted(&["sort", "--to", "text", "-t", "u32", &floats], ""), format!("{}\n", 7_f32.to_bits()));
}

#[test]
fn formats_are_converted() {
    let folder = Folder::new();
    let out = folder.arg("out.i32");
    sorted(&["sort", "-o", &out], "5\n-1\n");
    assert_eq!(fs::read(&out).unwrap(), [(-1_i32).to_le_bytes(), 5_i32.to_le_bytes()].concat());
    assert_eq!(sorted(&["sort", &out, "--to", "text", "-r"], ""), "5\n-1\n");
    // The data is not what the extension promises.
    assert!(refused(&["sort", "-o", &folder.arg("x.f64")], "1\n").contains("u32, not f64"));
    assert_eq!(folder.names(), ["out.i32"]);
    let output = run(&["sort", "--to", "bin"], "2 1");
    assert_eq!(output.stdout, [1_u32.to_le_bytes(), 2_u32.to_le_bytes()].concat());
}

#[test]
fn several_files_sort_as_one() {
    let folder = Folder::new();
    // Without an end of line, numbers of two files must not run together.
    let (a, b) = (folder.write("a", "3\n1"), folder.write("b", "\u{feff}2"));
    assert_eq!(sorted(&["sort", &a, &b, "-"], "0"), "0\n1\n2\n3\n");
    let bad = folder.write("bad", "\u{feff}5\nx");
    assert!(refused(&["sort", &a, &bad], "").contains("bad:2:1: 'x'"));
}

#[test]
fn wrong_input_is_refused() {
    let folder = Folder::new();
    let forty = "9".repeat(40);
    assert!(refused(&["sort"], "1\n2\n3x\n").contains("standard input:3:1: '3x' is not a number"));
    assert!(refused(&["sort"], &forty).contains("standard input:1:1"));
    assert!(refused(&["sort"], "-1\n18446744073709551615\n").contains("no integer type holds both"));
    assert!(refused(&["sort", "-t", "u32"], "-1").contains("standard input:1:1: '-1'"));
    let five = folder.write("five.bin", "12345");
    assert!(refused(&["sort", &five], "").contains("five.bin: 5 bytes"));
    assert!(refused(&["sort", &folder.arg("missing")], "").contains("missing: cannot open: No such file"));
    assert!(refused(&["sort", &folder.arg("")], "").contains("is a directory"));
    assert!(refused(&["sort", "-o", &folder.arg("no/such/folder")], "1").contains("there is no folder"));
    assert!(refused(&["sort", "-o", &folder.arg("")], "1").contains("is a directory"));
    assert_eq!(folder.names(), ["five.bin"]);
}

#[test]
fn wrong_options_are_refused() {
    for (args, expected) in [
        (&["sort", "--no-such-option"][..], "--no-such-option"),
        (&["sort", "-a", "quick"], "bitonic"),
        (&["sort", "-t", "u128"], "u64"),
        (&["sort", "-d", "no such device", "-a", "bitonic"], "no such device"),
        (&["sort", "-d", "99"], "99"),
        (&["sort", "-d", ""], "--device"),
        (&["sort", "--variant", "naive"], "--algo"),
        (&["sort", "-a", "odd-even", "--variant", "local-global"], "it has"),
        (&["sort", "--to", "csv"], "no table"),
        (&["sort", "-f", "csv", "--to", "tsv"], "--to csv"),
        (&["sort", "-f", "csv", "-o", "x.u32"], "rows come out as they are"),
        (&["sort", "-f", "csv", "--argsort", "--to", "csv"], "positions are no table"),
        (&["sort", "-f", "csv", "--timing", "stdout"], "-o"),
        (&["sort", "-k", "1"], "--from csv"),
        (&["sort", "--empty", "first"], "--empty is for tables"),
        (&["sort", "-f", "csv", "--delimiter", "ab"], "not one ASCII character"),
        (&["sort", "-f", "csv", "--delimiter", "\""], "something else"),
        (&["sort", "-t", "f16"], "--type f16 is for binary"),
        (&["sort", "x.csv"], "x.csv: cannot open"),
        (&["sort", "x.npy"], "x.npy: cannot open"),
        (&["sort", "x.f16"], "x.f16: cannot open"),
        (&["sort", "a.csv", "b.tsv"], "a.csv is csv and b.tsv is tsv"),
        (&["sort", "--to", "bin", "--timing", "stdout"], "-o"),
        (&["sort", "a", "b.bin"], "--from"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let message = refused(args, "1\n");
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

#[test]
fn a_machine_without_a_gpu() {
    // No driver at all, as on a machine without a Vulkan loader's drivers.
    let without = |args: &[&str]| {
        let mut command = gpusort(args);
        command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
        run_with(command, b"2\n1\n")
    };
    for (args, note) in [
        (&["sort"][..], None),
        (&["sort", "-a", "bitonic"], Some("the bitonic network runs on the CPU")),
        (&["sort", "-a", "odd-even"], Some("the odd-even network runs on the CPU")),
        (&["sort", "-a", "bitonic", "--variant", "local-global"], Some("the bitonic network")),
    ] {
        let output = without(args);
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
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("CPU"));
}

#[test]
fn devices_are_listed_with_their_limits() {
    let list = sorted(&["devices"], "");
    assert!(list.contains(&device::gpu().info().name), "{list}");
    for word in ["vulkan", "binding", "workgroup memory", "subgroup", "cpu"] {
        assert!(list.contains(word), "{list}");
    }
}

#[test]
fn json_has_every_field() {
    let output = run(&["sort", "--json", "-a", "bitonic", "-d", &device::name()], "3\n1\n2\n");
    let timing: Value =
        serde_json::from_str(&stderr(&output)).unwrap_or_else(|why| panic!("{why}: {}", stderr(&output)));
    for field in [
        "n",
        "bytes",
        "type",
        "algo",
        "variant",
        "device",
        "dispatches",
        "bytes_moved",
        "clock",
        "ms",
        "keys_per_s",
        "why",
    ] {
        assert!(!timing[field].is_null(), "{field}");
    }
    for field in ["name", "backend", "kind"] {
        assert!(timing["device"][field].is_string(), "{field}");
    }
    for field in ["read", "parse", "device", "upload", "sort", "download", "write", "total"] {
        assert!(timing["ms"][field].is_number(), "{field}");
    }
    assert_eq!((&timing["n"], &timing["bytes"], &timing["type"]), (&3.into(), &6.into(), &"u32".into()));
    assert_eq!((&timing["algo"], &timing["dispatches"]), (&"bitonic".into(), &1.into()));
    let cpu: Value = serde_json::from_str(&stderr(&run(&["sort", "--json"], "1"))).unwrap();
    assert_eq!(
        (&cpu["algo"], &cpu["device"]["kind"], &cpu["clock"]),
        (&"cpu".into(), &"cpu".into(), &"host".into())
    );
}

#[test]
fn the_timing_goes_where_it_should() {
    let folder = Folder::new();
    let out = folder.arg("out");
    // Data piped: the timing is on stderr, and the pipe is clean.
    let output = run(&["sort"], "1\n");
    assert_eq!((&output.stdout[..], stderr(&output).starts_with("sorted 1 u32")), (&b"1\n"[..], true));
    // Data in a file: it is on standard output.
    let output = run(&["sort", "-o", &out], "1\n");
    assert!(output.stdout.starts_with(b"sorted 1 u32") && stderr(&output).is_empty());
    let output = run(&["sort", "--timing", "stdout"], "1\n");
    assert!(output.stdout.starts_with(b"1\n# sorted 1 u32") && stderr(&output).is_empty());
    for args in [
        &["sort", "--timing", "off"][..],
        &["sort", "-q"],
        &["sort", "-q", "-o", &out],
        &["sort", "--json", "--timing", "off"],
    ] {
        assert_eq!(stderr(&run(args, "1\n")), "", "{args:?}");
    }
    assert!(stderr(&run(&["sort", "-q", "--timing", "stderr"], "1\n")).starts_with("sorted"));
    assert!(stderr(&run(&["sort", "-q", "--json"], "1\n")).starts_with('{'));
    let mut command = gpusort(&["sort"]);
    command.env("GPUSORT_TIMING", "off");
    assert_eq!(stderr(&run_with(command, b"1\n")), "");
}

#[test]
fn defaults_come_from_the_environment_and_yield_to_flags() {
    let with = |args: &[&str]| {
        let mut command = gpusort(args);
        command.env("GPUSORT_DEVICE", "cpu").env("GPUSORT_ALGO", "odd-even");
        let output = run_with(command, b"2\n1\n");
        assert_eq!(output.stdout, b"1\n2\n");
        stderr(&output)
    };
    assert!(with(&["sort"]).contains("odd-even network"));
    assert!(with(&["sort", "-a", "bitonic"]).contains("bitonic network"));
}

#[test]
fn help_teaches() {
    let help = sorted(&["sort", "--help"], "");
    for word in ["Examples:", "Order:", "NaN", "Exit codes:", "--variant", "local-global", "GPUSORT_DEVICE"] {
        assert!(help.contains(word), "{word}");
    }
    assert!(sorted(&["--help"], "").contains("Examples:"));
    assert!(sorted(&["--version"], "").starts_with("gpusort "));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let input = shuffled_lines(2_000_000);
    let folder = Folder::new();
    let file = folder.write("big.txt", input);
    let mut child =
        gpusort(&["sort", &file, "-q"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 2];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((first, output.status.code(), stderr(&output)), (*b"1\n", Some(0), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let output = gpusort(&["sort", &fixture("elevations.txt")]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("standard output: cannot write: No space left"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_leaves_the_old_file_whole() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", shuffled_lines(100_000)), folder.write("out", "old\n"));
    // A limit on file sizes fails a write like a full disk does, and needs no rights to set up.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_gpusort"), "sort", &input, "-o", &out])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("out: cannot write"), "{}", stderr(&output));
    assert_eq!(fs::read(&out).unwrap(), b"old\n");
    assert_eq!(folder.names(), ["in", "out"]);
}

#[cfg(unix)]
#[test]
fn output_files_keep_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = Folder::new();
    let target = folder.write("target", "old\n");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("target", folder.path("link")).unwrap();
    symlink("nothing yet", folder.path("dangling")).unwrap();

    sorted(&["sort", "-o", &folder.arg("link")], "2\n1\n");
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap(), b"1\n2\n");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o640);

    sorted(&["sort", "-o", &folder.arg("dangling")], "1\n");
    assert!(fs::symlink_metadata(folder.path("dangling")).unwrap().is_symlink());
    assert_eq!(fs::read(folder.path("nothing yet")).unwrap(), b"1\n");

    sorted(&["sort", "-o", "/dev/null"], "1\n");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    // A new file has the mode that any program's would have.
    let plain = folder.write("plain", "");
    sorted(&["sort", "-o", &folder.arg("new")], "1\n");
    let mode = |name: &Path| fs::metadata(name).unwrap().permissions().mode();
    assert_eq!(mode(&folder.path("new")), mode(Path::new(&plain)));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_written_through() {
    let folder = Folder::new();
    let pipe = folder.arg("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    sorted(&["sort", "-o", &pipe], "2\n1\n");
    assert_eq!(reader.join().unwrap(), b"1\n2\n");
    assert_eq!(folder.names(), ["pipe"]);
}

#[cfg(target_os = "linux")]
#[test]
fn descriptors_are_written_through() {
    let folder = Folder::new();
    let (input, log) = (folder.write("in", "2\n1\n"), folder.write("log", "keep\n"));
    // What standard output is redirected to belongs to the shell: it is not replaced.
    for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let open = fs::File::options().append(true).open(&log).unwrap();
        let output = gpusort(&["sort", &input, "-q", "-o", path]).stdout(open).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(fs::read(&log).unwrap(), b"keep\n1\n2\n1\n2\n1\n2\n");
    // The timing keeps out of the data there as it does for standard output.
    let output = run(&["sort", &input, "-o", "/dev/stdout"], "");
    assert_eq!((&output.stdout[..], stderr(&output).starts_with("sorted")), (&b"1\n2\n"[..], true));
    // One that cannot be written to is an error, not silence.
    let readable = fs::File::open("/dev/null").unwrap();
    let output = gpusort(&["sort", &input]).stdout(readable).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(folder.names(), ["in", "log"]);
}

#[test]
fn extensions_of_the_output() {
    let folder = Folder::new();
    let (binary, text) = (folder.write("a.i32", (-7_i32).to_le_bytes()), folder.arg("out.txt"));
    sorted(&["sort", &binary, "-o", &text], "");
    assert_eq!(fs::read(&text).unwrap(), b"-7\n");
    // Nothing has no type that could be wrong.
    let empty = folder.arg("empty.f64");
    sorted(&["sort", "-o", &empty], "");
    assert_eq!(fs::read(&empty).unwrap(), b"");
    assert!(refused(&["sort", "-o", &folder.arg("no/")], "1").contains("names a folder"));
}

#[test]
fn habits_from_other_tools() {
    assert_eq!(sorted(&["sort", "-n", "-n", "-rr", "-d", "cpu", "-d", "auto"], "1 2"), "2\n1\n");
    // An empty default is none; a default of the environment is not asked for.
    let with = |args: &[&str], name: &str, value: &str| {
        let mut command = gpusort(args);
        command.env(name, value);
        let output = run_with(command, b"1\n");
        assert!(output.status.success(), "{name}={value}: {}", stderr(&output));
        stderr(&output)
    };
    for name in ["GPUSORT_ALGO", "GPUSORT_DEVICE", "GPUSORT_TIMING", "GPUSORT_PROGRESS"] {
        with(&["sort"], name, "");
    }
    assert_eq!(with(&["sort", "-q"], "GPUSORT_TIMING", "stderr"), "");
    assert_eq!(with(&["sort", "-q"], "GPUSORT_PROGRESS", "always"), "");
    assert!(with(&["sort", "--to", "bin"], "GPUSORT_TIMING", "stdout").starts_with("sorted"));
}

#[cfg(unix)]
#[test]
fn ignored_signals_stay_ignored() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", shuffled_lines(40_000)), folder.arg("out"));
    let script = "trap '' HUP; exec \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_gpusort")])
        .args(["sort", &input, "-q", "-a", "odd-even", "-d", "cpu", "-o", &out])
        .spawn()
        .unwrap();
    assert!(wait_for_temporary(&folder, &mut child, |_| true));
    Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(fs::read_to_string(&out).unwrap() == lines_to(40_000));
}

/// Waits until the process has a new file in the folder, under a name or without one, that `is_due` by its length.
#[cfg(unix)]
pub fn wait_for_temporary(folder: &Folder, child: &mut Child, is_due: impl Fn(u64) -> bool) -> bool {
    let start = Instant::now();
    let is_new = |path: PathBuf| {
        let name = fs::read_link(&path).unwrap_or(path.clone());
        let is_new =
            name.to_string_lossy().contains(".gpusort-") || name.to_string_lossy().contains(" (deleted)");
        is_new && name.starts_with(folder.0.path()) && fs::metadata(path).is_ok_and(|file| is_due(file.len()))
    };
    let files =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    while start.elapsed() < Duration::from_secs(60) {
        let open = files(format!("/proc/{}/fd", child.id()).into());
        if open.chain(files(folder.0.path().to_owned())).any(is_new) {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
    }
    panic!("no temporary file in a minute");
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", shuffled_lines(300_000)), folder.write("out", "old\n"));
    for signal in ["-INT", "-TERM"] {
        // Brick sort of so many takes many seconds, all of them with the temporary file there.
        let mut child =
            gpusort(&["sort", &input, "-o", &out, "-q", "-a", "odd-even", "-d", "cpu"]).spawn().unwrap();
        assert!(wait_for_temporary(&folder, &mut child, |_| true));
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(fs::read(&out).unwrap(), b"old\n");
        assert_eq!(folder.names(), ["in", "out"]);
    }
}

#[cfg(unix)]
#[test]
fn a_kill_during_the_write_leaves_the_old_file_whole() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in", shuffled_lines(3_000_000)), folder.write("out", "old\n"));
    for _ in 0..20 {
        let mut child = gpusort(&["sort", &input, "-o", &out, "-q"]).spawn().unwrap();
        if wait_for_temporary(&folder, &mut child, |bytes| bytes > 0) {
            child.kill().unwrap();
            if child.wait().unwrap().code().is_none() {
                assert_eq!(fs::read(&out).unwrap(), b"old\n");
                return;
            }
        }
        // It was done before it could be killed: once more.
        fs::write(&out, "old\n").unwrap();
    }
    panic!("no kill came during a write");
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_binary_is_text_and_the_timing_is_a_comment() {
    let folder = Folder::new();
    let file = folder.write("a.u32", [7_u32.to_le_bytes(), 5_u32.to_le_bytes()].concat());
    // `script` gives it a terminal.
    let command = format!("{} sort {file}", env!("CARGO_BIN_EXE_gpusort"));
    let output =
        Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    assert!(output.status.success() && shown.starts_with("5\n7\n# sorted 2 u32"), "{shown}");
}

#[test]
fn progress_is_shown_when_asked_for() {
    let input = shuffled_lines(60_000);
    let output =
        run(&["sort", "-a", "odd-even", "-d", "cpu", "--progress", "always", "--timing", "off"], &input);
    assert!(stderr(&output).contains("passes"), "{}", stderr(&output));
    assert!(String::from_utf8(output.stdout).unwrap() == lines_to(60_000));
    let output = run(&["sort", "-a", "odd-even", "-d", "cpu", "--timing", "off"], &input);
    assert_eq!(stderr(&output), "", "none where stderr is no terminal");
}

#[test]
fn gen_makes_what_sort_reads() {
    let output = run(&["gen", "--count", "2000", "-t", "f32", "--dist", "zipf"], "");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 2000);
    let mut numbers: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    let expected: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    assert_eq!(sorted(&["sort", "-q"], &text), expected);

    // The same numbers in binary, by the output's name.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("zipf.f32");
    let made = run(&["gen", "--count", "2000", "--dist", "zipf", "-o", file.to_str().unwrap()], "");
    assert!(made.status.success() && made.stdout.is_empty(), "{}", stderr(&made));
    let floats: Vec<f32> = fs::read(&file)
        .unwrap()
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert!(text.lines().map(|line| line.parse::<f32>().unwrap()).eq(floats));
}

#[test]
fn gen_has_defaults_and_refuses_what_makes_no_sense() {
    let bytes = |args: &[&str]| run(args, "").stdout;
    let named = ["gen", "--count", "1K", "-t", "u32", "--dist", "uniform", "--seed", "1", "--to", "bin"];
    assert_eq!(bytes(&["gen", "--count", "1_024", "--to", "bin"]), bytes(&named));
    assert_eq!(bytes(&named).len(), 4096);
    assert_eq!(bytes(&["gen", "--to", "bin"]).len(), 4 << 20, "a million");
    assert!(run(&["gen", "--count", "0"], "").stdout.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.f64");
    let file = file.to_str().unwrap();
    assert!(run(&["gen", "--count", "3", "--to", "bin", "-o", file], "").status.success());
    assert_eq!(fs::read(file).unwrap().len(), 24, "the type by the name, whatever the format");
    assert!(refused(&["gen", "--count", "1.5M"], "").contains("'1.5M' is not a size"));
    assert!(refused(&["gen", "--dist", "normal"], "").contains("few-distinct"));
    assert!(refused(&["gen", "-t", "u64", "-o", "x.f32"], "").contains("x.f32: f32 by its name"));
    assert!(refused(&["gen", "-o", "x.csv"], "").contains("numbers make no table"));
    assert!(refused(&["gen", "-o", "/no/such/folder/x"], "").contains("no folder"));
    assert!(!Path::new("x.f32").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn gen_takes_no_more_memory_for_more_numbers() {
    let mut child =
        gpusort(&["gen", "--count", "128M", "--to", "bin"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdout.take().unwrap();
    let mut block = vec![0; 1 << 20];
    for _ in 0..500 {
        std::io::Read::read_exact(&mut pipe, &mut block).unwrap();
    }
    // Twelve MiB are yet to come: it cannot have ended.
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 100 << 10, "{kilobytes} kB for 512 MiB");
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut pipe, &mut rest).unwrap();
    assert_eq!(rest.len(), 12 << 20);
    assert!(child.wait().unwrap().success());
}

#[test]
fn each_file_is_sorted_on_its_own() {
    let folder = Folder::new();
    let text = folder.write("a.txt", "3\n01\n2\n");
    let other = folder.write("b.txt", "2.5\n-1\n");
    let words = elements(ElementType::I64, 1000, 8);
    let binary: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let binary = folder.write("c.i64", binary);
    let mut expected = words;
    expected.sort_by(|&a, &b| compare(ElementType::I64, false, a, b));
    let expected: Vec<u8> = expected.iter().flat_map(|word| word.to_le_bytes()).collect();

    let before = fs::read(&text).unwrap();
    for device in ["cpu", &device::name()] {
        let out = folder.arg(&format!("out-{device}"));
        let args = ["sort", "--each", "-a", "bitonic", "-d", device, &text, &other, &binary, "-o", &out];
        let told = sorted(&args, "");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 3, "{told}");
        assert!(lines[0].starts_with(&format!("{text}: sorted 3 u32")), "{told}");
        let read = |name: &str| fs::read(Path::new(&out).join(name)).unwrap();
        assert_eq!(read("a.txt"), b"01\n2\n3\n");
        assert_eq!(read("b.txt"), b"-1\n2.5\n");
        assert_eq!(read("c.i64"), expected);
        assert_eq!(fs::read(&text).unwrap(), before, "inputs stay as they are");
    }

    // In place, one of them wrong: it stays as it is, and the others are sorted.
    let wrong = folder.write("wrong.txt", "2\nx\n1\n");
    let output = run(&["sort", "--each", "--in-place", "--json", &text, &wrong, &binary], "");
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains(&format!("{wrong}:2:1: 'x' is not a number")), "{message}");
    assert!(message.contains("1 of 3 files not sorted"), "{message}");
    let told = String::from_utf8(output.stdout).unwrap();
    let files: Vec<String> = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["file"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, [text.clone(), binary.clone()]);
    assert_eq!(fs::read(&wrong).unwrap(), b"2\nx\n1\n");
    assert_eq!(fs::read(&text).unwrap(), b"01\n2\n3\n");
    assert_eq!(fs::read(&binary).unwrap(), expected);
    assert!(!folder.names().iter().any(|name| name.starts_with(".gpusort")), "no temporary is left");
}

#[test]
fn each_refuses_what_would_lose_a_file() {
    let folder = Folder::new();
    let file = folder.write("x.txt", "2\n1\n");
    fs::create_dir(folder.path("sub")).unwrap();
    let same = folder.write("sub/x.txt", "2\n1\n");
    let out = folder.arg("out");
    let here = folder.0.path().to_str().unwrap().to_owned();
    for (args, said) in [
        (&["--each", &file][..], "--each needs --in-place"),
        (&["--each", "-o", &out], "--each needs files"),
        (&["--each", &file, "-", "-o", &out], "--each sorts files"),
        (&["--each", &file, &same, "-o", &out], "would both become"),
        (&["--each", &file, &file, "--in-place"], "would both become"),
        (&["--each", &file, "-o", &here], "--in-place sorts it there"),
        (&["--each", &file, "-o", &file], "-o names a folder"),
        (&["--each", &file, "-o", &out, "--to", "bin"], "keeps a file's format"),
        (&["--in-place", &file], "--each"),
    ] {
        let message = refused(&[&["sort"], args].concat(), "");
        assert!(message.contains(said), "{args:?}: {message}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"2\n1\n");
    assert_eq!(folder.names(), ["sub", "x.txt"], "nothing was made");
}

/// The most memory that a sort of this file had, by the size of the file: it is looked at when all but the last of the
/// output was read.
#[cfg(target_os = "linux")]
fn peak_memory(file: &str, options: &[&str]) -> f64 {
    let size = fs::metadata(file).unwrap().len();
    let mut child = gpusort(&[&["sort", "-q", "-d", "cpu", file], options].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdout.take().unwrap();
    // More than a pipe holds is yet to come, so it cannot have ended.
    let mut most = vec![0; size as usize - (1 << 21)];
    std::io::Read::read_exact(&mut pipe, &mut most).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    std::io::copy(&mut pipe, &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
    kilobytes as f64 * 1024.0 / size as f64
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_what_it_was_measured_to_be() {
    let folder = Folder::new();
    for (name, count, element, key, most) in [
        ("integers.txt", "4M", "i32", None, 1.5),
        ("floats.txt", "4M", "f64", None, 3.0),
        ("table.csv", "1M", "f64", Some("x"), 3.0),
        ("words.u32", "32M", "u32", None, 2.2),
        ("floats.f64", "16M", "f64", None, 2.2),
    ] {
        let file = folder.arg(name);
        if key.is_some() {
            let numbers = sorted(&["gen", "-q", "-c", count, "-t", element], "");
            let rows = numbers
                .lines()
                .enumerate()
                .map(|(row, number)| format!("{row},row {row} of many,{number}\n"));
            fs::write(&file, "id,name,x\n".to_owned() + &rows.collect::<String>()).unwrap();
        } else {
            sorted(&["gen", "-q", "-c", count, "-t", element, "-o", &file], "");
        }
        let peak = peak_memory(&file, if key.is_some() { &["-k", "x"] } else { &[] });
        // It cannot be less than one of the things that have to be there.
        assert!(peak > 0.2 && peak <= most, "{name}: {peak} times its size");
    }
}
