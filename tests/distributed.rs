//! A sort by several tasks: its parts, one after another, are what one process writes.

use std::io::Cursor;

use gpusort::files::distributed::{Before, Looked, Mapped, MappedRun, Source, Splitter, Stretch, Task};
use gpusort::files::{Input, Invalid, Key, Kind, Nulls, Options, Sort};
use gpusort::{ElementType, Error, Format, Sorter};
use gpusort_files::To;

use crate::support::inputs::random;
use crate::support::tier;

/// Numbers that decide what a case is.
struct Choices(Box<dyn Iterator<Item = u64>>);

impl Choices {
    fn new(seed: u64) -> Self {
        Self(Box::new(random(seed)))
    }

    fn below(&mut self, most: usize) -> usize {
        (self.0.next().unwrap() >> 11) as usize % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A file: its header, and its records.
struct File {
    name: String,
    head: Vec<u8>,
    records: Vec<Vec<u8>>,
}

impl File {
    fn bytes(&self) -> Vec<u8> {
        [&self.head[..], &self.records.concat()].concat()
    }
}

struct Case {
    format: Format,
    files: Vec<File>,
    keys: Vec<Key>,
    header: bool,
    unique: bool,
    descending: bool,
    empty: Option<Nulls>,
    invalid: Option<Invalid>,
    element: Option<ElementType>,
    memory: u64,
}

/// A value of a column of one of several kinds, most of which go together.
fn value(choices: &mut Choices, kind: usize) -> String {
    match kind {
        0 => choices.below(9).to_string(),
        1 => format!("{}", choices.below(1 << 40) as i64 - (1 << 39)),
        2 => choices.of(&["-0", "0", "1", "-1"]).to_owned(),
        3 => choices.of(&["-0", "0", "-0.0", "1.5", "2", ""]).to_owned(),
        4 => choices.of(&["a", "b", "B", "zebra", "", "nan", "inf"]).to_owned(),
        5 => choices.of(&["nan", "inf", ""]).to_owned(),
        6 => format!("2026-11-{:02}T10:00:00.{}", choices.below(28) + 1, choices.below(10)),
        7 => String::new(),
        8 => "7".to_owned(),
        // Texts with long common prefixes, most of them one text, some of which JSON escapes.
        9 => match choices.below(4) {
            0 => format!("https://example.org/{}/Seite-{}", choices.below(3), choices.below(50)),
            1 => choices.of(&["caf\u{e9} \\ \u{1F600}", "CAF\u{c9} \\", "x\ty"]).to_owned(),
            _ => "https://example.org/0/seite".to_owned(),
        },
        _ => choices.of(&["18446744073709551615", "9007199254740993", "5"]).to_owned(),
    }
}

/// A record of a format, with a value of a kind.
fn record(
    choices: &mut Choices,
    (format, element): (Format, Option<ElementType>),
    kind: usize,
    number: usize,
    end: &str,
) -> Vec<u8> {
    let text = value(choices, kind);
    let second = choices.below(3);
    let line = match format {
        Format::Binary => {
            return match element {
                Some(ElementType::I64) => (choices.below(50) as i64 - 25).to_le_bytes().to_vec(),
                Some(ElementType::F64) => {
                    choices.of(&[f64::NAN, -0.0, 0.0, 1.5, -7.0]).to_le_bytes().to_vec()
                }
                _ => (choices.below(50) as u32).to_le_bytes().to_vec(),
            };
        }
        Format::Text if text.is_empty() => "3".to_owned(),
        Format::Text => text,
        Format::Lines => format!("{second}  {text} #{number}"),
        Format::JsonLines if choices.below(5) == 0 => format!("{{\"b\":{second}}}"),
        Format::JsonLines => {
            let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
            let spelled = if is_number { text } else { serde_json::to_string(&text).unwrap() };
            format!("{{\"b\":{second}, \"a\": {spelled}, \"n\":{number}}}")
        }
        _ => {
            let by = if format == Format::Tsv { '\t' } else { ',' };
            let quoted = if choices.below(8) == 0 { "\"x\ny\"\"\"" } else { "x" };
            format!("{text}{by}{second}{by}{quoted}{number}")
        }
    };
    (line + end).into_bytes()
}

fn case(seed: u64) -> Case {
    let choices = &mut Choices::new(seed);
    let format = choices.of(&[
        Format::Csv,
        Format::Csv,
        Format::Tsv,
        Format::Lines,
        Format::Text,
        Format::JsonLines,
        Format::Binary,
    ]);
    let header = matches!(format, Format::Csv | Format::Tsv) && choices.below(3) > 0;
    let element = (format == Format::Binary)
        .then(|| choices.of(&[ElementType::U32, ElementType::I64, ElementType::F64]));
    // Mostly one kind in all files; now and then each file has another.
    let kind = choices.below(11);
    let other = if choices.below(3) > 0 { kind } else { choices.below(11) };
    let is_crlf = choices.below(5) == 0;
    let end = if is_crlf { "\r\n" } else { "\n" };
    let mut files = Vec::new();
    for file in 0..=choices.below(3) {
        let kind = if file % 2 == 0 { kind } else { other };
        let mut record = |number| record(choices, (format, element), kind, number, end);
        let count = record_count(seed, file);
        let mut records: Vec<Vec<u8>> = (0..count).map(&mut record).collect();
        if seed.is_multiple_of(4)
            && format != Format::Binary
            && let Some(last) = records.last_mut()
            && last.len() > end.len() + 1
        {
            last.truncate(last.len() - end.len());
        }
        let by = if format == Format::Tsv { "\t" } else { "," };
        let head = if header { (["a", "b", "c"].join(by) + end).into_bytes() } else { Vec::new() };
        files.push(File { name: format!("f{file}"), head, records });
    }
    let mut keys = match format {
        Format::Binary | Format::Text => Vec::new(),
        Format::JsonLines => vec![Key::column("a")],
        Format::Lines => vec![Key::number(2)],
        _ => vec![Key::number(1)],
    };
    if !keys.is_empty() && choices.below(2) == 0 {
        keys.push(if format == Format::JsonLines {
            Key::column("b")
        } else {
            Key::number(if format == Format::Lines { 1 } else { 2 })
        });
    }
    let mut keys: Vec<Key> =
        keys.into_iter().map(|key| if choices.below(3) == 0 { key.descending() } else { key }).collect();
    if choices.below(3) == 0 {
        keys = keys.into_iter().map(|key| key.kind(Kind::Text)).collect();
        if choices.below(2) == 0 {
            keys = keys.into_iter().map(Key::ignore_case).collect();
        }
    }
    if format == Format::Lines && choices.below(4) == 0 {
        keys = vec![Key::record()];
    }
    let (empty, invalid) = match format {
        Format::Binary | Format::Text => (None, None),
        _ => (
            choices.of(&[None, Some(Nulls::First)]),
            choices.of(&[None, Some(Invalid::Last), Some(Invalid::Skip)]),
        ),
    };
    Case {
        format,
        files,
        keys,
        header,
        unique: choices.below(4) == 0,
        descending: choices.below(4) == 0,
        empty,
        invalid,
        element,
        memory: choices.of(&[u64::MAX, u64::MAX, 20_000, 1]),
    }
}

fn record_count(seed: u64, file: usize) -> usize {
    [0, 1, 7, 40, 300][(seed as usize / 7 + 3 * file) % 5]
}

fn sort_of(case: &Case) -> Sort<'static> {
    let mut options = Options::new().format(case.format).memory(case.memory);
    options = case.keys.iter().cloned().fold(options, Options::key);
    if matches!(case.format, Format::Csv | Format::Tsv) {
        options = options.header_rows(usize::from(case.header));
    }
    options = case.empty.into_iter().fold(options, Options::empty);
    options = case.invalid.into_iter().fold(options, Options::invalid);
    options = case.element.into_iter().fold(options, Options::element);
    if case.unique {
        options = options.unique();
    }
    if case.descending {
        options = options.descending();
    }
    Sort::new().options(options)
}

/// What one process writes.
fn alone(case: &Case) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let inputs = case.files.iter().map(|file| Input::bytes(&file.name, &file.bytes()));
    inputs.fold(sort_of(case), Sort::input).write_to(&mut out)?;
    Ok(out)
}

