// Two runs of an array, one after the other, which are merged into the other array.

struct Arguments {
    // Where the first run begins, where it ends and the second begins, and where that ends.
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
