//! Dates of day, month and year, in an order that differs by country.
//!
//! A column of such dates is text. A note names the patterns for `--time-format`.

use crate::digits::split_digits;

/// Lists the patterns of a date alone and with a time of day.
macro_rules! patterns {
    ($($date:literal)*) => {
        [$([$date, concat!($date, " %H:%M"), concat!($date, " %H:%M:%S")]),*]
    };
}

/// The patterns: first with the day in front, then with the month in front.
const PATTERNS: [[&str; 3]; 7] =
    patterns!["%d/%m/%Y" "%d.%m.%Y" "%d-%m-%Y" "%d/%m/%y" "%d-%m-%y" "%m/%d/%Y" "%m/%d/%y"];

/// A set of patterns of day, month and year: by default all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayMonth {
    /// One bit for each date in [`PATTERNS`].
    dates: u8,
    /// One bit for each time of day in a row of [`PATTERNS`].
    clocks: u8,
}

impl Default for DayMonth {
    fn default() -> Self {
        Self::ALL
    }
}

impl DayMonth {
    /// All patterns.
    pub const ALL: Self = Self { dates: (1 << PATTERNS.len()) - 1, clocks: 0b111 };

    /// No pattern.
    pub const NONE: Self = Self { dates: 0, clocks: 0 };

    /// The patterns that fit a field.
    pub fn of(field: &[u8]) -> Self {
        Self::fitting(field).unwrap_or(Self::NONE)
    }

    /// The patterns that fit the beginning of a line: a date, with the time of day that may follow.
    pub fn at(line: &[u8]) -> Self {
        let mut blanks = line.iter().enumerate().filter(|(_, byte)| matches!(byte, b' ' | b'\t'));
        let mut end = || blanks.next().map_or(line.len(), |(at, _)| at);
        let (date, with_clock) = (end(), end());
        Self::fitting(&line[..with_clock]).unwrap_or_else(|| Self::of(&line[..date]))
    }

    fn fitting(field: &[u8]) -> Option<Self> {
        let (first, rest) = number(field)?;
        let (separator, rest) = rest.split_first()?;
        let (second, rest) = number(rest)?;
        let (year, rest) = split_digits(rest.strip_prefix(&[*separator])?);
        let (day_first, month_first) = match (separator, year.len()) {
            (b'/', 4) => (1 << 0, 1 << 5),
            (b'.', 4) => (1 << 1, 0),
            (b'-', 4) => (1 << 2, 0),
            (b'/', 2) => (1 << 3, 1 << 6),
            (b'-', 2) => (1 << 4, 0),
            _ => return None,
        };
        let fits = |day, month| (1..=31).contains(&day) && (1..=12).contains(&month);
        let dates = day_first * u8::from(fits(first, second)) + month_first * u8::from(fits(second, first));
        let clocks = match rest {
            [] => 0b001,
            [b' ', clock @ ..] => clock_bit(clock)?,
            _ => return None,
        };
        (dates != 0).then_some(Self { dates, clocks })
    }

    /// The patterns in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { dates: self.dates & other.dates, clocks: self.clocks & other.clocks }
    }

    /// True if no order of day, month and year is left. Fields with and without a time of day share an order and
    /// no pattern.
    pub fn is_empty(self) -> bool {
        self.dates == 0
    }

    /// The texts of the patterns.
    pub fn patterns(self) -> impl Iterator<Item = &'static str> {
        let has = |bits: u8, at: usize| bits >> at & 1 == 1;
        let dates = PATTERNS.iter().enumerate().filter(move |&(date, _)| has(self.dates, date));
        dates.flat_map(move |(_, row)| {
            (0..row.len()).filter(move |&clock| has(self.clocks, clock)).map(|at| row[at])
        })
    }
}

/// The bit of a time of day with or without seconds.
fn clock_bit(text: &[u8]) -> Option<u8> {
    let (hour, mut rest) = number(text)?;
    let mut clocks = 0b001;
    while let [b':', tens, units, after @ ..] = rest {
        clocks <<= 1;
        number(&[*tens, *units]).filter(|&(number, end)| number < 60 && end.is_empty())?;
        rest = after;
    }
    (hour < 24 && rest.is_empty() && matches!(clocks, 0b010 | 0b100)).then_some(clocks)
}

/// The number of one or two digits, and the text behind the digits.
fn number(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, rest) = split_digits(text);
    let number =
        digits.iter().fold(0, |number: u8, digit| number.wrapping_mul(10).wrapping_add(digit - b'0'));
    matches!(digits.len(), 1 | 2).then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::format::TimeFormat;

    fn patterns(fields: &[&str]) -> (bool, Vec<&'static str>) {
        let set = fields.iter().fold(DayMonth::ALL, |set, field| set.and(DayMonth::of(field.as_bytes())));
        (set.is_empty(), set.patterns().collect())
    }

    #[test]
    fn patterns_of_columns() {
        for (fields, expected) in [
            (&["21/11/2026"][..], &["%d/%m/%Y"][..]),
            (&["11/21/2026", "01/02/2020"], &["%m/%d/%Y"]),
            (&["01/02/2020", "1/2/2020"], &["%d/%m/%Y", "%m/%d/%Y"]),
            (&["21/11/2026", "11/21/2026"], &[]),
            (&["01/02/20"], &["%d/%m/%y", "%m/%d/%y"]),
            (&["21.11.2026", "1.2.2019"], &["%d.%m.%Y"]),
            (&["21-11-2026"], &["%d-%m-%Y"]),
            (&["21-11-26"], &["%d-%m-%y"]),
            (&["21.11.2026 10:00", "21.11.2026 9:05"], &["%d.%m.%Y %H:%M"]),
            (&["11/21/2026 23:59:59"], &["%m/%d/%Y %H:%M:%S"]),
            // The day of a column may exceed the month.
            (&["31.11.2026"], &["%d.%m.%Y"]),
        ] {
            assert_eq!(patterns(fields), (expected.is_empty(), expected.to_vec()), "{fields:?}");
            for pattern in expected {
                let format: TimeFormat = pattern.parse().unwrap();
                let possible = fields.iter().filter(|field| !field.starts_with("31"));
                assert!(possible.clone().all(|field| format.time(field.as_bytes()).is_some()), "{pattern}");
            }
        }
        // The order is known, and no pattern fits both fields.
        assert_eq!(patterns(&["21.11.2026", "21.11.2026 10:00"]), (false, vec![]));
        assert_eq!(DayMonth::ALL.patterns().count(), 21);
    }

    #[test]
    fn other_fields() {
        for field in [
            "",
            "x",
            "1.2.10",
            "21.11.26",
            "10.0.0.1",
            "21.11.2026.1",
            "2026/11/21",
            "21/11.2026",
            "11.21.2026",
            "32/13/2026",
            "0/11/2026",
            "021/11/2026",
            "21/11/026",
            "21/11/2026 ",
            "21/11/2026 10",
            "21/11/2026 24:00",
            "21/11/2026 10:60",
            "21/11/2026 10:00:00:00",
            "21/11/2026 10:00:00.5",
            "21/11/2026 10:00:0",
            "21/11/2026x",
            "21/Nov/2026",
        ] {
            assert!(DayMonth::of(field.as_bytes()).is_empty(), "{field}");
        }
    }
}
