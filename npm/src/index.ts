/** Sorts numbers on the GPU by WebGPU: recorded into your encoder, of your buffers. */
export { type Count, Misuse, type Slice } from "./slices.js";
export { type Elements, type KeyType, MOST, type Segments, Sorter, type Spec, Workspace } from "./sorter.js";
export { argsort, sort, type Sortable, type SortOptions } from "./arrays.js";
