//! Tables: rows, their fields, and what sorting them gives.

use std::cmp::Ordering;

use gpusort_order::{Invalid, Reading, Selection};

use super::column::{self, Field};
use super::number::{self, Asked, Key};
use super::{MARK, keys, sorted, spelling};
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
    /// The same for keys of `sort`: of lines, words between blanks.
    pub words: Vec<Vec<u8>>,
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
    pub header: Option<Header>,
    /// The names of columns in a comment, if there is no header.
    pub named: Option<Vec<Vec<u8>>>,
    /// Where the rows of each input begin, below its comments and its header.
    pub starts: Vec<usize>,
    /// Columns; none if there is nothing at all, and of lines as many as can be.
    pub width: usize,
    /// Rows without those that are blank in a table of several columns.
    pub rows: Vec<Row>,
    /// Lines with nothing on them that are no rows.
    pub blank: u64,
    /// Comments of other inputs than the first one.
    pub comments: u64,
}

/// The first rows, of which the last names the columns.
#[derive(Clone, Debug)]
pub struct Header {
    pub rows: Vec<Row>,
}

impl Header {
    fn last(&self) -> &Row {
        self.rows.last().expect("a header has a row")
    }

    /// The names of the columns.
    pub fn names(&self) -> &[Vec<u8>] {
        &self.last().fields
    }

    /// Whether another one has the same names, and the same lines above them.
    fn is_same(&self, other: &Self) -> bool {
        let above = |header: &Self| {
            let rows = header.rows.split_last().map_or(&[][..], |(_, above)| above);
            let bytes = rows.iter().flat_map(|row| [&row.raw[..], b"\n"].concat());
            bytes.filter(|&byte| byte != b'\r').collect::<Vec<u8>>()
        };
        self.names() == other.names() && above(self) == above(other)
    }
}

impl Table {
    /// The names of its columns, if there are any.
    pub fn names(&self) -> Option<&[Vec<u8>]> {
        self.header.as_ref().map(Header::names).or(self.named.as_deref())
    }
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
    let mut table = Table {
        mark,
        top: Vec::new(),
        header: None,
        named: None,
        starts: Vec::new(),
        width: 0,
        rows: Vec::new(),
        blank: 0,
        comments: 0,
    };
    // Rows of each input below its header, the line end of its first row, and whether a row with an
    // unclosed quote follows them.
    let mut all: Vec<(Vec<Row>, bool)> = Vec::new();
    for (number, whole) in inputs.iter().enumerate() {
        let mut bytes = whole.strip_prefix(MARK).unwrap_or(whole);
        let (mut comments, mut comment) = (0, None);
        while dialect.comments && bytes.starts_with(b"#") {
            let end = bytes.iter().position(|byte| [*byte] == usual).map_or(bytes.len(), |end| end + 1);
            if number == 0 {
                table.top.extend_from_slice(&bytes[..end]);
            }
            comment = Some(&bytes[..end]);
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
        let first = rows.iter().position(|row| !row.is_blank() || are_lines);
        // What is left is all header, if there is less.
        let last = first.map(|first| rows.len().min(first + dialect.header.max(1)) - 1);
        if let (Some(first), Some(last)) = (first, last)
            && dialect.header > 0
        {
            let is_crlf = |row: &Row| row.end == b"\r\n" && row.is_ended;
            let ends_in_crlf = is_crlf(&rows[last]) || rows[first].is_blank() && is_crlf(&rows[first]);
            let end = if ends_in_crlf { b"\r\n" } else { usual };
            // Below a header without a line end there is nothing.
            if rows[last].end.is_empty() {
                rows[last].end = usual;
            }
            rows.iter_mut().filter(|row| row.end.is_empty()).for_each(|row| row.end = end);
        }
        let is_header_open = first.is_none_or(|first| rows.len() < first + dialect.header);
        if unclosed && is_header_open {
            return Err(NoTable::Beginning("a first row that is not closed"));
        }
        table.starts.push(whole.len() - bytes.len());
        if let (Some(first), Some(last)) = (first, last) {
            let names = &rows[if dialect.header > 0 { last } else { first }];
            // CR seems to be the line end: a header is joined with the row after it, or all rows
            // are one.
            if let Fields::Quoted(delimiter) = dialect.fields
                && names.has_lone_cr(delimiter)
                && (dialect.header > 0 || !names.is_ended)
            {
                return Err(NoTable::Beginning("CR alone in a first row"));
            }
            let raw = names.raw.trim_ascii_end();
            if are_lines && !has_nul(dialect.fields) && !names.is_ended && raw.contains(&b'\r') {
                return Err(NoTable::Beginning("CR alone in lines"));
            }
            let width = if are_lines { usize::MAX } else { names.fields.len() };
            if dialect.header > 0 {
                let header = Header { rows: rows[first..=last].to_vec() };
                match &table.header {
                    Some(other) if !other.is_same(&header) => {
                        return Err(NoTable::Beginning("another header"));
                    }
                    Some(_) => {}
                    None => table.header = Some(header),
                }
            } else if let Some(comment) = comment.filter(|_| table.width == 0) {
                table.named = Some(names_in(comment, dialect.fields));
            }
            if table.width == 0 {
                table.width = width;
            }
            if table.width != width {
                return Err(NoTable::Widths);
            }
        }
        if dialect.header > 0 {
            // Blank lines above the header are none of its rows.
            table.blank += first.unwrap_or(rows.len()) as u64;
            let above = rows.drain(..last.map_or(rows.len(), |last| last + 1));
            let length = |row: &Row| {
                let ended = row.raw.len() + row.end.len();
                if row.is_ended { ended } else { ended - usize::from(row.end.ends_with(b"\n")) }
            };
            table.starts[number] =
                (table.starts[number] + above.map(|row| length(&row)).sum::<usize>()).min(whole.len());
        }
        all.push((rows, unclosed));
    }
    if table.width == 0 && all.iter().any(|(rows, _)| !rows.is_empty()) {
        table.width = 1;
    }
    let are_lines = dialect.fields.are_of_lines();
    for (mut rows, unclosed) in all {
        if dialect.header == 0 {
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
        let words = fields.clone();
        rows.push(Row { raw, end, is_ended, fields, words, input, line, is_comment: false });
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
            let (fields, words) = match fields {
                Fields::Split(byte, _) => twice(raw.split(|&at| at == byte).map(<[u8]>::to_vec).collect()),
                _ => (words(&raw, b" \t\n", true), words(&raw, b" \t\n", false)),
            };
            let is_comment = raw.starts_with(b"#") && !is_split_at_hash;
            rows.push(Row { raw, end, is_ended, fields, words, input, line: number + 1, is_comment });
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
        let (fields, words) = match fields {
            Fields::Quoted(byte) | Fields::Split(byte, _) => {
                twice(raw.split(|&at| at == byte).map(<[u8]>::to_vec).collect())
            }
            _ => (words(&raw, b" \t", true), words(&raw, b" \t", false)),
        };
        let is_comment = raw.starts_with(b"#") && !is_split_at_hash;
        rows.push(Row { raw, end, is_ended, fields, words, input, line: number + 1, is_comment });
    }
    rows
}

fn twice(fields: Vec<Vec<u8>>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    (fields.clone(), fields)
}

/// The words of a line; `joined` if a date and a time of day after one blank are one, and what is in
/// brackets with one blank.
fn words(line: &[u8], separators: &[u8], joined: bool) -> Vec<Vec<u8>> {
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
                Some(last) if joined && blanks == 1 && line[at - 1] != b'\n' && are_one(last, word) => {
                    last.push(line[at - 1]);
                }
                _ => words.push(Vec::new()),
            }
        }
        at_word = true;
        words.last_mut().expect("there is one").push(byte);
    }
    words
}

