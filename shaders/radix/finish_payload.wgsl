// Elements with a payload. During the sort of a window, an element carries its place in the window.

fn key_of(element: Element) -> Key {
    return element.key;
}

fn finish_payload(begin: u32, count: u32, local: u32, are_in_other: bool) {
    var moved: array<u32, EACH>;
    // unroll
    for (var i = 0u; i < EACH; i++) {
        let at = begin + min(fetch(local + i * WORKGROUP_SIZE).payload, count - 1u);
        if are_in_other {
            moved[i] = scratch_payload[other_payload_at(at)];
        } else {
            moved[i] = payload[own_payload_at(at)];
        }
    }
    // All reads precede the writes in place.
    storageBarrier();
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < EACH; i++) {
        let at = local + i * WORKGROUP_SIZE;
        if at < count {
            payload[own_payload_at(begin + at)] = moved[i];
        }
    }
}

fn bring_payload_back(i: u32) {
    payload[own_payload_at(i)] = scratch_payload[other_payload_at(i)];
}
