//! The layout of rows: which fields are keys, and how a core reads a piece of rows.

use std::ops::Range;

use gpusort_order::key::ElementType;
use gpusort_values::survey::Survey;
use xxhash_rust::xxh3::xxh3_64;

use super::column::{Column, Field, NotAdded, first_word};
use super::dialect::{Dialect, Fields};
use super::header::{ColumnAt, ResolvedKey};
use super::key::Axis;
use super::misfit::misfit;
use super::rows::{self, UNCLOSED, for_each_field};
use super::spec::InputSpec;
use crate::blanks::{is_blank_record, trimmed};
use crate::counts::Counts;
use crate::error::{Error, Hint};
use crate::json::{self, Damage, Paths, Value};
use crate::number::{PerLine, Tokens, token_at};
use crate::order::{Class, Reading};
use crate::parallel::map_parts;
use crate::records::range;
use crate::text::{LineEnd, Text, piece_size};

/// The range of an input's rows, and the line end of its first row.
pub type Body = (Range<usize>, &'static [u8]);

/// Rows read by one core.
#[derive(Default)]
pub(super) struct RowPart {
    /// The ranges of the rows in this part; for numbers only if requested.
    pub(super) ranges: Vec<range::Range>,
    /// The numbers, within this part, of the rows left out.
    pub(super) skipped: Vec<u32>,
    /// The ranges in this part of lines that go on top.
    pub(super) comments: Vec<Range<usize>>,
    pub(super) counts: Counts,
    /// One column per key.
    pub(super) columns: Vec<Column>,
    /// The rows whose number is not in canonical form, so that an equal number may be spelled differently; `None` if
    /// that is unknown.
    pub(super) respelled: Option<Vec<u32>>,
    /// A hash of each row's key fields as written; 0 if an equal key can have no other spelling. Empty unless requested;
    /// zeros at the end are left out.
    pub(super) spellings: Vec<u32>,
}

impl RowPart {
    /// Adds the hash of the key fields of a row; later rows have none yet.
    pub(super) fn set_spelling(&mut self, row: usize, hash: u64) {
        if hash != 0 {
            self.spellings.resize(row, 0);
            self.spellings.push(hash as u32);
        }
    }

    /// Returns the number of rows, including rows left out.
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.words.len()) + self.skipped.len()
    }
}

/// The offset of a row, and its error.
pub(super) struct Problem(pub(super) usize, pub(super) Wrong);

pub(super) enum Wrong {
    Row(String),
    /// The row has this number of fields, but the first row has another.
    Ragged(usize),
    /// The field of this key is refused.
    Field(usize, NotAdded),
    /// The line of the token already has a number, and may have no more.
    Several,
    /// The number of rows exceeds the limit.
    TooMany(u64),
}

impl Wrong {
    /// The error of a key whose field was not added.
    pub(super) fn of(key: usize, refused: NotAdded) -> Self {
        match refused {
            NotAdded::TooLong => Self::Row("a key is longer than 2 GiB".to_owned()),
            refused => Self::Field(key, refused),
        }
    }
}

/// The layout common to all rows.
pub struct Layout<'a> {
    text: &'a Text,
    pub(super) how: &'a InputSpec,
    pub(super) dialect: Dialect,
    keys: &'a [ResolvedKey],
    /// The columns of keys on numbered fields, ascending, with the numbers of the keys.
    numbered: Vec<(usize, usize)>,
    /// The number of leading fields to find in a line.
    most: usize,
    /// The numbers of keys that need more than a numbered field.
    others: Vec<usize>,
    /// The paths of the keys in JSON.
    paths: Option<Paths>,
    /// The numbers that a line may have, for text and for lines that may be plain numbers.
    numbers: Option<PerLine>,
    /// True if the caller needs the ranges of numbers.
    pub(super) has_ranges: bool,
    /// The number of bytes that a core reads at once, if not the default.
    pub(super) piece: Option<usize>,
}

