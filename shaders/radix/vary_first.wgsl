// The first pass counts whatever it finds: which bits vary is not known before.

fn this_pass() -> Pass {
    return Pass(true, false, true, false, 0u, arguments.digit, false);
}
