//! Tables: rows, their fields, and what sorting them gives.

use std::cmp::Ordering;

use gpusort::unstable::order::{Invalid, KeyOrder, Reading, Selection};

use super::number::{self, Asked, Key, Spelled};
use super::{MARK, keys, sorted};
use crate::asked::{By, Dialect, Fields, LineEnd};

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its bytes without its line end.
    pub raw: Vec<u8>,
    /// Its line end: its own, or that of its input.
    pub end: &'static [u8],
    /// Whether LF is there at its end.
    pub is_ended: bool,
    /// What its fields say, without quotes.
    pub fields: Vec<Vec<u8>>,
    pub input: usize,
    /// Where it begins, from 1.
    pub line: usize,
    /// Whether it is a line with `#` at its beginning, which has no number.
    pub is_comment: bool,
}

/// A table of several inputs.
#[derive(Clone, Debug)]
pub struct Table {
    /// Whether the first input begins with a byte order mark.
    pub mark: bool,
    /// Comments that stay on top.
    pub top: Vec<u8>,
    pub header: Option<Row>,
    /// Columns; none if there is nothing at all, and of lines as many as can be.
    pub width: usize,
    /// Rows without those that are blank in a table of several columns.
    pub rows: Vec<Row>,
    /// Lines with nothing on them that are no rows.
    pub blank: u64,
    /// Comments of other inputs than the first one.
    pub comments: u64,
}

/// Why a table cannot be read.
#[derive(Clone, Debug)]
pub enum NoTable {
    /// This row of this input cannot be a row: it has another number of fields, or does not end.
    /// Those before it stand.
    Row(Box<Table>),
    /// What the inputs begin with.
    Beginning(&'static str),
    /// The first rows of inputs without headers are of different numbers of fields.
    Widths,
}

/// Reads all inputs.
pub fn read(inputs: &[&[u8]], dialect: Dialect) -> Result<Table, NoTable> {
    let mark = inputs.first().is_some_and(|bytes| bytes.starts_with(MARK));
    let usual: &[u8] = if has_nul(dialect.fields) { b"\0" } else { b"\n" };
    let mut table =
        Table { mark, top: Vec::new(), header: None, width: 0, rows: Vec::new(), blank: 0, comments: 0 };
    // Rows of each input below its header, and whether a row with an unclosed quote follows them.
    let mut all: Vec<(Vec<Row>, bool)> = Vec::new();
    for (number, bytes) in inputs.iter().enumerate() {
        let mut bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        let mut comments = 0;
        while dialect.comments && bytes.starts_with(b"#") {
            let end = bytes.iter().position(|byte| [*byte] == usual).map_or(bytes.len(), |end| end + 1);
            if number == 0 {
                table.top.extend_from_slice(&bytes[..end]);
            }
            bytes = &bytes[end..];
            comments += 1;
        }
        if !table.top.is_empty() && !table.top.ends_with(usual) {
            table.top.extend_from_slice(usual);
        }
        table.comments += if number == 0 { 0 } else { comments as u64 };
        let (mut rows, unclosed) = match dialect.fields {
            Fields::Quoted(delimiter) => rows(bytes, number, delimiter),
            fields => (lines(bytes, number, fields), false),
        };
        rows.iter_mut().for_each(|row| row.line += comments);
        let are_lines = dialect.fields.are_of_lines();
        if dialect.header {
            complete(&mut rows, are_lines, usual);
        }
        let first = rows.iter().position(|row| !row.is_blank() || are_lines);
        if first.is_none() && unclosed {
            return Err(NoTable::Beginning("a first row that is not closed"));
        }
        if let Some(first) = first {
            // CR seems to be the line end: a header is joined with the row after it, or all rows
            // are one.
            if let Fields::Quoted(delimiter) = dialect.fields
                && rows[first].has_lone_cr(delimiter)
                && (dialect.header || !rows[first].is_ended)
            {
                return Err(NoTable::Beginning("CR alone in a first row"));
            }
            let raw = rows[first].raw.trim_ascii_end();
            if are_lines && !has_nul(dialect.fields) && !rows[first].is_ended && raw.contains(&b'\r') {
                return Err(NoTable::Beginning("CR alone in lines"));
            }
            let width = if are_lines { usize::MAX } else { rows[first].fields.len() };
            if dialect.header {
                let header = rows[first].clone();
                match &table.header {
                    Some(other) if other.fields != header.fields => {
                        return Err(NoTable::Beginning("another header"));
                    }
                    Some(_) => {}
                    None => table.header = Some(header),
                }
            }
            if table.width == 0 {
                table.width = width;
            }
            if table.width != width {
                return Err(NoTable::Widths);
            }
        }
        if dialect.header {
            // Blank lines above the header are none of its rows.
            table.blank += first.unwrap_or(rows.len()) as u64;
            rows.drain(..first.map_or(rows.len(), |first| first + 1));
        }
        all.push((rows, unclosed));
    }
    if table.width == 0 && all.iter().any(|(rows, _)| !rows.is_empty()) {
        table.width = 1;
    }
    let are_lines = dialect.fields.are_of_lines();
    for (mut rows, unclosed) in all {
        if !dialect.header {
            complete(&mut rows, table.width == 1 || are_lines, usual);
        }
        for row in rows {
            if are_lines {
                table.rows.push(row);
                continue;
            }
            if row.is_blank() && table.width > 1 {
                table.blank += 1;
                continue;
            }
            if row.fields.len() != table.width {
                return Err(NoTable::Row(table.into()));
            }
            table.rows.push(row);
        }
        if unclosed {
            return Err(NoTable::Row(table.into()));
        }
    }
    Ok(table)
}

/// The rows of one input, and whether one with a quote that is never closed follows them.
fn rows(bytes: &[u8], input: usize, delimiter: u8) -> (Vec<Row>, bool) {
    let mut rows: Vec<Row> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut fields = Vec::new();
        loop {
            let mut field = Vec::new();
            if bytes.get(at) == Some(&b'"') {
                at += 1;
                loop {
                    match (bytes.get(at), bytes.get(at + 1)) {
                        (None, _) => return (rows, true),
                        (Some(b'"'), Some(b'"')) => {
                            field.push(b'"');
                            at += 2;
                        }
                        (Some(b'"'), _) => {
                            at += 1;
                            break;
                        }
                        (Some(&byte), _) => {
                            field.push(byte);
                            at += 1;
                        }
                    }
                }
            }
            while at < bytes.len() && bytes[at] != delimiter && bytes[at] != b'\n' {
                field.push(bytes[at]);
                at += 1;
            }
            fields.push(field);
            if bytes.get(at) == Some(&delimiter) {
                at += 1;
            } else {
                break;
            }
        }
        let is_ended = at < bytes.len();
        let (mut raw, mut end) = (bytes[start..at].to_vec(), if is_ended { &b"\n"[..] } else { b"" });
        // No quoted field ends in CR: its closing quote comes after it.
        if raw.ends_with(b"\r") {
            raw.pop();
            fields.last_mut().expect("every row has a field").pop();
            // At the very end, where LF is lacking, that is what is put there.
            end = b"\r\n";
        }
        let line = bytes[..start].iter().filter(|&&byte| byte == b'\n').count() + 1;
        rows.push(Row { raw, end, is_ended, fields, input, line, is_comment: false });
        at += 1;
    }
    (rows, false)
}

