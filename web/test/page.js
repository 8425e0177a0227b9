// Tests of the page in a browser: its modules, and the page itself in a frame. Each line that it logs begins with "gpusort:"; the last is
// "gpusort: done".

import { bench, contenders, randomKeys, wrong } from "../dist/bench.js";
import { draw } from "../dist/draw.js";
import { methods, most } from "../dist/generated/index.js";
import { device, onLost } from "../dist/gpu.js";
import { read, write } from "../dist/hash.js";
import { parsed, preset, PRESETS, ranksOf, valueOf } from "../dist/numbers.js";
import { FILLER, perform } from "../dist/plan.js";
import { content, order, textsOf, written } from "../dist/text.js";
import { PAYS } from "gpusort/arrays.js";
import { check, log, refused } from "../../npm/test/support.js";

function same(what, found, expected) {
  check(`${what}:\n${JSON.stringify(found)}\nis not\n${JSON.stringify(expected)}`, JSON.stringify(found) === JSON.stringify(expected));
}

/** The documented order: -0 before +0, NaN last, also in a descending one. */
function compare(a, b, descending = false) {
  if (a !== a || b !== b) return Number(a !== a) - Number(b !== b);
  if (a === b) return (a === 0 ? Object.is(b, -0) - Object.is(a, -0) : 0) * (descending ? -1 : 1);
  return a < b === !descending ? -1 : 1;
}

const positionsOf = (values, descending) => values.map((_, at) => at).sort((a, b) => compare(values[a], values[b], descending) || a - b);

const SPECIAL = "1.5, -0, nan, 0, -inf, 1e3, inf, -2.25, 1.5, +0, -0.0, NaN, .5";

/** What the last pass leaves; what is drawn of it, too, is looked at once in a while. */
function left(sorts, tile, numbers, draws) {
  const passes = perform(sorts, tile, numbers.keys);
  passes.forEach((pass, at) => {
    check(`pass ${pass.number} begins with what the one before left`, at === 0 || String(pass.before) === String(passes[at - 1].after));
    const layers = pass.layers.map((layer) => layer.after);
    check(`pass ${pass.number}: nothing is lost`, layers.every((after) => after.filter((it) => it !== FILLER).length === numbers.texts.length));
  });
  if (draws) drawn(passes, numbers);
  return passes.at(-1).after.filter((it) => it !== FILLER);
}

function drawn(passes, numbers) {
  const { stops } = draw({ passes, keys: numbers.keys, ranks: ranksOf(numbers.keys), texts: numbers.texts }, 900);
  check("a step ends right of the one before", stops.every((stop, at) => at === 0 || stop > stops[at - 1]));
  check("each layer has its step", stops.length === 1 + passes.reduce((sum, pass) => sum + Math.max(pass.layers.length, 1), 0));
}

async function plans() {
  let cases = 0;
  let broken = 0;
  for (const method of methods) {
    const { sorts } = await method.load();
    const isStable = method.algorithm === "radix";
    const isRight = (numbers, tile, of = sorts, draws = false) => {
      const values = numbers.texts.map(valueOf);
      const [found, expected] = [left(of, tile, numbers, draws), positionsOf(values, false)];
      return isStable ? String(found) === String(expected) : found.every((it, at) => Object.is(values[it], values[expected[at]]));
    };
    for (const tile of method.tiles.keys()) {
      for (const n of [2, 3, 4, 5, 8, 13, 16, 17, 31, 32, 33, 50, 63, 64]) {
        const sets = [...PRESETS.map((name) => preset(name, n, n + tile)), Array.from({ length: n }, (_, at) => (at % 3) * -70000 + at).join()];
        if (n === 13) sets.push(SPECIAL);
        for (const set of sets) {
          const what = `${method.algorithm} ${method.variant}, tile ${method.tiles[tile]}, of ${set}`;
          check(what, isRight(parsed(set, most), tile, sorts, set === sets[0]));
          cases++;
        }
      }
      check("all sizes have a plan", sorts.sorts[tile].length === most - 1);
    }
    // The oracle must notice a plan that lacks a pair of some step, or a pass by a digit.
    for (const at of isStable ? [1, 3] : sorts.steps.keys()) {
      const less = structuredClone(sorts);
      if (isStable) less.kinds.find((kind) => kind.does.includes("move") && kind.digit === (at === 1 ? 0 : 1)).does = [];
      else less.steps[at][1].splice(0, 2);
      const some = Array.from({ length: most - 1 }, (_, n) => ["random", "reversed"].map((name) => parsed(preset(name, n + 2, n), most))).flat();
      const isNoticed = some.some((numbers) => method.tiles.some((_, tile) => !isRight(numbers, tile, less)));
      broken += Number(isNoticed);
      check(`${method.variant} without a pair of step ${at} still sorts`, isNoticed);
    }
  }
  await refused("too few", async () => perform((await methods[0].load()).sorts, 0, new Uint32Array(1)), ["1 elements", "2 to 64"]);
  return `plans: ${cases} sorts, ${broken} broken plans noticed`;
}

