//! Digits put together to words that a sort takes.

use super::column::Digits;
use crate::key::Pieces;
use crate::parallel::map_parts;

/// As few words as hold all digits, which are given from the most significant one; at least one. `rows` says how many
/// there are of each part.
pub(super) fn words(digits: Vec<Digits>, rows: &[usize]) -> Vec<Pieces> {
    let mut words: Vec<(Vec<Vec<u64>>, u32)> = Vec::new();
    for Digits { parts, most } in digits.into_iter().rev() {
        let bits = u64::BITS - most.leading_zeros();
        match words.last_mut() {
            // All rows have the same one.
            _ if bits == 0 => {}
            Some((word, below)) if *below + bits <= u64::BITS => {
                let pairs: Vec<(Vec<u64>, Vec<u64>)> = std::mem::take(word).into_iter().zip(parts).collect();
                *word = map_parts(pairs, |(mut word, digits)| {
                    word.iter_mut().zip(digits).for_each(|(word, digit)| *word |= digit << *below);
                    word
                });
                *below += bits;
            }
            _ => words.push((parts, bits)),
        }
    }
    if words.is_empty() {
        return vec![Pieces::One(rows.iter().map(|&rows| vec![0; rows]).collect())];
    }
    let fit = |(word, bits): (Vec<Vec<u64>>, u32)| {
        if bits > u32::BITS {
            return Pieces::Two(word);
        }
        Pieces::One(map_parts(word, |part| part.into_iter().map(|digit| digit as u32).collect()))
    };
    words.into_iter().rev().map(fit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_share_words_as_long_as_they_fit() {
        let digits = |most: u64| Digits { parts: vec![vec![0, most], vec![most / 2]], most };
        let all = |most: &[u64]| words(most.iter().map(|&most| digits(most)).collect(), &[2, 1]);
        assert_eq!(all(&[0, 0]), [Pieces::One(vec![vec![0, 0], vec![0]])]);
        assert_eq!(all(&[3, 0, 4]), [Pieces::One(vec![vec![0, 0b11_100], vec![0b01_010]])]);
        let wide = Pieces::Two(vec![vec![0, u64::MAX], vec![u64::MAX / 2]]);
        assert_eq!(all(&[1, u64::MAX]), [Pieces::One(vec![vec![0, 1], vec![0]]), wide.clone()]);
        assert_eq!(all(&[u64::MAX, 1]), [wide, Pieces::One(vec![vec![0, 1], vec![0]])]);
        let two = Pieces::Two(vec![
            vec![0, 7 << 32 | u64::from(u32::MAX)],
            vec![3 << 32 | u64::from(u32::MAX / 2)],
        ]);
        assert_eq!(all(&[7, u32::MAX.into()]), [two]);
    }
}
