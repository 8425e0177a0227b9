//! Keys with kinds of their own, beside a stable sort by exact values: the whole output, the check,
//! and the merge, of lines and of tables without quotes.

use std::cmp::Ordering;

use gpusort::Format;
use gpusort::files::{Invalid, Nulls};

use crate::asked::Asked;
use crate::choices::{Choices, inputs};
use crate::library::{self, Said, files};
use crate::pipeline::{self, Ask};
use crate::records::{Form, MARK, Record, Records};
use crate::values::{Kind, Marks, Value, trimmed};
use crate::{Shown, Spoil, same};

/// Bytes of options.
const OPTIONS: usize = 28;

/// The place of a key in a record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Whole,
    /// The number of a field, from 0.
    Number(usize),
    Last,
    Name(&'static str),
}

#[derive(Clone, Copy, Debug)]
struct Key {
    column: Column,
    kind: Kind,
    descending: Option<bool>,
}

/// A case: options of the library, and the keys in them.
#[derive(Debug)]
struct Case {
    asked: Asked,
    keys: Vec<Key>,
    form: Form,
    /// The delimiter of lines; without one fields stand between blanks.
    delimiter: Option<u8>,
    first: Option<u64>,
}

/// Why a case has no result.
#[derive(Debug, PartialEq)]
enum Refused {
    /// The library must refuse it, too.
    Error(&'static str),
    /// The contract leaves it open, or the reference does not have the rule.
    Open,
}

/// The records and the values of their keys.
type Keyed = (Records, Vec<(usize, Vec<Value>)>);

/// # Errors
///
/// The difference between the library and the reference.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let case = Case::new(&mut choices);
    let inputs = inputs(data, 3);
    if case.is_open(&inputs) {
        return Ok(());
    }
    let told = |what| (what, &case, Shown(&inputs));
    let options = || case.asked.options(files(&inputs));
    let ask = Ask { first: case.first, ..Ask::default() };
    let right = case.keyed(&inputs);
    if matches!(right, Err(Refused::Open)) {
        return Ok(());
    }
    let mut sorted: Said = library::sort(options(), ask).map(|sorted| sorted.bytes);
    spoil(&mut sorted);
    let output = right.as_ref().map(|(records, keys)| records.output(&case.sorted(keys)));
    same(&told("sort"), &sorted, &output)?;
    let Ok((_, keys)) = &right else { return Ok(()) };

    let checked = pipeline::check(options(), 1 << 12, 16);
    let mut checked: Said = match checked {
        Ok(None) => Ok(b"in order\n".to_vec()),
        Ok(Some(_)) => Ok(b"out of order\n".to_vec()),
        Err(error) => Err(error.into()),
    };
    spoil(&mut checked);
    let is_in_order = case.are_in_order(keys, case.asked.unique);
    let right: Result<_, ()> =
        Ok(if is_in_order { b"in order\n".to_vec() } else { b"out of order\n".to_vec() });
    same(&told("check"), &checked, &right)?;

    let each = inputs.iter().map(|input| case.keyed(&[input])).collect::<Result<Vec<_>, _>>();
    // An input by itself may lack the column of a key.
    let (Ok(each), None) = (each, case.first) else { return Ok(()) };
    let are_in_order = each.iter().all(|(_, keys)| case.are_in_order(keys, false));
    let mut merged: Said =
        pipeline::merge(options(), ask).map(|(sorted, _)| sorted.bytes).map_err(Into::into);
    // A merge refuses comments behind records, since its output has begun.
    if case.asked.comments && merged.is_err() {
        return Ok(());
    }
    spoil(&mut merged);
    if are_in_order {
        same(&told("merge"), &merged, &output)
    } else {
        same(&told("merge"), &merged, &Err("an input out of order"))
    }
}

