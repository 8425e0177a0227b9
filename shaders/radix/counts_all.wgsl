// Counts all digits.

fn first_digit() -> u32 {
    return 0u;
}

fn is_counted(digit: u32, first: u32) -> bool {
    return true;
}
