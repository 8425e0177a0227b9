// Arguments, whose struct is in the kernel's own file, that the device has written, since some of
// them it alone knows.

@group(1) @binding(0) var<uniform> arguments: Arguments;
