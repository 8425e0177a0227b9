//! `gpusort::files` as a program uses it: what is decided without options, what is refused,
//! reports, progress, and work that is ended early.

use std::fs;
use std::io::{self, Read, Write};
use std::sync::Mutex;

use gpusort::files::{Cancel, Check, External, Input, Key, Merge, Phase, Progress, Sort};
use gpusort::{ErrorKind, Format, Hint};

use crate::support::files::Folder;

#[test]
fn formats_come_from_names_and_first_lines() {
    let folder = Folder::new();
    for (name, content, expected) in [
        ("a.csv", &b"n,x\n3,a\n1,b\n"[..], &b"n,x\n1,b\n3,a\n"[..]),
        ("a.txt", b"3\n1\n", b"1\n3\n"),
        ("a", b"3 c\n1 d\n", b"1 d\n3 c\n"),
        ("a.u16", &[3, 0, 1, 0], &[1, 0, 3, 0]),
    ] {
        let path = folder.write(name, content);
        let is_table = name == "a.csv";
        let sort = if is_table { Sort::new().key("n") } else { Sort::new() };
        let report = sort.input(&path).output(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), expected, "{name}");
        assert_eq!((report.records, report.bytes), (2, content.len() as u64));
        let check = if is_table { Check::new().key("n") } else { Check::new() };
        assert!(check.input(&path).run().unwrap().is_sorted(), "{name}");
    }
}

#[test]
fn a_merge_that_replaces_an_input_reports_what_it_read() {
    let folder = Folder::new();
    let (one, two) = (folder.write("one", b"1\n4\n"), folder.write("two", b"2\n3\n5\n"));
    let report = Merge::new().input(&one).input(&two).output(&one).unwrap();
    assert_eq!((report.records, report.bytes), (5, 10));
    assert_eq!(fs::read(&one).unwrap(), b"1\n2\n3\n4\n5\n");
}

#[test]
fn readers_are_read_as_they_come_and_once() {
    let pipe = || Input::reader("pipe", io::Cursor::new(b"2 b\n1 a\n".to_vec()));
    let mut sorted = Vec::new();
    let input = pipe();
    Sort::new().input(input.clone()).write_to(&mut sorted).unwrap();
    assert_eq!(sorted, b"1 a\n2 b\n");
    let error = Sort::new().input(input).write_to(&mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "pipe: has been read already");
    let mut merged = Vec::new();
    let inputs = Merge::new().input(Input::bytes("one", b"1 x\n3 x\n")).input(Input::bytes("two", b"2 y\n"));
    let report = inputs.write_to(&mut merged).unwrap();
    assert_eq!((&merged[..], report.records), (&b"1 x\n2 y\n3 x\n"[..], 3));
    let error = Merge::new().input(pipe()).write_to(&mut Vec::new()).unwrap_err();
    assert_eq!(error.hint(), Some(&Hint::Sort));
}

#[test]
fn bytes_and_readers_are_what_their_names_say() {
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 0).unwrap();
    for (name, content, expected) in [
        ("x.csv", b"n,a\n3,x\n1,y\n".to_vec(), &b"n,a\n1,y\n3,x\n"[..]),
        ("x.TSV.zst", zstd(b"n\ta\n3\tx\n1\ty\n"), b"n\ta\n1\ty\n3\tx\n"),
        ("folder/x.jsonl", b"{\"n\":3}\n{\"n\":1}\n".to_vec(), b"{\"n\":1}\n{\"n\":3}\n"),
        ("x.u16", vec![3, 0, 1, 0], &[1, 0, 3, 0]),
        ("x.u16.zst", zstd(&[3, 0, 1, 0]), &[1, 0, 3, 0]),
    ] {
        let reader = Input::reader(name, io::Cursor::new(content.clone()));
        for input in [Input::bytes(name, &content), reader] {
            let mut sorted = Vec::new();
            let sort = if name.contains("u16") { Sort::new() } else { Sort::new().key("n") };
            sort.input(input).write_to(&mut sorted).unwrap();
            assert_eq!(sorted, expected, "{name}");
        }
    }
}

