// The leading digits that were chosen are counted, and no others.

fn first_digit() -> u32 {
    return atomicLoad(&varying_bits[FROM]);
}

fn is_counted(digit: u32, first: u32) -> bool {
    return digit >= first;
}
