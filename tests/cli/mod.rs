//! The real binary, as a person or a script runs it.

mod bench;
mod binary;
#[cfg(unix)]
mod cases;
mod check;
mod compressed;
mod devices;
mod each;
mod formats;
mod generate;
#[cfg(target_os = "linux")]
mod gnu;
mod json;
#[cfg(unix)]
mod limits;
mod lines;
mod manifest;
mod meant;
mod memory;
mod merge;
mod messages;
mod options;
mod output;
mod plain;
#[cfg(unix)]
mod signals;
mod sizes;
mod tables;
mod text;
mod timing;
mod trace;
mod tune;
mod words;
