// In Node, where there is no WebGPU: the package imports, and sorts on the CPU.
import { argsort, Misuse, MOST, sort, Sorter } from "gpusort";
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const keys = new Float64Array([NaN, 1, 0, -Infinity, -0, 7]);
assert.deepEqual(await argsort(keys), Uint32Array.of(3, 4, 2, 1, 5, 0));
assert.deepEqual(await argsort(new Int32Array([1, 2, 1, 2]), { descending: true }), Uint32Array.of(1, 3, 0, 2));
assert.equal(await sort(keys), keys);
assert.deepEqual(keys, Float64Array.of(-Infinity, -0, 0, 1, 7, NaN));
assert.deepEqual(await sort(new BigUint64Array([2n, 2n ** 64n - 1n, 1n])), BigUint64Array.of(1n, 2n, 2n ** 64n - 1n));
await assert.rejects(sort([2, 1]), Misuse);
assert.equal(MOST, 2 ** 30 - 1);
assert.equal(typeof Sorter.create, "function");
// CommonJS programs get the same module.
assert.equal(createRequire(import.meta.url)("gpusort").sort, sort);
console.log("node: sorts on the CPU");
