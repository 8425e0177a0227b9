//! Times in text.
//!
//! ```text
//! ISO 8601, RFC 3339   2026-11-21   2026-11-21 10:00   2026-11-21T10:00:00.123456Z   2026-11-21 10:00:00 +0500
//! with slashes         2026/11/21   2026/11/21 10:00:00
//! access logs          [21/Nov/2026:10:00:01 +0100]   21/Nov/2026:10:00:01
//! syslog               Nov 21 10:00:01   Nov  1 10:00:01
//! RFC 2822             Sat, 21 Nov 2026 10:00:01 +0100   21 Nov 2026 10:00
//! ctime                Sat Nov 21 10:00:01 2026   Sat Nov 21 10:00:01 2026 +0100   Sat Nov 21 10:00:01 UTC 2026
//! ```
//!
//! - A second has up to nine decimals behind a point or a comma. The second 60 is the first second of the next
//!   minute; 24:00 is invalid.
//! - A zone is `Z`, `UTC`, `GMT`, `+hhmm` or `+hh:mm`, directly behind the time or behind one blank, or `+hh`
//!   directly behind the time. A time without a zone counts as UTC.
//! - Years are 0000 to 9999 in the Gregorian calendar. A time of syslog has no year and is placed in 1972, a leap
//!   year.
//! - The name of a day of the week is not compared with the date.
//! - The blanks within a time may be tabs.

pub mod day_month;
pub mod format;

/// Nanoseconds per second.
pub(crate) const SECOND: i128 = 1_000_000_000;

/// The value of each decimal place of a second, in nanoseconds.
const UNITS: [u32; 9] = [100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1];

/// The year of times without a year. February 29th exists in this year.
pub(crate) const LEAP_YEAR: u32 = 1972;

/// A time in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Nanoseconds since the beginning of 1970.
    pub nanoseconds: i128,
    /// The form of the text.
    pub form: TimeForm,
    /// The month of a time without a year, from 1; otherwise 0.
    pub month: u8,
}

/// The form of times, which all times of a column must share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeForm {
    /// True with a zone.
    pub zone: bool,
    /// True with a year.
    pub year: bool,
}

/// The time that fills the whole field.
#[inline]
pub fn time(field: &[u8]) -> Option<Time> {
    time_at(field).and_then(|(time, length)| (length == field.len()).then_some(time))
}

/// The longest time at the beginning of a text, and its length. A blank, a tab or the end of the text follows the
/// time.
#[inline]
pub fn time_at(text: &[u8]) -> Option<(Time, usize)> {
    let (parts, rest) = match text {
        [_, _, _, _, b'-' | b'/', ..] => year_first(text)?,
        [b'[', ..] | [_, _, b'/', ..] => access_log(text)?,
        [b'0'..=b'9', b' ' | b'\t', ..] | [b'0'..=b'9', _, b' ' | b'\t', ..] => rfc2822(text)?,
        [_, _, _, b' ' | b'\t' | b',', ..] => name_first(text)?,
        _ => return None,
    };
    Some((parts.time()?, text.len() - rest.len()))
}

/// The numbers of a time, in or out of their ranges.
struct Parts {
    /// Missing in syslog.
    year: Option<u32>,
    month: u32,
    day: u32,
    clock: Clock,
    zone: Option<Zone>,
}

impl Parts {
    /// The time, if the date and the time of day exist.
    #[inline]
    fn time(&self) -> Option<Time> {
        let &Self { year, month, day, clock: Clock { hour, minute, second, nanoseconds }, zone } = self;
        let Zone { west, hours, minutes } = zone.unwrap_or_default();
        if hour > 23 || minute > 59 || second > 60 || hours > 23 || minutes > 59 {
            return None;
        }
        let days = days(year.unwrap_or(LEAP_YEAR), month, day)?;
        let offset = i64::from(60 * (60 * hours + minutes));
        let of_day = i64::from(60 * (60 * hour + minute) + second);
        let seconds = 86_400 * i64::from(days) + of_day + if west { offset } else { -offset };
        let nanoseconds = i128::from(seconds) * SECOND + i128::from(nanoseconds);
        let without_year = if year.is_none() { month as u8 } else { 0 };
        let form = TimeForm { zone: zone.is_some(), year: year.is_some() };
        Some(Time { nanoseconds, form, month: without_year })
    }
}

