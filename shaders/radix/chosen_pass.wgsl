// Each pass distributes by the next chosen digit, if there is one.

fn this_pass() -> Pass {
    let passes = chosen();
    let number = arguments.digit;
    var digits = passes.digits;
    for (var i = 0u; i < number; i++) {
        digits &= digits - 1u;
    }
    return Pass(
        digits != 0u,
        false,
        number == 0u,
        // Otherwise `finish` maps keys to elements.
        !passes.finishes && number + 1u == passes.passes && (passes.passes & 1u) == 0u,
        number,
        min(firstTrailingBit(digits), DIGITS - 1u),
        number == 0u && arguments.iota == 1u,
    );
}
