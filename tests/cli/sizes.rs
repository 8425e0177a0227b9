//! Sizes that no 64-bit number holds, and how sorts, checks and merges agree about them.

use crate::support::command::{refused, run, sorted, stderr};
use crate::support::files::Folder;

/// Sizes in order, of which some repeat.
const RISING: &str = "-1Q\n-16E\n-18446744073709551615\n-1.5\n0\n0.5\n1K\n9007199254740992\n9007199254740993\n\
    9007199254740993.5\n15E\n18446744073709551615\n16E\n1Z\n1.5ZiB\n1.00001e22\n1e23\n100000000000000000000001\n1YB\n1y\n\
    1RB\n1R\n1QB\n1Q\n1.0000000000000000000000001Q\n134217720Q\n1e300\n";

/// The lines in another order.
fn mixed(lines: &str) -> String {
    let lines: Vec<&str> = lines.lines().collect();
    let (even, odd) = (lines.iter().step_by(2), lines.iter().skip(1).step_by(2));
    odd.chain(even.rev()).map(|line| format!("{line}\n")).collect()
}

#[test]
fn sizes_of_more_than_64_bits_are_exact() {
    let folder = Folder::new();
    // Without decimals, too.
    let whole: String =
        RISING.lines().filter(|line| !line.contains(['.', 'e'])).map(|line| format!("{line}\n")).collect();
    for rising in [RISING, &whole, "0\n-0\n16E\n", "-1\n9223372036854775808\n"] {
        let mixed = mixed(rising);
        for args in [
            &["-k", "1"][..],
            &["-k", "1", "-u"],
            &["-k", "1", "--memory", "1"],
            &["-f", "csv", "--no-header"],
            &[],
        ] {
            let given = if rising.contains("-0") { rising } else { &mixed };
            let expected = match (args, rising) {
                (["-k", "1", "-u"], _) => rising.replace("-0\n", ""),
                // Without a key, the whole line decides between equal sizes.
                ([], "0\n-0\n16E\n") => "-0\n0\n16E\n".to_owned(),
                _ => rising.to_owned(),
            };
            let args = [&["sort", "-q", "-t", "size"], args].concat();
            assert_eq!(sorted(&args, given), expected, "{args:?}");
        }
        let falling: Vec<&str> = rising.lines().rev().collect();
        if !rising.contains("-0") {
            let falling = falling.join("\n") + "\n";
            assert_eq!(sorted(&["sort", "-qhr"], &mixed), falling);
            assert!(run(&["check", "-u", "-r", "-t", "size"], &falling).status.success());
        }
        let checked = run(&["check", "-t", "size", "-k", "1", &folder.write("rising", rising)], "");
        assert!(checked.status.success(), "{}", stderr(&checked));
    }
    let checks =
        |args: &[&str], lines: &str| run(&[&["check", "-t", "size"], args].concat(), lines).status.code();
    for (lines, other) in [("16E\n18446744073709551616\n", 0), ("0\n-0\n16E\n", 1)] {
        assert_eq!(checks(&["-k", "1"], lines), Some(0), "{lines}");
        assert_eq!(checks(&["-k", "1", "-u"], lines), Some(1), "{lines}");
        // As whole lines they differ.
        assert_eq!(checks(&["-u"], lines), Some(other), "{lines}");
    }
}

#[test]
fn large_sizes_are_merged_in_the_order_of_a_sort() {
    let folder = Folder::new();
    // Enough for runs in temporary files, and for pieces of several cores.
    let line = |number: u64| match number % 5 {
        0 => format!("{}.5 x\n", number % 977),
        1 => format!("{}Q\n", number % 89),
        2 => format!("{}\n", 9_007_199_254_740_993 + number % 7),
        3 => format!("{}K y\n", number % 1009),
        _ => "\n".to_owned(),
    };
    let lines: String = (0..40_000_u64).map(|number| line(number.wrapping_mul(2_654_435_761) >> 7)).collect();
    let sort = |args: &[&str], lines: &str| sorted(&[&["sort", "-q", "-h"], args].concat(), lines);
    for args in [&[][..], &["-r"], &["-u"], &["-k", "1:r", "-k", "2", "--invalid", "first"]] {
        let all = sort(args, &lines);
        assert_eq!(sort(&[args, &["--memory", "64K"]].concat(), &lines), all, "{args:?}");
        let cut = 1 + lines[..150_000].rfind('\n').unwrap();
        let parts: Vec<String> = [&lines[..cut], &lines[cut..]]
            .iter()
            .enumerate()
            .map(|(number, part)| folder.write(&number.to_string(), sort(args, part)))
            .collect();
        let merged = sort(&[args, &["-m", &parts[0], &parts[1]]].concat(), "");
        assert!(merged == all, "{args:?}");
        let mut check = vec!["check", "-t", "size"];
        check.extend(args);
        assert!(run(&check, &all).status.success(), "{args:?}");
    }
}

#[test]
fn sizes_are_as_large_and_as_small_as_exponents_go() {
    let rising = "-1\n1e-3000000000kB\n1\n134217728Q\n1e3000000000kB\n";
    assert_eq!(sorted(&["sort", "-qh"], &mixed(rising)), rising);
    let error = refused(&["sort", "-h"], "1\n1e2000000000000000000kB\n");
    assert!(error.contains(":2: '1e2000000000000000000kB' is not a size"), "{error}");
    let decimals = "1e23\n0.5\n-3\n";
    assert_eq!(sorted(&["sort", "-qh"], decimals), sorted(&["sort", "-q", "-k", "1"], decimals));
}

#[test]
fn disorder_is_told_in_the_spelling_of_the_keys() {
    for (args, lines, said) in [
        (&["-t", "size"][..], "10M\n3K\n", ":2: out of order: 3K after 10M\n"),
        (&["-t", "size", "-r"], "1Q x\n02.0Q y\n", ":2: out of order: 02.0Q after 1Q\n"),
        (&["-f", "csv", "-k", "x"], "x\n\"1e3\"\n+7\n", ":3: out of order: +7 after 1e3\n"),
        (&["-n", "--leading"], "12ms\n7%\n", ":2: out of order: 7% after 12ms\n"),
        (&[], "007\n1.0\n", ":2: out of order: 1.0 after 007\n"),
        (&["-k", "1", "--empty", "first"], "5\n\n", ":2: out of order: an empty field after 5\n"),
    ] {
        // The last key of what all cores have passed is told, too.
        let begin = lines.split_inclusive('\n').next().unwrap();
        let (count, begin) = if args.contains(&"csv") { (1, "\"1e3\"\n") } else { (0, begin) };
        let many = begin.repeat(300_000);
        let [head, tail] =
            [&lines[..lines.len() - lines.lines().last().unwrap().len() - 1], lines.lines().last().unwrap()];
        for (given, more) in [(lines.to_owned(), 0), (format!("{head}{many}{tail}\n"), 300_000)] {
            let done = run(&[&["check"], args].concat(), &given);
            let expected = said.replace(&format!(":{}:", 2 + count), &format!(":{}:", 2 + count + more));
            assert!(stderr(&done).ends_with(&expected), "{args:?}: {} {expected}", stderr(&done));
        }
    }
}
