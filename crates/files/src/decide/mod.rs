//! Decides the format, the columns, the kinds and the order before the first key is made, in one
//! function of the options and of a sample of the inputs.
//!
//! ```text
//! Asked ┐
//!       ├─► decide ──► Decisions ──► everything else is told what to do
//! Look  ┘
//! ```

mod columns;
#[cfg(feature = "arrow")]
mod converted;
mod errors;
mod look;

use std::ops::Range;
use std::slice;

use gpusort_values::survey::{Decision, Example, Found, Note as KindNote, Survey};

use self::columns::Columns;
use self::look::Look;
use gpusort_base::error::{Error, Hint, Remedy};
use gpusort_base::format::Format;
use gpusort_base::human::quoted;
#[cfg(feature = "arrow")]
use gpusort_formats::arrow::from_text::TextColumns;
use gpusort_formats::fields::{ColumnAt, Dialect, Fields, Header, Key, KeySpec, Kind, ResolvedKey, Surveyed};
use gpusort_formats::text::MARK;
use gpusort_formats::{Input, InputKind, InputSpec, LineEnd, PerLine, Text};
use gpusort_order::{Invalid, KeyOrder, Reading, TextOrder};

#[cfg(feature = "distributed")]
pub(crate) use self::look::FIRST;

/// The options that affect decisions.
pub(crate) struct Asked<'a> {
    /// The format by option or by extension, or else lines.
    pub(crate) format: Format,
    /// True if an option or an extension sets the format.
    pub(crate) is_named: bool,
    pub(crate) by: &'a KeySpec,
    pub(crate) header: Option<usize>,
    pub(crate) comments: bool,
    pub(crate) delimiter: Option<u8>,
    pub(crate) line_end: LineEnd,
    /// The numbers that a line of text may have.
    pub(crate) per_line: PerLine,
    /// The requested format of the output.
    #[cfg_attr(not(feature = "arrow"), expect(dead_code))]
    pub(crate) to: Option<Format>,
}

/// The decisions, with their reasons.
#[derive(Clone, Debug)]
pub struct Decisions {
    /// The format of the inputs.
    pub format: Format,
    /// The division of the inputs into records, and their keys.
    pub how: InputSpec,
    /// Notes on the decisions.
    pub notes: Vec<Note>,
    /// The reason for the format.
    pub why: &'static str,
    /// True if the type of the elements is the default for `.bin`.
    pub type_assumed: bool,
    /// True if the inputs were looked at and have no bytes behind a byte order mark.
    pub is_nothing: bool,
    /// The columns of the output table, if the input is converted to another format.
    #[cfg(feature = "arrow")]
    pub(super) columns: Option<TextColumns>,
}

/// A note on a decision that the data calls into question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A column of a table has a name with digits and no letters: the header may be data.
    Header(String),
    /// Whole lines are compared, since this first field at this place is not a number.
    WholeLines(String, String),
    /// Lines have a NUL, first at this place, and may be binary data.
    Binary(String),
    /// The only column of a table has this name, and this separator in the name.
    Separator(String, char),
    /// The key is text although all its fields fit these patterns of day, month and year.
    DayMonth(Option<String>, Vec<&'static str>),
    /// The key is text although all its fields are numbers with these options.
    Commas(Option<String>, Vec<&'static str>),
    /// The key is text although most of its fields are of this kind; then the first other field, and
    /// its place.
    Most(Option<String>, Kind, String, String),
    /// The numbers of the key look like versions.
    Versions(Option<String>),
    /// The times of the key have no year, and include both December and January.
    NoYear(Option<String>),
}

/// Decides the format, the keys and their order.
///
/// # Errors
///
/// I/O errors; a key or a name without a column; fields that do not fit one kind.
pub(crate) fn decide(inputs: &mut Vec<Input>, asked: &Asked) -> Result<Decisions, Error> {
    if asked.format == Format::Text {
        let (kind, key) = (InputKind::Text(asked.per_line), ResolvedKey::first_field(asked.by));
        return Ok(Decisions { why: "named", ..Decisions::new(asked, kind, vec![key]) });
    }
    let are_lines = asked.format == Format::Lines;
    let is_plain = asked.header.is_none_or(|rows| rows == 0) && !asked.comments;
    if are_lines && is_plain && !asked.by.keys.is_empty() && asked.by.keys.iter().all(Key::is_record) {
        let keys = Header::of_lines().find(asked.by, "")?;
        let fields = Fields::Words(asked.line_end);
        let dialect = Dialect { fields, header: 0, comments: false };
        return Ok(Decisions::new(asked, InputKind::Table(dialect), keys));
    }
    let mut decider = Decider { look: Look::at(std::mem::take(inputs), asked.line_end)?, asked };
    let decisions = decider.decide();
    *inputs = decider.look.give_back();
    decisions
}

struct Decider<'a> {
    look: Look,
    asked: &'a Asked<'a>,
}

