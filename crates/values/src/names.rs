//! Names in an order of their own: months, and the names of a list.

use std::hash::{DefaultHasher, Hasher};

use crate::time::month;

/// The names of months behind their first three letters.
const MONTHS: [&[u8]; 12] =
    [b"uary", b"ruary", b"ch", b"il", b"", b"e", b"y", b"ust", b"tember", b"ober", b"ember", b"ember"];

/// Returns the number of the month of this name, from 1: short or long, in any case.
fn month_of(name: &[u8]) -> Option<u32> {
    let (&first, rest) = name.trim_ascii().split_first_chunk()?;
    let month = month(first)?;
    (rest.is_empty() || rest.eq_ignore_ascii_case(MONTHS[month as usize - 1])).then_some(month)
}

/// Returns true for the name of a month.
pub(crate) fn is_month(name: &[u8]) -> bool {
    month_of(name).is_some()
}

/// Appends the key of a name that [`is_month`] accepts.
pub(crate) fn push_month(name: &[u8], to: &mut Vec<u8>) {
    to.extend(month_of(name).map(|month| month as u8));
}

/// The names of a list, in an order of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// All names, one behind another.
    text: Vec<u8>,
    /// The end of each name in the text.
    ends: Vec<usize>,
    /// A hash table with free slots: the place of a name and 1 in the first slot from its hash on that was free, or 0.
    slots: Vec<u32>,
}

impl Names {
    /// Reads the names of a list: the first field of each line, split at blanks. A repeated name has its first place.
    pub fn of_list(list: &[u8]) -> Self {
        let list = list.strip_prefix("\u{feff}".as_bytes()).unwrap_or(list);
        let lines = list.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
        let names = lines.filter_map(|line| line.split(u8::is_ascii_whitespace).next());
        Self::of(names.filter(|name| !name.is_empty()))
    }

    /// Returns the names as they compare without ASCII case.
    #[must_use]
    pub fn ignoring_case(&self) -> Self {
        Self::of((0..self.ends.len()).map(|place| self.name(place).to_ascii_uppercase()))
    }

    fn of(names: impl Iterator<Item = impl AsRef<[u8]>> + Clone) -> Self {
        let (mut count, mut bytes) = (0_usize, 0);
        for name in names.clone() {
            (count, bytes) = (count + 1, bytes + name.as_ref().len());
        }
        let slots = vec![0; (count + count / 3 + 1).next_power_of_two()];
        let mut all = Self { text: Vec::with_capacity(bytes), ends: Vec::with_capacity(count), slots };
        for name in names {
            let slot = all.slot(name.as_ref());
            if all.slots[slot] == 0 {
                all.text.extend_from_slice(name.as_ref());
                all.ends.push(all.text.len());
                all.slots[slot] = all.ends.len() as u32;
            }
        }
        all
    }

    fn name(&self, place: usize) -> &[u8] {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[place]]
    }

    /// The slot of this name, or the free slot where it belongs.
    fn slot(&self, name: &[u8]) -> usize {
        let mut hasher = DefaultHasher::new();
        hasher.write(name);
        let mut slot = hasher.finish() as usize;
        loop {
            slot %= self.slots.len();
            match self.slots[slot] {
                0 => return slot,
                next if self.name(next as usize - 1) == name => return slot,
                _ => slot += 1,
            }
        }
    }

    /// Appends bytes that compare as texts do in the order of the list. Texts that the list lacks come last,
    /// in both directions, by their bytes. With `ignores_case` the names must, too.
    pub fn push(&self, text: &[u8], ignores_case: bool, descending: bool, to: &mut Vec<u8>) {
        let upper = ignores_case.then(|| text.to_ascii_uppercase());
        let text = upper.as_deref().unwrap_or(text);
        let place = self.slots[self.slot(text)];
        to.push(u8::from((place > 0) == descending));
        match place {
            0 => to.extend_from_slice(text),
            place => to.extend(place.to_be_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_short_and_long_names() {
        for (name, month) in
            [("Jan", 1), ("february", 2), (" MAY ", 5), ("Sep", 9), ("september", 9), ("DEC", 12)]
        {
            assert_eq!(month_of(name.as_bytes()), Some(month), "{name}");
        }
        for name in ["", "J", "Ja", "Janu", "Sept", "Mayo", "Jan.", "1", "Januar"] {
            assert_eq!(month_of(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn names_compare_by_their_places_and_others_come_last() {
        let names = Names::of_list(b"\xef\xbb\xbfchr1\t100\nchr2 90\r\n\n  chr10\nchr1\nX");
        for descending in [false, true] {
            let key = |text: &str| {
                let mut key = Vec::new();
                names.push(text.as_bytes(), false, descending, &mut key);
                key.push(0);
                // A descending text key inverts its bytes.
                if descending { key.iter().map(|byte| !byte).collect() } else { key }
            };
            let mut listed = vec!["chr1", "chr2", "chr10", "X"];
            let mut others = vec!["", "10", "chr", "chr11", "x"];
            if descending {
                listed.reverse();
                others.reverse();
            }
            listed.append(&mut others);
            assert!(listed.is_sorted_by_key(|text| key(text)), "{descending}");
        }
        let mut keys = [Vec::new(), Vec::new()];
        names.ignoring_case().push(b"CHR1", true, false, &mut keys[0]);
        names.push(b"chr1", false, false, &mut keys[1]);
        assert_eq!(keys[0], keys[1]);
    }
}
