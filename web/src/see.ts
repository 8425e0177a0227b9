// Shows a sort step by step: the controls, the picture, and the table of passes.

import { by, copy, grouped, bytes, input, made, say, select } from "./dom.js";
import { colour, draw, type Drawn, labels, type Picture } from "./draw.js";
import { methods, most } from "./generated/index.js";
import { change, read, write } from "./hash.js";
import { parsed, preset, PRESETS, ranksOf } from "./numbers.js";
import { FILLER, type Layer, type Pass, perform } from "./plan.js";

/** Milliseconds of a step. */
const PACE = 650;

const OWN = "own numbers";

interface Shown extends Drawn {
  title: string;
  picture: Picture;
  /** The pass and layer of each step; before the first one there is only the input. */
  steps: [Pass, Layer | undefined][];
}

let shown: Shown | undefined;
let step = 0;
let playing: number | undefined;
let loading = 0;

const nameOf = (method: (typeof methods)[number]) => `${method.algorithm}-${method.variant}`;

/** What the address says, where it is not what a page without any shows. */
function asked() {
  const { sort = "bitonic-fused", tile, numbers, preset = "random", n = "16", seed = "1", step = "" } = read(location.hash);
  const method = methods.find((method) => nameOf(method) === sort) ?? methods[0]!;
  const tiles = method.tiles;
  const known = PRESETS.includes(preset) ? preset : PRESETS[0]!;
  const count = Math.min(Math.max(Math.round(Number(n)) || 16, 2), most);
  return { method, tile: Math.max(tiles.indexOf(Number(tile)), 0), numbers, preset: known, n: count, seed: Number(seed) || 1, step };
}

/** Loads what is asked for, performs it and draws it. */
async function load(): Promise<void> {
  const { method, tile, numbers, preset: name, n, seed, step: at } = asked();
  const mine = ++loading;
  const text = numbers ?? preset(name, n, seed);
  select("sort").value = nameOf(method);
  select("preset").value = numbers === undefined ? name : OWN;
  select("tile").replaceChildren(...method.tiles.map((size) => made("option", {}, String(size))));
  select("tile").selectedIndex = tile;
  select("tile").disabled = method.tiles.length < 2;
  by("again").hidden = numbers !== undefined;
  if (document.activeElement !== input("numbers")) {
    input("numbers").value = text.replaceAll(",", ", ").replaceAll(",  ", ", ");
  }
  by("what").textContent = method.what;
  let all;
  try {
    all = parsed(text, most);
    say("numbers-error");
  } catch (error) {
    return say("numbers-error", error);
  }
  if (numbers !== undefined) input("n").value = String(all.texts.length);
  else if (document.activeElement !== input("n")) input("n").value = String(n);
  const { sorts } = await method.load();
  if (mine !== loading) return;
  const passes = perform(sorts, tile, all.keys);
  const drawn: Drawn = { passes, keys: all.keys, ranks: ranksOf(all.keys), texts: all.texts };
  const stepsOf = (pass: Pass): [Pass, Layer | undefined][] => (pass.layers.length > 0 ? pass.layers : [undefined]).map((layer) => [pass, layer]);
  const steps = passes.flatMap(stepsOf);
  const compared = passes.flatMap((pass) => pass.layers).filter((layer) => layer.does === "compare");
  const count = (swaps: boolean) => compared.reduce((sum, { pairs }) => sum + (swaps ? pairs.filter(([, , swapped]) => swapped) : pairs).length, 0);
  const work = compared.length > 0 ? `${grouped(compared.length)} steps, ${grouped(count(false))} comparisons (${grouped(count(true))} swaps), ` : "";
  by("title").textContent = `${method.algorithm} ${method.variant}, ${all.texts.length} ${all.type}`;
  const moved = bytes(passes.reduce((sum, pass) => sum + pass.moved, 0));
  by("sum").textContent = `${passes.length} ${passes.length === 1 ? "pass" : "passes"}, ${work}${moved} moved`;
  shown = { ...drawn, title: by("title").textContent!, steps, picture: draw(drawn, 0) };
  input("steps").max = String(steps.length);
  legend();
  table();
  step = at === "" ? steps.length : Math.min(Math.max(Math.round(Number(at)) || 0, 0), steps.length);
  resize();
}

function legend(): void {
  const layers = shown!.passes.flatMap((pass) => pass.layers);
  const has = (does: Layer["does"]) => layers.some((layer) => layer.does === does);
  const held = [...new Set(shown!.passes.flatMap((pass) => pass.held ?? []))].join(" or in ");
  by("legend").textContent = [
    "A wire is a position, the first on top; its colour is the rank of its element, from dark to bright. A frame is a pass over the GPU's memory.",
    has("compare") && "A bar compares two positions and moves the smaller element up; bold bars swap.",
    layers.some((layer) => layer.pairs.some(([low, high]) => low > high)) && "An arrow moves the larger element up.",
    (has("move") || has("place")) && "Curves move elements to the other array.",
    has("move") && "Digits are in base 16: the key on the right has the digit of the pass in bold.",
    has("count") && "Grey bars count the values of a digit, the lowest on top.",
    has("sum") && "A grey line is the number of elements with lower values.",
    held && `A tint is a tile, which one workgroup holds in ${held} during the pass.`,
  ].filter(Boolean).join(" ");
}

