//! All tests that need more than one module, in one binary: linking the graphics stack once is enough.

#![allow(clippy::unwrap_used, clippy::similar_names, clippy::format_collect, clippy::single_match_else)]

mod bench;
mod bench_cli;
mod cli;
mod device;
mod generate;
mod hostile;
mod inputs;
mod kernels;
mod networks;
mod oracle;
mod sorting;
mod tables;
mod text;
mod top;
mod tune;
