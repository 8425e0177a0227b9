//! Properties of every sort, check and merge, whatever the bytes and options are.
//!
//! Each property compares one answer of the library with another answer, or with the records of
//! the inputs. `spoil` alters the answer of one property at a time, and that property must fail.

use gpusort::Format;
use gpusort::files::{Explained, Kind, Options, Sort};
use gpusort_planner::key::ElementType;

use crate::asked::Asked;
use crate::choices::{Choices, inputs};
use crate::library::{self, Said, files, memory};
use crate::pipeline::{self, Ask};
use crate::records::{Form, MARK, Records};
use crate::{Shown, Spoil, differ, shown};

/// Bytes of options.
const OPTIONS: usize = 24;

/// Inputs, at most.
const MOST: usize = 4;

/// The answer of a check that finds no disorder.
const IN_ORDER: &[u8] = b"in order\n";

/// The first bytes of compressed data and of UTF-16, which are no text.
const COMPRESSED: [&[u8]; 8] = [
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\xfd7zXZ",
    b"PK\x03\x04",
    b"\xff\xfe",
    b"\xfe\xff",
    b"BAM\x01",
];

/// The options and inputs of a case.
struct Case<'a> {
    asked: Asked,
    inputs: Vec<&'a [u8]>,
    top: u64,
    memory: u64,
    pieces: usize,
}

/// Lines, and numbers in text.
///
/// # Errors
///
/// The property that fails.
pub fn text(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let columns =
        ["", "1", "2", "3", "-1", "0", "a", "b", "x y", "1,1", "2,2n", "2n", "2,2V", "1,1fr", "2h", "%CPU"];
    compare(bytes, spoil, &columns, &|asked, choices| {
        let form = choices.byte();
        if form % 8 == 7 {
            // Text has numbers alone, and few options apply.
            let Asked { descending, unique, nan, .. } = *asked;
            *asked = Asked { format: Some(Format::Text), descending, unique, nan, ..Asked::default() };
        } else {
            asked.format = Some(Format::Lines).filter(|_| form % 2 == 1);
            asked.delimiter =
                choices.of(&[None, None, None, Some(b','), Some(b':'), Some(b'\t'), Some(b' ')]);
            asked.header = choices.of(&[None, None, None, None, Some(0), Some(1), Some(2)]);
        }
    })
}

/// Tables with quotes.
///
/// # Errors
///
/// The property that fails.
pub fn csv(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let columns = ["1", "2", "a", "b", "", "3", "0", "-1", "x y", "2,2n", "a:b"];
    compare(bytes, spoil, &columns, &|asked, choices| {
        asked.zero_terminated = false;
        asked.format = Some(choices.of(&[Format::Csv, Format::Csv, Format::Csv, Format::Tsv]));
        asked.delimiter =
            choices.of(&[None, None, None, None, Some(b';'), Some(b'|'), Some(b' '), Some(b'-')]);
        asked.header = choices.of(&[None, None, None, Some(0), Some(0), Some(1), Some(2)]);
    })
}

/// JSON Lines.
///
/// # Errors
///
/// The property that fails.
pub fn json(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let columns = ["a", "b.c", ".a[0]", "[1].a", ".", "[\"b.c\"]", "\"\\u0061\".b", "", "b", "0", "tags[-1]"];
    compare(bytes, spoil, &columns, &|asked, choices| {
        (asked.decimal, asked.thousands, asked.zero_terminated) = (None, None, false);
        asked.format = Some(Format::JsonLines).filter(|_| choices.below(4) > 0);
        asked.comments &= asked.format.is_some();
    })
}

fn compare(
    bytes: &[u8],
    spoil: Spoil,
    columns: &[&str],
    complete: &dyn Fn(&mut Asked, &mut Choices),
) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let mut asked = choices.asked(columns);
    let top = choices.of(&[1, 0, 2, 3, 5, 8, 100, u64::MAX]);
    let memory = choices.of(&[0, 1, 100, 1 << 10, 1 << 12, 1 << 14]);
    let pieces = choices.below(64) + 1;
    complete(&mut asked, &mut choices);
    Case { asked, inputs: inputs(data, MOST), top, memory, pieces }.test(spoil)
}