/** Draws the picture as wide as there is room. */
function resize(): void {
  if (shown === undefined) return;
  const svg = by<SVGSVGElement>("picture");
  shown.picture = draw(shown, by("scroll").clientWidth);
  const { width, height } = shown.picture;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  svg.innerHTML = shown.picture.svg;
  svg.querySelector(".input")!.innerHTML = labels(shown, Array.from(shown.keys, (_, at) => at), undefined, shown.picture, true);
  for (const frame of svg.querySelectorAll<SVGGElement>("[data-pass]")) {
    frame.addEventListener("click", () => go(lastOf(Number(frame.dataset.pass))));
  }
  place(false);
}

/** The step with which a pass ends. */
const lastOf = (pass: number) => shown!.steps.filter(([own]) => own.number <= pass).length;

/** The ranks of elements in a row, as the colours of a picture's heat map. */
function strip(elements: number[]): string {
  const n = shown!.keys.length;
  const stops = elements.map((at, place) => {
    const shade = at === FILLER ? "transparent" : colour(shown!.ranks[at]! / Math.max(n - 1, 1));
    return `${shade} ${((100 * place) / elements.length).toFixed(2)}% ${((100 * (place + 1)) / elements.length).toFixed(2)}%`;
  });
  return `linear-gradient(to right,${stops.join(",")})`;
}

function table(): void {
  const { passes } = shown!;
  const hasTiles = passes.some((pass) => pass.tile !== undefined);
  const heading = (text: string, kind = "") => made("th", { scope: "col", class: kind }, text);
  const head = ["pass", "kernel", "what it does", "rank by position"].map((text, at) => heading(text, ["number", "kernel", "what", "ranks"][at]));
  head.push(...(hasTiles ? [heading("tile", "number extra tile")] : []), heading("workgroups", "number extra"), heading("moved", "number extra"));
  const ranks = (elements: number[]) => made("td", { class: "ranks" }, made("div", { style: `background:${strip(elements)}` }));
  const row = (pass: Pass) => {
    const button = made("button", { type: "button", "aria-label": `Go to pass ${pass.number}` }, String(pass.number));
    const cell = (kind: string, content: string | Node) => made("td", { class: kind }, content);
    const row = made("tr", {}, cell("number", button), cell("kernel", pass.kernel), cell("what", pass.what), ranks(pass.after));
    if (hasTiles) row.append(cell("number extra tile", String(pass.tile ?? "")));
    row.append(cell("number extra", grouped(pass.workgroups)), cell("number extra", bytes(pass.moved)));
    row.addEventListener("click", () => go(lastOf(pass.number)));
    return row;
  };
  const begin = made("tr", { class: "begin" }, made("td"), made("td", { class: "kernel" }), made("td", {}, "input"), ranks(passes[0]!.before));
  by("passes").replaceChildren(made("thead", {}, made("tr", {}, ...head)), made("tbody", {}, begin, ...passes.map(row)));
}

/** Shows the elements after this step, and remembers it in the address. */
function go(to: number): void {
  if (shown === undefined) return;
  step = Math.min(Math.max(to, 0), shown.steps.length);
  change({ step: step === shown.steps.length ? undefined : String(step) });
  place(true);
}

function place(moves: boolean): void {
  const { picture, steps, passes } = shown!;
  const [pass, layer] = steps[step - 1] ?? [];
  const elements = step === 0 ? passes[0]!.before : (layer?.after ?? pass!.after);
  const svg = by<SVGSVGElement>("picture");
  const x = picture.stops[step]!;
  svg.classList.toggle("moves", moves);
  svg.querySelector<SVGRectElement>(".shade")!.style.transform = `translateX(${x}px)`;
  const dots = svg.querySelectorAll<SVGCircleElement>(".element");
  elements.forEach((at, wire) => {
    if (at !== FILLER) dots[at]!.style.transform = `translate(${x}px,${picture.y(wire)}px)`;
  });
  const hasDigits = passes.some((pass) => pass.digit !== undefined);
  svg.querySelector(".now")!.innerHTML = labels(shown!, elements, pass?.digit ?? (hasDigits ? 0 : undefined), picture, false);
  svg.querySelectorAll("[data-pass]").forEach((frame) => frame.classList.toggle("current", frame.getAttribute("data-pass") === String(pass?.number)));
  by("passes").querySelectorAll("tbody tr").forEach((row, number) => {
    row.classList.toggle("current", number === (pass?.number ?? 0));
    row.classList.toggle("to-come", number > (pass?.number ?? 0));
  });
  const row = by("passes").querySelector<HTMLElement>(".current")!;
  const list = by("list");
  const below = row.offsetTop - list.scrollTop;
  if (below < 30 || below > list.clientHeight - 30) list.scrollTop = row.offsetTop - list.clientHeight / 2;
  const scroll = by("scroll");
  if (x < scroll.scrollLeft + 60 || x > scroll.scrollLeft + scroll.clientWidth - 120) scroll.scrollLeft = x - scroll.clientWidth / 2;
  const words = wordsOf(pass, layer);
  by("caption").textContent = words;
  input("steps").value = String(step);
  input("steps").setAttribute("aria-valuetext", words);
  svg.setAttribute("aria-label", `${shown!.title}: ${words}. Now: ${elements.map((at) => shown!.texts[at] ?? "").join(" ")}`);
  for (const id of ["first", "back"]) by<HTMLButtonElement>(id).disabled = step === 0;
  for (const id of ["next", "last"]) by<HTMLButtonElement>(id).disabled = step === steps.length;
}

