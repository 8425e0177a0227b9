//! Times in the forms that `--time-format` names.
//!
//! ```text
//! clf       [21/Nov/2026:10:00:01 +0100]      access logs; brackets and zone are optional
//! syslog    Nov 21 10:00:01                   %b %e %H:%M:%S%.f
//! rfc2822   Sat, 21 Nov 2026 10:00:01 +0100   mail; day of the week and seconds are optional
//! epoch     1795251601.5                      seconds since the beginning of 1970
//! epoch-ms  1795251601500                     milliseconds
//! %d.%m.%Y %H:%M                              the directives of strftime
//! ```
//!
//! Defaults stand for missing parts:
//!
//! - the date is 1970-01-01;
//! - the year of a date is 1972, a leap year, so that February 29th exists;
//! - the month and the day are the first;
//! - the hour, the minute and the second are 0;
//! - the zone is UTC.
//!
//! A day of the week must fit a full date, and is ignored beside an incomplete date. `%y` is 1969 to 2068. Years,
//! decimals and the second 60 follow the rules of [`crate::time`].
//!
//! jiff reads the directives. Numbers may lack leading zeros unless a digit follows. Names are English, in any
//! case. A blank in the pattern stands for any number of blanks. Refused are directives that depend on the language
//! (`%c %r %x %X`), names of zones (`%Z %Q`), centuries (`%C`) and weeks other than ISO 8601 (`%U %W`).

use std::str::FromStr;

use jiff::civil::{DateTime, Weekday};
use jiff::fmt::rfc2822;
use jiff::fmt::strtime::BrokenDownTime;

use crate::digits::{Decimal, split_sign};
use crate::duration::signed;
use crate::time::{LEAP_YEAR, SECOND, Time, TimeForm, time_at};

/// A form of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeFormat(Form);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Clf,
    Rfc2822,
    /// A decimal, and the nanoseconds of its unit.
    Epoch(u128),
    Pattern(Pattern),
}

/// A pattern of strftime.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// The directives, with `%T` and other abbreviations written out.
    text: String,
    /// The offset of `%S` in the text.
    second: Option<usize>,
}

impl FromStr for TimeFormat {
    /// A message about an invalid pattern.
    type Err = String;

    fn from_str(format: &str) -> Result<Self, String> {
        Ok(Self(match format {
            "clf" => Form::Clf,
            "syslog" => Form::Pattern(Pattern::new("%b %e %H:%M:%S%.f")?),
            "rfc2822" => Form::Rfc2822,
            "epoch" => Form::Epoch(SECOND.unsigned_abs()),
            "epoch-ms" => Form::Epoch(SECOND.unsigned_abs() / 1000),
            _ => Form::Pattern(Pattern::new(format)?),
        }))
    }
}

impl TimeFormat {
    /// The time that fills the whole field.
    pub fn time(&self, field: &[u8]) -> Option<Time> {
        if self.0 == Form::Rfc2822 {
            return rfc2822(field);
        }
        self.time_at(field).and_then(|(time, length)| (length == field.len()).then_some(time))
    }

    /// The time at the beginning of a text, and its length. A blank, a tab or the end of the text follows the time.
    pub fn time_at(&self, text: &[u8]) -> Option<(Time, usize)> {
        let (time, length) = match &self.0 {
            Form::Clf => time_at(text).filter(|_| matches!(text, [b'[', ..] | [_, _, b'/', ..]))?,
            Form::Rfc2822 => rfc2822_at(text)?,
            Form::Epoch(unit) => epoch(text, *unit)?,
            Form::Pattern(pattern) => pattern.prefix(text)?,
        };
        // A blank at the end of a pattern may have taken the blank behind the time.
        let (read, rest) = text.split_at(length);
        let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        let ends = rest.is_empty() || blank(rest.first()) || blank(read.last());
        ends.then(|| (time, read.trim_ascii_end().len()))
    }
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, String> {
        let mut expanded = String::new();
        let mut second = None;
        let mut given = Vec::new();
        let mut rest = pattern;
        while let Some((literal, after)) = rest.split_once('%') {
            expanded += literal;
            let (length, letter) = directive(after)?;
            let mut written = |text: &str, letters: &str| {
                if let Some(at) = text.find('S') {
                    second = Some(expanded.len() + at - 1);
                }
                expanded.push_str(text);
                given.extend(letters.bytes());
            };
            match letter {
                'D' => written("%m/%d/%y", "mdy"),
                'F' => written("%Y-%m-%d", "Ymd"),
                'R' => written("%H:%M", "HM"),
                'T' => written("%H:%M:%S", "HMS"),
                'S' => written("%S", "S"),
                '%' | 'n' | 't' => written(&format!("%{}", &after[..length]), ""),
                _ => written(&format!("%{}", &after[..length]), &after[length - 1..length]),
            }
            rest = &after[length..];
        }
        expanded += rest;
        let given = |letters: &str| given.iter().any(|letter| letters.as_bytes().contains(letter));
        if !given("YymbBhdejGgVHIklMSfNs") {
            let known = "clf, syslog, rfc2822, epoch, epoch-ms, or a pattern such as '%d.%m.%Y %H:%M'";
            return Err(format!("'{pattern}' has no part of a date or time; use {known}"));
        }
        if given("s") && given("YymbBhdejGgVaAuwHIklMSfNpP") {
            return Err("%s is a complete time; use it alone, or use 'epoch' for decimals".to_owned());
        }
        if given("V") != given("Gg") {
            return Err("%V (the week) and %G (its year) need each other".to_owned());
        }
        if given("aAuw") && !given("YymbBhdejV") {
            return Err("a weekday alone is not a date; add a date or a week (%G and %V)".to_owned());
        }
        Ok(Self { text: expanded, second })
    }

