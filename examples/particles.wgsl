// Particles on a spiral that turns: their places follow from their numbers and the time.

@group(0) @binding(0) var<storage, read_write> depths: array<f32>;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;
@group(0) @binding(2) var<storage, read> time: f32;
// The same buffer, as drawing reads it.
@group(0) @binding(3) var<storage, read> drawn: array<u32>;

fn fraction(i: u32, factor: u32) -> f32 {
    return f32((i * factor) >> 8u) / 16777216.0;
}

// Left to right, bottom to top, near to far.
fn place(i: u32) -> vec3<f32> {
    let radius = sqrt(fraction(i, 2654435769u));
    let angle = 6.2832 * fraction(i, 2246822519u) * 0.25 + 9.0 * radius + time + 3.1416 * f32(i & 1u);
    let height = (fraction(i, 3266489917u) - 0.5) * 0.3;
    let flat = vec2(cos(angle), sin(angle)) * radius;
    return vec3(flat.x, height + 0.5 * flat.y, flat.y);
}

@compute @workgroup_size(256)
fn look(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&depths) {
        depths[id.x] = place(id.x).z;
        order[id.x] = id.x;
    }
}

struct Corner {
    @builtin(position) at: vec4<f32>,
    @location(0) within: vec2<f32>,
    @location(1) colour: vec3<f32>,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Corner {
    let middle = place(drawn[instance]);
    let within = vec2(f32((0x32u >> vertex) & 1u), f32((0x2cu >> vertex) & 1u)) * 2.0 - 1.0;
    // What is far is small, and blue.
    let size = 0.008 / (1.6 + middle.z);
    let near = 0.5 - 0.5 * middle.z;
    let colour = mix(vec3(0.2, 0.35, 1.0), vec3(1.0, 0.75, 0.4), near);
    return Corner(vec4(middle.xy * 0.9 + within * size, 0.0, 1.0), within, colour);
}

@fragment
fn colour(corner: Corner) -> @location(0) vec4<f32> {
    return vec4(corner.colour, 0.35 * max(0.0, 1.0 - dot(corner.within, corner.within)));
}
