//! `gpusort trace` as a person or a script runs it.

use std::fs;

use gpusort_planner::plan::{Algorithm, Variant};
use serde_json::Value;

use crate::device;
use crate::support::command::{BINARY, refused, run, sorted, stderr};
use crate::support::files::{Folder, npy_of};
use crate::support::tier::count;
use crate::support::xml;
use crate::trace::all;

/// The passes as JSON.
fn json(more: &[&str]) -> Value {
    serde_json::from_str(&sorted(&[&["trace", "--json"], more].concat(), "")).unwrap()
}

/// A picture.
fn svg(more: &[&str]) -> String {
    let picture = sorted(&[&["trace", "--svg", "-"], more].concat(), "");
    xml::check(&picture).unwrap_or_else(|error| panic!("{more:?}: {error}"));
    xml::check_colours(&picture).unwrap_or_else(|error| panic!("{more:?}: {error}"));
    picture
}

#[test]
fn passes_are_those_that_a_sort_on_the_device_makes() {
    let folder = Folder::new();
    for n in ["2", "16", "1000", "5000"] {
        let file = folder.arg(&format!("{n}.u32"));
        sorted(&["gen", "-c", n, "--seed", "9", "-o", &file], "");
        for (algorithm, variant) in all() {
            let method = ["-d", &device::name(), "-a", algorithm.name(), "--variant", variant.name()];
            if (variant, n) == (Variant::Naive, "5000") {
                continue;
            }
            let ran: Value = {
                let output =
                    run(&[&["sort", "-q", "--json", &file, "-o", "/dev/null"], &method[..]].concat(), "");
                serde_json::from_slice(&output.stdout).unwrap()
            };
            let trace = json(&[&method[..], &[&file]].concat());
            assert_eq!(trace["n"].to_string(), n);
            for name in ["algo", "variant", "type", "dispatches", "bytes_moved"] {
                assert_eq!(trace[name], ran[name], "{algorithm} {variant} {n}: {name}");
            }
            let passes = trace["passes"].as_array().unwrap();
            assert_eq!(passes.len() as u64, trace["dispatches"].as_u64().unwrap());
            assert_eq!(trace["device"], ran["device"]);
            // Each pass is timed, and they are what the sort is.
            let times: Vec<f64> = passes.iter().map(|pass| pass["ms"].as_f64().unwrap()).collect();
            let timestamp = trace["ms"]["timestamp"].as_f64().unwrap();
            assert!(times.iter().all(|&ms| ms >= 0.0) && timestamp >= 0.0);
            assert!(times.iter().sum::<f64>() + timestamp > 0.0);
            assert!((times.iter().sum::<f64>() - trace["ms"]["passes"].as_f64().unwrap()).abs() < 1e-6);
            assert!(trace["ms"]["sort"].as_f64().unwrap() > 0.0);
            let copy = trace["copy_bytes_per_s"].as_f64().unwrap();
            for pass in passes.iter().filter(|pass| pass["ms"].as_f64().unwrap() > 0.0) {
                let part = pass["bytes_moved"].as_f64().unwrap() / pass["ms"].as_f64().unwrap() * 1e3 / copy;
                let told = pass["part_of_copy"].as_f64().unwrap();
                assert!((told - part).abs() <= 1e-6 * part, "{told} {part}");
            }
        }
    }
}

