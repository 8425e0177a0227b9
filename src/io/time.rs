//! Times in text: the extended forms of ISO 8601 and RFC 3339, and those of access logs. Others are
//! those of `time_format`.
//!
//! ```text
//! 2026-11-21   2026-11-21T10:00   2026-11-21 10:00:00.123456   2026-11-21t10:00:00Z   2026-11-21T10:00+02:00
//! [21/Nov/2026:10:00:01 +0100]
//! ```
//!
//! A time is an instant, in nanoseconds from the beginning of 1970; without a zone it is taken as
//! one of UTC, and a date is its first instant. The second 60 is the first one of the next minute.
//! Years are those of the Gregorian calendar, 0000 to 9999.

/// A time that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// Nanoseconds from the beginning of 1970.
    pub(super) nanoseconds: i128,
    /// How many decimals its seconds need, at most 9.
    pub(super) decimals: u8,
    /// Whether a zone is given.
    pub(super) has_zone: bool,
}

impl Time {
    /// The time this many nanoseconds from the beginning of 1970.
    pub(super) fn at(nanoseconds: i128, has_zone: bool) -> Self {
        let mut fraction = nanoseconds.rem_euclid(SECOND) as u32;
        let mut decimals = if fraction == 0 { 0 } else { 9 };
        while decimals > 0 && fraction.is_multiple_of(10) {
            (fraction, decimals) = (fraction / 10, decimals - 1);
        }
        Self { nanoseconds, decimals, has_zone }
    }
}

pub(super) const SECOND: i128 = 1_000_000_000;
pub(super) const DAY: i128 = 24 * 60 * 60 * SECOND;

/// Bytes of a date.
pub(super) const DATE: usize = "2026-11-21".len();

/// The time that these bytes spell; `None` if they are none, or no day or time of day that there
/// is.
#[inline]
pub(super) fn time(bytes: &[u8]) -> Option<Time> {
    // Most fields are none.
    let (date, rest) = bytes.split_at_checked(DATE)?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let days = days(number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?)?;
    let midnight = i128::from(days) * DAY;
    let [b'T' | b't' | b' ' | b'\t', rest @ ..] = rest else {
        let is_all = rest.is_empty();
        return is_all.then_some(Time { nanoseconds: midnight, decimals: 0, has_zone: false });
    };
    instant(midnight, &parts_of_day(rest)?)
}

/// The time that these bytes spell as access logs do, with brackets or without:
/// `[21/Nov/2026:10:00:01 +0100]`. The seconds may have decimals, and the zone may be left out.
#[inline]
pub(super) fn clf(field: &[u8]) -> Option<Time> {
    let ([b'[', bytes @ .., b']'] | bytes) = field;
    let (date, rest) = bytes.split_at_checked("21/Nov/2026:".len())?;
    if date[2] != b'/' || date[6] != b'/' || date[11] != b':' || rest.get("10:00".len()) != Some(&b':') {
        return None;
    }
    let days = days(number(&date[7..11])?, month(&date[3..6])?, number(&date[..2])?)?;
    let (mut parts, rest) = clock(rest)?;
    parts.zone = match rest {
        [] => None,
        [b' ', sign @ (b'+' | b'-'), zone @ ..] => {
            let (hours, rest) = two_digits(zone)?;
            let (minutes, []) = two_digits(rest)? else { return None };
            Some((*sign == b'+', hours, minutes))
        }
        _ => return None,
    };
    instant(i128::from(days) * DAY, &parts)
}

/// The number of the month of this abbreviation, in any case.
#[inline]
fn month(name: &[u8]) -> Option<u32> {
    // Small letters have this bit, and only letters become some by it.
    let &[first, second, third] = name else { return None };
    Some(match &[first | 0x20, second | 0x20, third | 0x20] {
        b"jan" => 1,
        b"feb" => 2,
        b"mar" => 3,
        b"apr" => 4,
        b"may" => 5,
        b"jun" => 6,
        b"jul" => 7,
        b"aug" => 8,
        b"sep" => 9,
        b"oct" => 10,
        b"nov" => 11,
        b"dec" => 12,
        _ => return None,
    })
}

