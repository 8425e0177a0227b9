// The WebGPU constants of this package: TypeScript 7 declares the interfaces of WebGPU, but not its constants.

declare const GPUBufferUsage: Record<"MAP_READ" | "COPY_SRC" | "COPY_DST" | "UNIFORM" | "STORAGE" | "QUERY_RESOLVE", number>;
declare const GPUMapMode: { readonly READ: number };
declare const GPUShaderStage: { readonly COMPUTE: number };
