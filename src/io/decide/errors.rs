//! The errors of fields that do not fit, with remedies that were tried.

use gpusort_values::marks::Marks;
use gpusort_values::survey::{Apart, Decision, Example, Found};

use super::{Decider, shown};
use crate::error::{Error, Hint, Remedy};
use crate::human::quoted;
use crate::io::batch::InputSpec;
use crate::io::csv::{Fields, Misfit, Reason, ResolvedKey};
use crate::order::{Class, Reading};

impl Decider<'_> {
    /// The error of numbers or times beside words.
    pub(super) fn mixed(
        &self,
        how: &InputSpec,
        number: usize,
        kind: Found,
        [first, misfit]: [&Example; 2],
        is_word: bool,
    ) -> Result<Error, Error> {
        let key = &how.keys[number];
        let place = |example: &Example| self.look.place(self.inputs, example.at);
        let (name, what) =
            if matches!(kind, Found::Time(_)) { ("time", "a time") } else { ("number", "a number") };
        let (here, there) = (place(misfit)?, place(first)?);
        let problem = if is_word {
            format!("'{}' is not {what}, but '{}' ({there}) is", shown(misfit), shown(first))
        } else {
            format!("'{}' is {what}, but '{}' ({there}) is not", shown(misfit), shown(first))
        };
        let word = if is_word { misfit } else { first };
        let mut remedies = vec![
            Remedy::Key(format!("{}:text", key.typed).into()),
            Remedy::Invalid(format!("{}:{name}", key.typed).into()),
        ];
        remedies.extend(self.tried(how, number, word)?);
        let place = if how.keys.len() > 1 { format!("{here}, column '{}'", key.shown()) } else { here };
        Ok(Error::input(place, problem).hinting(Hint::Remedies(remedies.into())))
    }

    /// The remedies that bring a column with this word through.
    fn tried(&self, how: &InputSpec, number: usize, word: &Example) -> Result<Vec<Remedy>, Error> {
        let is_json = how.kind.divided().0.fields == Fields::Json;
        let mut remedies = Vec::new();
        if is_json {
            return Ok(remedies);
        }
        let text = String::from_utf8_lossy(&word.text).into_owned();
        let is_simple = text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != ',');
        if is_simple && !text.bytes().any(|byte| byte.is_ascii_digit()) {
            let na = |key: &mut ResolvedKey| key.spelling_mut().empty.push(word.text.clone());
            if self.goes_through(how, number, &na)? {
                remedies.push(Remedy::Na(text.clone().into()));
            }
        }
        for (mark, marks) in [(',', (',', None)), (',', ('.', Some(',')))] {
            if !text.contains(mark) || how.kind.divided().0.fields.divides_at(b',') {
                continue;
            }
            let Ok(new) = Marks::new(marks.0, marks.1) else { continue };
            if self.goes_through(how, number, &|key| key.spelling_mut().marks = Some(new))? {
                remedies.push(if marks.1.is_some() {
                    Remedy::Thousands(mark)
                } else {
                    Remedy::Decimal(mark)
                });
            }
        }
        if self.is_first_line(how, word)? {
            remedies.push(Remedy::Header);
        }
        Ok(remedies)
    }

    /// Returns true if the column fits a kind other than text after a change.
    fn goes_through(
        &self,
        how: &InputSpec,
        number: usize,
        change: &dyn Fn(&mut ResolvedKey),
    ) -> Result<bool, Error> {
        let mut how = InputSpec { keys: vec![how.keys[number].clone()], ..how.clone() };
        change(&mut how.keys[0]);
        let surveyed = self.look.survey(self.inputs, &how)?;
        Ok(matches!(surveyed.columns[0].decide(), Decision::Kind(found, _) if found != Found::Text))
    }

    /// Returns true if a word is in the first line and the rest of its column fits a kind.
    fn is_first_line(&self, how: &InputSpec, word: &Example) -> Result<bool, Error> {
        let dialect = how.kind.divided().0;
        if dialect.header > 0 || !self.look.place(self.inputs, word.at)?.ends_with(":1") {
            return Ok(false);
        }
        let mut how = how.clone();
        how.kind = crate::io::batch::InputKind::Table(crate::io::csv::Dialect { header: 1, ..dialect });
        // Inputs may differ in their first lines.
        let Ok(surveyed) = self.look.survey(self.inputs, &how) else { return Ok(false) };
        let fits = |decision| matches!(decision, Decision::Kind(found, _) if found != Found::Text);
        Ok(surveyed.columns.iter().any(|column| fits(column.decide())))
    }

    /// The error of times or clocks in two forms.
    pub(super) fn apart(
        &self,
        key: &ResolvedKey,
        what: Apart,
        [first, misfit]: [&Example; 2],
    ) -> Result<Error, Error> {
        let place = |example: &Example| self.look.place(self.inputs, example.at);
        let (here, there) = (place(misfit)?, place(first)?);
        let problem = format!(
            "'{}' and '{}' ({there}) do not compare: {}",
            shown(misfit),
            shown(first),
            match what {
                Apart::Zones => "only one of them has a time zone",
                Apart::Years => "only one of them has a year",
                Apart::Clocks => "minutes and seconds, or hours and minutes",
            }
        );
        let kind = if what == Apart::Clocks { "duration" } else { "text" };
        let remedy = Remedy::Key(format!("{}:{kind}", key.typed).into());
        Ok(Error::input(here, problem).hinting(Hint::Remedies([remedy].into())))
    }
}

