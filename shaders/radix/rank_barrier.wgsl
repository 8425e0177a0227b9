// How lanes that share a counter agree: all of them read it, then the first of each writes.

fn count_together(counter: u32, peers: Lanes, before: u32) -> u32 {
    let counted = atomicLoad(&shared_words[counter]);
    subgroupBarrier();
    if before == 0u {
        atomicStore(&shared_words[counter], counted + lane_count(peers));
    }
    subgroupBarrier();
    return counted;
}
