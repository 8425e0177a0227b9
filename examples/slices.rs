//! Sorts slices on all cores: the library without a device.
//!
//! ```text
//! cargo run --release --example slices --no-default-features
//! ```

fn main() {
    let names = ["Erzurum", "Oslo", "Cairo", "Lima"];
    let celsius = [-7.5_f32, f32::NAN, 22.0, 18.5];

    // NaN is last in both directions; equal elements keep their order.
    let coldest = gpusort::argsort(&celsius);
    println!("coldest first: {:?}", coldest.iter().map(|&at| names[at as usize]).collect::<Vec<_>>());
    println!("the two warmest: {:?}", gpusort::top_descending(&celsius, 2));

    let mut counts: Vec<u64> = (0..1_000_000).map(|i| i * 7919 % 1_000_003).collect();
    gpusort::sort_descending(&mut counts);
    println!("the most of a million: {:?}", &counts[..3]);
    assert!(counts.is_sorted_by(|a, b| a >= b));
}