#[test]
fn a_key_of_text_is_what_the_command_reads() {
    let table = || Sort::new().input(Input::bytes("t.csv", b"price,b\n3,4\n10,x\n"));
    let sorted = |sort: Sort| {
        let mut sorted = Vec::new();
        sort.write_to(&mut sorted).map(|_| String::from_utf8(sorted).unwrap())
    };
    for key in ["price:r", "1nr", "price:text"] {
        assert_eq!(sorted(table().key(key)).unwrap(), "price,b\n10,x\n3,4\n", "{key}");
    }
    let error = sorted(table().key("price:up!")).unwrap_err();
    assert!(error.to_string().starts_with("t.csv: key 'price:up!': unknown modifier 'up!'"), "{error}");
    let error = sorted(table().key(Key::column("price:r"))).unwrap_err();
    assert_eq!(error.to_string(), "t.csv: no column 'price:r'; columns: 'price', 'b'");
    assert_eq!(error.advice().unwrap(), "use key(\"price:r\")");
    assert_eq!(sorted(table().key(Key::record())).unwrap(), "price,b\n10,x\n3,4\n");
}

#[test]
fn bytes_and_readers_may_be_compressed() {
    let text: String = (0..30_000_u64).map(|i| format!("{}\n", i * 7919 % 30_011)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut expected: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
    expected.sort_unstable();
    for input in [Input::bytes("in", &gzip), Input::reader("in", io::Cursor::new(gzip.clone()))] {
        let mut sorted = Vec::new();
        Sort::new().input(input).write_to(&mut sorted).unwrap();
        let sorted = String::from_utf8(sorted).unwrap();
        assert!(sorted.lines().map(|line| line.parse::<u64>().unwrap()).eq(expected.iter().copied()));
    }
}

#[test]
fn bgzf_is_written_into_files_of_gzip_and_writers() {
    let folder = Folder::new();
    let input = || Input::bytes("in", b"1\n2\n");
    let (mut sorted, mut merged) = (Vec::new(), Vec::new());
    Sort::new().input(input()).bgzf().write_to(&mut sorted).unwrap();
    Merge::new().input(input()).bgzf().write_to(&mut merged).unwrap();
    assert!(sorted.starts_with(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0") && sorted == merged);
    let mut content = Vec::new();
    flate2::read::MultiGzDecoder::new(&sorted[..]).read_to_end(&mut content).unwrap();
    assert_eq!(content, b"1\n2\n");
    Sort::new().input(input()).bgzf().output(folder.path("x.gz")).unwrap();
    Sort::new().input(input()).output(folder.path("x.bgz")).unwrap();
    for name in ["x.gz", "x.bgz"] {
        assert!(fs::read(folder.path(name)).unwrap() == sorted, "{name}");
    }
}

#[test]
fn options_that_do_not_fit_are_refused_before_anything_is_written() {
    let folder = Folder::new();
    let (text, table) = (folder.write("a.txt", "2\n1\n"), folder.write("a.csv", "n\n2\n1\n"));
    let target = folder.write("target", "kept");
    let refused = |sort: Sort, said: &str| {
        let error = sort.output(&target).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Options { .. }), "{error}");
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(fs::read(&target).unwrap(), b"kept");
    };
    refused(Sort::new(), "no input");
    refused(Sort::new().input(&text).bgzf(), "bgzf writes gzip, but");
    refused(Sort::new().input(&text).format(Format::Text).key("x"), "key applies to tables and lines");
    refused(Sort::new().input(&text).input(&table), "is text or lines, but");
    refused(Sort::new().input(&table).to(Format::Npy), "cannot be written as npy");
    refused(Sort::new().input(&table).positions().to(Format::Csv), "positions cannot be written as a table");
    refused(Sort::new().input(&table).key(Key::number(0)), "key '0': columns are numbered from 1");
    refused(Sort::new().input("a.jsonl").key(Key::number(0).descending()), "key '0': columns are numbered");
    for (sort, delimiter) in
        [(Sort::new().input(&text), b'\n'), (Sort::new().input(&text).zero_terminated(), 0)]
    {
        refused(sort.delimiter(delimiter), "the end of a line cannot separate its fields");
    }
    refused(Sort::new().input(&table).delimiter(b'\n'), "a quote or line end cannot separate");
    let error = Sort::new().input(&table).key(Key::column("m").descending()).output(&target).unwrap_err();
    assert!(error.to_string().ends_with("no column 'm'; columns: 'n'"), "{error}");
    assert_eq!(fs::read(&target).unwrap(), b"kept");
}

#[test]
fn a_report_counts_what_was_read_and_left_out() {
    let table = b"n,x\n3,a\n,b\nnan,c\n1,d\n1,e\nword,f\n";
    let sort = Sort::new().input(Input::bytes("t", table)).format(Format::Csv).key("n").unique();
    let sort = sort.invalid(gpusort::files::Invalid::Skip).top(3);
    let mut sorted = Vec::new();
    let report = sort.write_to(&mut sorted).unwrap();
    assert_eq!(sorted, b"n,x\n1,d\n3,a\nnan,c\n");
    let counts = report.counts;
    assert_eq!((counts.nan, counts.empty, counts.invalid, counts.skipped), (1, 1, 1, 1));
    assert_eq!((report.records, report.repeated, report.cut), (5, 1, 1));
    assert_eq!((&report.types[..], report.format, report.runs), ("number", Format::Csv, 0));
}

/// Numbers that become elements are counted as those that stay text are.
#[test]
fn a_report_of_elements_counts_nan() {
    let text = "nan\n-1.5\nNaN\n2\n".repeat(500);
    for memory in [1000, u64::MAX] {
        for to in [Format::Text, Format::Binary] {
            let sort = Sort::new().input(Input::bytes("in", text.as_bytes())).memory(memory).to(to);
            let report = sort.write_to(&mut Vec::new()).unwrap();
            assert_eq!((report.records, report.counts.nan), (2000, 1000), "{memory} {to:?}");
            assert_eq!(report.runs > 0, memory == 1000, "{memory} {to:?}");
        }
    }
}

#[test]
fn progress_tells_of_every_phase_to_its_end() {
    let text: String = (0..100_000_u64).map(|i| format!("{} x\n", i * 7919 % 100_003)).collect();
    let seen = Mutex::new(Vec::new());
    let sort = Sort::new().input(Input::bytes("in", text.as_bytes())).memory(100_000);
    let report = sort.progress(|progress| seen.lock().unwrap().push(progress)).write_to(&mut Vec::new());
    assert!(report.unwrap().runs > 10);
    let seen = seen.into_inner().unwrap();
    let of = |phase| seen.iter().filter(move |progress| progress.phase == phase);
    let size = text.len() as u64;
    assert_eq!(
        of(Phase::Read).next_back(),
        Some(&Progress { phase: Phase::Read, done: size, total: Some(size) })
    );
    let merged: Vec<u64> = of(Phase::Merge).map(|progress| progress.done).collect();
    assert!(merged.is_sorted() && merged[0] == 0 && merged.last() == Some(&100_000), "{merged:?}");
}

/// The longest file without a name in this folder that this process has open.
#[cfg(target_os = "linux")]
fn longest_unnamed(folder: &std::path::Path) -> u64 {
    let links = fs::read_dir("/proc/self/fd").unwrap().filter_map(|link| Some(link.ok()?.path()));
    let is_there = |link: &std::path::PathBuf| {
        fs::read_link(link).is_ok_and(|target| {
            target.starts_with(folder) && target.to_string_lossy().ends_with(" (deleted)")
        })
    };
    links.filter(is_there).filter_map(|link| Some(fs::metadata(link).ok()?.len())).max().unwrap_or(0)
}

/// The size that the output has when the first records were merged.
#[cfg(target_os = "linux")]
fn reserved(sort: impl FnOnce(&(dyn Fn(Progress) + Send + Sync), &std::path::Path)) -> u64 {
    let folder = Folder::new();
    let output = folder.path("sorted");
    let seen = Mutex::new(0);
    let look = |progress: Progress| {
        let mut seen = seen.lock().unwrap();
        if progress.phase == Phase::Merge && progress.done > 0 && *seen == 0 {
            *seen = longest_unnamed(&folder.root());
        }
    };
    sort(&look, &output);
    seen.into_inner().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn outputs_of_known_size_have_their_space_from_the_beginning() {
    // Long lines, since of short ones all are merged at once.
    let line = |number: u64| format!("{number:0>1000}\n");
    let lines: String = (0..30_000_u64).map(|number| line(number * 7919 % 30_011)).collect();
    let numbers: Vec<u8> = (0..4_000_000_u32).rev().flat_map(u32::to_le_bytes).collect();
    let inputs = |name: &str, bytes: &[u8]| Input::bytes(name, bytes);
    let temp = Folder::new();
    for (name, bytes, top, expected) in [
        ("x", lines.as_bytes(), u64::MAX, lines.len()),
        ("x.u32", &numbers[..], u64::MAX, numbers.len()),
        ("x.u32", &numbers[..], 3_000_000, 12_000_000),
    ] {
        let size = reserved(|look, output| {
            let sort = Sort::new().input(inputs(name, bytes)).memory(2 << 20).temp_dir(temp.root());
            let sort = if top < u64::MAX { sort.top(top) } else { sort };
            sort.progress(look).output(output).unwrap();
            assert_eq!(fs::metadata(output).unwrap().len(), expected as u64);
        });
        assert_eq!(size, expected as u64, "{name} {top}");
    }
    let mut ordered = Vec::new();
    Sort::new().input(inputs("x.u32", &numbers)).write_to(&mut ordered).unwrap();
    let rows: String = (0..30_000_u64).map(line).collect();
    for (name, bytes) in [("x", rows.as_bytes()), ("x.u32", &ordered[..])] {
        let size = reserved(|look, output| {
            let merge = Merge::new().input(inputs(name, bytes)).input(inputs(name, bytes));
            merge.progress(look).output(output).unwrap();
        });
        assert_eq!(size, 2 * bytes.len() as u64, "{name}");
    }
    // What is left out is not known.
    let size = reserved(|look, output| {
        let merge = Merge::new().input(inputs("x", rows.as_bytes())).unique();
        merge.progress(look).output(output).unwrap();
    });
    assert!(size < rows.len() as u64, "{size}");
}

/// Cancels when so many bytes were read.
struct Cancelling(Cancel, usize, io::Cursor<Vec<u8>>);

impl Read for Cancelling {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let most = room.len().min(1000);
        if self.2.position() as usize >= self.1 {
            self.0.cancel();
        }
        self.2.read(&mut room[..most])
    }
}

#[test]
fn cancelled_work_ends_and_leaves_everything_as_it_was() {
    let folder = Folder::new();
    let target = folder.write("target", "kept");
    let text: Vec<u8> =
        (0..20_000_u64).flat_map(|i| format!("{} x\n", i * 7 % 20_001).into_bytes()).collect();
    for at in [0, 50_000, text.len()] {
        for memory in [1000, 1 << 30] {
            let cancel = Cancel::new();
            let reader = Cancelling(cancel.clone(), at, io::Cursor::new(text.clone()));
            let sort = Sort::new().input(Input::reader("in", reader)).memory(memory).cancel(&cancel);
            let error = sort.temp_dir(folder.root()).output(&target).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
            assert_eq!(fs::read(&target).unwrap(), b"kept");
            assert_eq!(fs::read_dir(folder.root()).unwrap().count(), 1, "no temporary file remains");
        }
    }
    // While runs are merged into the output, too.
    let cancel = Cancel::new();
    let sort = Sort::new().input(Input::bytes("in", &text)).memory(100_000).cancel(&cancel);
    let sort = sort.progress(|progress| {
        if progress.phase == Phase::Merge && progress.done > 0 {
            cancel.cancel();
        }
    });
    let error = sort.output(&target).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    assert_eq!(fs::read(&target).unwrap(), b"kept");
}

#[test]
fn integers_that_are_read_straight_from_a_file_have_their_type() {
    let folder = Folder::new();
    // Larger than what is read as a whole text.
    for (last, expected) in [("-1", "<i4"), ("4294967296", "<u8"), ("7", "<u4")] {
        let path = folder.write("numbers.txt", "1234567\n".repeat(50_000) + last);
        let mut array = Vec::new();
        let report = Sort::new().input(&path).to(Format::Npy).write_to(&mut array).unwrap();
        assert_eq!(report.records, 50_001);
        let header = String::from_utf8_lossy(&array[..128]).into_owned();
        assert!(header.contains(&format!("'descr': '{expected}'")), "{header}");
        // As lines they are numbers, of no type.
        let report = Sort::new().input(&path).write_to(&mut Vec::new()).unwrap();
        assert_eq!((report.types.as_str(), report.records), ("number", 50_001));
    }
}

#[test]
fn records_of_a_program_are_sorted_in_memory_and_in_parts() {
    let all: Vec<String> =
        (0..50_000_u32).map(|n| format!("{} x", n.wrapping_mul(0x9E37_79B9) >> 8)).collect();
    let mut expected = all.clone();
    expected.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u32>().unwrap());
    for memory in [1 << 30, 1 << 14] {
        let sorted = External::new().key("1").memory(memory).records(all.clone()).unwrap();
        let sorted: Vec<Vec<u8>> = sorted.collect::<Result<_, _>>().unwrap();
        assert!(sorted.iter().map(Vec::as_slice).eq(expected.iter().map(String::as_bytes)), "{memory}");
    }
    let first = External::new().format(Format::JsonLines).key("n").descending().top(1);
    let first: Vec<Vec<u8>> =
        first.records([r#"{"n":2}"#, r#"{"n":10}"#]).unwrap().map(Result::unwrap).collect();
    assert_eq!(first, [br#"{"n":10}"#]);
    let rows = vec!["item,price".to_owned(), "pen,1.20".to_owned(), "desk,249".to_owned()];
    let by_name = External::new().format(Format::Csv).key("price:r").records(rows.clone()).unwrap();
    let by_name: Vec<Vec<u8>> = by_name.map(Result::unwrap).collect();
    assert_eq!(by_name, [&b"item,price"[..], b"desk,249", b"pen,1.20"]);
    let error = External::new().format(Format::Csv).records(rows).unwrap_err();
    assert_eq!(error.advice().unwrap(), "use key(\"item\")");
    // Every byte of a record comes back: other line ends, nothing, and the end of records in other modes.
    let bytes = [&b"b\r"[..], b"", b"a\nb", b"\xFF\t"];
    let sorted = External::new().zero_terminated().key("0").records(bytes).unwrap();
    let sorted: Vec<Vec<u8>> = sorted.map(Result::unwrap).collect();
    assert_eq!(sorted, [&b""[..], b"a\nb", b"b\r", b"\xFF\t"]);
    assert_eq!(External::new().records(Vec::<String>::new()).unwrap().count(), 0);
    for (record, problem) in [
        (&b"a\nb"[..], "record 1: contains a line end, which would divide it"),
        (b"\xEF\xBB\xBFa", "record 1: begins like compressed data"),
        (b"\x1F\x8B\x08", "record 1: begins like compressed data"),
    ] {
        let error = External::new().records([record]).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let error = External::new().format(Format::Text).records(["1"]).unwrap_err().to_string();
    assert!(error.contains("records are lines"), "{error}");
    let error = External::new().key("1:number").records(["1", "x"]).unwrap_err().to_string();
    assert!(error.starts_with("records:2: 'x' is not a number"), "{error}");
}

#[cfg(feature = "arrow")]
#[test]
fn batches_of_a_program_are_sorted_in_memory_and_in_parts() {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{
        ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    };

    let batch = |numbers: Vec<Option<i64>>| {
        let names: StringArray = numbers.iter().map(|n| n.map(|n| format!("name {n}"))).collect();
        let columns = [("n", Arc::new(Int64Array::from(numbers)) as ArrayRef), ("name", Arc::new(names))];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
    };
    let numbers = |at: i64| {
        (0..2000).map(|n| Some((n * 7919 + at * 104_729) % 100_003).filter(|n| n % 50 > 0)).collect()
    };
    let all: Vec<RecordBatch> = (0..20).map(|at| batch(numbers(at))).collect();
    let mut expected: Vec<Option<i64>> = (0..20).flat_map(|at| numbers(at) as Vec<_>).collect();
    expected.sort_by_key(|n| n.map_or((true, 0), |n| (false, n)));
    let schema = all[0].schema();
    for memory in [1 << 30, 1 << 18] {
        let batches = RecordBatchIterator::new(all.clone().into_iter().map(Ok), schema.clone());
        let sorted = External::new().key("n").memory(memory).batches(batches).unwrap();
        let sorted: Vec<RecordBatch> = sorted.collect::<Result<_, _>>().unwrap();
        let column =
            |batch: &RecordBatch| batch.column(0).as_primitive::<Int64Type>().iter().collect::<Vec<_>>();
        assert_eq!(sorted.iter().flat_map(column).collect::<Vec<_>>(), expected, "{memory}");
        let is_named = |batch: &RecordBatch| {
            let names = batch.column(1).as_string::<i32>().iter();
            column(batch)
                .into_iter()
                .map(|n| n.map(|n| format!("name {n}")))
                .eq(names.map(|name| name.map(str::to_owned)))
        };
        assert!(sorted.iter().all(is_named));
    }
    let none = RecordBatchIterator::new(std::iter::empty(), schema.clone());
    let sorted = External::new().key("n").batches(none).unwrap();
    assert_eq!((sorted.schema(), sorted.count()), (schema.clone(), 0));
    let batches = RecordBatchIterator::new(all.into_iter().map(Ok), schema);
    let error = External::new().key("x").batches(batches).err().unwrap().to_string();
    assert!(error.contains("batches"), "{error}");
}
