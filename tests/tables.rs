//! Tables, .npy files, small types, unique records, the first few, positions, checks and merges: beside an oracle in
//! Python, written independently, and as a person runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpusort::io::binary::{self, Source};
use gpusort::io::csv::{self, By, Dialect};
use gpusort::io::records::write_text;
use gpusort::io::{Direction, Input, Place, Rules, Text};
use gpusort::key::{ElementType, KeysRef, Order, Pieces};
use gpusort::{Method, Sorter, Wanted};
use proptest::prelude::*;

use crate::cli::{Folder, gpusort, refused, run, run_with, sorted, stderr};
use crate::device;
use crate::inputs::{elements, random};
use crate::oracle::compare;

/// Python with what the oracle needs.
fn python(script: &str, args: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = root.join("target/oracle/bin/python");
    let python = std::env::var_os("GPUSORT_PYTHON").map_or(own, PathBuf::from);
    let mut command = Command::new(&python);
    command.arg("-B").arg(root.join("tests/tables").join(script)).args(args);
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| {
        panic!(
            "{}: {error}\n(sh tests/run.sh puts Python with pandas there; GPUSORT_PYTHON names another one)",
            python.display()
        )
    });
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{script} {args:?}: {}", said.concat());
}

const BINARY: &str = env!("CARGO_BIN_EXE_gpusort");

#[test]
fn the_oracle_fails_where_it_must() {
    python("selftest.py", &[]);
}

#[test]
fn tables_and_arrays_come_out_as_the_oracle_says() {
    python("run.py", &[BINARY, "--cases", "10000", "--extra", "-d cpu -q"]);
}

#[test]
fn the_gpu_gives_the_same_bytes_as_the_cpu() {
    let device = format!("-d {}", device::name());
    python(
        "run.py",
        &[BINARY, "--cases", "100", "--seed", "2", "--extra", "-d cpu -q", "--compare", &device],
    );
}

/// As many of the oracle's cases as `GPUSORT_CASES` says, in one process, which starts its device once.
#[test]
fn the_gpu_orders_tables_and_arrays_as_the_oracle_says() {
    let folder = tempfile::tempdir().unwrap();
    let cases = std::env::var("GPUSORT_CASES").unwrap_or_else(|_| "1000".to_owned());
    python("run.py", &[BINARY, "--cases", &cases, "--write", folder.path().to_str().unwrap()]);
    let sorter = Sorter::gpu(device::start());
    let mut done = 0;
    for case in fs::read_dir(folder.path()).unwrap() {
        let case = case.unwrap().path();
        let expected = fs::read(case.join("expected")).unwrap();
        let what: serde_json::Value =
            serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap();
        let found = order_on(&sorter, &case, &what);
        assert!(found == expected, "case {}: {what}", case.file_name().unwrap().display());
        done += 1;
    }
    assert!(done > cases.parse::<usize>().unwrap() / 2, "{done} cases");
    println!("{done} cases as expected");
}

