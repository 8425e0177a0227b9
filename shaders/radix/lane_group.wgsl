// An invocation, where there are no subgroups.
struct Lane {
    @builtin(local_invocation_id) id: vec3<u32>,
}
