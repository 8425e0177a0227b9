//! Records one at a time, as checks and merges read them.

use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use gpusort::Format;
use gpusort::files::{Input, Options};
use proptest::prelude::*;

use crate::support::pipeline::{Ask, check, input, merge};
use crate::support::process::PATIENCE;
use crate::support::texts::cases;

#[test]
fn long_records_from_a_pipe_take_linear_time() {
    const LENGTH: usize = 8 << 20;
    let table = |header| Options::new().format(Format::Csv).key("1").header(header);
    let text = || Options::new().format(Format::Text);
    let lines = || Options::new().format(Format::Lines);
    let digits = "0".repeat(LENGTH);
    let (done, waits) = mpsc::channel();
    std::thread::spawn(move || {
        // Were each looked at anew with every piece, these would be 10^12 bytes and more.
        let look = |options: Options, content: String| {
            let pipe = || options.clone().input(input("pipe", content.as_bytes(), &[16]));
            assert_eq!(check(pipe(), 8 << 20, 1 << 20).unwrap(), None);
            assert!(merge(pipe(), Ask::default()).unwrap().0.bytes.len() >= 4);
        };
        look(text(), format!("1 {digits}2 3"));
        look(lines(), format!("1\n2 #{digits}\n3\n"));
        look(lines().comments(), format!("#{digits}\n1\n2\n"));
        look(table(false), format!("1,{digits}\n2,\"{digits}\n\"\"{digits}\"\n3,x\n"));
        look(table(true), format!("1,{digits}\n1,\n"));
        look(table(true), format!("1,\"{}\"\n1,\n", "0\n".repeat(LENGTH / 2)));
        done.send(()).unwrap();
    });
    // A second or two where nothing else runs.
    waits.recv_timeout(PATIENCE).expect("long records take very long");
}

#[test]
fn a_short_beginning_does_not_make_later_reads_short() {
    /// Counts how often it is read; at first it has little.
    struct Counting<'a>(&'a [u8], &'a AtomicUsize);
    impl Read for Counting<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let most = if self.1.fetch_add(1, Ordering::Relaxed) == 0 { 16 } else { room.len() };
            let most = most.min(room.len());
            self.0.read(&mut room[..most])
        }
    }
    static READS: AtomicUsize = AtomicUsize::new(0);
    const LINES: usize = 200_000;
    let lines: &'static str = (0..LINES).map(|line| format!("x {line}\n")).collect::<String>().leak();
    for format in [Format::Lines, Format::Text] {
        let text = if format == Format::Lines { lines } else { &lines.replace("x ", "") };
        let text: &'static [u8] = text.as_bytes().to_vec().leak();
        let options = Options::new().format(format).input(Input::reader("pipe", Counting(text, &READS)));
        let options = if format == Format::Lines { options.key("2") } else { options };
        READS.store(0, Ordering::Relaxed);
        assert_eq!(check(options, 8 << 20, 1 << 20).unwrap(), None);
        let reads = READS.load(Ordering::Relaxed);
        assert!(reads < 200, "{} bytes in {reads} reads", text.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn all_cores_find_what_is_found_record_by_record(
        case in cases(&[&["1"]]),
        piece in 1..60_usize,
        most in 1..200_usize,
    ) {
        let found = |most, piece| check(case.options(), most, piece).map_err(|error| error.to_string());
        prop_assert_eq!(found(most, piece), found(1, 1));
    }
}
