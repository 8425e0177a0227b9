// Which bits vary, as was found out before.

fn this_pass() -> Pass {
    return pass_of(vec2(varying_bits[0] & varying_bits[1], varying_bits[2] & varying_bits[3]));
}
