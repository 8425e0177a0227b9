//! Raw binary and .npy files: every type, both byte orders, in place, and headers that are wrong.

use std::fs;

use gpusort_planner::key::ElementType;

use crate::device;
use crate::inputs::elements;
use crate::support::command::{gpusort, refused, run, run_with, sorted, stderr};
use crate::support::elements::{npy, raw};
use crate::support::files::{Folder, npy_of};
use crate::support::oracle::in_order;
use crate::support::tier;

#[test]
fn binary_of_every_type_both_ways_and_in_place() {
    let folder = Folder::new();
    for element in ElementType::ALL {
        for descending in [false, true] {
            let bits = elements(element, 5000, 0);
            let name = format!("a.{element}");
            let file = folder.write(&name, raw(element, &bits));
            let mut args = vec!["sort", "-v", &file, "-o", &file];
            if descending {
                args.push("-r");
            }
            let timing = sorted(&args, "");
            assert!(timing.contains(&format!("5,000 {element}")), "{timing}");
            let expected = raw(element, &in_order(element, descending, &bits));
            assert!(fs::read(&file).unwrap() == expected, "{element} {descending}");
        }
    }
    assert_eq!(folder.names().len(), ElementType::ALL.len(), "no temporary file is left");
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
    let report = sorted(&["sort", "--timing", "stdout", &bin, "-o", &folder.arg("o")], "");
    assert!(report.ends_with("; u32 is assumed\n"), "{report}");
    let output = run(&["sort", "-v", &bin], "");
    assert!(stderr(&output).contains("u32 (assumed)"), "{}", stderr(&output));
    assert!(refused(&["sort", &floats, &doubles], "").contains("--type"));
    assert!(refused(&["sort", &floats, "-"], "").contains("--from"));
    // A type given by hand wins over the extension.
    assert_eq!(sorted(&["sort", "--to", "text", "-t", "u32", &floats], ""), format!("{}\n", 7_f32.to_bits()));
}

#[test]
fn arrays_of_every_type_and_byte_order() {
    let folder = Folder::new();
    for element in ElementType::ALL {
        let sizes = [(1000, true), (997, false), (1, false), (0, false)];
        for &(n, descending) in &sizes[..tier::count(sizes.len(), 1)] {
            let words = elements(element, n, 8);
            let plain = raw(element, &in_order(element, descending, &words));
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
            let bytes = raw(element, &words);
            let name = format!("in.{element}");
            let input = folder.write(&name, &bytes);
            let reverse: &[&str] = if descending { &["-r"] } else { &[] };
            let sorted_raw = run(&[&["sort", "-q", &input], reverse].concat(), "");
            assert_eq!(sorted_raw.stdout, plain, "{element}: {}", stderr(&sorted_raw));
            let args = [&["sort", "-q", "-f", "bin", "-t", element.name()], reverse].concat();
            assert_eq!(run_with(gpusort(&args), &bytes).stdout, plain, "{element} from a pipe");
        }
    }
    let short = folder.write("short.npy", &npy(ElementType::F64, &[1, 2, 3], false)[..140]);
    assert!(
        refused(&["sort", &short], "").contains("3 f64 elements need 24 bytes, but 12 follow the header")
    );
    let long = [npy(ElementType::U16, &[1, 2], false), vec![0]].concat();
    assert!(refused(&["sort", &folder.write("long.npy", long)], "").contains("but 5 follow"));
    assert!(
        refused(&["sort", &folder.write("no.npy", "1\n2\n")], "")
            .contains("no.npy: does not begin with a .npy header")
    );
    let typed = folder.write("typed.npy", npy(ElementType::U16, &[1, 2], false));
    assert!(refused(&["sort", "-t", "f32", &typed], "").contains("holds u16, but --type is f32"));
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
fn bytes_that_are_no_text_in_a_npy_header_are_refused() {
    let folder = Folder::new();
    for (number, descr) in
        [&b"\x80"[..], b"\xc3\xa9u4", b"<\xffu4", b"\xf0\x9f\x98\x80", b"<u4\xff"].into_iter().enumerate()
    {
        let file = folder.write(&format!("{number}.npy"), npy_of(descr, "(0,)", b""));
        for command in [&["sort"][..], &["check"], &["sort", "-m"], &["sort", "--argsort"]] {
            let said = refused(&[command, &[&file]].concat(), "");
            assert!(said.contains("has dtype") && !said.contains("internal error"), "{said}");
        }
    }
    // The others are sorted all the same.
    let good = folder.write("good.npy", npy_of(b"<u4", "(2,)", &[2, 0, 0, 0, 1, 0, 0, 0]));
    let bad = folder.arg("0.npy");
    refused(&["sort", "--each", "--in-place", "-q", &bad, &good], "");
    assert!(fs::read(&good).unwrap().ends_with(&[1, 0, 0, 0, 2, 0, 0, 0]));
}

#[test]
fn a_shuffle_of_binary_numbers_blames_no_key() {
    let folder = Folder::new();
    let said = refused(&["shuffle", &folder.write("n.u32", [0; 8])], "");
    assert!(said.contains("shuffles take lines, tables or JSON Lines; convert"), "{said}");
    assert!(!said.contains("--key"), "{said}");
}

/// Names that nobody can read would be listed.
#[test]
fn a_missing_column_of_binary_data_lists_no_names() {
    let folder = Folder::new();
    let data = folder.write("data", b"\x7FELF\x02\0\0,\xFF\0,a\n1,2,3\n");
    for args in [&["-k", "price", "--header"][..], &["-k", "price", "--from", "csv"]] {
        let said = refused(&[&["sort", &data], args].concat(), "");
        let problem =
            "no column 'price': the first row has a NUL, so the file may be binary data; use --from bin";
        assert!(said.contains(problem), "{said}");
    }
}
