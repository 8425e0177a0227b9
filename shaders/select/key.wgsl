// Elements that are their key alone.

fn move_position(i: u32, to: u32, numbers: bool) {}