async function texts() {
  const typed = (text) => parsed(text, most);
  same("types", ["1, 2", "1 -2", "1;2.5", "4294967295,0", "nan -inf"].map((text) => typed(text).type), ["u32", "i32", "f32", "u32", "f32"]);
  await refused("a word", () => typed("1, x2"), ["number 2", "'x2'", "write numbers"]);
  await refused("one", () => typed("1"), ["1 number", "2 to 64"]);
  await refused("too many", () => typed("1 ".repeat(65)), ["65 numbers"]);
  await refused("too large", () => typed("1.5, 1e39"), ["number 2", "1e39"]);
  await refused("too large for 64 bits, too", () => typed("1, 1e400"), ["number 2", "1e400", "too large"]);
  for (const text of ["0x10", "1_000", "12abc", "--1", "e5", "٣"]) await refused(text, () => typed(`1,${text}`), [`'${text}'`, "not a number"]);
  await refused("rounded", () => typed("1, 9007199254740993"), ["9007199254740993", "32 bits"]);
  same("zeros of floats", ["-0, 0", "0, -0.0", "0, 1.0"].map((text) => typed(text).type), ["f32", "f32", "u32"]);
  same("commas alone", typed(", 2,,, -1 ,").texts, ["2", "-1"]);
  await refused("no type for both", () => typed("-1, 4294967295"), ["4294967295", "32 bits"]);
  for (const state of [{ view: "see" }, { view: "see", sort: "radix-onesweep", numbers: "1,-2,3.5", step: "0" }, { view: "try", x: "ü&=# +" }]) {
    same("the address", read(write(state)), state);
  }
  check("commas are legible", write({ view: "see", numbers: "1,2" }).endsWith("numbers=1,2"));

  let asked = [];
  const argsort = async (keys, descending) => {
    asked.push(keys.constructor.name);
    return Uint32Array.from(positionsOf(Array.from(keys), descending));
  };
  const bytes = (text) => new TextEncoder().encode(text);
  const sorted = async (text, column = 0, options = {}, kind = "auto", name = "") => {
    const own = content(typeof text === "string" ? bytes(text) : text, kind, name);
    const { positions } = await order(own, column, { descending: false, asText: false, ...options }, argsort);
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(written(own, positions));
  };
  const mixed = "007, +5 1e3\n-0.50;nan\r\n3.\n";
  same("numbers keep their spelling", await sorted(mixed, 0, {}, "numbers"), "-0.50\n3.\n+5\n007\n1e3\nnan\n");
  const large = ["1", "9007199254740992", "9007199254740993", "18446744073709551615"];
  same("large integers", await sorted(large.toReversed().join(" ")), `${large.join("\n")}\n`);
  const negative = ["-9223372036854775808", "-9007199254740993", "-9007199254740992", "5"];
  same("negative ones", await sorted(negative.toReversed().join("\n")), `${negative.join("\n")}\n`);
  same("their types", asked, ["Float64Array", "BigUint64Array", "BigInt64Array"]);
  const table = '\ufeffid,"na""me, of it",price\r\n1,"b, ""x""\nover lines",10\r\n2,a,\r\n\r\n3,"",9.50\r\n4,Z,nan\r\n5,a,1e1';
  const [header, one, two, three, four, five] =
    ['\ufeffid,"na""me, of it",price\r\n', '1,"b, ""x""\nover lines",10\r\n', "2,a,\r\n", '3,"",9.50\r\n', "4,Z,nan\r\n", "5,a,1e1\r\n"];
  same("columns", content(bytes(table), "auto").columns, ["id", 'na"me, of it', "price"]);
  same("a field over lines", textsOf(content(bytes(table), "auto"), 1)[0], 'b, "x"\nover lines');
  same("by number", await sorted(table, 2), header + three + one + five + four + two);
  same("descending", await sorted(table, 2, { descending: true }), header + one + five + three + four + two);
  same("by text", await sorted(table, 1), header + four + two + five + one + three);
  same("by text, descending", await sorted(table, 1, { descending: true }), header + one + two + five + four + three);
  same("numbers as text", await sorted("n\n10\n9\n1\n", 0, { asText: true }), "n\n1\n10\n9\n");
  await refused("a word in a line", () => sorted("5 4 x"), ["line 1", "'x'"]);
  same("numbers keep their line ends", await sorted("\ufeff5\r\n\r\n3\r\n4"), "\ufeff3\r\n4\r\n5\r\n");
  same("rows of numbers are not torn", await sorted("2,1\n1,3\n"), "1,3\n2,1\n");
  await refused("two on a line", () => sorted("1\n2 3\n"), ["line 2", "more than one number", "as numbers"]);
  same("rows without a header", await sorted("2;x\n\n1;y", 0, {}, "rows"), "1;y\n2;x\n");
  same("a .csv of numbers", content(bytes("5\n3\n"), "auto", "x.CSV").columns, ["column 1"]);
  same("a delimiter between quotes is none", content(bytes('"a,b,\n,";c\n'), "auto").columns, ["a,b,\n,", "c"]);
  same("names twice, and none", content(bytes("a,,b,a\n"), "auto").columns, ["a, column 1", "column 2", "b", "a, column 4"]);
  same("blank rows of one column", await sorted("a\n2\n\n1\n"), "a\n1\n2\n\n");
  same("text by bytes", await sorted("a\n😀\n\uffee\né\nz\n"), "a\nz\né\n\uffee\n😀\n");
  same("spaces around numbers", await sorted("a\n 10\n9 \n"), "a\n9 \n 10\n");
  same("nothing", [await sorted(" \n"), await sorted("\ufeff"), await sorted(""), await sorted("", 0, {}, "rows")], [" \n", "\ufeff", "", ""]);
  same("tabs", await sorted("a\tb\nx\t2\ny\t1\n", 1), "a\tb\ny\t1\nx\t2\n");
  same("a header alone", await sorted("a,b\n", 0), "a,b\n");
  // A first line that may be data is not lost as a header.
  for (const [given, expected, ...how] of [
    ["pear\nfig, dried\n\n7up\n\"apple", "\"apple\n7up\nfig, dried\npear\n\n"],
    ["2024-03-01\n2023-12-31\n", "2023-12-31\n2024-03-01\n"],
    ["2024-03-01 10:30,b\n2023-12-31 9:00,a\n", "2023-12-31 9:00,a\n2024-03-01 10:30,b\n"],
    ["2024-03-01 10:30 PM,b\n2023-12-31 9:00 AM,a\n", "2023-12-31 9:00 AM,a\n2024-03-01 10:30 PM,b\n"],
    ["12:30\r\n08:15\r\n", "08:15\r\n12:30\r\n", 0, {}, "auto", "times.csv"],
    ["Mar 1, 2024\nJan 5, 2024\n", "Jan 5, 2024\nMar 1, 2024\n"],
    ['"2","b"\n"10","a"\n1,c\n', '1,c\n"2","b"\n"10","a"\n'],
    ['"pear"\n"fig\ndried"\n', '"fig\ndried"\n"pear"\n'],
    ['{"b":2,"c":[1]}\n{"a":1}\n', '{"a":1}\n{"b":2,"c":[1]}\n'],
    ["[2,3]\n[1]\n", "[1]\n[2,3]\n"],
    ['b,"x\na,\n', 'a,\nb,"x\n', 0, {}, "lines"],
  ]) {
    same(`the lines of ${given}`, await sorted(given, ...how), expected);
  }
  same("a header of dates", await sorted("day\n2024-03-01\n2023-12-31\n"), "day\n2023-12-31\n2024-03-01\n");
  same("a header in brackets", content(bytes("[id],[name]\n1,x\n"), "auto").columns, ["[id]", "[name]"]);
  same("a .csv of words", content(bytes("name\nfig\n"), "auto", "x.csv").columns, ["name"]);
  // Bytes that are no UTF-8 stay.
  const raw = new Uint8Array([...bytes("a,b\n2,"), 255, 254, ...bytes("\n1,x\n")]);
  const own = content(raw, "table");
  const { positions } = await order(own, 0, { descending: false, asText: false }, argsort);
  same("bytes", Array.from(written(own, positions)), [...bytes("a,b\n1,x\n2,"), 255, 254, 10]);
  await refused("a word among numbers", () => sorted("1\n2\nthree\n4"), ["line 3", "'three'", "as text"]);
  await refused("a word in a column", () => sorted("a\n1\n\"x\ny\"\n", 0, {}, "table"), ["line 3", "'x\ny'", "as text"]);
  await refused("an open quote", () => sorted('a,b\n1,"x\n2,y\n'), ["line 2", "quote is not closed"]);
  await refused("a short row", () => sorted("a,b\n1,2\n3\n", 1), ["line 3", "1 field,", "has 2", "as lines"]);
  await refused("a long row", () => sorted("a,b\n1,2,3\n"), ["line 2", "3 fields", "has 2"]);
  await refused("a short row of a wider table, at another column", () => sorted("a,b\n1,2\n3\n", 0), ["line 3"]);
  await refused("UTF-16", () => sorted(new Uint8Array([255, 254, 49, 0, 10, 0])), ["UTF-16", "UTF-8"]);
  await refused("binary", () => sorted("5\n\0\n"), ["binary"]);
  await refused("CR alone", () => sorted("a,b\r1,2\r"), ["CR alone"]);
  await refused("infinite", () => sorted("0.5\n1e400"), ["line 2", "1e400", "64 bits"]);
  await refused("infinite, of digits", () => sorted(`0.5\n${"9".repeat(400)}`), ["line 2", "64 bits"]);
  await refused("a message in UTF-8", () => sorted("a\n1\nñ\n"), ["'ñ'"]);
  await refused("too large", () => sorted("1\n18446744073709551616"), ["line 2", "18446744073709551616", "64 bits"]);
  await refused("rounded", () => sorted("0.5\n9007199254740993"), ["line 2", "9007199254740993", "rounded"]);
  let rows = 0;
  for (let seed = 1; seed <= 300; seed++) rows += await permuted(seed, sorted);
  return `texts: numbers, tables, addresses; ${rows} rows lost and altered nothing`;
}

