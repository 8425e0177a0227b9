// The lanes of a subgroup that run.
fn lanes_here() -> Lanes {
    return ballot(true);
}

// Those of them whose digit is the same.
fn peers_of(digit: u32, lanes: Lanes) -> Lanes {
    var peers = lanes;
    // unroll
    for (var b = 0u; b < 8u; b++) {
        let is_set = (digit & (1u << b)) != 0u;
        let with_bit = ballot(is_set);
        peers &= select(~with_bit, with_bit, is_set);
    }
    return peers;
}
