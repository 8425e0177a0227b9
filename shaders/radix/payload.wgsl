// Elements with a payload, which moves unchanged.

alias Payload = Words;

fn load_payload(payload: ptr<function, Payload>, current: Pass, own: Own) {
    if current.numbers {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            (*payload)[i] = own.first - own.part.begin + i * own.stride;
        }
    } else {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            (*payload)[i] = read_payload(min(own.first + i * own.stride, own.part.end - 1u));
        }
    }
}

fn copy_payload(i: u32, current: Pass, part: Part) {
    if current.numbers {
        write_payload(i, i - part.begin);
    } else {
        write_payload(i, read_payload(i));
    }
}

fn scatter_payload(
    payload: ptr<function, Payload>,
    own: Own,
    ranks: ptr<function, Words>,
    places: ptr<function, Words>,
) {
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        atomicStore(&shared_words[(*ranks)[i]], (*payload)[i]);
    }
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        let at = own.place + i * WORKGROUP_SIZE;
        if at < own.count {
            write_payload((*places)[i], atomicLoad(&shared_words[at]));
        }
    }
}
