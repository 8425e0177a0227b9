//! A Bevy plug-in that sorts in each frame, before any camera renders: keys and payload are shader
//! buffers, and the sort is recorded into the encoder of Bevy's render graph, on Bevy's device.
//!
//! ```text
//! cargo run --release -p bevy-adapter
//! ```

use std::collections::HashMap;

use bevy::prelude::*;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::{
    RenderAdapterInfo, RenderContext, RenderDevice, RenderGraph, RenderGraphSystems, RenderQueue,
};
use bevy::render::storage::{GpuShaderBuffer, ShaderBuffer};
use bevy::render::{RenderApp, RenderStartup};
use gpusort::ElementType;
use gpusort::buffers::{BufferSorter, Count, Payload, Spec, Workspace};

const ELEMENTS: u32 = 100_000;
const FRAMES: u32 = 5;

/// Sorts [`SortBuffers`], once they are there, in each frame.
pub struct SortPlugin {
    /// The most elements.
    pub capacity: u32,
}

/// What is sorted: keys, and a word for each of them that moves with it.
#[derive(Clone, ExtractResource, Resource)]
#[extract_app(RenderApp)]
pub struct SortBuffers {
    /// `f32`, which become ascending.
    pub keys: Handle<ShaderBuffer>,
    /// `u32`, as many as there are keys.
    pub payload: Handle<ShaderBuffer>,
}

/// Belongs to Bevy's device.
#[derive(Resource)]
pub struct Sorter {
    sorter: BufferSorter,
    workspace: Workspace,
}

/// The most elements, for the sorter of each device.
#[derive(Resource)]
struct Capacity(u32);

impl Plugin for SortPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(ExtractResourcePlugin::<SortBuffers>::default());
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app
                .insert_resource(Capacity(self.capacity))
                // This schedule runs again after a device was lost, with the new one.
                .add_systems(RenderStartup, start_sorter)
                .add_systems(RenderGraph, sort.in_set(RenderGraphSystems::Begin));
        }
    }
}

/// Bevy asks for all features of the adapter, so those that make sorts fast are there.
fn start_sorter(
    mut commands: Commands,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    capacity: Res<Capacity>,
) -> Result {
    let spec = Spec::new(ElementType::F32).payload(Payload::U32).argsort(false).segments(false);
    let sorter = BufferSorter::new(device.wgpu_device(), &queue, spec)?;
    let workspace = sorter.workspace(capacity.0)?;
    commands.insert_resource(Sorter { sorter, workspace });
    Ok(())
}

/// Records the sort. Bevy submits encoders in the order of the systems: one that writes the keys on
/// the GPU is added with `.before(sort)`.
pub fn sort(
    mut context: RenderContext,
    sorter: Res<Sorter>,
    buffers: Option<Res<SortBuffers>>,
    on_gpu: Res<RenderAssets<GpuShaderBuffer>>,
) -> Result {
    let Some(buffers) = buffers else { return Ok(()) };
    let (Some(keys), Some(payload)) = (on_gpu.get(&buffers.keys), on_gpu.get(&buffers.payload)) else {
        return Ok(());
    };
    let Sorter { sorter, workspace } = &*sorter;
    let count = Count::Host(u32::try_from(keys.buffer.size() / 4)?);
    let (keys, payload) = (*keys.buffer.slice(..), Some(*payload.buffer.slice(..)));
    sorter.record(context.command_encoder(), workspace, keys, payload, count)?;
    Ok(())
}

/// What arrived from the GPU, by the entities that asked for it.
#[derive(Default, Resource)]
struct ReadBack(HashMap<Entity, Vec<u8>>);

fn main() -> Result {
    let mut app = App::new();
    app.add_plugins((DefaultPlugins, SortPlugin { capacity: ELEMENTS })).init_resource::<ReadBack>();
    app.add_observer(|event: On<ReadbackComplete>, mut read_back: ResMut<ReadBack>| {
        read_back.0.insert(event.entity, event.data.clone());
    });
    app.finish();
    app.cleanup();

    let mut assets = app.world_mut().resource_mut::<Assets<ShaderBuffer>>();
    let buffers = [(); 2].map(|()| assets.add(ShaderBuffer::with_size(4 * ELEMENTS as u64, default())));
    let [keys, payload] = buffers.clone();
    app.insert_resource(SortBuffers { keys, payload });
    let readers = buffers.clone().map(|buffer| app.world_mut().spawn(Readback::buffer(buffer)).id());
    for frame in 0..FRAMES {
        // A game would have a pass that writes them.
        let keys: Vec<f32> = (0..ELEMENTS).map(|i| (i as f32 * 0.618 + frame as f32).sin()).collect();
        let payload: Vec<u32> = (0..ELEMENTS).collect();
        let mut assets = app.world_mut().resource_mut::<Assets<ShaderBuffer>>();
        assets.insert(&buffers[0], keys.clone().into())?;
        assets.insert(&buffers[1], payload.clone().into())?;
        app.update();
        // A game would not wait; what it reads back arrives some frames later.
        app.world().resource::<RenderDevice>().poll(PollType::wait_indefinitely())?;
        app.update();

        let mut order = payload;
        order.sort_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize]));
        let sorted: Vec<f32> = order.iter().map(|&i| keys[i as usize]).collect();
        let read_back = &app.world().resource::<ReadBack>().0;
        let [keys, payload] = readers.map(|reader| read_back.get(&reader).context("nothing was read back"));
        if *keys? != *bytemuck::cast_slice(&sorted) || *payload? != *bytemuck::cast_slice(&order) {
            return Err(format!("frame {frame} is not in order").into());
        }
    }
    let adapter = app.world().resource::<RenderAdapterInfo>();
    println!("{FRAMES} frames, each with {ELEMENTS} keys in order, on {}", adapter.name);
    Ok(())
}