/** A table of any bytes that rows may have comes back as its own rows in order: ids show which is where. */
async function permuted(seed, sorted) {
  let state = seed;
  const next = (below) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % 65521 % below;
  const [delimiter, ending] = [",\t;"[next(3)], next(2) ? "\r\n" : "\n"];
  const quoted = () => `"${Array.from({ length: next(6) }, () => ["a", delimiter, "\n", '""', "\r\n", "é", " "][next(7)]).join("")}"`;
  const plain = () => Array.from({ length: 1 + next(4) }, () => ["x", " ", 'y"', "😀", "\\", "'"][next(6)]).join("");
  const texts = Array.from({ length: next(40) }, () => ["1", "1.0", '"1"', "-0", "0", "nan", "+2.5", "1e3", "-inf", " 7 ", "", '""'][next(12)]);
  const lines = texts.map((text, at) => [`r${at}`, text, next(2) ? quoted() : plain()].join(delimiter) + ending);
  const header = (next(2) ? "\ufeff" : "") + ["id", '"ke""y"', "more"].join(delimiter) + ending;
  const values = texts.map((text) => text.replaceAll('"', "").trim());
  const isEmpty = (at) => values[at] === "";
  const all = lines.join("");
  const given = header + (next(2) ? all : all.slice(0, all.length - ending.length));
  for (const descending of [false, true]) {
    const full = lines.map((_, at) => at).filter((at) => !isEmpty(at));
    // Integers alone are a type without a zero below zero.
    const isWhole = full.every((at) => /^[+-]?\d+$/.test(values[at]));
    const keys = full.map((at) => valueOf(values[at]) + (isWhole ? 0 : -0));
    const order = [...positionsOf(keys, descending).map((at) => full[at]), ...lines.keys().filter(isEmpty)];
    same(`seed ${seed}, descending: ${descending}`, await sorted(given, 1, { descending }), header + order.map((at) => lines[at]).join(""));
  }
  return 2 * lines.length;
}

