//! Filters numbers on the GPU, and sorts what is left, of which the GPU alone knows how many there
//! are: one submit, and nothing is read back between the two.
//!
//! ```text
//! cargo run --release --example count_on_gpu [PART OF A NAME]
//! ```

#[path = "common/mod.rs"]
mod common;

use gpusort::buffers::{BufferSorter, Count, Spec};
use gpusort::{ElementType, wgpu};

use self::common::Result;

const N: u32 = 1_000_000;

/// Numbers are made where they are looked at; those within a narrow band are kept, in any order.
const SHADER: &str = "
    @group(0) @binding(0) var<storage, read_write> kept: array<f32>;
    @group(0) @binding(1) var<storage, read_write> count: atomic<u32>;

    @compute @workgroup_size(64)
    fn filter_numbers(@builtin(global_invocation_id) id: vec3<u32>) {
        // Devices have sines of large angles in common only roughly.
        let number = sin(f32(id.x % 6283u) * 0.001) * 1000.0;
        if id.x < 1000000u && abs(number) < 100.0 {
            kept[atomicAdd(&count, 1u)] = number;
        }
    }
";

fn main() -> Result<()> {
    let kept = run(&std::env::args().nth(1).unwrap_or_default())?;
    println!("{} of {N} numbers kept, from {:?} to {:?}", kept.len(), kept.first(), kept.last());
    Ok(())
}

/// The numbers that are kept, in order.
///
/// # Errors
///
/// No such adapter; whatever its driver says.
pub fn run(adapter: &str) -> Result<Vec<f32>> {
    let spec = Spec::new(ElementType::F32).argsort(false);
    let (device, queue) = common::device(adapter, &spec, N)?;
    let kept = common::buffer(&device, "kept", 4 * N as usize);
    let count = common::buffer(&device, "count", 4);
    let filter = common::pipeline(&device, SHADER, "filter_numbers");
    let group = common::bind(&device, &filter.get_bind_group_layout(0), &[(0, &kept), (1, &count)]);

    let sorter = BufferSorter::new(&device, &queue, spec)?;
    let workspace = sorter.workspace(N)?;

    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    common::dispatch(&mut encoder, &filter, &group, N.div_ceil(64));
    let counted = Count::Buffer { buffer: &count, offset: 0 };
    sorter.record(&mut encoder, &workspace, kept.slice(..), None, counted)?;
    queue.submit([encoder.finish()]);

    let count: Vec<u32> = bytemuck::pod_collect_to_vec(&common::read(&device, &queue, &count)?);
    let bytes = common::read(&device, &queue, &kept)?;
    Ok(bytemuck::pod_collect_to_vec(&bytes[..4 * count[0] as usize]))
}
