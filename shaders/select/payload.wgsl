// Elements with a payload.

// What is loaded here is waited for element by element, so where the payload is iota nothing is.
fn move_payload(i: u32, to: u32, iota: bool) {
    var payload = i;
    if !iota {
        payload = read_payload(i);
    }
    write_payload(to, payload);
}
