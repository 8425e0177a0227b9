// The sum of what invocations before this one have.

var<workgroup> sums: array<u32, SUMMED>;

fn sum_before(own: u32, local: u32) -> u32 {
    var sum = own;
    for (var distance = 1u; distance < SUMMED; distance *= 2u) {
        if local < SUMMED {
            sums[local] = sum;
        }
        workgroupBarrier();
        if local < SUMMED && local >= distance {
            sum += sums[local - distance];
        }
        workgroupBarrier();
    }
    return sum - own;
}
