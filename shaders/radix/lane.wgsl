// A lane of a subgroup.
struct Lane {
    @builtin(subgroup_invocation_id) number: u32,
}
