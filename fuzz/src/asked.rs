//! The options of a case, in plain fields that the references can read.

use gpusort::Format;
use gpusort::files::{Input, Invalid, Key, Kind, Nulls, Options};
use gpusort_planner::key::ElementType;

/// Options of a sort, check or merge.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub format: Option<Format>,
    pub element: Option<ElementType>,
    pub delimiter: Option<u8>,
    pub zero_terminated: bool,
    pub comments: bool,
    pub header: Option<usize>,
    pub keys: Vec<String>,
    pub kind: Option<Kind>,
    pub numeric: bool,
    pub nocase: bool,
    pub leading: bool,
    pub descending: bool,
    pub unique: bool,
    pub nan: Nulls,
    pub empty: Option<Nulls>,
    pub invalid: Option<Invalid>,
    pub na: Option<&'static str>,
    pub decimal: Option<char>,
    pub thousands: Option<char>,
    pub times: Option<&'static str>,
}

impl Asked {
    /// The options of the library.
    pub fn options(&self, inputs: impl IntoIterator<Item = Input>) -> Options {
        fn set<T>(options: Options, value: Option<T>, set: fn(Options, T) -> Options) -> Options {
            match value {
                Some(value) => set(options, value),
                None => options,
            }
        }
        let options = inputs.into_iter().fold(Options::new().nan(self.nan), Options::input);
        let options = self.keys.iter().map(|key| Key::parse(key)).fold(options, Options::key);
        let options = set(options, self.format, Options::format);
        let options = set(options, self.element, Options::element);
        let options = set(options, self.delimiter, Options::delimiter);
        let options = set(options, self.header, Options::header_rows);
        let options = set(options, self.kind, Options::kind);
        let options = set(options, self.empty, Options::empty);
        let options = set(options, self.invalid, Options::invalid);
        let options = set(options, self.na, Options::na);
        let options = set(options, self.decimal, Options::decimal);
        let options = set(options, self.thousands, Options::thousands);
        let options = set(options, self.times, Options::time_format);
        type Set = fn(Options) -> Options;
        let flags: [(bool, Set); 7] = [
            (self.zero_terminated, Options::zero_terminated),
            (self.comments, Options::comments),
            (self.numeric, Options::numeric),
            (self.nocase, Options::ignore_case),
            (self.leading, Options::leading),
            (self.descending, Options::descending),
            (self.unique, Options::unique),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).fold(options, |options, (_, set)| set(options))
    }

    /// Returns true if an option gives each key its kind.
    pub fn is_explicit(&self) -> bool {
        let has_kind = |key: &String| {
            let kinds = Kind::ALL.map(|(name, _)| name);
            key == "0" || key.starts_with("0:") || key.split(':').skip(1).any(|part| kinds.contains(&part))
        };
        !self.keys.is_empty()
            && self.keys.iter().all(|key| has_kind(key) || self.kind.is_some() && !key.contains(','))
    }

    /// Returns true if the result may lack records.
    pub fn drops(&self) -> bool {
        self.unique || self.invalid == Some(Invalid::Skip)
    }
}
