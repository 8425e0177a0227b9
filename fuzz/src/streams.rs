//! Inputs that are sorted already: `gpusort check` and `gpusort sort --merge`, fed from files and
//! from pipes that give them piece by piece.
//!
//! What is merged must be what sorting the same inputs gives, and an input that is not in order
//! must be refused. In which pieces it comes must make no difference.

use gpusort::Format;
use gpusort::files::internal::Header;
use gpusort::files::{Input, Options};
use gpusort_order::{Invalid, KeyOrder, Nulls, Reading, Selection};
use gpusort_planner::key::ElementType;

use crate::asked::{self, By, Dialect, Kind};
use crate::choices::{Choices, inputs};
use crate::library::{self, Said, files, memory, name};
use crate::pipeline::{self, Ask};
use crate::twin::kinds::are_long;
use crate::twin::number::{self, Asked, Key, Wrong};
use crate::twin::table::{self, Counts, Keyed, NoTable, Refused};
use crate::twin::text::{comments, tokens};
use crate::twin::{bits, first_disorder, sorted};
use crate::{Shown, Spoil, differ, same, shown, text};

/// Bytes of options.
const OPTIONS: usize = 24;

/// Inputs, at most.
const MOST: usize = 4;

const UNIQUE: Selection = Selection { unique: true, first: None };

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Text,
    Table,
    Raw,
    Npy,
}

/// What is asked.
#[derive(Debug)]
struct Case {
    form: Form,
    dialect: Dialect,
    by: By,
    /// Of binary files.
    element: ElementType,
    selection: Selection,
    to_text: bool,
    /// Whether a line of text may have one number.
    one_a_line: bool,
}

impl Case {
    fn asked(&self) -> Asked {
        text::asked(self.by.element, self.by.order)
    }

    fn options(&self, inputs: impl IntoIterator<Item = Input>) -> Options {
        let kind = match self.form {
            Form::Text => text::kind(self.by.order, self.one_a_line).0,
            Form::Table => Kind::Table(self.dialect),
            Form::Raw => Kind::Raw(self.element),
            Form::Npy => Kind::Npy,
        };
        let (by, unique) = (self.by.clone(), self.selection.unique);
        asked::Asked { kind, by, unique }.options(inputs)
    }

    fn ask(&self) -> Ask {
        let to = match self.form {
            Form::Text | Form::Table => None,
            Form::Raw | Form::Npy => Some(if self.to_text { Format::Text } else { Format::Binary }),
        };
        Ask { first: library::first(self.selection), positions: false, to }
    }
}

/// What the twin makes of a case.
struct Twin {
    /// The bytes of a sort, of the records selected.
    sorted: Vec<u8>,
    /// Elements, where they may be written as text.
    elements: Vec<u64>,
    records: u64,
    repeated: u64,
    counts: Counts,
    /// Whether each input is in order by itself.
    each_in_order: bool,
    /// Where all inputs, one after another, are not in order.
    disorder: Option<String>,
}

/// Why a case is refused.
struct Refusing {
    why: String,
    /// Whether it is refused even if few records are selected.
    always: bool,
    /// What `check` must say, where it gets that far: the place of a disorder, or that it is
    /// refused.
    check: Option<Option<String>>,
}

