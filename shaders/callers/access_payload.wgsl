// Words beside keys, in arrays that begin where their bindings do.

fn read_payload(i: u32) -> u32 {
    return payload[i];
}

fn write_payload(i: u32, payload: u32) {
    scratch_payload[i] = payload;
}