/// Whether these words are one field.
fn are_one(word: &[u8], next: &[u8]) -> bool {
    let is_bracket = |byte: &u8| b"[]".contains(byte);
    let is_opened = word.starts_with(b"[") && !word.contains(&b']');
    let is_closed = next.ends_with(b"]") && next.iter().filter(|byte| is_bracket(byte)).count() == 1;
    is_opened && is_closed || has_form(word, &["dddd-dd-dd"]) && is_time_of_day(next)
}

/// The names of columns in a comment: without the `#`, and without a title such as `columns:`.
fn names_in(comment: &[u8], fields: Fields) -> Vec<Vec<u8>> {
    let line = &comment[1..];
    let mut names = match fields {
        Fields::Quoted(delimiter) => {
            let ends = (0..line.len()).rev().filter(|&end| line[end] == delimiter);
            let mut beginnings = [line.len()].into_iter().chain(ends).map(|end| &line[..end]);
            // Of a quote that is not closed there is no name.
            let rows = beginnings.find_map(|line| rows(line, 0, delimiter).0.into_iter().next());
            rows.map_or(Vec::new(), |row| row.fields)
        }
        fields => lines(line, 0, fields).into_iter().next().map_or(Vec::new(), |row| row.fields),
    };
    if names.first().is_some_and(|name| name.ends_with(b":")) {
        names.remove(0);
    }
    names
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
    pub columns: Vec<keys::Found>,
    pub counts: Counts,
}

