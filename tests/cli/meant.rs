//! Commands that cannot be, or are likely others than they seem: the error says the one that was
//! meant.

use std::process::Stdio;

use crate::support::command::{BINARY, gpusort, refused, run, shell, sorted, stderr};
use crate::support::files::Folder;

/// What a refused command with these arguments says, in a folder with some inputs.
fn said(folder: &Folder, arguments: &str) -> String {
    folder.write("pods.txt", "3\n1\n2\n");
    folder.write("x.csv", "id,price,name\n1,3,x\n2,1,y\n");
    folder.write("ps.txt", "%MEM PID\n3 1\n1 2\n");
    let done = shell(&format!("exec \"$0\" {arguments} < /dev/null"), folder);
    assert!(done.status.code() == Some(2) && done.stdout.is_empty(), "{arguments}: {}", stderr(&done));
    stderr(&done)
}

#[test]
#[cfg(unix)]
fn errors_say_the_command_that_was_meant() {
    let folder = Folder::new();
    for (arguments, meant) in [
        (
            "srot pods.txt",
            "srot: no such file or command; use: gpusort sort pods.txt, or gpusort sort srot pods.txt\n",
        ),
        ("chekc -k 2 x.csv", "use: gpusort check -k 2 x.csv, or gpusort sort chekc -k 2 x.csv\n"),
        ("--desc 'gone it.txt'", "gpusort sort -r 'gone it.txt'\n"),
        ("sort -k pods.txt", "gpusort sort pods.txt, or gpusort sort -k 1 pods.txt\n"),
        ("sort -r -k gone.txt", "gpusort sort -r gone.txt, or gpusort sort -k 1 gone.txt\n"),
        ("check -k pods.txt", "gpusort check pods.txt, or gpusort check -k 1 pods.txt\n"),
        ("sort --desc pods.txt", "--desc is not an option; use: gpusort sort -r pods.txt\n"),
        ("sort --limit 2 pods.txt", "gpusort sort --top 2 pods.txt\n"),
        ("sort --head=2 pods.txt", "gpusort sort --top 2 pods.txt\n"),
        ("sort --nlargest 2 pods.txt", "gpusort sort -r --top 2 pods.txt\n"),
        ("sort -2 pods.txt", "gpusort sort --top 2 pods.txt\n"),
        ("sort -n2 pods.txt", "-n2 is not an option; for the first 2 use: gpusort sort --top 2 pods.txt\n"),
        ("sort -n 2 pods.txt", "2: no such file; for the first 2 records use --top 2\n"),
        ("sort -k --top 2 pods.txt", "; name the column first, as in -k 1 --top\n"),
        ("sort --by price x.csv", "gpusort sort -k price x.csv\n"),
        ("check --column=price x.csv", "gpusort check -k price x.csv\n"),
        ("sort --format csv x.csv", "gpusort sort --from csv x.csv\n"),
        ("sort --output-format text pods.txt", "gpusort sort --to text pods.txt\n"),
        ("sort --numeric pods.txt", "--numeric is not needed; use: gpusort sort pods.txt\n"),
        ("sort --field-separator=, -k 1 pods.txt", "gpusort sort --delimiter , -k 1 pods.txt\n"),
        // Where it is not accepted as a whole.
        ("sort --limit many pods.txt", "--limit is not an option; use --top\n"),
        ("sort -d ';' -k 2 x.csv", "-d chooses the device; for the field separator use -t ';'\n"),
        ("sort -k -price x.csv", "; use -k price:r\n"),
        ("sort -k=-price x.csv", "; use -k price:r\n"),
        ("sort -k price:desc x.csv", "; use -k price:r\n"),
        ("sort -k Price:asc x.csv", "; did you mean 'price'? Use -k price:a\n"),
        ("check -k price:n x.csv", "; use -k price\n"),
        ("sort -k price,name x.csv", "; use -k price -k name\n"),
        ("sort --header -k MEM:r ps.txt", "; did you mean '%MEM'? Use -k %MEM:r\n"),
        ("sort -k 2:desc ps.txt", "; use -k 2:r\n"),
    ] {
        let said = said(&folder, arguments);
        assert!(said.ends_with(meant), "{arguments}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments}: {said}");
    }
    for twice in ["-o a.txt -o b.txt pods.txt", "gen -o a.txt --output b.txt"] {
        assert!(said(&folder, twice).contains("'--output <FILE>' cannot be used multiple times"), "{twice}");
    }
    assert!(!folder.path("a.txt").exists() && !folder.path("b.txt").exists());
    assert!(said(&folder, "sort --nothing x").contains("unexpected argument '--nothing'"));
}

#[test]
#[cfg(unix)]
fn sort_may_be_left_out() {
    let folder = Folder::new();
    folder.write("n.txt", "3\n1\n2\n");
    folder.write("chekc", "b\na\n");
    folder.write("du.txt", "1K\n3\n");
    for (typed, expected) in [
        ("\"$0\" n.txt", "1\n2\n3\n"),
        ("\"$0\" -r n.txt", "3\n2\n1\n"),
        ("\"$0\" -q -o out.txt n.txt; cat out.txt", "1\n2\n3\n"),
        ("cat n.txt | \"$0\"", "1\n2\n3\n"),
        ("\"$0\" < n.txt", "1\n2\n3\n"),
        ("\"$0\" - < n.txt", "1\n2\n3\n"),
        ("\"$0\" -h < du.txt", "3\n1K\n"),
        // A file may have nearly the name of a command.
        ("\"$0\" chekc", "a\nb\n"),
    ] {
        let done = shell(typed, &folder);
        assert!(done.status.success(), "{typed}: {}", stderr(&done));
        assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{typed}");
    }
    // Without anything to sort, help.
    for typed in ["-h", "--help", "help"] {
        let done = shell(&format!("\"$0\" {typed} < /dev/null"), &folder);
        let said = [done.stdout, done.stderr].concat();
        assert!(String::from_utf8_lossy(&said).contains("Commands:"), "{typed}");
    }
}

