//! Sorts each row of a matrix that is on the GPU, as `torch.sort(matrix, dim=-1)` does: the values,
//! and where they were.
//!
//! ```text
//! cargo run --release --example tensor_rows [PART OF A NAME]
//! ```

#[path = "common/mod.rs"]
mod common;

use gpusort::buffers::{BufferSorter, Payload, Segments, Spec};
use gpusort::{ElementType, wgpu};

use self::common::Result;

fn main() -> Result<()> {
    let (rows, columns) = (10_000, 1000);
    let matrix: Vec<f32> = (0..rows * columns).map(|i| (i as f32 * 0.618_034).fract()).collect();
    let name = std::env::args().nth(1).unwrap_or_default();
    let (values, indices) = sort_rows(&name, &matrix, columns)?;
    for (values, indices) in values.chunks(columns).zip(indices.chunks(columns)).take(3) {
        println!(
            "{:.4} was at {}, … {:.4} at {}",
            values[0],
            indices[0],
            values[columns - 1],
            indices[columns - 1]
        );
    }
    Ok(())
}

/// The rows in order, and the columns that their values had.
///
/// # Errors
///
/// No such adapter; whatever its driver says.
pub fn sort_rows(adapter: &str, matrix: &[f32], columns: usize) -> Result<(Vec<f32>, Vec<u32>)> {
    let spec = Spec::new(ElementType::F32).payload(Payload::Positions).argsort(false);
    let (device, queue) = common::device(adapter, &spec, u32::try_from(matrix.len())?)?;
    let values = common::buffer(&device, "values", 4 * matrix.len());
    let indices = common::buffer(&device, "indices", 4 * matrix.len());
    queue.write_buffer(&values, 0, bytemuck::cast_slice(matrix));

    let sorter = BufferSorter::new(&device, &queue, spec)?;
    let columns = u32::try_from(columns)?;
    // Rows that fit a tile need no room, longer ones room for all of them.
    let capacity = if columns <= sorter.longest_row() { 1 } else { u32::try_from(matrix.len())? };
    let workspace = sorter.workspace(capacity)?;

    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let (keys, positions) = (values.slice(..), Some(indices.slice(..)));
    sorter.record_segments(&mut encoder, &workspace, keys, positions, Segments::Rows(columns))?;
    queue.submit([encoder.finish()]);

    let values = bytemuck::pod_collect_to_vec(&common::read(&device, &queue, &values)?);
    let indices = bytemuck::pod_collect_to_vec(&common::read(&device, &queue, &indices)?);
    Ok((values, indices))
}
