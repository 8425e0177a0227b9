//! Durations in text, as systemd, Go, ps, time, ffmpeg and ISO 8601 write them.
//!
//! ```text
//! units     12ms   1.5s   1h2m3s   2d   0m1.234s   1min 30.5s   3 days
//! clocks    1:23   0:01:23   00:01:02.50   1-02:03:04
//! ISO 8601  PT1H30M   P1DT2H   P2W   PT0.5S
//! seconds   90   1.5   2e-3
//! ```
//!
//! A sign in front holds for the whole duration.
//!
//! - Units follow each other from large to small, each once; only the last number may have a point. Blanks may
//!   stand between numbers and units. Units are `w d h m s ms us ns` and words for them, in either case. A single
//!   `M` is refused because systemd writes months so. Years and months are refused because their lengths differ.
//! - Clocks are `m:s`, `h:m:s` or `d-h:m:s`, with two digits below 60 behind each colon. Hours behind days are
//!   below 24.
//! - A comma may stand for the point in clocks and in ISO 8601. The letters of ISO 8601 may be small.
//!
//! A duration is a whole number of attoseconds, so that a benchmark's `1.2345ns` is exact. Finer durations are
//! refused, so that two durations never become equal by rounding.

use crate::digits::{Decimal, split_digits, split_sign, split_while};

/// The attoseconds of a second.
const SECOND: u128 = 1_000_000_000_000_000_000;
const MINUTE: u128 = 60 * SECOND;
const HOUR: u128 = 60 * MINUTE;
const DAY: u128 = 24 * HOUR;
const WEEK: u128 = 7 * DAY;

/// The form of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number of seconds without a unit.
    Seconds,
    /// Numbers with units, or ISO 8601.
    Units,
    /// `1:23`
    MinutesSeconds,
    /// `0:01:23`
    HoursMinutesSeconds,
    /// `1-02:03:04`
    Days,
}

/// The attoseconds of a duration, and its form. A duration of over 146 billion years is refused.
pub fn parse(field: &[u8]) -> Option<(i128, Shape)> {
    let (minus, text) = split_sign(field);
    let (duration, shape) = match text {
        [b'P' | b'p', text @ ..] => (iso(text)?, Shape::Units),
        [b'0'..=b'9', ..] if text.contains(&b':') => clock(text)?,
        _ => units(text)?,
    };
    Some((signed(duration, SECOND, minus == Some(true))?, shape))
}

/// A number of units with a sign, at most 2⁶² seconds: keys hold the seconds in 64 bits, and nulls lie beyond.
pub(crate) fn signed(size: u128, second: u128, negative: bool) -> Option<i128> {
    let size = i128::try_from(size).ok().filter(|_| size <= second << 62)?;
    Some(if negative { -size } else { size })
}

/// The attoseconds of numbers with units, or of a number of seconds alone.
fn units(mut text: &[u8]) -> Option<(u128, Shape)> {
    let mut sum = 0_u128;
    let mut last = u128::MAX;
    loop {
        let (number, rest) = Decimal::split(text)?;
        let is_integer = text[..text.len() - rest.len()].iter().all(u8::is_ascii_digit);
        let rest = rest.trim_ascii_start();
        let is_name = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b' ' | b'\t');
        let (name, rest) = split_while(rest, is_name);
        let unit = match name {
            [] if last == u128::MAX && rest.is_empty() => SECOND,
            _ => unit(name).filter(|&unit| unit < last)?,
        };
        sum = sum.checked_add(number.times(unit)?)?;
        (text, last) = (rest.trim_ascii_start(), unit);
        if text.is_empty() {
            return Some((sum, if name.is_empty() { Shape::Seconds } else { Shape::Units }));
        }
        if !is_integer {
            return None;
        }
    }
}

