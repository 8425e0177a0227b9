// Sets of lanes, for subgroups of at most 32 lanes.

alias Lanes = u32;

fn ballot(vote: bool) -> Lanes {
    return subgroupBallot(vote).x;
}

// Returns the lanes before this one.
fn lanes_before(lane: u32) -> Lanes {
    return (1u << lane) - 1u;
}

fn lane_count(lanes: Lanes) -> u32 {
    return countOneBits(lanes);
}

fn first_lane(lanes: Lanes) -> u32 {
    return firstTrailingBit(lanes);
}
