//! What an element is made of on the device.

use crate::key::{ElementType, KeyWords};

/// What one element is made of on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The key.
    pub key: KeyWords,
    /// Whether a word travels along, the payload. It is the position the element had, by which
    /// networks break ties, or a caller's.
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

    /// The shape for elements of this type.
    pub fn of(element: ElementType, payload: bool) -> Self {
        Self { key: element.key_words(), payload }
    }

    /// 32-bit words in a key: 1 or 2.
    pub fn key_words(self) -> u32 {
        self.key.count()
    }

    /// 32-bit words in one element.
    pub fn words(self) -> u32 {
        self.key_words() + u32::from(self.payload)
    }

    /// Bytes of one key.
    pub fn key_bytes(self) -> u64 {
        u64::from(self.key_words()) * 4
    }

    /// Bytes of one element: its key and, where there is one, its payload.
    pub fn bytes(self) -> u64 {
        u64::from(self.words()) * 4
    }
}
