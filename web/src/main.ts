// The page: the address selects one of three views.

import { by } from "./dom.js";
import { device, onLost } from "./gpu.js";
import { read, write } from "./hash.js";
import * as measure from "./measure.js";
import * as see from "./see.js";
import * as sortFile from "./try.js";

const views = { see, measure, try: sortFile };

function view(): void {
  const asked = read(location.hash).view;
  const wanted = Object.hasOwn(views, asked) ? asked : "see";
  for (const [name, own] of Object.entries(views)) {
    by(name).hidden = name !== wanted;
    document.querySelector(`nav [href="#view=${name}"]`)!.ariaCurrent = name === wanted ? "page" : null;
    if (name === wanted) void own.show();
    else own.hide();
  }
}

async function status(): Promise<void> {
  const found = await device();
  by("device").textContent = found.gpu ? `WebGPU: ${found.name}` : `No WebGPU: ${found.name}. Sorts run on the CPU.`;
}

// Choices in one view stay in the address when another view is shown.
document.querySelectorAll("nav a").forEach((link) =>
  link.addEventListener("click", (event) => {
    event.preventDefault();
    location.hash = write({ ...read(location.hash), ...read(link.getAttribute("href")!) });
  }),
);
Object.values(views).forEach((view) => view.start());
onLost(() => void status());
addEventListener("hashchange", view);
view();
void status();
