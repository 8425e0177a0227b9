// An invocation, on devices without subgroups.
struct Lane {
    @builtin(local_invocation_id) id: vec3<u32>,
}
