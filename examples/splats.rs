//! Gaussian splats, as a viewer draws them: a compute pass projects the splats, leaves out those that
//! are not in sight and counts the rest; gpusort orders these from the farthest to the nearest; an
//! indirect draw blends as many as there are. The host does not know how many, and submits once per
//! frame. The last frame becomes a picture, and its order is checked.
//!
//! ```text
//! cargo run --release --example splats [PICTURE.ppm] [PART OF A NAME]
//! ```

#[path = "common/mod.rs"]
mod common;

use gpusort::buffers::{BufferSorter, Count, Payload, Spec};
use gpusort::{ElementType, wgpu};

use self::common::Result;

/// Pixels of the picture on each side.
pub const SIDE: u32 = 512;

/// The words of a splat in `splats.wgsl`, and which of them is the depth.
const WORDS: usize = 12;
const DEPTH: usize = 10;

/// What the last frame left on the GPU.
pub struct Frame {
    /// RGBA.
    pub pixels: Vec<u8>,
    /// The depths of the splats in sight, as they were drawn.
    pub depths: Vec<f32>,
    /// Their numbers.
    pub order: Vec<u32>,
    /// All splats.
    pub splats: Vec<[f32; WORDS]>,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| "splats.ppm".to_owned());
    let frame = run(&args.next().unwrap_or_default(), 150_000, 10)?;
    frame.check()?;
    let colours: Vec<u8> = frame.pixels.chunks(4).flat_map(|pixel| &pixel[..3]).copied().collect();
    std::fs::write(&path, [format!("P6 {SIDE} {SIDE} 255\n").as_bytes(), &colours].concat())?;
    println!("{path}: {} of {} splats, from far to near", frame.order.len(), frame.splats.len());
    Ok(())
}

impl Frame {
    /// Whether each splat in sight was drawn once, from the farthest to the nearest.
    ///
    /// # Errors
    ///
    /// It was not.
    pub fn check(&self) -> Result<()> {
        if self.depths.is_empty() || !self.depths.is_sorted_by(|far, near| far >= near) {
            return Err("the depths are not in order".into());
        }
        let mut is_drawn = vec![false; self.splats.len()];
        for (&splat, &depth) in self.order.iter().zip(&self.depths) {
            let splat = splat as usize;
            let is_its = self.splats[splat][DEPTH].to_bits() == depth.to_bits();
            if std::mem::replace(&mut is_drawn[splat], true) || !is_its {
                return Err(format!("splat {splat} is drawn twice, or at the depth of another").into());
            }
        }
        Ok(())
    }
}

/// Draws so many frames of so many splats, and returns the last.
///
/// # Errors
///
/// No such adapter; whatever its driver says.
pub fn run(adapter: &str, splats: u32, frames: u32) -> Result<Frame> {
    let spec =
        Spec::new(ElementType::F32).payload(Payload::U32).descending(true).argsort(false).segments(false);
    let (device, queue) = common::device(adapter, &spec, splats)?;
    let words = |name, words| common::buffer(&device, name, 4 * words);
    let projected = words("projected", WORDS * splats as usize);
    let [depths, order] = ["depths", "order"].map(|name| words(name, splats as usize));
    let pixels = words("pixels", (SIDE * SIDE) as usize);
    let time = words("time", 1);
    // The arguments of the draw. One of them is the number of splats in sight, for the sort, too.
    let arguments = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("arguments"),
        size: 16,
        usage: projected.usage() | wgpu::BufferUsages::INDIRECT,
        mapped_at_creation: false,
    });
    let shader = include_str!("splats.wgsl");
    let project = common::pipeline(&device, shader, "project");
    let buffers = [(0, &projected), (1, &depths), (2, &order), (3, &arguments), (4, &time)];
    let project_group = common::bind(&device, &project.get_bind_group_layout(0), &buffers);
    let draw = common::blending(&device, shader, ["corner", "colour"]);
    let draw_group = common::bind(&device, &draw.get_bind_group_layout(0), &[(5, &projected), (6, &order)]);
    let texture = common::target(&device, SIDE);

    // What the sort needs, once.
    let sorter = BufferSorter::new(&device, &queue, spec)?;
    let workspace = sorter.workspace(splats)?;

    for frame in 0..frames {
        queue.write_buffer(&time, 0, &(frame as f32 / 10.0).to_le_bytes());
        queue.write_buffer(&arguments, 0, bytemuck::cast_slice(&[6_u32, 0, 0, 0]));
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        common::dispatch(&mut encoder, &project, &project_group, splats.div_ceil(256));
        let (keys, values) = (depths.slice(..), Some(order.slice(..)));
        let in_sight = Count::Buffer { buffer: &arguments, offset: 4 };
        sorter.record(&mut encoder, &workspace, keys, values, in_sight)?;
        common::draw(&mut encoder, &texture, &pixels, |pass| {
            pass.set_pipeline(&draw);
            pass.set_bind_group(0, &draw_group, &[]);
            pass.draw_indirect(&arguments, 0);
        });
        queue.submit([encoder.finish()]);
    }
    let read = |buffer| common::read(&device, &queue, buffer);
    let arguments: Vec<u32> = bytemuck::pod_collect_to_vec(&read(&arguments)?);
    let in_sight = arguments[1] as usize;
    Ok(Frame {
        pixels: read(&pixels)?,
        depths: bytemuck::pod_collect_to_vec(&read(&depths)?[..4 * in_sight]),
        order: bytemuck::pod_collect_to_vec(&read(&order)?[..4 * in_sight]),
        splats: bytemuck::pod_collect_to_vec(&read(&projected)?),
    })
}