async function measures() {
  const { gpu, name, isSoftware } = await device();
  check(`the test's adapter is in software: ${name}`, isSoftware);
  check(`a device: ${name}`, gpu !== undefined);
  gpu.onuncapturederror = (event) => log(`FAILED: ${event.error.message}`);
  for (const setup of [{ type: "u32", pairs: false, sizes: [300] }, { type: "f64", pairs: true, sizes: [257] }]) {
    const found = [];
    // Once as on a GPU whose clock would fall, and once as on one in software.
    for await (const it of bench(setup, { gpu, isSoftware: setup.pairs }, new AbortController().signal)) found.push(it);
    const names = found.filter((it) => it.ms > 0).map((it) => it.contender);
    same(`all are measured: ${JSON.stringify(found)}`, names, contenders(setup, gpu).map(({ name }) => name));
  }
  const stop = new AbortController();
  let count = 0;
  for await (const _ of bench({ type: "i32", pairs: false, sizes: [256, 512] }, {}, stop.signal)) {
    count++;
    stop.abort();
  }
  same("it stops", count, 1);
  same("without a GPU", contenders({ type: "u32", pairs: false }, undefined).map(({ name }) => name), ["engine's sort", "gpusort, CPU"]);
  for (const type of ["u32", "i64", "f32"]) {
    const keys = randomKeys(type, 100);
    keys[7] = keys[3];
    const expected = keys.slice().sort();
    const positions = Uint32Array.from(positionsOf(Array.from(keys), false));
    check("what is right", !wrong(keys, expected, expected.slice(), false) && !wrong(keys, expected, positions, true));
    const [other, unstable] = [expected.slice(), positions.slice()];
    [other[4], other[90]] = [other[90], other[4]];
    const at = positions.indexOf(3);
    [unstable[at], unstable[at + 1]] = [7, 3];
    check("the verification notices what is wrong", wrong(keys, expected, other, false) && wrong(keys, expected, unstable, true));
    unstable[at + 1] = 7;
    check("and a position that is there twice", wrong(keys, expected, unstable, true));
  }
  let isTold = false;
  onLost(() => (isTold = true));
  gpu.destroy();
  await gpu.lost;
  await new Promise((resolve) => setTimeout(resolve));
  const after = await device();
  check(`a lost device is told: ${after.name}`, isTold && after.gpu === undefined && after.name.includes("lost") && after.name.includes("reload"));
  return `measures on ${name}`;
}