/// # Errors
///
/// How the library and its twin differ.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let form = choices.of(&[Form::Text, Form::Table, Form::Table, Form::Text, Form::Raw, Form::Npy]);
    let flags = choices.byte();
    let pieces: Vec<u8> = (0..MOST).map(|_| choices.byte()).collect();
    let (selection, dialect, mut by) = (choices.selection(), choices.dialect(), choices.by());
    if form != Form::Table {
        // These have no other nulls, and only what is text has other readings.
        let KeyOrder { descending, nan, reading, .. } = by.order;
        let of_text = [Reading::Times, Reading::Sizes, Reading::Durations];
        let is_other = form == Form::Text && of_text.contains(&reading);
        let reading = if is_other { reading } else { Reading::Numbers };
        let order = KeyOrder { descending, nan, reading, ..KeyOrder::default() };
        by = By { element: by.element.filter(|_| !is_other), order, ..By::default() };
    }
    if by.has_units() && are_long(data) {
        return Ok(());
    }
    let case = Case {
        form,
        dialect,
        by: if form == Form::Table { by.of(dialect) } else { by },
        element: choices.of(&ElementType::ALL),
        selection,
        to_text: choices.below(4) == 1,
        one_a_line: flags / 128 == 1,
    };
    let mut inputs: Vec<Vec<u8>> = inputs(data, MOST).into_iter().map(<[u8]>::to_vec).collect();
    // Hardly any are in order by chance.
    if flags % 4 > 0 {
        put_in_order(&case, &mut inputs);
    }
    let mut miscounted = false;
    if form == Form::Npy {
        for (number, input) in inputs.iter_mut().enumerate() {
            let miscount =
                if number == 0 { [0, 0, 0, 0, 0, 0, 1, -1][usize::from(flags / 4 % 8)] } else { 0 };
            miscounted |= to_npy(input, case.element, flags / 32 % 2 == 1, miscount);
        }
    }
    let views: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let told = (&case, Shown(&views), &pieces);

    let is_bits = matches!(form, Form::Raw | Form::Npy);
    let twin = match form {
        Form::Text => of_text(&case, &views),
        Form::Table => of_tables(&case, &views),
        Form::Raw | Form::Npy => of_bits(&case, &views, form == Form::Npy, miscounted),
    };
    let from_files = || case.options(files(&inputs));
    let from_pipes = || {
        let pipes = inputs.iter().enumerate();
        case.options(pipes.map(|(number, bytes)| memory(number, bytes, &sizes(bytes.len(), pieces[number]))))
    };

    let sorted_by_library = library::sort(from_files(), case.ask()).map(|sorted| sorted.bytes);
    same_bytes(&("sort", &told), &case, &sorted_by_library, &twin)?;

    let counted = merge(&case, from_files());
    let mut merged = counted.clone().map(|(bytes, _)| bytes);
    let told_of_merge = ("merge", &told);
    // What is not selected is not read.
    let says_nothing = selection.first.is_some()
        && twin.as_ref().map_or_else(|refusing| !refusing.always, |twin| !twin.each_in_order);
    if !says_nothing {
        spoil(&mut merged);
    }
    match &twin {
        _ if says_nothing => {}
        Ok(right) if right.each_in_order => {
            same_bytes(&told_of_merge, &case, &merged, &twin)?;
            let repeated = if selection.unique { right.repeated } else { 0 };
            let counts = (right.records, right.records - repeated, repeated, right.counts);
            if let (Ok((_, counted)), None) = (&counted, selection.first)
                && *counted != counts
            {
                return Err(differ(&told_of_merge, &format!("{counted:?}"), &format!("{counts:?}")));
            }
        }
        Ok(_) => same(&told_of_merge, &merged, &Err("not in order"))?,
        Err(refusing) => same(&told_of_merge, &merged, &Err(&refusing.why))?,
    }
    // Merge or check, since this takes most of the time. Where few records are selected, more
    // errors are found in a file than in a pipe: those of its size.
    let merges = flags / 64 % 2 == 0 && !(selection.first.is_some() && twin.is_err());
    let piecewise = if merges { merge(&case, from_pipes()) } else { counted.clone() };
    // A binary file of a wrong size is refused before it is read, a pipe only at its end. Where
    // several inputs are wrong, it depends on the pieces which of them is told.
    let may_differ = is_bits || inputs.len() > 1;
    let both_refuse = may_differ && piecewise.is_err() && counted.is_err();
    let is_open = form == Form::Table && begins_open(&case, &views);
    let is_documented = is_documented_of_pipes(&piecewise, &views) || is_open && piecewise.is_err();
    if piecewise != counted && !both_refuse && !is_documented {
        let [pipes, files] = [piecewise, counted].map(|it| format!("{it:?}"));
        return Err(differ(&("merge in pieces, and of files", &told), &pipes, &files));
    }

    let found = check(&case, from_files(), ONE_BY_ONE);
    let mut checked = found.clone();
    if !matches!(twin, Err(Refusing { check: None, .. })) {
        spoil(&mut checked);
    }
    let told_of_check = ("check", &told);
    // A file that is not as long as its header says is refused before it is read, a pipe only at
    // its end.
    let is_cut = found.as_ref().is_err_and(|refusal| refusal.message.contains("follow the header"));
    if is_cut && twin.is_err() {
        return Ok(());
    }
    match &twin {
        Ok(right) => {
            let place = right.disorder.clone().unwrap_or_default();
            same(&told_of_check, &checked, &Ok::<_, ()>(place.into_bytes()))?;
        }
        Err(Refusing { check: Some(Some(place)), .. }) => {
            same(&told_of_check, &checked, &Ok::<_, ()>(place.clone().into_bytes()))?;
        }
        Err(Refusing { check: Some(None), why, .. }) => same(&told_of_check, &checked, &Err(why))?,
        Err(refusing) => {
            if checked.as_ref().is_ok_and(Vec::is_empty) {
                return Err(differ(&told_of_check, &shown(&checked), &refusing.why));
            }
        }
    }
    // In pieces of few bytes, by several cores.
    let stretches = (1 << 12, 1 + usize::from(pieces[0] % 32));
    let together = check(&case, from_files(), stretches);
    if together != found {
        let [together, one_by_one] = [together, found].map(|it| shown(&it));
        return Err(differ(&("check together, and one by one", &told), &together, &one_by_one));
    }
    let piecewise = if flags / 64 % 2 == 0 { found.clone() } else { check(&case, from_pipes(), stretches) };
    let both_refuse = is_bits && piecewise.is_err() && found.is_err();
    let is_in_order = piecewise.as_ref().is_ok_and(Vec::is_empty);
    let is_documented = is_documented_of_pipes(&piecewise, &views) || is_open && !is_in_order;
    if piecewise != found && !both_refuse && !is_documented {
        let [pipes, files] = [piecewise, found].map(|it| shown(&it));
        return Err(differ(&("check in pieces, and of files", &told), &pipes, &files));
    }
    Ok(())
}

