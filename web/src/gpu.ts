// The device of the page: the browser's GPU, or none.

import { isSoftware } from "gpusort/adapter.js";

export interface Found {
  gpu: GPUDevice | undefined;
  /** Its name; why there is none. */
  name: string;
  isSoftware?: boolean;
  /** What the browser tells of it. */
  info: Record<string, string | number>;
}

let found: Promise<Found> | undefined;
let tell = () => {};

/** Calls this when the device is lost: from then on there is none. */
export function onLost(call: () => void): void {
  tell = call;
}

/** The device, which is requested once. */
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
