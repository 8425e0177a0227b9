// Sorts the reader's file or text: numbers, or rows of a table.

import { argsort } from "gpusort";
import { PAYS } from "gpusort/arrays.js";
import { by, bytes, choose, fill, grouped, input, made, say, select, time, turn } from "./dom.js";
import { device } from "./gpu.js";
import { change, read } from "./hash.js";
import { type Content, content, fields, type Keys, NONE, order, type Reading, written } from "./text.js";

/** The number of rows in the preview. */
const SHOWN = 20;

/** The maximum length of a text in the field. */
const LONGEST = 100_000;

const EXAMPLE = `id,item,price
1,pen,1.20
2,desk,249
3,"lamp, desk",89.90
4,paper,
5,"chair
(broken)",NaN
6,pen,1.2
7,chair,89.9
8,shelf,120
`;

let given: { bytes: Uint8Array; name: string } | undefined;
let held: Content | undefined;
let result: { bytes: Uint8Array<ArrayBuffer>; name: string } | undefined;
let number = 0;
let typed = 0;

/** Replaces the input by the bytes of the field, or of a file. */
function take(bytes: Uint8Array, name = ""): void {
  clearTimeout(typed);
  given = { bytes, name };
  if (name === "") input("file").value = "";
  else input("text").value = bytes.length > LONGEST ? "" : new TextDecoder().decode(bytes);
  input("text").placeholder = input("text").value === "" && bytes.length > 0 ? `${name} is too long to show here` : "3.5 -2 1e9 …";
  reread();
}

/** Reads the input, offers its columns, and sorts it. */
function reread(): void {
  const column = select("column").value;
  held = undefined;
  result = undefined;
  number++;
  by("result").hidden = true;
  say("try-report");
  say("try-error");
  try {
    const { bytes, name } = given!;
    if (bytes.length > 0 || name !== "") held = content(bytes, select("kind").value as Reading, name);
  } catch (error) {
    say("try-error", error);
  }
  select("column").replaceChildren(...(held?.columns ?? []).map((name) => made("option", { value: name }, name)));
  choose("column", column);
  by("of-column").hidden = held?.kind !== "table" || held.delimiter === NONE;
  if (held) void run(held);
}

/** Sorts by the package's argsort; if the device fails, on the CPU. */
async function sorted(keys: Keys, descending: boolean, tell: (where: string) => void): Promise<Uint32Array> {
  const { gpu, name, isSoftware } = await device();
  const wants = select("where").value;
  try {
    if (wants === "gpu" && !gpu) throw new Error(name);
    if (gpu && (wants === "gpu" || (wants === "auto" && !isSoftware && keys.length >= PAYS.argsort))) {
      const positions = await argsort(keys, { descending, device: gpu });
      tell(name);
      return positions;
    }
  } catch (error) {
    say("try-error", `GPU: ${error instanceof Error ? error.message : error}; the CPU sorted instead`);
  }
  return argsort(keys, { descending, device: "cpu" });
}

async function run(own: Content): Promise<void> {
  const mine = ++number;
  by("result").hidden = true;
  say("try-report", "Sorting …");
  say("try-error");
  await device();
  await turn();
  const [descending, asText] = [input("descending").checked, input("as-text").checked];
  const column = Math.max(select("column").selectedIndex, 0);
  let where = "the CPU";
  try {
    const begin = performance.now();
    const { positions, type, ms } = await order(own, column, { descending, asText }, (keys, descending) =>
      sorted(keys, descending, (name) => (where = name)),
    );
    const all = written(own, positions);
    if (mine !== number) return;
    const took = (ms: number) => (ms < 1 ? "less than 1 ms" : time(ms));
    const total = took(performance.now() - begin);
    const unit = own.kind === "numbers" ? "number" : own.delimiter === NONE ? "line" : "row";
    const count = `${grouped(positions.length)} ${unit}${positions.length === 1 ? "" : "s"}`;
    const key = unit === "row" && own.columns.length > 0 ? ` by '${own.columns[column]}'` : "";
    const how = `${type}${descending ? ", descending" : ""}`;
    say("try-report", `Sorted ${count}${key} (${how}) on ${where} in ${took(ms)}; ${total} with reading and writing.`);
    result = { bytes: all, name: `sorted${/\.[a-z]+$/i.exec(given!.name)?.[0] ?? (unit === "row" ? ".csv" : ".txt")}` };
    preview(own, positions, column);
    by("result").hidden = false;
    by("download").textContent = `Download ${result.name} (${bytes(all.length)})`;
  } catch (error) {
    if (mine !== number) return;
    say("try-report");
    say("try-error", error);
  }
}

function preview(own: Content, positions: Uint32Array, column: number): void {
  const cell = (tag: string) => (text: string, at: number) => made(tag, at === column ? { class: "by" } : {}, text);
  const rows = Array.from(positions.subarray(0, SHOWN), (at, place) => {
    const all = fields(own, own.begins[at]!, own.ends[at]!).map(cell("td"));
    return made("tr", {}, made("td", { class: "number soft" }, String(place + 1)), ...all);
  });
  fill("rows", own.kind === "table" ? [made("th", { class: "number" }, "#"), ...own.columns.map(cell("th"))] : [], rows);
  by("more").textContent = positions.length > SHOWN ? `and ${grouped(positions.length - SHOWN)} more` : "";
}

async function open(file: File | undefined): Promise<void> {
  if (file === undefined) return;
  say("try-report", `Reading ${file.name} …`);
  try {
    take(new Uint8Array(await file.arrayBuffer()), file.name);
  } catch {
    say("try-report");
    say("try-error", `${file.name}: the browser cannot read it; choose a file that fits in memory, not a folder`);
  }
}

export function start(): void {
  by("text").addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => take(new TextEncoder().encode(input("text").value)), 250);
  });
  input("file").addEventListener("change", () => void open(input("file").files?.[0]));
  const drop = by("drop");
  for (const type of ["dragover", "dragleave", "drop"] as const) {
    drop.addEventListener(type, (event) => {
      const { types, files } = event.dataTransfer!;
      if (!types.includes("Files")) return;
      event.preventDefault();
      drop.classList.toggle("over", type === "dragover");
      if (type !== "drop") return;
      input("file").files = files;
      void open(files[0]);
    });
  }
  by("kind").addEventListener("change", reread);
  for (const id of ["column", "where", "descending", "as-text"]) {
    by(id).addEventListener("change", () => {
      change({ descending: input("descending").checked ? "1" : undefined });
      if (held) void run(held);
    });
  }
  by("download").addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([result!.bytes]));
    made("a", { href: address, download: result!.name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
}

export function show(): void {
  input("descending").checked = read(location.hash).descending === "1";
  if (given) return;
  input("text").value = EXAMPLE;
  take(new TextEncoder().encode(EXAMPLE));
  choose("column", "price");
  void run(held!);
}

export function hide(): void {}
