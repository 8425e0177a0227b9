// Access to elements of the page, and creation of new ones.

/** Returns the element with this id, which must exist in index.html. */
export const by = <T extends Element = HTMLElement>(id: string) => document.getElementById(id) as unknown as T;
export const button = (id: string) => by<HTMLButtonElement>(id);
export const input = (id: string) => by<HTMLInputElement>(id);
export const select = (id: string) => by<HTMLSelectElement>(id);

/** Creates an element with this text or these children. */
export function made(tag: string, attributes: Record<string, string> = {}, ...children: (string | Node)[]): HTMLElement {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}

/** Replaces a table's head and rows. */
export function fill(id: string, head: Node[], rows: Node[]): void {
  by(id).replaceChildren(made("thead", {}, made("tr", {}, ...head)), made("tbody", {}, ...rows));
}

/** Replaces the content and the size of an SVG element. */
export function paint(id: string, width: number, height: number, content: string): void {
  const svg = by<SVGSVGElement>(id);
  Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([name, value]) => svg.setAttribute(name, String(value)));
  svg.innerHTML = content;
}

/** Selects the option with this value, or the first option if there is none. */
export function choose(id: string, value: string): void {
  select(id).value = value;
  if (select(id).selectedIndex < 0) select(id).selectedIndex = 0;
}

/** Yields to the browser, so that it updates the page. */
export const turn = () => new Promise((resolve) => setTimeout(resolve));

/** Shows an error, a message, or nothing. */
export function say(id: string, error: unknown = ""): void {
  by(id).textContent = error instanceof Error ? error.message : String(error);
}

/** Copies a text to the clipboard, and confirms this in the button. */
export async function copy(button: HTMLElement, text: string): Promise<void> {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not permitted";
  }
  setTimeout(() => (button.textContent = before), 1500);
}

export const grouped = (number: number) => number.toLocaleString("en-US");

/** Formats milliseconds with three significant digits, in a suitable unit. */
export function time(ms: number): string {
  const [value, unit] = ms >= 1000 ? [ms / 1000, "s"] : ms >= 1 ? [ms, "ms"] : [ms * 1000, "µs"];
  return `${value >= 1000 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`;
}

/** Formats a number of bytes in a suitable unit. */
export function bytes(count: number): string {
  const unit = count < 1024 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), 3);
  const value = count / 2 ** (10 * unit);
  return `${unit === 0 ? value : Number(value.toPrecision(3))} ${["B", "KiB", "MiB", "GiB"][unit]}`;
}