/// The time at this time of the day that begins at `midnight`, if there is such a time of day.
#[inline]
fn instant(midnight: i128, parts: &PartsOfDay<'_>) -> Option<Time> {
    let &PartsOfDay { hour, minute, second, decimals, zone } = parts;
    let (is_east, hours, minutes) = zone.unwrap_or_default();
    if hour > 23 || minute > 59 || second > 60 || decimals.len() > 9 || hours > 23 || minutes > 59 {
        return None;
    }
    let east = i128::from(60 * hours + minutes) * if is_east { 1 } else { -1 };
    // Zeros at the end add nothing.
    let needed = decimals.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    let fraction = decimals[..needed].iter().fold(0, |value, digit| 10 * value + i128::from(digit - b'0'));
    let fraction = fraction * 10_i128.pow(9 - needed as u32);
    let seconds = i128::from((hour * 60 + minute) * 60 + second) - 60 * east;
    let nanoseconds = midnight + seconds * SECOND + fraction;
    Some(Time { nanoseconds, decimals: needed as u8, has_zone: zone.is_some() })
}

/// Whether these bytes have the form of a date.
#[inline]
pub(super) fn is_date(bytes: &[u8]) -> bool {
    bytes.len() == DATE
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Whether these bytes have the form of a time of day, with or without a zone.
pub(super) fn is_time_of_day(bytes: &[u8]) -> bool {
    parts_of_day(bytes).is_some()
}

/// The numbers of a time of day, whatever they are.
struct PartsOfDay<'a> {
    hour: u32,
    minute: u32,
    second: u32,
    decimals: &'a [u8],
    /// The sign, hours and minutes; `Z` is +00:00.
    zone: Option<(bool, u32, u32)>,
}

#[inline]
fn parts_of_day(bytes: &[u8]) -> Option<PartsOfDay<'_>> {
    let (parts, rest) = clock(bytes)?;
    let zone = match rest {
        [] => None,
        [b'Z' | b'z'] => Some((true, 0, 0)),
        [sign @ (b'+' | b'-'), zone @ ..] => {
            let (hours, rest) = two_digits(zone)?;
            let (minutes, rest) = two_digits(rest.strip_prefix(b":")?)?;
            if !rest.is_empty() {
                return None;
            }
            Some((*sign == b'+', hours, minutes))
        }
        _ => return None,
    };
    Some(PartsOfDay { zone, ..parts })
}

/// A time of day without its zone, and what comes after it.
#[inline]
fn clock(bytes: &[u8]) -> Option<(PartsOfDay<'_>, &[u8])> {
    let (hour, mut rest) = two_digits(bytes)?;
    let minute;
    (minute, rest) = two_digits(rest.strip_prefix(b":")?)?;
    let (mut second, mut decimals) = (0, &[][..]);
    if let Some(seconds) = rest.strip_prefix(b":") {
        (second, rest) = two_digits(seconds)?;
        if let [b'.' | b',', fraction @ ..] = rest {
            let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if count == 0 {
                return None;
            }
            (decimals, rest) = fraction.split_at(count);
        }
    }
    Some((PartsOfDay { hour, minute, second, decimals, zone: None }, rest))
}

/// Two digits, and what comes after them.
#[inline]
fn two_digits(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(2)?;
    Some((number(digits)?, rest))
}

/// The number of these digits, which are few.
#[inline]
fn number(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| 10 * value + u32::from(byte - b'0')))
}

/// Days from the first of the year 0 to that of 1970.
const TO_1970: i32 = 719_528;

/// Days from the first of 1970; `None` if there is no such day.
#[inline]
pub(super) fn days(year: u32, month: u32, day: u32) -> Option<i32> {
    const BEFORE: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    const LONG: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let at = month.wrapping_sub(1) as usize;
    let long = LONG.get(at)? + u32::from(is_leap && month == 2);
    if day == 0 || day > long {
        return None;
    }
    let leap_days =
        |years: u32| if years == 0 { 0 } else { (years - 1) / 4 - (years - 1) / 100 + (years - 1) / 400 + 1 };
    let of_year = BEFORE[at] + u32::from(is_leap && month > 2) + day - 1;
    Some((365 * year + leap_days(year) + of_year) as i32 - TO_1970)
}

