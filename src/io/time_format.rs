//! Times in other forms than ISO's, as `--time-format` names them.
//!
//! ```text
//! clf       [21/Nov/2026:10:00:01 +0100]      access logs; brackets and the zone may be missing
//! syslog    Nov 21 10:00:01                   %b %e %H:%M:%S%.f
//! rfc2822   Sat, 21 Nov 2026 10:00:01 +0100   mail; the weekday and the seconds may be missing
//! epoch     1795251601.5                      seconds from the beginning of 1970
//! epoch-ms  1795251601500                     milliseconds
//! %d.%m.%Y %H:%M                              strftime's signs
//! ```
//!
//! What a format does not have is filled in:
//!
//! - no date: 1970-01-01;
//! - no year: 1972, a leap year, so that February 29th exists. The order is right within a year,
//!   and wrong from December to January;
//! - no month or day: the first;
//! - no time of day, or only its larger parts: midnight, and 0 for the rest;
//! - no zone: UTC.
//!
//! A weekday has to fit a full date; beside a part of one it counts for nothing. `%y` is 1969 to
//! 2068. As in ISO's form, years are 0000 to 9999, there are nine decimals at most, and the second
//! 60 is the first one of the next minute.
//!
//! jiff reads the signs. Numbers may lack leading zeros where no digit follows them, names are
//! English, in any case, and a blank in the format is any number of blanks. Refused are signs whose
//! meaning depends on the language (`%c %r %x %X`), zones by name (`%Z %Q`), centuries (`%C`), and
//! weeks other than ISO's (`%U %W`).

use std::str::FromStr;

use jiff::civil::Weekday;
use jiff::fmt::rfc2822;
use jiff::fmt::strtime::BrokenDownTime;

use super::duration::signed;
use super::number::{Decimal, leading};
use super::time::{DAY, SECOND, Time, clf, days};

/// How times are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeFormat(Form);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Clf,
    Rfc2822,
    /// Decimals, in units of this many nanoseconds.
    Epoch(u128),
    Signs(Signs),
}

/// A format of strftime.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Signs {
    /// With `%T`, and others that stand for several signs, written out.
    format: String,
    /// The offset of `%S`.
    second: Option<usize>,
    date: Date,
}

/// What there is of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Date {
    None,
    /// A year or none, and what is said of the day in it.
    Parts {
        year: bool,
        month: bool,
        day: bool,
    },
    /// A week of ISO's, with or without a day of the week.
    Week {
        weekday: bool,
    },
}

impl FromStr for TimeFormat {
    /// What is wrong with the format.
    type Err = String;

    fn from_str(format: &str) -> Result<Self, String> {
        Ok(Self(match format {
            "clf" => Form::Clf,
            "syslog" => Form::Signs(Signs::new("%b %e %H:%M:%S%.f")?),
            "rfc2822" => Form::Rfc2822,
            "epoch" => Form::Epoch(SECOND.unsigned_abs()),
            "epoch-ms" => Form::Epoch(SECOND.unsigned_abs() / 1000),
            _ => Form::Signs(Signs::new(format)?),
        }))
    }
}

impl TimeFormat {
    /// The time that this field spells; `None` if it is none in this form.
    pub(super) fn time(&self, field: &[u8]) -> Option<Time> {
        match &self.0 {
            Form::Clf => clf(field),
            Form::Rfc2822 => rfc2822(field),
            Form::Epoch(unit) => epoch(field, *unit),
            Form::Signs(signs) => signs.time(field),
        }
    }
}

