//! Lines of integers whose text a GPU reads and writes: the same bytes as on the CPU.

use std::fs;

use gpusort::Sorter;
use gpusort::files::{Report, Sort};

use crate::device;
use crate::inputs::random;
use crate::support::files::Folder;
use crate::support::tier::{count, seed};

/// Options of a sort.
#[derive(Clone, Copy)]
enum Set {
    Lines,
    Descending,
    Numbers,
}

/// Sorts files on the GPU of the tests, and returns the report. The CPU must write the same bytes, or report
/// the same error.
fn sorted(folder: &Folder, gpu: &Sorter, names: &[&str], set: Set) -> Option<Report> {
    let [on_gpu, on_cpu] = [Some(gpu), None].map(|sorter| {
        let mut sort = names.iter().fold(Sort::new(), |sort, name| sort.input(folder.path(name)));
        sort = match set {
            Set::Lines => sort,
            Set::Descending => sort.descending(),
            Set::Numbers => sort.format(gpusort::Format::Text),
        };
        match sorter {
            Some(sorter) => sort.sorter(sorter).output(folder.path("gpu")),
            None => sort.output(folder.path("cpu")),
        }
    });
    match (&on_gpu, &on_cpu) {
        (Ok(gpu), Ok(cpu)) => {
            let [bytes, expected] = ["gpu", "cpu"].map(|name| fs::read(folder.path(name)).unwrap());
            assert!(bytes == expected, "{names:?}");
            assert_eq!(
                (gpu.records, gpu.bytes, &gpu.types),
                (cpu.records, cpu.bytes, &cpu.types),
                "{names:?}"
            );
        }
        (gpu, cpu) => {
            let words = |report: &Result<Report, gpusort::Error>| report.as_ref().unwrap_err().to_string();
            assert_eq!(words(gpu), words(cpu));
        }
    }
    on_gpu.ok()
}

/// True if the GPU read the text.
fn is_read_there(report: &Report) -> bool {
    report.why.contains("the GPU reads and writes the text")
}

/// Lines of about this many bytes with integers of up to `bits` bits.
fn lines(bytes: usize, bits: u32, signed: bool, seed: u64) -> String {
    let mut text = String::new();
    for word in random(seed) {
        if text.len() >= bytes {
            break;
        }
        let value = word >> (64 - bits) >> (word % u64::from(bits));
        let sign = if signed && word & 32 > 0 && value > 0 { "-" } else { "" };
        text += &format!("{sign}{value}\n");
    }
    text
}

#[test]
fn lines_of_integers_are_read_and_written_by_the_gpu() {
    let folder = Folder::new();
    let gpu = Sorter::on(device::start());
    for (bits, signed) in [(31, true), (32, false), (63, true), (64, false)] {
        let text = lines(300_000, bits, signed, bits.into());
        folder.write("a", &text);
        folder.write("open", text.trim_end());
        folder.write("crlf", text.replace('\n', "\r\n"));
        folder.write("marked", format!("\u{feff}{text}"));
        folder.write("empty", "");
        for names in [&["a"][..], &["open"], &["a", "empty", "open", "a"]] {
            for report in [
                sorted(&folder, &gpu, names, Set::Lines).unwrap(),
                sorted(&folder, &gpu, names, Set::Descending).unwrap(),
                sorted(&folder, &gpu, names, Set::Numbers).unwrap(),
            ] {
                assert!(is_read_there(&report), "{bits} {names:?}: {}", report.why);
            }
        }
        // Numbers are written with line feeds and without a mark; lines keep both, which the CPU does.
        for names in [&["crlf"][..], &["marked"], &["marked", "crlf", "open"]] {
            assert!(is_read_there(&sorted(&folder, &gpu, names, Set::Numbers).unwrap()), "{bits} {names:?}");
            assert!(!is_read_there(&sorted(&folder, &gpu, names, Set::Lines).unwrap()), "{bits} {names:?}");
        }
    }
}

#[test]
fn changed_files_come_out_as_on_the_cpu() {
    let folder = Folder::new();
    let gpu = Sorter::on(device::start());
    let odd = [
        "",
        "\n",
        "\r",
        " ",
        "-",
        "+",
        "0",
        "00",
        "7",
        ".5",
        "e3",
        ",",
        "\t",
        "\0",
        "\u{feff}",
        "x",
        "9999999999",
        "99999999999999999999",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
    ];
    // Tiles of the kernels end every 4 and 8 KiB.
    let tile = 4096;
    let mut there = 0;
    let cases = count(10_000, 60) as u64;
    for case in seed()..seed() + cases {
        let words: Vec<u64> = random(case).take(6).collect();
        let (bits, signed) = [(31, true), (32, false), (63, true), (64, false)][words[0] as usize % 4];
        let mut text = lines(270_000 + words[1] as usize % 20_000, bits, signed, case).into_bytes();
        let edge = tile * (words[2] as usize % 70) + words[3] as usize % 24;
        let at = edge.saturating_sub(12).min(text.len());
        let removed = (words[4] as usize % 3).min(text.len() - at);
        let added = odd[words[5] as usize % odd.len()].bytes();
        text.splice(at..at + removed, added);
        folder.write("changed", &text);
        let set = if case % 2 == 0 { Set::Numbers } else { Set::Lines };
        let report = sorted(&folder, &gpu, &["changed"], set);
        there += u64::from(report.is_some_and(|report| is_read_there(&report)));
    }
    assert!(there > cases / 20 && there < cases, "the GPU reads {there} of {cases}");
}

#[test]
fn windows_of_the_text_join() {
    let folder = Folder::new();
    let gpu = Sorter::on(device::start());
    // The text goes up and comes down in windows of 16 MiB.
    let text = lines((17 << 20) + 5, 31, true, 1);
    folder.write("large", &text);
    assert!(is_read_there(&sorted(&folder, &gpu, &["large"], Set::Lines).unwrap()));
    // Beyond the samples, the rest of the file decides.
    let end = text.len() - 1;
    folder.write("odd", format!("{}.5\n", &text[..end]));
    assert!(!is_read_there(&sorted(&folder, &gpu, &["odd"], Set::Lines).unwrap()));
}
