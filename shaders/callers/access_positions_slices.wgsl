// Words beside keys, in slices.

fn read_position(i: u32) -> u32 {
    return positions[slices.read_positions + i];
}

fn write_position(i: u32, position: u32) {
    scratch_positions[slices.write_positions + i] = position;
}