/// The error of a field that does not fit what was decided.
pub(in crate::io) fn misfit(misfit: &Misfit) -> Error {
    let Misfit { key, place, token, reason, is_json, has_key } = misfit;
    let shown = quoted(token);
    let kind = match key.order.reading {
        Reading::Times => "a time",
        Reading::Sizes => "a size",
        Reading::Durations => "a duration",
        Reading::Text(_) => "a hexadecimal number",
        Reading::Numbers | Reading::Any => "a number",
    };
    let unlike = |expected: &str| Error::input(place, format!("'{shown}' is not {expected}"));
    let error = match reason {
        Reason::Null(Class::Empty) => {
            return Error::input(place, "the field is empty").hinting(Hint::Empty);
        }
        Reason::Null(Class::Nan) => {
            return Error::input(place, format!("'{shown}' is NaN")).hinting(Hint::Nan);
        }
        Reason::Type(element) => {
            return unlike(&format!("a number that {element} holds")).hinting(Hint::OtherType(*element));
        }
        Reason::Json => return unlike("a number, a string, true, false or null").hinting(Hint::Invalid),
        Reason::Apart => {
            let form = key.form.map_or("", |form| match (form.zone, form.year) {
                (_, false) => "a time without a year, as the times before",
                (true, true) => "a time with a time zone, as the times before",
                (false, true) => "a time without a time zone, as the times before",
            });
            unlike(form)
        }
        Reason::Null(Class::Invalid) => unlike(kind),
    };
    let remedies =
        if *has_key || !key.is_found { remedies(key, token, *is_json) } else { vec![Remedy::Record] };
    error.hinting(Hint::Remedies(remedies.into()))
}

/// The remedies that bring this field through.
fn remedies(key: &ResolvedKey, token: &[u8], is_json: bool) -> Vec<Remedy> {
    let kind = key.kind_name();
    let mut remedies = Vec::new();
    let is_number = matches!(key.order.reading, Reading::Numbers | Reading::Sizes);
    let is_given = !key.is_found;
    if is_number && is_given && !key.order.leading && begins_with_number(token) {
        remedies.push(Remedy::Leading);
    }
    if is_given {
        remedies.push(Remedy::Invalid("".into()));
    } else {
        remedies.push(Remedy::Key(format!("{}:text", key.typed).into()));
        remedies.push(Remedy::Invalid(format!("{}:{kind}", key.typed).into()));
    }
    let text = String::from_utf8_lossy(token);
    let is_simple = text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != ',');
    if !is_json && is_simple && !text.bytes().any(|byte| byte.is_ascii_digit()) {
        remedies.push(Remedy::Na(text.into_owned().into()));
    }
    remedies
}

/// Returns true for a name that a number begins, and neither a date nor a version does.
fn begins_with_number(token: &[u8]) -> bool {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &token[digits..] {
        [first, second, ..] if digits > 0 => {
            matches!(first, b'-' | b'_' | b'a'..=b'z' | b'A'..=b'Z') && second.is_ascii_alphabetic()
        }
        _ => false,
    }
}