impl Case {
    fn new(choices: &mut Choices) -> Self {
        let mut asked = choices.asked(&[""]);
        (asked.kind, asked.numeric, asked.nocase, asked.leading, asked.times) =
            (None, false, false, false, None);
        let columns = [
            Column::Number(0),
            Column::Number(1),
            Column::Name("a"),
            Column::Name("b"),
            Column::Number(2),
            Column::Last,
            Column::Whole,
        ];
        let kinds = [
            ("number", Kind::Number),
            ("text", Kind::Text { nocase: false }),
            ("number", Kind::Number),
            ("hex", Kind::Hex),
            ("version", Kind::Version),
            ("text:nocase", Kind::Text { nocase: true }),
        ];
        let count = choices.of(&[1, 1, 1, 2, 2, 3]);
        let forms = choices.below(16);
        let header = choices.of(&[None, None, None, Some(1), Some(2), Some(0)]);
        let first = choices.of(&[None, None, None, Some(0), Some(1), Some(2), Some(5)]);
        let (format, form, delimiter) = match forms {
            0..=4 => (Format::Lines, Form::Lines(b'\n'), None),
            5..=9 => (Format::Lines, Form::Lines(b'\n'), Some(b",:;\t,"[forms - 5])),
            _ => (Format::Csv, Form::Rows(b",,;|\t,"[forms - 10]), Some(b",,;|\t,"[forms - 10])),
        };
        let is_table = format == Format::Csv;
        let form = if asked.zero_terminated && !is_table { Form::Lines(0) } else { form };
        asked.zero_terminated &= !is_table;
        (asked.format, asked.delimiter, asked.header) = (Some(format), delimiter, header);
        let mut keys = Vec::new();
        for _ in 0..count {
            let (column, (name, kind), direction) = (
                choices.of(&columns),
                choices.of(&kinds),
                choices.of(&[None, None, Some(true), Some(false)]),
            );
            // Columns of lines between blanks may be cut by position if they have names, and names
            // may stand in comments.
            let has_names = !asked.comments && (is_table || delimiter.is_some()) && header != Some(0);
            let column =
                if matches!(column, Column::Name(_)) && !has_names { Column::Number(0) } else { column };
            let kind = if column == Column::Whole { Kind::Text { nocase: false } } else { kind };
            let place = match column {
                Column::Whole => "0".to_owned(),
                Column::Last => "-1".to_owned(),
                Column::Number(at) => (at + 1).to_string(),
                Column::Name(name) => name.to_owned(),
            };
            let kind_name = if column == Column::Whole { "" } else { &format!(":{name}") };
            let direction_name = direction.map_or("", |descending| if descending { ":r" } else { ":a" });
            asked.keys.push(format!("{place}{kind_name}{direction_name}"));
            keys.push(Key { column, kind, descending: direction });
        }
        Self { asked, keys, form, delimiter, first }
    }

    fn marks(&self) -> Marks {
        let byte = |mark: char| u8::try_from(mark).expect("the marks are ASCII");
        Marks { decimal: self.asked.decimal.map_or(b'.', byte), thousands: self.asked.thousands.map(byte) }
    }

    /// The rows of the header.
    fn header(&self) -> usize {
        let has_names = self.keys.iter().any(|key| matches!(key.column, Column::Name(_)));
        self.asked.header.unwrap_or(usize::from(has_names || matches!(self.form, Form::Rows(_))))
    }

    /// Returns true for bytes whose rules are not here: quotes, lone CRs, signs of currencies,
    /// compressed data, marks behind the first input.
    fn is_open(&self, inputs: &[&[u8]]) -> bool {
        let marks = self.marks();
        if self.delimiter.is_some_and(|byte| {
            self.asked.decimal.is_some() && byte == marks.decimal || Some(byte) == marks.thousands
        }) {
            return true;
        }
        // The contract is open about signs of hexadecimal numbers.
        let has_hex = self.keys.iter().any(|key| key.kind == Kind::Hex);
        let has_numbers = self.keys.iter().any(|key| key.kind == Kind::Number);
        let is_table = matches!(self.form, Form::Rows(_));
        let is_late = |at: usize, input: &[u8]| at > 0 && input.starts_with(MARK);
        inputs.iter().enumerate().any(|(at, input)| {
            let has_lone_cr = || {
                (0..input.len()).any(|at| {
                    input[at] == b'\r' && (self.form == Form::Lines(0) || input.get(at + 1) != Some(&b'\n'))
                })
            };
            let body = input.strip_prefix(MARK).unwrap_or(input);
            // The contract is open about a blank line as a header.
            let first = body.split(|byte| matches!(byte, 0 | b'\n')).next().unwrap_or_default();
            is_late(at, input)
                || self.header() > 0 && first.trim_ascii().is_empty()
                || crate::properties::is_compressed(input)
                || is_table && input.contains(&b'"')
                || has_lone_cr()
                || has_hex && body.iter().any(|byte| matches!(byte, b'+' | b'-'))
                || has_numbers && body.iter().any(|byte| matches!(byte, b'$' | b'%') || !byte.is_ascii())
        })
    }

