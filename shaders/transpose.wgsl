// The bitonic network with alternating directions, on rows in workgroup memory. Steps with strides
// larger than a row run on the transposed array, where their strides are small. After the DirectX
// sample "ComputeShaderSort11". The array is padded to a power of two.

struct Arguments {
    // The number of elements, with the padding.
    n: u32,
    // The beginning of the padding.
    pad_from: u32,
    // The number of steps of a merge.
    steps: u32,
    // The bit of an element's place that is set if a merge is descending.
    block_log2: u32,
    // The numbers of rows and columns of a transposition, both powers of two.
    rows: u32,
    columns: u32,
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn pad(place: Place, @builtin(local_invocation_index) local: u32) {
    let i = arguments.pad_from + invocation_number(place, local);
    if i < arguments.n {
        store(i, LAST_ELEMENT);
    }
}

// Returns the lower position of comparison c with this stride.
fn lower_of(c: u32, stride: u32) -> u32 {
    return 2u * c - (c & (stride - 1u));
}

// Performs the steps of strides 2^(log2 − 1) … 1 on a row of TILE_SIZE elements from `start` on:
// ascending if bit `block_log2` of the position is 0. A barrier precedes each step, since a step
// reads the pairs that the previous step wrote.
fn merge_row(start: u32, local: u32, log2: u32, block_log2: u32) {
    for (var s = log2; s > 0u; s--) {
        let stride = 1u << (s - 1u);
        workgroupBarrier();
        for (var c = local; c < TILE_SIZE / 2u; c += WORKGROUP_SIZE) {
            let low = lower_of(c, stride);
            let a = load_tile(low);
            let b = load_tile(low + stride);
            let descending = (((start + low) >> block_log2) & 1u) == 1u;
            if (descending && less(a, b)) || (!descending && less(b, a)) {
                store_tile(low, b);
                store_tile(low + stride, a);
            }
        }
    }
}

fn load_row(start: u32, local: u32) {
    for (var i = local; i < TILE_SIZE; i += WORKGROUP_SIZE) {
        store_tile(i, load(start + i));
    }
}

fn store_row(start: u32, local: u32) {
    workgroupBarrier();
    for (var i = local; i < TILE_SIZE; i += WORKGROUP_SIZE) {
        store(start + i, load_tile(i));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_rows(place: Place, @builtin(local_invocation_index) local: u32) {
    let start = workgroup_number(place) * TILE_SIZE;
    if start < arguments.n {
        load_row(start, local);
        for (var k = 1u; (1u << k) <= TILE_SIZE; k++) {
            merge_row(start, local, k, k);
        }
        store_row(start, local);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn merge_rows(place: Place, @builtin(local_invocation_index) local: u32) {
    let start = workgroup_number(place) * TILE_SIZE;
    if start < arguments.n {
        load_row(start, local);
        merge_row(start, local, arguments.steps, arguments.block_log2);
        store_row(start, local);
    }
}

// The side of the squares that are transposed in workgroup memory: reads and writes of the array
// are both contiguous. A row of a square has one more place against bank conflicts, so a square
// takes TILE_SIZE places.
const SIDE: u32 = 16u;

// Transposes the array into the scratch array, one square for each workgroup. The barrier separates
// the writes of a square's rows from the reads of its columns.
@compute @workgroup_size(WORKGROUP_SIZE)
fn transpose(place: Place, @builtin(local_invocation_index) local: u32) {
    let rows = arguments.rows;
    let columns = arguments.columns;
    let squares = (columns + SIDE - 1u) / SIDE;
    let number = workgroup_number(place);
    let first_row = number / squares * SIDE;
    let first_column = number % squares * SIDE;
    let x = local % SIDE;
    let y = local / SIDE;
    if first_row + y < rows && first_column + x < columns {
        store_tile(y * (SIDE + 1u) + x, load((first_row + y) * columns + first_column + x));
    }
    workgroupBarrier();
    if first_row + x < rows && first_column + y < columns {
        store_scratch((first_column + y) * rows + first_row + x, load_tile(x * (SIDE + 1u) + y));
    }
}
