//! Numbers as people read them.

/// Digits in groups of three.
#[must_use]
pub fn grouped(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Three significant digits, or all before the point; at most three behind it.
#[must_use]
pub fn short(number: f64) -> String {
    let decimals = match number {
        number if number >= 99.95 => 0,
        number if number >= 9.995 => 1,
        number if number >= 0.9995 => 2,
        _ => 3,
    };
    format!("{number:.decimals$}")
}

/// A time in the unit that leaves one to three digits before the point: `9.94 µs`.
#[must_use]
pub fn time(milliseconds: f64) -> String {
    let (unit, name) = match milliseconds {
        ms if ms >= 999.5 => (1e3, "s"),
        ms if ms >= 0.9995 => (1.0, "ms"),
        ms if ms >= 0.000_999_5 => (1e-3, "µs"),
        _ => (1e-6, "ns"),
    };
    format!("{} {name}", short(milliseconds / unit))
}

/// A count in thousands, millions or billions: `1.62 G`.
#[must_use]
pub fn count(number: f64) -> String {
    let (unit, name) = match number {
        number if number >= 999.5e6 => (1e9, " G"),
        number if number >= 999.5e3 => (1e6, " M"),
        number if number >= 999.5 => (1e3, " K"),
        _ => (1.0, ""),
    };
    format!("{}{name}", short(number / unit))
}

/// A size in the largest unit that leaves a whole part.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4);
    let value = bytes as f64 / f64::from(1 << (10 * unit.min(3))) / if unit == 4 { 1024.0 } else { 1.0 };
    let digits = if value.fract() == 0.0 { value.to_string() } else { short(value) };
    format!("{digits} {}", units[unit as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(["0", "999", "1000", "1234567"].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0612, 1.234, 12.34, 123.4].map(short), ["0.061", "1.23", "12.3", "123"]);
        assert_eq!([0.9999, 9.999, 99.99].map(short), ["1.00", "10.0", "100"]);
        assert_eq!(
            [0.0, 0.000_5, 0.0375, 23.3, 999.9].map(time),
            ["0.000 ns", "500 ns", "37.5 µs", "23.3 ms", "1.00 s"]
        );
        assert_eq!([5.0, 1_500.0, 25e6, 11.5e9].map(count), ["5.00", "1.50 K", "25.0 M", "11.5 G"]);
        assert_eq!(
            [0, 1023, 1 << 10, 3 << 29, 5 << 40].map(bytes),
            ["0 B", "1023 B", "1 KiB", "1.50 GiB", "5 TiB"]
        );
    }
}
