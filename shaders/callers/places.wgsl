// The places of elements in arrays that begin at their bindings.

fn own_key_at(i: u32) -> u32 {
    return i;
}

fn other_key_at(i: u32) -> u32 {
    return i;
}

fn own_payload_at(i: u32) -> u32 {
    return i;
}

fn other_payload_at(i: u32) -> u32 {
    return i;
}
