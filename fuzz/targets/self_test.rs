//! That the comparisons notice what is wrong: on each input of the corpus the library's answer is
//! spoilt on purpose, in several ways, and each time a difference must be reported; where it is not
//! spoilt, none. It fuzzes nothing: `run.sh` runs it first.

#![no_main]

use std::path::Path;
use std::process::exit;

use gpusort_fuzz::library::{Refusal, Said};
use gpusort_fuzz::{TARGETS, one_thread};

/// A way to spoil an answer, and its name.
type Way = (&'static str, fn(&mut Said));

const WAYS: [Way; 5] = [
    ("a record lost", |said| change(said, |lines| drop(lines.pop()))),
    ("two records swapped", |said| {
        change(said, |lines| {
            if let Some(at) = (1..lines.len()).find(|&at| lines[at] != lines[at - 1]) {
                lines.swap(at, at - 1);
            }
        });
    }),
    ("a byte altered", |said| {
        change(said, |lines| {
            let middle = lines.len() / 2;
            if let Some(byte) = lines.get_mut(middle).and_then(|line| line.first_mut()) {
                *byte ^= 1;
            }
        });
    }),
    ("taken, not refused", |said| {
        if said.is_err() {
            *said = Ok(b"1\n".to_vec());
        }
    }),
    ("refused, not taken", |said| {
        if said.is_ok() {
            *said = Err(Refusal { message: "spoilt".to_owned(), ..Refusal::default() });
        }
    }),
];

fn change(said: &mut Said, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    if let Ok(bytes) = said {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        change(&mut lines);
        *bytes = lines.concat();
    }
}

/// Whether all is well.
fn test(corpus: &Path) -> bool {
    let mut is_well = true;
    for &(target, compare) in TARGETS {
        let mut files: Vec<_> = std::fs::read_dir(corpus.join(target))
            .unwrap_or_else(|error| panic!("{target} has no corpus: {error}"))
            .map(|file| file.expect("the corpus can be listed").path())
            .collect();
        files.sort();
        let mut counts = [(0, 0); WAYS.len()];
        for file in &files {
            let bytes = std::fs::read(file).expect("the corpus can be read");
            if let Err(difference) = compare(&bytes, &mut |_| {}) {
                println!("{target}: {}: {difference}", file.display());
                is_well = false;
                continue;
            }
            for (count, (_, way)) in counts.iter_mut().zip(WAYS) {
                // A target that asks the library several things is spoilt in each by itself.
                for turn in 0..2 {
                    let (mut asked, mut spoilt) = (0, false);
                    let compared = compare(&bytes, &mut |said| {
                        let before = said.clone();
                        if asked == turn {
                            way(said);
                        }
                        spoilt |= *said != before;
                        asked += 1;
                    });
                    count.0 += usize::from(spoilt);
                    count.1 += usize::from(spoilt && compared.is_err());
                }
            }
        }
        for ((spoilt, noticed), (way, _)) in counts.into_iter().zip(WAYS) {
            let enough = spoilt > 0 && noticed == spoilt;
            // Costs are no records, and no slice is refused.
            let cannot_be =
                [("costs", "two records swapped"), ("slices", "taken, not refused")].contains(&(target, way));
            println!("{target}: {way}: noticed {noticed} of {spoilt}");
            is_well &= enough || cannot_be;
        }
    }
    is_well
}

/// Tests, and ends the process.
fn test_all() {
    one_thread();
    let corpus = std::env::var_os("GPUSORT_FUZZ_CORPUS").expect("run.sh says where the corpus is");
    exit(if test(Path::new(&corpus)) { 0 } else { 1 })
}

libfuzzer_sys::fuzz_target!(init: test_all(), |_data: &[u8]| {});
