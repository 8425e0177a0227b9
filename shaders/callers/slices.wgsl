// Slices, which may begin after the beginning of their bindings.

struct Slices {
    // The beginnings of the slices that passes read, and of the slices that they write, in
    // elements.
    read_keys: u32,
    read_payload: u32,
    write_keys: u32,
    write_payload: u32,
}

@group(1) @binding(1) var<uniform> slices: Slices;
