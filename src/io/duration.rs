//! Durations in text, as systemd, Go, ps, time, ffmpeg and ISO 8601 write them.
//!
//! ```text
//! units     12ms   1.5s   1h2m3s   2d   0m1.234s   1min 30.5s   3 days
//! clocks    1:23   0:01:23   00:01:02.50   1-02:03:04
//! ISO 8601  PT1H30M   P1DT2H   P2W   PT0.5S
//! numbers   90   1.5   2e-3   which are seconds
//! ```
//!
//! A sign may come first, and holds for all of it.
//!
//! - Units follow each other from large to small, each once; only the last number may have a point.
//!   Blanks may be between numbers and units. Units are `w d h m s ms us ns`, and words for them,
//!   in either case; but a single `M` is refused, since systemd has months by that name. Nothing
//!   has years or months, whose lengths differ.
//! - Clocks are `m:s` or `h:m:s`, or `d-h:m:s`, with two digits after each colon, below 60. Hours
//!   after days are below 24. In their seconds, and in ISO 8601, a comma is a point.
//! - ISO 8601 is read in either case.
//!
//! A duration is a whole number of nanoseconds: one with other digits after them is refused, rather
//! than taken for equal to its neighbours.

use super::number::{Decimal, leading};

const SECOND: u128 = 1_000_000_000;
const MINUTE: u128 = 60 * SECOND;
const HOUR: u128 = 60 * MINUTE;
const DAY: u128 = 24 * HOUR;
const WEEK: u128 = 7 * DAY;

/// The nanoseconds of the duration that this token spells; `None` if it spells none, or one that is
/// too fine or too long.
pub(super) fn duration(token: &[u8]) -> Option<i128> {
    let (is_negative, rest) = match token {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let nanoseconds = match rest {
        [b'P' | b'p', rest @ ..] => iso(rest)?,
        _ if rest.contains(&b':') => clock(rest)?,
        _ => units(rest)?,
    };
    signed(nanoseconds, is_negative)
}

/// These nanoseconds with their sign, up to some 600 million years.
pub(super) fn signed(nanoseconds: u128, is_negative: bool) -> Option<i128> {
    const LONGEST: i128 = 1 << 84;
    let nanoseconds = i128::try_from(nanoseconds).ok().filter(|&nanoseconds| nanoseconds <= LONGEST)?;
    Some(if is_negative { -nanoseconds } else { nanoseconds })
}

/// Numbers and units, or a number of seconds alone.
fn units(mut rest: &[u8]) -> Option<u128> {
    let mut sum = 0_u128;
    let mut last = None;
    loop {
        let number = leading(rest).filter(|number| matches!(number, [b'0'..=b'9' | b'.', ..]))?;
        rest = rest[number.len()..].trim_ascii_start();
        let end =
            rest.iter().position(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b' ' | b'\t'));
        let name;
        (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let unit = match name {
            [] if last.is_none() && rest.is_empty() => SECOND,
            _ => unit(name).filter(|&unit| last.is_none_or(|last| unit < last))?,
        };
        sum = sum.checked_add(Decimal::of(number).times(unit)?)?;
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Some(sum);
        }
        if !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        last = Some(unit);
    }
}

/// The nanoseconds of a unit.
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
        b"ms" | b"msec" | b"msecs" => 1_000_000,
        // The micro sign, and the Greek letter.
        b"us" | b"usec" | b"usecs" | b"\xC2\xB5s" | b"\xCE\xBCs" => 1000,
        b"ns" | b"nsec" | b"nsecs" => 1,
        _ => return None,
    })
}

