// Uses everything that the package exports, as its types are. It is compiled, and not run.
import {
  argsort, type Count, type Elements, type KeyType, Misuse, MOST, type Segments, type Slice, sort, type Sortable, Sorter, type SortOptions, type Spec,
  type Workspace,
} from "gpusort";

export async function arrays(device: GPUDevice): Promise<void> {
  const options: SortOptions = { descending: true, device };
  const floats: Float32Array = await sort(new Float32Array([2, 1]), options);
  const any: Sortable = new BigInt64Array(2);
  await sort(any, { device: "auto" });
  const positions: Uint32Array = await argsort(floats, { device: "cpu" });
  console.log(positions.length);
}

export function deviceOf(adapter: GPUAdapter): Promise<GPUDevice> {
  return adapter.requestDevice({ requiredFeatures: Sorter.requiredFeatures(adapter), requiredLimits: Sorter.requiredLimits(1 << 24) });
}

export async function buffers(device: GPUDevice, keys: GPUBuffer, payload: GPUBuffer, key: KeyType): Promise<GPUCommandBuffer | undefined> {
  const spec: Spec = { key, payload: "u32", descending: true, argsort: true, segments: true };
  const numbered: Spec = { key: "f32", payload: "positions" };
  const sorter = await Sorter.create(device, spec);
  await sorter.compile({ segments: true, rows: sorter.longestRow, top: true });
  const encoder = sorter.device.createCommandEncoder();
  try {
    const workspace: Workspace = sorter.workspace(Math.min(1000, MOST));
    console.log(workspace.capacity, workspace.bytes, sorter.workspaceBytes(1000), sorter.spec.key, numbered);
    const positions: Slice = { buffer: payload, offset: 256, size: 400 };
    const count: Count = { buffer: payload, offset: 4 };
    const elements: Elements = { keys, payload: positions, count };
    sorter.record(encoder, workspace, elements);
    sorter.recordArgsort(encoder, workspace, { keys, positions, count: 100 });
    sorter.recordTop(encoder, workspace, elements, 10);
    const rows: Segments = { rows: 10 };
    sorter.recordSegments(encoder, workspace, { keys, payload: positions }, rows);
    sorter.recordSegments(encoder, workspace, { keys, payload: positions }, { offsets: new Uint32Array([0, 5, 10]) });
    workspace.destroy();
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    console.log(error.message);
    return undefined;
  }
  return encoder.finish();
}
