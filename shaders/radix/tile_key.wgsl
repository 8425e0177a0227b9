// Elements without payload.

alias Payload = u32;

fn load_payload(payload: ptr<function, Payload>, own: Own) {}

fn move_payload(payload: ptr<function, Payload>, ranks: ptr<function, Words>, own: Own) {}

fn store_payload(payload: ptr<function, Payload>, own: Own) {}