#[test]
fn json_has_all_that_is_done_to_few_elements() {
    let trace = json(&["-n", "8", "-t", "u8", "--variant", "naive"]);
    let numbers = |value: &Value| -> Vec<u32> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().parse().unwrap()).collect()
    };
    let mut elements = numbers(&trace["input"]);
    let mut swaps = 0;
    for pass in trace["passes"].as_array().unwrap() {
        for done in pass["does"].as_array().unwrap() {
            let pairs = |name: &str| -> Vec<[usize; 2]> {
                serde_json::from_value(done["compares"][name].clone()).unwrap()
            };
            let swapped = pairs("swapped");
            for [low, high] in pairs("pairs") {
                assert_eq!(elements[high] < elements[low], swapped.contains(&[low, high]));
                if elements[high] < elements[low] {
                    elements.swap(low, high);
                    swaps += 1;
                }
            }
        }
        assert_eq!(numbers(&pass["after"]), elements);
    }
    assert!(elements.is_sorted());
    assert_eq!(trace["swaps"], swaps);
    assert_eq!((&trace["comparisons"], &trace["steps"]), (&Value::from(24), &Value::from(6)));
    // Nothing of the elements where there are many.
    let trace = json(&["-n", "65"]);
    assert!(trace["input"].is_null() && trace["passes"][0]["does"].is_null());
    // A line for each variant.
    let lines = sorted(&["trace", "--json", "--compare", "naive,onesweep,block"], "");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = lines.iter().map(|line| (line["algo"].as_str(), line["variant"].as_str())).collect();
    let named = [("bitonic", "naive"), ("radix", "onesweep"), ("odd-even", "block")];
    assert_eq!(names, named.map(|(algorithm, variant)| (Some(algorithm), Some(variant))));
}

/// The data of the paths of a class.
fn paths<'a>(picture: &'a str, class: &str) -> Vec<&'a str> {
    let begins = format!("<path class=\"{class}\" d=\"");
    picture.split(&begins).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The bars of a class: how far to the right each is, and the heights of its ends.
fn bars(picture: &str, class: &str) -> Vec<[f64; 3]> {
    let mut bars = Vec::new();
    for path in paths(picture, class) {
        let (mut x, mut y) = (0.0, 0.0);
        for (command, places) in commands(path) {
            match (command, &places[..]) {
                ('M', [to_x, to_y]) => (x, y) = (*to_x, *to_y),
                ('m', [by_x, by_y]) => (x, y) = (x + by_x, y + by_y),
                ('V', [to]) => {
                    bars.push([x, y, *to]);
                    y = *to;
                }
                ('v', [by]) => {
                    bars.push([x, y, y + by]);
                    y += by;
                }
                other => panic!("{other:?} in a path of bars"),
            }
        }
    }
    bars
}

/// The commands of a path, each with its numbers, which spaces or signs part.
fn commands(path: &str) -> Vec<(char, Vec<f64>)> {
    let mut commands: Vec<(char, String)> = Vec::new();
    for c in path.replace('-', " -").chars() {
        match commands.last_mut() {
            Some((_, places)) if !c.is_ascii_alphabetic() => places.push(c),
            _ => commands.push((c, String::new())),
        }
    }
    let numbers = |places: String| places.split_whitespace().map(|place| place.parse().unwrap()).collect();
    commands.into_iter().map(|(command, places)| (command, numbers(places))).collect()
}

/// The numbers beside the wires, of one end, and where they are.
fn ends(picture: &str, class: &str) -> Vec<(f64, u32)> {
    let begins = format!("<g class=\"{class}\" transform=");
    let texts = picture
        .split(&begins)
        .skip(1)
        .flat_map(|group| group.split("</g>").next().unwrap().split("<text y=\"").skip(1));
    let text = |rest: &str| {
        let (y, rest) = rest.split_once("\">").unwrap();
        (y.parse().unwrap(), rest.split('<').next().unwrap().parse().unwrap())
    };
    texts.map(text).collect()
}

/// Applies the bars of a picture from left to right to the numbers on the left; whether that gives
/// those on the right, and the dark bars are those that swap.
fn is_redrawn(picture: &str) -> bool {
    let (input, output) = (ends(picture, "v r"), ends(picture, "v"));
    let wire = |y: f64| {
        let distance = |(_, (place, _)): &(usize, &(f64, u32))| (place - y).abs();
        input.iter().enumerate().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap().0
    };
    let mut all: Vec<([f64; 3], bool)> = bars(picture, "keep").into_iter().map(|bar| (bar, false)).collect();
    all.extend(bars(picture, "swap").into_iter().map(|bar| (bar, true)));
    all.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
    let mut numbers: Vec<u32> = input.iter().map(|(_, number)| *number).collect();
    for ([_, low, high], swapped) in all {
        let (low, high) = (wire(low), wire(high));
        if (numbers[high] < numbers[low]) != swapped {
            return false;
        }
        if swapped {
            numbers.swap(low, high);
        }
    }
    numbers.is_sorted() && numbers == output.iter().map(|(_, number)| *number).collect::<Vec<_>>()
}