/// The parts of a time, and the text behind the time.
type Split<'a> = Option<(Parts, &'a [u8])>;

/// ISO 8601, and dates with slashes.
#[inline]
fn year_first(text: &[u8]) -> Split<'_> {
    let &[y1, y2, y3, y4, first @ (b'-' | b'/'), m1, m2, second, d1, d2, ref rest @ ..] = text else {
        return None;
    };
    if first != second {
        return None;
    }
    let (year, month, day) = (Some(year([y1, y2, y3, y4])?), number(m1, m2)?, number(d1, d2)?);
    let date = Parts { year, month, day, clock: Clock::default(), zone: None };
    if let [b' ' | b'\t' | b'T' | b't', rest @ ..] = rest
        && let [b'0'..=b'9', b':', b'0'..=b'9', ..] | [b'0'..=b'9', b'0'..=b'9', b':', b'0'..=b'9', ..] = rest
    {
        let (clock, rest) = clock(rest)?;
        let (zone, rest) = zone_and_end(rest, end)?;
        return Some((Parts { clock, zone, ..date }, rest));
    }
    Some((date, end(rest)?))
}

/// Access logs, with or without brackets.
#[inline]
fn access_log(text: &[u8]) -> Split<'_> {
    let brackets = text.first() == Some(&b'[');
    let text = &text[usize::from(brackets)..];
    let &[d1, d2, b'/', b1, b2, b3, b'/', y1, y2, y3, y4, b':', ref rest @ ..] = text else { return None };
    let (year, month, day) = (year([y1, y2, y3, y4])?, month([b1, b2, b3])?, number(d1, d2)?);
    let (clock, rest) = clock_with_seconds(rest)?;
    let end = |text| if brackets { <[u8]>::strip_prefix(text, b"]").and_then(end) } else { end(text) };
    let (zone, rest) = zone_and_end(rest, end)?;
    Some((Parts { year: Some(year), month, day, clock, zone }, rest))
}

/// RFC 2822 without the day of the week.
fn rfc2822(text: &[u8]) -> Split<'_> {
    let (day, rest) = day(text)?;
    let &[b' ' | b'\t', b1, b2, b3, b' ' | b'\t', y1, y2, y3, y4, b' ' | b'\t', ref rest @ ..] = rest else {
        return None;
    };
    let (year, month) = (year([y1, y2, y3, y4])?, month([b1, b2, b3])?);
    let (clock, rest) = clock(rest)?;
    let (zone, rest) = zone_and_end(rest, end)?;
    Some((Parts { year: Some(year), month, day, clock, zone }, rest))
}

/// The forms that begin with the name of a day of the week or of a month.
fn name_first(text: &[u8]) -> Split<'_> {
    let &[a, b, c, separator, ref rest @ ..] = text else { return None };
    let days = [b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"];
    if !days.iter().any(|day| [a, b, c].eq_ignore_ascii_case(*day)) {
        // The form of syslog.
        let (month, day, clock, rest) = month_day_clock(text)?;
        return Some((Parts { year: None, month, day, clock, zone: None }, end(rest)?));
    }
    match (separator, rest) {
        (b',', [b' ' | b'\t', rest @ ..]) => rfc2822(rest),
        (b' ' | b'\t', _) => ctime(rest),
        _ => None,
    }
}

/// The form of ctime without the day of the week; a zone may stand before or behind the year.
fn ctime(text: &[u8]) -> Split<'_> {
    let (month, day, clock, rest) = month_day_clock(text)?;
    let (zone_before, rest) = zone(rest).map_or((None, rest), |(zone, after)| (Some(zone), after));
    let &[b' ' | b'\t', y1, y2, y3, y4, ref rest @ ..] = rest else { return None };
    let year = year([y1, y2, y3, y4])?;
    let (zone, rest) =
        if zone_before.is_some() { (zone_before, end(rest)?) } else { zone_and_end(rest, end)? };
    Some((Parts { year: Some(year), month, day, clock, zone }, rest))
}

/// A month, a day and a time of day with seconds.
fn month_day_clock(text: &[u8]) -> Option<(u32, u32, Clock, &[u8])> {
    let &[b1, b2, b3, b' ' | b'\t', ref rest @ ..] = text else { return None };
    let (day, rest) = day(rest)?;
    let [b' ' | b'\t', rest @ ..] = rest else { return None };
    let (clock, rest) = clock_with_seconds(rest)?;
    Some((month([b1, b2, b3])?, day, clock, rest))
}

