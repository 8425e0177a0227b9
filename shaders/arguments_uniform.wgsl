// Arguments in a uniform buffer, which a kernel has written, or the host if the device lacks immediates.
// Each kernel's file declares their type.

@group(1) @binding(0) var<uniform> arguments: Arguments;