#[test]
fn the_bars_of_a_picture_make_its_left_its_right() {
    for n in ["2", "8", "15", "16", "64"] {
        for variant in ["naive", "local-global", "fused"] {
            for tile in ["4", "8"] {
                let picture = svg(&["-n", n, "-t", "u8", "--variant", variant, "--tile", tile]);
                assert!(is_redrawn(&picture), "{n} {variant} {tile}");
            }
        }
        for variant in ["naive", "block"] {
            let method = ["-a", "odd-even", "--variant", variant, "--tile", "8"];
            assert!(is_redrawn(&svg(&[&["-n", n, "-t", "u8"], &method[..]].concat())));
        }
    }
    // The check must be able to fail: a bar too few, and a wrong number.
    let picture = svg(&["-n", "8", "-t", "u8", "--variant", "naive"]);
    let swaps = paths(&picture, "swap")[0];
    let last = swaps.rfind(['M', 'm']).unwrap();
    assert!(!is_redrawn(&picture.replace(swaps, &swaps[..last])));
    assert!(!is_redrawn(&picture.replacen(">47<", ">48<", 1)));
}

/// The picture but for its style sheet.
fn without_style(picture: &str) -> String {
    let (before, rest) = picture.split_once("<style>").unwrap();
    before.to_owned() + rest.split_once("</style>\n").unwrap().1
}

