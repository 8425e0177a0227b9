//! Compressed inputs and outputs.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use gpusort::files::{Input, Sort};

use crate::support::command::{exits, gpusort, refused, run, run_with, sorted, stderr};
use crate::support::files::{Folder, lines_to, npy_of, shuffled_lines};
use crate::support::python::python;

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

/// How a block of BGZF begins, but for its size.
const BLOCK: &[u8; 16] = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0";

/// The block at the end of BGZF.
const LAST: &[u8; 28] = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

/// What `bgzip` makes of a few bytes.
fn bgzf(content: &[u8]) -> Vec<u8> {
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(content).unwrap();
    let data = deflate.finish().unwrap();
    let size = (BLOCK.len() + 2 + data.len() + 8 - 1) as u16;
    let numbers = [crc32(content), content.len() as u32].map(u32::to_le_bytes).concat();
    [BLOCK, &size.to_le_bytes()[..], &data, &numbers, LAST].concat()
}

/// The content of a file of BGZF, of which every block is looked at byte by byte.
fn content_of_blocks(file: &str) -> Vec<u8> {
    let bytes = fs::read(file).unwrap();
    let mut blocks = bytes.strip_suffix(LAST).expect("the block at the end");
    let mut all = Vec::new();
    while !blocks.is_empty() {
        assert_eq!(all.len() % 0xff00, 0, "a block that is not full before the last one");
        let (header, rest) = blocks.split_first_chunk().unwrap();
        assert_eq!(header, BLOCK);
        let size = usize::from(u16::from_le_bytes([rest[0], rest[1]])) + 1;
        let (rest, next) = rest.split_at(size - BLOCK.len());
        let (rest, length) = rest.split_last_chunk().unwrap();
        let (rest, sum) = rest.split_last_chunk().unwrap();
        let mut content = Vec::new();
        let mut inflate = flate2::bufread::DeflateDecoder::new(&rest[2..]);
        inflate.read_to_end(&mut content).unwrap();
        assert!(inflate.into_inner().is_empty(), "bytes behind the data of a block");
        assert!((1..=0xff00).contains(&content.len()));
        assert_eq!(content.len(), u32::from_le_bytes(*length) as usize);
        assert_eq!(crc32(&content), u32::from_le_bytes(*sum));
        all.append(&mut content);
        blocks = next;
    }
    all
}

/// The checksum of gzip, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), bit))
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
    assert_eq!(sorted(&["sort", "-q"], "(1)"), "(1)\n");
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
    for (bytes, said) in [(&b""[..], "truncated"), (b"\0\0\0\0", "not gzip data")] {
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
fn compressed_data_that_was_cut_anywhere_is_an_error() {
    let folder = Folder::new();
    let blocks = folder.arg("blocks.gz");
    sorted(&["sort", "-q", "-o", &blocks], "3\n1\n2\n");
    let blocks = fs::read(blocks).unwrap();
    for (name, bytes) in [("x.gz", gzip(b"3\n1\n2\n")), ("x.zst", zstd(b"3\n1\n2\n")), ("x.bgz", blocks)] {
        let sort = |bytes: &[u8]| Sort::new().input(Input::bytes(name, bytes)).write_to(&mut Vec::new());
        assert!(sort(&bytes).is_ok());
        for end in 0..bytes.len() {
            assert!(sort(&bytes[..end]).is_err(), "{name} of {end} bytes");
        }
    }
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
    assert!(stderr(&done).contains("odd.zst:1: out of order: 1 after 119998"), "{}", stderr(&done));
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
            (&whole[..whole.len() - 1], "truncated"),
            (&whole[..whole.len() / 2], "truncated"),
            (&whole[..9], "truncated"),
            (&damaged, "damaged"),
            (&[&whole[..], b"1\n"].concat(), "other bytes after"),
        ] {
            let file = folder.write("x.gz", bytes);
            for more in [&[][..], &["--memory", "1"], &["-m"], &["--top", "2"], &["-f", "lines"]] {
                let to = folder.write("y", "old\n");
                let error = refused(&[&["sort", "-q", &file, "-o", &to], more].concat(), "");
                // A merge may see a number that is none before the checksum.
                let is_told = error.contains("x.gz: cannot read: ") && error.contains(said);
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
            "window of 2 GiB exceeds the limit of 128 MiB; use: zstd -dc --long=31 FILE | gpusort sort ...",
        ),
        (17 << 3 | 1, "window of 144 MiB exceeds the limit of 128 MiB; use: zstd -dc --long=28 FILE |"),
        (31 << 3 | 7, "window of 3.75 TiB exceeds the limit of 128 MiB\n"),
    ] {
        let error = refused(&["sort", "-q", &folder.write("x.zst", frame(window))], "");
        assert!(error.contains(said) && !error.contains("damaged"), "{error}");
    }
}

