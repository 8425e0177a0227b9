//! The errors of fields that do not fit, with tested remedies.

use gpusort_values::marks::Marks;
use gpusort_values::survey::{Apart, Decision, Example, Found, Survey};

use super::{Decider, shown};
use gpusort_base::error::{Error, Hint, Remedy};
use gpusort_formats::fields::{Dialect, Fields, Kind, Layout, ResolvedKey};
use gpusort_formats::{InputKind, InputSpec};
use gpusort_order::{Invalid, Reading};

impl Decider<'_> {
    /// Returns the error of a column with times or clocks in two forms.
    pub(super) fn apart(
        &self,
        key: &ResolvedKey,
        what: Apart,
        [first, misfit]: [&Example; 2],
    ) -> Result<Error, Error> {
        let (here, there) = (self.look.place(misfit.at)?, self.look.place(first.at)?);
        let problem = match what {
            Apart::Zones => "only one of them has a time zone",
            Apart::Years => "only one of them has a year",
            Apart::Clocks => "the shorter one may be minutes:seconds or hours:minutes",
        };
        let problem =
            format!("'{}' and '{}' ({there}) do not compare: {problem}", shown(misfit), shown(first));
        let kind = if what == Apart::Clocks { "duration" } else { "text" };
        let remedy = Remedy::Key(key.with_kind(kind).into());
        Ok(Error::input(here, problem).hinting(Hint::Remedies([remedy].into())))
    }

    /// Returns the error of a column that mixes words with numbers or times.
    pub(super) fn mixed(
        &self,
        how: &InputSpec,
        number: usize,
        (survey, [kind, between]): (&Survey, [Found; 2]),
        [first, misfit]: [&Example; 2],
        is_word: bool,
    ) -> Result<Error, Error> {
        let key = &how.keys[number];
        let is_time = |kind| matches!(kind, Found::Time(_));
        let name = if is_time(kind) { "time" } else { "number" };
        let what = if is_time(between) { "a time" } else { "a number" };
        let (here, there) = (self.look.place(misfit.at)?, self.look.place(first.at)?);
        let problem = if is_word {
            format!("'{}' is not {what}, but '{}' ({there}) is", shown(misfit), shown(first))
        } else {
            format!("'{}' is {what}, but '{}' ({there}) is not", shown(misfit), shown(first))
        };
        let word = if is_word { misfit } else { first };
        let name = if survey.has_units() { "size" } else { name };
        let as_text = alone(how, number, |key| key.order.reading = Kind::Text.reading());
        let mut remedies = Vec::new();
        if self.first_invalid(&as_text)?.is_none() {
            remedies.push(Remedy::Key(key.with_kind("text").into()));
        }
        if survey.has_one_form() || name != "time" {
            remedies.push(Remedy::Invalid(key.with_kind(name).into()));
        }
        remedies.extend(self.tried(how, number, word)?);
        let place = if how.keys.len() > 1 { format!("{here}, column '{}'", key.shown()) } else { here };
        Ok(Error::input(place, problem).hinting(Hint::Remedies(remedies.into())))
    }

    /// Checks the fields of a key with a requested kind.
    ///
    /// # Errors
    ///
    /// The first field of another kind, with tested remedies.
    pub(super) fn check_given(&self, how: &InputSpec, number: usize, survey: &Survey) -> Result<(), Error> {
        let key = &how.keys[number];
        let fits = matches!(
            (key.order.reading, survey.decide()),
            (Reading::Numbers, Decision::Kind(Found::Number(_), _))
                | (Reading::Sizes, Decision::Kind(Found::Number(None) | Found::Size, _))
                | (Reading::Durations, Decision::Kind(Found::Duration, _))
                | (Reading::Times, Decision::Kind(Found::Time(_), _))
                | (Reading::Any | Reading::Text(_), _)
        );
        if fits || key.order.invalid != Invalid::Error {
            return Ok(());
        }
        let Some((token, at, error)) = self.first_invalid(&alone(how, number, |_| {}))? else {
            return Ok(());
        };
        let Some(Hint::Remedies(plain)) = error.hint() else { return Ok(()) };
        let mut remedies = Vec::new();
        let is_number = matches!(key.order.reading, Reading::Numbers | Reading::Sizes);
        if is_number
            && !key.order.leading
            && begins_with_number(&token)
            && self.first_invalid(&alone(how, number, |key| key.order.leading = true))?.is_none()
        {
            remedies.push(Remedy::Leading);
        }
        if key.order.reading == Reading::Numbers
            && key.axis.is_none()
            && how.has_key()
            && self.first_invalid(&alone(how, number, |key| key.order.reading = Reading::Sizes))?.is_none()
        {
            remedies.push(Remedy::Key(key.with_kind("size").into()));
        }
        remedies.extend(plain.iter().cloned());
        let text = std::str::from_utf8(&token).ok().filter(|text| is_word(text));
        let is_json = how.kind.dialect().fields == Fields::Json;
        if let Some(text) = text.filter(|_| !is_json) {
            let na = alone(how, number, |key| key.spelling_mut().empty.push(text.as_bytes().to_vec()));
            if self.first_invalid(&na)?.is_none() {
                remedies.push(Remedy::Na(text.into()));
            }
        }
        if self.is_first_line(how, number, at)?
            && self.first_invalid(&alone(&below_header(how), number, |_| {}))?.is_none()
        {
            remedies.push(Remedy::Header);
        }
        Err(error.hinting(Hint::Remedies(remedies.into())))
    }

    /// Returns the first field that the kind of the only key refuses, with its place and its error.
    fn first_invalid(&self, how: &InputSpec) -> Result<Option<(Vec<u8>, u64, Error)>, Error> {
        let mut found = None;
        self.look.for_each(how.kind.dialect(), &mut |text, bodies, base, is_tail| {
            if found.is_none() {
                let layout = Layout::new(text, how);
                let invalid = layout.first_invalid(bodies);
                found = invalid.map(|(at, error)| (layout.token(at, 0), error, base + at as u64, is_tail));
            }
            Ok(())
        })?;
        let Some((token, error, at, is_tail)) = found else { return Ok(None) };
        // The sample did not count the lines before the end of a file.
        let error = if is_tail { error.at(self.look.place(at)?) } else { error };
        Ok(Some((token, at, error)))
    }

    /// Returns the remedies that make a column with this word fit a kind.
    fn tried(&self, how: &InputSpec, number: usize, word: &Example) -> Result<Vec<Remedy>, Error> {
        let is_json = how.kind.dialect().fields == Fields::Json;
        let mut remedies = Vec::new();
        let Some(text) = std::str::from_utf8(&word.text).ok().filter(|_| !is_json) else {
            return Ok(remedies);
        };
        if is_word(text) {
            let na = alone(how, number, |key| key.spelling_mut().empty.push(word.text.clone()));
            if self.has_kind(&na)? {
                remedies.push(Remedy::Na(text.into()));
            }
        }
        if text.contains(',') {
            remedies.extend(self.options_of_commas(how, number)?.into_iter().map(|(_, remedy)| remedy));
        }
        if self.is_first_line(how, number, word.at)? {
            remedies.push(Remedy::Header);
        }
        Ok(remedies)
    }

    /// Returns the options that make numbers of a column with commas, as names and as remedies.
    pub(super) fn options_of_commas(
        &self,
        how: &InputSpec,
        number: usize,
    ) -> Result<Vec<(&'static str, Remedy)>, Error> {
        let mut options = Vec::new();
        let has_marks = how.keys[number].spelling.marks.is_some();
        if has_marks || matches!(how.kind.dialect().fields, Fields::Split(b',', _)) {
            return Ok(options);
        }
        for (option, remedy, decimal, thousands) in [
            ("decimal", Remedy::Decimal(','), ',', None),
            ("thousands", Remedy::Thousands(','), '.', Some(',')),
        ] {
            let Ok(marks) = Marks::new(decimal, thousands) else { continue };
            if self.has_kind(&alone(how, number, |key| key.spelling_mut().marks = Some(marks)))? {
                options.push((option, remedy));
            }
        }
        Ok(options)
    }

    /// Returns true if the column of the only key fits a kind other than text.
    fn has_kind(&self, how: &InputSpec) -> Result<bool, Error> {
        Ok(have_kind(&self.look.survey(how)?.columns[0]))
    }

    /// Returns true for a field of the first line if without that line its column fits a kind other than
    /// text, and all columns fit one.
    fn is_first_line(&self, how: &InputSpec, number: usize, at: u64) -> Result<bool, Error> {
        let dialect = how.kind.dialect();
        let has_none = dialect.header == 0 && dialect.fields != Fields::Json;
        if !has_none || !self.look.place(at)?.ends_with(":1") {
            return Ok(false);
        }
        // Inputs may differ in their first lines.
        let Ok(surveyed) = self.look.survey(&below_header(how)) else { return Ok(false) };
        let fit = |survey: &Survey| matches!(survey.decide(), Decision::Kind(..));
        Ok(have_kind(&surveyed.columns[number]) && surveyed.columns.iter().all(fit))
    }
}

