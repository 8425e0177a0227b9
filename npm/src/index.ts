/** Sorts numbers: in buffers of your WebGPU device, recorded into your encoder, and in typed arrays, on a GPU or the CPU. */
export { type Count, Misuse, type Slice } from "./slices.js";
export { type Elements, type KeyType, MOST, type Segments, Sorter, type Spec, type Workspace } from "./sorter.js";
export { argsort, sort, type Sortable, type SortOptions } from "./arrays.js";
