// Slices, before which there may be something in what is bound.

struct Slices {
    // Where the slices begin that are read, and those that are written: in elements.
    read_keys: u32,
    read_payload: u32,
    write_keys: u32,
    write_payload: u32,
}

@group(1) @binding(1) var<uniform> slices: Slices;
