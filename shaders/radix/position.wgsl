// Elements with a position, which is not looked at here: any word that belongs to a key.

alias Payload = Words;

fn load_payload(payload: ptr<function, Payload>, current: Pass, own: Own) {
    if current.is_first && arguments.numbers == 1u {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            (*payload)[i] = own.first + i * own.stride;
        }
    } else if current.swapped {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            (*payload)[i] = scratch_positions[min(own.first + i * own.stride, arguments.n - 1u)];
        }
    } else {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            (*payload)[i] = positions[min(own.first + i * own.stride, arguments.n - 1u)];
        }
    }
}

fn copy_payload(payload: ptr<function, Payload>, current: Pass, own: Own) {
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        if own.first + i * own.stride < arguments.n {
            if current.swapped {
                positions[own.first + i * own.stride] = (*payload)[i];
            } else {
                scratch_positions[own.first + i * own.stride] = (*payload)[i];
            }
        }
    }
}

fn scatter_payload(payload: ptr<function, Payload>, current: Pass, own: Own, ranks: ptr<function, Words>, places: ptr<function, Words>) {
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        atomicStore(&shared_words[(*ranks)[i]], (*payload)[i]);
    }
    workgroupBarrier();
    if current.swapped {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            if own.place + i * WORKGROUP_SIZE < own.count {
                positions[(*places)[i]] = atomicLoad(&shared_words[own.place + i * WORKGROUP_SIZE]);
            }
        }
    } else {
        // unroll
        for (var i = 0u; i < ITEMS; i++) {
            if own.place + i * WORKGROUP_SIZE < own.count {
                scratch_positions[(*places)[i]] = atomicLoad(&shared_words[own.place + i * WORKGROUP_SIZE]);
            }
        }
    }
}
