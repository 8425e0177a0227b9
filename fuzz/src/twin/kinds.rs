//! Times and sizes, as integers and decimals that number columns have.

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
