//! Benchmarks: sorting times on this machine, every result verified.
//!
//! A [`Suite`] describes the cases to measure. Running it, size by size, yields [`Measurement`]s in a
//! [`Report`], rendered by [`table`], [`export`] and [`plot`].
//!
//! # Timed work
//!
//! Each run sorts fresh keys. The sort itself is timed by the device's own clock, if the device has a clock;
//! the transfers and the total are timed by the host's. Between runs, while the host generates and
//! verifies keys, an idle GPU would lower its clock frequency; unrelated work keeps it busy until the
//! work runs at its fastest, and only then the sort is timed. The clock frequency during a process's
//! first sort is random; this frequency is reproducible.
//!
//! With positions, the CPU sorts pairs: building them and extracting the positions is a part of the
//! time, as in `gpusort sort`. A GPU numbers its elements during the upload.
//!
//! An internal part of `gpusort`: any release may change all of it.

pub mod contender;
pub mod export;
pub mod generate;
pub mod machine;
pub mod passes;
pub mod plot;
mod report;
mod sizes;
mod spin_up;
pub mod statistics;
mod suite;
pub mod table;
mod texts;
pub mod verify;

pub use report::{Case, DeviceReport, Measurement, Report, Row, Skipped};
pub use sizes::Sizes;
pub use spin_up::SpinUp;
pub use suite::{Device, Event, Outcome, Pace, Suite, measure, verified};
