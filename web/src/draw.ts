// Draws passes as an SVG picture: a wire for each position, a bar for each comparison, a frame for each pass, and
// the elements in their positions after any layer. Horizontal distances are in units, as large as the width
// allows.

import { type Compared, digitOf, FILLER, type Layer, type Pass } from "./plan.js";

/** Viridis (S. van der Walt and N. Smith, 2015) at nine points. */
const RAMP = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"];

/** Returns the colour of a value between 0, the smallest, and 1, the largest. */
export function colour(part: number): string {
  const place = Math.min(Math.max(part, 0), 1) * (RAMP.length - 1);
  const from = Math.min(Math.floor(place), RAMP.length - 2);
  const channel = (hex: string, at: number) => parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  const mixed = (low: number, high: number) => Math.round(low + (high - low) * (place - from));
  return `rgb(${[0, 1, 2].map((at) => mixed(channel(RAMP[from]!, at), channel(RAMP[from + 1]!, at))).join(" ")})`;
}

/** The colour of a thin line: the ends of the ramp are invisible on dark or light pages. */
const lineColour = (part: number) => colour(0.4 + 0.46 * part);

const PAD = 0.9;
const STEP = 1.7;
const BETWEEN = 0.45;
const [LEAST_UNIT, MOST_UNIT] = [3.6, 26];
/** The pixels above the frames, for the numbers of passes. */
const TOP = 22;

/** Distributes the pairs of a step over columns without overlaps. */
function columns(pairs: Compared[]): Compared[][] {
  const top = ([low, high]: Compared) => Math.min(low, high);
  const bottom = ([low, high]: Compared) => Math.max(low, high);
  const all: Compared[][] = [];
  for (const pair of pairs.slice().sort((a, b) => top(a) - top(b) || bottom(a) - bottom(b))) {
    const free = all.find((column) => bottom(column.at(-1)!) < top(pair));
    if (free) free.push(pair);
    else all.push([pair]);
  }
  return all;
}

/** The widths of layers by their operation, in units. */
const WIDTHS = { place: 7, clear: 1, count: 5, sum: 5 };

function unitsOf({ does, pairs, from }: Layer): number {
  if (does === "compare") return Math.max(columns(pairs).length - 1, 0);
  return does !== "move" ? WIDTHS[does] : from.every((from, at) => from === at) ? 4 : 10;
}

function unitsIn({ layers }: Pass): number {
  return 2 * PAD + (layers.length === 0 ? 1 : layers.reduce((sum, layer) => sum + STEP + unitsOf(layer), -STEP));
}

export interface Picture {
  svg: string;
  width: number;
  height: number;
  /** The horizontal end of each step: the input, then the layers. */
  stops: number[];
  /** Returns the vertical place of a wire. */
  y: (wire: number) => number;
}

export interface Drawn {
  passes: Pass[];
  keys: Uint32Array;
  ranks: number[];
  texts: string[];
}

const px = (x: number) => String(Math.round(10 * x) / 10);

/** Returns an SVG element; numbers are pixels. */
export function tag(name: string, attributes: Record<string, string | number>, content = ""): string {
  const all = Object.entries(attributes).map(([name, value]) => ` ${name}="${typeof value === "number" ? px(value) : value}"`);
  return `<${name}${all.join("")}>${content}</${name}>`;
}

export const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Returns the pixels between wires. */
const pitchOf = (wires: number) => (wires <= 16 ? 24 : wires <= 32 ? 14 : 11);

/** Returns a key in base 16, with one digit marked. */
function hex(key: number, digit: number): string {
  const text = key.toString(16).padStart(8, "0");
  const begin = 6 - 2 * digit;
  return `${text.slice(0, begin)}<tspan class="hot">${text.slice(begin, begin + 2)}</tspan>${text.slice(begin + 2)}`;
}

/**
 * Returns labels of the elements on their wires, right or left of the picture; on the right with their keys if a
 * pass uses a digit.
 */
