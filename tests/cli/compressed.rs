//! Compressed inputs and outputs.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use crate::support::command::{exits, gpusort, refused, run, run_with, sorted, stderr};
use crate::support::files::{Folder, lines_to, npy_of, shuffled_lines};

/// What `gzip` makes of these bytes.
fn gzip(content: &[u8]) -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    member.write_all(content).unwrap();
    member.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    let mut frame = zstd::Encoder::new(Vec::new(), 1).unwrap();
    frame.include_checksum(true).unwrap();
    frame.write_all(content).unwrap();
    frame.finish().unwrap()
}

/// The content of a compressed file.
fn content(file: &str) -> Vec<u8> {
    let (bytes, mut content) = (fs::read(file).unwrap(), Vec::new());
    let read = match bytes[0] {
        0x28 => zstd::Decoder::new(&bytes[..]).unwrap().read_to_end(&mut content),
        _ => flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut content),
    };
    read.unwrap();
    content
}

#[test]
fn text_is_known_by_its_first_bytes() {
    let folder = Folder::new();
    for pack in [gzip, zstd] {
        for (name, file) in
            [("x.txt", "2\n10\n1\n"), ("x", "2 10 1"), ("x.gz", "1\n2 # 3\n"), ("x.ZST", "\u{feff}1\n")]
        {
            let packed = folder.write(name, pack(file.as_bytes()));
            let plain = folder.write("plain", file);
            let expected = run(&["sort", "-q", &plain], "");
            let found = run(&["sort", "-q", &packed], "");
            assert_eq!((found.status.code(), found.stdout), (expected.status.code(), expected.stdout));
        }
        let table = folder.write("t.csv.gz", pack(b"name,n\na,2\nb,1\n"));
        assert_eq!(sorted(&["sort", "-q", "-k", "n", &table], ""), "name,n\nb,1\na,2\n");
        let lines = folder.write("du.gz", pack(b"12 b\n3 a\n"));
        assert_eq!(sorted(&["sort", "-q", "-k1", &lines], ""), "3 a\n12 b\n");
        assert_eq!(sorted(&["sort", "-q", "-k1", "--argsort", &lines], ""), "1\n0\n");
        let found = run_with(gpusort(&["sort", "-q", "-", &lines, "-k1"]), &pack(b"7 c\n"));
        assert_eq!(found.stdout, b"3 a\n7 c\n12 b\n");
        // Where it is not known before it is read what it is.
        exits(
            "cat du.gz | \"$0\" sort -q -k 1 > sorted; printf '3 a\\n12 b\\n' | exec cmp - sorted",
            &folder,
            0,
        );
        exits("\"$0\" sort -q -k 1 < du.gz > sorted; printf '3 a\\n12 b\\n' | exec cmp - sorted", &folder, 0);
    }
    // Only what is all there counts as compressed.
    assert!(refused(&["sort"], "(1)").contains("'(1)' is not a number"));
}

#[test]
fn binary_is_known_by_its_name() {
    let folder = Folder::new();
    let elements: Vec<u8> = [7_u32, 0x0008_8b1f, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
    let in_order: Vec<u8> = [1_u32, 7, 0x0008_8b1f].iter().flat_map(|n| n.to_le_bytes()).collect();
    for (name, pack) in [("x.u32.gz", gzip as fn(&[u8]) -> Vec<u8>), ("x.u32.zst", zstd)] {
        let packed = folder.write(name, pack(&elements));
        let to = folder.arg("y.u32");
        sorted(&["sort", "-q", &packed, "-o", &to], "");
        assert_eq!(fs::read(&to).unwrap(), in_order);
        sorted(&["sort", "-q", &packed, "-o", &to, "--memory", "1"], "");
        assert_eq!(fs::read(&to).unwrap(), in_order);
        assert_eq!(run(&["check", &packed], "").status.code(), Some(1));
        let array = npy_of(b"<u4", "(3,)", &elements);
        let (plain, packed) =
            (folder.write("x.npy", &array), folder.write(&name.replace("u32", "npy"), pack(&array)));
        let (one, two) = (folder.arg("1.npy"), folder.arg("2.npy"));
        sorted(&["sort", "-q", &packed, "-o", &one], "");
        sorted(&["sort", "-q", &plain, "-o", &two], "");
        assert_eq!(
            sorted(
                &[
                    "sort",
                    "-q",
                    "-m",
                    &folder.write("1.npy.zst", zstd(&fs::read(&one).unwrap())),
                    "--to",
                    "text"
                ],
                ""
            ),
            "1\n7\n559903\n"
        );
        assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap());
    }
    // Elements that look like compressed data are elements.
    let first = [0x0008_8b1f_u32.to_le_bytes(), 5_u32.to_le_bytes()].concat();
    for name in ["x.u32", "x.bin"] {
        let file = folder.write(name, &first);
        let to = folder.arg("y.u32");
        sorted(&["sort", "-q", "-f", "bin", &file, "-o", &to], "");
        assert_eq!(fs::read(&to).unwrap(), [&first[4..], &first[..4]].concat());
    }
    for (bytes, said) in [(&b""[..], "ends early"), (b"\0\0\0\0", "it is no gzip data")] {
        let file = folder.write("z.u32.gz", bytes);
        let error = refused(&["sort", &file], "");
        assert!(error.contains("z.u32.gz: cannot read: ") && error.contains(said), "{error}");
    }
}

