// Words beside keys, in arrays that begin where their bindings do.

fn read_position(i: u32) -> u32 {
    return positions[i];
}

fn write_position(i: u32, position: u32) {
    scratch_positions[i] = position;
}
