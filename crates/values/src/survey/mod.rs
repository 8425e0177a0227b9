//! Finds the kind of a column: the first kind that all fields of the column fit.
//!
//! ```text
//! fields ── push ──► Survey ── decide ──► Decision: a kind, or a field that does not fit
//! ```
//!
//! The kinds, in this order: number, time, size, duration, version, text. Numbers or times beside
//! words fit no kind. Surveys of neighbouring parts of a column merge into one.

pub mod decision;
pub mod spelling;

use crate::digits::{split_digits, split_sign};
use crate::duration::{self, Shape};
use crate::json::Json;
use crate::number::{self, Seen, Sign};
pub use crate::survey::decision::{Apart, Decision, Example, Found, Note};
use crate::survey::spelling::Spelling;
use crate::time::day_month::DayMonth;
use crate::time::{self, Time, TimeForm};
use crate::version;

/// A nonempty field, without blanks around it.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The field.
    pub text: &'a [u8],
    /// The line from the field on, where a time may take further fields.
    pub rest: &'a [u8],
    /// The type of a JSON value other than null.
    pub json: Option<Json>,
}

/// Returns the first field of a line, with the second one if the first is a date.
pub fn shown(rest: &[u8]) -> &[u8] {
    let end = |from: usize| {
        let blank = rest[from..].iter().position(|byte| matches!(byte, b' ' | b'\t'));
        blank.map_or(rest.len(), |blank| from + blank)
    };
    let first = end(0);
    let is_date = first < rest.len() && time::time(&rest[..first]).is_some();
    &rest[..if is_date { end(first + 1) } else { first }]
}

impl Field<'_> {
    /// Returns the field at this place as an example: a time with all its fields.
    fn example(&self, at: u64) -> Example {
        let text = match time::time_at(self.rest) {
            _ if self.rest.len() == self.text.len() => self.text,
            Some((_, length)) => &self.rest[..length],
            None => shown(self.rest),
        };
        Example { at, text: text.to_vec() }
    }
}

/// The fields of one class: their number, and the first.
#[derive(Clone, Debug, Default)]
struct Class {
    count: u64,
    first: Option<Example>,
}

impl Class {
    #[inline]
    fn push(&mut self, field: &Field, at: u64) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(field.example(at));
        }
    }

    fn merge(&mut self, later: Self) {
        self.count += later.count;
        self.first = self.first.take().or(later.first);
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn at(&self) -> u64 {
        self.first.as_ref().map_or(u64::MAX, |first| first.at)
    }
}

/// Joins classes, with the first field of all.
fn joined(classes: &[&Class]) -> Class {
    let first = classes.iter().filter_map(|class| class.first.as_ref()).min_by_key(|first| first.at);
    Class { count: classes.iter().map(|class| class.count).sum(), first: first.cloned() }
}

/// The facts known about the fields of a column.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The number of all fields.
    all: u64,
    /// Numbers without a sign of a currency or percent.
    plain: Class,
    /// Numbers with the first sign seen, and numbers with other signs.
    signed: Class,
    sign: Option<Sign>,
    other_signs: Class,
    /// `inf` and `nan`.
    special: Class,
    times: Class,
    /// The first time in each form.
    forms: Vec<(TimeForm, Example)>,
    /// A bit for each month of the times without a year. Bit 0 stands for times with a year.
    months: u16,
    /// Sizes with a unit; a field that fits a time counts as a time instead.
    sizes: Class,
    words: Class,
    /// JSON values by type: numbers, strings, others.
    json: [Class; 3],
    /// JSON strings of a number without a unit, which a column of sizes may contain.
    digits_in_strings: u64,
    /// The fields that do not fit these kinds.
    no_duration: Class,
    no_version: Class,
    /// The first duration in each form.
    shapes: Vec<(Shape, Example)>,
    two_points: bool,
    day_month: DayMonth,
    has_comma: bool,
    /// True if a field other than a plain number lacks a comma, or has other bytes than digits, signs, points
    /// and commas.
    has_no_comma: bool,
    /// For numbers with one point: true if at least one ends in 0, and a bit for each count of decimals.
    ends_in_zero: bool,
    decimals: u64,
    /// True if a number lacks a point, or has more than sign, digits and point.
    has_other_numbers: bool,
}

