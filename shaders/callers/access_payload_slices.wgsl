// Access to the payload in slices.

fn read_payload(i: u32) -> u32 {
    return payload[slices.read_payload + i];
}

fn write_payload(i: u32, payload: u32) {
    scratch_payload[slices.write_payload + i] = payload;
}
