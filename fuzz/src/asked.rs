//! What is asked of the library, in words that the twins understand, too.

use gpusort::Format;
use gpusort::files::{Input, Key, Options};
use gpusort::unstable::order::{KeyOrder, Reading};
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
    pub header: bool,
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
#[derive(Clone, Debug)]
pub struct By {
    pub columns: Vec<String>,
    pub element: Option<ElementType>,
    pub order: KeyOrder,
}

impl By {
    /// The same for such rows: the key of lines is their first field if none is named.
    pub fn of(mut self, dialect: Dialect) -> Self {
        if dialect.fields.are_of_lines() && self.columns.is_empty() {
            self.columns.push("1".to_owned());
        }
        self
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
        let KeyOrder { descending, nan, empty, invalid, leading, reading } = by.order;
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
                let flags: [(bool, fn(Options) -> Options); 3] = [
                    (comments, Options::comments),
                    (end == LineEnd::Nul, Options::zero_terminated),
                    (leading, Options::leading),
                ];
                let options = options.format(format).header(header).empty(empty).invalid(invalid);
                let options = byte.into_iter().fold(options, Options::delimiter);
                let options = by.columns.iter().map(|key| Key::parse(key)).fold(options, Options::key);
                flags.into_iter().filter(|(is_set, _)| *is_set).fold(options, |it, (_, set)| set(it))
            }
        };
        let is_text = matches!(kind, Kind::Text { .. } | Kind::Table(_));
        if is_text {
            options = options.reading(reading);
            options = by.element.into_iter().fold(options, Options::element);
        }
        let flags: [(bool, fn(Options) -> Options); 2] =
            [(descending, Options::descending), (*unique, Options::unique)];
        flags.into_iter().filter(|(is_set, _)| *is_set).fold(options, |it, (_, set)| set(it))
    }
}
