//! Sorts on a GPU of your choice, with a report of how it went; on the CPU where there is none.
//!
//! ```text
//! cargo run --release --example device [PART OF A NAME]
//! ```

use gpusort::{Select, Sorter};

fn main() -> Result<(), gpusort::Error> {
    for (number, adapter) in gpusort::adapters().iter().enumerate() {
        println!("{number} {adapter}, {}", adapter.kind.name());
    }
    let select = std::env::args().nth(1).map_or(Select::Hardware, Select::Name);
    let sorter = Sorter::gpu(&select).unwrap_or_else(|error| {
        println!("{error}");
        Sorter::cpu()
    });

    let mut elements: Vec<f32> = (0..1 << 20).map(|i| (i as f32 * 0.618).fract()).collect();
    for _ in 0..2 {
        elements.reverse();
        let report = sorter.sort(&mut elements)?;
        println!(
            "{} {}: {} passes, {:.3} ms ({} clock), and {:.3} ms on the way",
            report.ran.algorithm(),
            report.ran.variant(),
            report.dispatches,
            report.sort.time.as_secs_f64() * 1e3,
            report.sort.clock.name(),
            (report.prepare + report.upload + report.download).as_secs_f64() * 1e3,
        );
    }
    assert!(elements.is_sorted());
    Ok(())
}
