//! Asynchronous sorts of slices on a GPU, for programs that must not block, such as web pages.
//!
//! ```text
//! slice ─▸ write ─▸ recorded sort ─▸ submit ─▸ map ┈┈ await ┈┈▸ slice
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;
use gpusort_order::key::{ElementType, KeyMap, KeyWords, Word, WordMap};

use crate::element::Element;
use crate::key_buf::KeyWidth;
use gpusort_base::error::Error;
use gpusort_base::parallel::lock;
use gpusort_gpu::Context;
use gpusort_gpu::buffers::{BufferSorter, Count, MEMORY_HINTS, MOST, Spec};

/// Sorts slices on a GPU without blocking, in the order of the whole library. The sorter needs no
/// device features: see `gpusort::buffers`.
///
/// In a browser, the sorter awaits promises of WebGPU. Natively, the thread that polls the future waits
/// for the device.
///
/// ```
/// # async fn example() -> Result<(), gpusort::Error> {
/// let sorter = gpusort::AsyncSorter::start(1_000_000).await?;
/// let mut numbers = [2.5_f32, f32::NAN, -1.0];
/// sorter.sort(&mut numbers).await?;
/// assert_eq!(sorter.argsort(&[30_u8, 10, 20]).await?, [1, 2, 0]);
/// # Ok(())
/// # }
/// # pollster::block_on(example()).unwrap();
/// ```
pub struct AsyncSorter {
    context: Context,
    /// The compiled sorters, by width of keys and presence of an argsort.
    sorters: Mutex<HashMap<(KeyWords, bool), Arc<BufferSorter>>>,
}

impl AsyncSorter {
    /// Starts a device for slices of up to `most` elements: the browser's, or the first adapter.
    ///
    /// # Errors
    ///
    /// Fails if no device exists.
    pub async fn start(most: u32) -> Result<Self, Error> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY | wgpu::Backends::BROWSER_WEBGPU,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let power_preference = wgpu::PowerPreference::HighPerformance;
        let options = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
        let adapter = instance.request_adapter(&options).await.map_err(Error::device)?;
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("gpusort"),
                required_features: BufferSorter::required_features(&adapter),
                required_limits: BufferSorter::required_limits(&adapter, most),
                memory_hints: MEMORY_HINTS,
                ..Default::default()
            })
            .await
            .map_err(Error::device)?;
        Ok(Self::on(device, queue))
    }

    /// Sorts on a caller's device.
    #[must_use]
    pub fn on(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self { context: Context::of_caller(device, queue), sorters: Mutex::default() }
    }

    /// Sorts: smallest first, −0 before +0, NaN last.
    ///
    /// # Errors
    ///
    /// Fails for more elements than the device's limits allow, or if the device fails.
    pub async fn sort<T: Element>(&self, elements: &mut [T]) -> Result<(), Error> {
        self.in_place(elements, false).await
    }

    /// Sorts: largest first, +0 before −0, NaN last.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::sort`].
    pub async fn sort_descending<T: Element>(&self, elements: &mut [T]) -> Result<(), Error> {
        self.in_place(elements, true).await
    }

    /// Returns the positions of the elements in the order of [`Self::sort`]; equal elements keep their
    /// order.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::sort`].
    pub async fn argsort<T: Element>(&self, elements: &[T]) -> Result<Vec<u32>, Error> {
        self.positions(elements, false).await
    }

    /// Returns the positions of the elements in the order of [`Self::sort_descending`]; equal elements
    /// keep their order.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::sort`].
    pub async fn argsort_descending<T: Element>(&self, elements: &[T]) -> Result<Vec<u32>, Error> {
        self.positions(elements, true).await
    }

    async fn in_place<T: Element>(&self, elements: &mut [T], descending: bool) -> Result<(), Error> {
        if elements.len() < 2 {
            return Ok(());
        }
        let map = T::Word::map(KeyMap { descending, ..KeyMap::ascending(T::TYPE) });
        let (keys, encoder) = self.record(elements, map, false)?;
        let sorted: Vec<T::Word> = self.read(encoder, &keys).await?;
        for (element, key) in elements.iter_mut().zip(sorted) {
            *element = T::from_word(key.bits(map));
        }
        Ok(())
    }

    async fn positions<T: Element>(&self, elements: &[T], descending: bool) -> Result<Vec<u32>, Error> {
        if elements.len() < 2 {
            return Ok((0..elements.len() as u32).collect());
        }
        let map = T::Word::map(KeyMap { descending, ..KeyMap::ascending(T::TYPE) });
        let (positions, encoder) = self.record(elements, map, true)?;
        self.read(encoder, &positions).await
    }

    /// Uploads the keys of elements to the device, and records their sort. Returns the buffer of the sorted keys or
    /// positions.
    fn record<T: Element>(
        &self,
        elements: &[T],
        map: WordMap<T::Word>,
        argsort: bool,
    ) -> Result<(wgpu::Buffer, wgpu::CommandEncoder), Error> {
        let too_many = || Error::limit("elements in one sort", elements.len() as u64, MOST.into());
        let count = u32::try_from(elements.len()).ok().filter(|&count| count <= MOST).ok_or_else(too_many)?;
        let keys: Vec<T::Word> = elements.iter().map(|element| element.to_word().key(map)).collect();
        let sorter = self.sorter(T::Word::WIDTH, argsort)?;
        // Refuses elements that exceed the device's memory.
        let workspace = sorter.workspace(count)?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let keys = self.context.filled("keys", bytemuck::cast_slice(&keys), usage)?;
        let mut encoder = self.context.encoder("sort");
        let all = Count::Host(count);
        if !argsort {
            sorter.record(&mut encoder, &workspace, keys.slice(..), None, all)?;
            return Ok((keys, encoder));
        }
        let positions = self.context.buffer("positions", 4 * u64::from(count), usage)?;
        sorter.record_argsort(&mut encoder, &workspace, keys.slice(..), positions.slice(..), all)?;
        Ok((positions, encoder))
    }

    /// Returns a sorter of keys of this width.
    fn sorter(&self, width: KeyWords, argsort: bool) -> Result<Arc<BufferSorter>, Error> {
        let mut sorters = lock(&self.sorters);
        if let Some(sorter) = sorters.get(&(width, argsort)) {
            return Ok(Arc::clone(sorter));
        }
        let key = if width == KeyWords::One { ElementType::U32 } else { ElementType::U64 };
        let spec = Spec::new(key).argsort(argsort).segments(false);
        let sorter = Arc::new(BufferSorter::new(&self.context.device, &self.context.queue, spec)?);
        sorters.insert((width, argsort), Arc::clone(&sorter));
        Ok(sorter)
    }

    /// Submits the recorded commands, and awaits the content of a buffer after them.
    async fn read<T: bytemuck::Pod>(
        &self,
        mut encoder: wgpu::CommandEncoder,
        buffer: &wgpu::Buffer,
    ) -> Result<Vec<T>, Error> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let here = self.context.buffer("sorted", buffer.size(), usage)?;
        encoder.copy_buffer_to_buffer(buffer, 0, &here, 0, buffer.size());
        self.context.queue.submit([encoder.finish()]);
        let (sender, mapped) = oneshot::channel();
        // The receiver is gone if the future was dropped.
        here.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        if !cfg!(target_arch = "wasm32") {
            self.context.wait()?;
        }
        mapped.await.map_err(Error::device)?.map_err(Error::device)?;
        let view = here.get_mapped_range(..).map_err(Error::device)?;
        let words = bytemuck::pod_collect_to_vec(&view);
        drop(view);
        here.unmap();
        Ok(words)
    }
}
