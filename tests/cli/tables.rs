//! Tables: rows byte for byte, several keys, headers, line ends, and what is wrong with a field.

use std::fs;

use proptest::prelude::*;

use crate::device;
use crate::inputs::random;
use crate::support::command::{refused, run, sorted, stderr};
use crate::support::files::Folder;

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
    assert!(refused(&["sort", "-k", "2", &table, &third], "").contains("v.csv:1: the header differs from"));
}

#[test]
fn errors_in_a_table_name_their_place() {
    let folder = Folder::new();
    let table = folder.write("t.csv", "id,price\n1,5\n2,n/a\n3,\n4,nan\n5,7\n");
    let told = |args: &[&str]| refused(&[&["sort", "-k", "price"], args, &[table.as_str()]].concat(), "");
    let words = format!("{table}:3: 'n/a' is not a number, but '5' ({table}:2) is; use -k price:text, ");
    let said = told(&[]);
    assert!(said.contains(&(words + "-k price:number --invalid last, or --na n/a\n")), "{said}");
    let last = ["--invalid", "last"];
    let empty = told(&[&last[..], &["--empty", "error"]].concat());
    assert!(empty.contains("t.csv:4: the field is empty"), "{empty}");
    let nan = told(&[&last[..], &["--nan", "error"]].concat());
    assert!(nan.contains("t.csv:5: 'nan' is NaN, not allowed"), "{nan}");
    let wide = told(&["-t", "u32", "--invalid", "skip"]);
    assert!(wide.contains("t.csv:5: 'nan' is not a number that u32 holds"), "{wide}");
    let placed =
        |args: &[&str]| sorted(&[&["sort", "-q", "-k", "price"], args, &[table.as_str()]].concat(), "");
    assert_eq!(placed(&last), "id,price\n1,5\n5,7\n4,nan\n3,\n2,n/a\n");
    assert_eq!(placed(&[&["-r"], &last[..]].concat()), "id,price\n5,7\n1,5\n4,nan\n3,\n2,n/a\n");
    let first = ["--invalid", "first", "--empty", "first", "--nan", "first"];
    assert_eq!(placed(&first), "id,price\n2,n/a\n3,\n4,nan\n1,5\n5,7\n");
    assert_eq!(placed(&["--invalid", "skip"]), "id,price\n1,5\n5,7\n4,nan\n3,\n");
    let counts = stderr(&run(&["sort", "-v", "-k", "price", "--invalid", "skip", &table], ""));
    assert!(counts.contains("; 1 NaN; 1 empty; 1 invalid: n/a; 1 row skipped;"), "{counts}");

    let note = "took the first row, '5', as the header; use --no-header if it is data";
    assert!(stderr(&run(&["sort", "-f", "csv"], "5\n3\n1\n")).contains(note));
    assert!(!stderr(&run(&["sort", "-f", "csv", "-k", "5"], "5\n3\n1\n")).contains(note));
    assert!(!stderr(&run(&["sort", "-q", "-f", "csv"], "5\n3\n1\n")).contains(note));
    let missing = refused(&["sort", "-k", "prices", &table], "");
    assert!(missing.contains("t.csv: no column 'prices'; columns: 'id', 'price'"), "{missing}");
    assert!(refused(&["sort", &table], "").contains("choose a key column: 'id', 'price'; use -k id"));
    let ragged = refused(&["sort", "-f", "csv", "-k", "1"], "a,b\n1,\"x\ny\"\n2\n");
    assert!(ragged.contains("standard input:4: 1 field, but the first row has 2"), "{ragged}");
    let unclosed = refused(&["sort", "-f", "csv", "-k", "1"], "a,b\n1,2\n3,\"x\n4,5\n");
    assert!(unclosed.contains("standard input:3: a quote opened"), "{unclosed}");
    // Numbers are exact, whatever types hold them.
    for (numbers, expected) in [
        ("9007199254740993\n0.5\n9007199254740992.5\n", "0.5\n9007199254740992.5\n9007199254740993\n"),
        (
            "18446744073709551616\n-1\n18446744073709551615\n",
            "-1\n18446744073709551615\n18446744073709551616\n",
        ),
    ] {
        let table = format!("x\n{numbers}");
        assert_eq!(sorted(&["sort", "-q", "-f", "csv", "-k", "x"], &table), format!("x\n{expected}"));
    }
}