/// Pieces of an input, not many: the library makes a buffer of a quarter of a megabyte ready for
/// each.
fn sizes(length: usize, choice: u8) -> Vec<usize> {
    let first = usize::from(choice / 4);
    match choice % 8 {
        // All at once, but as from a pipe.
        0 => vec![length + 1],
        1..=3 => vec![first, length + 1],
        4 | 5 => vec![first, 1, length + 1],
        6 => vec![length / 4 + 1],
        _ => vec![length / 10 + 1, 2],
    }
}

/// Whether an input begins with a field that is empty, nan or inf, and may be a number or text: of a
/// pipe it is taken for a number, if that is all that there is to be read at first. A word later is
/// an error then, but fields before it may be out of order.
fn begins_open(case: &Case, inputs: &[&[u8]]) -> bool {
    // Those after one that cannot be read are not looked at.
    let read = |count: usize| match table::read(&inputs[..count], case.dialect) {
        Ok(table) => Some(table),
        Err(NoTable::Row(table)) => Some(*table),
        Err(_) => None,
    };
    let Some(table) = (0..=inputs.len()).rev().find_map(read) else { return false };
    let firsts = (0..inputs.len()).filter_map(|input| table.rows.iter().find(|row| row.input == input));
    let mut firsts = firsts.cloned().collect::<Vec<_>>().into_iter();
    firsts.any(|row| table::begins_open(&table, &row, &case.by))
}

/// Documented, since a pipe cannot be read twice: whether −0 is less than 0 depends on the other
/// tokens, and whether nan and inf are words.
fn is_documented_of_pipes<T>(said: &Said<T>, inputs: &[&[u8]]) -> bool {
    let has_minus_zero =
        inputs.iter().any(|input| input.windows(2).any(|pair| pair == b"-0" || pair == b"-."));
    said.as_ref().is_err_and(|refusal| {
        has_minus_zero && refusal.message.contains("cannot be read twice")
            || refusal.message.contains("were read as numbers")
    })
}

