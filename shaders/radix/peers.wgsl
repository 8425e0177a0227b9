// Returns the active lanes of the subgroup.
fn lanes_here() -> Lanes {
    return ballot(true);
}

// Returns the lanes with the same digit as this lane.
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