/// Returns the specification with the first line as a header.
fn below_header(how: &InputSpec) -> InputSpec {
    let kind = InputKind::Table(Dialect { header: 1, ..how.kind.dialect() });
    InputSpec { kind, ..how.clone() }
}

/// Returns the specification of a key alone, after a change to the key.
fn alone(how: &InputSpec, number: usize, change: impl FnOnce(&mut ResolvedKey)) -> InputSpec {
    let mut how = InputSpec { keys: vec![how.keys[number].clone()], ..how.clone() };
    change(&mut how.keys[0]);
    how
}

/// Returns true if the fields of a column fit a kind other than text.
fn have_kind(survey: &Survey) -> bool {
    matches!(survey.decide(), Decision::Kind(found, _) if found != Found::Text)
}

/// Returns true for a word without digits that an option takes literally.
fn is_word(text: &str) -> bool {
    /// Longer words are shown in part.
    const LONGEST: usize = 40;
    text.len() <= LONGEST
        && text.chars().all(|c| !c.is_whitespace() && !c.is_control() && !c.is_ascii_digit() && c != ',')
}

/// Returns true for a name that begins with a number and resembles neither a date nor a version.
fn begins_with_number(token: &[u8]) -> bool {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &token[digits..] {
        [first, second, ..] if digits > 0 => {
            matches!(first, b' ' | b'-' | b'_' | b'a'..=b'z' | b'A'..=b'Z') && second.is_ascii_alphabetic()
        }
        _ => false,
    }
}
