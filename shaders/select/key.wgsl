// Elements without payload.

fn move_payload(i: u32, to: u32, iota: bool) {}
