// Properties of GPU adapters.

/** Returns true if an adapter computes on the CPU. */
export function isSoftware({ vendor, architecture, device, description, isFallbackAdapter }: GPUAdapterInfo): boolean {
  return isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|software|basic render/i.test([vendor, architecture, device, description].join());
}
