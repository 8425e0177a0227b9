//! The examples of programs with wgpu of their own do what they say.

#![allow(clippy::duplicate_mod, reason = "each example has what they have in common")]

use crate::device;
use crate::inputs::random;

#[path = "../examples/count_on_gpu.rs"]
#[allow(dead_code, reason = "the test calls what main does")]
mod count_on_gpu;
#[path = "../examples/particles.rs"]
#[allow(dead_code, reason = "the test calls what main does")]
mod particles;
#[path = "../examples/splats.rs"]
#[allow(dead_code, reason = "the test calls what main does")]
mod splats;
#[path = "../examples/tensor_rows.rs"]
#[allow(dead_code, reason = "the test calls what main does")]
mod tensor_rows;

fn adapter() -> String {
    device::gpu().info().name.clone()
}

#[test]
fn count_on_gpu_sorts_what_its_filter_keeps() {
    let kept = count_on_gpu::run(&adapter()).unwrap();
    // About asin(0.1) of a quarter of a turn; sines of devices differ a little.
    assert!((62_000..66_000).contains(&kept.len()), "{} are kept", kept.len());
    assert!(kept.is_sorted() && kept.iter().all(|number| number.abs() < 100.0));
}

#[test]
fn tensor_rows_sorts_each_row() {
    let columns = 300;
    let matrix: Vec<f32> = random(5).take(40 * columns).map(|word| word as i32 as f32).collect();
    let (values, indices) = tensor_rows::sort_rows(&adapter(), &matrix, columns).unwrap();
    for ((row, values), indices) in
        matrix.chunks(columns).zip(values.chunks(columns)).zip(indices.chunks(columns))
    {
        let mut expected: Vec<u32> = (0..columns as u32).collect();
        expected.sort_by(|&a, &b| row[a as usize].total_cmp(&row[b as usize]));
        assert_eq!(indices, expected);
        assert!(values.iter().zip(indices).all(|(value, &at)| value.to_bits() == row[at as usize].to_bits()));
    }
}

#[test]
fn particles_are_drawn_from_the_farthest_to_the_nearest() {
    let (picture, depths) = particles::run(&adapter(), 20_000, 3).unwrap();
    assert!(depths.is_sorted_by(|a, b| a >= b) && depths[0] > 0.9 && depths[depths.len() - 1] < -0.9);
    let bright = picture.chunks(4).filter(|pixel| pixel[..3].iter().any(|&colour| colour > 60)).count();
    let all = (particles::SIDE * particles::SIDE) as usize;
    assert!((all / 50..all / 2).contains(&bright), "{bright} of {all} pixels are bright");
}

#[test]
fn splats_in_sight_are_drawn_from_the_farthest_to_the_nearest() {
    let mut frame = splats::run(&adapter(), 5000, 2).unwrap();
    frame.check().unwrap();
    assert!((100..5000).contains(&frame.order.len()), "{} are in sight", frame.order.len());
    let bright = frame.pixels.chunks(4).filter(|pixel| pixel[..3].iter().any(|&colour| colour > 60)).count();
    assert!(bright > 1000, "{bright} pixels are bright");
    // The check must be able to fail.
    frame.depths.reverse();
    frame.check().unwrap_err();
}