impl<'a> Layout<'a> {
    /// Creates the layout of these rows.
    pub fn new(text: &'a Text, how: &'a InputSpec) -> Self {
        let dialect = how.kind.dialect();
        let (fields, keys) = (dialect.fields, &how.keys[..]);
        let (mut numbered, mut others, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        for (number, key) in keys.iter().enumerate() {
            if let ColumnAt::Field(column) | ColumnAt::Rest(column) = key.column {
                numbered.push((column, number));
            }
            match &key.column {
                ColumnAt::Field(_) if !key.may_span(fields) => {}
                ColumnAt::Path(path) => paths.push((number, path)),
                _ => others.push(number),
            }
        }
        numbered.sort_unstable();
        let most = numbered.last().map_or(0, |&(column, _)| column + 1);
        let paths = (fields == Fields::Json).then(|| Paths::new(paths));
        let tells_rounded = how.by.tells_spelling && how.by.element.is_some() && !fields.are_tokens();
        let numbers = how.per_line().filter(|_| !tells_rounded);
        let (has_ranges, piece) = (false, None);
        Self { text, how, dialect, keys, numbered, most, others, paths, numbers, has_ranges, piece }
    }

    /// Reads the rows of all inputs, in parallel. Returns each part with its range.
    pub(super) fn read(&self, bodies: &[Body]) -> Result<Vec<(Range<usize>, RowPart)>, Problem> {
        let read = |bytes: &[u8], until: usize, _: usize| {
            let numbers = self.numbers.map(|per_line| self.read_numbers(&bytes[..until], per_line));
            match numbers {
                Some(Ok(part)) => Ok((part, until)),
                Some(Err(problem)) if self.dialect.fields.are_tokens() => Err(problem),
                _ => self.read_rows(bytes, until),
            }
        };
        let right = self.in_pieces(bodies, read)?;
        let rows = right.iter().map(|(_, part)| part.rows() as u64).sum();
        if u32::try_from(rows).is_err() { Err(Problem(0, Wrong::TooMany(rows))) } else { Ok(right) }
    }

    /// Reads pieces of rows in parallel. A piece is read again if the piece before it did not end where
    /// it begins. `read` gets the bytes from a row on, the length of the piece and the offset of that row; it
    /// returns the end of the last row in these bytes.
    fn in_pieces<T: Send>(
        &self,
        bodies: &[Body],
        read: impl Fn(&[u8], usize, usize) -> Result<(T, usize), Problem> + Sync,
    ) -> Result<Vec<(Range<usize>, T)>, Problem> {
        let bytes = &self.text.bytes;
        let size = self.piece.unwrap_or_else(|| piece_size(bytes.len()));
        let mut pieces = Vec::new();
        for (body, _) in bodies {
            let of_body = rows::pieces(&bytes[..=body.end], body.clone(), self.dialect.fields, size);
            pieces.extend(of_body.into_iter().map(|piece| (body, piece)));
        }
        let read = |body: &Range<usize>, start: usize, until: usize| {
            let (part, end) = read(&bytes[start..=body.end], until.saturating_sub(start), start)
                .map_err(|Problem(at, wrong)| Problem(start + at, wrong))?;
            Ok((start..start + end, part))
        };
        let parts = map_parts(pieces.clone(), |(body, piece)| read(body, piece.start, piece.end));
        let mut right: Vec<(Range<usize>, T)> = Vec::with_capacity(parts.len());
        let mut next = 0;
        for ((body, piece), part) in pieces.into_iter().zip(parts) {
            if piece.start == body.start {
                next = piece.start;
            }
            let part = if piece.start == next { part } else { read(body, next, piece.end) }?;
            next = part.0.end;
            right.push(part);
        }
        Ok(right)
    }

    /// Reads a piece of text, or of lines that hold a number and nothing else.
    fn read_numbers(&self, bytes: &[u8], per_line: PerLine) -> Result<RowPart, Problem> {
        const TOKEN: usize = 8;
        if i32::try_from(bytes.len()).is_err() {
            return Err(Problem(0, Wrong::Row("a line is longer than 2 GiB".to_owned())));
        }
        let guess = bytes.len() / TOKEN;
        let mut column = Column::new(&self.keys[0], guess);
        // A whole line as the second key, or a note, needs the numbers with other spellings.
        let has_lines = self.keys.len() > 1;
        let tells_spelling =
            self.has_ranges && self.how.by.tells_spelling && !self.dialect.fields.are_tokens();
        // A float type rounds numbers, so that lines of other numbers get the same word.
        let is_rounded = self.keys[0].element.is_some_and(ElementType::is_float);
        let mut respelled = ((has_lines || tells_spelling) && !is_rounded).then(Vec::new);
        let has_ranges = self.has_ranges || has_lines;
        let mut ranges = Vec::with_capacity(if has_ranges { guess } else { 0 });
        let (mut tokens, mut counts) = (Tokens::new(bytes, per_line), Counts::default());
        // The range of a line includes its line end; the range of a token does not.
        let more = usize::from(!self.dialect.fields.are_tokens());
        let keep = |start: usize, end: usize| {
            if has_ranges {
                ranges.push(range::Range::new(start as u32, (end + more) as u32));
            }
        };
        column.push_tokens(&mut tokens, &mut counts, respelled.as_mut(), keep).map_err(|(at, refused)| {
            Problem(at, refused.map_or(Wrong::Several, |refused| Wrong::Field(0, refused)))
        })?;
        let mut part = RowPart { ranges, counts, columns: vec![column], ..RowPart::default() };
        if tells_spelling {
            for row in respelled.take().unwrap_or_default() {
                let line = part.ranges[row as usize].without_last();
                part.set_spelling(row as usize, xxh3_64(&bytes[line.begin()..line.end()]));
            }
        }
        Ok(RowPart { respelled, ..part })
    }

    /// Reads the rows that begin before `until`.
    fn read_rows(&self, bytes: &[u8], until: usize) -> Result<(RowPart, usize), Problem> {
        const ROW: usize = 32;
        let guess = until / ROW;
        let columns = self.keys.iter().map(|key| Column::new(key, guess)).collect();
        let mut part = RowPart { ranges: Vec::with_capacity(guess), columns, ..RowPart::default() };
        let mut rows = Rows::new(self, bytes);
        let skips_invalid = self.keys.iter().any(|key| key.order.skips_invalid());
        while rows.advance(until)? {
            let wrong = |problem: &str| Problem(rows.at, Wrong::Row(problem.to_owned()));
            if skips_invalid {
                let (columns, counts) = (&mut part.columns, &mut part.counts);
                let before = counts.invalid;
                for (key, column) in columns.iter_mut().enumerate() {
                    if let Some(NotAdded::Null(Class::Invalid)) = column.refused(&rows.field(key)) {
                        counts.add(Class::Invalid, &rows.field(key).value());
                    }
                }
                if counts.invalid > before {
                    counts.skipped += 1;
                    part.skipped.push(part.rows() as u32);
                    continue;
                }
            }
            let offset = |at: usize| u32::try_from(at).map_err(|_| wrong("a row is longer than 4 GiB"));
            let range = range::Range::new(offset(rows.at)?, offset(rows.next)?);
            for (key, column) in part.columns.iter_mut().enumerate() {
                let added = column.push(&rows.field(key), &mut part.counts);
                added.map_err(|refused| Problem(rows.at, Wrong::of(key, refused)))?;
            }
            if self.has_ranges && self.how.by.tells_spelling {
                let columns = part.columns.iter().enumerate();
                let hashes = columns.map(|(key, column)| column.spelling(&rows.field(key), key as u64));
                let hash = hashes.fold(0, |all, hash| all ^ hash);
                part.set_spelling(part.ranges.len(), hash);
            }
            part.ranges.push(range);
        }
        let is_first = |key: &usize| self.keys[*key].axis == Some(Axis::First);
        for key in (0..self.keys.len()).filter(is_first) {
            let points = part.columns[key..].first_chunk_mut().expect("points have two columns");
            Column::place_on_curve(points);
        }
        part.comments = rows.comments;
        Ok((part, rows.next))
    }

    /// Surveys the fields of all keys. `base` is added to the offsets of examples.
    ///
    /// # Errors
    ///
    /// The first wrong row.
    pub fn survey(&self, bodies: &[Body], base: u64) -> Result<Surveyed, Error> {
        let read = |bytes: &[u8], until, start| self.survey_rows(bytes, until, base + start as u64);
        let parts = self.in_pieces(bodies, read).map_err(|problem| self.error(problem))?;
        let mut all = Surveyed::new(self.keys.len());
        parts.into_iter().for_each(|(_, part)| all.merge(part));
        Ok(all)
    }

    /// Returns the offset of the first row with an invalid field of the first key, and the error.
    pub fn first_invalid(&self, bodies: &[Body]) -> Option<(usize, Error)> {
        let mut column = Column::new(&self.keys[0], 0);
        for (body, _) in bodies {
            let mut rows = Rows::new(self, &self.text.bytes[body.start..=body.end]);
            while rows.advance(body.len()).ok()? {
                if let Some(refused) = column.refused(&rows.field(0)) {
                    let at = body.start + rows.at;
                    return Some((at, self.error(Problem(at, Wrong::Field(0, refused)))));
                }
            }
        }
        None
    }

    fn survey_rows(&self, bytes: &[u8], until: usize, base: u64) -> Result<(Surveyed, usize), Problem> {
        let mut all = Surveyed::new(self.keys.len());
        let are_first_fields = self.dialect.fields == Fields::Words(LineEnd::Lf)
            && matches!(self.keys, [key] if key.column == ColumnAt::Field(0) && key.spelling.is_default());
        let mut rows = Rows::new(self, bytes);
        loop {
            while are_first_fields
                && rows.next < until
                && let Some(length) = all.columns[0].push_line(&bytes[rows.next..], base + rows.next as u64)
            {
                (all.has_records, all.has[0]) = (true, true);
                rows.next += length;
            }
            if !rows.advance(until)? {
                return Ok((all, rows.next));
            }
            all.has_records = all.has_records || !is_blank_record(&bytes[rows.line()]);
            for (key, found) in self.keys.iter().enumerate() {
                let is_empty = rows.places[key].is_empty() && !rows.is_damaged;
                all.has[key] |= match found.column {
                    ColumnAt::Field(column) | ColumnAt::Rest(column) => column < rows.fields,
                    _ => !is_empty,
                };
                if !is_empty {
                    look(&mut all.columns[key], found, &rows.field(key), base + rows.at as u64);
                }
            }
        }
    }

    /// Returns the field of a key in the row at this offset, for a message.
    pub fn token(&self, row: usize, key: usize) -> Vec<u8> {
        let bytes = &self.text.bytes;
        if self.dialect.fields.are_tokens() {
            return token_at(bytes, row).to_vec();
        }
        let mut rows = Rows::new(self, &bytes[row..]);
        if !rows.advance(1).is_ok_and(|is_row| is_row) {
            return Vec::new();
        }
        let (place, found) = (rows.places.swap_remove(key), &self.keys[key]);
        if found.column == ColumnAt::Whole {
            return rows.bytes[place].to_vec();
        }
        let value = self.dialect.fields.value(&rows.bytes[place]).into_owned();
        if found.may_span(self.dialect.fields) {
            return found.shown_of_rest(&value).to_vec();
        }
        value
    }

    /// Passes the fields of the keys of this record to `take`, as they are written. The record ends in a line end.
    /// Returns the length without it.
    ///
    /// # Panics
    ///
    /// Panics for a record that cannot be read.
    pub fn each_field(&self, record: &[u8], mut take: impl FnMut(usize, &[u8])) -> usize {
        let mut rows = Rows::new(self, record);
        let is_row = rows.advance(record.len());
        assert!(is_row.is_ok_and(|is_row| is_row), "the record was read before");
        (0..self.keys.len()).for_each(|key| take(key, rows.shown(key)));
        rows.line().end
    }

    /// Returns the place of a row for a message; the place of a token includes its column.
    pub fn place(&self, row: usize) -> String {
        if self.dialect.fields.are_tokens() { self.text.place(row) } else { self.text.line(row) }
    }

    /// Returns true if the line of a token has several tokens, but may have only one.
    fn has_several(&self, row: usize) -> bool {
        let is_one = self.dialect.fields.are_tokens() && self.numbers != Some(PerLine::Any);
        is_one && Tokens::new(self.text.line_around(row), PerLine::Any).nth(1).is_some()
    }

    /// Returns the error of a line with several tokens. If all tokens are numbers, its hint names the format that sorts them.
    fn several(&self, row: usize) -> Error {
        let mut tokens = Tokens::new(self.text.line_around(row), PerLine::Any);
        let are_numbers = tokens.all(|(_, token)| gpusort_values::number::look(token, None).is_some());
        let problem = "binary output needs one number a line";
        let error = Error::input(self.text.place(row), problem);
        if are_numbers { error.hinting(Hint::Several) } else { error }
    }

    /// Returns the error about a damaged line of JSON.
    fn damage(&self, row: usize) -> Option<Error> {
        let (paths, bytes) = (self.paths.as_ref()?, &self.text.bytes);
        let Damage { at, problem } = paths.find(bytes, row, &mut vec![0..0; self.keys.len()]).err()?;
        // A value that continues on the next line.
        let is_open = bytes.get(at) == Some(&b'\n') && bytes.get(at + 1) != Some(&b'{');
        let hint = match bytes[row] {
            b'[' if is_open => Hint::Through(json::OF_ARRAY),
            b'{' if is_open => Hint::Through(json::OF_OBJECTS),
            _ => Hint::Invalid,
        };
        let place = format!("{}:{}", self.text.line(row), at - row + 1);
        Some(Error::input(place, format!("invalid JSON: {problem}")).hinting(hint))
    }

    pub(super) fn error(&self, Problem(row, wrong): Problem) -> Error {
        match wrong {
            Wrong::Row(problem) => Error::input(self.place(row), problem),
            Wrong::Ragged(count) => {
                let fields = if count == 1 { "field" } else { "fields" };
                let problem = format!("{count} {fields}, but the first row has {}", self.how.columns);
                Error::input(self.place(row), problem).hinting(Hint::Ragged)
            }
            Wrong::TooMany(rows) => Error::limit("records in one sort", rows, u32::MAX.into()),
            Wrong::Several => self.several(row),
            Wrong::Field(..) if self.has_several(row) => self.several(row),
            Wrong::Field(key, refused) => {
                let damage = if refused == NotAdded::Json { self.damage(row) } else { None };
                damage.unwrap_or_else(|| {
                    let mut place = self.place(row);
                    if self.keys.len() > 1 && !self.keys[key].order.is_last_resort && self.how.has_key() {
                        place += &format!(", column '{}'", self.keys[key].shown());
                    }
                    let error = misfit(self.how, &self.keys[key], place, &self.token(row, key), refused);
                    // Tokens have no options for fields.
                    let is_of_fields = matches!(error.hint(), Some(Hint::Remedies(_)));
                    if self.dialect.fields.are_tokens() && is_of_fields { error.unhinted() } else { error }
                })
            }
        }
    }
}

/// Adds a field to the survey of its column.
#[inline]
fn look(survey: &mut Survey, key: &ResolvedKey, field: &Field, at: u64) {
    let value = field.value();
    let json = match field.json() {
        Some(Value::Null) => return,
        // A requested number may be a string.
        Some(Value::String) if key.order.reading == Reading::Numbers => None,
        json => json,
    };
    let spans = key.spans(field.fields);
    let text = if spans { first_word(&value) } else { &value[..] };
    if text.is_empty() || json != Some(Value::Number) && key.is_na(text) {
        return;
    }
    survey.push(gpusort_values::survey::Field { text, rest: &value, json }, at, &key.spelling, spans);
}

/// Rows, one after another, and the places of the keys in the current one.
pub(super) struct Rows<'a> {
    layout: &'a Layout<'a>,
    bytes: &'a [u8],
    /// The offsets of the current row and of the next one.
    pub(super) at: usize,
    pub(super) next: usize,
    places: Vec<Range<usize>>,
    /// The number of fields found.
    fields: usize,
    /// True for damaged JSON.
    is_damaged: bool,
    /// The comments so far.
    comments: Vec<Range<usize>>,
}