    /// The records and the values of their keys; without those that `--invalid skip` leaves out.
    fn keyed(&self, inputs: &[&[u8]]) -> Result<Keyed, Refused> {
        let is_table = matches!(self.form, Form::Rows(_));
        let records = Records::read(inputs, self.form, self.asked.comments, self.header());
        let records = records.ok_or(Refused::Error("headers that differ"))?;
        if records.head.is_empty() && records.all.is_empty() {
            return Ok((records, Vec::new()));
        }
        let names = records.header.last().map(|line| self.fields(line));
        let names: Vec<&[u8]> = names.unwrap_or_default().iter().map(|name| trimmed(name)).collect();
        let is_key = |name: &&[u8]| {
            self.asked.keys.iter().any(|key| {
                name.contains(&b':')
                    || key.as_bytes().starts_with(name) && name.iter().all(u8::is_ascii_digit)
            })
        };
        if names.iter().any(|name| is_key(name) && !name.is_empty()) {
            return Err(Refused::Open);
        }
        let columns = self.keys.iter().map(|key| match key.column {
            Column::Name(name) => {
                let at = names.iter().position(|other| *other == name.as_bytes());
                at.map(Column::Number).ok_or(Refused::Error("no column of that name"))
            }
            column => Ok(column),
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        if is_table {
            self.check_widths(&records, &columns)?;
        }
        let fields: Vec<Vec<&[u8]>> = records.all.iter().map(|record| self.fields(&record.body)).collect();
        self.check_columns(&records, &columns, &fields)?;
        let values =
            fields.iter().zip(&records.all).map(|(fields, record)| self.values(&columns, fields, record));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let is_kept = |(_, values): &(usize, Vec<Value>)| {
            self.asked.invalid != Some(Invalid::Skip) || !values.contains(&Value::Invalid)
        };
        let keys = values.into_iter().enumerate().filter(is_kept).collect();
        Ok((records, keys))
    }

    fn fields<'a>(&self, body: &'a [u8]) -> Vec<&'a [u8]> {
        match self.delimiter {
            // A blank line of lines has no field.
            Some(_) if body.is_empty() && self.form != Form::Rows(b',') => Vec::new(),
            Some(delimiter) => body.split(|&byte| byte == delimiter).collect(),
            None => {
                let is_blank =
                    |byte: &u8| matches!(byte, b' ' | b'\t') || self.form == Form::Lines(0) && *byte == b'\n';
                body.split(is_blank).filter(|field| !field.is_empty()).collect()
            }
        }
    }

    /// Refuses rows of another width than the first one, and columns beyond it.
    fn check_widths(&self, records: &Records, columns: &[Column]) -> Result<(), Refused> {
        let is_blank = |row: &&[u8]| trimmed(row).is_empty();
        let header = records.header.last().map(Vec::as_slice);
        let rows: Vec<&[u8]> =
            header.into_iter().chain(records.all.iter().map(|row| &row.body[..])).collect();
        let Some(first) = rows.first() else { return Ok(()) };
        // The contract is open about rows of blanks, and about a width from a blank row.
        if is_blank(first) || rows.iter().any(|row| is_blank(row) && !row.is_empty()) {
            return Err(Refused::Open);
        }
        let width = self.fields(first).len();
        let is_beyond = |column: &Column| matches!(column, Column::Number(at) if *at >= width);
        if columns.iter().any(is_beyond) {
            return Err(Refused::Error("no column of that number"));
        }
        let is_other = |row: &&[u8]| !is_blank(row) && self.fields(row).len() != width;
        let are_whole = columns.iter().all(|column| *column == Column::Whole);
        match rows.iter().any(is_other) {
            // The contract is open about rows of which no field is read.
            true if are_whole => Err(Refused::Open),
            true => Err(Refused::Error("a row of another width")),
            false => Ok(()),
        }
    }