/// The text, if a time may end before this text. AM or PM behind a time means a clock of twelve hours.
#[inline]
fn end(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b' ' | b'\t', b'A' | b'a' | b'P' | b'p', b'M' | b'm', rest @ ..]
            if !matches!(rest, [b'!'..=b'~' | 0x80.., ..]) =>
        {
            None
        }
        [] | [b' ' | b'\t', ..] => Some(text),
        _ => None,
    }
}

/// A zone or none, and the text behind the end of the time.
#[inline]
fn zone_and_end<'a>(
    text: &'a [u8],
    end: impl Fn(&'a [u8]) -> Option<&'a [u8]>,
) -> Option<(Option<Zone>, &'a [u8])> {
    if let Some((zone, rest)) = zone(text)
        && let Some(rest) = end(rest)
    {
        return Some((Some(zone), rest));
    }
    Some((None, end(text)?))
}

/// A distance from UTC.
#[derive(Clone, Copy, Default)]
struct Zone {
    west: bool,
    hours: u32,
    minutes: u32,
}

#[inline]
fn zone(text: &[u8]) -> Option<(Zone, &[u8])> {
    let blank = matches!(text, [b' ' | b'\t', ..]);
    let text = &text[usize::from(blank)..];
    match text {
        [b'Z', rest @ ..] | [b'U', b'T', b'C', rest @ ..] | [b'G', b'M', b'T', rest @ ..] => {
            Some((Zone::default(), rest))
        }
        [b'z', rest @ ..] if !blank => Some((Zone::default(), rest)),
        &[sign @ (b'+' | b'-'), h1, h2, ref rest @ ..] => {
            let zone = Zone { west: sign == b'-', hours: number(h1, h2)?, minutes: 0 };
            if let &([b':', m1, m2, ref rest @ ..] | [m1, m2, ref rest @ ..]) = rest
                && let Some(minutes) = number(m1, m2)
            {
                return Some((Zone { minutes, ..zone }, rest));
            }
            if blank { None } else { Some((zone, rest)) }
        }
        _ => None,
    }
}

/// The numbers of a time of day.
#[derive(Default)]
struct Clock {
    hour: u32,
    minute: u32,
    second: u32,
    nanoseconds: u32,
}

/// A time of day; seconds and decimals are optional.
#[inline]
fn clock(text: &[u8]) -> Option<(Clock, &[u8])> {
    let &[h1, h2, b':', m1, m2, ref rest @ ..] = text else { return None };
    let mut clock = Clock { hour: number(h1, h2)?, minute: number(m1, m2)?, ..Clock::default() };
    let &[b':', s1, s2, ref rest @ ..] = rest else { return Some((clock, rest)) };
    clock.second = number(s1, s2)?;
    let [b'.' | b',', decimals @ ..] = rest else { return Some((clock, rest)) };
    let mut count = 0;
    while let Some(digit @ b'0'..=b'9') = decimals.get(count) {
        clock.nanoseconds += u32::from(digit - b'0') * UNITS.get(count)?;
        count += 1;
    }
    (count > 0).then(|| (clock, &decimals[count..]))
}

#[inline]
fn clock_with_seconds(text: &[u8]) -> Option<(Clock, &[u8])> {
    text.get("10:00".len()).is_some_and(|&byte| byte == b':').then(|| clock(text))?
}