/// Scans the number of sign, digits and point at the beginning of a text, and returns the count of decimals and
/// the length.
#[inline]
fn plain_at(text: &[u8]) -> Option<(usize, usize)> {
    let begin = usize::from(matches!(text, [b'+' | b'-', ..]));
    let (whole, rest) = split_digits(&text[begin..]);
    let (decimals, point) =
        if let [b'.', after @ ..] = rest { (split_digits(after).0.len(), 1) } else { (0, 0) };
    (whole.len() + decimals > 0).then_some((decimals, begin + whole.len() + point + decimals))
}

/// Adds the first field of a form.
#[inline]
fn note_first<T: PartialEq>(firsts: &mut Vec<(T, Example)>, form: T, example: impl FnOnce() -> Example) {
    if firsts.iter().all(|(other, _)| *other != form) {
        firsts.push((form, example()));
    }
}

/// Returns true if a number is the day of a time: a month's name follows.
#[inline]
fn begins_time(field: &Field) -> bool {
    field.text.len() <= 2
        && field.rest.len() > field.text.len() + 3
        && field.rest[field.text.len() + 1].is_ascii_alphabetic()
        && time::time_at(field.rest).is_some()
}

impl Survey {
    /// Adds a field. With `spans`, fields are those of lines, and a time may take several.
    #[inline]
    pub fn push(&mut self, field: Field, at: u64, spelling: &Spelling, spans: bool) {
        self.all += 1;
        if let Some(json) = field.json {
            let [numbers, strings, others] = &mut self.json;
            match json {
                Json::Number => return numbers.push(&field, at),
                Json::String => strings.push(&field, at),
                _ => {
                    others.push(&field, at);
                    self.day_month = DayMonth::NONE;
                    return self.words.push(&field, at);
                }
            }
        } else if spelling.marks.is_none()
            && let Some((decimals, length)) = plain_at(field.text)
            && length == field.text.len()
            && !(spans && begins_time(&field))
        {
            return self.push_plain(&field, at, decimals);
        }
        self.push_other(&field, at, spelling, spans);
    }

    /// Adds a line of only sign, digits and point as a field, and returns the length of the line with its
    /// line feed; `None` for other lines.
    #[inline]
    pub fn push_line(&mut self, text: &[u8], at: u64) -> Option<usize> {
        let (decimals, length) = plain_at(text)?;
        if text.get(length) != Some(&b'\n') {
            return None;
        }
        let text = &text[..length];
        let field = Field { text, rest: text, json: None };
        self.all += 1;
        self.push_plain(&field, at, decimals);
        Some(length + 1)
    }

    #[inline]
    fn push_plain(&mut self, field: &Field, at: u64, decimals: usize) {
        self.plain.push(field, at);
        if decimals > 0 {
            self.ends_in_zero |= field.text.ends_with(b"0");
            self.decimals |= 1 << decimals.min(63);
        } else {
            self.has_other_numbers = true;
        }
        let (sign, digits) = split_sign(field.text);
        // The plain number 0 is also a duration.
        if digits.iter().any(|&digit| digit != b'0') {
            self.no_duration.push(field, at);
        }
        if sign.is_some() {
            self.no_version.push(field, at);
        }
        self.day_month = DayMonth::NONE;
    }

    fn push_other(&mut self, field: &Field, at: u64, spelling: &Spelling, spans: bool) {
        let seen = if spans && begins_time(field) {
            None
        } else {
            number::look(field.text, spelling.marks.as_ref())
        };
        // A JSON string is never a number, but may be a size.
        let is_string = field.json.is_some();
        let number = seen.filter(|seen| !seen.has_unit);
        self.digits_in_strings += u64::from(is_string && number.is_some_and(|number| number.has_digit));
        match number.filter(|_| !is_string) {
            Some(Seen { has_digit: false, .. }) => self.special.push(field, at),
            Some(Seen { sign: None, .. }) => {
                self.has_other_numbers = true;
                self.plain.push(field, at);
            }
            Some(Seen { sign, .. }) if self.sign.is_none() || self.sign == sign => {
                self.sign = sign;
                self.signed.push(field, at);
            }
            Some(_) => self.other_signs.push(field, at),
            None => match spelling.time(if spans { field.rest } else { field.text }, spans) {
                Some(time) => self.push_time(&time, field, at),
                None if seen.is_some_and(|seen| seen.has_unit) => self.sizes.push(field, at),
                None => self.words.push(field, at),
            },
        }
        match duration::parse(field.text) {
            Some((duration, shape)) if shape != Shape::Seconds || duration == 0 => {
                note_first(&mut self.shapes, shape, || field.example(at));
            }
            _ => self.no_duration.push(field, at),
        }
        match version::points(field.text) {
            Some(points) => self.two_points |= points >= 2,
            None => self.no_version.push(field, at),
        }
        let takes_more = spans && field.text[0].is_ascii_digit();
        let day_month = if takes_more { DayMonth::at(field.rest) } else { DayMonth::of(field.text) };
        self.day_month = self.day_month.and(day_month);
        let has_comma = is_with_comma(field.text);
        self.has_comma |= has_comma;
        self.has_no_comma |= !has_comma;
    }