    /// The time at the beginning of a text, and its length.
    fn prefix(&self, text: &[u8]) -> Option<(Time, usize)> {
        let (mut read, length) = BrokenDownTime::parse_prefix(&self.text, text).ok()?;
        if let Some(at) = read.timestamp() {
            let time =
                Time { nanoseconds: at.as_nanosecond(), form: TimeForm { zone: true, year: true }, month: 0 };
            return Some((time, length));
        }
        let (year, offset) = (read.year().is_some() || read.iso_week().is_some(), read.offset());
        fill(&mut read).ok()?;
        let local = read.to_datetime().ok().filter(|local| local.year() >= 0)?;
        let mut nanoseconds = local.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_nanos();
        if local.second() == 59 && self.has_leap_second(text) {
            nanoseconds += SECOND;
        }
        nanoseconds -= offset.map_or(0, |offset| i128::from(offset.seconds()) * SECOND);
        let month = if year { 0 } else { local.month().unsigned_abs() };
        Some((Time { nanoseconds, form: TimeForm { zone: offset.is_some(), year }, month }, length))
    }

    /// True if the second is 60, where jiff reads 59.
    #[cold]
    fn has_leap_second(&self, text: &[u8]) -> bool {
        self.second
            .and_then(|second| BrokenDownTime::parse_prefix(&self.text[..second], text).ok())
            .and_then(|(_, length)| text.get(length..))
            .is_some_and(|second| second.trim_ascii_start().starts_with(b"60"))
    }
}

/// Fills in the missing parts.
fn fill(read: &mut BrokenDownTime) -> Result<(), jiff::Error> {
    let of_year = read.day_of_year().is_some();
    let (month, day) = (of_year || read.month().is_some(), of_year || read.day().is_some());
    if read.iso_week().is_some() {
        read.set_weekday(read.weekday().or(Some(Weekday::Monday)));
    } else if read.year().is_none() || !month || !day {
        read.set_weekday(None);
        let year = if month || day { LEAP_YEAR as i16 } else { 1970 };
        read.set_year(read.year().or(Some(year)))?;
        if !of_year {
            read.set_month(read.month().or(Some(1)))?;
            read.set_day(read.day().or(Some(1)))?;
        }
    }
    if read.hour().is_none() {
        read.set_hour(Some(0))?;
    }
    read.set_minute(read.minute().or(Some(0)))?;
    read.set_second(read.second().or(Some(0)))
}