#[test]
fn outputs_are_compressed_by_their_names() {
    let folder = Folder::new();
    let text = shuffled_lines(300_000);
    let plain = sorted(&["sort", "-q"], &text);
    for name in ["y.gz", "y.txt.zst", "y.GZ"] {
        let to = folder.arg(name);
        sorted(&["sort", "-q", "-o", &to], &text);
        assert!(content(&to) == plain.as_bytes());
        assert_eq!(sorted(&["sort", "-q", &to], ""), plain);
    }
    let to = folder.arg("y.u32.zst");
    sorted(&["sort", "-q", "-o", &to], "3\n1\n");
    assert_eq!(content(&to), [1, 0, 0, 0, 3, 0, 0, 0]);
    let empty = folder.arg("empty.csv.gz");
    sorted(&["sort", "-q", "-f", "csv", "-k", "1", "-o", &empty], "");
    assert_eq!(content(&empty), b"");
    let made = folder.arg("made.txt.gz");
    sorted(&["gen", "-q", "-c", "9", "-o", &made], "");
    assert_eq!(String::from_utf8(content(&made)).unwrap().lines().count(), 9);
    // In place, and each of several.
    let [one, two] = [("1.txt.gz", gzip(b"2\n1\n")), ("2.zst", zstd(b"9\n8\n"))]
        .map(|(name, bytes)| folder.write(name, bytes));
    sorted(&["sort", "-q", "--each", "--in-place", &one, &two], "");
    assert_eq!((content(&one), content(&two)), (b"1\n2\n".to_vec(), b"8\n9\n".to_vec()));
    sorted(&["sort", "-q", "-r", &one, "-o", &one], "");
    assert_eq!(content(&one), b"2\n1\n");
    let all = folder.arg("all.gz");
    sorted(&["sort", "-q", "-m", "-r", &one, "-o", &all], "");
    assert_eq!(content(&all), b"2\n1\n");
}

#[test]
fn members_follow_each_other_in_checks_and_merges_too() {
    let folder = Folder::new();
    let numbers = |from: u32| (from..).step_by(2).take(60_000).map(|n| format!("{n}\n")).collect::<String>();
    let (even, odd) = (numbers(0), numbers(1));
    let halves =
        |text: &str| [gzip(&text.as_bytes()[..99_990]), gzip(b""), gzip(&text.as_bytes()[99_990..])].concat();
    let one = folder.write("even.gz", [&halves(&even)[..], &[0; 512]].concat());
    let two =
        folder.write("odd.zst", [zstd(&odd.as_bytes()[..77_777]), zstd(&odd.as_bytes()[77_777..])].concat());
    let all: String = (0..120_000).map(|n| format!("{n}\n")).collect();
    assert!(sorted(&["sort", "-q", "-m", &one, &two], "") == all);
    assert!(sorted(&["sort", "-q", &one, &two], "") == all);
    assert!(sorted(&["sort", "-q", &one, &two, "--memory", "1"], "") == all);
    assert!(sorted(&["sort", "-q", "-m", "-t", "f64", &one, &two], "") == all);
    for file in [&one, &two] {
        assert_eq!(run(&["check", file], "").status.code(), Some(0));
    }
    let done = run(&["sort", "-c", &one, &two], "");
    assert!(stderr(&done).contains("odd.zst:1: disorder: 1 after 119998"), "{}", stderr(&done));
    // Many of them, more than may be open at once.
    let many: Vec<String> = (0..100)
        .map(|n| folder.write(&format!("{n}.gz"), gzip(format!("{n}\n{}\n", n + 100).as_bytes())))
        .collect();
    let names = many.iter().map(|name| name.rsplit('/').next().unwrap()).collect::<Vec<_>>().join(" ");
    exits(
        &format!("ulimit -n 20; \"$0\" sort -q -m {names} > merged; seq 0 199 | exec cmp - merged"),
        &folder,
        0,
    );
}