impl Decisions {
    fn new(asked: &Asked, kind: InputKind, keys: Vec<ResolvedKey>) -> Self {
        let how = InputSpec { kind, by: asked.by.clone(), keys, columns: 1 };
        Self::of(asked.format, how, "default")
    }

    /// Decisions without notes.
    pub(super) fn of(format: Format, how: InputSpec, why: &'static str) -> Self {
        Self {
            format,
            how,
            notes: Vec::new(),
            why,
            type_assumed: false,
            is_nothing: false,
            #[cfg(feature = "arrow")]
            columns: None,
        }
    }
}

impl Decider<'_> {
    fn decide(&mut self) -> Result<Decisions, Error> {
        let asked = self.asked;
        let is_json = asked.format == Format::JsonLines || self.may_be_json() && self.begins_with_object();
        let columns = if is_json {
            let dialect = Dialect { fields: Fields::Json, header: 0, comments: asked.comments };
            self.look.complete(dialect)?;
            Columns::of(dialect, self.first_object()?)
        } else {
            columns::find(&mut self.look, asked)?
        };
        let (dialect, header) = (columns.dialect, &columns.header);
        let format = match dialect.fields {
            Fields::Json => Format::JsonLines,
            Fields::Quoted(b'\t') if asked.format == Format::Lines => Format::Tsv,
            Fields::Quoted(_) if asked.format == Format::Lines => Format::Csv,
            _ => asked.format,
        };
        let why = match format {
            _ if asked.is_named => "named",
            Format::JsonLines => "the first line is a JSON object",
            Format::Lines => "default",
            _ => "the first line names the columns",
        };
        let kind = InputKind::Table(dialect);
        let has_no_key = asked.by.keys.is_empty() && format == Format::Lines;
        let first = self.look.first();
        let keys = match first {
            // An empty input is sorted, whatever the key.
            None => vec![ResolvedKey::record(asked.by)],
            Some(_) if has_no_key => vec![ResolvedKey::first_field(asked.by)],
            Some(text) => {
                let keys = columns.keys(asked.by, &text.parts[0].name);
                keys.map_err(|error| self.with_example(&columns, error))?
            }
        };
        let mut decisions = Decisions { format, why, ..Decisions::new(asked, kind, keys) };
        decisions.how.columns = header.columns;
        #[cfg(feature = "arrow")]
        if let Some(to) = asked.to.filter(|&to| to != format && format != Format::Lines) {
            decisions.columns =
                Some(converted::columns(&self.look, (dialect, header), &asked.by.spelling, (format, to))?);
        }
        match first {
            None => return Ok(Decisions { is_nothing: true, ..decisions }),
            Some(_) if has_no_key => self.decide_lines(&mut decisions)?,
            Some(_) => self.decide_keys(&mut decisions, header)?,
        }
        if let Fields::Quoted(_) = dialect.fields
            && dialect.header > 0
        {
            // Numbers, dates and addresses are rarely names.
            let is_value = |key: &&ResolvedKey| {
                let bytes = key.name.as_bytes();
                bytes.iter().any(u8::is_ascii_digit) && !bytes.iter().any(u8::is_ascii_alphabetic)
            };
            let is_named = |key: &&ResolvedKey| asked.by.keys.iter().any(|named| named.names(&key.name));
            let doubtful = decisions.how.keys.iter().find(|key| is_value(key) && !is_named(key));
            let note = doubtful.filter(|key| key.column != ColumnAt::Whole).map(|key| key.name.clone());
            decisions.notes.extend(note.map(Note::Header));
            let separator = header.separator().filter(|separator| matches!(separator, ';' | '\t'));
            if let Some(separator) = separator.filter(|_| asked.delimiter.is_none()) {
                decisions.notes.push(Note::Separator(quoted(header.name_of(0)), separator));
            }
        }
        Ok(decisions)
    }

    /// Returns true if lines may be JSON: some key is a name, none is a number of a field, and no option
    /// divides lines.
    fn may_be_json(&self) -> bool {
        let Asked { by, delimiter, line_end, header, .. } = self.asked;
        let are_names =
            by.keys.iter().any(Key::is_name) && by.keys.iter().all(|key| key.is_name() || key.is_record());
        let are_divided = delimiter.is_some() || *line_end == LineEnd::Nul || header.is_some();
        self.asked.format == Format::Lines && are_names && !are_divided
    }

    /// Returns the first non-empty input, and its range behind the comments at its beginning.
    fn behind_comments(&self) -> Option<(&Text, Range<usize>)> {
        let text = self.look.first()?;
        let Range { mut start, end } = text.parts[0].range.clone();
        let dialect = Dialect { fields: Fields::Json, header: 0, comments: self.asked.comments };
        while let Some(next) = dialect.comment(&text.bytes[..end], start) {
            start = next;
        }
        Some((text, start..end))
    }

    fn begins_with_object(&self) -> bool {
        let Some((text, range)) = self.behind_comments() else { return false };
        let first = &text.bytes[range];
        let first = first.strip_prefix(MARK).unwrap_or(first);
        let line = first.split(|&byte| byte == b'\n').next().unwrap_or_default();
        matches!(line.trim_ascii(), [b'{', .., b'}'])
    }

    /// Names, in the error of a missing key, the first column whose fields fit one kind, or else the first
    /// column that can be sorted as text.
    fn with_example(&self, columns: &Columns, error: Error) -> Error {
        /// The most columns to try, which the message lists, too.
        const MOST: usize = 20;
        if !self.asked.by.keys.is_empty() {
            return error;
        }
        let decided = |names: &[String]| {
            let by = KeySpec {
                keys: names.iter().map(|name| Key::parse(name)).collect(),
                ..self.asked.by.clone()
            };
            let keys = columns.keys(&by, "").ok()?;
            let mut decisions = Decisions::new(self.asked, InputKind::Table(columns.dialect), keys);
            (decisions.how.by, decisions.how.columns) = (by, columns.header.columns);
            Some(decisions)
        };
        let header = columns.header.names().count();
        let count = if header > 0 { header } else { columns.header.columns };
        // A column is offered by number if its name is not unique or cannot be typed.
        let name = |at: usize| {
            let names = [columns.header.name_of(at), (at + 1).to_string()];
            names.into_iter().find(|name| quoted(name) == *name && decided(slice::from_ref(name)).is_some())
        };
        let names: Vec<String> = (0..count.min(MOST)).filter_map(name).collect();
        let surveyed = decided(&names).and_then(|decisions| self.look.survey(&decisions.how).ok());
        let (mut clear, mut texts) = (Vec::new(), Vec::new());
        for (name, survey) in names.into_iter().zip(surveyed.iter().flat_map(|surveyed| &surveyed.columns)) {
            if !survey.has_other_json() {
                texts.push(format!("{name}:text"));
                clear.extend(matches!(survey.decide(), Decision::Kind(..)).then_some(name));
            }
        }
        let fits = |key: &String| {
            let mut decisions = decided(slice::from_ref(key)).expect("the name or the number was found");
            self.decide_keys(&mut decisions, &columns.header).is_ok()
        };
        match clear.into_iter().chain(texts).find(fits) {
            Some(key) => error.hinting(Hint::Remedies([Remedy::Key(key.into())].into())),
            None => error.unhinted(),
        }
    }

    /// Returns the names of the members of the first line.
    fn first_object(&self) -> Result<Header, Error> {
        let Some((text, Range { start, end })) = self.behind_comments() else {
            return Ok(Header::of_lines());
        };
        let blank = text.bytes[start..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let dialect = Dialect { fields: Fields::Json, header: 0, comments: false };
        let read = Header::read(&text.bytes, start + blank, end, dialect);
        read.map(|(_, header)| header).map_err(|problem| Error::input(text.line(start + blank), problem))
    }

    /// Decides the keys of lines without a requested key: the first field and the whole line, or the
    /// whole line alone.
    fn decide_lines(&self, decisions: &mut Decisions) -> Result<(), Error> {
        let by = self.asked.by;
        let record = ResolvedKey::record(by);
        let is_text = matches!(by.order.reading, Reading::Text(TextOrder::Bytes | TextOrder::Version));
        if is_text || by.order.nocase && by.order.reading == Reading::Any {
            decisions.how.keys = vec![record];
            return Ok(());
        }
        let has_kind = by.order.reading != Reading::Any;
        if by.order.invalid != Invalid::Error && !has_kind {
            let problem = "has no effect on lines without a key";
            return Err(Error::option("invalid", problem).hinting(Hint::NumbersOrKey));
        }
        let surveyed = self.look.survey(&decisions.how)?;
        let survey = &surveyed.columns[0];
        let key = &mut decisions.how.keys[0];
        // The first field that is not a number.
        let mut word = None;
        let mut is_text = false;
        match survey.decide() {
            _ if has_kind => {
                give(key, survey);
                self.check_given(&decisions.how, 0, survey)?;
            }
            Decision::Kind(kind, note) => {
                set(key, kind);
                is_text = kind == Found::Text;
                decisions.notes.extend(self.note(&decisions.how, 0, None, note)?);
            }
            Decision::Mixed { kind, between, first, misfit, is_word } => {
                word = Some(if is_word && kind == between { misfit } else { first });
            }
            Decision::Apart { misfit, .. } => word = Some(misfit),
        }
        if let Some(place) = self.first_nul() {
            decisions.notes.push(Note::Binary(place));
        } else if let Some(word) = &word {
            let has_comma = word.text.contains(&b',').then_some(KindNote::Commas);
            let note = self.note(&decisions.how, 0, None, has_comma)?;
            let usual = Note::WholeLines(shown(word), self.look.place(word.at)?);
            decisions.notes.push(note.unwrap_or(usual));
        }
        if is_text || word.is_some() {
            decisions.how.keys = vec![record];
            return Ok(());
        }
        let reading = Reading::Text(TextOrder::Bytes);
        let order = KeyOrder { is_last_resort: true, reading, ..record.order };
        decisions.how.keys.push(ResolvedKey { order, ..record });
        Ok(())
    }

    /// Returns the place of a NUL at the beginning of lines, unless NUL ends them.
    fn first_nul(&self) -> Option<String> {
        const BEGINNING: usize = 1 << 16;
        let text = self.look.first().filter(|_| self.asked.line_end == LineEnd::Lf)?;
        let range = text.parts[0].range.clone();
        let beginning = &text.bytes[range.start..range.end.min(range.start + BEGINNING)];
        Some(text.line(range.start + memchr::memchr(0, beginning)?))
    }

    fn decide_keys(&self, decisions: &mut Decisions, header: &Header) -> Result<(), Error> {
        let surveyed = self.look.survey(&decisions.how)?;
        self.check_columns(&decisions.how, header, &surveyed)?;
        for number in 0..decisions.how.keys.len() {
            let survey = &surveyed.columns[number];
            let key = &mut decisions.how.keys[number];
            if key.column == ColumnAt::Whole {
                continue;
            }
            if key.order.reading != Reading::Any {
                give(key, survey);
                self.check_given(&decisions.how, number, survey)?;
                continue;
            }
            let order = key.order;
            match survey.decide() {
                Decision::Kind(kind, note) => {
                    set(key, kind);
                    let name = Some(format!("{}{}", key.typed, key.direction));
                    decisions.notes.extend(self.note(&decisions.how, number, name, note)?);
                }
                Decision::Mixed { kind, .. } if order.invalid != Invalid::Error => set(key, kind),
                Decision::Mixed { kind: kind @ Found::Number(_), .. } if order.leading => {
                    set(key, kind);
                    self.check_given(&decisions.how, number, survey)?;
                }
                Decision::Mixed { kind, between, first, misfit, is_word } => {
                    let (examples, kinds) = ([&first, &misfit], [kind, between]);
                    return Err(self.mixed(&decisions.how, number, (survey, kinds), examples, is_word)?);
                }
                Decision::Apart { what, first, misfit } => {
                    return Err(self.apart(&decisions.how.keys[number], what, [&first, &misfit])?);
                }
            }
        }
        Ok(())
    }

    /// Checks that some record has each key.
    fn check_columns(&self, how: &InputSpec, header: &Header, surveyed: &Surveyed) -> Result<(), Error> {
        if !surveyed.has_records {
            return Ok(());
        }
        let dialect = how.kind.dialect();
        for (key, _) in how.keys.iter().zip(&surveyed.has).filter(|(_, has)| !**has) {
            let name = self.look.first().map_or_else(String::new, |text| text.parts[0].name.clone());
            let (number, separator) = match (&key.column, dialect.fields) {
                (ColumnAt::Path(_), _) => {
                    let (problem, hint) = header.lacking(key);
                    let error = Error::input(name, problem);
                    return Err(hint.into_iter().fold(error, Error::hinting));
                }
                (ColumnAt::Field(column), Fields::Words(_)) => (column + 1, "blanks".to_owned()),
                (ColumnAt::Field(column), Fields::Split(byte, _)) => {
                    (column + 1, format!("{:?}", char::from(byte)))
                }
                _ => continue,
            };
            let error = Error::input(name, format!("no line has field {number}, split at {separator}"));
            return Err(if self.asked.delimiter.is_some() { error } else { error.hinting(Hint::Separator) });
        }
        Ok(())
    }

    /// Returns the note on a kind.
    fn note(
        &self,
        how: &InputSpec,
        number: usize,
        key: Option<String>,
        note: Option<KindNote>,
    ) -> Result<Option<Note>, Error> {
        Ok(match note {
            None => None,
            Some(KindNote::Versions) => Some(Note::Versions(key)),
            Some(KindNote::YearEnds) => Some(Note::NoYear(key)),
            Some(KindNote::Commas) => {
                let options = self.options_of_commas(how, number)?;
                let options: Vec<&str> = options.into_iter().map(|(option, _)| option).collect();
                (!options.is_empty()).then_some(Note::Commas(key, options))
            }
            Some(KindNote::DayMonth(patterns)) => Some(Note::DayMonth(key, patterns.patterns().collect())),
            Some(KindNote::Most(kind, misfit)) => {
                let kind = match kind {
                    Found::Duration => Kind::Duration,
                    Found::Number(_) => Kind::Number,
                    Found::Size => Kind::Size,
                    _ => Kind::Version,
                };
                let place = self.look.place(misfit.at)?;
                Some(Note::Most(key, kind, shown(&misfit), place))
            }
        })
    }
}

/// Returns a field for notes.
fn shown(example: &Example) -> String {
    quoted(&example.text)
}

/// Completes a key of a requested kind from its fields: the sign of numbers, the form of times.
fn give(key: &mut ResolvedKey, survey: &Survey) {
    match key.order.reading {
        Reading::Numbers => key.sign = survey.first_sign(),
        Reading::Times => key.form = survey.form(),
        _ => {}
    }
    if key.order.reading.is_text() || key.order.reading.is_time() {
        key.order.leading = false;
    }
}

/// Sets the inferred kind.
fn set(key: &mut ResolvedKey, found: Found) {
    key.is_found = true;
    let leading = key.order.leading;
    (key.order.reading, key.order.leading) = match found {
        Found::Number(sign) => {
            key.sign = sign;
            (Reading::Numbers, leading)
        }
        Found::Time(form) => {
            key.form = Some(form);
            (Reading::Times, false)
        }
        Found::Size => (Reading::Sizes, leading),
        Found::Duration => (Reading::Durations, false),
        Found::Version => (Kind::Version.reading(), false),
        Found::Text => (Kind::Text.reading(), false),
    };
}