export function labels({ texts, keys }: Drawn, elements: number[], digit: number | undefined, picture: Picture, isLeft: boolean): string {
  const size = Math.min(pitchOf(elements.length) - 1.2, 11);
  const label = (at: number, wire: number) => {
    if (at === FILLER) return "";
    const x = isLeft ? leftOf(texts) - 13 : picture.width - rightOf(texts, digit !== undefined) + 13;
    const y = picture.y(wire) + 0.36 * size;
    const text = tag("text", { x, y, class: isLeft ? "right" : "" }, escaped(cut(texts[at]!)));
    return digit === undefined || isLeft ? text : text + tag("text", { x: x + widest(texts) + 12, y, class: "hex" }, hex(keys[at]!, digit));
  };
  return `<g font-size="${size}">${elements.map(label).join("")}</g>`;
}

const cut = (text: string) => (text.length > 12 ? `${text.slice(0, 11)}…` : text);
const widest = (texts: string[]) => 6.7 * Math.max(...texts.map((text) => cut(text).length));
const leftOf = (texts: string[]) => widest(texts) + 16;
const rightOf = (texts: string[], hasDigits: boolean) => widest(texts) + 16 + (hasDigits ? 74 : 0);

/** Draws all passes, on at least `room` pixels. */
export function draw(drawn: Drawn, room: number): Picture {
  const { passes, ranks, keys, texts } = drawn;
  const hasDigits = passes.some((pass) => pass.digit !== undefined);
  const wires = Math.max(...passes.map((pass) => Math.max(pass.before.length, pass.after.length)));
  const pitch = pitchOf(wires);
  const y = (wire: number) => TOP + (wire + 0.7) * pitch;
  const [above, below] = [TOP, y(wires - 1) + 0.7 * pitch];
  const all = passes.reduce((sum, pass) => sum + unitsIn(pass) + BETWEEN, -BETWEEN);
  const [left, right] = [leftOf(texts), rightOf(texts, hasDigits)];
  const unit = Math.min(Math.max((room - left - right - 2) / all, LEAST_UNIT), MOST_UNIT);
  const n = keys.length;
  const part = (at: number) => ranks[at]! / Math.max(n - 1, 1);
  const [frames, bars, extras]: [string[], string[], string[]] = [[], [], []];
  const ways = Array.from(keys, (_, at) => `M${left} ${y(at)}`);
  const stops = [left];
  const half = Math.min(Math.max(0.28 * unit, 1.3), 3.3);
  let numbered = -Infinity;
  let x = left;

  const head = Math.min(Math.max(0.47 * unit, 1.8), 5.6);
  const compare = ({ before, pairs }: Layer) => {
    const elements = before.slice();
    for (const [number, column] of columns(pairs).entries()) {
      const cx = x + number * unit;
      const at = px(cx);
      for (const [low, high, swapped] of column) {
        const kind = swapped ? "swap" : "keep";
        const dot = (wire: number) => tag("circle", { class: `${kind}-dot`, cx, cy: y(wire), r: half });
        // An arrow if the larger element goes up.
        const arrow = `M${at} ${px(y(high) - head)}l${px(head)} ${px(1.8 * head)}h${px(-2 * head)}z`;
        const end = low < high ? dot(high) : tag("path", { class: `${kind}-dot`, d: arrow });
        bars.push(tag("path", { class: kind, d: `M${at} ${y(low)}V${y(high)}` }), dot(low), end);
        if (!swapped) continue;
        [elements[low], elements[high]] = [elements[high]!, elements[low]!];
        for (const wire of [low, high]) {
          if (elements[wire] !== FILLER) ways[elements[wire]!] += `H${at}M${at} ${y(wire)}`;
        }
      }
    }
  };
  const move = ({ before, from, does }: Layer, end: number, digit: number | undefined) => {
    const middle = px((x + end) / 2);
    const size = Math.min(pitch - 2, 10);
    from.forEach((from, to) => {
      const element = before[from] ?? FILLER;
      if (element === FILLER) return;
      ways[element] += `H${px(x)}C${middle} ${y(from)} ${middle} ${y(to)} ${px(end)} ${y(to)}`;
      if (does !== "move" || digit === undefined || unit <= 6) return;
      const text = digitOf(keys[element]!, digit).toString(16).padStart(2, "0");
      for (const [at, wire] of [[x + 9, from], [end - 9, to]] as const) {
        extras.push(tag("text", { class: "digit", x: at, y: y(wire) + 0.36 * size, "font-size": size }, text));
      }
    });
  };
  const counted = ({ does, counts }: Layer, width: number) => {
    const each = (below - above - 8) / counts.length;
    const at = (value: number) => above + 4 + value * each;
    if (does === "sum") {
      const line = counts.map((sum, value) => `H${px(x + (width * sum) / n)}V${px(at(value + 1))}`);
      extras.push(tag("path", { class: "sums", d: `M${px(x)} ${at(0)}${line.join("")}` }));
      return;
    }
    counts.forEach((count, value) => {
      const size = { width: (width * count) / Math.max(...counts), height: Math.max(each, 1.8) };
      if (count > 0) extras.push(tag("rect", { class: "bars", x, y: at(value), ...size }));
    });
  };

  for (const pass of passes) {
    const width = unitsIn(pass) * unit;
    frames.push(`<g data-pass="${pass.number}"><title>${escaped(`Pass ${pass.number}, ${pass.kernel}: ${pass.what}`)}</title>`);
    frames.push(tag("rect", { class: "pass", x, y: above, width, height: below - above, rx: 4 }));
    for (const run of pass.tinted.matchAll(/(\d)\1*/g)) {
      const top = y(pass.first + run.index) - 0.5 * pitch + 0.8;
      frames.push(tag("rect", { class: `t${run[1]}`, x: x + 1.5, y: top, width: width - 3, height: run[0].length * pitch - 1.6 }));
    }
    frames.push("</g>");
    const own = String(pass.number).length * 7;
    if (x + (width - own) / 2 > numbered + 5) {
      frames.push(tag("text", { class: "number", x: x + width / 2, y: TOP - 8 }, String(pass.number)));
      numbered = x + (width + own) / 2;
    }
    const end = x + width;
    x += PAD * unit;
    for (const layer of pass.layers) {
      const wide = unitsOf(layer) * unit;
      if (layer.does === "compare") compare(layer);
      if (layer.from.length > 0) move(layer, x + wide, pass.digit);
      if (layer.counts.length > 0) counted(layer, wide);
      x += wide + STEP * unit;
      if (layer !== pass.layers.at(-1)) stops.push(x - 0.5 * STEP * unit);
    }
    stops.push(end + 0.5 * BETWEEN * unit);
    x = end + BETWEEN * unit;
  }
  const to = x - BETWEEN * unit;
  stops[stops.length - 1] = to;
  const lines = Array.from({ length: wires }, (_, wire) => `M${left} ${y(wire)}H${px(to)}`).join("");
  const paths = ways.map((way, at) => tag("path", { stroke: lineColour(part(at)), d: `${way}H${px(to)}` })).join("");
  const size = Math.min(pitch / 2.6, 6);
  const dots = Array.from(keys, (_, at) => tag("circle", { class: "element", r: size, fill: colour(part(at)) })).join("");
  const [width, height] = [Math.ceil(to + right), Math.ceil(below + 4)];
  // Finished work appears left of the step; all work appears pale on the whole picture.
  const shade = tag("clipPath", { id: "done" }, tag("rect", { class: "shade", x: -width, width, y: 0, height }));
  const done = tag("g", { class: "ways", "stroke-width": pitch > 12 ? 2.2 : 1.8 }, paths) + '<use href="#over"/>';
  const svg =
    tag("defs", {}, tag("g", { id: "over" }, bars.join("") + extras.join("")) + shade) +
    tag("g", { class: "frames" }, frames.join("")) +
    tag("path", { class: "wire", d: lines }) +
    '<use href="#over" class="later"/>' +
    tag("g", { "clip-path": "url(#done)" }, done) +
    '<g class="input"></g><g class="now"></g>' +
    tag("g", { class: "elements" }, dots);
  return { svg, width, height, stops, y };
}
