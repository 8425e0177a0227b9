//! Sorts the rows of Burn's tensors on Burn's own device, queue and buffers. Nothing is copied to
//! the host, where Burn's own sorts run.
//!
//! ```text
//! cargo run --release -p burn-adapter
//! ```

use std::cmp::Ordering;

use anyhow::{Result, anyhow, ensure};
use burn::backend::Wgpu;
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_cubecl::cubecl::wgpu::{AutoCompiler, WgpuServer};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use gpusort::buffers::{BufferSorter, Payload, Segments, Spec, Workspace};
use gpusort::{ElementType, wgpu};

/// How many are taken of each row.
const FIRST: usize = 10;

/// Sorts rows of tensors of one device, in one direction. NaN is last in both.
pub struct RowSorter {
    setup: WgpuSetup,
    sorter: BufferSorter,
    workspace: Workspace,
}

impl RowSorter {
    /// For the device that Burn was started with.
    pub fn new(setup: &WgpuSetup, descending: bool) -> Result<Self> {
        let spec = Spec::new(ElementType::F32).payload(Payload::Positions);
        let spec = spec.descending(descending).argsort(false);
        let sorter = BufferSorter::new(&setup.device, &setup.queue, spec)?;
        let workspace = sorter.workspace(1)?;
        Ok(Self { setup: setup.clone(), sorter, workspace })
    }

    /// The columns of each row's elements, in sorted order.
    pub fn argsort(&mut self, tensor: Tensor<2>) -> Result<Tensor<2, Int>> {
        Ok(self.sort(tensor)?.1)
    }

    /// The first `k` elements of each row, and their columns.
    pub fn topk(&mut self, tensor: Tensor<2>, k: usize) -> Result<(Tensor<2>, Tensor<2, Int>)> {
        let (values, columns) = self.sort(tensor)?;
        Ok((values.narrow(1, 0, k), columns.narrow(1, 0, k)))
    }

    /// Each row in order, and the columns that its elements had.
    pub fn sort(&mut self, tensor: Tensor<2>) -> Result<(Tensor<2>, Tensor<2, Int>)> {
        let [elements, row] = [tensor.shape().num_elements(), tensor.dims()[1]].map(u32::try_from);
        let (elements, row) = (elements?, row?);
        let tensor = tensor.try_into_primitive::<Wgpu>().map_err(|error| anyhow!("{error:?}"))?;
        ensure!(tensor.dtype == DType::F32, "keys are f32, not {:?}", tensor.dtype);
        // Rows have to lie one after the other; those of a transposed tensor do not.
        let values = into_contiguous(tensor);
        // The sort replaces its keys, which other tensors may share.
        let values = if values.can_mut() { values } else { values.copy() };
        let client = &values.client;
        // Positions are below 2³¹, so they are the same as i32, which is what Burn has for Int.
        let columns = CubeTensor::new_contiguous(
            client.clone(),
            values.device.clone(),
            values.meta.shape().clone(),
            client.empty(4 * elements as usize),
            DType::I32,
        );
        let resource =
            |tensor: &CubeTensor| client.get_resource::<WgpuServer<AutoCompiler>>(tensor.handle.clone());
        // Held until the sort is submitted: Burn may hand out the memory again after that.
        let held = [resource(&values)?, resource(&columns)?];
        // Tensors are slices of larger buffers.
        let [keys, positions] = held.each_ref().map(|held| {
            let resource = held.resource();
            resource.buffer.slice(resource.offset..resource.offset + resource.size)
        });

        // Rows that fit a tile need no workspace, longer ones room for all of them.
        if row > self.sorter.longest_row() && elements > self.workspace.capacity() {
            self.workspace = self.sorter.workspace(elements)?;
        }
        let WgpuSetup { device, queue, .. } = &self.setup;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let rows = Segments::Rows(row);
        self.sorter.record_segments(&mut encoder, &self.workspace, keys, Some(positions), rows)?;
        // Burn collects commands before it submits them. Those that write the keys come first.
        client.flush()?;
        queue.submit([encoder.finish()]);
        Ok((Tensor::from_primitive::<Wgpu>(values), Tensor::from_primitive::<Wgpu>(columns)))
    }
}

fn main() -> Result<()> {
    // Burn asks for all features of the adapter, so those that make sorts fast are there.
    let (device, setup) = Device::wgpu_options().init_with_setup()?;
    println!("on {}", setup.adapter.get_info().name);
    let mut ascending = RowSorter::new(&setup, false)?;
    let mut descending = RowSorter::new(&setup, true)?;
    for [rows, columns] in [[300, 1000], [7, 20_001]] {
        let numbers = (0..rows * columns).map(|i| match i % 97 {
            0 => f32::NAN,
            1 => -0.0,
            _ => (i * 7919 % 1009) as f32 - 500.0,
        });
        let numbers = TensorData::new(numbers.collect::<Vec<_>>(), [columns, rows]);
        // The first sort has to wait for the product, whose rows are not rows in memory.
        let tensor = Tensor::<2>::from_data(numbers, &device).transpose() * 0.5;
        let sorted = ascending.argsort(tensor.clone())?.into_data().try_into_vec::<i32>()?;
        let values = tensor.to_data().try_into_vec::<f32>()?;
        let (largest, places) = descending.topk(tensor, FIRST)?;

        let in_order = |row| order(row, f32::total_cmp);
        ensure!(sorted == values.chunks(columns).flat_map(in_order).collect::<Vec<_>>(), "argsort is wrong");
        let first = |row| order(row, |a, b| b.total_cmp(a)).into_iter().take(FIRST);
        let first: Vec<i32> = values.chunks(columns).flat_map(first).collect();
        ensure!(places.into_data().try_into_vec::<i32>()? == first, "topk has wrong columns");
        let value = |(i, &column): (usize, &i32)| values[i / FIRST * columns + column as usize];
        let first: Vec<f32> = first.iter().enumerate().map(value).collect();
        ensure!(largest.into_data().try_into_vec::<f32>()? == first, "topk has wrong values");
        println!("{rows} rows of {columns}: argsort and topk are right");
    }
    Ok(())
}

/// The columns of a row in order, as the host sorts it: NaN last, equal values as they were.
fn order(row: &[f32], compare: impl Fn(&f32, &f32) -> Ordering) -> Vec<i32> {
    let mut order: Vec<i32> = (0..).take(row.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&row[a as usize], &row[b as usize]);
        if a.is_nan() || b.is_nan() { a.is_nan().cmp(&b.is_nan()) } else { compare(a, b) }
    });
    order
}
