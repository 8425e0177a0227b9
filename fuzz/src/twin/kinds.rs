//! Times, sizes and durations, as integers and decimals that number columns have, and numbers in
//! base 16.

use std::ops::Range;

/// A time: nanoseconds from the beginning of 1970, decimals of its seconds, and whether it has a
/// zone.
pub fn time(field: &[u8]) -> Option<(i128, usize, bool)> {
    let field = std::str::from_utf8(field).ok().filter(|field| field.is_ascii())?;
    let digits = |range: Range<usize>| -> Option<i128> {
        let digits = field.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let is = |at: usize, allowed: &str| field[at..].chars().next().is_some_and(|c| allowed.contains(c));
    if field.len() < 10 || !is(4, "-") || !is(7, "-") {
        return None;
    }
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    let is_leap = |year: i128| year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    let long = |year, month| match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i128::from(is_leap(year)),
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=long(year, month)).contains(&day) {
        return None;
    }
    let of_years: i128 = (0..year).map(|year| 365 + i128::from(is_leap(year))).sum();
    let of_months: i128 = (1..month).map(|month| long(year, month)).sum();
    let mut seconds = (of_years + of_months + day - 1 - 719_528) * 86_400;
    if field.len() == 10 {
        return Some((seconds * 1_000_000_000, 0, false));
    }
    if field.len() < 16 || !is(10, "Tt \t") || !is(13, ":") {
        return None;
    }
    let (hour, minute) = (digits(11..13)?, digits(14..16)?);
    let mut rest = &field[16..];
    let (mut second, mut fraction) = (0, String::new());
    if let Some(after) = rest.strip_prefix(':') {
        second = digits(17..19)?;
        rest = &after[2..];
        if let Some(decimals) = rest.strip_prefix(['.', ',']) {
            fraction = decimals.chars().take_while(char::is_ascii_digit).collect();
            rest = &decimals[fraction.len()..];
            if fraction.is_empty() || fraction.len() > 9 {
                return None;
            }
        }
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    seconds += hour * 3600 + minute * 60 + second;
    let has_zone = match rest {
        "" => false,
        "Z" | "z" => true,
        _ => {
            let begin = field.len() - rest.len();
            if rest.len() != 6 || !is(begin, "+-") || !is(begin + 3, ":") {
                return None;
            }
            let (hours, minutes) = (digits(begin + 1..begin + 3)?, digits(begin + 4..begin + 6)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let offset = hours * 3600 + minutes * 60;
            seconds += if rest.starts_with('+') { -offset } else { offset };
            true
        }
    };
    let decimals = fraction.trim_end_matches('0').len();
    let nanoseconds: i128 = format!("{fraction:0<9}").parse().ok()?;
    Some((seconds * 1_000_000_000 + nanoseconds, decimals, has_zone))
}

/// The same of an access log: `[21/Nov/2026:10:00:01 +0100]`, with or without brackets.
pub fn time_of_log(field: &[u8]) -> Option<(i128, usize, bool)> {
    let field = std::str::from_utf8(field).ok().filter(|field| field.is_ascii())?;
    let field = match field.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?,
        None => field,
    };
    let (date, clock) = field.split_once(':')?;
    let [day, month, year]: [&str; 3] = date.split('/').collect::<Vec<_>>().try_into().ok()?;
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = 1 + months.iter().position(|name| *name == month.to_ascii_lowercase())?;
    let (clock, zone) = match clock.split_once(' ') {
        Some((clock, zone)) if zone.len() == 5 => (clock, format!("{}:{}", &zone[..3], &zone[3..])),
        Some(_) => return None,
        None => (clock, String::new()),
    };
    // Seconds are always there.
    if clock.len() < 8 || clock.contains(['Z', 'z', '+', '-']) || day.len() != 2 || year.len() != 4 {
        return None;
    }
    time(format!("{year}-{month:02}-{day}T{clock}{zone}").as_bytes())
}

/// The longest duration and the farthest time that count.
const FAR: i128 = 1 << 84;

/// This many units of so many nanoseconds: digits with a point and an exponent. `None` if it is no
/// whole number of nanoseconds.
fn nanoseconds(number: &str, unit: i128) -> Option<i128> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once(['.', ',']).unwrap_or((mantissa, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
    let exponent: i32 = exponent.parse().ok()?;
    let fraction = fraction.trim_end_matches('0');
    let mut value = format!("0{whole}{fraction}").parse::<i128>().ok()?.checked_mul(unit)?;
    let shift = exponent - fraction.len() as i32;
    for _ in 0..shift.unsigned_abs() {
        match shift {
            0.. => value = value.checked_mul(10)?,
            _ if value % 10 != 0 => return None,
            _ => value /= 10,
        }
    }
    (value <= FAR).then_some(value)
}

/// How long a number without a sign is that these bytes begin with.
fn length_of_number(text: &str) -> usize {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    let whole = digits(text);
    let mut at = whole;
    if text[at..].starts_with('.') && whole + digits(&text[at + 1..]) > 0 {
        at += 1 + digits(&text[at + 1..]);
    }
    if at > 0 && text[at..].starts_with(['e', 'E']) {
        let sign = usize::from(text[at + 1..].starts_with(['+', '-']));
        let exponent = digits(&text[at + 1 + sign..]);
        at += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    at
}

const SECOND: i128 = 1_000_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;

/// Seconds from the beginning of 1970, as a time with a zone.
pub fn time_of_epoch(field: &[u8]) -> Option<(i128, usize, bool)> {
    let field = std::str::from_utf8(field).ok()?;
    let number = field.strip_prefix(['+', '-']).unwrap_or(field);
    if length_of_number(number) < number.len() {
        return None;
    }
    let size = nanoseconds(number, SECOND)?;
    let decimals = format!("{:09}", size % SECOND).trim_end_matches('0').len();
    Some((if field.starts_with('-') { -size } else { size }, decimals, true))
}

/// A duration in nanoseconds: units, a clock, a form of ISO 8601, or a number of seconds.
pub fn duration(field: &[u8]) -> Option<i128> {
    let field = std::str::from_utf8(field).ok()?;
    let rest = field.strip_prefix(['+', '-']).unwrap_or(field);
    let size = if let Some(rest) = rest.strip_prefix(['P', 'p']) {
        iso(rest)?
    } else if rest.contains(':') {
        clock(rest)?
    } else {
        of_units(rest)?
    };
    let size = Some(size).filter(|&size| size <= FAR)?;
    Some(if field.starts_with('-') { -size } else { size })
}

/// `1h 2m 3.5s`: from large to small, and only the last may have a point or an exponent.
fn of_units(text: &str) -> Option<i128> {
    let blanks: [char; 5] = [' ', '\t', '\n', '\r', '\u{C}'];
    let (mut rest, mut sum, mut last) = (text, 0_i128, None);
    loop {
        let number = &rest[..length_of_number(rest)];
        rest = rest[number.len()..].trim_start_matches(blanks);
        let end = rest.find(|c: char| c.is_ascii_digit() || ".+- \t".contains(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        rest = &rest[end..];
        let unit = if name.is_empty() && rest.is_empty() && last.is_none() { SECOND } else { unit(name)? };
        if last.is_some_and(|last| unit >= last) {
            return None;
        }
        sum = sum.checked_add(nanoseconds(number, unit)?)?;
        rest = rest.trim_start_matches(blanks);
        if rest.is_empty() {
            return Some(sum);
        }
        if !number.chars().all(|c| c.is_ascii_digit()) {
            return None;
        }
        last = Some(unit);
    }
}

fn unit(name: &str) -> Option<i128> {
    // Months are elsewhere written so.
    if name == "M" {
        return None;
    }
    Some(match name.to_ascii_lowercase().as_str() {
        "w" | "week" | "weeks" => 7 * DAY,
        "d" | "day" | "days" => DAY,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "ms" | "msec" | "msecs" => SECOND / 1000,
        "us" | "usec" | "usecs" | "\u{B5}s" | "\u{3BC}s" => 1000,
        "ns" | "nsec" | "nsecs" => 1,
        _ => return None,
    })
}

/// `1:23`, `0:01:23`, `1-02:03:04`, with decimals of the seconds.
fn clock(text: &str) -> Option<i128> {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let (days, clock) = text.split_once('-').map_or((None, text), |(days, clock)| (Some(days), clock));
    let (clock, fraction) = match clock.find(['.', ',']) {
        Some(point) => (&clock[..point], Some(&clock[point + 1..])),
        None => (clock, None),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let is_sixtieth = |part: &&str| part.len() == 2 && part.as_bytes()[0] < b'6';
    if !parts.iter().all(|part| digits(part)) || !parts[1..].iter().all(is_sixtieth) {
        return None;
    }
    let (hours, minutes, seconds) = match parts[..] {
        [minutes, seconds] if days.is_none() => ("0", minutes, seconds),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    if days
        .is_some_and(|days| !digits(days) || hours.len() > 2 || hours.parse::<u8>().is_ok_and(|it| it > 23))
    {
        return None;
    }
    let seconds = match fraction {
        Some(fraction) if !digits(fraction) => return None,
        Some(fraction) => format!("{seconds}.{fraction}"),
        None => seconds.to_owned(),
    };
    let mut sum = nanoseconds(days.unwrap_or("0"), DAY)?;
    for (part, unit) in [(hours, HOUR), (minutes, MINUTE), (&seconds, SECOND)] {
        sum = sum.checked_add(nanoseconds(part, unit)?)?;
    }
    Some(sum)
}

/// What comes after `P`: weeks and days, then after `T` hours, minutes and seconds, each once, in
/// this order, at least one, and after `T` one, too. Only the last may have decimals.
fn iso(text: &str) -> Option<i128> {
    let text = text.to_ascii_uppercase();
    let (date, time) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (&text[..], ""),
    };
    let (mut sum, mut is_last, mut count) = (0_i128, false, 0);
    for (mut rest, units) in
        [(date, &[('W', 7 * DAY), ('D', DAY)][..]), (time, &[('H', HOUR), ('M', MINUTE), ('S', SECOND)])]
    {
        let mut units = units.iter();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
            let (number, name) = (&rest[..end], rest[end..].chars().next()?);
            let (_, unit) = units.find(|(other, _)| *other == name)?;
            let parts: Vec<&str> = number.split(['.', ',']).collect();
            let digits = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
            if is_last || parts.len() > 2 || !parts.iter().all(digits) {
                return None;
            }
            is_last = parts.len() == 2;
            sum = sum.checked_add(nanoseconds(number, *unit)?)?;
            count += 1;
            rest = &rest[end + 1..];
        }
    }
    (count > 0).then_some(sum)
}

/// The digits of a number in base 16, without zeros before them and in small letters.
pub fn hex(field: &[u8]) -> Option<Vec<u8>> {
    let digits = field.strip_prefix(b"0x").or_else(|| field.strip_prefix(b"0X")).unwrap_or(field);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    Some(digits[zeros..].to_ascii_lowercase())
}

/// The unit of size, in bytes, and that of time, in nanoseconds, that a word after a number is.
pub fn units(word: &[u8]) -> (Option<Vec<u8>>, Option<i128>) {
    if word.is_empty() || word.iter().any(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic()) {
        return (None, None);
    }
    let one = [b"1", word].concat();
    (size(&one, false).ok().flatten().map(|(bytes, _)| bytes), duration(&one))
}

/// Whether there may be numbers in these bytes that are too long for [`size`].
pub fn are_long(bytes: &[u8]) -> bool {
    // What quotes part may be one field.
    let bytes: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'"').collect();
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let runs = bytes.split(|byte| !is_of_number(byte)).any(|run| run.len() > 16);
    let exponents = bytes.windows(2).enumerate().any(|(at, pair)| {
        let sign = usize::from(matches!(pair[1], b'+' | b'-'));
        let digits = bytes[at + 1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        matches!(pair[0], b'e' | b'E') && digits > 1
    });
    runs || exponents
}

/// A size as a plain number, and whether it was written in digits alone: all of the field, or what
/// it begins with. `None` if it is none; `Err` for numbers that are too long to be reckoned with
/// here.
pub fn size(field: &[u8], leading: bool) -> Result<Option<(Vec<u8>, bool)>, ()> {
    let text: String =
        field.iter().take_while(|byte| byte.is_ascii()).map(|&byte| char::from(byte)).collect();
    let sign = text.len() - text.trim_start_matches(['+', '-']).len();
    if sign > 1 {
        return Ok(None);
    }
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    let whole = digits(&text[sign..]);
    let mut at = sign + whole;
    let mut fraction = 0;
    if text[at..].starts_with('.') {
        fraction = digits(&text[at + 1..]);
        if whole + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return Ok(None);
    }
    let mut units = text[sign..sign + whole].to_owned();
    if fraction > 0 {
        units += &text[sign + whole + 1..sign + whole + 1 + fraction];
    }
    let mut exponent = 0;
    if text[at..].starts_with(['e', 'E']) {
        let signs = usize::from(text[at + 1..].starts_with(['+', '-']));
        let count = digits(&text[at + 1 + signs..]);
        if count > 0 {
            exponent = text[at + 1..at + 1 + signs + count].parse::<i64>().map_err(|_| ())?;
            at += 1 + signs + count;
        }
    }
    let rest = text[at..].to_ascii_uppercase();
    let power = rest.chars().next().and_then(|unit| "KMGTPEZYRQ".find(unit)).map_or(0, |at| at as u32 + 1);
    let (base, length) = match (power, &rest.as_bytes()[..rest.len().min(3)]) {
        (0, [b'B', ..]) => (1024_u128, 1),
        (0, _) => (1024, 0),
        (_, [_, b'I', b'B']) => (1024, 3),
        (_, [_, b'I', ..]) => (1024, 2),
        (_, [_, b'B', ..]) => (1000, 2),
        _ => (1024, 1),
    };
    if at + length < field.len() && !leading {
        return Ok(None);
    }
    if units.len() > 16 || exponent.abs() > 9 {
        return Err(());
    }
    // The value is this many times ten to the power of `exponent - fraction`.
    let mut scaled: Vec<u128> = units.bytes().rev().map(|digit| u128::from(digit - b'0')).collect();
    for _ in 0..power {
        let mut carry = 0;
        for digit in &mut scaled {
            let product = *digit * base + carry;
            (*digit, carry) = (product % 10, product / 10);
        }
        while carry > 0 {
            scaled.push(carry % 10);
            carry /= 10;
        }
    }
    let scaled: String = scaled.iter().rev().map(u128::to_string).collect();
    let scaled = scaled.trim_start_matches('0');
    let shift = exponent - fraction as i64;
    let minus = if text.starts_with('-') { "-" } else { "" };
    let in_digits = !text[..at].contains(['.', 'e', 'E']);
    let plain = match usize::try_from(shift) {
        _ if scaled.is_empty() => "0".to_owned(),
        Ok(shift) => scaled.to_owned() + &"0".repeat(shift),
        Err(_) => {
            let decimals = shift.unsigned_abs() as usize;
            let padded = format!("{scaled:0>width$}", width = decimals + 1);
            let (whole, rest) = padded.split_at(padded.len() - decimals);
            let rest = rest.trim_end_matches('0');
            if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
        }
    };
    Ok(Some((format!("{minus}{plain}").into_bytes(), in_digits)))
}
