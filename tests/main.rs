//! All tests that need more than one module, in one binary: linking the graphics stack once is
//! enough.
//!
//! A module is a subject. `cli` has the command as a person or a script runs it, the others the
//! library; `support` is what all are written with. `sh tests/run.sh` runs everything, `sh
//! tests/run.sh quick` what is fast: see `support::tier`.

#![allow(clippy::unwrap_used, clippy::similar_names, clippy::format_collect, clippy::single_match_else)]

mod assumptions;
mod bench;
mod budget;
mod buffers;
mod cli;
mod columns;
#[cfg(feature = "distributed")]
mod distributed;
mod documents;
mod examples;
mod files;
mod generate;
mod kernels;
mod leading;
mod lines;
mod networks;
#[cfg(feature = "arrow")]
mod parquet;
mod radix;
mod rooms;
mod select;
mod shares;
mod slices;
mod sorting;
mod streams;
mod support;
mod tables;
mod text;
mod top;
mod trace;
mod words;

use support::{device, inputs, oracle};