type Merged = (Vec<u8>, (u64, u64, u64, Counts));

fn merge(case: &Case, options: Options) -> Said<Merged> {
    let (merged, records) = pipeline::merge(options, case.ask())?;
    // Of what is not selected it depends on the pieces how much is read.
    let all = case.selection.first.is_none();
    let counts = if all { crate::csv::counts(merged.counts) } else { Counts::default() };
    Ok((merged.bytes, (records, records - merged.repeated, merged.repeated, counts)))
}

/// One record after another.
const ONE_BY_ONE: (usize, usize) = (1, 1);

/// The place of a disorder; nothing if there is none.
fn check(case: &Case, options: Options, (most, piece): (usize, usize)) -> Said {
    let place = pipeline::check(options, most, piece)?.map(|(place, _)| place).unwrap_or_default();
    // Of several keys it names the first that differs; a column's name may have commas of its own.
    let place = if case.form == Form::Table { place.split(',').next().unwrap_or_default() } else { &place };
    Ok(place.as_bytes().to_vec())
}

/// That the library gives what the twin does, which may be elements as text.
fn same_bytes(
    told: &dyn std::fmt::Debug,
    case: &Case,
    library: &Said,
    twin: &Result<Twin, Refusing>,
) -> Result<(), String> {
    let is_bits = matches!(case.form, Form::Raw | Form::Npy);
    match (library, twin) {
        (Ok(text), Ok(twin)) if is_bits && case.to_text => {
            bits::is_text_of(text, &twin.elements, case.element)
                .map_err(|problem| differ(told, &shown(library), &problem))
        }
        (library, Ok(twin)) => same(told, library, &Ok::<_, ()>(twin.sorted.clone())),
        (library, Err(refusing)) => same(told, library, &Err(&refusing.why)),
    }
}

fn of_text(case: &Case, inputs: &[&[u8]]) -> Result<Twin, Refusing> {
    let (asked, unique) = (case.asked(), case.selection.unique);
    let compare = |a: &(_, Key), b: &(_, Key)| number::order(&a.1, &b.1, &asked);
    let place = |token: &crate::twin::text::Token| format!("{}:{}", name(token.input), token.line);
    let is_one = text::kind(case.by.order, case.one_a_line).1;
    if is_one && text::has_several(&tokens(inputs)) {
        return Err(Refusing { why: "several on a line".to_owned(), always: false, check: None });
    }
    let records = text::keys(inputs, &asked).map_err(|(tokens, wrong)| {
        let before = &tokens[..wrong.record.unwrap_or(0)];
        let fields: Vec<&[u8]> = before.iter().map(|token| token.bytes).collect();
        // −0 has to look ahead, and then meets what is wrong sooner.
        let is_plain = wrong.alone && !tokens.iter().any(|token| number::is_minus_zero(token.bytes));
        let keys = number::column(&fields, &asked).ok().filter(|_| is_plain);
        let check = keys.map(|keys| {
            let order = |a: &Key, b: &Key| number::order(a, b, &asked);
            first_disorder(&keys, unique, order).map(|at| place(&before[at]))
        });
        Refusing { why: format!("{wrong:?}"), always: false, check }
    })?;
    let of = |input: usize| records.iter().filter(move |(token, _)| token.input == input).cloned();
    let is_in_order = |input| first_disorder(&of(input).collect::<Vec<_>>(), false, compare).is_none();
    let nan = records.iter().filter(|(_, key)| matches!(key, Key::Nan)).count() as u64;
    Ok(Twin {
        sorted: text::sort(inputs, case.by.element, case.by.order, case.selection)
            .expect("the keys are right"),
        elements: Vec::new(),
        records: records.len() as u64,
        repeated: (records.len() - sorted(&records, UNIQUE, compare).len()) as u64,
        counts: Counts { nan, comments: comments(inputs), ..Counts::default() },
        each_in_order: (0..inputs.len()).all(is_in_order),
        disorder: first_disorder(&records, unique, compare).map(|at| place(&records[at].0)),
    })
}