#[test]
fn what_is_cut_off_or_damaged_is_an_error_that_leaves_the_output() {
    let folder = Folder::new();
    let text = lines_to(200_000);
    for pack in [gzip, zstd] {
        let whole = pack(text.as_bytes());
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 0x10;
        for (bytes, said) in [
            (&whole[..whole.len() - 1], "ends early"),
            (&whole[..whole.len() / 2], "ends early"),
            (&whole[..9], "ends early"),
            (&damaged, "data is damaged"),
            (&[&whole[..], b"1\n"].concat(), "is followed by other bytes"),
        ] {
            let file = folder.write("x.gz", bytes);
            for more in [&[][..], &["--memory", "1"], &["-m"], &["--top", "2"], &["-f", "lines"]] {
                let to = folder.write("y", "old\n");
                let error = refused(&[&["sort", "-q", &file, "-o", &to], more].concat(), "");
                // A merge may see a number that is none before the checksum.
                let is_told = error.contains("x.gz: cannot read: its ") && error.contains(said);
                assert!(is_told || more == ["-m"] && error.contains("x.gz:"), "{said}, {more:?}: {error}");
                assert_eq!(fs::read(&to).unwrap(), b"old\n");
            }
        }
    }
    assert_eq!(folder.names(), ["x.gz", "y"]);
}

/// The largest windows of `zstd` are not read, which is no damage.
#[test]
fn a_window_beyond_the_limit_is_told_with_what_reads_it() {
    let folder = Folder::new();
    // A frame of one block of two bytes, with the window's logarithm in five bits and eighths of it
    // in three.
    let frame = |window: u8| [b"(\xb5/\xfd\0", &[window][..], b"\x11\0\x007\n"].concat();
    assert_eq!(sorted(&["sort", "-q", &folder.write("x.zst", frame(17 << 3))], ""), "7\n");
    for (window, said) in [
        (
            21 << 3,
            "a window of 2 GiB, and 128 MiB are the most here; `zstd -dc --long=31 FILE | gpusort sort` reads it",
        ),
        (17 << 3 | 1, "a window of 144 MiB, and 128 MiB are the most here; `zstd -dc --long=28 FILE |"),
        (31 << 3 | 7, "a window of 3.75 TiB, and 128 MiB are the most here\n"),
    ] {
        let error = refused(&["sort", "-q", &folder.write("x.zst", frame(window))], "");
        assert!(error.contains(said) && !error.contains("damaged"), "{error}");
    }
}

/// What is there of a pipe is looked at, while its writer waits.
#[test]
fn a_check_of_a_compressed_pipe_does_not_wait_for_its_end() {
    let mut check = gpusort(&["check", "-q"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = check.stdin.take().unwrap();
    pipe.write_all(&gzip(b"3\n1\n2\n")).unwrap();
    pipe.flush().unwrap();
    assert_eq!(check.wait().unwrap().code(), Some(1));
    drop(pipe);
}

#[test]
fn what_is_replaced_in_place_stays_compressed() {
    let folder = Folder::new();
    for (pack, first) in [(gzip as fn(&[u8]) -> Vec<u8>, 0x1f), (zstd, 0x28)] {
        for name in ["x", "x.txt", "y.csv"] {
            let file = folder.write(name, pack(b"3\n2\n10\n"));
            sorted(&["sort", "-q", "--each", "--in-place", "-k", "1", "--no-header", &file], "");
            assert_eq!(fs::read(&file).unwrap()[0], first, "{name}");
            assert_eq!(content(&file), b"2\n3\n10\n", "{name}");
        }
    }
    // Binary may begin so.
    let words = folder.write("x.u16", [0x1f, 0x8b, 1, 0]);
    sorted(&["sort", "-q", "--each", "--in-place", &words], "");
    assert_eq!(fs::read(&words).unwrap(), [1, 0, 0x1f, 0x8b]);
}