/// The attoseconds of a unit.
fn unit(name: &[u8]) -> Option<u128> {
    if name == b"M" {
        return None;
    }
    let mut lower = [0; "minutes".len()];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    Some(match &*lower {
        b"w" | b"week" | b"weeks" => WEEK,
        b"d" | b"day" | b"days" => DAY,
        b"h" | b"hr" | b"hrs" | b"hour" | b"hours" => HOUR,
        b"m" | b"min" | b"mins" | b"minute" | b"minutes" => MINUTE,
        b"s" | b"sec" | b"secs" | b"second" | b"seconds" => SECOND,
        b"ms" | b"msec" | b"msecs" => SECOND / 1000,
        // The micro sign, and the Greek letter.
        b"us" | b"usec" | b"usecs" | b"\xC2\xB5s" | b"\xCE\xBCs" => SECOND / 1_000_000,
        b"ns" | b"nsec" | b"nsecs" => SECOND / 1_000_000_000,
        _ => return None,
    })
}

/// The attoseconds and the form of a clock.
fn clock(text: &[u8]) -> Option<(u128, Shape)> {
    let (days, text) = match text.iter().position(|&byte| byte == b'-') {
        Some(dash) => (Some(digits(&text[..dash])?), &text[dash + 1..]),
        None => (None, text),
    };
    let (text, fraction) = match text.iter().position(|byte| matches!(byte, b'.' | b',')) {
        Some(point) => (&text[..point], digits(&text[point + 1..])?),
        None => (text, &[][..]),
    };
    let mut parts = text.split(|&byte| byte == b':');
    let first = digits(parts.next()?)?;
    let mut next = || parts.next().map(|part| digits(part).filter(|part| matches!(part, [b'0'..=b'5', _])));
    let (form, hours, minutes, seconds) = match (days, next(), next(), next()) {
        (Some(_), Some(second), Some(third), None) => (Shape::Days, first, second?, third?),
        (None, Some(second), Some(third), None) => (Shape::HoursMinutesSeconds, first, second?, third?),
        (None, Some(second), None, None) => (Shape::MinutesSeconds, &[][..], first, second?),
        _ => return None,
    };
    if form == Shape::Days && !matches!(hours, [_] | [b'0' | b'1', _] | [b'2', b'0'..=b'3']) {
        return None;
    }
    let parts = [(days.unwrap_or_default(), DAY), (hours, HOUR), (minutes, MINUTE)];
    let seconds = Decimal::new(seconds, fraction).times(SECOND)?;
    let add = |sum: u128, (part, unit)| sum.checked_add(Decimal::new(part, &[]).times(unit)?);
    Some((parts.into_iter().try_fold(seconds, add)?, form))
}

/// The attoseconds behind the `P` of ISO 8601.
fn iso(mut text: &[u8]) -> Option<u128> {
    const OF_DATE: &[(u8, u128)] = &[(b'W', WEEK), (b'D', DAY)];
    const OF_TIME: &[(u8, u128)] = &[(b'H', HOUR), (b'M', MINUTE), (b'S', SECOND)];
    let (mut sum, mut units, mut in_time) = (0_u128, OF_DATE, false);
    loop {
        if let [b'T' | b't', of_time @ ..] = text
            && !in_time
        {
            (text, units, in_time) = (of_time, OF_TIME, true);
        }
        let (whole, mut rest) = split_digits(text);
        let mut fraction = &[][..];
        if let [b'.' | b',', decimals @ ..] = rest {
            (fraction, rest) = split_digits(decimals);
            digits(fraction)?;
        }
        let (name, after) = rest.split_first()?;
        let at = units.iter().position(|(unit, _)| unit.eq_ignore_ascii_case(name))?;
        sum = sum.checked_add(Decimal::new(digits(whole)?, fraction).times(units[at].1)?)?;
        (text, units) = (after, &units[at + 1..]);
        if text.is_empty() {
            return Some(sum);
        }
        if !fraction.is_empty() {
            return None;
        }
    }
}

