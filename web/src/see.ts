// Visualizes a sort step by step: the controls, the picture, and the table of passes.

import { button, by, bytes, choose, copy, fill, grouped, input, made, paint, say, select } from "./dom.js";
import { colour, draw, type Drawn, labels, type Picture } from "./draw.js";
import { methods, most } from "./generated/index.js";
import { change, read, write } from "./hash.js";
import { parsed, preset, PRESETS, ranksOf } from "./numbers.js";
import { FILLER, type Layer, type Pass, perform } from "./plan.js";

/** The duration of a step, in milliseconds. */
const PACE = 650;

const OWN = "own numbers";

interface Shown extends Drawn {
  title: string;
  picture: Picture;
  /** The pass and the layer of each step; the picture before the first step is the input. */
  steps: [Pass, Layer | undefined][];
}

let shown: Shown | undefined;
let step = 0;
let playing: number | undefined;
let loading = 0;

const nameOf = (method: (typeof methods)[number]) => `${method.algorithm}-${method.variant}`;

/** Returns the state in the address, with defaults for missing parts. */
function asked() {
  const { sort = "bitonic-fused", tile, numbers, preset = "random", n = "16", seed = "1", step = "" } = read(location.hash);
  const method = methods.find((method) => nameOf(method) === sort) ?? methods[0]!;
  const known = PRESETS.includes(preset) ? preset : PRESETS[0]!;
  const count = Math.min(Math.max(Math.round(Number(n)) || 16, 2), most);
  return { method, tile: Math.max(method.tiles.indexOf(Number(tile)), 0), numbers, preset: known, n: count, seed: Number(seed) || 1, step };
}

/** Loads the requested sort, performs it and draws it. */
async function load(): Promise<void> {
  const { method, tile, numbers, preset: name, n, seed, step: at } = asked();
  const mine = ++loading;
  const text = numbers ?? preset(name, n, seed);
  choose("sort", nameOf(method));
  choose("preset", numbers === undefined ? name : OWN);
  select("tile").replaceChildren(...method.tiles.map((size) => made("option", {}, String(size))));
  select("tile").selectedIndex = tile;
  select("tile").disabled = method.tiles.length < 2;
  by("again").hidden = numbers !== undefined;
  if (document.activeElement !== input("numbers")) input("numbers").value = text.replace(/,\s*/g, ", ");
  let own;
  try {
    own = parsed(text, most);
    say("numbers-error");
  } catch (error) {
    return say("numbers-error", error);
  }
  if (document.activeElement !== input("n")) input("n").value = String(own.texts.length);
  const { sorts } = await method.load();
  if (mine !== loading) return;
  const passes = perform(sorts, tile, own.keys);
  const drawn: Drawn = { passes, keys: own.keys, ranks: ranksOf(own.keys), texts: own.texts };
  const steps = passes.flatMap((pass) => (pass.layers.length > 0 ? pass.layers : [undefined]).map((layer): [Pass, Layer | undefined] => [pass, layer]));
  const compared = passes.flatMap((pass) => pass.layers).filter((layer) => layer.does === "compare");
  const pairs = compared.flatMap((layer) => layer.pairs);
  const swaps = pairs.filter(([, , swapped]) => swapped).length;
  const work = compared.length > 0 ? `${compared.length} steps, ${grouped(pairs.length)} comparisons (${grouped(swaps)} swaps), ` : "";
  const title = `${method.algorithm} ${method.variant}, ${own.texts.length} ${own.type}`;
  const moved = bytes(passes.reduce((sum, pass) => sum + pass.moved, 0));
  say("title", title);
  say("what", method.what);
  say("sum", `${passes.length} ${passes.length === 1 ? "pass" : "passes"}, ${work}${moved} moved`);
  shown = { ...drawn, title, steps, picture: draw(drawn, 0) };
  by("stage").hidden = false;
  input("steps").max = String(steps.length);
  legend(passes);
  table(passes);
  step = at === "" ? steps.length : Math.min(Math.max(Math.round(Number(at)) || 0, 0), steps.length);
  resize();
}

function legend(passes: Pass[]): void {
  const layers = passes.flatMap((pass) => pass.layers);
  const has = (does: Layer["does"]) => layers.some((layer) => layer.does === does);
  const held = [...new Set(passes.flatMap((pass) => pass.held ?? []))].join(" or in ");
  const sentences = [
    "A wire is a position, the first on top; its colour is the rank of its element, from dark to bright. A frame is a pass over the GPU's memory.",
    has("compare") && "A bar compares two positions and moves the smaller element up; bold bars swap.",
    layers.some((layer) => layer.pairs.some(([low, high]) => low > high)) && "An arrow moves the larger element up.",
    (has("move") || has("place")) && "Curves move elements to the other array.",
    has("move") && "Digits are in base 16: the key on the right has the digit of the pass in bold.",
    has("count") && "Grey bars count the values of a digit, the lowest on top.",
    has("sum") && "A grey line is the number of elements with lower values.",
    held && `A tint is a tile, which one workgroup holds in ${held} during the pass.`,
  ];
  say("legend", sentences.filter(Boolean).join(" "));
}

