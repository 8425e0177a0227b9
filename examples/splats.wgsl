// Two linked rings of flat splats over a floor of round ones, seen by a camera that goes around them.

struct Splat {
    place: vec3<f32>,
    // Half axes, of one standard deviation.
    axes: mat3x3<f32>,
    colour: vec3<f32>,
}

// A splat as the picture has it.
struct Projected {
    // What makes an ellipse of a circle: two columns.
    factor: vec4<f32>,
    colour: vec4<f32>,
    centre: vec2<f32>,
    depth: f32,
}

// What an indirect draw reads.
struct Arguments {
    vertices: u32,
    instances: atomic<u32>,
    first_vertex: u32,
    first_instance: u32,
}

@group(0) @binding(0) var<storage, read_write> projected: array<Projected>;
@group(0) @binding(1) var<storage, read_write> depths: array<f32>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> arguments: Arguments;
@group(0) @binding(4) var<storage, read> time: f32;
// The same buffers, as drawing reads them.
@group(0) @binding(5) var<storage, read> in_sight: array<Projected>;
@group(0) @binding(6) var<storage, read> drawn: array<u32>;

const FOCAL = 1.6;

fn fraction(i: u32, factor: u32) -> f32 {
    return f32((i * factor) >> 8u) / 16777216.0;
}

// A viewer reads its splats from a buffer instead.
fn splat(i: u32) -> Splat {
    let angles = 6.2832 * vec2(fraction(i, 2654435769u), fraction(i, 2246822519u));
    let out = vec3(cos(angles.x), sin(angles.x), 0.0);
    if i % 3u == 2u {
        let place = vec3(5.0 * sqrt(angles.y / 6.2832) * out.xy, -1.4).xzy;
        let is_light = (i32(floor(place.x * 2.0)) + i32(floor(place.z * 2.0))) & 1;
        let axes = mat3x3(0.025, 0.0, 0.0, 0.0, 0.001, 0.0, 0.0, 0.0, 0.025);
        return Splat(place, axes, vec3(0.1 + 0.3 * f32(is_light)));
    }
    let normal = cos(angles.y) * out + vec3(0.0, 0.0, sin(angles.y));
    let along = vec3(-out.y, out.x, 0.0);
    let place = out + 0.22 * normal - vec3(0.5, 0.0, 0.0);
    let axes = mat3x3(0.025 * along, 0.012 * cross(normal, along), 0.001 * normal);
    let light = 0.4 + 0.6 * abs(dot(normal, vec3(0.39, 0.78, -0.49)));
    let stripes = 0.5 + 0.5 * sin(12.0 * angles.x);
    if i % 3u == 0u {
        return Splat(place, axes, light * mix(vec3(1.0, 0.35, 0.1), vec3(1.0, 0.8, 0.3), stripes));
    }
    // The other ring is turned, and goes through the first.
    let turn = mat3x3(-1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0);
    return Splat(turn * place, turn * axes, light * mix(vec3(0.1, 0.35, 1.0), vec3(0.3, 0.9, 1.0), stripes));
}

@compute @workgroup_size(256)
fn project(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&projected) {
        return;
    }
    let it = splat(id.x);
    let forward = vec3(sin(time), -0.35, cos(time)) / sqrt(1.1225);
    let right = vec3(cos(time), 0.0, -sin(time));
    let view = transpose(mat3x3(right, cross(forward, right), forward));
    let at = view * it.place + vec3(0.0, 0.0, 2.6);
    if at.z < 0.2 || any(abs(at.xy) * FOCAL > vec2(1.1 * at.z)) {
        return;
    }

    // The covariance in the picture: xx, xy and yy, of the axes as perspective has them. It is never
    // narrower than a part of a pixel.
    var covariance = vec3(2e-6, 0.0, 2e-6);
    for (var i = 0u; i < 3u; i += 1u) {
        let axis = view * it.axes[i];
        let flat = FOCAL * (axis.xy - at.xy * axis.z / at.z) / at.z;
        covariance += flat.xxy * flat.xyy;
    }
    // A factor of it makes an ellipse of a circle: Cholesky's is the simplest.
    let x = sqrt(covariance.x);
    let y = sqrt(max(covariance.z - covariance.y * covariance.y / covariance.x, 1e-6));
    let factor = vec4(x, covariance.y / x, 0.0, y);
    projected[id.x] = Projected(factor, vec4(it.colour, 0.6), FOCAL * at.xy / at.z, at.z);

    // Splats get their slots in any order, so those of equal depth may change places between frames.
    let slot = atomicAdd(&arguments.instances, 1u);
    depths[slot] = at.z;
    order[slot] = id.x;
}

struct Corner {
    @builtin(position) at: vec4<f32>,
    @location(0) within: vec2<f32>,
    @location(1) colour: vec4<f32>,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Corner {
    let splat = in_sight[drawn[instance]];
    // What is further than three standard deviations away would not be seen.
    let within = 6.0 * vec2(f32((0x32u >> vertex) & 1u), f32((0x2cu >> vertex) & 1u)) - 3.0;
    let at = splat.centre + within.x * splat.factor.xy + within.y * splat.factor.zw;
    return Corner(vec4(at, 0.0, 1.0), within, splat.colour);
}

@fragment
fn colour(corner: Corner) -> @location(0) vec4<f32> {
    let falloff = exp(-0.5 * dot(corner.within, corner.within));
    return vec4(corner.colour.rgb, corner.colour.a * falloff);
}