/// Whether NUL ends lines.
pub fn has_nul(fields: Fields) -> bool {
    matches!(fields, Fields::Blanks(LineEnd::Nul) | Fields::Split(_, LineEnd::Nul))
}

/// The lines of one input.
fn lines(bytes: &[u8], input: usize, fields: Fields) -> Vec<Row> {
    let mut rows = Vec::new();
    let is_split_at_hash = matches!(fields, Fields::Split(b'#', _));
    if has_nul(fields) {
        for (number, line) in bytes.split_inclusive(|&byte| byte == 0).enumerate() {
            let is_ended = line.ends_with(b"\0");
            let raw = line.strip_suffix(b"\0").unwrap_or(line).to_vec();
            let end: &[u8] = if is_ended { b"\0" } else { b"" };
            let fields = match fields {
                Fields::Split(byte, _) => raw.split(|&at| at == byte).map(<[u8]>::to_vec).collect(),
                _ => words(&raw, b" \t\n"),
            };
            let is_comment = raw.starts_with(b"#") && !is_split_at_hash;
            rows.push(Row { raw, end, is_ended, fields, input, line: number + 1, is_comment });
        }
        return rows;
    }
    for (number, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let is_ended = line.ends_with(b"\n");
        let mut raw = line.strip_suffix(b"\n").unwrap_or(line).to_vec();
        let mut end: &[u8] = if is_ended { b"\n" } else { b"" };
        if raw.ends_with(b"\r") {
            raw.pop();
            end = b"\r\n";
        }
        let fields = match fields {
            Fields::Quoted(byte) | Fields::Split(byte, _) => {
                raw.split(|&at| at == byte).map(<[u8]>::to_vec).collect()
            }
            _ => words(&raw, b" \t"),
        };
        let is_comment = raw.starts_with(b"#") && !is_split_at_hash;
        rows.push(Row { raw, end, is_ended, fields, input, line: number + 1, is_comment });
    }
    rows
}