/** Draws the picture in the available width. */
function resize(): void {
  if (shown === undefined) return;
  const svg = by("picture");
  shown.picture = draw(shown, by("scroll").clientWidth);
  paint("picture", shown.picture.width, shown.picture.height, shown.picture.svg);
  svg.querySelector(".input")!.innerHTML = labels(shown, Array.from(shown.keys, (_, at) => at), undefined, shown.picture, true);
  for (const frame of svg.querySelectorAll<SVGGElement>("[data-pass]")) {
    frame.addEventListener("click", () => go(lastOf(Number(frame.dataset.pass))));
  }
  place(false);
}

/** Returns the last step of a pass. */
const lastOf = (pass: number) => shown!.steps.filter(([own]) => own.number <= pass).length;

function table(passes: Pass[]): void {
  const { ranks: rankOf } = shown!;
  const hasTiles = passes.some((pass) => pass.tile !== undefined);
  // The ranks of elements as a heat map in a row.
  const ranks = (elements: number[]) => {
    const percent = (place: number) => `${((100 * place) / elements.length).toFixed(2)}%`;
    const shade = (at: number) => (at === FILLER ? "transparent" : colour(rankOf[at]! / (rankOf.length - 1)));
    const stops = elements.map((at, place) => `${shade(at)} ${percent(place)} ${percent(place + 1)}`);
    return made("td", { class: "ranks" }, made("div", { style: `background:linear-gradient(to right,${stops.join()})` }));
  };
  const cell = (kind: string, content: string | Node) => made("td", { class: kind }, content);
  const row = (pass: Pass) => {
    const button = made("button", { type: "button", "aria-label": `Go to pass ${pass.number}` }, String(pass.number));
    const row = made("tr", {}, cell("number", button), cell("kernel", pass.kernel), cell("what", pass.what), ranks(pass.after));
    if (hasTiles) row.append(cell("number extra tile", String(pass.tile ?? "")));
    row.append(cell("number extra", grouped(pass.workgroups)), cell("number extra", bytes(pass.moved)));
    row.addEventListener("click", () => go(lastOf(pass.number)));
    return row;
  };
  const headings = { pass: "number", kernel: "kernel", "what it does": "what", "rank by position": "ranks", ...(hasTiles && { tile: "number extra tile" }) };
  const head = Object.entries({ ...headings, workgroups: "number extra", moved: "number extra" });
  const input = made("tr", { class: "begin" }, cell("number", ""), cell("kernel", ""), cell("what", "input"), ranks(passes[0]!.before));
  fill("passes", head.map(([text, kind]) => made("th", { scope: "col", class: kind }, text)), [input, ...passes.map(row)]);
}

/** Shows the elements after a step, and stores the step in the address. */
function go(to: number): void {
  if (shown === undefined) return;
  step = Math.min(Math.max(to, 0), shown.steps.length);
  change({ step: step === shown.steps.length ? undefined : String(step) });
  place(true);
}

function place(moves: boolean): void {
  const { picture, steps, passes, title, texts } = shown!;
  const [pass, layer] = steps[step - 1] ?? [];
  const elements = pass === undefined ? passes[0]!.before : (layer ?? pass).after;
  const svg = by("picture");
  const x = picture.stops[step]!;
  svg.classList.toggle("moves", moves);
  svg.querySelector<SVGRectElement>(".shade")!.style.transform = `translateX(${x}px)`;
  const dots = svg.querySelectorAll<SVGCircleElement>(".element");
  elements.forEach((at, wire) => {
    if (at !== FILLER) dots[at]!.style.transform = `translate(${x}px,${picture.y(wire)}px)`;
  });
  const hasDigits = passes.some((pass) => pass.digit !== undefined);
  svg.querySelector(".now")!.innerHTML = labels(shown!, elements, pass?.digit ?? (hasDigits ? 0 : undefined), picture, false);
  const current = pass?.number ?? 0;
  svg.querySelectorAll<SVGElement>("[data-pass]").forEach((frame) => frame.classList.toggle("current", frame.dataset.pass === String(current)));
  by("passes").querySelectorAll("tbody tr").forEach((row, number) => {
    row.classList.toggle("current", number === current);
    row.classList.toggle("to-come", number > current);
  });
  const { offsetTop } = by("passes").querySelector<HTMLElement>(".current")!;
  const [list, scroll] = [by("list"), by("scroll")];
  const below = offsetTop - list.scrollTop;
  if (below < 30 || below > list.clientHeight - 30) list.scrollTop = offsetTop - list.clientHeight / 2;
  if (x < scroll.scrollLeft + 60 || x > scroll.scrollLeft + scroll.clientWidth - 120) scroll.scrollLeft = x - scroll.clientWidth / 2;
  const words = wordsOf(pass, layer);
  say("caption", words);
  input("steps").value = String(step);
  input("steps").setAttribute("aria-valuetext", words);
  svg.setAttribute("aria-label", `${title}: ${words}. Now: ${elements.map((at) => texts[at] ?? "").join(" ")}`);
  for (const id of ["first", "back"]) button(id).disabled = step === 0;
  for (const id of ["next", "last"]) button(id).disabled = step === steps.length;
}

