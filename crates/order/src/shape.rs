//! The words of an element on the device.

use crate::key::{ElementType, KeyWords};

/// The words of one element on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The key.
    pub key: KeyWords,
    /// True if the element carries a payload word: its original position, which breaks ties in networks,
    /// or a caller's word.
    pub payload: bool,
}

impl Shape {
    /// The four shapes that every kernel serves.
    pub const ALL: [Self; 4] = [
        Self { key: KeyWords::One, payload: false },
        Self { key: KeyWords::One, payload: true },
        Self { key: KeyWords::Two, payload: false },
        Self { key: KeyWords::Two, payload: true },
    ];

    /// Returns the shape of elements of this type.
    pub fn of(element: ElementType, payload: bool) -> Self {
        Self { key: element.key_words(), payload }
    }

    /// Returns the number of 32-bit words in a key: 1 or 2.
    pub fn key_words(self) -> u32 {
        self.key.count()
    }

    /// Returns the number of 32-bit words in one element.
    pub fn words(self) -> u32 {
        self.key_words() + u32::from(self.payload)
    }

    /// Returns the bytes of one key.
    pub fn key_bytes(self) -> u64 {
        u64::from(self.key_words()) * 4
    }

    /// Returns the bytes of one element: its key and, if present, its payload.
    pub fn bytes(self) -> u64 {
        u64::from(self.words()) * 4
    }
}