/// The parts of what may be a date in an order of its own: three numbers of up to four digits
/// between one of these separators.
pub(super) fn parts_of_date<'a>(text: &'a [u8], separators: &[u8]) -> Option<[&'a [u8]; 3]> {
    let is_part = |part: &&[u8]| (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    separators.iter().find_map(|separator| {
        let parts: Vec<&[u8]> = text.split(|byte| byte == separator).collect();
        let parts: [&[u8]; 3] = parts.try_into().ok()?;
        parts.iter().all(is_part).then_some(parts)
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil::DateTime;
    use jiff::tz::{Offset, TimeZone};
    use proptest::prelude::*;

    use super::*;

    fn nanoseconds(text: &str) -> Option<i128> {
        time(text.as_bytes()).map(|time| time.nanoseconds)
    }

    /// A time in these nanoseconds from the beginning of 1970.
    fn shown(nanoseconds: i128) -> String {
        let (days_past, of_day) = (nanoseconds.div_euclid(DAY) as i32, nanoseconds.rem_euclid(DAY));
        let first_of = |year: u32, month| days(year, month, 1).unwrap_or(i32::MAX);
        // No year is longer than 366 days.
        let mut year = ((days_past + TO_1970) / 366).clamp(0, 9999) as u32;
        while year < 9999 && first_of(year + 1, 1) <= days_past {
            year += 1;
        }
        let month = (1..=12).rev().find(|&month| first_of(year, month) <= days_past).unwrap_or(1);
        let day = days_past - first_of(year, month) + 1;
        let (seconds, fraction) = (of_day / SECOND, of_day % SECOND);
        let [hour, minute, second] = [seconds / 3600, seconds / 60 % 60, seconds % 60];
        let decimals = if fraction > 0 { format!(".{fraction:09}") } else { String::new() };
        let decimals = decimals.trim_end_matches('0');
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{decimals}")
    }

    #[test]
    fn forms_of_times() {
        for (text, nanoseconds, decimals, has_zone) in [
            ("1970-01-01", 0, 0, false),
            ("1970-01-02T00:00", DAY, 0, false),
            ("1970-01-01 00:00:01.500000", 3 * SECOND / 2, 1, false),
            ("1970-01-01\t00:00:00,000000001", 1, 9, false),
            ("1970-01-01t00:01z", 60 * SECOND, 0, true),
            ("1970-01-01T02:00+02:00", 0, 0, true),
            ("1969-12-31 23:30:00-00:30", 0, 0, true),
            ("1969-12-31T23:59:60", 0, 0, false),
            ("1970-01-01T00:00:00.000000000Z", 0, 0, true),
        ] {
            let expected = Time { nanoseconds, decimals, has_zone };
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
            "1970/01/01",
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
            "1970-01-01T10:00+02",
            "1970-01-01T10:00+0200",
            "1970-01-01T10:00+24:00",
            "1970-01-01T10:00+02:60",
            "1970-01-01T10:00 Z",
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
        assert!(
            nanoseconds("0000-01-01") < nanoseconds("0000-01-02")
                && nanoseconds("9999-12-31T23:59:60.9").is_some()
        );
    }

    #[test]
    fn times_of_access_logs() {
        for (text, expected) in [
            ("[21/Nov/2026:10:00:01 +0000]", "2026-11-21T10:00:01Z"),
            ("21/Nov/2026:10:00:01 +0100", "2026-11-21T10:00:01+01:00"),
            ("[29/feb/2024:23:59:60 -0330]", "2024-02-29T23:59:60-03:30"),
            ("[01/JAN/0000:00:00:00 +0000]", "0000-01-01T00:00Z"),
            ("[31/Dec/9999:23:59:59 -2359]", "9999-12-31T23:59:59-23:59"),
            ("[21/Nov/2026:10:00:01.250 +0000]", "2026-11-21T10:00:01.25Z"),
            // HAProxy's.
            ("[21/Nov/2026:10:00:01.123]", "2026-11-21T10:00:01.123"),
            ("21/Nov/2026:10:00:01", "2026-11-21T10:00:01"),
        ] {
            let expected = time(expected.as_bytes());
            assert!(expected.is_some());
            assert_eq!(clf(text.as_bytes()), expected, "{text}");
        }
        for month in 1..=12 {
            let date = jiff::civil::date(2026, month, 15);
            let text = date.strftime("[%d/%b/%Y:00:00:00 +0000]").to_string();
            let expected = nanoseconds(&date.to_string());
            assert_eq!(clf(text.as_bytes()).map(|time| time.nanoseconds), expected, "{text}");
        }
        for text in [
            "",
            "[",
            "[]",
            "[21/Nov/2026:10:00:01 +0100",
            "21/Nov/2026:10:00:01 +0100]",
            "[[21/Nov/2026:10:00:01 +0100]]",
            "[21/Nov/2026]",
            "[21/Nov/2026:10:00 +0100]",
            "[21/Nov/2026:10:00:01 +01:00]",
            "[21/Nov/2026:10:00:01+0100]",
            "[21/Nov/2026:10:00:01Z]",
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
            assert_eq!(clf(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_day_is_one_after_the_day_before() {
        let mut before = nanoseconds("0000-01-01").unwrap();
        let mut date = jiff::civil::date(0, 1, 1);
        while let Ok(next) = date.tomorrow() {
            date = next;
            let days = nanoseconds(&date.to_string());
            assert_eq!(days, Some(before + DAY), "{date}");
            before += DAY;
            assert_eq!(shown(before), format!("{date}T00:00:00"));
        }
        assert_eq!(date.to_string(), "9999-12-31");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn times_are_those_of_jiff(
            seconds in -62_167_219_200_i64..253_370_764_800,
            nanos in 0..1_000_000_000_i32,
            decimals in 0..=9_usize,
            zone in -1439..1440_i32,
            form in 0..4_u8,
        ) {
            let at = jiff::Timestamp::new(seconds, 0).unwrap();
            let zone = if form < 2 { 0 } else { zone };
            let local: DateTime = TimeZone::fixed(Offset::from_seconds(60 * zone).unwrap()).to_datetime(at);
            prop_assume!((0..=9999).contains(&local.year()));
            let fraction = format!("{nanos:09}")[..decimals].to_owned();
            let point = if decimals == 0 { "" } else { "." };
            let zone = match form {
                0 => String::new(),
                1 => "Z".to_owned(),
                _ => format!("{}{:02}:{:02}", if zone < 0 { '-' } else { '+' }, zone.abs() / 60, zone.abs() % 60),
            };
            let text = format!("{}T{}{point}{fraction}{zone}", local.date(), local.time());
            let nanos: i128 = format!("{fraction:0<9}").parse().unwrap();
            let expected = i128::from(seconds) * SECOND + nanos;
            prop_assert_eq!(nanoseconds(&text), Some(expected), "{}", text);
            let read = time(text.as_bytes()).unwrap();
            prop_assert_eq!(read, Time::at(expected, form > 0));
            if form > 0 {
                let date = local.date().strftime("%d/%b/%Y");
                let zone = if form == 1 { "+0000".to_owned() } else { zone.replace(':', "") };
                let text = format!("[{date}:{}{point}{fraction} {zone}]", local.time());
                prop_assert_eq!(clf(text.as_bytes()), Some(read), "{}", text);
            }
            if form == 0 {
                prop_assert_eq!(nanoseconds(&shown(expected)), Some(expected));
            }
        }

        #[test]
        fn what_is_no_time_is_none_for_jiff_either(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?") {
            let theirs: Option<DateTime> = text.parse().ok();
            // Theirs takes the second 60 for the one before.
            prop_assume!(!text.ends_with(":60"));
            prop_assert_eq!(nanoseconds(&text).is_some(), theirs.is_some(), "{}", text);
        }
    }
}
