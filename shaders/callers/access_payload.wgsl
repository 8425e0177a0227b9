// Access to the payload in arrays that begin at their bindings.

fn read_payload(i: u32) -> u32 {
    return payload[i];
}

fn write_payload(i: u32, payload: u32) {
    scratch_payload[i] = payload;
}