/// What is there of a pipe is looked at, while its writer waits.
#[test]
fn a_check_of_a_compressed_pipe_does_not_wait_for_its_end() {
    // The whole line is text, for which nothing is looked at before.
    let mut check = gpusort(&["check", "-q", "-k", "0"]).stdin(Stdio::piped()).spawn().unwrap();
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

#[test]
fn gzip_is_written_as_bgzf() {
    let folder = Folder::new();
    let text = shuffled_lines(300_000);
    let file = folder.write("x.txt", &text);
    let (plain, first) =
        (sorted(&["sort", "-q", &file], ""), sorted(&["sort", "-q", "--top", "9", &file], ""));
    let positions = sorted(&["sort", "-q", "--argsort", &file], "");
    let in_order = folder.write("in-order.txt", &plain);
    for (name, option) in [("y.bgz", None), ("y.txt.BGZ", None), ("y.gz", None), ("y.gz", Some("--bgzf"))] {
        let to = folder.arg(name);
        for (args, expected) in [
            (&[&file[..]][..], &plain),
            (&["-m", &in_order], &plain),
            (&["--memory", "1", &file], &plain),
            (&["--top", "9", &file], &first),
            (&["--argsort", &file], &positions),
            (&["/dev/null"], &String::new()),
        ] {
            let args: Vec<&str> =
                ["sort", "-q", "-o", &to].into_iter().chain(option).chain(args.iter().copied()).collect();
            sorted(&args, "");
            assert!(content_of_blocks(&to) == expected.as_bytes(), "{args:?}");
            assert!(content(&to) == expected.as_bytes(), "{args:?}");
        }
    }
    // What others make of it, and all cores here; the same on standard output.
    let to = folder.arg("z.bgz");
    sorted(&["sort", "-q", &file, "-o", &to], "");
    assert!(run(&["sort", "-q", "--bgzf", &file], "").stdout == fs::read(&to).unwrap());
    python("tables/gunzip.py", &[&to, &in_order]);
    for args in [&["sort", "-q", &to][..], &["sort", "-q", "--memory", "1", &to], &["sort", "-q", "-m", &to]]
    {
        assert!(sorted(args, "") == plain, "{args:?}");
    }
    assert_eq!(run(&["check", &to], "").status.code(), Some(0));
    let made = folder.arg("made.txt.bgz");
    sorted(&["gen", "-q", "-c", "9", "-o", &made], "");
    assert_eq!(String::from_utf8(content_of_blocks(&made)).unwrap().lines().count(), 9);
}

/// What cannot be compressed becomes longer, and a block may have 64 KiB at most.
#[test]
fn blocks_of_noise_are_stored() {
    let folder = Folder::new();
    let mut state = 1_u64;
    let mut line = b"1 ".to_vec();
    line.extend(
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .filter(|&byte| byte != b'\n')
        .take(200_000),
    );
    line.push(b'\n');
    let (file, to) = (folder.write("x", &line), folder.arg("y.bgz"));
    sorted(&["sort", "-q", "-k", "1", &file, "-o", &to], "");
    assert!(content_of_blocks(&to) == line);
    // Four blocks with a header and two numbers each, and 13 parts that are stored.
    assert_eq!(fs::metadata(&to).unwrap().len() as usize, line.len() + 4 * 26 + 13 * 5 + LAST.len());
}

#[test]
fn the_extension_of_bgzf_is_one_of_gzip() {
    let folder = Folder::new();
    let elements: Vec<u8> = [7_u32, 0x0008_8b1f, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
    let in_order: Vec<u8> = [1_u32, 7, 0x0008_8b1f].iter().flat_map(|n| n.to_le_bytes()).collect();
    // Of gzip and of BGZF.
    let (file, to) = (folder.write("x.u32.bgz", gzip(&elements)), folder.arg("y.u32.bgz"));
    sorted(&["sort", "-q", &file, "-o", &to], "");
    assert_eq!(content_of_blocks(&to), in_order);
    assert_eq!(sorted(&["sort", "-q", "-r", &to, "--to", "text"], ""), "559903\n7\n1\n");
    let array = folder.write("x.npy.bgz", gzip(&npy_of(b"<u4", "(3,)", &elements)));
    assert_eq!(sorted(&["sort", "-q", &array, "--to", "text"], ""), "1\n7\n559903\n");
    let error = refused(&["sort", &folder.write("z.u32.bgz", b"\0\0\0\0")], "");
    assert!(error.contains("z.u32.bgz: cannot read: not gzip data"), "{error}");
    let (table, to) = (folder.write("t.csv.bgz", gzip(b"name,n\na,2\nb,1\n")), folder.arg("out"));
    sorted(&["sort", "-q", "-k", "n", "--each", &table, "-o", &to], "");
    sorted(&["sort", "-q", "--each", &file, "-o", &to], "");
    assert_eq!(content_of_blocks(&folder.arg("out/t.csv.bgz")), b"name,n\nb,1\na,2\n");
    assert_eq!(content_of_blocks(&folder.arg("out/x.u32.bgz")), in_order);
    let error = refused(&["sort", "-q", "-o", &folder.arg("y.xlsx.bgz")], "1\n");
    assert!(error.contains("y.xlsx.bgz: cannot write xlsx"), "{error}");
}

#[test]
fn what_is_replaced_in_place_stays_bgzf() {
    let folder = Folder::new();
    let elements = [3_u16, 1].map(u16::to_le_bytes).concat();
    let in_order = [1_u16, 3].map(u16::to_le_bytes).concat();
    for (name, plain, expected) in [
        ("x.txt.gz", &b"3\n1\n"[..], &b"1\n3\n"[..]),
        ("x", b"3\n1\n", b"1\n3\n"),
        ("x.u16.gz", &elements, &in_order),
    ] {
        let file = folder.write(name, bgzf(plain));
        sorted(&["sort", "-q", "--each", "--in-place", &file], "");
        assert_eq!(content_of_blocks(&file), expected, "{name}");
        // Other gzip becomes BGZF.
        folder.write(name, gzip(plain));
        sorted(&["sort", "-q", "--each", "--in-place", &file], "");
        assert_eq!(content_of_blocks(&file), expected, "{name}");
    }
    let file = folder.write("x.bgz", gzip(b"3\n1\n"));
    sorted(&["sort", "-q", "--each", "--in-place", &file], "");
    assert_eq!(content_of_blocks(&file), b"1\n3\n");
    let file = folder.write("x.zst", bgzf(b"3\n1\n"));
    sorted(&["sort", "-q", "--each", "--in-place", &file], "");
    assert_eq!(fs::read(&file).unwrap()[0], 0x28);
}

#[test]
fn bgzf_that_was_cut_is_refused() {
    let folder = Folder::new();
    let whole = bgzf(b"3\n1\n");
    let (cut, to) = (folder.write("x.txt.gz", whole.strip_suffix(LAST).unwrap()), folder.arg("y.txt"));
    for args in
        [&["sort", &cut, "-o", &to][..], &["sort", "--memory", "1", &cut, "-o", &to], &["merge", &cut]]
    {
        let error = refused(args, "");
        let said = "x.txt.gz: cannot read: BGZF data without its last block, so it may have been cut; \
            to sort the part that remains, use: gzip -dc FILE | gpusort sort ...";
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(folder.names(), ["x.txt.gz"]);
    assert_eq!(sorted(&["sort", "-q"], String::from_utf8(content(&cut)).unwrap().as_str()), "1\n3\n");
}

#[test]
fn bgzf_is_refused_where_the_output_is_no_gzip() {
    let folder = Folder::new();
    let input = folder.write("x.txt", "2\n1\n");
    for (name, meant) in [("y.txt", "y.txt.gz"), ("y.csv.zst", "y.csv.gz"), ("y", "y.gz")] {
        for more in [&[][..], &["-m"], &["--top", "1"]] {
            let to = folder.arg(name);
            let error = refused(&[&["sort", "--bgzf", &input, "-o", &to], more].concat(), "");
            let said =
                format!("--bgzf writes gzip, but {to} names another format; use -o {}", folder.arg(meant));
            assert!(error.contains(&said), "{error}");
        }
    }
    for to in [&["--in-place"][..], &["-o", &folder.arg("out")]] {
        let error = refused(&[&["sort", "--bgzf", "--each", &input], to].concat(), "");
        assert!(error.contains("x.txt names another format; use "), "{error}");
    }
    assert!(refused(&["sort", "--bgzf", "-c", &input], "").contains("'--bgzf' cannot be used with"));
    assert_eq!(folder.names(), ["x.txt"]);
    assert_eq!(fs::read(&input).unwrap(), b"2\n1\n");
}

#[cfg(target_os = "linux")]
#[test]
fn bgzf_to_closed_pipes_and_full_disks() {
    let folder = Folder::new();
    let text = shuffled_lines(300_000);
    let input = folder.write("x.txt", &text);
    folder.fifo("pipe.bgz");
    for reader in ["head -c 1 pipe.bgz > few", "cat pipe.bgz > y.bgz"] {
        exits(&format!("\"$0\" sort -q x.txt -o pipe.bgz & {reader}; wait $!"), &folder, 0);
    }
    assert!(content_of_blocks(&folder.arg("y.bgz")) == sorted(&["sort", "-q", &input], "").as_bytes());
    std::os::unix::fs::symlink("/dev/full", folder.path("full.bgz")).unwrap();
    for file in ["x.txt", "/dev/null"] {
        let error = exits(&format!("exec \"$0\" sort -q {file} -o full.bgz"), &folder, 2);
        assert!(error.contains("full.bgz: cannot write: No space left"), "{error}");
    }
    folder.write("old.bgz", "old");
    let before = folder.names();
    exits("trap '' XFSZ; ulimit -f 16; exec \"$0\" sort -q x.txt -o old.bgz", &folder, 2);
    assert_eq!((folder.names(), fs::read(folder.path("old.bgz")).unwrap()), (before, b"old".to_vec()));
}

/// A frame that ends in an empty block, but has less content than its header declares.
#[test]
fn a_frame_of_zstd_has_the_content_that_it_declares() {
    const BLOCK: usize = 1 << 17;
    for (blocks, is_whole) in [(6, true), (3, false), (7, false)] {
        let mut frame = b"\x28\xb5\x2f\xfd\xa0".to_vec();
        frame.extend_from_slice(&(6 * BLOCK as u32).to_le_bytes());
        for _ in 0..blocks {
            // A raw block; its header has the size from bit 3 on.
            frame.extend_from_slice(&((BLOCK as u32) << 3).to_le_bytes()[..3]);
            frame.extend_from_slice(&b"2\n1\n".repeat(BLOCK / 4));
        }
        // The last block, raw and empty.
        frame.extend_from_slice(&[1, 0, 0]);
        let output = run_with(gpusort(&["sort", "-q"]), &frame);
        assert_eq!(output.status.success(), is_whole, "{blocks}: {}", stderr(&output));
        assert_eq!(output.stdout.len(), if is_whole { 6 * BLOCK } else { 0 });
    }
}
