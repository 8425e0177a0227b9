//! Sorts of GPU buffers inside your own program that uses wgpu: recorded into your encoder, on your device.
//!
//! ```text
//! your passes ─▸ [ keys, values ] ─▸ recorded sort ─▸ [ the same, in order ] ─▸ your passes      one submit
//!                   count ──────────────▴                                        (may be on the GPU, too)
//! ```
//!
//! [`BufferSorter::new`] compiles the kernels for a [`Spec`], [`BufferSorter::workspace`] allocates
//! memory, and [`BufferSorter::record`] records commands. Recording does not submit, wait, read back
//! or allocate memory on the GPU. An encoder may have several sorts, which may share a workspace.
//!
//! This program also needs the crates `bytemuck` and, to wait for `run`, `pollster`:
//!
//! ```
//! use gpusort::buffers::{BufferSorter, Count, MEMORY_HINTS, Payload, Spec};
//! use gpusort::wgpu::{self, util::DeviceExt};
//! use gpusort::ElementType;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { pollster::block_on(run()) }
//! async fn run() -> Result<(), Box<dyn std::error::Error>> {
//!     // Particles are drawn from the farthest to the nearest.
//!     let spec = Spec::new(ElementType::F32).payload(Payload::U32).descending(true);
//!     // A device for sorts of up to 1000 elements.
//!     let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
//!     let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await?;
//!     let descriptor = wgpu::DeviceDescriptor {
//!         required_features: spec.required_features(&adapter),
//!         required_limits: spec.required_limits(&adapter, 1000),
//!         memory_hints: MEMORY_HINTS,
//!         ..Default::default()
//!     };
//!     let (device, queue) = adapter.request_device(&descriptor).await?;
//!
//!     // Once.
//!     let sorter = BufferSorter::new(&device, &queue, spec)?;
//!     let workspace = sorter.workspace(1000)?;
//!     let buffer = |contents: &[u8]| {
//!         let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
//!         device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
//!     };
//!     let depths = buffer(bytemuck::bytes_of(&[0.5_f32, 2.0, 1.0]));
//!     let particles = buffer(bytemuck::bytes_of(&[0_u32, 1, 2]));
//!
//!     // In each frame, among your own passes.
//!     let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
//!     let (keys, values) = (depths.slice(..), Some(particles.slice(..)));
//!     sorter.record(&mut encoder, &workspace, keys, values, Count::Host(3))?;
//!
//!     // Read back, to show the result.
//!     let result = device.create_buffer(&wgpu::BufferDescriptor {
//!         label: None,
//!         size: 12,
//!         usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
//!         mapped_at_creation: false,
//!     });
//!     encoder.copy_buffer_to_buffer(&particles, 0, &result, 0, 12);
//!     queue.submit([encoder.finish()]);
//!     result.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("the buffer is mapped"));
//!     device.poll(wgpu::PollType::wait_indefinitely())?;
//!     let order: Vec<u32> = bytemuck::pod_collect_to_vec(&result.get_mapped_range(..)?);
//!     assert_eq!(order, [1, 2, 0]);
//!     Ok(())
//! }
//! ```
//!
//! # Elements
//!
//! Keys are unsigned, signed or floating-point numbers of 8 to 64 bits, as they lie in your buffer. Each key
//! may have a `u32` payload in another buffer, often an index, which moves with its key. The whole library
//! has one order: floats from −inf over −0 and +0 to +inf, then NaN, in both directions; equal keys always
//! keep their order. Results replace the contents of the same buffers.
//!
//! Keys of 8 and 16 bits, including [`Spec::bf16`], are copied to 32 bits in the workspace, sorted by their
//! own bits alone, and copied back. Elements that share a word with the slice stay as they are.
//!
//! Larger payloads, or several ones, do not move with each pass: [`BufferSorter::record_argsort`] writes
//! positions, and [`BufferSorter::record_gather`] brings elements of any size into their order.
//!
//! Buffers and encoders must belong to the sorter's device. Outside browsers, recording a buffer of another
//! device is [`Misuse::Device`]. wgpu looks up the objects of another instance by number: an unused number is
//! the same error, after the message of a caught panic; a number in use finds the wrong object. wgpu reports
//! an encoder of another device of the instance at `finish`.
//!
//! Keys and values may be slices of one buffer that do not overlap. A slice may begin at any
//! element; with [`Count::Host`], sorts of slices that begin at multiples of 256 bytes are a few
//! percent faster. In browsers, slices of one buffer must be at least 256 bytes apart.
//!
//! # Counts
//!
//! The number of elements is known when a sort is recorded ([`Count::Host`]), or lies in a buffer when the
//! sort runs ([`Count::Buffer`]): the result of an earlier pass, such as the number of visible particles.
//! Only the device then knows the count: grids are sized for the whole slices, and workgroups without work
//! end at once.
//!
//! One dispatch sorts slices of up to a few thousand elements (4,096 if workgroups have 32 KiB of memory,
//! none without subgroups).
//!
//! # Segments
//!
//! [`BufferSorter::record_segments`] sorts each of many ranges by itself: the rows of a matrix, or segments
//! between offsets, which may also be on the GPU. Segments of up to 8,192 elements, or fewer if workgroups
//! have little memory, are sorted in tiles, many at a time; longer segments by radix, all together. This
//! takes no longer than one sort of all elements, for any lengths. If all segments are short, say so by
//! [`Spec::longest_segment`]: it saves up to half of the time.
//!
//! # After a sort
//!
//! [`BufferSorter::record_unique`] writes the first of equal keys, the number of times that each key occurs,
//! and the number of distinct keys. [`BufferSorter::record_merge`] merges two sorted runs.
//!
//! # Memory
//!
//! [`Spec::workspace_bytes`] returns the most memory that a workspace takes on any device: a second array of
//! keys and values, a copy of the keys for [`BufferSorter::record_argsort`] (leave it out with
//! [`Spec::argsort`]) or of narrow keys, and counts of digits. A workspace serves any number of sorts, one
//! after another.
//!
//! # Devices
//!
//! Any device with the default limits of WebGPU works: 8 storage buffers in a kernel, and 256 invocations in
//! a workgroup. Start yours with [`Spec::required_features`] and [`Spec::required_limits`]: with subgroups
//! and immediates a sort takes two thirds of the time. If you choose the device's memory hints, use
//! [`MEMORY_HINTS`]: sorts of 4 to 64 MB take a few percent longer if keys share a block of memory with other
//! buffers.

pub use gpusort_gpu::buffers::{
    BufferSorter, Count, Gather, MEMORY_HINTS, MOST, Misuse, Payload, Run, Segments, Spec, Unique, Workspace,
};

pub use gpusort_engine::AsyncSorter;
