//! A million glowing particles, drawn from the farthest to the nearest: each frame moves them,
//! sorts them by depth and draws them, in one submit. The last frame becomes a picture.
//!
//! ```text
//! cargo run --release --example particles [PICTURE.ppm] [PART OF A NAME]
//! ```

#[path = "common/mod.rs"]
mod common;

use gpusort::buffers::{BufferSorter, Count, Payload, Spec};
use gpusort::{ElementType, wgpu};

use self::common::Result;

/// Pixels of the picture on each side.
pub const SIDE: u32 = 512;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| "particles.ppm".to_owned());
    let (picture, _) = run(&args.next().unwrap_or_default(), 1_000_000, 60)?;
    let colours: Vec<u8> = picture.chunks(4).flat_map(|pixel| &pixel[..3]).copied().collect();
    std::fs::write(&path, [format!("P6 {SIDE} {SIDE} 255\n").as_bytes(), &colours].concat())?;
    println!("{path}: the last of 60 frames of a million particles");
    Ok(())
}

/// Draws so many frames of so many particles. Returns the pixels of the last one, and the depths as
/// they were drawn.
///
/// # Errors
///
/// No such adapter; whatever its driver says.
pub fn run(adapter: &str, particles: u32, frames: u32) -> Result<(Vec<u8>, Vec<f32>)> {
    let spec = Spec::new(ElementType::F32).payload(Payload::U32).descending(true).argsort(false);
    let (device, queue) = common::device(adapter, &spec, particles)?;
    let [depths, order] =
        ["depths", "order"].map(|name| common::buffer(&device, name, 4 * particles as usize));
    let pixels = common::buffer(&device, "pixels", 4 * (SIDE * SIDE) as usize);
    let time = common::buffer(&device, "time", 4);
    let shader = include_str!("particles.wgsl");
    let look = common::pipeline(&device, shader, "look");
    let buffers = [(0, &depths), (1, &order), (2, &time)];
    let look_group = common::bind(&device, &look.get_bind_group_layout(0), &buffers);
    let draw = common::blending(&device, shader, ["corner", "colour"]);
    let draw_group = common::bind(&device, &draw.get_bind_group_layout(0), &[(2, &time), (3, &order)]);
    let texture = common::target(&device, SIDE);

    // What the sort needs, once.
    let sorter = BufferSorter::new(&device, &queue, spec)?;
    let workspace = sorter.workspace(particles)?;

    for frame in 0..frames {
        queue.write_buffer(&time, 0, &(frame as f32 / 60.0).to_le_bytes());
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        common::dispatch(&mut encoder, &look, &look_group, particles.div_ceil(256));
        let (keys, values) = (depths.slice(..), Some(order.slice(..)));
        sorter.record(&mut encoder, &workspace, keys, values, Count::Host(particles))?;
        common::draw(&mut encoder, &texture, &pixels, |pass| {
            pass.set_pipeline(&draw);
            pass.set_bind_group(0, &draw_group, &[]);
            pass.draw(0..6, 0..particles);
        });
        queue.submit([encoder.finish()]);
    }
    let depths = bytemuck::pod_collect_to_vec(&common::read(&device, &queue, &depths)?);
    Ok((common::read(&device, &queue, &pixels)?, depths))
}