/** What the step does. */
function wordsOf(pass: Pass | undefined, layer: Layer | undefined): string {
  if (pass === undefined) return "The input";
  const own = `Pass ${pass.number} of ${shown!.passes.length}, ${pass.kernel}: ${pass.what}`;
  if (layer?.does !== "compare") return own;
  const swaps = layer.pairs.filter(([, , swapped]) => swapped).length;
  const part = `${layer.pairs.length} comparisons, ${swaps} ${swaps === 1 ? "swap" : "swaps"}`;
  const { length } = pass.layers;
  return `${own} – ${length === 1 ? "" : `step ${pass.layers.indexOf(layer) + 1} of ${length}, ${layer.name}: `}${part}`;
}

function play(wants: boolean): void {
  clearInterval(playing);
  playing = undefined;
  if (wants) {
    if (step === shown?.steps.length) go(0);
    const pace = Math.max(PACE - 4 * (shown?.steps.length ?? 0), 300);
    playing = setInterval(() => {
      go(step + 1);
      if (step === shown?.steps.length) play(false);
    }, pace);
  }
  by("play").textContent = playing === undefined ? "Play" : "Pause";
  by("play").setAttribute("aria-pressed", String(playing !== undefined));
  by("caption").ariaLive = wants ? "off" : "polite";
}

/** The keys, unless they are meant for a field. */
function pressed(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isField = target.matches("select, textarea, input:not([type=range])");
  if (by("see").hidden || event.ctrlKey || event.metaKey || event.altKey || isField) return;
  const pass = shown?.steps[step - 1]?.[0].number ?? 0;
  const actions: Record<string, () => void> = {
    ArrowLeft: () => go(event.shiftKey ? lastOf(pass - 1) : step - 1),
    ArrowRight: () => go(event.shiftKey ? lastOf(pass + (step === lastOf(pass) ? 1 : 0)) : step + 1),
    Home: () => go(0),
    End: () => go(Infinity),
    " ": () => play(playing === undefined),
  };
  if (event.key === " " && target.matches("button, a, summary")) return;
  if (event.key in actions) {
    event.preventDefault();
    if (event.key !== " ") play(false);
    actions[event.key]!();
  }
}

/** Changes what is asked for. */
function ask(part: Record<string, string | undefined>): void {
  play(false);
  change({ ...part, step: undefined });
  void load();
}

export function start(): void {
  for (const algorithm of new Set(methods.map((method) => method.algorithm))) {
    const option = (method: (typeof methods)[number]) => made("option", { value: nameOf(method) }, `${algorithm} ${method.variant}`);
    select("sort").append(made("optgroup", { label: algorithm }, ...methods.filter((method) => method.algorithm === algorithm).map(option)));
  }
  select("preset").append(...[...PRESETS, OWN].map((name) => made("option", {}, name)));
  input("n").max = String(most);
  select("sort").addEventListener("change", () => ask({ sort: select("sort").value }));
  select("tile").addEventListener("change", () => ask({ tile: select("tile").value }));
  select("preset").addEventListener("change", () => {
    const name = select("preset").value;
    if (name === OWN) input("numbers").focus();
    ask(name === OWN ? { numbers: input("numbers").value.replace(/[\s,;]+/g, ",") } : { preset: name, numbers: undefined });
  });
  input("n").addEventListener("input", () => ask({ n: input("n").value, numbers: undefined }));
  input("n").addEventListener("blur", () => void load());
  input("numbers").addEventListener("input", () => ask({ numbers: input("numbers").value.trim().replace(/[\s,;]+/g, ",") }));
  by("again").addEventListener("click", () => ask({ seed: String(1 + Math.floor(Math.random() * 9999)), numbers: undefined }));
  input("steps").addEventListener("input", () => {
    play(false);
    go(Number(input("steps").value));
  });
  by("play").addEventListener("click", () => play(playing === undefined));
  for (const [id, to] of [["first", () => 0], ["back", () => step - 1], ["next", () => step + 1], ["last", () => Infinity]] as const) {
    by(id).addEventListener("click", () => {
      play(false);
      go(to());
    });
  }
  by("link").addEventListener("click", () => {
    const { sort = nameOf(methods[0]!), ...rest } = read(location.hash);
    void copy(by("link"), new URL(write({ ...rest, view: "see", sort, step: String(step) }), location.href).href);
  });
  document.addEventListener("keydown", pressed);
  new ResizeObserver(resize).observe(by("scroll"));
}

export function show(): Promise<void> {
  return load();
}

export function hide(): void {
  play(false);
}
