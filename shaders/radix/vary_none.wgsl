// The bits that vary are already known.

fn begin_varying(local: u32) {}

fn note_varying(ones: Key, zeros: Key, lane: Lane) {}

fn end_varying(local: u32) {}