/// What a case makes of its files, by the library.
fn order_on(sorter: &Sorter, folder: &Path, what: &serde_json::Value) -> Vec<u8> {
    let flag = |name: &str| what[name].as_bool().unwrap();
    let place = |name: &str| match what[name].as_str().unwrap() {
        "first" => Place::First,
        "last" => Place::Last,
        "skip" => Place::Skip,
        _ => Place::Error,
    };
    let strings = |name: &str| {
        let values = what[name].as_array().unwrap().iter();
        values.map(|value| value.as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let inputs: Vec<Input> = strings("files").iter().map(|name| Input::File(folder.join(name))).collect();
    let wanted = Wanted { unique: flag("unique"), top: what["top"].as_u64().map(|top| top as usize) };
    let (method, none) = (Method::default(), &mut |_, _| {});
    let mut out = Vec::new();
    let rules = Rules { nan: place("nan"), empty: place("empty"), invalid: place("invalid") };
    let descending = flag("reverse");
    let positions = |rows: Vec<u32>, out: &mut Vec<u8>| {
        let (keys, order) = (KeysRef::One(&rows), Order::ascending(ElementType::U32));
        if flag("table") || flag("to_text") {
            write_text(keys, order, out, |_| {}).unwrap();
        } else {
            binary::write(keys, order, out, |_| {}).unwrap();
        }
    };
    if flag("table") {
        let text = Text::read(&inputs, |_| {}).unwrap();
        let dialect =
            Dialect { delimiter: what["delimiter"].as_u64().unwrap() as u8, header: flag("header") };
        let element = what["type"].as_str().unwrap().parse().ok();
        let by = By { columns: strings("keys"), descending, element, rules };
        let (table, words) = csv::read(text, dialect, &by).unwrap();
        let rows = sorter.rank(words, wanted, method, none).unwrap().positions;
        if flag("argsort") {
            positions(table.numbers(rows), &mut out);
        } else {
            table.write(&rows, &mut out, |_| {}).unwrap();
        }
        return out;
    }
    let (kind, size) = what["dtype"].as_str().unwrap().trim_start_matches(['<', '>', '|']).split_at(1);
    let element: ElementType = format!("{kind}{}", 8 * size.parse::<u32>().unwrap()).parse().unwrap();
    let source = |input: Input| match input.path().unwrap().extension() {
        Some(npy) if npy == "npy" => Source::npy(input).unwrap(),
        _ => Source::raw(input, element),
    };
    let sources: Vec<Source> = inputs.into_iter().map(source).collect();
    let direction = Direction { descending, nan: rules.nan };
    let order = direction.of(element);
    let mut keys = Pieces::new(element);
    let take = |piece| {
        keys.push(piece);
        Ok(())
    };
    binary::read(&sources, direction, |_| {}, take).unwrap();
    if flag("argsort") {
        positions(sorter.rank(vec![keys], wanted, method, none).unwrap().positions, &mut out);
        return out;
    }
    let (mut keys, _) = match wanted {
        Wanted { unique: false, top: Some(top) } => sorter.top(keys, top, method, none).unwrap(),
        _ => sorter.sort(keys, method, none).unwrap(),
    };
    if wanted.unique {
        keys.dedup();
    }
    keys.truncate(wanted.top.unwrap_or(usize::MAX));
    if flag("to_text") {
        write_text(keys.borrowed(), order, &mut out, |_| {}).unwrap();
    } else {
        binary::write(keys.borrowed(), order, &mut out, |_| {}).unwrap();
    }
    out
}

#[test]
fn nan_does_not_come_between_numbers() {
    let folder = Folder::new();
    let table = folder.write("t.csv", "id,x\n1,3\n2,5\n3,2\n4,2.01\n5,NaN\n6,2\n7,0\n");
    assert_eq!(
        sorted(&["sort", "-q", "-k", "x", &table], ""),
        "id,x\n7,0\n3,2\n6,2\n4,2.01\n1,3\n2,5\n5,NaN\n"
    );
    assert_eq!(
        sorted(&["sort", "-q", "-r", "-k", "x", &table], ""),
        "id,x\n2,5\n1,3\n4,2.01\n3,2\n6,2\n7,0\n5,NaN\n"
    );
}

#[test]
fn rows_come_out_byte_for_byte() {
    let folder = Folder::new();
    let table = folder.write(
        "t.csv",
        "\u{feff}name,\"unit, price\",note\r\n\"a\"\"b\",007,\"two\nlines\"\n  c , 1e0 ,5\" pipe\r\né,\"+5\",",
    );
    let expected = "\u{feff}name,\"unit, price\",note\r\n  c , 1e0 ,5\" pipe\r\né,\"+5\",\r\n\"a\"\"b\",007,\"two\nlines\"\n";
    for device in ["cpu", &device::name()] {
        assert_eq!(sorted(&["sort", "-q", "-d", device, "-k", "unit, price", &table], ""), expected);
    }
    assert_eq!(sorted(&["sort", "-q", "--argsort", "-k", "2", &table], ""), "1\n2\n0\n");

    // Another file under the same header.
    let other = folder.write("u.csv", "name,\"unit, price\",note\nz,2,\n");
    let both = sorted(&["sort", "-q", "-k", "2", &table, &other], "");
    assert_eq!(both, expected.replace("é", "z,2,\né"));
    let third = folder.write("v.csv", "name,price,note\nz,2,\n");
    assert!(refused(&["sort", "-k", "2", &table, &third], "").contains("v.csv:1: has another header than"));
}

#[test]
fn what_is_wrong_with_a_table_is_told_with_its_place() {
    let folder = Folder::new();
    let table = folder.write("t.csv", "id,price\n1,5\n2,n/a\n3,\n4,nan\n5,7\n");
    let told = |args: &[&str]| refused(&[&["sort", "-k", "price"], args, &[table.as_str()]].concat(), "");
    assert!(told(&[]).contains("t.csv:3, column 'price': 'n/a' is not a number; --invalid"));
    assert!(
        told(&["--invalid", "last", "--empty", "error"])
            .contains("t.csv:4, column 'price': nothing is there")
    );
    assert!(
        told(&["--invalid", "last", "--nan", "error"])
            .contains("t.csv:5, column 'price': 'nan' is not allowed")
    );
    assert!(told(&["-t", "u32", "--invalid", "skip"]).contains("'nan' is not an integer from 0"));
    let placed =
        |args: &[&str]| sorted(&[&["sort", "-q", "-k", "price"], args, &[table.as_str()]].concat(), "");
    let last = ["--invalid", "last"];
    assert_eq!(placed(&last), "id,price\n1,5\n5,7\n4,nan\n3,\n2,n/a\n");
    assert_eq!(placed(&[&["-r"], &last[..]].concat()), "id,price\n5,7\n1,5\n4,nan\n3,\n2,n/a\n");
    let first = ["--invalid", "first", "--empty", "first", "--nan", "first"];
    assert_eq!(placed(&first), "id,price\n2,n/a\n3,\n4,nan\n1,5\n5,7\n");
    assert_eq!(placed(&["--invalid", "skip"]), "id,price\n1,5\n5,7\n4,nan\n3,\n");
    let counts = stderr(&run(&["sort", "-k", "price", "--invalid", "skip", &table], ""));
    assert!(counts.contains("; 1 NaN; 1 empty; 1 invalid; 1 row skipped;"), "{counts}");

    let note = "the header is '5', a number; --no-header sorts it too";
    assert!(stderr(&run(&["sort", "-f", "csv"], "5\n3\n1\n")).contains(note));
    assert!(!stderr(&run(&["sort", "-f", "csv", "-k", "5"], "5\n3\n1\n")).contains(note));
    assert!(!stderr(&run(&["sort", "-q", "-f", "csv"], "5\n3\n1\n")).contains(note));
    let missing = refused(&["sort", "-k", "prices", &table], "");
    assert!(missing.contains("t.csv: no column 'prices'; there are 'id', 'price'"), "{missing}");
    assert!(refused(&["sort", &table], "").contains("--key says by which column: 'id', 'price'"));
    let ragged = refused(&["sort", "-f", "csv", "-k", "1"], "a,b\n1,\"x\ny\"\n2\n");
    assert!(ragged.contains("standard input:4: 1 field where the first row has 2"), "{ragged}");
    let unclosed = refused(&["sort", "-f", "csv", "-k", "1"], "a,b\n1,2\n3,\"x\n4,5\n");
    assert!(unclosed.contains("standard input:3: a quote is opened"), "{unclosed}");
    let inexact = refused(&["sort", "-f", "csv"], "x\n9007199254740993\n0.5\n");
    assert!(inexact.contains("standard input:2, column 'x': '9007199254740993'"), "{inexact}");
    let apart = refused(&["sort", "-f", "csv"], "x\n-1\n18446744073709551615\n");
    assert!(apart.contains("no integer type holds both -1 (standard input:2)"), "{apart}");
}

#[test]
fn numbers_are_left_out_and_told_of() {
    let input = "3\n1\n03\n2\n1\n3.0\n";
    assert_eq!(sorted(&["sort", "-q", "-u"], input), "1\n2\n3\n");
    assert_eq!(sorted(&["sort", "-q", "-u"], "3\n1\n3\n2\n1\n"), "1\n2\n3\n");
    assert_eq!(sorted(&["sort", "-q", "-u", "-r", "--top", "2"], input), "3\n2\n");
    assert_eq!(sorted(&["sort", "-q", "--top", "3"], input), "1\n1\n2\n");
    assert_eq!(sorted(&["sort", "-q", "--top", "3"], "3\n1\n2\n0\n"), "0\n1\n2\n");
    assert_eq!(sorted(&["sort", "-q", "--argsort"], input), "1\n4\n3\n0\n2\n5\n");
    assert_eq!(sorted(&["sort", "-q", "--argsort", "-u"], "3\n1\n3\n2\n1\n"), "1\n3\n0\n");
    assert_eq!(sorted(&["sort", "-q", "--top", "0"], input), "");
    let told = stderr(&run(&["sort", "-u", "--top", "2"], input));
    assert!(told.contains("; 3 repeated keys left out; 1 behind the top left out;"), "{told}");
    let told = run(&["sort", "-u", "--json", "--timing", "stderr"], input);
    let json: serde_json::Value = serde_json::from_slice(&told.stderr).unwrap();
    assert_eq!((&json["repeated"], &json["n"]), (&3.into(), &6.into()));

    let folder = Folder::new();
    let (input, output) = (folder.write("in.txt", input), folder.arg("positions.u32"));
    sorted(&["sort", "-q", "--argsort", &input, "-o", &output], "");
    let words: Vec<u8> = [1_u32, 4, 3, 0, 2, 5].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(fs::read(&output).unwrap(), words);
}

/// A .npy file as NumPy would write it, of this byte order.
fn npy(element: ElementType, words: &[u64], big_endian: bool) -> Vec<u8> {
    let (kind, size) = element.name().split_at(1);
    let size: usize = size.parse::<usize>().unwrap() / 8;
    let order = if big_endian { '>' } else { '<' };
    let header =
        format!("{{'descr': '{order}{kind}{size}', 'fortran_order': False, 'shape': ({},), }}", words.len());
    let header = format!("{header:117}\n");
    let mut file =
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    for word in words {
        let mut bytes = word.to_le_bytes()[..size].to_vec();
        if big_endian {
            bytes.reverse();
        }
        file.extend_from_slice(&bytes);
    }
    file
}

#[test]
fn arrays_of_every_type_and_byte_order() {
    let folder = Folder::new();
    for element in ElementType::ALL.into_iter().chain(ElementType::NARROW) {
        for (n, descending) in [(0, false), (1, false), (997, false), (1000, true)] {
            let words = elements(element, n, 8);
            let mut expected = words.clone();
            expected.sort_by(|&a, &b| compare(element, descending, a, b));
            let plain: Vec<u8> =
                expected.iter().flat_map(|word| word.to_le_bytes()[..element.bytes()].to_vec()).collect();
            for big_endian in [false, true] {
                let input = folder.write("in.npy", npy(element, &words, big_endian));
                let output = folder.arg("out.npy");
                for device in ["cpu", &device::name()] {
                    let mut args = vec!["sort", "-q", "-d", device, &input, "-o", &output];
                    args.extend(descending.then_some("-r"));
                    sorted(&args, "");
                    let written = fs::read(&output).unwrap();
                    assert_eq!(
                        written[written.len() - plain.len()..],
                        plain,
                        "{element} {n} {big_endian} {device}"
                    );
                    assert!(written.starts_with(b"\x93NUMPY"), "{element} {n} {device}");
                    assert_eq!((written.len() - plain.len()) % 64, 0, "NumPy aligns its headers so");
                    sorted(&args, "");
                }
            }
            let raw: Vec<u8> =
                words.iter().flat_map(|word| word.to_le_bytes()[..element.bytes()].to_vec()).collect();
            let name = format!("in.{element}");
            let input = folder.write(&name, &raw);
            let reverse: &[&str] = if descending { &["-r"] } else { &[] };
            let sorted_raw = run(&[&["sort", "-q", &input], reverse].concat(), "");
            assert_eq!(sorted_raw.stdout, plain, "{element}: {}", stderr(&sorted_raw));
            let args = [&["sort", "-q", "-f", "bin", "-t", element.name()], reverse].concat();
            assert_eq!(run_with(gpusort(&args), &raw).stdout, plain, "{element} from a pipe");
        }
    }
    let short = folder.write("short.npy", &npy(ElementType::F64, &[1, 2, 3], false)[..140]);
    assert!(refused(&["sort", &short], "").contains("3 f64 elements by its header, but 12 bytes"));
    let long = [npy(ElementType::U16, &[1, 2], false), vec![0]].concat();
    assert!(refused(&["sort", &folder.write("long.npy", long)], "").contains("but 5 bytes"));
    assert!(refused(&["sort", &folder.write("no.npy", "1\n2\n")], "").contains("no.npy: is no .npy file"));
    let typed = folder.write("typed.npy", npy(ElementType::U16, &[1, 2], false));
    assert!(refused(&["sort", "-t", "f32", &typed], "").contains("holds u16, and --type is f32"));
    assert!(
        refused(&["sort", "--nan", "error", &folder.write("nan.f16", [0, 0x7E])], "")
            .contains("element 0 is NaN")
    );
}

#[test]
fn halves_are_printed_so_that_they_read_back_the_same() {
    let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let printed = run_with(gpusort(&["sort", "-q", "-f", "bin", "-t", "f16", "--to", "text"]), &all);
    let text = String::from_utf8(printed.stdout).unwrap();
    let mut back: Vec<u16> = text
        .lines()
        .filter(|line| !line.ends_with("nan"))
        .map(|line| half::f16::from_f64(line.parse().unwrap()).to_bits())
        .collect();
    back.sort_unstable();
    let numbers: Vec<u16> = (0..=u16::MAX).filter(|&bits| !half::f16::from_bits(bits).is_nan()).collect();
    assert_eq!(back, numbers);
    assert!(text.lines().any(|line| line == "0.1"), "the shortest form");
}

#[test]
fn checks_say_where_the_order_is_broken() {
    let folder = Folder::new();
    let check = |args: &[&str], input: &str| {
        let output = run(&[&["check"], args].concat(), input);
        assert!(output.stdout.is_empty());
        (output.status.code(), stderr(&output))
    };
    let ok = (Some(0), String::new());
    let broken = |message: &str| (Some(1), format!("gpusort: {message}\n"));
    assert_eq!(check(&[], "1\n2\n2\n10\n"), ok);
    assert_eq!(check(&[], "# 9\n1 2 3\n\n5\n4\n"), broken("standard input:5: disorder: 4 after 5"));
    assert_eq!(check(&["-u"], "1\n2\n2\n"), broken("standard input:3: disorder: 2 after 2"));
    assert_eq!(check(&["-r"], "3\n2\nnan\n"), ok);
    assert_eq!(check(&["--nan", "first"], "3\nnan\n"), broken("standard input:2: disorder: NaN after 3"));
    assert_eq!(check(&["-q"], "2\n1\n"), (Some(1), String::new()));
    assert_eq!(check(&[], ""), ok);
    let table = folder.write("t.csv", "x,y\n1,2\n\"1\",1\n1,9\n");
    assert_eq!(check(&["-k", "x", &table], ""), ok);
    assert_eq!(
        check(&["-k", "x", "-k", "y:r", &table], ""),
        broken(&format!("{table}:4, column 'y': disorder: 9 after 1"))
    );
    let words = folder.write("w.i16", [1_i16, 3, -2].map(i16::to_le_bytes).concat());
    assert_eq!(check(&[&words], ""), broken(&format!("{words}, element 2: disorder: -2 after 3")));
    // Over several files, as one.
    let (a, b) = (folder.write("a.txt", "1\n5\n"), folder.write("b.txt", "4\n"));
    assert_eq!(check(&[&a, &b], ""), broken(&format!("{b}:1: disorder: 4 after 5")));
    assert_eq!(check(&[&b, &a], ""), (Some(1), format!("gpusort: {a}:1: disorder: 1 after 4\n")));

    // -0 is 0 among integers and less among decimals, which come later.
    assert_eq!(check(&[&folder.write("z.txt", "0\n-0\n7\n")], ""), ok);
    let zeros = folder.write("z.txt", "0\n-0\n7.5\n");
    assert_eq!(check(&[&zeros], ""), broken(&format!("{zeros}:2: disorder: -0 after 0")));
    assert!(refused(&["check"], "0\n-0\n").contains("--type says which"));
    assert_eq!(check(&["-t", "i64"], "0\n-0\n"), ok);

    // -0 makes somebody look ahead, which must not forget what was wrong before.
    let inexact = folder.write("i.txt", "9007199254740993\n-0\n-1.5\n");
    assert!(
        refused(&["check", "-r", &inexact], "").contains("'9007199254740993' is not an integer that f64")
    );
    assert!(refused(&["check", "-", "-"], "1\n").contains("named twice"));
    // It is told as soon as it is there, though more may come.
    let mut child = gpusort(&["check"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut pipe, b"2\n1\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(pipe);

    // What would be an error in a sort is one here.
    assert!(refused(&["check"], "1\nx\n").contains("standard input:2: 'x' is not a number"));
    assert!(refused(&["check"], "-1\n18446744073709551615\n").contains("no integer type holds both"));
    // In the same words.
    for input in [
        "x\nnone\n",
        "x\n-1\n18446744073709551615\n",
        "x\n99999999999999999999\n",
        "x\n9007199254740993\n0.5e17\n",
    ] {
        let args = ["-q", "--from", "csv", "--key", "x"];
        let [sort, check] =
            ["sort", "check"].map(|command| refused(&[&[command][..], &args].concat(), input));
        assert_eq!(sort, check);
    }
    assert!(refused(&["check"], "9007199254740993\n9007199254740993.5\n").contains("holds exactly"));

    // The flags of sort.
    for (flag, message) in [
        ("-c", "gpusort: standard input:2: disorder: 1 after 2\n"),
        ("--check", "gpusort: standard input:2: disorder: 1 after 2\n"),
        ("-C", ""),
        ("--check=quiet", ""),
        ("--check=silent", ""),
    ] {
        let output = run(&["sort", flag], "2\n1\n");
        assert_eq!((output.status.code(), stderr(&output)), (Some(1), message.to_owned()), "{flag}");
        assert!(run(&["sort", flag], "1\n2\n").status.success());
    }
    assert!(refused(&["sort", "-c", "-o", "x"], "").contains("cannot be used with"));
}

#[test]
fn merging_gives_what_sorting_gives() {
    let folder = Folder::new();
    let (a, b) = (folder.write("a.txt", "1 03\n5.0\n"), folder.write("b.txt", "# b\n2\n3\n5\n1e3"));
    assert_eq!(sorted(&["sort", "-q", "-m", &a, &b], ""), "1\n2\n03\n3\n5.0\n5\n1e3\n");
    assert_eq!(sorted(&["sort", "-q", "-m", "-u", &a, &b], ""), "1\n2\n03\n5.0\n1e3\n");
    assert_eq!(sorted(&["sort", "-q", "-m", "--top", "2", &a, "-"], "2\n"), "1\n2\n");
    let told = stderr(&run(&["sort", "-m", &a, &b], ""));
    assert!(told.contains("merged 7 f64") && told.contains("cpu merge"), "{told}");
    let unsorted = folder.write("c.txt", "4\n2\n");
    let message = run(&["sort", "-q", "-m", &a, &unsorted], "");
    assert_eq!(message.status.code(), Some(2));
    assert!(
        stderr(&message).contains("c.txt:2: 2 after 4, so this input is not sorted"),
        "{}",
        stderr(&message)
    );

    assert!(refused(&["sort", "-m", "-", "-"], "1\n").contains("named twice"));
    assert!(refused(&["sort", "-m", "-d", "cpu", &a], "").contains("--device is of no use to --merge"));
    assert_eq!(
        sorted(&["sort", "-q", "-m", "--top", "1"], "1\nx\n"),
        "1\n",
        "what is not needed is not read"
    );
    let skipped = folder.write("s.csv", "x\n1\nn/a\n2\n");
    let told = run(&["sort", "-m", "--invalid", "skip", &skipped], "");
    assert_eq!(told.stdout, b"x\n1\n2\n".as_slice(), "{}", stderr(&told));

    let (a, b) = (folder.write("a.csv", "x,y\r\n1,a\r\n3,\"b\nc\""), folder.write("b.csv", "x,y\n1,d\n2,e"));
    let merged = "x,y\r\n1,a\r\n1,d\n2,e\n3,\"b\nc\"\r\n";
    assert_eq!(sorted(&["sort", "-q", "-m", "-k", "x", &a, &b], ""), merged);
    assert_eq!(sorted(&["sort", "-q", "-k", "x", &a, &b], ""), merged);

    let words: Vec<u8> = [1_i32, 5, 9].iter().flat_map(|word| word.to_le_bytes()).collect();
    let (a, b) = (folder.write("a.i32", &words), folder.write("b.i32", &words));
    assert_eq!(sorted(&["sort", "-q", "-m", "--to", "text", &a, &b], ""), "1\n1\n5\n5\n9\n9\n");
    let out = folder.arg("out.npy");
    sorted(&["sort", "-q", "-m", &a, &b, "-o", &out], "");
    assert_eq!(sorted(&["sort", "-q", "--to", "text", &out], ""), "1\n1\n5\n5\n9\n9\n");
}

/// More numbers than there is memory for must not be kept to be checked or merged.
#[cfg(target_os = "linux")]
#[test]
fn checks_and_merges_keep_little_in_memory() {
    let folder = Folder::new();
    let (text, words) = (folder.arg("n.txt"), folder.arg("n.u32"));
    sorted(&["gen", "-q", "-c", "4M", "--dist", "sorted", "-o", &text], "");
    sorted(&["gen", "-q", "-c", "16M", "--dist", "sorted", "-o", &words], "");
    for args in [
        &["check", "-t", "u32", &text][..],
        &["sort", "-q", "-m", &text, &text, "-o", "/dev/null"],
        &["sort", "-q", "-m", &words, &words, "-o", "/dev/null"],
    ] {
        // Of all address space, of which the binary itself and the stacks of threads have most.
        let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", 300 << 10);
        let status = Command::new("sh").args(["-c", &limit, BINARY]).args(args).status().unwrap();
        assert!(status.success(), "{args:?}");
    }
}

#[test]
fn each_table_and_array_on_its_own() {
    let folder = Folder::new();
    let a = folder.write("a.csv", "x,y\n2,a\n1,b\n");
    let b = folder.write("b.csv", "y,x\nc,4\nd,3\n");
    let c = folder.write("c.npy", npy(ElementType::F32, &[2.0_f32, 1.0].map(|f| f.to_bits().into()), true));
    let out = folder.arg("out");
    sorted(&["sort", "-q", "--each", "-k", "x", &a, &b, "-o", &out], "");
    assert_eq!(fs::read_to_string(folder.path("out/a.csv")).unwrap(), "x,y\n1,b\n2,a\n");
    assert_eq!(fs::read_to_string(folder.path("out/b.csv")).unwrap(), "y,x\nd,3\nc,4\n");
    sorted(&["sort", "-q", "--each", "--in-place", &c], "");
    assert_eq!(sorted(&["sort", "-q", "--to", "text", &c], ""), "1\n2\n");
    assert_eq!(sorted(&["check", &c], ""), "");
    // One that is wrong does not stop the others.
    let wrong = folder.write("wrong.csv", "z\n1\n");
    let output = run(&["sort", "-q", "--each", "--in-place", "-k", "x", &wrong, &a], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no column 'x'; there are 'z'"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&a).unwrap(), "x,y\n1,b\n2,a\n");
}

#[test]
fn shells_and_man_are_told_of_all_options() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = sorted(&["completions", shell], "");
        assert!(script.contains("argsort") && script.contains("in-place"), "{shell}");
    }
    let page = sorted(&["man"], "");
    assert!(page.contains(".TH gpusort 1") && page.contains("completions"), "{page}");
    let page = sorted(&["man", "sort"], "");
    assert!(page.contains("gpusort\\-sort") && page.contains("\\-\\-argsort"), "{page}");
    assert!(page.contains(".SH EXIT CODES\n.nf\n\\&0 done;"), "{page}");
    assert!(refused(&["man", "nothing"], "").contains("invalid value 'nothing'"));
    let all = sorted(&["--help"], "");
    for command in ["sort", "devices", "gen", "bench", "tune", "check", "completions", "man"] {
        assert!(
            all.contains(&format!("\n  {command} ")) && sorted(&["man", command], "").contains(".TH"),
            "{command}"
        );
    }
    let groups =
        "  Order: --key --reverse --unique --nan --empty --invalid --numeric-sort --general-numeric-sort\n";
    assert!(all.contains(groups), "{all}");
    let help = sorted(&["sort", "--help"], "");
    let groups = ["Input:", "Order:", "Result:", "Instead of sorting:", "How and where:", "What is told:"];
    let places: Vec<usize> = groups.iter().map(|group| help.find(group).expect(group)).collect();
    assert!(places.is_sorted(), "{help}");
}

/// Rows of a table, each with its number, in the order of their keys by the standard library's stable sort.
fn by_standard_library(rows: &[(i64, u8)], descending: [bool; 2]) -> String {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| {
        let directed =
            |order: std::cmp::Ordering, descending: bool| if descending { order.reverse() } else { order };
        let first = directed(rows[a].0.cmp(&rows[b].0), descending[0]);
        first.then(directed(rows[a].1.cmp(&rows[b].1), descending[1]))
    });
    let line = |&row: &usize| format!("{},{},{row}\n", rows[row].0, rows[row].1);
    order.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_keys_of_which_words_hold_both_or_one(
        rows in prop::collection::vec((prop_oneof![0..4_i64, any::<i64>()], 0..3_u8), 0..300),
        wide: bool,
        directions: [bool; 2],
    ) {
        // With values of few bits both keys share a word, else they have one each.
        let rows: Vec<(i64, u8)> =
            rows.into_iter().map(|(a, b)| (if wide { a } else { a.rem_euclid(5) }, b)).collect();
        let table: String = rows.iter().enumerate().map(|(row, (a, b))| format!("{a},{b},{row}\n")).collect();
        let keys = [("1", directions[0]), ("2", directions[1])]
            .map(|(key, descending)| format!("{key}:{}", if descending { 'r' } else { 'a' }));
        let args = ["sort", "-q", "-f", "csv", "--no-header", "-k", &keys[0], "-k", &keys[1]];
        let expected = by_standard_library(&rows, directions);
        prop_assert_eq!(&sorted(&args, &table), &expected);
        let top: String = expected.lines().take(7).map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(sorted(&[&args[..], &["--top", "7"]].concat(), &table), top);
    }
}

#[test]
fn a_table_of_many_parts_is_put_together_right() {
    let folder = Folder::new();
    // Some megabytes, with quotes that mislead whoever counts them.
    let rows: Vec<(u64, String)> = random(5)
        .take(60_000)
        .enumerate()
        .map(|(row, word)| {
            let note = match word % 5 {
                0 => "\"a,\nb\"",
                1 => "5\" pipe",
                2 => "\"\"\"\"",
                _ => "plain",
            };
            (word >> 40, format!("{row},{note},{}", word >> 40))
        })
        .collect();
    let table: String =
        "row,note,x\n".to_owned() + &rows.iter().map(|(_, row)| format!("{row}\n")).collect::<String>();
    let table = folder.write("t.csv", table);
    let mut expected: Vec<&(u64, String)> = rows.iter().collect();
    expected.sort_by_key(|(x, _)| *x);
    let expected: String =
        "row,note,x\n".to_owned() + &expected.iter().map(|(_, row)| format!("{row}\n")).collect::<String>();
    assert!(sorted(&["sort", "-q", "-k", "x", &table], "") == expected);
    let first = sorted(&["sort", "-q", "-k", "x", "--top", "50", "--argsort", &table], "");
    let all = sorted(&["sort", "-q", "-k", "x", "--argsort", &table], "");
    assert!(all.starts_with(&first) && first.lines().count() == 50);
}