    fn push_time(&mut self, time: &Time, field: &Field, at: u64) {
        self.times.push(field, at);
        note_first(&mut self.forms, time.form, || field.example(at));
        self.months |= 1 << time.month;
    }

    /// Returns true if values of JSON are neither numbers nor strings.
    pub fn has_other_json(&self) -> bool {
        self.json[2].count > 0
    }

    /// Adds the fields that follow these.
    pub fn merge(&mut self, mut later: Self) {
        if self.sign.is_some() && later.sign.is_some() && self.sign != later.sign {
            later.other_signs = joined(&[&std::mem::take(&mut later.signed), &later.other_signs]);
        }
        self.sign = self.sign.or(later.sign);
        self.all += later.all;
        let classes = [
            (&mut self.plain, later.plain),
            (&mut self.signed, later.signed),
            (&mut self.other_signs, later.other_signs),
            (&mut self.special, later.special),
            (&mut self.times, later.times),
            (&mut self.sizes, later.sizes),
            (&mut self.words, later.words),
            (&mut self.no_duration, later.no_duration),
            (&mut self.no_version, later.no_version),
        ];
        let classes = classes.into_iter().chain(self.json.iter_mut().zip(later.json));
        classes.for_each(|(class, later)| class.merge(later));
        later.forms.into_iter().for_each(|(form, first)| note_first(&mut self.forms, form, || first));
        later.shapes.into_iter().for_each(|(shape, first)| note_first(&mut self.shapes, shape, || first));
        self.months |= later.months;
        self.two_points |= later.two_points;
        self.day_month = self.day_month.and(later.day_month);
        self.digits_in_strings += later.digits_in_strings;
        self.has_comma |= later.has_comma;
        self.has_no_comma |= later.has_no_comma;
        self.has_other_numbers |= later.has_other_numbers;
        self.ends_in_zero |= later.ends_in_zero;
        self.decimals |= later.decimals;
    }

    /// Returns the sign of the first number.
    pub fn first_sign(&self) -> Option<Sign> {
        self.sign.filter(|_| self.signed.at() < self.plain.at())
    }

    /// Returns the form of the first time.
    pub fn form(&self) -> Option<TimeForm> {
        self.forms.first().map(|(form, _)| *form)
    }

    /// Returns true unless times differ in form.
    pub fn has_one_form(&self) -> bool {
        self.forms.len() < 2
    }

    /// Returns true if a field is a duration with a unit.
    fn has_durations(&self) -> bool {
        self.shapes.iter().any(|(shape, _)| *shape != Shape::Seconds)
    }