/// Days since the beginning of 1970, if the date exists.
#[inline]
fn days(year: u32, month: u32, day: u32) -> Option<i32> {
    /// Days from March 1st of the year -400 to the beginning of 1970.
    const TO_1970: i32 = 865_565;
    let leap_year = year.is_multiple_of(if year.is_multiple_of(100) { 400 } else { 4 });
    // The lengths alternate, and start again in August.
    let length = if month == 2 { 28 + u32::from(leap_year) } else { 0b1_1110 | month ^ month >> 3 };
    if !(1..=12).contains(&month) || !(1..=length).contains(&day) {
        return None;
    }
    // February is the last month of a year that begins in March.
    let (year, month) = if month > 2 { (year + 400, month - 3) } else { (year + 399, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(days as i32 - TO_1970)
}

/// The number of two digits.
#[inline]
fn number(tens: u8, units: u8) -> Option<u32> {
    let (tens, units) = (tens.wrapping_sub(b'0'), units.wrapping_sub(b'0'));
    (tens < 10 && units < 10).then(|| u32::from(10 * tens + units))
}

#[inline]
fn year([y1, y2, y3, y4]: [u8; 4]) -> Option<u32> {
    Some(100 * number(y1, y2)? + number(y3, y4)?)
}

/// A day of one or two digits, with or without a blank in front, and the text behind the day.
fn day(text: &[u8]) -> Option<(u32, &[u8])> {
    let ([b' ' | b'\t', text @ ..] | text) = text;
    match text {
        &[d1, d2 @ b'0'..=b'9', ref rest @ ..] => Some((number(d1, d2)?, rest)),
        &[d1, ref rest @ ..] => Some((number(b'0', d1)?, rest)),
        [] => None,
    }
}

/// The number of the month of an English abbreviation in any case.
#[inline]
pub(crate) fn month(name: [u8; 3]) -> Option<u32> {
    // The bit makes a capital letter small, and turns no other character into a letter.
    let name = name.map(|letter| letter | 0x20);
    let (names, _) = b"janfebmaraprmayjunjulaugsepoctnovdec".as_chunks();
    names.iter().position(|month| *month == name).map(|month| month as u32 + 1)
}

#[cfg(test)]
mod tests {
    use jiff::civil::DateTime;
    use jiff::tz::{Offset, TimeZone};
    use proptest::prelude::*;

    use super::*;

    const DAY: i128 = 86_400 * SECOND;

    fn nanoseconds(text: &str) -> Option<i128> {
        time(text.as_bytes()).map(|time| time.nanoseconds)
    }

    #[test]
    fn years_first() {
        for (text, nanoseconds, zone) in [
            ("1970-01-01", 0, false),
            ("1970-01-02T00:00", DAY, false),
            ("1970-01-01 00:00:01.500000", 3 * SECOND / 2, false),
            ("1970-01-01\t00:00:00,000000001", 1, false),
            ("1970-01-01t00:01z", 60 * SECOND, true),
            ("1970-01-01T02:00+02:00", 0, true),
            ("1970-01-01T02:00+0200", 0, true),
            ("1970-01-01T02:00+02", 0, true),
            ("1970-01-01 02:00 +0200", 0, true),
            ("1970-01-01 02:00 +02:00", 0, true),
            ("1970-01-01 00:00:00\tGMT", 0, true),
            ("1970-01-01 00:00:00UTC", 0, true),
            ("1970-01-01 00:00:00 Z", 0, true),
            ("1969-12-31 23:30:00-00:30", 0, true),
            ("1969-12-31T23:59:60", 0, false),
            ("1970-01-01T00:00:00.000000000Z", 0, true),
            ("1970/01/02", DAY, false),
            ("1970/01/01 00:00:00.5", SECOND / 2, false),
            ("1970/01/01T02:00:00 +0200", 0, true),
        ] {
            let expected = Time { nanoseconds, form: TimeForm { zone, year: true }, month: 0 };
            assert_eq!(time(text.as_bytes()), Some(expected), "{text}");
        }
        for text in [
            "",
            "1970",
            "1970-01",
            "1970-1-1",
            "70-01-01",
            "+1970-01-01",
            "-0001-01-01",
            "10000-01-01",
            "19700101",
            "1970-01-01T",
            "1970-01-01 ",
            "1970-01-01T1:00",
            "1970-01-01T10",
            "1970-01-01T1000",
            "1970-01-01T24:00",
            "1970-01-01T10:60",
            "1970-01-01T10:00:61",
            "1970-01-01T10:00:00.",
            "1970-01-01T10:00.5",
            "1970-01-01T10:00:00.1234567890",
            "1970-01-01T10:00+24:00",
            "1970-01-01T10:00+02:60",
            "1970-01-01T10:00 z",
            "1970-01-01T10:00 +02",
            "1970-01-01T10:00  +0200",
            "1970-01-01T10:00+2",
            "1970-01-01T10:00+02:0",
            "1970-01-01T10:00Z+02:00",
            "1970-01-01 10:00utc",
            "1970-01/01",
            "1970/02/30",
            "1970/1/1",
            "1970/01/01 24:00:00",
            "1970-01-01Z",
            "1970-01-01T10:00Zx",
            "1970-W01-1",
            "1970-001",
            "1970-00-01",
            "1970-13-01",
            "1970-01-00",
            "1970-04-31",
            "1970-02-29",
            "1900-02-29",
            "2026-11-21x",
            "1970-01-01  10:00",
        ] {
            assert_eq!(time(text.as_bytes()), None, "{text}");
        }
        assert!(nanoseconds("2000-02-29").is_some() && nanoseconds("0000-02-29").is_some());
        assert!(nanoseconds("0000-01-01") < nanoseconds("0000-01-02"));
        assert!(nanoseconds("9999-12-31T23:59:60.9").is_some());
    }

    #[test]
    fn access_logs() {
        for (text, expected) in [
            ("[21/Nov/2026:10:00:01 +0000]", "2026-11-21T10:00:01Z"),
            ("21/Nov/2026:10:00:01 +0100", "2026-11-21T10:00:01+01:00"),
            ("[29/feb/2024:23:59:60 -0330]", "2024-02-29T23:59:60-03:30"),
            ("[01/JAN/0000:00:00:00 +0000]", "0000-01-01T00:00Z"),
            ("[31/Dec/9999:23:59:59 -2359]", "9999-12-31T23:59:59-23:59"),
            ("[21/Nov/2026:10:00:01.250 +0000]", "2026-11-21T10:00:01.25Z"),
            ("[21/Nov/2026:10:00:01 +01:00]", "2026-11-21T10:00:01+01:00"),
            ("[21/Nov/2026:10:00:01+01]", "2026-11-21T10:00:01+01:00"),
            ("[21/Nov/2026:10:00:01Z]", "2026-11-21T10:00:01Z"),
            // HAProxy writes no zone.
            ("[21/Nov/2026:10:00:01.123]", "2026-11-21T10:00:01.123"),
            ("21/Nov/2026:10:00:01", "2026-11-21T10:00:01"),
        ] {
            let expected = time(expected.as_bytes());
            assert!(expected.is_some());
            assert_eq!(time(text.as_bytes()), expected, "{text}");
        }
        for text in [
            "[",
            "[]",
            "[21/Nov/2026:10:00:01 +0100",
            "21/Nov/2026:10:00:01 +0100]",
            "[[21/Nov/2026:10:00:01 +0100]]",
            "[21/Nov/2026]",
            "[21/Nov/2026:10:00 +0100]",
            "[21/Nov/2026:10:00:01 +01]",
            "[21/Nov/2026:10:00:01 0100]",
            "[21/Nov/2026:10:00:01 +010]",
            "[21/Nov/2026:10:00:01 +01000]",
            "[21/Nov/2026:10:00:01 +0160]",
            "[21/Nov/2026:10:00:01 +2400]",
            "[21/Nov/2026 10:00:01 +0100]",
            "[1/Nov/2026:10:00:01 +0100]",
            "[31/Nov/2026:10:00:01 +0100]",
            "[21/Nox/2026:10:00:01 +0100]",
            "[21/11/2026:10:00:01 +0100]",
            "[21/Nov/26:10:00:01 +0100]",
            "[21/Nov/2026:24:00:01 +0100]",
            "[21/Nov/2026:10:00:61 +0100]",
            "[21/Nov/2026:10:00:01. +0100]",
            "[21/Nov/2026:10:00:01.1234567890 +0100]",
            "[21-Nov-2026:10:00:01 +0100]",
        ] {
            assert_eq!(time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn names_of_months() {
        for (text, expected) in [
            ("Nov 21 10:00:01", "1972-11-21T10:00:01"),
            ("Nov  1 10:00:01", "1972-11-01T10:00:01"),
            ("nov 01 10:00:01.25", "1972-11-01T10:00:01.25"),
            ("Feb 29 10:00:01", "1972-02-29T10:00:01"),
            ("Sat, 21 Nov 2026 10:00:01 +0100", "2026-11-21T10:00:01+01:00"),
            ("SAT, 21 NOV 2026 10:00:01 GMT", "2026-11-21T10:00:01Z"),
            ("Sun, 1 Nov 2026 10:00", "2026-11-01T10:00"),
            ("Sun,  1 Nov 2026 10:00", "2026-11-01T10:00"),
            ("Mon, 21 Nov 2026 10:00", "2026-11-21T10:00"),
            ("21 Nov 2026 10:00:01 +0100", "2026-11-21T10:00:01+01:00"),
            ("1 Nov 2026 10:00:60", "2026-11-01T10:01"),
            ("Sat Nov 21 10:00:01 2026", "2026-11-21T10:00:01"),
            ("Sun Nov  1 10:00:01 2026", "2026-11-01T10:00:01"),
            ("Sat Nov 21 10:00:01 2026 +0100", "2026-11-21T10:00:01+01:00"),
            ("Sat Nov 21 10:00:01 UTC 2026", "2026-11-21T10:00:01Z"),
            ("Sat Nov 21 10:00:01 +0100 2026", "2026-11-21T10:00:01+01:00"),
        ] {
            let expected = time(expected.as_bytes()).unwrap();
            let read = time(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (read.nanoseconds, read.form.zone),
                (expected.nanoseconds, expected.form.zone),
                "{text}"
            );
            let year = text.len() > "nov 01 10:00:01.25".len();
            let month = if year {
                0
            } else if text.starts_with('F') {
                2
            } else {
                11
            };
            assert_eq!((read.form.year, read.month), (year, month), "{text}");
        }
        for text in [
            "Nov 21",
            "Nov 21 10:00",
            "Nov 31 10:00:01",
            "Nov 0 10:00:01",
            "Nov   1 10:00:01",
            "Nov 1  10:00:01",
            "Nov 021 10:00:01",
            "Nox 21 10:00:01",
            "November 21 10:00:01",
            "Nov 21 24:00:00",
            "Nov 21 10:00:01 2026",
            "Nov 21 10:00:01 +0100",
            "Sat 21 Nov 2026 10:00:01",
            "Sat,21 Nov 2026 10:00:01",
            "Sax, 21 Nov 2026 10:00:01",
            "21 Nov 2026",
            "21 Nov 26 10:00:01",
            "21 Nov 2026 10:00:01 EST",
            "21  Nov 2026 10:00:01",
            "21 11 2026 10:00:01",
            "31 Nov 2026 10:00:01",
            "Sat Nov 31 10:00:01 2026",
            "Sat Nov 21 10:00 2026",
            "Sat Nov 21 10:00:01",
            "Sat Nov 21 10:00:01 CET 2026",
            "Sat Nov 21 10:00:01 UTC 2026 UTC",
            "Sat, Nov 21 10:00:01 2026",
            "Sat",
            "21",
            "x",
        ] {
            assert_eq!(time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn times_at_the_beginning_of_lines() {
        for (text, rest) in [
            ("2026-11-21 10:00:00 +0500 message", " message"),
            ("2026-11-21 10:00:00 +05 message", " +05 message"),
            ("2026-11-21 10:00:00 +0500x", " +0500x"),
            ("2026-11-21 10:00:00 Zulu", " Zulu"),
            ("2026-11-21 10:00:00\tmessage", "\tmessage"),
            ("2026-11-21 hello", " hello"),
            ("2026-11-21 10:00:00 AMD", " AMD"),
            ("2026-11-21  10:00:00", "  10:00:00"),
            ("2026-11-21T10:00:00Z a", " a"),
            ("2026/11/21 10:00:00 [error]", " [error]"),
            ("2026/11/21 10:00:00.123456 took=1ms", " took=1ms"),
            ("[21/Nov/2026:10:00:01 +0100] \"GET / HTTP/1.1\"", " \"GET / HTTP/1.1\""),
            ("21/Nov/2026:10:00:01 404", " 404"),
            ("Nov  1 10:00:01 host sshd[7]: x", " host sshd[7]: x"),
            ("Nov 21 10:00:01 +0100 x", " +0100 x"),
            ("Sat, 21 Nov 2026 10:00:01 +0100 x", " x"),
            ("21 Nov 2026 10:00:01 PST x", " PST x"),
            ("Sat Nov 21 10:00:01 2026 +0100 x", " x"),
            ("Sat Nov 21 10:00:01 2026 x", " x"),
            ("Sat Nov 21 10:00:01 UTC 2026 +0100", " +0100"),
        ] {
            let (read, length) = time_at(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(&text[length..], rest, "{text}");
            assert_eq!(time(&text.as_bytes()[..length]), Some(read), "{text}");
        }
        for text in [
            "2026-02-30 10:00:00 x",
            "2026-11-21 25:00:00 x",
            "2026-11-21 10:00:00 +2400 x",
            "2026-11-21T10:00:00: x",
            "2026-11-21 10:00:00: x",
            "2026-11-21 10:00:00.1234567890 x",
            "2026-11-21 10:00:00 PM x",
            "2026-11-21 10:00 am",
            "Nov 21 10:00:00 AM",
            "2026-11-21T x",
            "2026-11-21: x",
            "[21/Nov/2026:10:00:01 +0100]: x",
            "[21/Nov/2026:10:00:01 x]",
            "Nov 21 10:00:01: x",
            "Sat Nov 21 10:00:01 20267",
            " 2026-11-21",
        ] {
            assert_eq!(time_at(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_day_is_one_after_the_day_before() {
        let mut before = nanoseconds("0000-01-01").unwrap();
        let mut date = jiff::civil::date(0, 1, 1);
        while let Ok(next) = date.tomorrow() {
            date = next;
            assert_eq!(nanoseconds(&date.to_string()), Some(before + DAY), "{date}");
            before += DAY;
        }
        assert_eq!(date.to_string(), "9999-12-31");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn jiff_writes_the_same_times(
            seconds in -62_167_219_200_i64..253_370_764_800,
            nanos in 0..1_000_000_000_i32,
            decimals in 0..=9_usize,
            zone in -1439..1440_i32,
            has_zone: bool,
        ) {
            let zone = if has_zone { zone } else { 0 };
            let at = jiff::Timestamp::new(seconds, 0).unwrap();
            let local: DateTime = TimeZone::fixed(Offset::from_seconds(60 * zone).unwrap()).to_datetime(at);
            prop_assume!((0..=9999).contains(&local.year()));
            let fraction = format!("{nanos:09}")[..decimals].to_owned();
            let expected = i128::from(seconds) * SECOND + format!("{fraction:0<9}").parse::<i128>().unwrap();
            let fraction = if decimals == 0 { fraction } else { format!(".{fraction}") };
            let (sign, hours, minutes) = (if zone < 0 { '-' } else { '+' }, zone.abs() / 60, zone.abs() % 60);
            for pattern in [
                "%Y-%m-%dT%H:%M:%S$:", "%Y-%m-%d %H:%M:%S$ +", "%Y/%m/%d %H:%M:%S$ :", "[%d/%b/%Y:%H:%M:%S$ +]",
                "%a, %d %b %Y %H:%M:%S$ +", "%-d %b %Y %H:%M:%S$+", "%a %b %e %H:%M:%S$ %Y +",
            ] {
                let (form, close) = pattern.strip_suffix(']').map_or((pattern, ""), |form| (form, "]"));
                let (form, style) = form.split_at(form.len() - 1);
                let (form, text_zone) = match (has_zone, style) {
                    (false, _) => (form.trim_end(), String::new()),
                    (true, ":") => (form, format!("{sign}{hours:02}:{minutes:02}")),
                    (true, _) => (form, format!("{sign}{hours:02}{minutes:02}")),
                };
                let text = local.strftime(form).to_string().replace('$', &fraction) + &text_zone + close;
                let expected = Time { nanoseconds: expected, form: TimeForm { zone: has_zone, year: true }, month: 0 };
                prop_assert_eq!(time(text.as_bytes()), Some(expected), "{}", text);
            }
        }

        #[test]
        fn jiff_refuses_the_same_dates(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?") {
            // jiff reads the second 60 as 59.
            prop_assume!(!text.ends_with(":60"));
            prop_assert_eq!(nanoseconds(&text).is_some(), text.parse::<DateTime>().is_ok(), "{}", text);
        }

        #[test]
        fn longest_times_are_times(
            text in "(\\[?[0-9]{1,4}[-/ ](11|Nov)[-/ ][0-9]{2,4}|Sat,? )?(Nov +[0-9]{1,2} )?[T :]?[0-9]{2}:[0-5]{2}(:[0-9]{2})?[., +0-9Z:\\]]{0,6}",
            bytes: Vec<u8>,
        ) {
            for text in [text.as_bytes(), &bytes] {
                let Some((read, length)) = time_at(text) else { continue };
                prop_assert_eq!(time(&text[..length]), Some(read));
                let longer = (length + 1..=text.len()).filter(|&end| time(&text[..end]).is_some());
                let ends = longer.filter(|&end| end == text.len() || text[end] == b' ' || text[end] == b'\t');
                prop_assert_eq!(ends.count(), 0, "{}", text.escape_ascii());
            }
        }
    }
}