/// A stretch of a file's records.
#[derive(Clone)]
struct Cut {
    file: usize,
    begin: usize,
    end: usize,
}

/// What tasks wrote, and what they did for it.
struct Done {
    bytes: Vec<u8>,
    /// True if the fault happened.
    is_damaged: bool,
    /// The sum of the checksums of all records.
    checksum: u64,
    /// Splitters with the key of another one: records of one key are in several parts.
    ties: usize,
    /// Tasks with several runs.
    long: usize,
}

/// A fault of a worker or of the network.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The last bytes of a range do not arrive.
    Cut,
    /// A range ends behind fewer records than it has, at a place where a frame may end.
    Lost,
    /// The range has one record less than was said, or one more.
    Count,
    /// A bit in the sizes of a frame, or of a block of keys, is another one.
    Sizes,
    /// A bit anywhere is another one.
    Bit,
    /// The type of the elements is not one.
    Element,
}

impl Damage {
    const ALL: [Self; 6] = [Self::Cut, Self::Lost, Self::Count, Self::Sizes, Self::Bit, Self::Element];

    /// Damages a range of a run, which has records.
    fn strike(self, choices: &mut Choices, run: &mut MappedRun, part: usize, bytes: &mut Vec<u8>) {
        let range = &mut run.ranges[part];
        match self {
            Self::Cut => bytes.truncate(bytes.len() - 1 - choices.below(bytes.len().min(40))),
            Self::Lost => bytes.clear(),
            Self::Count if choices.below(2) == 0 => range.records -= 1,
            Self::Count => range.records += 1 + (u64::MAX / 2) * choices.below(2) as u64,
            Self::Sizes | Self::Bit => {
                let most = if matches!(self, Self::Bit) { bytes.len() } else { bytes.len().min(16) };
                bytes[choices.below(most)] ^= 1 << choices.below(8);
            }
            Self::Element => run.element = Some("u33".to_owned()),
        }
    }
}