/// The words of a line, of which a date and a time of day after one blank are one.
fn words(line: &[u8], separators: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    // Blanks before the current byte since the last word.
    let (mut blanks, mut at_word) = (0, false);
    for (at, &byte) in line.iter().enumerate() {
        if separators.contains(&byte) {
            (blanks, at_word) = (if at_word { 1 } else { blanks + 1 }, false);
            continue;
        }
        if !at_word {
            let end = line[at..].iter().position(|byte| separators.contains(byte));
            let word = &line[at..end.map_or(line.len(), |end| at + end)];
            match words.last_mut() {
                Some(date)
                    if blanks == 1
                        && line[at - 1] != b'\n'
                        && has_form(date, &["dddd-dd-dd"])
                        && is_time_of_day(word) =>
                {
                    date.push(line[at - 1]);
                }
                _ => words.push(Vec::new()),
            }
        }
        at_word = true;
        words.last_mut().expect("there is one").push(byte);
    }
    words
}

/// Whether the bytes have one of these forms, in which a `d` is any digit.
fn has_form(bytes: &[u8], forms: &[&str]) -> bool {
    let is = |byte: &u8, form: u8| if form == b'd' { byte.is_ascii_digit() } else { *byte == form };
    forms.iter().any(|form| {
        form.len() == bytes.len() && bytes.iter().zip(form.bytes()).all(|(byte, form)| is(byte, form))
    })
}

fn is_time_of_day(word: &[u8]) -> bool {
    let zones: [&[&str]; 3] = [&[""], &["Z", "z"], &["+dd:dd", "-dd:dd"]];
    zones.iter().any(|zones| {
        let Some(end) = word.len().checked_sub(zones[0].len()) else { return false };
        let (time, zone) = word.split_at(end);
        let seconds = || {
            let dot = time.iter().position(|byte| matches!(byte, b'.' | b','))?;
            let (seconds, decimals) = (&time[..dot], &time[dot + 1..]);
            let all_digits = !decimals.is_empty() && decimals.iter().all(u8::is_ascii_digit);
            Some(has_form(seconds, &["dd:dd:dd"]) && all_digits)
        };
        has_form(zone, zones) && (has_form(time, &["dd:dd", "dd:dd:dd"]) || seconds() == Some(true))
    })
}

/// Gives a last row without a line end that of the first row, which may be blank only where `blank`
/// lines are rows.
fn complete(rows: &mut [Row], blank: bool, usual: &'static [u8]) {
    let first = rows.iter().find(|row| blank || !row.is_blank()).map_or(&b""[..], |row| row.end);
    let first = if first.is_empty() { usual } else { first };
    rows.iter_mut().filter(|row| row.end.is_empty()).for_each(|row| row.end = first);
}

impl Row {
    /// Whether there is nothing on its line.
    pub fn is_blank(&self) -> bool {
        self.raw.is_empty()
    }

    /// Whether a CR outside quotes is followed by more of its field: at its end there may be
    /// several.
    fn has_lone_cr(&self, delimiter: u8) -> bool {
        let (mut at_field, mut quoted, mut after_cr) = (true, false, false);
        for &byte in &self.raw {
            let was_quoted = quoted;
            if after_cr && byte != b'\r' && byte != delimiter {
                return true;
            }
            after_cr = !quoted && byte == b'\r';
            if quoted {
                quoted = byte != b'"';
            } else if byte == b'"' && at_field {
                quoted = true;
            }
            // Of two quotes inside quotes the first ends them, and the second begins them again.
            at_field = !quoted && (byte == delimiter || was_quoted);
        }
        false
    }
}

/// What there was that is no number, and what was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub nan: u64,
    pub empty: u64,
    pub invalid: u64,
    pub skipped: u64,
    pub blank: u64,
    pub comments: u64,
}

/// A table with the keys of its rows.
#[derive(Clone, Debug)]
pub struct Keyed {
    pub table: Table,
    /// Rows without those that were skipped, and their keys.
    pub rows: Vec<(Row, Vec<Key>)>,
    /// One for each key.
    pub asked: Vec<Asked>,
    pub counts: Counts,
}

/// Why a table cannot be sorted.
#[derive(Clone, Debug)]
pub enum Refused {
    Key(keys::NoColumn),
    Column(number::Wrong),
}

/// A field without the blanks around it.
fn trimmed(field: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = field.iter().position(|byte| !is_blank(byte)).unwrap_or(field.len());
    let end = field.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &field[start..end]
}

