//! The kinds of text: a test for the texts of a kind, and bytes that compare as its texts do.

use crate::hex::{is_hex, push_hex};
use crate::names::{is_month, push_month};
use crate::version::push_version;

/// A kind of text.
pub struct TextKind {
    /// The name of the kind.
    pub name: &'static str,
    /// A text of this kind, with the article, for messages.
    pub noun: &'static str,
    /// Returns true for a text of this kind.
    pub holds: fn(&[u8]) -> bool,
    /// Appends bytes that compare as the texts do.
    pub push: fn(&[u8], &mut Vec<u8>),
}

fn push_text(text: &[u8], to: &mut Vec<u8>) {
    to.extend_from_slice(text);
}

/// The kinds, in the order of the variants of `TextOrder`. Any text is a version. A text of a list is pushed as the
/// bytes that [`Names`](crate::names::Names) makes of it.
pub static TEXT_KINDS: [TextKind; 5] = [
    TextKind { name: "text", noun: "a text", holds: |_| true, push: push_text },
    TextKind { name: "version", noun: "a version", holds: |_| true, push: push_version },
    TextKind { name: "hex", noun: "a hexadecimal number", holds: is_hex, push: push_hex },
    TextKind { name: "month", noun: "the name of a month", holds: is_month, push: push_month },
    TextKind { name: "list", noun: "a name", holds: |_| true, push: push_text },
];