/// Tests the properties of binary elements.
///
/// # Errors
///
/// The property that fails.
pub fn binary(asked: Asked, inputs: Vec<&[u8]>, top: u64, pieces: usize, spoil: Spoil) -> Result<(), String> {
    Case { asked, inputs, top, memory: 0, pieces }.test(spoil)
}

impl Case<'_> {
    fn test(&self, spoil: Spoil) -> Result<(), String> {
        // A second mark may become the first one of the output.
        let has_mark = |input: &[u8]| input.windows(MARK.len()).any(|bytes| bytes == MARK);
        let has_late_mark = self.inputs.iter().enumerate().any(|(at, input)| {
            has_mark(if at == 0 { input.strip_prefix(MARK).unwrap_or(input) } else { input })
        });
        // The contract is open about the end of a last line that ends in CR.
        let has_last_cr = self.inputs.iter().any(|input| input.ends_with(b"\r"));
        if has_last_cr || has_late_mark || self.inputs.iter().any(|input| is_compressed(input)) {
            return Ok(());
        }
        let mut spoilt = |mut said: Said| {
            spoil(&mut said);
            said
        };
        let options = || self.asked.options(files(&self.inputs));
        let whole = sort(options(), None);
        let positions = argsort(options());
        let (forms, header) = if whole.is_ok() { self.forms()? } else { (Vec::new(), 0) };
        // The contract is open about a blank line as a header.
        let is_blank_first = |input: &&[u8]| {
            let rest = input.strip_prefix(MARK).unwrap_or(input);
            rest.split(|byte| matches!(byte, 0 | b'\n'))
                .next()
                .is_some_and(|line| line.trim_ascii().is_empty())
        };
        if header > 0 && self.inputs.iter().any(is_blank_first) {
            return Ok(());
        }
        let records = self.records(&spoilt(whole.clone()), &positions, &forms, header)?;
        let (in_parts, _) = pipeline::sort_in_parts(options(), Ask::default(), self.memory)
            .map_or_else(|error| (Err(error.into()), 0), |(sorted, runs)| (Ok(sorted.bytes), runs));
        self.same("in little memory", &spoilt(in_parts), &whole)?;
        let pipes = self.inputs.iter().enumerate();
        let pipes = pipes.map(|(number, bytes)| memory(number, bytes, &[self.pieces, bytes.len() + 1]));
        self.same("from pipes", &spoilt(sort(self.asked.options(pipes), None)), &whole)?;
        let first = match (&records, &positions) {
            (Some(records), Ok(positions)) => Ok(records
                .output(&positions[..positions.len().min(usize::try_from(self.top).unwrap_or(usize::MAX))])),
            _ => whole.clone(),
        };
        self.same("the first records", &spoilt(sort(options(), Some(self.top))), &first)?;
        let (Ok(sorted), Some(records), Ok(positions)) = (&whole, &records, &positions) else {
            return Ok(());
        };

        // The first row of a table without a header sets the width, and a CR in it is refused, so the
        // sorted table may be refused.
        let is_table = matches!(self.asked.format, Some(Format::Csv | Format::Tsv));
        if is_table
            && records.header.is_empty()
            && records.all.iter().any(|row| row.body.trim_ascii().is_empty() || row.body.contains(&b'\r'))
        {
            return Ok(());
        }
        if self.follows_the_first() || self.asked.drops() && self.has_positions() {
            return Ok(());
        }
        let sorted_input = || self.asked.options(files(&[sorted]));
        let again = sort(sorted_input(), None);
        if again.is_ok() || !self.may_look_other() {
            self.same("sorted again", &spoilt(again), &whole)?;
        }
        let checked = self.check(sorted_input());
        if checked.is_ok() || !self.may_look_other() {
            self.same("checked", &spoilt(checked), &Ok(IN_ORDER.to_vec()))?;
        }
        if let Some(merged) = self.merged() {
            self.same("merged", &spoilt(merged), &whole)?;
        }
        if let Some(kept) = self.wrongly_dropped(records, positions)? {
            self.same("unique", &spoilt(Ok(kept)), &Ok(IN_ORDER.to_vec()))?;
        }
        Ok(())
    }

    fn same(&self, property: &str, said: &Said, right: &Said) -> Result<(), String> {
        let message = |said: &Said| said.clone().map_err(|refusal| refusal.message);
        let (said, right) = (message(said), message(right));
        if said == right { Ok(()) } else { Err(self.differ(property, &shown(&said), &shown(&right))) }
    }

    fn differ(&self, property: &str, said: &str, right: &str) -> String {
        let Self { asked, inputs, top, memory, pieces } = self;
        differ(
            &(property, asked, ("top", top), ("memory", memory), ("pieces", pieces), Shown(inputs)),
            said,
            right,
        )
    }

    /// Returns true if keys depend neither on the other fields nor on their order.
    fn is_explicit(&self) -> bool {
        self.asked.is_explicit() && !self.has_positions()
    }

    /// Returns true if columns may be cut by position: then each record can move the cuts.
    fn has_positions(&self) -> bool {
        let is_name = |key: &String| key.starts_with(|first: char| !first.is_ascii_digit() && first != '-');
        let has_fields =
            self.asked.delimiter.is_none() && matches!(self.asked.format, None | Some(Format::Lines));
        has_fields && self.asked.keys.iter().any(is_name)
    }

    /// Returns true if the first field decides about the others, of which some may be invalid: the sign
    /// of a currency, the form of times.
    fn follows_the_first(&self) -> bool {
        let may_be_sign = |byte: &u8| matches!(byte, b'$' | b'%') || !byte.is_ascii();
        let has_sign = self.inputs.iter().any(|input| input.iter().any(may_be_sign));
        let has_times =
            self.asked.kind == Some(Kind::Time) || self.asked.keys.iter().any(|key| key.contains(":time"));
        self.asked.invalid.is_some() && (has_sign || has_times)
    }

    /// Returns true if a second look may be an error: dropped records could have decided a kind, or had
    /// the only field of a key; JSON may begin with a blank line.
    fn may_look_other(&self) -> bool {
        let is_json = self.asked.format.is_none() && self.inputs.iter().any(|input| input.contains(&b'{'));
        is_json || self.asked.drops()
    }

    /// The place of the first disorder, or [`IN_ORDER`].
    fn check(&self, options: Options) -> Said {
        let found = pipeline::check(options, 1 << 12, self.pieces)?;
        Ok(found.map_or(IN_ORDER.to_vec(), |(place, what)| format!("{place}: {what}\n").into()))
    }

    /// The decisions about these inputs.
    fn explained(&self, inputs: &[&[u8]]) -> Result<Explained, String> {
        let job = Sort::new().options(self.asked.options(files(inputs))).resolve(None);
        job.and_then(|job| job.explain()).map_err(|error| error.to_string())
    }

    /// The forms that the records may have, and the number of header rows.
    fn forms(&self) -> Result<(Vec<Form>, usize), String> {
        let explained = self.explained(&self.inputs);
        let explained = explained.map_err(|error| self.differ("explained", &error, "a sort"))?;
        let rows = |delimiters: &[u8]| match self.asked.delimiter {
            Some(delimiter) => vec![Form::Rows(delimiter)],
            None => delimiters.iter().copied().map(Form::Rows).collect(),
        };
        let forms = match explained.format {
            Format::Text => vec![Form::Tokens],
            Format::Binary => vec![Form::Elements(self.asked.element.map_or(1, ElementType::bytes))],
            Format::Csv => rows(b",\t;"),
            Format::Tsv => rows(b"\t"),
            _ => vec![Form::Lines(if self.asked.zero_terminated { 0 } else { b'\n' })],
        };
        Ok((forms, explained.header))
    }

    /// The records of the inputs, if they were sorted: the output must have the head, then the
    /// records at these positions, each once and byte for byte.
    fn records(
        &self,
        whole: &Said,
        positions: &Said<Vec<usize>>,
        forms: &[Form],
        header: usize,
    ) -> Result<Option<Records>, String> {
        let (sorted, positions) = match (whole, positions) {
            (Ok(sorted), Ok(positions)) => (sorted, positions),
            (Err(_), Err(_)) => return Ok(None),
            _ => return Err(self.differ("positions", &format!("{positions:?}"), &shown(whole))),
        };
        let is_right = |records: &Records| {
            let mut once = positions.clone();
            once.sort_unstable();
            once.dedup();
            let is_once =
                once.len() == positions.len() && once.last().is_none_or(|&last| last < records.all.len());
            let is_all = self.asked.drops() || once.len() == records.all.len();
            is_once && is_all && records.output(positions) == *sorted
        };
        let read = |&form: &Form| Records::read(&self.inputs, form, self.asked.comments, header);
        let found = forms.iter().filter_map(read).find(is_right);
        let right = || format!("{positions:?} of {:?}", forms.iter().map(read).collect::<Vec<_>>());
        found.map(Some).ok_or_else(|| self.differ("records", &shown(whole), &right()))
    }

    /// The merge of the sorted inputs, if it must be the sort of all inputs: if each input alone has the
    /// kinds of all inputs.
    fn merged(&self) -> Option<Said> {
        let kinds = |inputs: &[&[u8]]| {
            let keys = self.explained(inputs).ok()?.keys.into_iter();
            Some(keys.map(|key| (key.kind, key.is_last_resort)).collect::<Vec<_>>())
        };
        let all = kinds(&self.inputs);
        if self.inputs.iter().any(|&input| kinds(&[input]) != all) {
            return None;
        }
        let sort_one = |input: &&[u8]| sort(self.asked.options(files(&[input])), None).ok();
        let parts = self.inputs.iter().map(sort_one).collect::<Option<Vec<_>>>()?;
        let parts = parts.iter().enumerate().map(|(number, part)| {
            let pieces: &[usize] =
                if self.pieces.is_multiple_of(2) { &[] } else { &[self.pieces, part.len() + 1] };
            memory(number, part, pieces)
        });
        let merged = pipeline::merge(self.asked.options(parts), Ask::default());
        let merged: Said = merged.map(|(sorted, _)| sorted.bytes).map_err(Into::into);
        // All inputs together may have another kind than one of them.
        (merged.is_ok() || !self.may_look_other() && self.is_explicit()).then_some(merged)
    }

    /// The records that `-u` dropped although their keys differ from the kept ones before them, or
    /// [`IN_ORDER`]; `None` if nobody can tell.
    fn wrongly_dropped(&self, records: &Records, positions: &[usize]) -> Result<Option<Vec<u8>>, String> {
        if !self.asked.unique || !self.is_explicit() {
            return Ok(None);
        }
        let all = Asked { unique: false, ..self.asked.clone() };
        let all = argsort(all.options(files(&self.inputs)));
        let all = all.map_err(|error| self.differ("without unique", &error.message, "positions"))?;
        let (mut kept, mut wrong) = (positions.iter().peekable(), Vec::new());
        let mut before = None;
        for &at in &all {
            if kept.next_if(|&&next| next == at).is_some() {
                before = Some(at);
                continue;
            }
            let pair: Vec<usize> = before.into_iter().chain([at]).collect();
            let checked = self.check(self.asked.options(files(&[records.output(&pair)])));
            if checked == Ok(IN_ORDER.to_vec()) {
                wrong.extend(records.all[at].bytes());
            }
        }
        wrong.extend(kept.flat_map(|&at| records.all[at].bytes()));
        Ok(Some(if wrong.is_empty() { IN_ORDER.to_vec() } else { wrong }))
    }
}

/// Returns true for compressed data and UTF-16, which are no text.
pub fn is_compressed(input: &[u8]) -> bool {
    // Frames of zstd that can be skipped have another first byte each.
    let is_skippable = input.get(1..).is_some_and(|rest| rest.starts_with(b"\x2a\x4d\x18"));
    is_skippable || COMPRESSED.iter().any(|magic| input.starts_with(magic))
}

fn sort(options: Options, first: Option<u64>) -> Said {
    library::sort(options, Ask { first, ..Ask::default() }).map(|sorted| sorted.bytes)
}

/// The positions of the sorted records.
fn argsort(options: Options) -> Said<Vec<usize>> {
    let text = String::from_utf8(library::argsort(options)?).expect("positions are ASCII");
    Ok(text.split_whitespace().map(|position| position.parse().expect("it is a number")).collect())
}
