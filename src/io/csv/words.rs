//! Packs digits into words for the sort.

use super::column::Digits;
use crate::parallel::map_parts;
use crate::words::Words;

/// Packs the digits, most significant first, into as few words as possible, at least one. `rows` has the
/// number of rows of each part.
pub(super) fn words(digits: Vec<Digits>, rows: &[usize]) -> Vec<Words<'static>> {
    let mut words: Vec<(Vec<Vec<u64>>, u32)> = Vec::new();
    for Digits { parts, most } in digits.into_iter().rev() {
        let bits = u64::BITS - most.leading_zeros();
        match words.last_mut() {
            // The digit is the same in all rows.
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
        return vec![rows.iter().map(|&rows| vec![0_u32; rows]).collect::<Vec<_>>().into()];
    }
    let fit = |(word, bits): (Vec<Vec<u64>>, u32)| {
        if bits > u32::BITS {
            return word.into();
        }
        map_parts(word, |part| part.into_iter().map(|digit| digit as u32).collect::<Vec<_>>()).into()
    };
    words.into_iter().rev().map(fit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_share_words_as_long_as_they_fit() {
        let digits = |most: u64| Digits { parts: vec![vec![0, most], vec![most / 2]], most };
        let narrow = |words: &[u32]| Words::from(words.to_vec());
        let all = |most: &[u64]| words(most.iter().map(|&most| digits(most)).collect(), &[2, 1]);
        assert_eq!(all(&[0, 0]), [narrow(&[0, 0, 0])]);
        assert_eq!(all(&[3, 0, 4]), [narrow(&[0, 0b11_100, 0b01_010])]);
        let wide = Words::from(vec![0, u64::MAX, u64::MAX / 2]);
        assert_eq!(all(&[1, u64::MAX]), [narrow(&[0, 1, 0]), wide.clone()]);
        assert_eq!(all(&[u64::MAX, 1]), [wide, narrow(&[0, 1, 0])]);
        let two = Words::from(vec![0, 7 << 32 | u64::from(u32::MAX), 3 << 32 | u64::from(u32::MAX / 2)]);
        assert_eq!(all(&[7, u32::MAX.into()]), [two]);
    }
}
