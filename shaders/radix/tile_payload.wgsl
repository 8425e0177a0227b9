// Elements with a payload, which moves unchanged.

alias Payload = Words;

fn load_payload(words: ptr<function, Payload>, own: Own) {
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        if i < own.items {
            let at = own.first + i * own.stride;
            (*words)[i] = at;
            if arguments.iota == 0u {
                (*words)[i] = payload[own_payload_at(min(at, arguments.n - 1u))];
            }
        }
    }
}

fn move_payload(words: ptr<function, Payload>, ranks: ptr<function, Words>, own: Own) {
    move_words(words, ranks, own);
}

fn store_payload(words: ptr<function, Payload>, own: Own) {
    // unroll
    for (var i = 0u; i < ITEMS; i++) {
        let at = own.first + i * own.stride;
        if i < own.items && at < arguments.n {
            payload[own_payload_at(at)] = (*words)[i];
        }
    }
}
