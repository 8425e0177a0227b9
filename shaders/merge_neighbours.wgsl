// Merges two consecutive runs of an array into the other array.

struct Arguments {
    // The beginning of the first run, the beginning of the second run, which is the end of the
    // first run, and the end of the second run.
    first: u32,
    middle: u32,
    end: u32,
}

fn first_count() -> u32 {
    return arguments.middle - arguments.first;
}

fn second_count() -> u32 {
    return arguments.end - arguments.middle;
}

fn load_first(i: u32) -> Element {
    return load(arguments.first + i);
}

fn load_second(i: u32) -> Element {
    return load(arguments.middle + i);
}

fn load_either(first: u32, second: u32, is_first: bool) -> Element {
    return load(select(arguments.middle + second, arguments.first + first, is_first));
}

fn store_merged(i: u32, element: Element) {
    store_scratch(arguments.first + i, element);
}
