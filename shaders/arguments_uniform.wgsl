// Arguments in a uniform buffer, for kernels whose arguments only the device knows. Each kernel's
// file declares their type.

@group(1) @binding(0) var<uniform> arguments: Arguments;
