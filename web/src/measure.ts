// The view of the benchmark: its setup, a plot, a table, and the result as text.

import { bench, contenders, type Measured, type Problem, type Setup } from "./bench.js";
import { button, by, choose, copy, fill, grouped, made, paint, say, select, time } from "./dom.js";
import { escaped, tag } from "./draw.js";
import { device, type Found } from "./gpu.js";
import { change, read } from "./hash.js";

/** The smallest and the largest size, and the step, as powers of two. */
const [LEAST, MOST, STEP] = [10, 24, 2];

let stop: AbortController | undefined;
let measured: (Measured | Problem)[] = [];
let setup: Setup = { type: "u32", pairs: false, sizes: [] };
let found: Found;

const isMeasured = (it: Measured | Problem): it is Measured => "ms" in it;
const timeOf = (contender: string, n: number) => measured.filter(isMeasured).find((it) => it.contender === contender && it.n === n);
const names = () => contenders(setup, found.gpu).map(({ name }) => name);
const power = (n: number) => `2${String(Math.log2(n)).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]!)}`;
const tick = (log10: number) => time(10 ** log10).replace(/^\S+/, (digits) => String(Number(digits)));

/** Returns the setup in the fields of the page. */
function chosen(): Setup {
  const [from, to] = [Number(select("from").value), Number(select("to").value)];
  const sizes: number[] = [];
  for (let log2 = Math.min(from, to); log2 <= Math.max(from, to); log2 += STEP) sizes.push(2 ** log2);
  return { type: select("type").value as Setup["type"], pairs: select("payload").value === "pairs", sizes };
}

async function run(): Promise<void> {
  stop?.abort();
  const own = (stop = new AbortController());
  found = await device();
  [setup, measured] = [chosen(), []];
  showAll();
  button("stop").disabled = false;
  say("measure-error");
  say("measure-report", "Measuring …");
  try {
    for await (const it of bench(setup, found, own.signal)) {
      if (own !== stop) return;
      measured.push(it);
      say("measure-report", `Measuring … ${measured.length} of at most ${setup.sizes.length * names().length}`);
      if (!isMeasured(it)) by("measure-error").append(`${it.contender}, ${grouped(it.n)} elements: ${it.problem}. `);
      showAll();
    }
    const count = measured.filter(isMeasured).length;
    const lost = (await device()).gpu === found.gpu ? "" : " The GPU was lost; reload the page and measure again.";
    say("measure-report", `${own.signal.aborted ? "Stopped" : "Done"}: ${count} times, each with a verified result.${lost}`);
  } catch (error) {
    say("measure-report");
    say("measure-error", error);
  }
  button("stop").disabled = true;
}

function showAll(): void {
  plot();
  table();
  by("copies").hidden = measured.length === 0;
  const all = contenders(setup, found.gpu);
  by("contenders").replaceChildren(...all.map(({ name, what }, at) => made("li", {}, swatch(at), made("b", {}, name), `: ${what}`)));
}

const swatch = (at: number) => made("i", { class: `swatch s${at}` });

function table(): void {
  const heading = (scope: string, ...content: (string | Node)[]) => made("th", { scope, class: "number" }, ...content);
  const rows = setup.sizes.map((n) => {
    const times = names().map((name) => timeOf(name, n)?.ms);
    const best = Math.min(...times.map((ms) => ms ?? Infinity));
    const cells = times.map((ms) => made("td", { class: ms === best ? "number best" : "number" }, ms === undefined ? "–" : time(ms)));
    return made("tr", {}, heading("row", `${power(n)} = ${grouped(n)}`), ...cells);
  });
  fill("times", [heading("col", "elements"), ...names().map((name, at) => heading("col", swatch(at), name))], rows);
}