/// The length and the last character of the directive behind a `%`.
fn directive(after: &str) -> Result<(usize, char), String> {
    let flags = after.len() - after.trim_start_matches(['_', '0', '^', '#', '-']).len();
    let unflagged = &after[flags..];
    let unpointed = unflagged.strip_prefix('.').unwrap_or(unflagged);
    let numbered = unpointed.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let width = unpointed.len() - numbered.len();
    let plain = numbered.trim_start_matches(':');
    let (is_pointed, colons) = (unpointed.len() < unflagged.len(), numbered.len() - plain.len());
    let Some(letter) = plain.chars().next() else {
        return Err(format!("'%{after}' at the end is incomplete (write '%%' for a percent sign)"));
    };
    let length = after.len() - plain.len() + letter.len_utf8();
    let whole = &after[..length];
    let because = match letter {
        'f' if is_pointed && flags == 0 && width <= 1 && colons == 0 => return Ok((length, letter)),
        'z' if !is_pointed && colons <= 3 && flags + width == 0 => return Ok((length, letter)),
        '%' | 'n' | 't' if length == 1 => return Ok((length, letter)),
        'A' | 'a' | 'B' | 'b' | 'D' | 'd' | 'e' | 'F' | 'f' | 'G' | 'g' | 'H' | 'h' | 'I' | 'j' | 'k'
        | 'l' | 'M' | 'm' | 'N' | 'P' | 'p' | 'R' | 'S' | 's' | 'T' | 'u' | 'V' | 'w' | 'Y' | 'y'
            if !is_pointed && flags <= 1 && width <= 2 && colons == 0 =>
        {
            return Ok((length, letter));
        }
        'c' | 'r' | 'x' | 'X' => "depends on the language; write out its parts, such as %d.%m.%Y",
        'Z' | 'Q' => {
            "is the name of a time zone, which is not supported; use %z for +0100, %:z for +01:00, or the name itself"
        }
        'U' | 'W' => "is not supported; use the weeks of ISO 8601, %G and %V",
        'C' => "is not supported; use %Y or %y",
        _ => "is not a known conversion",
    };
    Err(format!("'%{whole}' {because}"))
}

