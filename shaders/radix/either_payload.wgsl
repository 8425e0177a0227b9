// A payload that moves with its keys from either array to the other.

fn read_payload(i: u32) -> u32 {
    if are_in_other {
        return scratch_payload[other_payload_at(i)];
    }
    return payload[own_payload_at(i)];
}

fn write_payload(i: u32, moved: u32) {
    if are_in_other {
        payload[own_payload_at(i)] = moved;
    } else {
        scratch_payload[other_payload_at(i)] = moved;
    }
}

fn bring_back(i: u32, key: Key) {
    payload[own_payload_at(i)] = read_payload(i);
    keys[own_key_at(i)] = key;
}