/** Describes a step. */
function wordsOf(pass: Pass | undefined, layer: Layer | undefined): string {
  if (pass === undefined) return "The input";
  const own = `Pass ${pass.number} of ${shown!.passes.length}, ${pass.kernel}: ${pass.what}`;
  if (layer?.does !== "compare") return own;
  const swaps = layer.pairs.filter(([, , swapped]) => swapped).length;
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const { length } = pass.layers;
  const name = length === 1 ? "" : `step ${pass.layers.indexOf(layer) + 1} of ${length}, ${layer.name}: `;
  return `${own} – ${name}${count(layer.pairs.length, "comparison")}, ${count(swaps, "swap")}`;
}

function play(wants: boolean): void {
  clearInterval(playing);
  playing = undefined;
  if (wants && shown) {
    const { length } = shown.steps;
    if (step === length) go(0);
    playing = setInterval(() => {
      go(step + 1);
      if (step === shown?.steps.length) play(false);
    }, Math.max(PACE - 4 * length, 300));
  }
  say("play", playing === undefined ? "Play" : "Pause");
  by("caption").ariaLive = playing === undefined ? "polite" : "off";
}

/** Goes to a step at the reader's request, which ends the playback. */
function leap(to: number): void {
  play(false);
  go(to);
}

/** Handles a key, unless a field has the focus. */
function pressed(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isField = target.matches("select, textarea, input:not([type=range])");
  if (by("see").hidden || !shown || event.ctrlKey || event.metaKey || event.altKey || isField) return;
  const pass = shown.steps[step - 1]?.[0].number ?? 0;
  const actions: Record<string, () => void> = {
    ArrowLeft: () => leap(event.shiftKey ? lastOf(pass - 1) : step - 1),
    ArrowRight: () => leap(event.shiftKey ? lastOf(pass + (step === lastOf(pass) ? 1 : 0)) : step + 1),
    Home: () => leap(0),
    End: () => leap(Infinity),
    " ": () => play(playing === undefined),
  };
  if (!Object.hasOwn(actions, event.key) || (event.key === " " && target.matches("button, a"))) return;
  event.preventDefault();
  actions[event.key]!();
}

/** Changes the request. */
function ask(part: Record<string, string | undefined>): void {
  play(false);
  change({ ...part, step: undefined });
  void load();
}

export function start(): void {
  for (const algorithm of new Set(methods.map((method) => method.algorithm))) {
    const own = methods.filter((method) => method.algorithm === algorithm);
    const options = own.map((method) => made("option", { value: nameOf(method) }, `${algorithm} ${method.variant}`));
    select("sort").append(made("optgroup", { label: algorithm }, ...options));
  }
  select("preset").append(...[...PRESETS, OWN].map((name) => made("option", {}, name)));
  input("n").max = String(most);
  const typed = () => input("numbers").value.trim().replace(/[\s,;]+/g, ",");
  for (const id of ["sort", "tile"]) select(id).addEventListener("change", () => ask({ [id]: select(id).value }));
  select("preset").addEventListener("change", () => {
    const { value } = select("preset");
    if (value === OWN) input("numbers").focus();
    ask(value === OWN ? { numbers: typed() } : { preset: value, numbers: undefined });
  });
  input("n").addEventListener("input", () => ask({ n: input("n").value, numbers: undefined }));
  for (const id of ["n", "numbers"]) input(id).addEventListener("blur", () => void load());
  input("numbers").addEventListener("input", () => ask({ numbers: typed() }));
  by("again").addEventListener("click", () => ask({ seed: String(1 + Math.floor(Math.random() * 9999)), numbers: undefined }));
  input("steps").addEventListener("input", () => leap(Number(input("steps").value)));
  by("play").addEventListener("click", () => play(playing === undefined));
  const leaps = { first: () => 0, back: () => step - 1, next: () => step + 1, last: () => Infinity };
  for (const [id, to] of Object.entries(leaps)) by(id).addEventListener("click", () => leap(to()));
  by("link").addEventListener("click", () => {
    const { sort = nameOf(methods[0]!), ...rest } = read(location.hash);
    void copy(by("link"), new URL(write({ ...rest, view: "see", sort, step: String(step) }), location.href).href);
  });
  document.addEventListener("keydown", pressed);
  new ResizeObserver(resize).observe(by("scroll"));
}

export const show = load;

export const hide = () => play(false);
