// Elements with a position, or another word, beside the key.

// What is loaded here is waited for element by element, so where positions are numbered nothing is.
fn move_position(i: u32, to: u32, numbers: bool) {
    var position = i;
    if !numbers {
        position = read_position(i);
    }
    write_position(to, position);
}
