//! Counts of nulls and of left-out records.

use crate::order::Class;

/// The numbers of null fields and of left-out records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// NaN fields.
    pub nan: u64,
    /// Empty fields.
    pub empty: u64,
    /// Fields that fail to parse as the kind of their key.
    pub invalid: u64,
    /// The first few distinct invalid fields.
    pub invalid_fields: Vec<Vec<u8>>,
    /// Records left out because of an invalid field.
    pub skipped: u64,
    /// The first record left out although its key has another spelling than the key of the record kept.
    pub respelled: Option<Respelled>,
}

/// A record left out by `unique`, whose key has another spelling than the key of the record kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Respelled {
    /// The place of the record left out: `file:line`.
    pub place: String,
    /// Its key, as written.
    pub value: String,
    /// The key of the record kept, as written.
    pub kept: String,
}

impl Counts {
    /// Adds other counts.
    #[doc(hidden)]
    pub fn add_all(&mut self, others: &Self) {
        let Self { nan, empty, invalid, invalid_fields, skipped, respelled } = others;
        self.nan += nan;
        self.empty += empty;
        self.invalid += invalid;
        invalid_fields.iter().for_each(|field| self.note_invalid(field));
        self.skipped += skipped;
        self.respelled = self.respelled.take().or_else(|| respelled.clone());
    }

    /// Keeps an invalid field, if it belongs to the first few distinct ones.
    fn note_invalid(&mut self, field: &[u8]) {
        const FEW: usize = 3;
        if self.invalid_fields.len() < FEW && !self.invalid_fields.iter().any(|other| other == field) {
            self.invalid_fields.push(field.to_vec());
        }
    }

    /// Adds a null field.
    pub(super) fn add(&mut self, class: Class, field: &[u8]) {
        match class {
            Class::Nan => self.nan += 1,
            Class::Empty => self.empty += 1,
            Class::Invalid => {
                self.invalid += 1;
                self.note_invalid(field);
            }
        }
    }
}
