// The device of the page: the browser's GPU, if available.

import { isSoftware } from "gpusort/adapter.js";

export interface Found {
  gpu: GPUDevice | undefined;
  /** The name of the GPU, or the reason why there is none. */
  name: string;
  isSoftware?: boolean;
  /** The browser's information about the device. */
  info: Record<string, string | number>;
}

let found: Promise<Found> | undefined;
let tell = () => {};

/** Sets a function to call when the device is lost; the page then has no GPU. */
export function onLost(call: () => void): void {
  tell = call;
}

/** Returns the device, requested once. */
export function device(): Promise<Found> {
  found ??= request().catch((error: Error) => none(error.message));
  return found;
}

const none = (name: string): Found => ({ gpu: undefined, name, info: { device: "CPU" } });

async function request(): Promise<Found> {
  if (!navigator.gpu) return none(isSecureContext ? "this browser does not have it" : "it needs https or localhost");
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) return none("the browser offers no adapter");
  const requiredFeatures = (["subgroups", "timestamp-query"] as GPUFeatureName[]).filter((name) => adapter.features.has(name));
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const gpu = await adapter.requestDevice({ requiredFeatures, requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
  void gpu.lost.then(({ message }) => {
    found = Promise.resolve(none(`the device was lost${message ? ` (${message.trim()})` : ""}; reload the page to request it again`));
    tell();
  });
  const { vendor, architecture, device, description } = adapter.info;
  const named = description || [vendor, architecture, device].filter(Boolean).join(" ") || "an adapter without a name";
  const info = { vendor, architecture, device, description, features: requiredFeatures.join(" "), maxStorageBufferBindingSize };
  const isOnCpu = isSoftware(adapter.info);
  return { gpu, name: isOnCpu ? `${named}, in software` : named, isSoftware: isOnCpu, info };
}
