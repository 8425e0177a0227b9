//! Keys of records as rows of bytes, which compare as the keys do.

use super::column::Column;

/// The keys of some records as rows of bytes, which compare as the keys do.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The number of each record's row, if records with the same key share a row.
    of: Option<Vec<u32>>,
}

impl Rows {
    /// Makes the rows of the keys in these columns.
    pub(crate) fn of(columns: &[Column]) -> Self {
        /// The bytes of a word.
        const WORD: usize = size_of::<u128>();
        let records = columns.first().map_or(0, Column::len);
        if !columns.iter().any(Column::needs_rows) {
            let each = columns.len() * WORD;
            let mut bytes = vec![0; records * each];
            for (number, column) in columns.iter().enumerate() {
                let places = bytes.chunks_exact_mut(each).map(|row| &mut row[number * WORD..][..WORD]);
                let words = (0..records).map(|record| column.at(record).to_be_bytes());
                places.zip(words).for_each(|(place, word)| place.copy_from_slice(&word));
            }
            return Self { bytes, ends: (1..=records).map(|count| count * each).collect(), of: None };
        }
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut push = |record| {
            push_row(columns, record, &mut bytes);
            ends.push(bytes.len());
            ends.len() as u32 - 1
        };
        let of = match columns {
            [Column::Texts(texts)] if !texts.firsts.is_empty() => {
                let mut of: Vec<u32> = Vec::with_capacity(records);
                for record in 0..records {
                    let first = texts.firsts.get(record).filter(|&&first| (first as usize) < record);
                    of.push(first.map_or_else(|| push(record), |&first| of[first as usize]));
                }
                Some(of)
            }
            _ => {
                (0..records).for_each(|record| _ = push(record));
                None
            }
        };
        bytes.shrink_to_fit();
        ends.shrink_to_fit();
        Self { bytes, ends, of }
    }

    pub(crate) fn bytes(&self) -> usize {
        let of = self.of.as_ref().map_or(0, |of| size_of_val(&of[..]));
        self.bytes.len() + size_of_val(&self.ends[..]) + of
    }

    pub(crate) fn truncate(&mut self, records: usize) {
        match &mut self.of {
            Some(of) => of.truncate(records),
            None => self.ends.truncate(records),
        }
    }

    #[inline]
    pub(crate) fn row(&self, record: usize) -> &[u8] {
        let record = self.of.as_ref().map_or(record, |of| of[record] as usize);
        let begin = if record == 0 { 0 } else { self.ends[record - 1] };
        &self.bytes[begin..self.ends[record]]
    }
}

/// Appends the row of a record.
pub(crate) fn push_row(columns: &[Column], record: usize, to: &mut Vec<u8>) {
    for column in columns {
        match column {
            Column::Texts(texts) => texts.push_row(record, to),
            numbers => {
                to.extend_from_slice(&numbers.at(record).to_be_bytes());
                to.extend_from_slice(numbers.tail(record));
            }
        }
    }
}
