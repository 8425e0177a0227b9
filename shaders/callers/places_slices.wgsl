// The places of elements in slices.

fn own_key_at(i: u32) -> u32 {
    return slices.read_keys + i;
}

fn other_key_at(i: u32) -> u32 {
    return slices.write_keys + i;
}

fn own_payload_at(i: u32) -> u32 {
    return slices.read_payload + i;
}

fn other_payload_at(i: u32) -> u32 {
    return slices.write_payload + i;
}