/// The same by tasks.
fn together(case: &Case, choices: &mut Choices) -> Result<Done, Error> {
    together_with(case, choices, None)
}

fn together_with(case: &Case, choices: &mut Choices, mut damage: Option<Damage>) -> Result<Done, Error> {
    let had_damage = damage.is_some();
    // Files with something in them, as whoever lists them finds.
    let mut tasks: Vec<Vec<Cut>> = vec![Vec::new()];
    for (file, records) in case.files.iter().map(|file| file.records.len()).enumerate() {
        let mut begin = 0;
        loop {
            let end = (begin + 1 + choices.below(120)).min(records);
            if choices.below(2) == 0 && !tasks.last().unwrap().is_empty() {
                tasks.push(Vec::new());
            }
            tasks.last_mut().unwrap().push(Cut { file, begin, end });
            begin = end;
            if begin == records {
                break;
            }
        }
    }
    let knows_lines = choices.below(2) == 0;
    let lines_of = |bytes: &[u8]| bytes.split(|&byte| byte == b'\n').count() as u64 - 1;
    let lines_before = |cut: &Cut| {
        let file = &case.files[cut.file];
        lines_of(&file.head) + file.records[..cut.begin].iter().map(|record| lines_of(record)).sum::<u64>()
    };
    let stretches = |cuts: &[Cut]| -> Vec<Stretch> {
        let stretch = |cut: &Cut| {
            let file = &case.files[cut.file];
            let records = file.records[cut.begin..cut.end].concat();
            let before = (cut.begin > 0).then(|| Before {
                lines: if knows_lines { lines_before(cut) } else { 0 },
                is_crlf: [&file.head, &file.records[0]].iter().any(|line| line.ends_with(b"\r\n")),
            });
            let bytes = if before.is_some() { records } else { [&file.head[..], &records].concat() };
            Stretch { input: Input::bytes(&file.name, &bytes), before }
        };
        cuts.iter().map(stretch).collect()
    };
    let looked = |file: &File| Looked { name: file.name.clone(), bytes: file.bytes(), is_all: true };
    let task: Task = sort_of(case).task(case.files.iter().map(looked).collect())?;
    let (parts, many) = (1 + choices.below(5), 1 + choices.below(30));
    let mut samples: Vec<Splitter> = Vec::new();
    for (number, cuts) in tasks.iter().enumerate() {
        samples.extend(task.sample(stretches(cuts), many, number as u64, [0, u32::MAX]).unwrap_or_default());
    }
    let splitters = task.splitters(samples, parts);
    let map = |number: usize| -> Result<(Mapped, Vec<u8>), Error> {
        let mut spill = Vec::new();
        let place = number as u64;
        let mapped = task.map(&Sorter::cpu(), stretches(&tasks[number]), place, &splitters, &mut spill)?;
        // As from another process.
        let said = serde_json::to_string(&mapped).unwrap();
        Ok((serde_json::from_str(&said).unwrap(), spill))
    };
    let all = (0..tasks.len()).map(map).collect::<Result<Vec<_>, _>>()?;
    let mut out = Vec::new();
    for part in 0..=splitters.len() {
        let mut sources = Vec::new();
        for (number, (mapped, spill)) in all.iter().enumerate() {
            for mut run in mapped.runs.iter().cloned() {
                let range = run.ranges[part];
                let mut bytes = spill[range.offset as usize..][..range.bytes as usize].to_vec();
                if range.records > 0
                    && let Some(damage) = damage.take_if(|_| choices.below(3) == 0)
                {
                    damage.strike(choices, &mut run, part, &mut bytes);
                }
                let (name, range) = (format!("run of {number}"), run.ranges[part]);
                let (element, reader) = (run.element, Box::new(Cursor::new(bytes)));
                sources.push(Source { name, element, range, reader });
            }
        }
        task.reduce(sources, part == 0, To::Writer(&mut out))?;
    }
    let ranges = all.iter().flat_map(|(mapped, _)| &mapped.runs).flat_map(|run| &run.ranges);
    Ok(Done {
        is_damaged: had_damage && damage.is_none(),
        bytes: out,
        checksum: ranges.fold(0, |sum, range| sum.wrapping_add(range.checksum)),
        ties: splitters.windows(2).filter(|pair| pair[0].key() == pair[1].key()).count(),
        long: all.iter().filter(|(mapped, _)| mapped.runs.len() > 1).count(),
    })
}