/// `m:s`, `h:m:s` or `d-h:m:s`.
fn clock(bytes: &[u8]) -> Option<u128> {
    let dash = bytes.iter().position(|&byte| byte == b'-');
    let (days, bytes) = match dash {
        Some(dash) => (digits(&bytes[..dash])?, &bytes[dash + 1..]),
        None => (&[][..], bytes),
    };
    let point = bytes.iter().position(|byte| matches!(byte, b'.' | b','));
    let (bytes, fraction) = match point {
        Some(point) => (&bytes[..point], digits(&bytes[point + 1..])?),
        None => (bytes, &[][..]),
    };
    let mut parts = bytes.split(|&byte| byte == b':');
    let first = digits(parts.next()?)?;
    let mut next = || parts.next().map(|part| digits(part).filter(|part| part.len() == 2 && part[0] < b'6'));
    let (hours, minutes, seconds) = match (next(), next(), next()) {
        (Some(second), Some(third), None) => (first, second?, third?),
        (Some(second), None, None) if dash.is_none() => (&[][..], first, second?),
        _ => return None,
    };
    if dash.is_some() && !matches!(hours, [_] | [b'0' | b'1', _] | [b'2', b'0'..=b'3']) {
        return None;
    }
    let parts = [(days, DAY), (hours, HOUR), (minutes, MINUTE)];
    let sum =
        parts.into_iter().try_fold(0_u128, |sum, (part, unit)| sum.checked_add(amount(part, &[], unit)?))?;
    sum.checked_add(amount(seconds, fraction, SECOND)?)
}

/// What is after the `P` of a duration of ISO 8601.
fn iso(mut rest: &[u8]) -> Option<u128> {
    const OF_DATE: &[(u8, u128)] = &[(b'W', WEEK), (b'D', DAY)];
    const OF_TIME: &[(u8, u128)] = &[(b'H', HOUR), (b'M', MINUTE), (b'S', SECOND)];
    let (mut sum, mut units, mut in_time) = (0_u128, OF_DATE, false);
    let mut fraction = &[][..];
    loop {
        if let [b'T' | b't', of_time @ ..] = rest
            && !in_time
        {
            (rest, units, in_time) = (of_time, OF_TIME, true);
        }
        if !fraction.is_empty() {
            return None;
        }
        let run = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole;
        (whole, rest) = rest.split_at(run(rest));
        if let [b'.' | b',', decimals @ ..] = rest {
            (fraction, rest) = decimals.split_at(run(decimals));
            digits(fraction)?;
        }
        let (name, after) = rest.split_first()?;
        let at = units.iter().position(|(unit, _)| *unit == name.to_ascii_uppercase())?;
        sum = sum.checked_add(amount(digits(whole)?, fraction, units[at].1)?)?;
        (rest, units) = (after, &units[at + 1..]);
        if rest.is_empty() {
            return Some(sum);
        }
    }
}

/// These bytes, if they are digits, and not none.
fn digits(bytes: &[u8]) -> Option<&[u8]> {
    (!bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)).then_some(bytes)
}

/// How much this many units are.
fn amount(whole: &[u8], fraction: &[u8], unit: u128) -> Option<u128> {
    Decimal { is_negative: false, whole, fraction, exponent: 0 }.times(unit)
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Span, SpanRelativeTo};
    use proptest::prelude::*;

    use super::*;

    const NANOS: i128 = SECOND.cast_signed();

    #[test]
    fn forms_of_durations() {
        const MILLIS: i128 = 1_000_000;
        for (token, expected) in [
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
            assert_eq!(duration(token.as_bytes()), Some(expected), "{token}");
        }
    }

    #[test]
    fn what_is_no_duration() {
        for token in [
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
            // Not whole nanoseconds.
            "0.5ns",
            "0.0000000001",
            "1e-10s",
            "0:00:00.0000000001",
            "PT0.0000000001S",
            "1.0000001ms",
            // Too long.
            "1e30",
            "600000000000w",
            "99999999999999999999999999999999999999999999",
            "1e99999999999999999999d",
        ] {
            assert_eq!(duration(token.as_bytes()), None, "{token}");
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
                prop_assert_eq!(duration(text.as_bytes()), Some(expected), "{}", text);
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
                duration.ok().map(|duration: SignedDuration| duration.as_nanos())
            });
            prop_assert_eq!(duration(text.as_bytes()), theirs, "{}", text);
        }

        #[test]
        fn nothing_panics(token in "[-+]?[0-9.,:hmsdPTw µe-]{0,12}", bytes: Vec<u8>) {
            duration(token.as_bytes());
            duration(&bytes);
        }
    }
}
