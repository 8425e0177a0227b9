//! What is asked of the library, in words that the twins understand, too.

use gpusort::Format;
use gpusort::files::{Input, Key, Kind as KeyKind, Options};
use gpusort_order::{Invalid, KeyOrder, Nulls, Reading, TextForm, TextOrder};
use gpusort_planner::key::ElementType;

/// What inputs are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Tokens, of which a line may have one or any number.
    Text {
        one_a_line: bool,
    },
    Table(Dialect),
    /// Elements of this type, without a header.
    Raw(ElementType),
    Npy,
}

/// The form of a table, or of lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dialect {
    pub fields: Fields,
    /// Rows that are a header, of which the last names the columns.
    pub header: usize,
    pub comments: bool,
}

/// What separates fields; lines may end in NUL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fields {
    Quoted(u8),
    Split(u8, LineEnd),
    Blanks(LineEnd),
}

impl Fields {
    pub fn are_of_lines(self) -> bool {
        !matches!(self, Self::Quoted(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineEnd {
    Lf,
    Nul,
}

/// The order of records.
#[derive(Clone, Debug, Default)]
pub struct By {
    pub columns: Vec<String>,
    pub element: Option<ElementType>,
    /// What a key orders by that says nothing of its own: its reading is what the options below
    /// come to.
    pub order: KeyOrder,
    pub said: Said,
    pub spelling: Spelling,
}

/// What is said of the order beside what [`KeyOrder`] has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Said {
    /// What the fields of all keys are.
    pub kind: Option<KeyKind>,
    /// Whether they are numbers or times, and no text: `-n`.
    pub numeric: bool,
    /// Whether it is said where empty fields go, and what becomes of invalid ones.
    pub empty: bool,
    pub invalid: bool,
}

/// How fields are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spelling {
    /// Fields that count as empty.
    pub na: Vec<&'static str>,
    pub decimal: Option<char>,
    pub thousands: Option<char>,
    pub times: Option<&'static str>,
}

impl By {
    /// The same for such rows: the key of lines is their first field if none is named.
    pub fn of(mut self, dialect: Dialect) -> Self {
        if dialect.fields.are_of_lines() && self.columns.is_empty() {
            self.columns.push("1".to_owned());
        }
        self
    }

    /// The same with the reading that tables and lines have by what is said: text is found where
    /// nothing says that fields are no text.
    pub fn of_tables(mut self) -> Self {
        let Said { kind, numeric, invalid, .. } = self.said;
        let kind = kind.or(self.spelling.times.map(|_| KeyKind::Time));
        let are_numbers = numeric || invalid || self.order.nan == Nulls::Error;
        self.order.reading = match kind {
            Some(kind) => reading(kind, self.order.nocase),
            None if self.element.is_some() || self.order.leading => Reading::Numbers,
            None if are_numbers => Reading::NumbersOrTimes,
            None => Reading::Any,
        };
        if !self.said.empty {
            self.order.empty = Nulls::Last;
        }
        if !invalid {
            self.order.invalid = Invalid::Error;
        }
        self
    }

    /// Whether sizes or durations are read.
    pub fn has_units(&self) -> bool {
        let named = |name: &str| self.columns.iter().any(|key| key.contains(name));
        let of_sort = self.columns.iter().any(|key| key.contains('h') && !key.starts_with('x'));
        let is_such = matches!(self.order.reading, Reading::Sizes | Reading::Durations);
        is_such
            || self.order.leading
            || of_sort
            || named("size")
            || named("duration")
            || self.spelling.times.is_some()
    }
}

/// What fields of this kind are read as.
pub fn reading(kind: KeyKind, nocase: bool) -> Reading {
    let text = |order| Reading::Text(TextForm { order, nocase });
    match kind {
        KeyKind::Number => Reading::Numbers,
        KeyKind::Time => Reading::Times,
        KeyKind::Size => Reading::Sizes,
        KeyKind::Duration => Reading::Durations,
        KeyKind::Text => text(TextOrder::Bytes),
        KeyKind::Version => text(TextOrder::Version),
        // Letters of numbers are of either case.
        _ => Reading::Text(TextForm { order: TextOrder::Hex, nocase: false }),
    }
}

/// What is asked, but for the result.
#[derive(Clone, Debug)]
pub struct Asked {
    pub kind: Kind,
    pub by: By,
    pub unique: bool,
}

impl Asked {
    /// The options of the library.
    pub fn options(&self, inputs: impl IntoIterator<Item = Input>) -> Options {
        let Self { kind, by, unique } = self;
        let KeyOrder { descending, nan, empty, invalid, leading, reading, nocase } = by.order;
        let mut options = inputs.into_iter().fold(Options::new().nan(nan), Options::input);
        options = match *kind {
            Kind::Text { one_a_line: true } if reading == Reading::Numbers => options.one_number_a_line(),
            Kind::Text { .. } => options.format(Format::Text),
            Kind::Npy => options.format(Format::Npy),
            Kind::Raw(element) => options.format(Format::Binary).element(element),
            Kind::Table(Dialect { fields, header, comments }) => {
                let (format, byte, end) = match fields {
                    Fields::Quoted(byte) => (Format::Csv, Some(byte), LineEnd::Lf),
                    Fields::Split(byte, end) => (Format::Lines, Some(byte), end),
                    Fields::Blanks(end) => (Format::Lines, None, end),
                };
                let flags: [(bool, fn(Options) -> Options); 5] = [
                    (comments, Options::comments),
                    (end == LineEnd::Nul, Options::zero_terminated),
                    (leading, Options::leading),
                    (nocase, Options::ignore_case),
                    (by.said.numeric, Options::numeric),
                ];
                let Spelling { na, decimal, thousands, times } = &by.spelling;
                let mut options = options.format(format).header_rows(header);
                options = byte.into_iter().fold(options, Options::delimiter);
                options = by.columns.iter().map(|key| Key::parse(key)).fold(options, Options::key);
                options = by.said.kind.into_iter().fold(options, Options::kind);
                options = Some(empty).filter(|_| by.said.empty).into_iter().fold(options, Options::empty);
                options =
                    Some(invalid).filter(|_| by.said.invalid).into_iter().fold(options, Options::invalid);
                options = na.iter().copied().fold(options, Options::na);
                options = decimal.iter().copied().fold(options, Options::decimal);
                options = thousands.iter().copied().fold(options, Options::thousands);
                options = times.iter().copied().fold(options, Options::time_format);
                flags.into_iter().filter(|(is_set, _)| *is_set).fold(options, |it, (_, set)| set(it))
            }
        };
        if matches!(kind, Kind::Text { .. }) {
            options = options.reading(reading);
        }
        if matches!(kind, Kind::Text { .. } | Kind::Table(_)) {
            options = by.element.into_iter().fold(options, Options::element);
        }
        let flags: [(bool, fn(Options) -> Options); 2] =
            [(descending, Options::descending), (*unique, Options::unique)];
        flags.into_iter().filter(|(is_set, _)| *is_set).fold(options, |it, (_, set)| set(it))
    }
}
