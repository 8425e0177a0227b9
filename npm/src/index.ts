/** Sorts numbers on the GPU by WebGPU: recorded into your encoder, of your buffers. */
export { type Count, type KeyType, Misuse, MOST, type Slice, Sorter, type Spec, Workspace } from "./sorter.js";
