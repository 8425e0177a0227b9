// Counts the chosen leading digits only.

fn first_digit() -> u32 {
    return atomicLoad(&varying_bits[FROM]);
}

fn is_counted(digit: u32, first: u32) -> bool {
    return digit >= first;
}