/** Plots time by number of elements, both logarithmic. */
function plot(): void {
  const width = Math.min(by("plot-box").clientWidth, 1000);
  const isNarrow = width < 560;
  const [left, right, top, bottom, height] = [58, isNarrow ? 14 : 205, 14, 40, isNarrow ? 300 : 400];
  const logOf = ({ ms }: Measured) => Math.log10(ms || 1e-4);
  const times = measured.filter(isMeasured).map(logOf);
  const [low, most] = times.length > 0 ? [Math.floor(Math.min(...times)), Math.ceil(Math.max(...times))] : [-2, 2];
  const high = Math.max(most, low + 1);
  const [first, last] = [Math.log2(setup.sizes[0]!), Math.log2(setup.sizes.at(-1)!)];
  const x = (n: number) => left + ((Math.log2(n) - first) / Math.max(last - first, 1)) * (width - left - right);
  const y = (log10: number) => top + ((high - log10) / (high - low)) * (height - top - bottom);
  let drawn = "";
  for (let at = low; at <= high; at++) {
    drawn += tag("path", { class: "grid", d: `M${left} ${y(at)}H${width - right}` });
    drawn += tag("text", { class: "axis right", x: left - 8, y: y(at) + 4 }, tick(at));
  }
  for (const n of setup.sizes) {
    drawn += tag("path", { class: "grid", d: `M${x(n)} ${top}V${height - bottom}` });
    drawn += tag("text", { class: "axis middle", x: x(n), y: height - bottom + 18 }, power(n));
  }
  drawn += tag("text", { class: "axis middle", x: (left + width - right) / 2, y: height - 4 }, "elements");
  const ends: { at: number; name: string; number: number }[] = [];
  names().forEach((name, number) => {
    const own = setup.sizes.flatMap((n) => timeOf(name, n) ?? []);
    const points = own.map((it) => [x(it.n), y(logOf(it))] as const);
    drawn += tag("path", { class: `line s${number}`, d: points.map(([x, y], at) => `${at ? "L" : "M"}${x} ${y}`).join("") });
    drawn += points.map(([cx, cy]) => tag("circle", { class: `point s${number}`, cx, cy, r: 4 })).join("");
    if (points.length > 0) ends.push({ at: points.at(-1)![1], name, number });
  });
  // Names beside the ends of lines, without overlaps.
  let used = -Infinity;
  for (const { at, name, number } of isNarrow ? [] : ends.sort((a, b) => a.at - b.at)) {
    used = Math.max(at, used + 17);
    drawn += tag("text", { class: `name s${number}`, x: width - right + 12, y: used + 4 }, escaped(name));
  }
  paint("plot", width, height, drawn);
}

const about = () => ({
  date: new Date().toISOString(),
  browser: navigator.userAgent,
  ...found.info,
  type: setup.type,
  sorts: setup.pairs ? "keys with positions" : "keys",
});

/** Returns the result as Markdown. */
function markdown(): string {
  const rows = setup.sizes.map((n) => [`${power(n)}`, ...names().map((name) => timeOf(name, n)).map((it) => (it ? time(it.ms) : ""))]);
  const lines = [["elements", ...names()], ["---:", ...names().map(() => "---:")], ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const facts = Object.entries(about()).filter(([, value]) => value !== "").map(([name, value]) => `- ${name}: ${value}`);
  return `${lines.join("\n")}\n\n${facts.join("\n")}\n`;
}

export function start(): void {
  for (let log2 = LEAST; log2 <= MOST; log2 += STEP) {
    for (const id of ["from", "to"]) select(id).append(made("option", { value: String(log2) }, power(2 ** log2)));
  }
  for (const id of ["type", "payload", "from", "to"]) {
    select(id).addEventListener("change", () => change({ [id]: select(id).value }));
  }
  by("run").addEventListener("click", () => void run());
  by("stop").addEventListener("click", () => stop?.abort());
  by("copy-text").addEventListener("click", () => void copy(by("copy-text"), markdown()));
  by("copy-json").addEventListener("click", () => void copy(by("copy-json"), `${JSON.stringify({ ...about(), measured }, null, 1)}\n`));
  new ResizeObserver(() => found && plot()).observe(by("plot-box"));
}

export async function show(): Promise<void> {
  const { type = "u32", payload = "keys", from = "10", to = "20", run: runs } = read(location.hash);
  Object.entries({ type, payload, from, to }).forEach(([id, value]) => choose(id, value));
  found = await device();
  if (measured.length === 0) {
    setup = chosen();
    showAll();
  }
  if (runs === "1") void run();
}

export function hide(): void {
  stop?.abort();
}