/// What counts of a field, which a line may lack.
fn field(row: &Row, column: usize, order: KeyOrder) -> &[u8] {
    let field = row.fields.get(column).map_or(&b""[..], Vec::as_slice);
    let field = if row.is_comment { &row.raw } else { field };
    let field = if row.end == b"\0" { field.trim_ascii() } else { trimmed(field) };
    // What sizes begin with is found with their units.
    if !order.leading || field.is_empty() || order.reading == Reading::Sizes {
        return field;
    }
    // The longest beginning that is a number, and no word.
    let is_plain = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    let ends = (1..=field.len()).rev();
    let mut numbers = ends.map(|end| &field[..end]).filter(|start| is_plain(start));
    let number = numbers.find(|start| number::spelled(start) != Spelled::Nothing);
    number.unwrap_or(b"none")
}

/// The keys of all rows.
pub fn keyed(table: Table, by: &By) -> Result<Keyed, Refused> {
    let mut counts = Counts { blank: table.blank, comments: table.comments, ..Counts::default() };
    let names = table.header.as_ref().map(|header| &header.fields[..]);
    let columns = match table.width {
        // There are no columns to look for.
        0 => Vec::new(),
        width => keys::resolve(&by.columns, by.order.descending, names, width).map_err(Refused::Key)?,
    };
    let field = |row: &Row, column: usize| field(row, column, by.order).to_vec();
    let mut rows = table.rows.clone();
    if by.order.invalid == Invalid::Skip {
        rows.retain(|row| {
            let is_invalid = |&&(column, _): &&(usize, bool)| {
                let value = field(row, column);
                !value.is_empty()
                    && !number::is_valid(&value, &Asked { element: by.element, order: by.order })
            };
            let invalid = columns.iter().filter(is_invalid).count() as u64;
            counts.invalid += invalid;
            counts.skipped += u64::from(invalid > 0);
            invalid == 0
        });
    }
    let mut keys: Vec<Vec<Key>> = rows.iter().map(|_| Vec::new()).collect();
    let mut all_asked = Vec::new();
    for &(column, descending) in &columns {
        let asked = Asked { element: by.element, order: KeyOrder { descending, ..by.order } };
        let fields: Vec<Vec<u8>> = rows.iter().map(|row| field(row, column)).collect();
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        let column = number::column(&fields, &asked).map_err(Refused::Column)?;
        for (keys, key) in keys.iter_mut().zip(column) {
            match key {
                Key::Nan => counts.nan += 1,
                Key::Empty => counts.empty += 1,
                Key::Invalid => counts.invalid += 1,
                Key::Integer(_) | Key::Float(_) | Key::Size(..) => {}
            }
            keys.push(key);
        }
        all_asked.push(asked);
    }
    Ok(Keyed { rows: rows.into_iter().zip(keys).collect(), table, asked: all_asked, counts })
}

impl Keyed {
    /// The order of two rows.
    pub fn order(&self, a: &[Key], b: &[Key]) -> Ordering {
        for ((a, b), asked) in a.iter().zip(b).zip(&self.asked) {
            let order = number::order(a, b, asked);
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// The sorted table, and how many rows were left out as repeated.
    pub fn sorted(&self, selection: Selection) -> (Vec<u8>, usize) {
        let order = |a: &(Row, Vec<Key>), b: &(Row, Vec<Key>)| self.order(&a.1, &b.1);
        let mut out = if self.table.mark { MARK.to_vec() } else { Vec::new() };
        out.extend_from_slice(&self.table.top);
        if let Some(header) = &self.table.header {
            out.extend([&header.raw[..], header.end].concat());
        }
        let all = sorted(&self.rows, Selection { first: None, ..selection }, order);
        for &at in all.iter().take(selection.first.unwrap_or(usize::MAX)) {
            out.extend_from_slice(&self.rows[at].0.raw);
            out.extend_from_slice(self.rows[at].0.end);
        }
        (out, self.rows.len() - all.len())
    }

    /// Whether there is an integer −0 among keys whose type nobody asked for.
    pub fn has_minus_zero(&self, by: &By) -> bool {
        let columns = keys::resolve(
            &by.columns,
            by.order.descending,
            self.table.header.as_ref().map(|header| &header.fields[..]),
            self.table.width,
        );
        by.element.is_none()
            && self.rows.iter().any(|(row, _)| {
                columns
                    .iter()
                    .flatten()
                    .any(|&(column, _)| number::is_minus_zero_among(field(row, column, by.order), by.order))
            })
    }
}
