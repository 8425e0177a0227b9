//! Rows in memory, ordered by several columns of numbers and texts, each with its own nulls and
//! direction.
//!
//! ```
//! use gpusort::columns::{Column, argsort};
//!
//! let (cities, prices) = (["Rome", "Oslo", "Rome", "Oslo"], [2.5, 1.0, 4.0, f64::NAN]);
//! let columns =
//!     [Column::texts(cities.len(), |row| cities[row].as_bytes()), Column::numbers(&prices).descending()];
//! assert_eq!(argsort(&columns)?, [1, 3, 2, 0]);
//! # Ok::<(), gpusort::Error>(())
//! ```

#[cfg(feature = "arrow")]
#[doc(hidden)]
pub use gpusort_files::columns::arrow;
pub use gpusort_files::columns::{Column, argsort, is_sorted};
