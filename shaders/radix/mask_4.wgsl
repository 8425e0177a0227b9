// Sets of lanes, for subgroups of any size.

alias Lanes = vec4<u32>;

fn ballot(vote: bool) -> Lanes {
    return subgroupBallot(vote);
}

// Returns the lanes before this one.
fn lanes_before(lane: u32) -> Lanes {
    let word = vec4(0u, 1u, 2u, 3u);
    let of_word = (1u << (lane & 31u)) - 1u;
    return select(select(vec4(0u), vec4(of_word), word == vec4(lane >> 5u)), vec4(0xffffffffu), word < vec4(lane >> 5u));
}

fn lane_count(lanes: Lanes) -> u32 {
    let counts = countOneBits(lanes);
    return counts.x + counts.y + counts.z + counts.w;
}

fn first_lane(lanes: Lanes) -> u32 {
    let first = firstTrailingBit(lanes);
    let low = select(first.y + 32u, first.x, lanes.x != 0u);
    let high = select(first.w + 96u, first.z + 64u, lanes.z != 0u);
    return select(high, low, (lanes.x | lanes.y) != 0u);
}
