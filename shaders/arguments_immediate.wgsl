// Arguments as immediates, which the host sets between dispatches. Each kernel's file declares
// their type.

var<immediate> arguments: Arguments;
