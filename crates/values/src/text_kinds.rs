//! All kinds of text.

use crate::text_kind::TextKind;
use crate::{hex, version};

/// The kinds, in the order of the variants of `TextOrder`.
pub static TEXT_KINDS: [TextKind; 3] = [
    TextKind { name: "text", noun: "a text", holds: |_| true, push: |text, to| to.extend_from_slice(text) },
    version::KIND,
    hex::KIND,
];
