// Elements without payload.

alias Payload = u32;

fn load_payload(payload: ptr<function, Payload>, current: Pass, own: Own) {}

fn copy_payload(i: u32, current: Pass, part: Part) {}

fn scatter_payload(
    payload: ptr<function, Payload>,
    own: Own,
    ranks: ptr<function, Words>,
    places: ptr<function, Words>,
) {}