#[test]
fn renderers_without_style_sheets_have_all_colours_and_browsers_dark_ones() {
    for more in [&["--tile", "4"][..], &["-a", "radix"], &["--network"], &["-n", "1000"]] {
        let of = |scheme: &[&str]| svg(&[more, scheme].concat());
        let (auto, light, dark) = (of(&[]), of(&["--light"]), of(&["--dark"]));
        // Without a choice of the browser there is no style sheet at all.
        assert_eq!(without_style(&auto), light, "{more:?}");
        for (fixed, page, ink) in [(&light, "#ffffff", "#14181d"), (&dark, "#0d1117", "#f0f3f6")] {
            assert!(!fixed.contains("<style") && !fixed.contains("@media"), "{more:?}");
            assert!(fixed.contains(&format!("rx=\"6\" fill=\"{page}\"")), "{more:?}");
            assert!(fixed.contains(&format!("desc\" fill=\"{ink}\"")), "{more:?}");
        }
        assert!(auto.contains("@media(prefers-color-scheme:dark){.ink{fill:#f0f3f6}"));
        assert!(auto.contains(".page{fill:#0d1117}"));
        for picture in [auto, light, dark] {
            assert!(!picture.contains("var(") && !picture.contains("marker"), "{more:?}");
        }
    }
    // What moves is hidden by attributes: the whole picture shows where nothing plays.
    let still = without_style(&svg(&["--tile", "4", "--light", "--animate"]));
    assert!(
        still.contains("class=\"e x1\" opacity=\"0\"") && still.contains("fill=\"#ffffff\" opacity=\"0\"/>")
    );
    for wrong in [
        "<svg><path d=\"\"/></svg>",
        "<svg fill=\"#000000\"><g fill=\"none\"><path d=\"\"/></g></svg>",
        "<svg fill=\"var(--ink)\"><text>1</text></svg>",
        "<svg fill=\"#000000\"><path stroke=\"red\"/></svg>",
    ] {
        assert!(xml::check_colours(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_network_alone_has_wires_comparators_and_boxes() {
    for n in ["2", "8", "15", "16", "64"] {
        for method in [&["-a", "bitonic"][..], &["-a", "odd-even"]] {
            let picture = svg(&[&["--network", "-n", n, "-t", "u8"], method].concat());
            assert!(is_redrawn(&picture), "{n} {method:?}");
            assert!(!picture.contains("moved") && !picture.contains("class=\"q\""), "{picture}");
        }
    }
    // Elements that nobody named are left out, and comparators alike.
    let bare = svg(&["--network"]);
    assert!(!bare.contains("<text") && bars(&bare, "keep").is_empty());
    assert_eq!(bars(&bare, "swap").len(), 80);
    // A box for each block of each stage, and for each block of each step.
    let boxes = |class| paths(&bare, class).iter().map(|path| path.matches('z').count()).sum::<usize>();
    assert_eq!((boxes("pass"), boxes("t1"), boxes("t0")), (8 + 4 + 2 + 1, 15, 8 + 4 + 8 + 2 + 4 + 8));
    assert!(svg(&["--network", "--animate"]).contains("@keyframes x1"));
    // However it is cut into passes, it is the same network; others have names.
    for variant in ["naive", "local-global", "fused"] {
        assert_eq!(svg(&["--network", "--variant", variant]), bare);
    }
    let several = svg(&["--network", "--compare", "naive,fused,transpose", "-n", "8"]);
    assert_eq!(several.matches(" network, 8 wires</text>").count(), 2);
    assert!(several.contains(">classic bitonic network, 8 wires</text>") && several.contains("class=\"up\""));
    // On a terminal: 8 wires, below the numbers of stages or phases.
    let text = sorted(&["trace", "--network", "-n", "8"], "");
    assert_eq!(text.lines().count(), 9, "{text}");
    assert!(text.starts_with("  1  2     3\n ─●──●──●──●────●──●─\n"), "{text}");
    let text = sorted(&["trace", "--network", "-"], "3 1 2");
    assert_eq!(text, "   1  2\n3 ─●────○─ 1\n1 ─●──●─○─ 2\n2 ────●─── 3\n");
}

#[test]
fn odd_even_sort_of_few_elements_is_a_brick() {
    let trace = json(&["-a", "odd-even", "-n", "8"]);
    assert_eq!((&trace["variant"], &trace["dispatches"]), (&Value::from("naive"), &Value::from(8)));
    let picture = svg(&["-a", "odd-even", "-n", "8", "--network"]);
    let mut columns: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut all = bars(&picture, "swap");
    all.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for [x, low, high] in all {
        assert!((high - low - 20.0).abs() < 0.2, "neighbours: {low} {high}");
        match columns.last_mut().filter(|(last, _)| last.total_cmp(&x).is_eq()) {
            Some((_, column)) => column.push(low),
            None => columns.push((x, vec![low])),
        }
    }
    let begins: Vec<Vec<f64>> = columns
        .into_iter()
        .map(|(_, column)| column.iter().map(|y| ((y - 12.0) / 20.0).round()).collect())
        .collect();
    let (even, odd) = (vec![0.0, 2.0, 4.0, 6.0], vec![1.0, 3.0, 5.0]);
    let brick: Vec<&Vec<f64>> = [&even, &odd].repeat(4);
    assert_eq!(begins.iter().collect::<Vec<_>>(), brick);
    // Blocks where there are tiles, or more than a tile.
    for more in [&["-n", "8", "--tile", "4"][..], &["-n", "65"], &["-n", "8", "-d", &device::name()]] {
        assert_eq!(json(&[&["-a", "odd-even"], more].concat())["variant"], "block", "{more:?}");
    }
}

#[test]
fn few_elements_are_small_unless_their_kind_is_named() {
    let input = |more: &[&str]| -> Vec<u64> {
        let texts: Vec<String> = serde_json::from_value(json(more)["input"].clone()).unwrap();
        texts.iter().map(|text| text.parse().unwrap()).collect()
    };
    for n in ["1", "16", "64"] {
        let mut numbers = input(&["-n", n]);
        numbers.sort_unstable();
        numbers.dedup();
        assert!(numbers.len().to_string() == n && numbers.iter().all(|&number| number < 100), "{numbers:?}");
    }
    let made = sorted(&["gen", "-c", "16"], "");
    let made: Vec<u64> = made.lines().map(|line| line.parse().unwrap()).collect();
    for named in [["--seed", "1"], ["--dist", "uniform"], ["--type", "u32"]] {
        assert_eq!(input(&named), made, "{named:?}");
    }
}

#[test]
fn a_digit_that_is_the_same_in_all_keys_keeps_the_order() {
    let text = sorted(&["trace", "-a", "radix", "-t", "u8"], "");
    assert!(text.contains("\n3 digits are the same in all keys: their passes keep the order.\n"), "{text}");
    assert!(!sorted(&["trace", "-a", "radix", "-t", "u32"], "").contains("the same in all keys"));
    // One pass of four moves elements.
    let moving = |element: &str| {
        let passes = json(&["-a", "radix", "-t", element])["passes"].as_array().unwrap().clone();
        passes.iter().filter(|pass| pass["does"].to_string().contains("moves")).count()
    };
    assert_eq!((moving("u8"), moving("u32")), (1, 4));
}

#[test]
fn pictures_are_well_formed_and_small() {
    for (algorithm, variant) in all() {
        for n in ["0", "1", "2", "3", "63", "64", "65", "4096"] {
            for more in [&[][..], &["--tile", "8"], &["--animate"]] {
                let method = ["-n", n, "-a", algorithm.name(), "--variant", variant.name()];
                let picture = svg(&[&method[..], &["-t", "u8"], more].concat());
                assert!(!picture.contains("<script") && !picture.contains("href"), "it needs nothing else");
                assert!(picture.contains("prefers-color-scheme:dark"));
                // Of nothing, nothing moves.
                assert_eq!(picture.contains("@keyframes"), more == ["--animate"] && n != "0");
                assert_eq!(picture.contains("prefers-reduced-motion:reduce"), more == ["--animate"]);
                assert!(
                    picture.len() < 200_000,
                    "{algorithm} {variant} {n} {more:?}: {} bytes",
                    picture.len()
                );
            }
        }
    }
    // Several next to each other are little larger.
    for more in [&[][..], &["--tile", "4"], &["--tile", "8"]] {
        for animated in [&[][..], &["--animate"]] {
            let method = ["-n", "64", "--compare", "naive,local-global,fused"];
            let picture = svg(&[&method[..], more, animated].concat());
            assert_eq!(picture.matches("64 u32</text>").count(), 3);
            let most = if animated.is_empty() { 160_000 } else { 240_000 };
            assert!(picture.len() < most, "{more:?} {animated:?}: {} bytes", picture.len());
        }
    }
    // The check of the form must be able to fail.
    for wrong in
        ["<a><b></a></b>", "<a b=c/>", "<a>&</a>", "<a", "<a/><a/>", "<a b=\"1\" b=\"2\"/>", "<a></a"]
    {
        assert!(xml::check(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_picture_of_a_million_is_small_too() {
    for args in [&["-a", "radix"][..], &["--variant", "fused"]] {
        let picture = svg(&[&["-n", "1M"], args].concat());
        assert!(picture.len() < 200_000 && picture.contains("1,048,576 u32"), "{} bytes", picture.len());
    }
    let message = refused(&["trace", "-n", "1048577", "--svg", "-"], "");
    assert!(message.contains("at most 1,048,576") && message.contains("leave --svg out"), "{message}");
}

#[test]
fn text_is_as_wide_as_it_may_be_and_plain_in_pipes() {
    let shown = |more: &[&str]| {
        let text = sorted(&[&["trace"], more].concat(), "");
        assert!(!text.contains('\x1b'), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{more:?}: {widest}\n{text}");
        text
    };
    for (algorithm, variant) in all() {
        let method = ["-a", algorithm.name(), "--variant", variant.name()];
        let sizes = ["0", "64", "1M", "256M", "1", "2", "16", "63", "65"];
        for &n in &sizes[..count(9, 4)] {
            if algorithm == Algorithm::OddEven && n == "256M" {
                continue;
            }
            let all: [&[&str]; 4] =
                [&[], &["--with-positions"], &["-t", "f64", "--with-positions"], &["--top", "9"]];
            // A binding has no room for as many of 64 bits.
            let kinds = if n == "256M" { &all[..1] } else { &all };
            for &more in kinds {
                let text = shown(&[&["-n", n], &method[..], more].concat());
                let title = format!("{algorithm} {variant}, ");
                assert!(text.starts_with(&title), "{text}");
                assert!(text.lines().count() < 700, "{algorithm} {variant} {n} {more:?}");
            }
        }
        shown(&[&["-n", "3000", "-d", &device::name(), "--with-positions"], &method[..]].concat());
    }
    shown(&["--compare", "fused,naive,transpose,block,onesweep", "-n", "64"]);
    shown(&["--network", "-n", "64", "-t", "f64", "--compare", "naive,transpose"]);
    assert!(shown(&["-n", "1"]).contains("Fewer than two elements need no sort."));
    // Long lists of alike passes are short.
    let text = sorted(&["trace", "-n", "1000", "-a", "odd-even", "--variant", "naive"], "");
    assert!(text.contains("1, 3 … 999") && text.contains("2, 4 … 1,000"), "{text}");
}

#[test]
fn elements_come_from_files_as_sort_reads_them() {
    let folder = Folder::new();
    let text = folder.write("x.txt", "30 -10\n 20.5\n");
    let shown = |args: &[&str], stdin: &str| -> Vec<String> {
        let trace = sorted(&[&["trace", "--json"], args].concat(), stdin);
        let trace: Value = serde_json::from_str(&trace).unwrap();
        serde_json::from_value(trace["input"].clone()).unwrap()
    };
    assert_eq!(shown(&[&text], ""), ["30", "-10", "20.5"]);
    assert_eq!(shown(&[&text, "-n", "2"], ""), ["30", "-10"]);
    for named in [&["-"][..], &[], &["-a", "radix", "-t", "u32"], &["-n", "3"]] {
        let input = if named.is_empty() { "3 1\n2" } else { "3 1 2 9" };
        assert_eq!(shown(named, input)[..3], ["3", "1", "2"], "{named:?}");
    }
    assert_eq!(shown(&["--seed", "7", "-n", "5"], "3 1 2"), shown(&["--seed", "7", "-n", "5"], ""));
    assert_eq!(shown(&[], "").len(), 16);
    // More than is looked at before it is read.
    let many: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    assert!(sorted(&["trace"], &many).contains(", 100,000 u32"));
    let binary = folder.write("x.i64", [5_i64.to_le_bytes(), (-5_i64).to_le_bytes()].concat());
    assert_eq!(shown(&[&binary], ""), ["5", "-5"]);
    let words = [7_u32, 4].map(u32::to_le_bytes).concat();
    assert_eq!(shown(&["-f", "bin", "-t", "u32", &folder.write("x", &words)], ""), ["7", "4"]);
    assert_eq!(shown(&[&folder.write("x.npy", npy_of(b"<u4", "(2,)", &words))], ""), ["7", "4"]);
    // Made as by gen.
    let made = sorted(&["gen", "-c", "5", "-t", "i16", "--seed", "7", "--dist", "zipf"], "");
    let asked = ["-n", "5", "-t", "i16", "--seed", "7", "--dist", "zipf"];
    assert_eq!(shown(&asked, ""), made.lines().collect::<Vec<_>>());
    let table = folder.write("x.csv", "a,b\n1,2\n");
    for (args, said) in [
        (&["trace", &text, "-n", "4"][..], "x.txt: has 3 elements, fewer than -n 4"),
        (&["trace", &table], "x.csv: a table"),
        (&["trace", &text, "--dist", "zipf"], "'[FILE]...' cannot be used with '--dist <DIST>'"),
        (&["trace", &folder.arg("gone")], "gone: cannot open"),
        (&["trace", &folder.write("bad.txt", "1 x\n")], "bad.txt:1:3: 'x' is not a number"),
        (&["trace", &folder.write("comment.txt", "# x\n1\n")], "comment.txt:1:1: '#' is not a number"),
    ] {
        let message = refused(args, "");
        assert!(message.contains(said), "{args:?}: {message}");
    }
    // No option of sort that trace lacks.
    for (args, stdin, said) in [
        (&["trace", "-"][..], "1 x\n", "standard input:1:3: 'x' is not a number\n"),
        (&["trace", "-"], "1 1,000\n", "standard input:1:3: '1,000' is not a number\n"),
        (
            &["trace", "-t", "u32"],
            "1.5\n",
            "standard input:1:1: '1.5' is not a number that u32 holds, but --type is u32\n",
        ),
        (&["trace"], "1 18446744073709551617\n", "; use --type f64 to round\n"),
    ] {
        let message = refused(args, stdin);
        assert!(message.ends_with(said), "{args:?}: {message}");
    }
}

#[test]
fn brick_is_a_name_of_odd_even() {
    for options in [&[][..], &["-n", "8", "--json"]] {
        let [brick, own] =
            ["brick", "odd-even"].map(|name| sorted(&[&["trace", "-a", name], options].concat(), ""));
        assert_eq!(brick, own);
    }
    assert_eq!(sorted(&["sort", "-q", "-a", "brick"], "2\n1\n"), "1\n2\n");
    assert!(refused(&["trace", "-a", "bric"], "").contains("[possible values: bitonic, odd-even, radix]"));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let folder = Folder::new();
    let gone = folder.arg("no/x.svg");
    for (args, said) in [
        (&["-a", "radix", "--variant", "fused"][..], "radix has no variant 'fused'"),
        (&["--animate"], "required arguments were not provided:\n  --svg <FILE>"),
        (&["--light"], "--svg <FILE>"),
        (&["--dark"], "--svg <FILE>"),
        (&["--light", "--dark", "--svg", "-"], "cannot be used with"),
        (&["--network", "-a", "radix"], "use -a bitonic or -a odd-even"),
        (&["--network", "--variant", "block"], "use --variant naive"),
        (&["--network", "-n", "65"], "--network draws 2 to 64 elements, not 65; use -n"),
        (&["--network", "-n", "1"], "--network draws 2 to 64 elements, not 1; use -n"),
        (&["--network", "--tile", "4"], "cannot be used with"),
        (&["--network", "--json"], "cannot be used with"),
        (&["--json", "--svg", "-"], "both go to standard output"),
        (&["--svg", &gone], "no does not exist; create it first"),
        (&["--variant", "naive", "--compare", "fused"], "cannot be used with"),
        (&["--tile", "6"], "'6' for '--tile <SIZE>': use a power of two, 2 or more"),
        (&["--tile", "1"], "'1' for '--tile <SIZE>': use a power of two, 2 or more"),
        (&["--tile", "1M"], "choose another --tile"),
        (&["-a", "radix", "--tile", "4"], "tiles of 8 elements or more"),
        (&["--tile", "8", "--top", "3"], "cannot be used with"),
        (&["-n", "2G"], "sort splits more elements into shares"),
        (&["-n", "1.5M"], "'1.5M' for '--count <SIZE>': expected a number such as 1000"),
        (&["-n", "1M", "-a", "odd-even", "--variant", "naive", "--json"], "1,048,576 passes"),
        (&["-d", "cpu"], "no passes to time"),
        (&["-d", "auto"], "--device auto: use gpu"),
        (&["-d", "no such device"], "no GPU has 'no such device'"),
        (&["--compare", "quick"], "possible values"),
    ] {
        let message = refused(&[&["trace"], args].concat(), "");
        assert!(message.contains(said), "{args:?}: {message}");
    }
    assert!(folder.names().is_empty());
    // An older picture is replaced.
    let picture = folder.write("x.svg", "old");
    sorted(&["trace", "--network", "--svg", &picture], "");
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg"));
}

/// The page's pictures and tables are what the command draws and lists now.
#[test]
#[cfg(unix)]
fn the_page_about_the_sorts_is_up_to_date() {
    let root = env!("CARGO_MANIFEST_DIR");
    let draw = |more: &[&str]| {
        std::process::Command::new("python3")
            .args(["-B", "docs/sorts/draw.py"])
            .args(more)
            .current_dir(root)
            .env("GPUSORT", BINARY)
            .output()
            .unwrap()
    };
    let done = draw(&["--check"]);
    assert!(done.status.success(), "{}{}", String::from_utf8_lossy(&done.stdout), stderr(&done));
    // The check must be able to fail.
    let done = draw(&["--check", "--self-test"]);
    assert!(done.status.success(), "{}{}", String::from_utf8_lossy(&done.stdout), stderr(&done));
}