#[test]
fn tasks_write_what_one_process_writes() {
    let (mut errors, mut sorted) = (0, 0);
    let (mut ties, mut long) = (0, 0);
    for number in 0..tier::count(20_000, 3000) as u64 {
        let seed = tier::seed().wrapping_mul(1_000_003).wrapping_add(number);
        let case = case(seed);
        let (expected, found) = (alone(&case), together(&case, &mut Choices::new(!seed)));
        match (expected, found) {
            (Ok(expected), Ok(done)) => {
                sorted += 1;
                (ties, long) = (ties + done.ties, long + done.long);
                let found = done.bytes;
                let at = expected.iter().zip(&found).take_while(|(one, other)| one == other).count();
                let [here, there] = [&expected, &found].map(|bytes| {
                    let [begin, end] = [at.saturating_sub(30), (at + 60).min(bytes.len())];
                    String::from_utf8_lossy(&bytes[begin.min(end)..end]).into_owned()
                });
                assert!(
                    expected == found,
                    "case {number} ({:?}, {} and {} bytes), {:?}, at {at}: {here:?}, not {there:?}",
                    case.format,
                    expected.len(),
                    found.len(),
                    case.keys
                );
            }
            (Err(_), Err(_)) => errors += 1,
            (expected, found) => {
                let [expected, found] =
                    [expected, found.map(|done| done.bytes)].map(|it| it.map(|it| it.len()));
                panic!("case {number} ({:?}), {:?}: {expected:?}, not {found:?}", case.format, case.keys)
            }
        }
    }
    assert!(sorted > errors && errors > 0, "{sorted} sorted, {errors} refused");
    assert!(ties > 0 && long > 0, "{ties} ties, {long} long tasks");
}

