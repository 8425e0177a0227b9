//! Records one at a time, as checks and merges read them.

use std::sync::mpsc;

use gpusort::unstable::io::csv::{By, Dialect, Fields};
use gpusort::unstable::io::ordered::{Written, check, merge};
use gpusort::unstable::io::{How, Kind, Stretches};
use gpusort::unstable::io::{Input, Memory, Output as Sink, PerLine};
use gpusort::unstable::order::{KeyOrder, Selection};
use proptest::prelude::*;

use crate::support::process::PATIENCE;
use crate::support::texts::cases;

#[test]
fn long_records_from_a_pipe_take_linear_time() {
    const LENGTH: usize = 8 << 20;
    let how = |kind: Kind, columns: &[&str]| How {
        kind,
        by: By {
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            element: None,
            order: KeyOrder::ASCENDING,
        },
    };
    let table = move |header| {
        how(Kind::Table(Dialect { fields: Fields::Quoted(b','), header, comments: false }), &["1"])
    };
    let digits = "0".repeat(LENGTH);
    let (done, waits) = mpsc::channel();
    std::thread::spawn(move || {
        // Were each looked at anew with every piece, these would be 10^12 bytes and more.
        let look = |how: How, input: String| {
            let input = Input::Memory(Memory::new("pipe", input.as_bytes(), &[16]));
            assert_eq!(
                check(std::slice::from_ref(&input), &how, false, Stretches::default(), |_| {}).unwrap(),
                None
            );
            let mut sink = Sink::memory();
            merge(&[input], &how, Selection::ALL, Written::AsRead, &mut sink, |_| {}).unwrap();
            assert!(sink.into_bytes().len() >= 4);
        };
        look(how(Kind::Text(PerLine::Any), &[]), format!("1 {digits}2 3"));
        look(how(Kind::Text(PerLine::Any), &[]), format!("1\n#{digits}\n2\n"));
        look(table(false), format!("1,{digits}\n2,\"{digits}\n\"\"{digits}\"\n3,x\n"));
        look(table(true), format!("a,{digits}\n1,\n"));
        look(table(true), format!("a,\"{}\"\n1,\n", "0\n".repeat(LENGTH / 2)));
        done.send(()).unwrap();
    });
    // A second or two where nothing else runs.
    waits.recv_timeout(PATIENCE).expect("long records take very long");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn all_cores_find_what_is_found_record_by_record(
        case in cases(&[&["1"]]),
        piece in 1..60_usize,
        most in 1..200_usize,
    ) {
        let found = |stretches: Stretches| {
            check(&case.inputs, &case.how, case.unique, stretches, |_| {}).map_err(|error| error.to_string())
        };
        let one_by_one = found(Stretches { most: 1, piece: Some(1) });
        let at_once = found(Stretches { most, piece: Some(piece) });
        // What comes after −0 in a pipe may be known or not.
        let may_differ = |found: &Result<_, String>| found.as_ref().is_err_and(|it| it.ends_with("cannot be read twice"));
        if !may_differ(&one_by_one) && !may_differ(&at_once) {
            prop_assert_eq!(at_once, one_by_one);
        }
    }
}
