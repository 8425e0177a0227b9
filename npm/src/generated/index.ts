// Written by crates/npm: do not edit.
import type { Family } from "../plan.js";

/** Lanes of subgroups, at least and at most; none in the last class. */
export const classes: { name: string; least: number; most: number; vendor?: string }[] = [
    { name: "nvidia", least: 32, most: 32, vendor: "nvidia" },
    { name: "32", least: 32, most: 32 },
    { name: "64", least: 32, most: 64 },
    { name: "any", least: 4, most: 128 },
    { name: "none", least: 0, most: 0 },
];

export const families: Record<string, () => Promise<{ family: Family }>> = {
    u32_nvidia: () => import("./u32_nvidia.js"),
    u32_32: () => import("./u32_32.js"),
    u32_64: () => import("./u32_64.js"),
    u32_any: () => import("./u32_any.js"),
    u32_none: () => import("./u32_none.js"),
    i32_nvidia: () => import("./i32_nvidia.js"),
    i32_32: () => import("./i32_32.js"),
    i32_64: () => import("./i32_64.js"),
    i32_any: () => import("./i32_any.js"),
    i32_none: () => import("./i32_none.js"),
    f32_nvidia: () => import("./f32_nvidia.js"),
    f32_32: () => import("./f32_32.js"),
    f32_64: () => import("./f32_64.js"),
    f32_any: () => import("./f32_any.js"),
    f32_none: () => import("./f32_none.js"),
    u64_nvidia: () => import("./u64_nvidia.js"),
    u64_32: () => import("./u64_32.js"),
    u64_64: () => import("./u64_64.js"),
    u64_any: () => import("./u64_any.js"),
    u64_none: () => import("./u64_none.js"),
    i64_nvidia: () => import("./i64_nvidia.js"),
    i64_32: () => import("./i64_32.js"),
    i64_64: () => import("./i64_64.js"),
    i64_any: () => import("./i64_any.js"),
    i64_none: () => import("./i64_none.js"),
    f64_nvidia: () => import("./f64_nvidia.js"),
    f64_32: () => import("./f64_32.js"),
    f64_64: () => import("./f64_64.js"),
    f64_any: () => import("./f64_any.js"),
    f64_none: () => import("./f64_none.js"),
};

