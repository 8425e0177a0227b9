//! Tests that the comparisons notice faults: each answer of the library to an input of the corpus is
//! spoilt on purpose, and a difference must be reported each time; without a fault, none may be.
//! `run.sh` runs this test first.

#![no_main]

use std::path::Path;
use std::process::exit;

use gpusort_fuzz::library::{Refusal, Said};
use gpusort_fuzz::{TARGETS, one_thread};

/// The name of a fault, and a function that plants it in an answer.
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
            *said = Err(Refusal { message: "spoilt".to_owned() });
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

/// Returns true if every planted fault is noticed, and nothing else differs.
fn test(corpus: &Path) -> bool {
    let mut is_well = true;
    for &(target, compare) in TARGETS {
        let mut files: Vec<_> = std::fs::read_dir(corpus.join(target))
            .unwrap_or_else(|error| panic!("{target} has no corpus: {error}"))
            .map(|file| file.expect("the corpus can be listed").path())
            .collect();
        files.sort();
        let mut counts = [(0, 0); WAYS.len()];
        // The answers that a target compares, each spoilt by itself.
        let mut answers: Vec<usize> = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let bytes = std::fs::read(file).expect("the corpus can be read");
            let mut asked = 0;
            if let Err(difference) = compare(&bytes, &mut |_| asked += 1) {
                println!("{target}: {}: {difference}", file.display());
                is_well = false;
                continue;
            }
            answers.resize(answers.len().max(asked), 0);
            for turn in 0..asked {
                // Every way is planted in every answer, in one file or another.
                let (count, (_, way)) =
                    (&mut counts[(number + turn) % WAYS.len()], WAYS[(number + turn) % WAYS.len()]);
                let (mut at, mut is_spoilt) = (0, false);
                let compared = compare(&bytes, &mut |said| {
                    if at == turn {
                        let before = said.clone();
                        way(said);
                        is_spoilt = *said != before;
                    }
                    at += 1;
                });
                count.0 += usize::from(is_spoilt);
                if is_spoilt && compared.is_err() {
                    count.1 += 1;
                    answers[turn] += 1;
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
        println!("{target}: faults noticed in each answer: {answers:?}");
        is_well &= !answers.contains(&0);
    }
    is_well
}

/// Runs the test and ends the process.
fn test_all() {
    one_thread();
    let corpus = std::env::var_os("GPUSORT_FUZZ_CORPUS").expect("run.sh says where the corpus is");
    exit(if test(Path::new(&corpus)) { 0 } else { 1 })
}

libfuzzer_sys::fuzz_target!(init: test_all(), |_data: &[u8]| {});
