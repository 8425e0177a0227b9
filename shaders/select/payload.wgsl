// Elements with a payload.

// Each load of a payload delays its element, so iota loads nothing.
fn move_payload(i: u32, to: u32, iota: bool) {
    var payload = i;
    if !iota {
        payload = read_payload(i);
    }
    write_payload(to, payload);
}