impl Signs {
    fn new(format: &str) -> Result<Self, String> {
        let mut expanded = String::new();
        let mut second = None;
        let mut given = Vec::new();
        let mut rest = format;
        while let Some((literal, after)) = rest.split_once('%') {
            expanded += literal;
            let (length, sign) = sign(after)?;
            let mut written = |text: &str, signs: &str| {
                if let Some(at) = text.find('S') {
                    second = Some(expanded.len() + at - 1);
                }
                expanded.push_str(text);
                given.extend(signs.bytes());
            };
            match sign {
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
        let given = |signs: &str| given.iter().any(|sign| signs.as_bytes().contains(sign));
        if !given("YymbBhdejGgVHIklMSfNs") {
            let known = "clf, syslog, rfc2822, epoch, epoch-ms, or a pattern such as '%d.%m.%Y %H:%M'";
            return Err(format!("'{format}' has no part of a date or time; use {known}"));
        }
        if given("s") && given("YymbBhdejGgVaAuwHIklMSfNpP") {
            return Err("%s is a complete time; use it alone, or use 'epoch' for decimals".to_owned());
        }
        if given("V") != given("Gg") {
            return Err("%V (the week) and %G (its year) need each other".to_owned());
        }
        let date = if given("V") {
            Date::Week { weekday: given("aAuw") }
        } else if given("YymbBhdej") {
            Date::Parts { year: given("Yy"), month: given("mbBhj"), day: given("dej") }
        } else if given("aAuw") {
            return Err("a weekday alone is not a date; add a date or a week (%G and %V)".to_owned());
        } else {
            Date::None
        };
        Ok(Self { format: expanded, second, date })
    }

    fn time(&self, field: &[u8]) -> Option<Time> {
        let mut read = BrokenDownTime::parse(&self.format, field).ok()?;
        if let Some(at) = read.timestamp() {
            return Some(Time::at(at.as_nanosecond(), true));
        }
        self.fill(&mut read).ok()?;
        let (date, time) = (read.to_date().ok()?, read.to_time().ok()?);
        let (year, month, day) = (date.year(), date.month(), date.day());
        let days = days(u32::try_from(year).ok()?, month.unsigned_abs().into(), day.unsigned_abs().into())?;
        let minutes = 60 * i128::from(time.hour()) + i128::from(time.minute());
        let mut seconds = 60 * minutes + i128::from(time.second());
        if time.second() == 59 && self.has_leap_second(field) {
            seconds += 1;
        }
        let offset = read.offset();
        seconds -= offset.map_or(0, |offset| i128::from(offset.seconds()));
        let nanoseconds = i128::from(days) * DAY + seconds * SECOND + i128::from(time.subsec_nanosecond());
        Some(Time::at(nanoseconds, offset.is_some()))
    }

    /// Fills in what the format lacks.
    fn fill(&self, read: &mut BrokenDownTime) -> Result<(), jiff::Error> {
        match self.date {
            Date::Parts { year: true, month: true, day: true } | Date::Week { weekday: true } => {}
            Date::Week { weekday: false } => read.set_weekday(Some(Weekday::Monday)),
            Date::None => {
                read.set_year(Some(1970))?;
                read.set_month(Some(1))?;
                read.set_day(Some(1))?;
            }
            Date::Parts { year, month, day } => {
                read.set_weekday(None);
                if !year {
                    read.set_year(Some(1972))?;
                }
                if !month {
                    read.set_month(Some(1))?;
                }
                if !day {
                    read.set_day(Some(1))?;
                }
            }
        }
        if read.hour().is_none() {
            read.set_hour(Some(0))?;
        }
        if read.minute().is_none() {
            read.set_minute(Some(0))?;
        }
        if read.second().is_none() {
            read.set_second(Some(0))?;
        }
        Ok(())
    }

    /// Whether it is 60 that this field, which is read as second 59, has there.
    #[cold]
    fn has_leap_second(&self, field: &[u8]) -> bool {
        self.second
            .and_then(|second| BrokenDownTime::parse_prefix(&self.format[..second], field).ok())
            .and_then(|(_, length)| field.get(length..))
            .is_some_and(|second| second.trim_ascii_start().starts_with(b"60"))
    }
}

/// The length of the sign after a `%`, and the character that it ends with.
fn sign(after: &str) -> Result<(usize, char), String> {
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

/// The time that this field spells as mail does.
fn rfc2822(field: &[u8]) -> Option<Time> {
    const ZONES: [&str; 11] = ["UT", "GMT", "Z", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"];
    static PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();
    // Comments come last.
    let end = field.iter().position(|&byte| byte == b'(').unwrap_or(field.len());
    let time = field[..end].trim_ascii();
    // Other zones by name would be read as UTC.
    let zone = time.rsplit(u8::is_ascii_whitespace).next()?;
    if !matches!(zone, [b'+' | b'-', ..])
        && !ZONES.iter().any(|name| zone.eq_ignore_ascii_case(name.as_bytes()))
    {
        return None;
    }
    let mut nanoseconds = PARSER.parse_timestamp(field).ok()?.as_nanosecond();
    // Which is read as 59.
    if time.windows(3).any(|second| second == b":60") {
        nanoseconds += SECOND;
    }
    Some(Time::at(nanoseconds, true))
}

/// The time that is this many units from the beginning of 1970.
fn epoch(field: &[u8], unit: u128) -> Option<Time> {
    let number = leading(field).filter(|number| !number.is_empty() && number.len() == field.len())?;
    let decimal = Decimal::of(number);
    Some(Time::at(signed(decimal.times(unit)?, decimal.is_negative)?, true))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::{Offset, TimeZone};
    use proptest::prelude::*;

    use super::*;
    use crate::io::time::time;

    fn format(format: &str) -> TimeFormat {
        format.parse().unwrap_or_else(|error| panic!("{format}: {error}"))
    }

    fn read(signs: &str, field: &str) -> Option<Time> {
        format(signs).time(field.as_bytes())
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
            ("%F %T%::::z", "", "refused"),
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
            // No such day, or none in this form.
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
            ("epoch", "1e30", "none"),
            ("epoch-ms", "0.0000001", "none"),
        ] {
            if expected == "refused" {
                assert!(signs.parse::<TimeFormat>().is_err(), "{signs}");
                continue;
            }
            let expected = time(expected.as_bytes());
            assert_eq!(read(signs, field), expected, "{signs}: {field}");
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
                let expected = Time::at(fine, true);
                prop_assert_eq!(read(signs, &text), Some(expected), "{}: {}", signs, text);
            }
            let text = zoned.strftime("%a, %d %b %Y %T %z").to_string();
            prop_assert_eq!(read("rfc2822", &text), Some(Time::at(at.as_nanosecond(), true)), "{}", text);
            let (sign, size) = (if fine < 0 { "-" } else { "" }, fine.abs());
            let text = format!("{sign}{}.{:09}", size / SECOND, size % SECOND);
            prop_assert_eq!(read("epoch", &text), Some(Time::at(fine, true)), "{}", text);
            prop_assert_eq!(read("epoch-ms", &format!("{text}e3")), Some(Time::at(fine, true)), "{}", text);
        }

        #[test]
        fn nothing_panics(
            signs in "[%a-zA-Z0-9_.:é -]{0,8}",
            field in "[0-9A-Za-z:., +%-]{0,20}",
            bytes: Vec<u8>,
        ) {
            for known in ["clf", "syslog", "rfc2822", "epoch", "epoch-ms", "%a %d.%m.%Y %T%.f %z", &signs] {
                if let Ok(format) = known.parse::<TimeFormat>() {
                    format.time(field.as_bytes());
                    format.time(&bytes);
                }
            }
        }
    }
}