export const prepare = "const RADIX_N = 0u;\nconst RADIX_TILES = 1u;\nconst RADIX_CHUNK = 2u;\nconst RADIX_CHUNKS = 3u;\nconst RADIX_DIGIT = 4u;\nconst RADIX_IOTA = 5u;\nconst RADIX_DROPS_KEYS = 6u;\nconst SELECT_N = 0u;\nconst SELECT_K = 1u;\nconst SELECT_WORD = 2u;\nconst SELECT_SHIFT = 3u;\nconst SELECT_WIDTH = 4u;\nconst SELECT_CHUNK = 5u;\nconst SELECT_CHUNKS = 6u;\nconst SELECT_IOTA = 7u;\nconst ROWS_ROWS = 0u;\nconst ROWS_LENGTH = 1u;\nconst ROWS_FIRST_KEY = 2u;\nconst ROWS_FIRST_PAYLOAD = 3u;\nconst LISTED_TILES = 0u;\nconst LISTED_FIRST_OFFSET = 1u;\nconst LISTED_FIRST_KEY = 2u;\nconst LISTED_FIRST_PAYLOAD = 3u;\nconst OFFSETS_SEGMENTS = 0u;\nconst OFFSETS_FIRST_OFFSET = 1u;\nconst OFFSETS_FIRST_KEY = 2u;\nconst OFFSETS_FIRST_PAYLOAD = 3u;\nconst COPY_N = 0u;\nconst COPY_FIRST = 1u;\nconst SLICES_READ_KEYS = 0u;\nconst SLICES_READ_PAYLOAD = 1u;\nconst SLICES_WRITE_KEYS = 2u;\nconst SLICES_WRITE_PAYLOAD = 3u;\n@group(1) @binding(0) var<uniform> number_0: u32;\n@group(1) @binding(1) var<uniform> number_1: u32;\n@group(1) @binding(2) var<uniform> number_2: u32;\n@group(1) @binding(3) var<uniform> number_3: u32;\n@group(1) @binding(4) var<uniform> host_byte_0: u32;\n@group(1) @binding(5) var<uniform> host_byte_1: u32;\n@group(1) @binding(6) var<uniform> host_byte_2: u32;\n@group(1) @binding(7) var<uniform> host_byte_3: u32;\nfn host_number() -> u32 {\nreturn number_0 | (number_1 << 8u) | (number_2 << 16u) | (number_3 << 24u);\n}\nconst SLOT: u32 = 64u;\nfn put_slices(slot: u32, first_key: u32, first_payload: u32) {\nparameters[slot + SLICES_READ_KEYS] = first_key;\nparameters[slot + SLICES_READ_PAYLOAD] = first_payload;\nparameters[slot + SLICES_WRITE_KEYS] = 0u;\nparameters[slot + SLICES_WRITE_PAYLOAD] = 0u;\nparameters[slot + SLOT + SLICES_READ_KEYS] = 0u;\nparameters[slot + SLOT + SLICES_READ_PAYLOAD] = 0u;\nparameters[slot + SLOT + SLICES_WRITE_KEYS] = first_key;\nparameters[slot + SLOT + SLICES_WRITE_PAYLOAD] = first_payload;\n}\nstruct Fixed {\ncapacity: u32,\ntile: u32,\nchunk: u32,\ndigits: u32,\n}\n@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;\n@group(0) @binding(1) var<storage, read_write> histograms: array<u32>;\n@group(0) @binding(2) var<storage, read_write> varying_bits: array<u32>;\n@group(0) @binding(3) var<uniform> fixed: Fixed;\n@group(0) @binding(4) var<storage, read> counts: array<u32>;\nconst RADIX: u32 = 256u;\n@compute @workgroup_size(256)\nfn prepare(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {\nlet digit = workgroup.x;\nhistograms[digit * RADIX + local] = 0u;\nif local > 0u {\nreturn;\n}\nlet flags = host_byte_3;\nlet n = min(min(counts[host_byte_2], host_number()), fixed.capacity);\nlet tiles = (n + fixed.tile - 1u) / fixed.tile;\nlet first = digit * SLOT;\nparameters[first + RADIX_N] = n;\nparameters[first + RADIX_TILES] = tiles;\nparameters[first + RADIX_CHUNK] = fixed.chunk;\nparameters[first + RADIX_CHUNKS] = (tiles + fixed.chunk - 1u) / fixed.chunk;\nparameters[first + RADIX_DIGIT] = digit;\nparameters[first + RADIX_IOTA] = flags & 1u;\nparameters[first + RADIX_DROPS_KEYS] = (flags >> 1u) & 1u;\nif digit == 0u {\nfor (var i = 0u; i < 4u; i++) {\nvarying_bits[i] = 0u;\n}\nlet slot = fixed.digits * SLOT;\nput_slices(slot, select(host_byte_0, 0u, (flags & 4u) != 0u), host_byte_1);\nparameters[slot + 2u * SLOT + COPY_N] = n;\nparameters[slot + 2u * SLOT + COPY_FIRST] = host_byte_0;\n}\n}\n";
export const prepareRows = "const RADIX_N = 0u;\nconst RADIX_TILES = 1u;\nconst RADIX_CHUNK = 2u;\nconst RADIX_CHUNKS = 3u;\nconst RADIX_DIGIT = 4u;\nconst RADIX_IOTA = 5u;\nconst RADIX_DROPS_KEYS = 6u;\nconst SELECT_N = 0u;\nconst SELECT_K = 1u;\nconst SELECT_WORD = 2u;\nconst SELECT_SHIFT = 3u;\nconst SELECT_WIDTH = 4u;\nconst SELECT_CHUNK = 5u;\nconst SELECT_CHUNKS = 6u;\nconst SELECT_IOTA = 7u;\nconst ROWS_ROWS = 0u;\nconst ROWS_LENGTH = 1u;\nconst ROWS_FIRST_KEY = 2u;\nconst ROWS_FIRST_PAYLOAD = 3u;\nconst LISTED_TILES = 0u;\nconst LISTED_FIRST_OFFSET = 1u;\nconst LISTED_FIRST_KEY = 2u;\nconst LISTED_FIRST_PAYLOAD = 3u;\nconst OFFSETS_SEGMENTS = 0u;\nconst OFFSETS_FIRST_OFFSET = 1u;\nconst OFFSETS_FIRST_KEY = 2u;\nconst OFFSETS_FIRST_PAYLOAD = 3u;\nconst COPY_N = 0u;\nconst COPY_FIRST = 1u;\nconst SLICES_READ_KEYS = 0u;\nconst SLICES_READ_PAYLOAD = 1u;\nconst SLICES_WRITE_KEYS = 2u;\nconst SLICES_WRITE_PAYLOAD = 3u;\n@group(1) @binding(0) var<uniform> number_0: u32;\n@group(1) @binding(1) var<uniform> number_1: u32;\n@group(1) @binding(2) var<uniform> number_2: u32;\n@group(1) @binding(3) var<uniform> number_3: u32;\n@group(1) @binding(4) var<uniform> host_byte_0: u32;\n@group(1) @binding(5) var<uniform> host_byte_1: u32;\n@group(1) @binding(6) var<uniform> host_byte_2: u32;\n@group(1) @binding(7) var<uniform> host_byte_3: u32;\nfn host_number() -> u32 {\nreturn number_0 | (number_1 << 8u) | (number_2 << 16u) | (number_3 << 24u);\n}\nconst SLOT: u32 = 64u;\nfn put_slices(slot: u32, first_key: u32, first_payload: u32) {\nparameters[slot + SLICES_READ_KEYS] = first_key;\nparameters[slot + SLICES_READ_PAYLOAD] = first_payload;\nparameters[slot + SLICES_WRITE_KEYS] = 0u;\nparameters[slot + SLICES_WRITE_PAYLOAD] = 0u;\nparameters[slot + SLOT + SLICES_READ_KEYS] = 0u;\nparameters[slot + SLOT + SLICES_READ_PAYLOAD] = 0u;\nparameters[slot + SLOT + SLICES_WRITE_KEYS] = first_key;\nparameters[slot + SLOT + SLICES_WRITE_PAYLOAD] = first_payload;\n}\n@group(0) @binding(0) var<storage, read_write> parameters: array<u32>;\n@compute @workgroup_size(1)\nfn prepare_rows() {\nlet length = host_byte_0 | (host_byte_1 << 8u);\nparameters[ROWS_ROWS] = host_number() / max(length, 1u);\nparameters[ROWS_LENGTH] = length;\nparameters[ROWS_FIRST_KEY] = host_byte_2;\nparameters[ROWS_FIRST_PAYLOAD] = host_byte_3;\n}\n";
export const copy1 = "const KEY_WORDS = 1u;\n@group(1) @binding(0) var<uniform> arguments: Arguments;\nstruct Arguments {\nn: u32,\nfirst: u32,\n}\n@group(0) @binding(0) var<storage, read> keys: array<u32>;\n@group(0) @binding(1) var<storage, read_write> copied: array<u32>;\n@compute @workgroup_size(256)\nfn copy(\n@builtin(workgroup_id) workgroup: vec3<u32>,\n@builtin(num_workgroups) grid: vec3<u32>,\n@builtin(local_invocation_index) local: u32,\n) {\nlet words = arguments.n * KEY_WORDS;\nlet first = arguments.first * KEY_WORDS;\nfor (var i = workgroup.x * 256u + local; i < words; i += grid.x * 256u) {\ncopied[i] = keys[first + i];\n}\n}\n";
export const copy2 = "const KEY_WORDS = 2u;\n@group(1) @binding(0) var<uniform> arguments: Arguments;\nstruct Arguments {\nn: u32,\nfirst: u32,\n}\n@group(0) @binding(0) var<storage, read> keys: array<u32>;\n@group(0) @binding(1) var<storage, read_write> copied: array<u32>;\n@compute @workgroup_size(256)\nfn copy(\n@builtin(workgroup_id) workgroup: vec3<u32>,\n@builtin(num_workgroups) grid: vec3<u32>,\n@builtin(local_invocation_index) local: u32,\n) {\nlet words = arguments.n * KEY_WORDS;\nlet first = arguments.first * KEY_WORDS;\nfor (var i = workgroup.x * 256u + local; i < words; i += grid.x * 256u) {\ncopied[i] = keys[first + i];\n}\n}\n";
