// Arguments, whose struct is in the kernel's own file, that the host sets between dispatches.

var<immediate> arguments: Arguments;