#[test]
fn merge_is_a_command() {
    let folder = Folder::new();
    let (a, b) = (folder.write("a.txt", "1\n3\n"), folder.write("b.txt", "2\n4\n"));
    assert_eq!(sorted(&["merge", "-q", &a, &b], ""), "1\n2\n3\n4\n");
    assert_eq!(sorted(&["merge", "-q", "-m", "-u", &a, &a], ""), "1\n3\n");
    let wrong = folder.write("c.txt", "5\n4\n");
    let output = run(&["merge", "-q", &wrong, &a], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).ends_with("c.txt:2: out of order: 4 after 5; to sort it, use gpusort sort\n"),
        "{}",
        stderr(&output)
    );
    let help = run(&["merge", "--help"], "");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("Merge sorted inputs") && !help.contains("--in-place"), "{help}");
}

#[test]
fn the_word_after_na_is_its_value() {
    assert_eq!(
        sorted(&["sort", "-q", "-f", "lines", "-k", "2", "--na", "-f"], "a -f\nb 2\nc 1\n"),
        "c 1\nb 2\na -f\n"
    );
}

#[test]
fn a_header_of_the_typed_name_wins() {
    let table = "price:desc,-price,a.txt,\"x,y\",x,y\n1,2,2,2,1,3\n0,3,3,3,2,4\n";
    for (key, first) in [("price:desc", "0"), ("-price", "1"), ("a.txt", "1"), ("x,y", "1")] {
        let sorted = sorted(&["sort", "-q", "-f", "csv", &format!("-k={key}"), "-f", "csv"], table);
        assert_eq!(&sorted.lines().nth(1).unwrap()[..1], first, "{key}");
    }
    // A table without anything in it has no such column, and a file may have the name of one.
    let folder = Folder::new();
    folder.write("price", "");
    let mut command = gpusort(&["sort", "-q", "-f", "csv", "-k", "price"]);
    command.current_dir(folder.path(""));
    let done = crate::support::command::run_with(command, b"price\n2\n1\n");
    assert_eq!(done.stdout, b"price\n1\n2\n");
    assert!(run(&["sort", "-q", "-f", "csv", "-k", "price"], "").status.success());
    // What comes shows that it was none.
    for input in ["", "3\n"] {
        let said = refused(&["sort", "-k", "pods.txt"], input);
        assert!(said.contains("gpusort sort pods.txt, or"), "{said}");
    }
}

#[test]
fn a_header_that_is_blank_is_told() {
    let folder = Folder::new();
    let file = folder.write("x.txt", "\nNAME SIZE\na 1\n");
    for command in ["sort", "check"] {
        let said = refused(&[command, "--header", "-k", "SIZE", &file], "");
        let expected = format!(
            "{file}:1: no column 'SIZE': the first line is blank, but should name the columns; to skip it: tail -n +2 FILE | gpusort sort --header"
        );
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn check_h_is_about_sizes_and_help_where_nothing_comes() {
    assert_eq!(run(&["check", "-h"], "3K x\n10M y\n").status.code(), Some(0));
    let done = run(&["check", "-h"], "10M y\n3K x\n");
    assert_eq!(done.status.code(), Some(1));
    assert!(stderr(&done).ends_with(":2: out of order: 3K after 10M\n"), "{}", stderr(&done));
    let folder = Folder::new();
    let file = folder.write("x", "10M\n3K\n");
    assert_eq!(run(&["check", "-h", &file], "").status.code(), Some(1));
    assert_eq!(run(&["sort", "-ch", &file], "").status.code(), Some(1));
    for help in ["-h", "--help"] {
        let output = gpusort(&["check", help]).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && told.contains("Usage: gpusort check"), "{told}");
    }
}

/// Runs a command with a terminal as standard input, on which `1` is typed and ended, and prints
/// what it says.
const ON_A_TERMINAL: &str = "
import os, pty, subprocess, sys, time
ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
os.write(ours, b'1\\n\\x04')
print(child.communicate(timeout=60)[0].decode(), end='')
";

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_a_note_says_what_is_waited_for() {
    let folder = Folder::new();
    let file = folder.write("x.txt", "2\n");
    let note = "gpusort: reading standard input; Ctrl-D ends it\n";
    for (args, expected) in [
        (&["sort", "--timing", "off"][..], format!("{note}1\n")),
        (&["sort", "-m", "--timing", "off"], format!("{note}1\n")),
        (&["check"], note.to_owned()),
        (&["sort", "-c"], note.to_owned()),
        (&["sort", "-q"], "1\n".to_owned()),
        (&["check", "-q"], String::new()),
        (&["sort", "-q", &file], "2\n".to_owned()),
        (&["check", &file], String::new()),
        (
            &["sort", "-k", "pods.txt"],
            "gpusort: -k expects a column, but pods.txt is a file; use: gpusort sort pods.txt, or gpusort sort -k 1 pods.txt\n"
                .to_owned(),
        ),
    ] {
        let mut python = std::process::Command::new("python3");
        python.args(["-c", ON_A_TERMINAL, BINARY]).args(args);
        let done = python.env("XDG_CONFIG_HOME", "/nowhere").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{args:?}: {}", stderr(&done));
    }
}
