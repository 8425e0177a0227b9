// Sorts a file or a text of the reader: numbers, or rows of a table.

import { argsort } from "gpusort";
import { by, bytes, grouped, input, made, say, select, time } from "./dom.js";
import { device } from "./gpu.js";
import { change, read } from "./hash.js";
import { type Content, content, fields, type Keys, order, written } from "./text.js";

/** Rows that are shown. */
const SHOWN = 20;

/** From how many records on the GPU sorts, as the package has it for itself. */
const PAYS = 1 << 19;

/** The longest text that is shown in the field. */
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

let given: { bytes: Uint8Array; name: string } = { bytes: new Uint8Array(), name: "" };
let held: Content | undefined;
let result: { bytes: Uint8Array<ArrayBuffer>; name: string } | undefined;
let number = 0;

const turn = () => new Promise((resolve) => setTimeout(resolve));

/** Takes bytes in place of those before. */
function take(bytes: Uint8Array, name: string): void {
  given = { bytes, name };
  if (name !== "") input("text").value = bytes.length > LONGEST ? "" : new TextDecoder().decode(bytes);
  input("text").placeholder = name === "" || bytes.length <= LONGEST ? "3.5 -2 1e9 …" : `${name} is too long to show here`;
  const now = select("column").value;
  reread();
  const at = held?.columns.indexOf(now) ?? -1;
  if (at >= 0) select("column").value = now;
  void run();
}

/** Reads what is given, and offers its columns. */
function reread(): void {
  held = undefined;
  say("try-error");
  try {
    if (given.bytes.length > 0) held = content(given.bytes, select("kind").value as "auto", given.name);
  } catch (error) {
    say("try-error", error);
  }
  select("column").replaceChildren(...(held?.columns ?? []).map((name, at) => made("option", { value: name }, name || `column ${at + 1}`)));
  by("of-column").hidden = held?.kind !== "table";
}

/** The argsort of the package; where the device fails, that of the CPU. */
async function sorted(keys: Keys, descending: boolean, tell: (device: string) => void): Promise<Uint32Array> {
  const { gpu, name } = await device();
  const wants = select("where").value;
  if (gpu && (wants === "gpu" || (wants === "auto" && keys.length >= PAYS))) {
    try {
      const positions = await argsort(keys, { descending, device: gpu });
      tell(name);
      return positions;
    } catch (error) {
      say("try-error", `GPU: ${error instanceof Error ? error.message : error}; the CPU sorted instead`);
    }
  }
  tell("the CPU");
  return argsort(keys, { descending, device: "cpu" });
}

async function run(): Promise<void> {
  const mine = ++number;
  const own = held;
  by("result").hidden = true;
  result = undefined;
  if (own === undefined) return;
  say("try-report", "Sorting …");
  await turn();
  const [descending, asText] = [input("descending").checked, input("as-text").checked];
  try {
    say("try-error");
    let where = "the CPU";
    await device();
    const begin = performance.now();
    const column = Math.max(select("column").selectedIndex, 0);
    const { positions, type, ms } = await order(own, column, { descending, asText }, (keys, descending) =>
      sorted(keys, descending, (device) => (where = device)),
    );
    const all = written(own, positions);
    if (mine !== number) return;
    const end = performance.now();
    const what = own.kind === "numbers" ? "numbers" : `rows by '${own.columns[column]}'`;
    const how = `${type}${descending ? ", descending" : ""}`;
    const count = grouped(positions.length);
    say("try-report", `Sorted ${count} ${what} (${how}) on ${where} in ${time(ms)}; ${time(end - begin)} with reading and writing.`);
    result = { bytes: all, name: `sorted${/\.[a-z]+$/i.exec(given.name)?.[0] ?? (own.kind === "numbers" ? ".txt" : ".csv")}` };
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
  const cell = (tag: string, text: string, at: number) => made(tag, at === column ? { class: "by" } : {}, text);
  const rows = Array.from(positions.subarray(0, SHOWN), (at, place) => {
    const all = fields(own, own.begins[at]!, own.ends[at]!);
    return made("tr", {}, made("td", { class: "number soft" }, String(place + 1)), ...all.map((text, at) => cell("td", text, at)));
  });
  const names = made("tr", {}, made("th", { class: "number" }, "#"), ...own.columns.map((name, at) => cell("th", name, at)));
  by("rows").replaceChildren(made("thead", {}, ...(own.kind === "table" ? [names] : [])), made("tbody", {}, ...rows));
  by("more").textContent = positions.length > SHOWN ? `and ${grouped(positions.length - SHOWN)} more` : "";
}

async function open(file: File | undefined): Promise<void> {
  if (file === undefined) return;
  say("try-report", `Reading ${file.name} …`);
  try {
    take(new Uint8Array(await file.arrayBuffer()), file.name);
  } catch {
    say("try-error", `${file.name}: the browser cannot read it; choose a file that fits in memory, not a folder`);
  }
}

export function start(): void {
  let later = 0;
  by("text").addEventListener("input", () => {
    clearTimeout(later);
    later = setTimeout(() => take(new TextEncoder().encode(input("text").value), ""), 250);
  });
  input("file").addEventListener("change", () => void open(input("file").files?.[0]));
  const drop = by("drop");
  for (const [kind, isOver] of [["dragover", true], ["dragleave", false], ["drop", false]] as const) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", isOver);
    });
  }
  drop.addEventListener("drop", (event) => void open(event.dataTransfer?.files[0]));
  by("kind").addEventListener("change", () => {
    reread();
    void run();
  });
  for (const id of ["column", "where", "descending", "as-text"]) {
    by(id).addEventListener("change", () => {
      change({ descending: input("descending").checked ? "1" : undefined });
      void run();
    });
  }
  by("download").addEventListener("click", () => {
    if (result === undefined) return;
    const address = URL.createObjectURL(new Blob([result.bytes]));
    made("a", { href: address, download: result.name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
}

export function show(): void {
  input("descending").checked = read(location.hash).descending === "1";
  if (given.bytes.length === 0) {
    take(new TextEncoder().encode(EXAMPLE), "example.csv");
    select("column").value = "price";
    void run();
  }
}

export function hide(): void {}
