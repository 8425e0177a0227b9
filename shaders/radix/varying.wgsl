// The work of a pass follows from the bits that vary, found by an earlier pass.

fn this_pass() -> Pass {
    let vary = digits_of(vec2(varying_bits[0] & varying_bits[1], varying_bits[2] & varying_bits[3]));
    return pass_of(vary, arguments.iota == 1u);
}