    /// Returns true if a field has a unit of sizes.
    pub fn has_units(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// Decides the kind of the column.
    pub fn decide(&self) -> Decision {
        let all = self.all;
        let kind = |found| Decision::Kind(found, None);
        if all == 0 {
            return kind(Found::Text);
        }
        let [numbers, strings, _] = &self.json;
        if numbers.count == all {
            return kind(Found::Number(None));
        }
        if !numbers.is_empty() {
            return mixed(Found::Number(None), numbers, &[&self.json[1], &self.json[2]]);
        }
        if !strings.is_empty() && strings.count < all {
            return kind(Found::Text);
        }
        if self.plain.count + self.special.count == all {
            let note = self.looks_like_versions().then_some(Note::Versions);
            return Decision::Kind(Found::Number(None), note);
        }
        if self.signed.count == all {
            return kind(Found::Number(self.sign));
        }
        if self.times.count == all {
            return self.of_times();
        }
        if !self.sizes.is_empty() && self.plain.count + self.digits_in_strings + self.sizes.count == all {
            return kind(Found::Size);
        }
        if self.no_duration.is_empty() && self.has_durations() {
            return self.of_durations();
        }
        if self.no_version.is_empty() && self.two_points && self.day_month.is_empty() {
            return kind(Found::Version);
        }
        self.of_words()
    }

    fn of_times(&self) -> Decision {
        if let [(one, first), (other, misfit), ..] = &self.forms[..] {
            let what = if one.year == other.year { Apart::Zones } else { Apart::Years };
            return Decision::Apart { what, first: first.clone(), misfit: misfit.clone() };
        }
        let year_ends = 1 << 1 | 1 << 12;
        let note = (self.months & year_ends == year_ends).then_some(Note::YearEnds);
        Decision::Kind(self.form().map_or(Found::Text, Found::Time), note)
    }

    fn of_durations(&self) -> Decision {
        let is_clock = |shape| matches!(shape, Shape::MinutesSeconds | Shape::HoursMinutesSeconds);
        let clocks: Vec<_> = self.shapes.iter().filter(|(shape, _)| is_clock(*shape)).collect();
        let has_days = self.shapes.iter().any(|(shape, _)| *shape == Shape::Days);
        if let ([(_, first), (_, misfit)], false) = (&clocks[..], has_days) {
            return Decision::Apart { what: Apart::Clocks, first: first.clone(), misfit: misfit.clone() };
        }
        Decision::Kind(Found::Duration, None)
    }

    /// Decides between text, and numbers or times beside words.
    fn of_words(&self) -> Decision {
        let Self { plain, signed, sign, other_signs, special, sizes, words, .. } = self;
        let [_, strings, _] = &self.json;
        let (numbers, words, sign) = if !strings.is_empty() {
            (joined(&[]), joined(&[words, sizes]), None)
        } else if plain.is_empty() && other_signs.is_empty() && !signed.is_empty() {
            (signed.clone(), joined(&[words, special, sizes]), *sign)
        } else if plain.is_empty() && sizes.is_empty() {
            (joined(&[]), joined(&[words, special, signed, other_signs]), None)
        } else {
            (joined(&[plain, sizes, special]), joined(&[words, signed, other_signs]), None)
        };
        if numbers.is_empty() && self.times.is_empty() {
            return Decision::Kind(Found::Text, self.note_on_text());
        }
        let of_times = self.form().map_or(Found::Text, Found::Time);
        if numbers.is_empty() {
            return mixed(of_times, &self.times, &[&words]);
        }
        match mixed(Found::Number(sign), &numbers, &[&words, &self.times]) {
            // A time and a word before the first number.
            Decision::Mixed { kind, first, misfit, .. } if numbers.at() > misfit.at => {
                let is_word = self.times.at() == first.at;
                Decision::Mixed { kind, between: of_times, first, misfit, is_word }
            }
            decision => decision,
        }
    }

    fn note_on_text(&self) -> Option<Note> {
        let all = self.all;
        if !self.day_month.is_empty() {
            return Some(Note::DayMonth(self.day_month));
        }
        if self.has_comma && !self.has_no_comma {
            return Some(Note::Commas);
        }
        let most = |count| count > all / 2 && all > 2;
        let others = joined(&[&self.words, &self.special, &self.other_signs]);
        let kinds = [
            (Found::Duration, self.has_durations() && most(all - self.no_duration.count), &self.no_duration),
            (Found::Version, self.two_points && most(all - self.no_version.count), &self.no_version),
            (Found::Number(self.sign), most(self.signed.count), &others),
            (Found::Size, most(self.sizes.count), &others),
        ];
        let (kind, _, others) = kinds.into_iter().find(|(_, is_most, _)| *is_most)?;
        Some(Note::Most(kind, others.first.clone()?))
    }

    /// Numbers with one point may be versions if one ends in 0 and they differ in length.
    fn looks_like_versions(&self) -> bool {
        !self.has_other_numbers && self.ends_in_zero && self.decimals.count_ones() > 1
    }
}

/// Fields of several classes in one column: the first field, and the first that does not fit it.
fn mixed(kind: Found, fitting: &Class, others: &[&Class]) -> Decision {
    let mut firsts: Vec<&Example> = others.iter().filter_map(|class| class.first.as_ref()).collect();
    firsts.extend(&fitting.first);
    firsts.sort_unstable_by_key(|example| example.at);
    let [first, misfit, ..] = &firsts[..] else { return Decision::Kind(kind, None) };
    let is_word = first.at == fitting.at();
    Decision::Mixed { kind, between: kind, first: (*first).clone(), misfit: (*misfit).clone(), is_word }
}

/// Returns true for a field of digits, signs, points and at least one comma.
fn is_with_comma(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b',');
    text.iter().all(is_part) && text.contains(&b',')
}