    /// Refuses a key that no line has, if a line is not blank.
    fn check_columns(
        &self,
        records: &Records,
        columns: &[Column],
        fields: &[Vec<&[u8]>],
    ) -> Result<(), Refused> {
        let is_blank = |record: &Record| trimmed(&record.body).is_empty();
        let lacks = |column: &Column| match column {
            Column::Number(at) => fields.iter().all(|fields| fields.len() <= *at),
            Column::Last => fields.iter().all(Vec::is_empty),
            _ => false,
        };
        let is_lacking = columns.iter().any(lacks) && !records.all.iter().all(is_blank);
        if is_lacking { Err(Refused::Error("a key that no record has")) } else { Ok(()) }
    }

    fn values(&self, columns: &[Column], fields: &[&[u8]], record: &Record) -> Result<Vec<Value>, Refused> {
        let asked = &self.asked;
        let value = |(key, column): (&Key, &Column)| {
            let field = match column {
                Column::Whole => return Value::Text(record.body.clone()),
                Column::Last => fields.last(),
                Column::Number(at) => fields.get(*at),
                Column::Name(_) => unreachable!("names are resolved"),
            };
            Value::read(field.copied(), key.kind, asked.na, self.marks())
        };
        let values: Vec<Value> = self.keys.iter().zip(columns).map(value).collect();
        let is_skipped = asked.invalid == Some(Invalid::Skip) && values.contains(&Value::Invalid);
        let is_refused = |value: &Value| match value {
            Value::Nan => asked.nan == Nulls::Error,
            Value::Empty => asked.empty == Some(Nulls::Error),
            Value::Invalid => asked.invalid.is_none(),
            _ => false,
        };
        match values.iter().any(is_refused) {
            true if is_skipped => Err(Refused::Open),
            true => Err(Refused::Error("a field that an option refuses")),
            false => Ok(values),
        }
    }

    /// The place of a null: NaN is nearest to the values, invalid fields are farthest.
    fn place(&self, value: &Value) -> i32 {
        let (distance, is_first) = match value {
            Value::Nan => (1, self.asked.nan == Nulls::First),
            Value::Empty => (2, self.asked.empty == Some(Nulls::First)),
            Value::Invalid => (3, self.asked.invalid == Some(Invalid::First)),
            _ => (0, false),
        };
        if is_first { -distance } else { distance }
    }

    fn order(&self, a: &[Value], b: &[Value]) -> Ordering {
        let of_key = |(key, (a, b)): (&Key, (&Value, &Value))| {
            let places = (self.place(a), self.place(b));
            if places != (0, 0) {
                return places.0.cmp(&places.1);
            }
            let order = a.compare(b);
            if key.descending.unwrap_or(self.asked.descending) { order.reverse() } else { order }
        };
        let mut orders = self.keys.iter().zip(a.iter().zip(b)).map(of_key);
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Returns true if `-u` takes two records for one: no record equals an invalid one.
    fn are_one(&self, a: &[Value], b: &[Value]) -> bool {
        self.order(a, b).is_eq() && !a.contains(&Value::Invalid)
    }

    fn sorted(&self, keys: &[(usize, Vec<Value>)]) -> Vec<usize> {
        let mut sorted: Vec<&(usize, Vec<Value>)> = keys.iter().collect();
        sorted.sort_by(|a, b| self.order(&a.1, &b.1));
        if self.asked.unique {
            sorted.dedup_by(|later, first| self.are_one(&first.1, &later.1));
        }
        sorted.truncate(self.first.map_or(usize::MAX, |first| first as usize));
        sorted.into_iter().map(|&(at, _)| at).collect()
    }

    fn are_in_order(&self, keys: &[(usize, Vec<Value>)], unique: bool) -> bool {
        keys.windows(2).all(|pair| {
            let [(_, a), (_, b)] = pair else { return true };
            self.order(a, b).is_le() && !(unique && self.are_one(a, b))
        })
    }
}