/// The text, if the text has digits and no other bytes.
fn digits(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty() && text.iter().all(u8::is_ascii_digit)).then_some(text)
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Span, SpanRelativeTo};
    use proptest::prelude::*;

    use super::*;

    /// The nanoseconds of a second.
    const NANOS: i128 = 1_000_000_000;
    /// The attoseconds of a nanosecond.
    const ATTOS: i128 = 1_000_000_000;

    fn duration(field: &[u8]) -> Option<i128> {
        parse(field).map(|(duration, _)| duration)
    }

    fn shape(field: &[u8]) -> Option<Shape> {
        parse(field).map(|(_, shape)| shape)
    }

    #[test]
    fn forms_of_durations() {
        const MILLIS: i128 = 1_000_000;
        for (field, expected) in [
            ("12ms", 12 * MILLIS),
            ("1.5s", 1500 * MILLIS),
            (".5s", 500 * MILLIS),
            ("1h2m3s", 3723 * NANOS),
            ("1h30m", 5400 * NANOS),
            ("1h0m0.000000001s", 3600 * NANOS + 1),
            ("1.5h", 5400 * NANOS),
            ("2d", 2 * 86_400 * NANOS),
            ("1w2d", 9 * 86_400 * NANOS),
            ("3 days", 3 * 86_400 * NANOS),
            ("1day", 86_400 * NANOS),
            ("1min 30.5s", 90_500 * MILLIS),
            ("1h 2min 3s 4ms 5us 6ns", 3723 * NANOS + 4_005_006),
            ("7 hr", 7 * 3600 * NANOS),
            ("8sec", 8 * NANOS),
            ("9us", 9000),
            ("9\u{B5}s", 9000),
            ("9\u{3BC}s", 9000),
            ("1.25µs", 1250),
            ("10ns", 10),
            ("0m1.234s", 1234 * MILLIS),
            ("1H30m15S", 5415 * NANOS),
            ("100MS", 100 * MILLIS),
            ("2e-3", 2 * MILLIS),
            ("1e3ms", NANOS),
            ("90", 90 * NANOS),
            ("+1.5", 1500 * MILLIS),
            ("-1.5", -1500 * MILLIS),
            ("0", 0),
            ("0e99999999999999999999", 0),
            ("-1h1s", -3601 * NANOS),
            ("0.1234567890000", 123_456_789),
            ("1:23", 83 * NANOS),
            ("90:00", 5400 * NANOS),
            ("0:01:23", 83 * NANOS),
            ("-0:01:23", -83 * NANOS),
            ("100:00:00", 360_000 * NANOS),
            ("00:01:02.50", 62_500 * MILLIS),
            ("00:01:02,500", 62_500 * MILLIS),
            ("1-02:03:04", (86_400 + 7384) * NANOS),
            ("365-23:59:59", (366 * 86_400 - 1) * NANOS),
            ("1-2:03:04", (86_400 + 7384) * NANOS),
            ("PT1H30M", 5400 * NANOS),
            ("P1DT2H", 26 * 3600 * NANOS),
            ("P2W", 14 * 86_400 * NANOS),
            ("P1W2D", 9 * 86_400 * NANOS),
            ("PT0.5S", 500 * MILLIS),
            ("PT1,5H", 5400 * NANOS),
            ("-PT36H", -36 * 3600 * NANOS),
            ("pt1m", 60 * NANOS),
            ("P0D", 0),
        ] {
            assert_eq!(duration(field.as_bytes()), Some(expected * ATTOS), "{field}");
        }
        for (field, attoseconds) in [
            ("1.2345ns", 1_234_500_000),
            ("0.000000001ns", 1),
            ("0:00.000000000000000001", 1),
            ("1e-18", 1),
            ("0.00000000000000000000125w", 756),
            ("4611686018427387904", (ATTOS * NANOS) << 62),
        ] {
            assert_eq!(duration(field.as_bytes()), Some(attoseconds), "{field}");
        }
    }

    #[test]
    fn shapes_of_durations() {
        for (field, expected) in [
            ("12ms", Shape::Units),
            ("3 days", Shape::Units),
            ("0s", Shape::Units),
            ("PT0S", Shape::Units),
            ("0", Shape::Seconds),
            ("-00.0", Shape::Seconds),
            ("90", Shape::Seconds),
            ("2e-3", Shape::Seconds),
            ("5.", Shape::Seconds),
            ("1:23", Shape::MinutesSeconds),
            ("-0:00:00.5", Shape::HoursMinutesSeconds),
            ("1-02:03:04", Shape::Days),
        ] {
            assert_eq!(shape(field.as_bytes()), Some(expected), "{field}");
        }
        assert_eq!(shape(b"1x"), None);
    }

    #[test]
    fn what_is_no_duration() {
        for field in [
            "",
            "-",
            "+",
            ".",
            "s",
            "ms",
            "x",
            "1x",
            "--1",
            "+-1s",
            "1-",
            "1s-",
            "1h-2m",
            "1h+2m",
            "5M",
            "1Y",
            "1mo",
            "1y",
            "2 months",
            "1s1h",
            "1s1s",
            "1m2h",
            "1h30",
            "1 2",
            "1.5h30m",
            "1e3m5s",
            "1.5.5s",
            "1,5s",
            "inf",
            "nan",
            "0x10s",
            "1 :23",
            ":23",
            "1:",
            "1:2",
            "1:60",
            "1:99:00",
            "1:2:3",
            "1:234",
            "1:23:",
            "1:00:00:00",
            "1:23.",
            "1.5:00",
            "1:23s",
            "1-23",
            "1-00:01",
            "1-24:00:00",
            "1-123:00:00",
            "-1-",
            "-:01",
            "1--1:00:00",
            "x-01:00:00",
            "P",
            "PT",
            "P1",
            "PT1",
            "P1DT",
            "P1M",
            "P1Y",
            "PT1D",
            "P1H",
            "PT1S1M",
            "PT1H1H",
            "PT1.5H1M",
            "PT.5S",
            "PT1.S",
            "P1D1W",
            "PT-1H",
            "P-1D",
            "PTT1H",
            "T1H",
            "P 1D",
            "1\u{B5}",
            "\u{B5}s",
            "١s",
            // Too fine.
            "1.2345678901ns",
            "1e-19s",
            "0:00:00.0000000000000000001",
            "PT0.0000000000000000001S",
            "1.0000000000000001ms",
            // Too long.
            "1e30",
            "4611686018427387904.000000000000000001",
            "9223372036854775808",
            "600000000000000w",
            "99999999999999999999999999999999999999999999",
            "1e99999999999999999999d",
        ] {
            assert_eq!(duration(field.as_bytes()), None, "{field}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn what_is_written_is_read(
            parts in (0..100_i128, 0..24_i128, 0..60_i128, 0..60_i128, 0..NANOS),
            minus: bool,
        ) {
            let (days, hours, minutes, seconds, nanos) = parts;
            let expected = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * NANOS + nanos;
            let sign = if minus { "-" } else { "" };
            for text in [
                format!("{days}d{hours}h{minutes}m{seconds}.{nanos:09}s"),
                format!("{days}d {hours}h {minutes}min {seconds}s {nanos}ns"),
                format!("{}h{minutes}m{seconds}s{nanos}ns", days * 24 + hours),
                format!("{days}-{hours:02}:{minutes:02}:{seconds:02}.{nanos:09}"),
                format!("{}:{minutes:02}:{seconds:02}.{nanos:09}000", days * 24 + hours),
                format!("{}:{seconds:02}.{nanos:09}", (days * 24 + hours) * 60 + minutes),
                format!("P{days}DT{hours}H{minutes}M{seconds}.{nanos:09}S"),
                format!("{}.{nanos:09}", expected / NANOS),
                format!("{expected}ns"),
                format!("{expected}e-9"),
            ] {
                let text = format!("{sign}{text}");
                let expected = if minus { -expected } else { expected };
                prop_assert_eq!(duration(text.as_bytes()), Some(expected * ATTOS), "{}", text);
            }
        }

        #[test]
        fn jiff_reads_the_same(
            date in "P([0-9]{1,3}W)?([0-9]{1,3}D)?",
            time in "(T([0-9]{1,3}H)?([0-9]{1,3}M)?([0-9]{1,3}(\\.[0-9]{1,9})?S)?)?",
        ) {
            let text = date + &time;
            let theirs = text.parse::<Span>().ok().and_then(|span| {
                let duration = span.to_duration(SpanRelativeTo::days_are_24_hours());
                duration.ok().map(|duration: SignedDuration| duration.as_nanos() * ATTOS)
            });
            prop_assert_eq!(duration(text.as_bytes()), theirs, "{}", text);
        }

        #[test]
        fn nothing_panics(field in "[-+]?[0-9.,:hmsdPTw µe-]{0,12}", bytes: Vec<u8>) {
            for field in [field.as_bytes(), &bytes] {
                parse(field);
            }
        }
    }
}
