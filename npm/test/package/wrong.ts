// Must not compile: there are no keys of this type.
import { Sorter } from "gpusort";

export const wrong = (device: GPUDevice): Promise<Sorter> => Sorter.create(device, { key: "f16" });
