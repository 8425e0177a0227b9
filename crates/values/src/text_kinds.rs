//! All kinds of text.

use crate::text_kind::TextKind;
use crate::{hex, version};

/// All kinds, in the order in which `TextOrder` lists them.
pub static TEXT_KINDS: [TextKind; 3] = [
    TextKind { name: "text", noun: "a text", holds: |_| true, push: |text, to| to.extend_from_slice(text) },
    version::KIND,
    hex::KIND,
];