/** The page in a frame of its own, at this address. */
async function page(hash, until) {
  const frame = document.createElement("iframe");
  [frame.src, frame.width, frame.height] = [`../dist/index.html${hash}`, 900, 900];
  document.body.append(frame);
  await new Promise((resolve) => (frame.onload = resolve));
  const own = frame.contentDocument;
  frame.contentWindow.addEventListener("error", (event) => log(`FAILED: ${event.message}`));
  for (let tries = 0; !until(own); tries++) {
    check(`${hash} shows nothing`, tries < 400);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return { own, window: frame.contentWindow, text: (id) => own.getElementById(id).textContent };
}

async function pages() {
  const { own, window, text } = await page("#view=see&sort=bitonic-fused&numbers=3,1,2,9,8,7,5,4&step=2", (own) => own.querySelector(".element"));
  const now = () => Array.from(own.querySelectorAll(".now text"), (it) => it.textContent).join();
  const press = (key, options = {}) => own.body.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true, ...options }));
  same("the title", text("title"), "bitonic fused, 8 u32");
  check(`the step of the address: ${text("caption")}`, /^Pass 1 of 3, fused: sort tiles of 4.* step 2 of 3, mirror 4/.test(text("caption")));
  press("Home");
  same("Home", [now(), text("caption"), own.getElementById("first").disabled], ["3,1,2,9,8,7,5,4", "The input", true]);
  press("ArrowRight");
  same("a step", now(), "1,3,2,9,7,8,4,5");
  press("ArrowRight", { shiftKey: true });
  check(`a pass: ${text("caption")}`, text("caption").startsWith("Pass 1 of 3") && text("caption").includes("step 3"));
  check("the address follows", window.location.hash.includes("step=3"));
  press("End");
  same("End", now(), "1,2,3,4,5,7,8,9");
  check("rows of passes", own.querySelectorAll("#passes tbody tr").length === 4);
  const field = own.getElementById("numbers");
  field.value = "5, x";
  field.dispatchEvent(new window.Event("input"));
  check("an error", text("numbers-error").includes("'x'"));
  field.value = "5, -4";
  field.dispatchEvent(new window.Event("input"));
  for (let tries = 0; now() !== "-4,5" && tries < 100; tries++) await new Promise((resolve) => setTimeout(resolve, 20));
  same("own numbers", [now(), text("numbers-error"), own.getElementById("preset").value], ["-4,5", "", "own numbers"]);
  for (const { algorithm, variant } of methods) {
    const { text } = await page(`#sort=${algorithm}-${variant}&n=21`, (own) => own.querySelector(".element"));
    same("the title", text("title"), `${algorithm} ${variant}, 21 u32`);
  }
  for (const hash of ["#view=toString&sort=__proto__&n=-5&tile=9e9&preset=constructor&seed=x&step=1e400", "#%E0%A4%A&=&&view", "#numbers=1,2&step=-3"]) {
    const { text } = await page(hash, (own) => own.querySelector(".element"));
    check(`${hash}: ${text("title")}`, text("title").startsWith("bitonic fused, "));
  }
  const wrong = await page("#numbers=1,%3Cb%3E", (own) => own.getElementById("numbers-error").textContent !== "");
  check("what is wrong hides the controls", wrong.own.getElementById("stage").hidden && wrong.text("numbers-error").includes("'<b>'"));
  const tried = await page("#view=try", (own) => !own.getElementById("result").hidden);
  same("the example", Array.from(tried.own.querySelectorAll("#rows tbody tr td:nth-child(2)"), (it) => it.textContent).join(""), "16378254");
  // What the page reports of a text or a file.
  const report = async (id, set, event) => {
    set(tried.own.getElementById(id));
    tried.own.getElementById("try-report").textContent = "";
    tried.own.getElementById(id).dispatchEvent(new tried.window.Event(event));
    for (let tries = 0; !/^Sorted /.test(tried.text("try-report")) && tries < 400; tries++) await new Promise((resolve) => setTimeout(resolve, 25));
    return `${tried.text("try-report")}${tried.text("try-error")}`.replace(/ in .*/, "");
  };
  const ofText = (text) => report("text", (field) => (field.value = text), "input");
  const ofFile = (name) => report("file", (field) => {
    const files = new tried.window.DataTransfer();
    files.items.add(new tried.window.File([], name));
    field.files = files.files;
  }, "change");
  same("one row", await ofText("a,b\n1,2\n"), "Sorted 1 row by 'a' (u32) on the CPU");
  same("one number", await ofText("7"), "Sorted 1 number (u32) on the CPU");
  same("lines", await ofText("b\na\n"), "Sorted 2 lines (text) on the CPU");
  same("an adapter in software is not automatic", await ofText("7\n".repeat(PAYS.argsort)), "Sorted 131,072 numbers (u32) on the CPU");
  same("an empty file", [await ofFile("none.csv"), tried.text("download")], ["Sorted 0 rows (text) on the CPU", "Download sorted.csv (0 B)"]);
  same("an empty text file", [await ofFile("none.txt"), tried.text("download")], ["Sorted 0 lines (text) on the CPU", "Download sorted.txt (0 B)"]);
  const measure = await page("#view=measure", (own) => own.querySelector("#times th"));
  check("sizes", measure.own.querySelectorAll("#times tbody tr").length === 6);
  for (const document of [own, tried.own, measure.own]) {
    const fields = [...document.querySelectorAll("input, select, textarea")];
    check("fields have labels", fields.every((it) => it.labels.length > 0 || it.ariaLabel));
  }
  return "pages: steps by keys, own numbers, every sort, the example";
}

try {
  const begin = performance.now();
  const seconds = () => `${((performance.now() - begin) / 1000).toFixed(0)} s`;
  same("the oracle", positionsOf([3, NaN, -0, 0, 1], true), [0, 4, 3, 2, 1]);
  for (const part of [plans, texts, pages, measures]) {
    log(`${await part()}, after ${seconds()}`);
  }
} catch (error) {
  log(`FAILED: ${error.message}`);
}
log("done");
window.close();
