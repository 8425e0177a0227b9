//! Sorts a table that is larger than the memory it may take, and shows how far it is.
//!
//! ```text
//! cargo run --release --example table -- table.csv price sorted.csv
//! ```

use gpusort::files::{Key, Progress, Sort};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, column, sorted] = &arguments[..] else {
        return Err("usage: table TABLE.csv COLUMN SORTED.csv".into());
    };
    let memory = std::fs::metadata(table)?.len() / 4;
    let show = |Progress { phase, done, total, .. }: Progress| {
        let total = total.map_or_else(String::new, |total| format!(" of {total}"));
        eprint!("\r{phase:?}: {done}{total}                ");
    };
    let report = Sort::new()
        .input(table)
        .key(Key::column(column).descending())
        .memory(memory)
        .progress(show)
        .output(sorted)?;
    eprintln!();
    println!("{} rows by {column} ({}), in {} runs", report.records, report.types, report.runs);
    println!("{} of them have none", report.counts.empty);
    Ok(())
}