/// Why a table cannot be sorted.
#[derive(Clone, Debug)]
pub enum Refused {
    /// Options that do not go together.
    Options,
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

/// What a key orders a row by; of lines fields may be lacking.
fn field(row: &Row, key: &keys::Found) -> Field {
    let fields = if key.is_of_sort { &row.words } else { &row.fields };
    let text = match key.column {
        Some(column) => fields.get(column).cloned().unwrap_or_default(),
        None => row.raw.clone(),
    };
    let is_nul = row.end == b"\0";
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t') || is_nul && *byte == b'\n';
    let start = if key.is_of_sort { text.iter().take_while(|byte| is_blank(byte)).count() } else { 0 };
    let value = if row.is_comment { &row.raw } else { &text };
    let value = if is_nul { value.trim_ascii() } else { trimmed(value) }.to_vec();
    Field { text: text[start..].to_vec(), value }
}

/// Whether a key of this row tells nothing of whether its column is text.
pub fn begins_open(table: &Table, row: &Row, by: &By) -> bool {
    let Ok(keys) = keys::resolve(by, table.names(), table.width) else { return false };
    let is_open = |key: &keys::Found| {
        let value = field(row, key).value;
        let is_na = by.spelling.na.iter().any(|word| word.as_bytes() == value);
        let spelled = number::spelled(&value);
        value.is_empty() || is_na || matches!(spelled, number::Spelled::Nan | number::Spelled::Infinity)
    };
    keys.iter().any(|key| key.order.reading == Reading::Any && is_open(key))
}

/// The keys of all rows.
pub fn keyed(table: Table, by: &By, fields: Fields) -> Result<Keyed, Refused> {
    let mut counts = Counts { blank: table.blank, comments: table.comments, ..Counts::default() };
    let is_of_whole_fields =
        matches!(by.order.reading, Reading::Times | Reading::Durations | Reading::Text(_));
    let divides = |c: char| match fields {
        Fields::Quoted(_) => false,
        Fields::Split(byte, _) => c == char::from(byte),
        Fields::Blanks(_) => c == ' ' || c == '\t',
    };
    if by.order.leading && is_of_whole_fields || !spelling::is_possible(&by.spelling, divides) {
        return Err(Refused::Options);
    }
    let columns = match table.width {
        // There are no columns to look for.
        0 => Vec::new(),
        width => keys::resolve(by, table.names(), width).map_err(Refused::Key)?,
    };
    let asked = |key: &keys::Found| {
        let is_number = matches!(key.order.reading, Reading::Numbers | Reading::NumbersOrTimes);
        let element = by.element.filter(|_| is_number);
        Asked { element, order: key.order, spelling: by.spelling.clone() }
    };
    let mut rows = table.rows.clone();
    if by.order.invalid == Invalid::Skip {
        rows.retain(|row| {
            let is_invalid = |key: &&keys::Found| !column::is_valid(&field(row, key), &asked(key));
            let invalid = columns.iter().filter(is_invalid).count() as u64;
            counts.invalid += invalid;
            counts.skipped += u64::from(invalid > 0);
            invalid == 0
        });
    }
    let mut keys: Vec<Vec<Key>> = rows.iter().map(|_| Vec::new()).collect();
    let mut all_asked = Vec::new();
    for key in &columns {
        let asked = asked(key);
        let fields: Vec<Field> = rows.iter().map(|row| field(row, key)).collect();
        let column = column::column(&fields, &asked).map_err(Refused::Column)?;
        for (keys, key) in keys.iter_mut().zip(column) {
            match key {
                Key::Nan => counts.nan += 1,
                Key::Empty => counts.empty += 1,
                Key::Invalid => counts.invalid += 1,
                Key::Integer(_) | Key::Float(_) | Key::Size(..) => {}
                Key::Text(_) | Key::Version(_) | Key::Hex(_) => {}
            }
            keys.push(key);
        }
        all_asked.push(asked);
    }
    Ok(Keyed { rows: rows.into_iter().zip(keys).collect(), table, asked: all_asked, counts, columns })
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

    /// The positions of rows in order.
    pub fn positions(&self, selection: Selection) -> Vec<usize> {
        sorted(&self.rows, selection, |a, b| self.order(&a.1, &b.1))
    }

    /// The sorted table, and how many rows were left out as repeated.
    pub fn sorted(&self, selection: Selection) -> (Vec<u8>, usize) {
        let mut out = if self.table.mark { MARK.to_vec() } else { Vec::new() };
        out.extend_from_slice(&self.table.top);
        if let Some(header) = &self.table.header {
            header.rows.iter().for_each(|row| out.extend([&row.raw[..], row.end].concat()));
        }
        let all = self.positions(Selection { first: None, ..selection });
        for &at in all.iter().take(selection.first.unwrap_or(usize::MAX)) {
            out.extend_from_slice(&self.rows[at].0.raw);
            out.extend_from_slice(self.rows[at].0.end);
        }
        (out, self.rows.len() - all.len())
    }

    /// Whether there is an integer −0 among keys whose type nobody asked for.
    pub fn has_minus_zero(&self, by: &By) -> bool {
        by.element.is_none()
            && self.rows.iter().any(|(row, _)| {
                let mut keys = self.columns.iter().zip(&self.asked);
                keys.any(|(key, asked)| {
                    let value = field(row, key).value;
                    number::is_minus_zero_among(&value, asked.order)
                })
            })
    }
}