type Record = (table::Row, Vec<Key>);

fn of_tables(case: &Case, inputs: &[&[u8]]) -> Result<Twin, Refusing> {
    let (by, unique) = (&case.by, case.selection.unique);
    let disorder = |keyed: &Keyed| {
        let order = |a: &Record, b: &Record| keyed.order(&a.1, &b.1);
        let found = first_disorder(&keyed.rows, unique, order).map(|at| &keyed.rows[at].0);
        found.map(|row| format!("{}:{}", name(row.input), row.line))
    };
    // What is looked at before what is wrong.
    let prefix = |table: table::Table| {
        let keyed = table::keyed(table, by, case.dialect.fields).ok()?;
        (!keyed.has_minus_zero(by)).then(|| disorder(&keyed))
    };
    let table = table::read(inputs, case.dialect).map_err(|problem| match problem {
        NoTable::Beginning(why) => Refusing { why: why.to_owned(), always: true, check: None },
        // Told where the row is read.
        NoTable::Widths => {
            Refusing { why: "another number of columns".to_owned(), always: false, check: None }
        }
        NoTable::Row(table) => Refusing { why: "a row".to_owned(), always: false, check: prefix(*table) },
    })?;
    let keyed = table::keyed(table.clone(), by, case.dialect.fields).map_err(|refused| {
        let why = format!("{refused:?}");
        match refused {
            Refused::Options | Refused::Key(_) => Refusing { why, always: true, check: None },
            // Of several columns another one may be wrong sooner, and of rows that are skipped
            // there are no numbers.
            Refused::Column(Wrong { record: Some(record), alone: true })
                if by.columns.len() < 2
                    && by.order.invalid != Invalid::Skip
                    && by.order.reading != Reading::Any =>
            {
                let mut table = table.clone();
                table.rows.truncate(record);
                let minus_zeros =
                    inputs.iter().any(|input| input.windows(2).any(|pair| pair == b"-0" || pair == b"-."));
                Refusing { why, always: false, check: if minus_zeros { None } else { prefix(table) } }
            }
            Refused::Column(_) => Refusing { why, always: false, check: None },
        }
    })?;
    let order = |a: &Record, b: &Record| keyed.order(&a.1, &b.1);
    let of = |input: usize| keyed.rows.iter().filter(move |(row, _)| row.input == input).cloned();
    let is_in_order = |input| first_disorder(&of(input).collect::<Vec<_>>(), false, order).is_none();
    let (sorted, repeated) = keyed.sorted(case.selection);
    Ok(Twin {
        sorted,
        elements: Vec::new(),
        records: keyed.rows.len() as u64,
        repeated: repeated.max(keyed.sorted(UNIQUE).1) as u64,
        counts: keyed.counts,
        each_in_order: (0..inputs.len()).all(is_in_order),
        disorder: disorder(&keyed),
    })
}

fn of_bits(case: &Case, inputs: &[&[u8]], npy: bool, miscounted: bool) -> Result<Twin, Refusing> {
    let (element, order, selection) = (case.element, case.by.order, case.selection);
    let compare = |a: &u64, b: &u64| bits::order(*a, *b, element, order);
    let refusing = |why: &str, always| Refusing { why: why.to_owned(), always, check: None };
    if miscounted {
        return Err(refusing("another number of elements than the header says", true));
    }
    let mut all = Vec::new();
    let mut places = Vec::new();
    let mut each_in_order = true;
    for (input, bytes) in inputs.iter().enumerate() {
        let (big_endian, body) = if npy {
            let start = 10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
            (bytes[..start].contains(&b'>'), &bytes[start..])
        } else {
            (false, *bytes)
        };
        let elements =
            bits::elements(body, element, big_endian).ok_or_else(|| refusing("half an element", false))?;
        each_in_order &= first_disorder(&elements, false, compare).is_none();
        places.extend((0..elements.len()).map(|at| format!("{}, element {at}", name(input))));
        all.extend(elements);
    }
    if order.nan == Nulls::Error && all.iter().any(|&it| bits::is_nan(it, element)) {
        return Err(refusing("NaN", false));
    }
    let elements: Vec<u64> = sorted(&all, selection, compare).into_iter().map(|at| all[at]).collect();
    Ok(Twin {
        sorted: bits::written(&elements, element),
        elements,
        records: all.len() as u64,
        repeated: (all.len() - sorted(&all, UNIQUE, compare).len()) as u64,
        counts: Counts::default(),
        each_in_order,
        disorder: first_disorder(&all, selection.unique, compare).map(|at| places[at].clone()),
    })
}

