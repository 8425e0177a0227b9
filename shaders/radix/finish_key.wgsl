// Elements without payload.

fn key_of(element: Element) -> Key {
    return element;
}

fn finish_payload(begin: u32, count: u32, local: u32, are_in_other: bool) {}

fn bring_payload_back(i: u32) {}