/// The time of mail that fills the whole field; comments in parentheses may follow.
fn rfc2822(field: &[u8]) -> Option<Time> {
    const ZONES: [&str; 11] = ["UT", "GMT", "Z", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"];
    static PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();
    let comments = field.iter().position(|&byte| byte == b'(').unwrap_or(field.len());
    let time = field[..comments].trim_ascii();
    // jiff reads other names of zones as UTC.
    let zone = time.rsplit(u8::is_ascii_whitespace).next()?;
    if !matches!(zone, [b'+' | b'-', ..])
        && !ZONES.iter().any(|name| zone.eq_ignore_ascii_case(name.as_bytes()))
    {
        return None;
    }
    let mut nanoseconds = PARSER.parse_timestamp(field).ok()?.as_nanosecond();
    // jiff reads the second 60 as 59.
    if time.windows(3).any(|second| second == b":60") {
        nanoseconds += SECOND;
    }
    Some(Time { nanoseconds, form: TimeForm { zone: true, year: true }, month: 0 })
}

/// The time of mail at the beginning of a text: five words, and six with the day of the week.
fn rfc2822_at(text: &[u8]) -> Option<(Time, usize)> {
    let blanks = memchr::memchr2_iter(b' ', b'\t', text);
    let ends = blanks.filter(|&at| !matches!(text.get(at + 1), Some(b' ' | b'\t'))).chain([text.len()]);
    let ends: Vec<usize> = ends.take(6).collect();
    ends.into_iter().rev().take(2).find_map(|end| Some((rfc2822(&text[..end])?, end)))
}

/// The count of units since the beginning of 1970.
fn epoch(text: &[u8], unit: u128) -> Option<(Time, usize)> {
    let (minus, unsigned) = split_sign(text);
    let (decimal, rest) = Decimal::split(unsigned)?;
    let nanoseconds = signed(decimal.times(unit)?, SECOND.unsigned_abs(), minus == Some(true))?;
    Some((Time { nanoseconds, form: TimeForm { zone: true, year: true }, month: 0 }, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::{Offset, TimeZone};
    use proptest::prelude::*;

    use super::*;
    use crate::time::time;

    fn format(format: &str) -> TimeFormat {
        format.parse().unwrap_or_else(|error| panic!("{format}: {error}"))
    }

    fn read(signs: &str, field: &str) -> Option<Time> {
        format(signs).time(field.as_bytes())
    }

    fn instant(nanoseconds: i128) -> Time {
        Time { nanoseconds, form: TimeForm { zone: true, year: true }, month: 0 }
    }

    #[test]
    fn fields_of_formats() {
        for (signs, field, expected) in [
            ("clf", "[21/Nov/2026:10:00:01 +0100]", "2026-11-21T10:00:01+01:00"),
            ("syslog", "Nov 21 10:00:01", "1972-11-21T10:00:01"),
            ("syslog", "Feb 29 10:00:01", "1972-02-29T10:00:01"),
            ("syslog", "Nov  1 10:00:01.25", "1972-11-01T10:00:01.25"),
            ("rfc2822", "Sat, 21 Nov 2026 10:00:01 +0100", "2026-11-21T10:00:01+01:00"),
            ("rfc2822", "21 Nov 2026 10:00 GMT", "2026-11-21T10:00Z"),
            ("rfc2822", "Sat, 1 Aug 2026 10:00:60 -0330 (a zone (of its own))", "2026-08-01T10:00:60-03:30"),
            ("rfc2822", "21 Nov 26 10:00:01 EST", "2026-11-21T10:00:01-05:00"),
            ("epoch", "0", "1970-01-01T00:00Z"),
            ("epoch", "1795251601", "2026-11-21T09:00:01Z"),
            ("epoch", "1795251601.123456789", "2026-11-21T09:00:01.123456789Z"),
            ("epoch", "-0.5", "1969-12-31T23:59:59.5Z"),
            ("epoch", "1.5e3", "1970-01-01T00:25Z"),
            ("epoch-ms", "1795251601500", "2026-11-21T09:00:01.5Z"),
            ("epoch-ms", "-1.000001", "1969-12-31T23:59:59.998999999Z"),
            ("%s", "1795251601", "2026-11-21T09:00:01Z"),
            ("[%s]", "[-1]", "1969-12-31T23:59:59Z"),
            ("100%% %s", "100% 60", "1970-01-01T00:01Z"),
            // git's raw form.
            ("%s %z", "1795251601 +0100", "2026-11-21T09:00:01Z"),
            ("%d.%m.%Y %H:%M", "21.11.2026 10:00", "2026-11-21T10:00"),
            ("%d.%m.%Y %H:%M", "1.2.2026 9:05", "2026-02-01T09:05"),
            ("%d.%m.%y", "21.11.26", "2026-11-21"),
            ("%y", "69", "1969-01-01"),
            ("%m/%d/%Y %I:%M:%S %p", "11/21/2026 12:00:01 AM", "2026-11-21T00:00:01"),
            ("%m/%d/%Y %I:%M %p", "11/21/2026 1:30 pm", "2026-11-21T13:30"),
            ("%D %T", "11/21/26 10:00:01", "2026-11-21T10:00:01"),
            ("%F %R", "2026-11-21 10:00", "2026-11-21T10:00"),
            ("%Y%m%d%H%M%S", "20261121100001", "2026-11-21T10:00:01"),
            ("%a %b %e %H:%M:%S UTC %Y", "Sat Nov 21 10:00:01 UTC 2026", "2026-11-21T10:00:01"),
            ("%a %b %e %H:%M:%S", "Mon Nov 21 10:00:01", "1972-11-21T10:00:01"),
            ("%A, %B %-d, %Y", "saturday, NOVEMBER 21, 2026", "2026-11-21"),
            ("%d-%b-%Y", "21-Nov-2026", "2026-11-21"),
            ("%Y", "2026", "2026-01-01"),
            ("%Y-%m", "2026-11", "2026-11-01"),
            ("%b %Y", "Nov 2026", "2026-11-01"),
            ("%Y-%j", "2024-366", "2024-12-31"),
            ("%j", "60", "1972-02-29"),
            ("%G-W%V-%u", "2026-W01-1", "2025-12-29"),
            ("%G-W%V", "2026-W47", "2026-11-16"),
            ("%H:%M", "10:30", "1970-01-01T10:30"),
            ("%I %p", "12 PM", "1970-01-01T12:00"),
            ("%M:%S", "59:59.", "none"),
            ("%M:%S", "59:59", "1970-01-01T00:59:59"),
            ("%a %d", "Tue 10", "1972-01-10"),
            ("%T.%f", "10:00:01.000000001", "1970-01-01T10:00:01.000000001"),
            ("%T,%3f", "10:00:01,250", "1970-01-01T10:00:01.25"),
            ("%T%.f", "10:00:01", "1970-01-01T10:00:01"),
            ("%T%.3f", "10:00:01.250", "1970-01-01T10:00:01.25"),
            ("%T.%N", "10:00:01.5", "1970-01-01T10:00:01.5"),
            ("%T.%f", "10:00:01.1234567890", "none"),
            ("%F %T %z", "2026-11-21 10:00:01 -0330", "2026-11-21T10:00:01-03:30"),
            ("%F %T %:z", "2026-11-21 10:00:01 +05:30", "2026-11-21T10:00:01+05:30"),
            ("%F %T%z", "2026-11-21 10:00:01+05:30", "none"),
            ("%FT%TZ", "2026-11-21T10:00:01Z", "2026-11-21T10:00:01"),
            ("100%% %d%%", "100% 21%", "1972-01-21"),
            ("é%d", "é21", "1972-01-21"),
            // The second 60.
            ("%T", "10:59:60", "1970-01-01T11:00"),
            ("%T", "10:59:59", "1970-01-01T10:59:59"),
            ("%Y%m%d%H%M%S%z", "20161231235960+0000", "2017-01-01T00:00Z"),
            ("%d%m%Y%H%M%S", "16032026101059", "2026-03-16T10:10:59"),
            ("60 %S %Y", "60 59 1960", "1960-01-01T00:00:59"),
            ("60 %S %Y", "60 60 1960", "1960-01-01T00:01"),
            // Impossible dates and other forms.
            ("%d.%m.%Y", "31.11.2026", "none"),
            ("%d.%m.%Y", "29.02.2025", "none"),
            ("%d.%m.%Y", "21.13.2026", "none"),
            ("%d.%m.%Y", "21.11.2026 ", "none"),
            ("%d.%m.%Y", "21.11.-5", "none"),
            ("%d.%m.%Y", "", "none"),
            ("%d.%m.%Y %H:%M", "21.11.2026 24:00", "none"),
            ("%a %F", "Sun 2026-11-21", "none"),
            ("%b %d", "Foo 21", "none"),
            ("%T", "10:00:61", "none"),
            ("rfc2822", "Sat, 21 Nov 2026 10:00:01 CET", "none"),
            ("rfc2822", "Sun, 21 Nov 2026 10:00:01 +0100", "none"),
            ("rfc2822", "Sat, 21 Nov 2026 10:00:01", "none"),
            ("rfc2822", "", "none"),
            ("syslog", "2026-11-21", "none"),
            ("clf", "2026-11-21", "none"),
            ("epoch", "", "none"),
            ("epoch", "1 ", "none"),
            ("epoch", "inf", "none"),
            ("epoch", "1.0000000001", "none"),
            ("epoch", "4611686018427387905", "none"),
            ("epoch-ms", "0.0000001", "none"),
        ] {
            let expected = time(expected.as_bytes()).map(|time| time.nanoseconds);
            assert_eq!(read(signs, field).map(|time| time.nanoseconds), expected, "{signs}: {field}");
        }
    }

    #[test]
    fn signs_that_are_refused() {
        for (signs, named) in [
            ("", "''"),
            ("iso", "'iso'"),
            ("%%", "'%%'"),
            ("%z", "'%z'"),
            ("%", "'%'"),
            ("%Y%", "'%'"),
            ("%Y%-", "'%-'"),
            ("%Y %Z", "'%Z'"),
            ("%Q", "'%Q'"),
            ("%c", "'%c'"),
            ("%x %X", "'%x'"),
            ("%d %r", "'%r'"),
            ("%U", "'%U'"),
            ("%C%y", "'%C'"),
            ("%Y-%m-%E", "'%E'"),
            ("%Ey", "'%E'"),
            ("%é", "'%é'"),
            ("%d%5_m", "'%5_'"),
            ("%999d", "'%999d'"),
            ("%:d", "'%:d'"),
            ("%.d", "'%.d'"),
            ("%.", "'%.'"),
            ("%::::z", "'%::::z'"),
            ("%s.%f", "%s"),
            ("%Y %s", "%s"),
            ("%a", "'%a'"),
            ("%p", "'%p'"),
            ("%a %H", "weekday"),
            ("%V", "%V"),
            ("%Y-W%V", "%V"),
            ("%G", "%G"),
        ] {
            let error = signs.parse::<TimeFormat>().expect_err(signs);
            assert!(error.contains(named), "{signs}: {error}");
        }
    }

    #[test]
    fn zones_and_years() {
        for (signs, field, zone, year, month) in [
            ("%d.%m.%Y", "21.11.2026", false, true, 0),
            ("%d %b %z", "21 Nov +0100", true, false, 11),
            ("syslog", "Jan  1 10:00:01", false, false, 1),
            ("%H:%M", "10:00", false, false, 1),
            ("%G-W%V", "2026-W47", false, true, 0),
            ("%s", "0", true, true, 0),
            ("epoch", "0", true, true, 0),
            ("rfc2822", "21 Nov 2026 10:00 GMT", true, true, 0),
        ] {
            let time = read(signs, field).unwrap_or_else(|| panic!("{signs}: {field}"));
            assert_eq!((time.form.zone, time.form.year, time.month), (zone, year, month), "{signs}: {field}");
        }
    }

    #[test]
    fn times_at_the_beginning_of_lines() {
        for (signs, text, length) in [
            ("%d.%m.%Y %H:%M", "21.11.2026 10:00 x", Some(16)),
            ("%d.%m.%Y %H:%M", "21.11.2026   10:00\tx", Some(18)),
            ("%d.%m.%Y", "21.11.2026 10:00", Some(10)),
            ("%d.%m.%Y", "21.11.20265 x", None),
            ("%d.%m.%Y", "21.11.2026x", None),
            ("%d.%m.%Y ", "21.11.2026  x", Some(10)),
            ("%T%.f", "10:00:01.25 x", Some(11)),
            ("clf", "[21/Nov/2026:10:00:01 +0100] \"GET", Some(28)),
            ("syslog", "Nov  1 10:00:01 host", Some(15)),
            ("epoch", "1795251601.5 x", Some(12)),
            ("epoch", "1795251601.5x", None),
            ("rfc2822", "Sat, 21 Nov 2026 10:00:01 +0100 x", Some(31)),
            ("rfc2822", "21 Nov 2026 10:00:01 EST x y z", Some(24)),
            ("rfc2822", "21 Nov 2026 10:00:01 x y z", None),
            ("rfc2822", "21 Nov 2026", None),
        ] {
            let read = format(signs).time_at(text.as_bytes());
            assert_eq!(read.map(|(_, length)| length), length, "{signs}: {text}");
            if let Some((time, length)) = read {
                assert_eq!(Some(time), self::read(signs, &text[..length]), "{signs}: {text}");
            }
        }
    }

    #[test]
    fn formats_are_values() {
        assert_eq!(format("%F %T"), format("%Y-%m-%d %H:%M:%S"));
        assert_ne!(format("epoch"), format("epoch-ms"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn what_is_written_is_read(
            seconds in -62_135_596_800_i64..253_370_764_800,
            nanos in 0..1_000_000_000_i32,
            zone in -1439..1440_i32,
        ) {
            let at = Timestamp::new(seconds, 0).unwrap();
            let fine = at.as_nanosecond() + i128::from(nanos);
            let zoned = at.to_zoned(TimeZone::fixed(Offset::from_seconds(60 * zone).unwrap()));
            prop_assume!((0..=9999).contains(&zoned.year()));
            let zoned = zoned.with().subsec_nanosecond(nanos).build().unwrap();
            for signs in [
                "%A %d %B %Y %H:%M:%S.%f %z",
                "%a %b %e %H:%M:%S%.f %Y %:z",
                "%j %Y %I:%M:%S %p .%N %z",
                "%G-%V-%u %k:%M:%S.%9f %::z",
                "%F %T%.f%z",
                "%Y%m%d%H%M%S%f%z",
            ] {
                let text = zoned.strftime(signs).to_string();
                prop_assert_eq!(read(signs, &text), Some(instant(fine)), "{}: {}", signs, text);
            }
            let text = zoned.strftime("%a, %d %b %Y %T %z").to_string();
            prop_assert_eq!(read("rfc2822", &text), Some(instant(at.as_nanosecond())), "{}", text);
            let (sign, size) = (if fine < 0 { "-" } else { "" }, fine.abs());
            let text = format!("{sign}{}.{:09}", size / SECOND, size % SECOND);
            prop_assert_eq!(read("epoch", &text), Some(instant(fine)), "{}", text);
            prop_assert_eq!(read("epoch-ms", &format!("{text}e3")), Some(instant(fine)), "{}", text);
        }

        #[test]
        fn nothing_panics(
            signs in "[%a-zA-Z0-9_.:é -]{0,8}",
            field in "[0-9A-Za-z:., +%-]{0,20}",
            bytes: Vec<u8>,
        ) {
            for known in ["clf", "syslog", "rfc2822", "epoch", "epoch-ms", "%a %d.%m.%Y %T%.f %z", &signs] {
                if let Ok(format) = known.parse::<TimeFormat>() {
                    for text in [field.as_bytes(), &bytes] {
                        let longest = format.time_at(text);
                        prop_assert!(longest.is_none_or(|(_, length)| length <= text.len()));
                        format.time(text);
                    }
                }
            }
        }
    }
}