impl<'a> Rows<'a> {
    /// Begins before the first row of these bytes.
    pub(super) fn new(layout: &'a Layout, bytes: &'a [u8]) -> Self {
        let places = vec![0..0; layout.keys.len()];
        Self { layout, bytes, at: 0, next: 0, places, fields: 0, is_damaged: false, comments: Vec::new() }
    }

    /// Finds the fields of the keys in the next row. Returns false if no row begins before `until`.
    #[allow(clippy::inline_always, reason = "as a call it takes twice as long")]
    #[inline(always)]
    pub(super) fn advance(&mut self, until: usize) -> Result<bool, Problem> {
        let (bytes, dialect) = (self.bytes, self.layout.dialect);
        while self.next < until
            && let Some(end) = dialect.comment(bytes, self.next)
        {
            // Without the line end that follows an input.
            self.comments.push(self.next..end.min(bytes.len() - 1));
            self.next = end;
        }
        if self.next >= until {
            return Ok(false);
        }
        let at = self.next;
        let places = &mut self.places[..];
        let is_blank = matches!(bytes[at..], [b'\n', ..] | [b'\r', b'\n', ..]);
        if dialect.fields.are_of_lines() || bytes[at] <= b' ' {
            // A field missing from a line is empty.
            places.fill(at..at);
        }
        let mut is_damaged = false;
        let (next, count) = match &self.layout.paths {
            Some(_) if is_blank => (at + 1 + usize::from(bytes[at] == b'\r'), 0),
            Some(paths) => match paths.find(bytes, at, places) {
                Ok(next) => (next, 0),
                Err(damage) => {
                    places.fill(at..at);
                    is_damaged = true;
                    let rest = &bytes[damage.at..];
                    (memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| damage.at + end + 1), 0)
                }
            },
            None => {
                let mut keys = &self.layout.numbered[..];
                let found = for_each_field(bytes, at, dialect.fields, self.layout.most, |column, field| {
                    while let [(of, key), rest @ ..] = keys
                        && *of == column
                    {
                        places[*key].clone_from(&field);
                        keys = rest;
                    }
                });
                found.ok_or_else(|| Problem(at, Wrong::Row(UNCLOSED.to_owned())))?
            }
        };
        let is_divided = matches!(dialect.fields, Fields::Quoted(_)) && !self.layout.numbered.is_empty();
        let columns = self.layout.how.columns;
        if is_divided && columns != count && !is_blank_record(&bytes[at..next]) {
            return Err(Problem(at, Wrong::Ragged(count)));
        }
        (self.at, self.next, self.fields, self.is_damaged) = (at, next, count, is_damaged);
        if !self.layout.others.is_empty() {
            self.find_others().map_err(|problem| Problem(at, Wrong::Row(problem)))?;
        }
        Ok(true)
    }

    /// Finds the next line, without its fields. Returns false if no line begins before `until`.
    pub(super) fn advance_line(&mut self, until: usize) -> bool {
        if self.next >= until {
            return false;
        }
        let next = rows::end_of_row(self.bytes, self.next, self.layout.dialect.fields);
        (self.at, self.next) = (self.next, next.expect("a line end follows each input"));
        true
    }

    /// Finds the fields of keys other than plain numbered fields.
    fn find_others(&mut self) -> Result<(), String> {
        let (bytes, line, layout) = (self.bytes, self.line(), self.layout);
        for &key in &layout.others {
            let place = &mut self.places[key];
            match layout.keys[key].column {
                ColumnAt::Field(_) | ColumnAt::Rest(_) if place.start == place.end => {}
                ColumnAt::Path(_) => unreachable!("values at paths are found with the row"),
                ColumnAt::Field(_) => place.end = line.end,
                ColumnAt::Rest(_) => place.end = place.start + trimmed(&bytes[place.start..line.end]).len(),
                ColumnAt::Last => *place = layout.dialect.fields.last(bytes, line.clone()),
                ColumnAt::Whole => *place = line.clone(),
                ColumnAt::Between(from, until) => {
                    *place = Fields::between(bytes, line.clone(), from, until).ok_or_else(|| {
                        let column = layout.keys[key].shown();
                        format!("a field crosses the gap beside column '{column}'; use the field's number as the key")
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Returns the range of the current row without its line end.
    pub(super) fn line(&self) -> Range<usize> {
        self.at..self.layout.dialect.fields.end_of_line(self.bytes, self.at, self.next)
    }

    /// Returns the field of a key in the current row.
    #[inline]
    pub(super) fn field(&self, key: usize) -> Field<'a> {
        let fields = self.layout.dialect.fields;
        let is_whole = matches!(self.layout.keys[key].column, ColumnAt::Whole);
        Field {
            bytes: self.bytes,
            place: self.places[key].clone(),
            fields: if is_whole { fields.of_lines() } else { fields },
            is_damaged: self.is_damaged,
        }
    }

    /// Returns the field of a key as written, with its quotes. In a line, a time includes all of its fields.
    pub(super) fn shown(&self, key: usize) -> &'a [u8] {
        let (field, key) = (&self.bytes[self.places[key].clone()], &self.layout.keys[key]);
        if key.may_span(self.layout.dialect.fields) { key.shown_of_rest(field) } else { field }
    }
}

/// The survey of all keys.
pub struct Surveyed {
    /// The survey of each key's fields.
    pub columns: Vec<Survey>,
    /// True for each key that some record has.
    pub has: Vec<bool>,
    /// True if some record is not blank.
    pub has_records: bool,
}

impl Surveyed {
    /// Creates the survey of no records, for this number of keys.
    pub fn new(keys: usize) -> Self {
        Self { columns: vec![Survey::default(); keys], has: vec![false; keys], has_records: false }
    }

    /// Adds the records that follow.
    pub fn merge(&mut self, later: Self) {
        self.columns.iter_mut().zip(later.columns).for_each(|(column, later)| column.merge(later));
        self.has.iter_mut().zip(later.has).for_each(|(has, later)| *has |= later);
        self.has_records |= later.has_records;
    }
}
