//! Where the output goes: files that are replaced whole, links, pipes, descriptors, full disks.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::command::{BINARY, exits, gpusort, refused_in_shell, run, sorted, stderr};
use crate::support::files::{Folder, falling_lines, fixture, shuffled_lines};

#[test]
fn a_closed_pipe_ends_quietly() {
    let input = shuffled_lines(2_000_000);
    let folder = Folder::new();
    let file = folder.write("big.txt", input);
    let mut child =
        gpusort(&["sort", &file, "-q"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 2];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
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
    let output =
        Command::new("sh").args(["-c", script, "sh", BINARY, "sort", &input, "-o", &out]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("out: cannot write"), "{}", stderr(&output));
    assert_eq!(fs::read(&out).unwrap(), b"old\n");
    assert_eq!(folder.names(), ["in", "out"]);
}

#[cfg(unix)]
#[test]
fn output_files_keep_their_kind_and_mode() {
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
    let pipe = folder.fifo("pipe");
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
    let output = run(&["sort", "-v", &input, "-o", "/dev/stdout"], "");
    assert_eq!((&output.stdout[..], stderr(&output).starts_with("sorted")), (&b"1\n2\n"[..], true));
    // One that cannot be written to is an error, not stalled.
    let readable = fs::File::open("/dev/null").unwrap();
    let output = gpusort(&["sort", &input]).stdout(readable).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(folder.names(), ["in", "log"]);
}

#[test]
fn closed_descriptors_are_errors_where_they_are_needed() {
    let folder = Folder::new();
    folder.write("x.txt", "2\n1\n");
    folder.write("keep.txt", "old\n");
    let commands = [
        "sort x.txt",
        "sort -m x.txt",
        "gen -c 3",
        "bench --sizes 256 -d cpu",
        "devices",
        "completions bash",
        "man",
        "--help",
        "--version",
    ];
    let scripts = commands.map(|command| format!("{command} >&-"));
    refused_in_shell(scripts, &folder, "gpusort: standard output: cannot write");
    let commands = ["sort", "sort -o keep.txt", "sort -m -o keep.txt", "check"];
    let scripts = commands.map(|command| format!("{command} <&-"));
    refused_in_shell(scripts, &folder, "standard input: cannot read");
    assert_eq!(fs::read(folder.path("keep.txt")).unwrap(), b"old\n");
    // And none where they are not.
    exits("exec \"$0\" sort x.txt -o out.txt >&- <&-", &folder, 0);
    assert_eq!(fs::read(folder.path("out.txt")).unwrap(), b"1\n2\n");
    exits("exec \"$0\" check out.txt >&- <&- 2>&-", &folder, 0);
    exits("exec \"$0\" check x.txt >&- <&- 2>&-", &folder, 1);
    exits("exec \"$0\" sort x.txt -o out.txt 2>&-", &folder, 0);
    // No file gets the number of one that was closed.
    exits("exec \"$0\" sort x.txt -o out.txt --timing stdout >&-", &folder, 2);
    assert_eq!(fs::read(folder.path("out.txt")).unwrap(), b"1\n2\n");
}

#[cfg(unix)]
#[test]
fn a_limit_on_files_is_an_error_of_writing() {
    let folder = Folder::new();
    folder.write("in", falling_lines(100_000));
    folder.write("old", "old\n");
    let said = exits("ulimit -f 8; exec \"$0\" sort -q in -o old", &folder, 2);
    assert!(said.contains("cannot write: File too large"), "{said}");
    assert_eq!(fs::read(folder.path("old")).unwrap(), b"old\n");
    assert_eq!(folder.names(), ["in", "old"]);
    // What counts is what is written, not what was read.
    folder.write("comments", format!("{}2\n1\n", "# a comment\n".repeat(10_000)));
    exits("ulimit -f 8; exec \"$0\" sort -q -n --invalid skip comments -o out", &folder, 0);
    assert_eq!(fs::read(folder.path("out")).unwrap(), b"1\n2\n");
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_from_close_is_an_error() {
    let folder = Folder::new();
    folder.write("in", "2\n1\n");
    folder.write("old", "old\n");
    // As network file systems have it: that the disk was full is said when the file is closed.
    let shim = "#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n#include <sys/stat.h>\n\
        #include <sys/syscall.h>\n#include <unistd.h>\n\
        int close(int fd) { struct stat s; int written = !fstat(fd, &s) && S_ISREG(s.st_mode) && \
        (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY; int closed = syscall(SYS_close, fd); \
        if (written) { errno = EDQUOT; return -1; } return closed; }\n";
    folder.write("shim.c", shim);
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "shim.so", "shim.c"])
        .current_dir(folder.path(""))
        .status();
    assert!(made.unwrap().success(), "a C compiler is needed, as for linking Rust programs");
    let shimmed = |arguments: &str| format!("LD_PRELOAD=\"$PWD/shim.so\" exec \"$0\" sort -q in {arguments}");
    let said = exits(&shimmed("-o old"), &folder, 2);
    assert!(said.contains("old: cannot write: Disk quota exceeded"), "{said}");
    assert_eq!(fs::read(folder.path("old")).unwrap(), b"old\n");
    exits(&shimmed("-o new"), &folder, 2);
    exits(&shimmed("> through"), &folder, 2);
    assert_eq!(folder.names(), ["in", "old", "shim.c", "shim.so", "through"]);
}