/// Rows of a table, each with its number, in the order of their keys by the standard library's
/// stable sort.
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

#[test]
fn the_oracle_of_two_keys_tells_directions_and_ties_apart() {
    let rows = [(2, 0), (1, 1), (1, 0), (1, 1)];
    assert_eq!(by_standard_library(&rows, [false, false]), "1,0,2\n1,1,1\n1,1,3\n2,0,0\n");
    assert_eq!(by_standard_library(&rows, [false, true]), "1,1,1\n1,1,3\n1,0,2\n2,0,0\n");
    assert_eq!(by_standard_library(&rows, [true, false]), "2,0,0\n1,0,2\n1,1,1\n1,1,3\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_keys_packed_into_one_word_or_two(
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
fn a_table_read_in_parallel_parts_is_joined_correctly() {
    let folder = Folder::new();
    // Some megabytes, with quotes that mislead a parser which only counts them.
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

#[test]
fn blank_lines_of_a_one_column_table_are_rows() {
    let folder = Folder::new();
    let files =
        [("one", "1\n"), ("blank", "\n\r\n\n"), ("empty", ""), ("lacking", "\n\r"), ("wide", "1,2\n")];
    let [one, blank, empty, lacking, wide] =
        files.map(|(name, bytes)| folder.write(&format!("{name}.csv"), bytes));
    let table = ["-q", "--no-header", "-k", "1"];
    for files in [
        &[&one, &blank][..],
        &[&blank, &one],
        &[&blank, &blank],
        &[&empty, &blank, &lacking],
        &[&lacking, &one],
        &[&wide, &blank],
        &[&wide, &lacking],
    ] {
        let files: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
        let [merged, expected] =
            [&["sort", "-m"][..], &["sort"]].map(|command| sorted(&[command, &table, &files].concat(), ""));
        assert_eq!(merged, expected, "{files:?}");
    }
    // In so little memory, too, that the blank lines alone are too much.
    let blank_lines = folder.write("lines.csv", "\n".repeat(300));
    let rows = folder.write("rows.csv", "2,x\n1,y\n");
    for (files, key) in [
        ([&rows, &blank_lines], "1"),
        ([&rows, &blank_lines], "2"),
        ([&blank_lines, &blank_lines], "1"),
        ([&blank_lines, &one], "1"),
        ([&one, &blank_lines], "1"),
    ] {
        let invalid = ["--invalid", "last"];
        for positions in [&[][..], &["--argsort"]] {
            let table = ["sort", "-q", "--no-header", "-k", key, files[0], files[1]];
            let [whole, little] = [&[][..], &["--memory", "512"]]
                .map(|memory| sorted(&[&table[..], &invalid, positions, memory].concat(), ""));
            assert_eq!(whole, little, "{files:?} {key} {positions:?}");
        }
    }
    // Nor is a long header parted, nor one that is blank, nor a mark.
    let names: Vec<String> = (0..800).map(|number| format!("column_{number:04}")).collect();
    let row = |number: u32| format!("{}{}\n", number * 7 % 50, ",x".repeat(799));
    let long = format!("{}\n\n{}", names.join(","), (0..60).map(row).collect::<String>());
    let marked = format!("\u{feff}{}k\n1\n9\n3\n", "\n".repeat(300));
    let [long, marked, plain, more, only] = [
        ("long", &long),
        ("marked", &marked),
        ("plain", &format!("k\n{}", "5\n3\n".repeat(150))),
        ("more", &"\n".repeat(300)),
        ("only", &format!("\u{feff}{}", "\n".repeat(3000))),
    ]
    .map(|(name, bytes)| folder.write(&format!("{name}.csv"), bytes));
    for (files, options) in [
        (&[&long][..], &["-k", "column_0000"][..]),
        (&[&long, &long], &["-k", "1"]),
        (&[&marked], &[]),
        (&[&plain, &plain], &[]),
        (&[&more, &plain], &["--no-header", "-k", "1"]),
        (&[&more, &only], &["--no-header"]),
        (&[&only], &["--no-header"]),
        (&[&only, &more, &one], &["--no-header"]),
    ] {
        let files: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
        for positions in [&[][..], &["--argsort"]] {
            let table = [&["sort", "-q", "--invalid", "last"], options, positions, &files].concat();
            let whole = sorted(&table, "");
            for memory in ["512", "1K", "4K", "16K"] {
                let little = sorted(&[&table[..], &["--memory", memory]].concat(), "");
                assert_eq!(whole, little, "{files:?} {options:?} {positions:?} {memory}");
            }
        }
    }
    assert_eq!(sorted(&["sort", "-m", "-q", "--no-header", "-k", "1", &one, &blank], ""), "1\n\n\r\n\n");
    assert_eq!(sorted(&["sort", "-m", "-q", "--no-header", "-k", "1", &wide, &blank], ""), "1,2\n\n\r\n\n");
    // The first row says how many fields there are, and a header may be blank, but differs then.
    for command in [&["sort"][..], &["sort", "-m"], &["check"]] {
        let said = refused(&[command, &["--no-header", "-k", "1", &blank, &wide]].concat(), "");
        assert!(said.contains("wide.csv:1: 2 fields, but the first row has 1"), "{said}");
        for files in [[&marked, &plain], [&plain, &more]] {
            let said = refused(&[command, &["-k", "1", files[0], files[1]]].concat(), "");
            assert!(said.contains(&format!("{}:1: the header differs", files[1])), "{said}");
        }
    }
    // Of a check the order of the inputs tells whether the rows were there.
    for (files, code) in [([&blank, &one], 1), ([&one, &blank], 0), ([&wide, &blank], 0)] {
        let output = run(&["check", "--no-header", "-k", "1", files[0], files[1]], "");
        assert_eq!(output.status.code(), Some(code), "{files:?}: {}", stderr(&output));
        let piped = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<String>();
        let output = run(&["check", "-f", "csv", "--no-header", "-k", "1"], &piped);
        assert_eq!(output.status.code(), Some(code), "{files:?} from a pipe: {}", stderr(&output));
    }
}

#[test]
fn cr_alone_ends_no_line_and_is_refused_where_nothing_else_does() {
    let folder = Folder::new();
    let text = folder.write("old.txt", "3\r1\r2\r");
    for command in [&["sort"][..], &["sort", "-n"], &["sort", "-m"], &["check"]] {
        let said = refused(&[command, &[text.as_str()]].concat(), "");
        assert!(said.contains("old.txt:1: lines seem to end in CR alone"), "{said}");
        assert!(said.contains("tr '\\r' '\\n' < FILE"), "{said}");
    }
    // Numbers of text are between blanks, of which CR is one.
    assert_eq!(sorted(&["sort", "-q", "-f", "text", &text], ""), "1\n2\n3\n");
    // The whole line is its bytes, as a line among others is.
    assert_eq!(sorted(&["sort", "-q", "-k", "0"], "b\rc\r"), "b\rc\r\n");
    assert_eq!(sorted(&["sort", "-q"], "b\rc\na\n"), "a\nb\rc\n");
    for (options, table) in [
        (&["-k", "a"][..], "a\r2\r1\r"),
        (&["-k", "a"], "a,b\r2,1\r1,2\r"),
        (&["-k", "1", "--no-header"], "2\r1\r"),
    ] {
        let file = folder.write("old.csv", table);
        for command in [&["sort"][..], &["sort", "-m"], &["check"]] {
            let said = refused(&[command, options, &[file.as_str()]].concat(), "");
            assert!(said.contains("old.csv:1: lines seem to end in CR alone"), "{said}");
        }
    }
    // In a row among others it is a byte of a field.
    let table = "3,z\n2,x\ry\n1,\"x\ry\"\n";
    let rows = sorted(&["sort", "-q", "-f", "csv", "--no-header", "-k", "1"], table);
    assert_eq!(rows, "1,\"x\ry\"\n2,x\ry\n3,z\n");
}

#[test]
fn the_last_row_gets_only_the_missing_part_of_its_line_end() {
    for (table, expected) in [
        ("a\r\n2\r\n1\r", "a\r\n1\r\n2\r\n"),
        ("a\r\n2\r\n1", "a\r\n1\r\n2\r\n"),
        ("a\n2\n1\r", "a\n1\r\n2\n"),
        ("a\n2\n1", "a\n1\n2\n"),
    ] {
        assert_eq!(sorted(&["sort", "-q", "-f", "csv", "-k", "a"], table), expected, "{table:?}");
        assert_eq!(sorted(&["sort", "-q", "-f", "csv", "-k", "a"], expected), expected, "it is read again");
        assert_eq!(sorted(&["sort", "-m", "-r", "-q", "-f", "csv", "-k", "a"], table).len(), expected.len());
    }
}

#[test]
fn headers_are_compared_byte_by_byte() {
    let folder = Folder::new();
    let [a, b, c] = [b"a\xff\n1\n", b"a\xfe\n0\n", b"a\xff\n0\n"].map(|bytes| {
        let name = format!("{}.csv", folder.names().len());
        folder.write(&name, bytes)
    });
    for command in [&["sort"][..], &["sort", "-m"], &["check"]] {
        let said = refused(&[command, &["-k", "1", &a, &b]].concat(), "");
        assert!(said.contains("the header differs"), "{said}");
    }
    assert_eq!(run(&["sort", "-q", "-m", "-k", "1", &a, &c], "").stdout, b"a\xff\n0\n1\n");
}

#[test]
fn null_fields_are_counted_once_despite_look_ahead() {
    let folder = Folder::new();
    let table = folder.write("t.csv", "a,b\nx,-0\n,0\n");
    let places = ["--nan", "error", "--invalid", "first", "--empty", "last"];
    for command in [&["sort", "-m"][..], &["sort"]] {
        let rest = ["--json", "-k", "a:number", "-k", "b", "-o", "/dev/null", &table];
        let timing = sorted(&[command, &places, &rest].concat(), "");
        let timing: serde_json::Value = serde_json::from_str(&timing).unwrap();
        assert_eq!((&timing["invalid"], &timing["empty"]), (&1.into(), &1.into()), "{command:?}");
    }
    let options = ["check", "-f", "csv", "-k", "a", "--nan", "error", "--invalid", "last"];
    let said = stderr(&run(&options, "a\nx\n1\n"));
    assert!(said.contains("1 after x (invalid)"), "{said}");
}

#[test]
fn the_first_input_decides_on_the_byte_order_mark() {
    let folder = Folder::new();
    let mark = "\u{feff}";
    let [empty, marked, table, both] = [("e", ""), ("m", mark), ("t", "a\n1\n"), ("b", "\u{feff}a\n1\n")]
        .map(|(name, bytes)| folder.write(&format!("{name}.csv"), bytes));
    for (files, begins) in [
        ([&marked, &table], true),
        ([&empty, &both], false),
        ([&table, &both], false),
        ([&both, &table], true),
        ([&marked, &marked], true),
    ] {
        let [merged, whole] = [&["sort", "-m"][..], &["sort"]]
            .map(|command| sorted(&[command, &["-q", "-k", "1", files[0], files[1]]].concat(), ""));
        assert_eq!(merged, whole, "{files:?}");
        assert_eq!(whole.starts_with(mark), begins, "{files:?}");
    }
}

/// Columns keep the sign of a zero, so a repeated key has the same sign.
#[cfg(feature = "arrow")]
#[test]
fn zeros_of_both_signs_are_two_keys_of_a_column() {
    let folder = Folder::new();
    for name in ["zeros.arrow", "zeros.parquet"] {
        let table = folder.arg(name);
        let text = "v,w\n0.5,1\n-0.0,2\n0.0,3\n0.5,4\n0.0,5\n";
        sorted(&["sort", "-q", "-f", "csv", "-k", "w", "-o", &table], text);
        let once = ["sort", "-q", "-u", "-k", "v", "--to", "csv", &table];
        assert_eq!(sorted(&once, ""), "v,w\n-0.0,2\n0.0,3\n0.5,1\n", "{name}");
    }
}
