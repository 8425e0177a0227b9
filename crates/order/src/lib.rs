//! The vocabulary of gpusort's sorts: the types of elements, keys as unsigned words, the order of a key,
//! and the algorithms by name.
//!
//! ```text
//! key         numbers ↔ unsigned words in their order
//! item        keys, alone or with a payload
//! order       direction, places of nulls, selection
//! network     sorting networks, as steps of comparisons
//! algorithm   algorithms and their variants; limits of devices; the shape of an element there
//! ```
//!
//! An internal part of `gpusort`: any release may change all of it.

pub mod algorithm;
mod classes;
pub mod error;
pub mod item;
pub mod key;
pub mod limits;
mod method;
pub mod names;
pub mod network;
pub mod order;
pub mod shape;

pub use algorithm::{Algorithm, NoVariant, Variant};
pub use classes::Class;
pub use error::Error;
pub use item::{Item, Pair};
pub use key::{ElementType, Encoding, KeyMap, KeyWords, Word, WordMap};
pub use limits::{Kind, Limits, Subgroups};
pub use method::Method;
pub use names::UnknownName;
pub use order::{Invalid, KeyOrder, Nulls, Reading, Selection, TextOrder, is_few};
pub use shape::Shape;