/// Bits in the keys or the bytes of records may become other records, which the checksums tell.
#[test]
fn a_lost_or_damaged_range_is_an_error() {
    let (mut refused, mut other) = (0, 0);
    for number in 0..tier::count(20_000, 3000) as u64 {
        let seed = tier::seed().wrapping_mul(1_000_033).wrapping_add(number);
        let case = case(seed);
        if together(&case, &mut Choices::new(!seed)).is_err() {
            continue;
        }
        let damage = Damage::ALL[number as usize % Damage::ALL.len()];
        match together_with(&case, &mut Choices::new(!seed), Some(damage)) {
            Err(_) => refused += 1,
            Ok(done) if done.is_damaged => {
                other += 1;
                assert!(matches!(damage, Damage::Bit | Damage::Sizes), "case {number}: {damage:?}");
            }
            Ok(_) => {}
        }
    }
    assert!(refused > other && other > 0, "{refused} refused, {other} read as other records");
}

#[test]
fn a_sort_of_the_first_records_is_for_one_process() {
    let looked = Looked { name: "lines".to_owned(), bytes: b"b\na\n".to_vec(), is_all: true };
    let task = Sort::new().format(Format::Lines).top(2).task(vec![looked]);
    let error = task.err().expect("each part has first records").to_string();
    assert!(error.contains("first records"), "{error}");
}

#[test]
fn checksums_are_of_what_is_there_in_any_order() {
    let sum = |case: &Case, seed| together(case, &mut Choices::new(seed)).unwrap().checksum;
    let mut told = 0;
    for seed in 0..400 {
        let mut case = case(seed);
        (case.unique, case.memory, case.invalid) = (false, u64::MAX, None);
        if together(&case, &mut Choices::new(1)).is_err() {
            continue;
        }
        let all = sum(&case, 1);
        assert_eq!(all, sum(&case, 2), "case {seed}");
        if let Some(file) = case.files.iter_mut().find(|file| file.records.len() > 1) {
            let _ = file.records.pop();
            told += 1;
            assert_ne!(all, sum(&case, 1), "case {seed}");
        }
    }
    assert!(told > 100, "{told}");
}

/// Where records begin is found from anywhere: surely from a beginning, and by guess, which is
/// mostly right, without one.
#[test]
fn beginnings_of_records_are_found_from_anywhere() {
    let (mut all, mut wrong) = (0, 0);
    for seed in 0..400 {
        let case = case(seed);
        let Some(file) = case.files.iter().find(|file| file.records.len() > 5) else { continue };
        if case.format == Format::Binary {
            continue;
        }
        let bytes = file.bytes();
        let looked = Looked { name: file.name.clone(), bytes: bytes.clone(), is_all: true };
        let Ok(task) = sort_of(&case).task(vec![looked]) else { continue };
        let begins: Vec<usize> = std::iter::once(file.head.len())
            .chain(file.records.iter().scan(file.head.len(), |at, record| {
                *at += record.len();
                Some(*at)
            }))
            .collect();
        let is_whole = bytes.ends_with(b"\n");
        let (first, is_crlf) = task.records(&bytes, true).unwrap();
        // Without a header it is after the first record.
        assert!(begins.contains(&first), "case {seed}");
        assert_eq!(is_crlf, bytes[..first].ends_with(b"\r\n"));
        let start = begins[0];
        for at in (start + 1..bytes.len()).step_by(5) {
            let expected = begins.iter().copied().find(|&begin| begin >= at);
            let expected = expected.filter(|&begin| begin < bytes.len() || is_whole);
            let end = task.end(&bytes[start..], at - start).map(|end| start + end);
            assert_eq!(end, expected, "case {seed}, {at}");
            let guess = task.begin(&bytes[at - 1..]).map(|begin| at - 1 + begin);
            all += 1;
            wrong += usize::from(guess != expected);
            assert!(guess == expected || bytes.contains(&b'"'), "case {seed}, {at}");
        }
    }
    assert!(all > 20_000 && wrong < all / 20, "{wrong} of {all} guesses are wrong");
}
