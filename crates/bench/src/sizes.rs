//! Input sizes as in `--sizes`: `256..1M`, `1K..256M*2`, `1K,64K,1e6`.

use std::str::FromStr;

use gpusort_base::human::{self, size};

/// Input sizes: ascending, without duplicates, none zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<usize>);

/// The default factor between consecutive sizes of a range.
const FACTOR: &str = "4";

impl FromStr for Sizes {
    /// The problem with the text; clap quotes the text before it.
    type Err = String;

    /// Parses a comma-separated list of sizes and ranges. `A..B` is A, 4 A, and so on up to B;
    /// `A..B*F` uses the factor F. Both ends are included.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            // In a list the message says which part is meant.
            let size = |size| {
                parse(size).map_err(|wrong| match size == text {
                    true => wrong,
                    false => format!("'{}': {wrong}", human::quoted(size)),
                })
            };
            let Some((first, rest)) = part.split_once("..") else {
                sizes.push(size(part)?);
                continue;
            };
            let (last, factor) = rest.split_once('*').unwrap_or((rest, FACTOR));
            if first.is_empty() || last.is_empty() {
                let lacks = if last.is_empty() { "end" } else { "beginning" };
                return Err(format!("'{}' has no {lacks}", human::quoted(part)));
            }
            let other_way = format!("{last}..{first}");
            let (factor, first, last) = (size(factor)?, size(first)?, size(last)?);
            if first > last {
                return Err(format!("'{part}' begins after its end; write {other_way}"));
            }
            if factor < 2 {
                return Err(format!("the factor of '{part}' must be at least 2"));
            }
            let grow = |size: &usize| size.checked_mul(factor).filter(|&next| next < last);
            sizes.extend(std::iter::successors(Some(first), grow));
            sizes.push(last);
        }
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }
}

fn parse(text: &str) -> Result<usize, String> {
    match usize::try_from(size::parse(text)?) {
        Ok(0) => Err("a size must be at least 1".to_owned()),
        Ok(size) => Ok(size),
        Err(_) => Err("expected a size that this machine can address".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<usize> {
        text.parse::<Sizes>().map(|sizes| sizes.0).unwrap_or_default()
    }

    #[test]
    fn sizes_are_read_as_written() {
        assert_eq!(sizes("256..1M"), [256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20]);
        assert_eq!(sizes("1K..8K*2"), [1 << 10, 2 << 10, 4 << 10, 8 << 10]);
        assert_eq!(sizes("1..10*3"), [1, 3, 9, 10], "the end is in it");
        assert_eq!(sizes("5..5"), [5]);
        assert_eq!(sizes("64K,1K,1000000,1K"), [1 << 10, 1 << 16, 1_000_000], "rising, each once");
        assert_eq!(sizes("10,1..4"), [1, 4, 10]);
        assert_eq!(sizes("1e3..1e4*10,1.5e3"), [1_000, 1_500, 10_000]);
        assert_eq!(sizes("18446744073709551615").len(), 1);
        assert_eq!(sizes("1..18446744073709551615*2").len(), 65);
    }

    #[test]
    fn what_names_no_sizes_is_refused() {
        for (text, said) in [
            ("", "expected a number such as"),
            ("x", "expected a number such as"),
            ("1K,", "'': expected a number such as"),
            ("1..", "'1..' has no end"),
            ("x..1K", "'x': expected a number such as"),
            ("1M..1K", "'1M..1K' begins after its end; write 1K..1M"),
            ("1K..8", "'1K..8' begins after its end; write 8..1K"),
            ("1..8*1", "the factor of '1..8*1' must be at least 2"),
            ("0..8", "'0': a size must be at least 1"),
            ("0", "a size must be at least 1"),
            ("1..8*", "'': expected a number such as"),
        ] {
            let message = text.parse::<Sizes>().unwrap_err();
            assert!(message.starts_with(said), "{text}: {message}");
        }
    }
}
