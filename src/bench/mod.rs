//! Benchmarks: who sorts how fast on this machine, every result verified.
//!
//! A [`Suite`] says what is to be measured. Running it, size by size, gives [`Measurement`]s, which a
//! [`Report`] collects and the modules of its formats put into words: [`table`], [`json`], [`csv`],
//! [`markdown`], [`plot`].
//!
//! # What is timed
//!
//! Each run sorts fresh keys. The sort itself is timed by the device's own clock where it has one; the
//! way of the keys there and back, and all of it together, by the host's. Between runs the host makes and
//! verifies keys, and a GPU that waits for it lowers its clock; so it is kept busy with work of no
//! interest until it is as fast as ever, and only then timed. The clock of a process's first sort is a
//! matter of chance; this one is not.
//!
//! With positions, the CPU's sorts are those of pairs: making them and taking the positions from them is a part of
//! the time, as it is when `gpusort sort` does it. A GPU numbers its elements while they are uploaded.

pub mod contender;
pub mod csv;
pub mod json;
pub mod machine;
pub mod markdown;
pub mod plot;
mod report;
mod sizes;
mod spin_up;
pub mod statistics;
mod suite;
pub mod table;
pub mod verify;

pub use report::{Case, DeviceReport, Measurement, Report, Row, Skipped};
pub use sizes::{NotSizes, Sizes};
pub use spin_up::SpinUp;
pub use suite::{Device, Event, Outcome, Pace, Suite, measure};