/// Puts the records of each input in order, if they have one.
fn put_in_order(case: &Case, inputs: &mut [Vec<u8>]) {
    let views: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut ordered: Vec<Vec<u8>> = vec![Vec::new(); inputs.len()];
    let has_nul = matches!(case.form, Form::Table) && table::has_nul(case.dialect.fields);
    let line_end = if has_nul { 0 } else { b'\n' };
    match case.form {
        Form::Text => {
            let asked = case.asked();
            let Ok(records) = text::keys(&views, &asked) else { return };
            for at in sorted(&records, Selection::ALL, |a, b| number::order(&a.1, &b.1, &asked)) {
                let token = &records[at].0;
                ordered[token.input].extend([token.bytes, b"\n"].concat());
            }
        }
        Form::Table => {
            let Ok(table) = table::read(&views, case.dialect) else { return };
            let Ok(keyed) = table::keyed(table, &case.by, case.dialect.fields) else { return };
            for ((ordered, input), &start) in ordered.iter_mut().zip(&views).zip(&keyed.table.starts) {
                // All that a table may begin with stays: a mark, comments, blank lines, its header.
                ordered.extend_from_slice(&input[..start]);
            }
            for at in sorted(&keyed.rows, Selection::ALL, |a, b| keyed.order(&a.1, &b.1)) {
                let row = &keyed.rows[at].0;
                ordered[row.input].extend([&row.raw[..], row.end].concat());
            }
        }
        Form::Raw | Form::Npy => {
            for (ordered, input) in ordered.iter_mut().zip(&views) {
                let (whole, rest) = input.split_at(input.len() - input.len() % case.element.bytes());
                let elements = bits::elements(whole, case.element, false).expect("they are whole");
                let order = |a: &u64, b: &u64| bits::order(*a, *b, case.element, case.by.order);
                let elements: Vec<u64> =
                    sorted(&elements, Selection::ALL, order).into_iter().map(|at| elements[at]).collect();
                *ordered = [&bits::written(&elements, case.element), rest].concat();
            }
        }
    }
    for (ordered, input) in ordered.iter_mut().zip(inputs) {
        // A last line that lacked its end still does.
        let is_lines = matches!(case.form, Form::Text | Form::Table);
        if is_lines && !input.ends_with(&[line_end]) && ordered.len() > 1 {
            ordered.pop();
        }
        *input = std::mem::take(ordered);
    }
}

/// Puts a header before elements, with a count that is wrong by `miscount`. Returns whether the
/// file is wrong.
fn to_npy(input: &mut Vec<u8>, element: ElementType, big_endian: bool, miscount: i64) -> bool {
    let size = element.bytes();
    let whole = input.len() - input.len() % size;
    if big_endian && size > 1 {
        input[..whole].chunks_mut(size).for_each(<[u8]>::reverse);
    }
    let count = ((whole / size) as i64 + miscount).max(0) as u64;
    let mut header = Header::of(element, count);
    if big_endian && size > 1 {
        let at = header.iter().position(|&byte| byte == b'<').expect("it is written little-endian");
        header[at] = b'>';
    }
    input.splice(..0, header);
    count != (whole / size) as u64 || whole < input.len() - Header::of(element, count).len()
}
