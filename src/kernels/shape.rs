//! What an element is made of on the device.

use crate::error::Error;
use crate::key::ElementType;

/// The words of 32 bits that make a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyWords {
    /// A key of 32 bits or less.
    One,
    /// A key of 64 bits.
    Two,
}

impl KeyWords {
    /// How many there are.
    #[must_use]
    pub const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// What one element is made of on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The key.
    pub key: KeyWords,
    /// Whether a 32-bit position travels along and breaks ties.
    pub positions: bool,
}

impl Shape {
    /// The four shapes that every kernel serves.
    pub const ALL: [Self; 4] = [
        Self { key: KeyWords::One, positions: false },
        Self { key: KeyWords::One, positions: true },
        Self { key: KeyWords::Two, positions: false },
        Self { key: KeyWords::Two, positions: true },
    ];

    /// The shape with so many 32-bit words in a key.
    ///
    /// # Errors
    ///
    /// Neither one word nor two.
    pub fn new(key_words: u32, positions: bool) -> Result<Self, Error> {
        let key = match key_words {
            1 => KeyWords::One,
            2 => KeyWords::Two,
            _ => return Err(Error::limit("words in a key", key_words.into(), 2)),
        };
        Ok(Self { key, positions })
    }

    /// The shape for elements of this type.
    #[must_use]
    pub fn of(element: ElementType, positions: bool) -> Self {
        Self { key: if element.key_words() == 1 { KeyWords::One } else { KeyWords::Two }, positions }
    }

    /// 32-bit words in a key: 1 or 2.
    #[must_use]
    pub fn key_words(self) -> u32 {
        self.key.count()
    }

    /// 32-bit words in one element.
    #[must_use]
    pub fn words(self) -> u32 {
        self.key_words() + u32::from(self.positions)
    }

    /// Bytes of one key.
    #[must_use]
    pub fn key_bytes(self) -> u64 {
        u64::from(self.key_words()) * 4
    }

    /// Bytes of one element: its key and, where there is one, its position.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.words()) * 4
    }
}
