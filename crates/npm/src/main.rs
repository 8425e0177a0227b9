//! Writes `npm/src/generated/`: what the package for npm knows of kernels and plans, from the planner
//! itself.
//!
//! ```text
//! cargo run -p gpusort-npm    writes the files anew
//! cargo test -p gpusort-npm   fails if the files are not what the program would write
//! ```
//!
//! One file is for one type of keys on one class of devices, by their subgroups: a page loads those
//! that it needs. WGSL is written without comments and indentation, as a list of declarations that
//! several kernels share. A plan for any number of elements is written as what each of its dispatches
//! depends on, such as the number of tiles; [`sort`] compares it with the planner's own numbers.

mod count;
mod sort;
mod text;
mod traces;

use std::path::{Path, PathBuf};
use std::{fs, io};

use gpusort_order::{Algorithm, ElementType, Limits, Subgroups};
use gpusort_planner::plan::{
    CallerPlans, KeyTransform, copy_text, default_variant, prepare_rows_text, prepare_text,
};
use serde_json::json;

use self::sort::Sort;
use self::text::{Items, short};

/// Devices whose subgroups have these lanes; a device belongs to the first class that fits. Workgroups are
/// known to start in order, and to go on once they have started, on those of NVIDIA.
struct Class {
    name: &'static str,
    lanes: Option<(u32, u32)>,
    vendor: Option<&'static str>,
}

const CLASSES: [Class; 5] = [
    Class { name: "nvidia", lanes: Some((32, 32)), vendor: Some("nvidia") },
    Class { name: "32", lanes: Some((32, 32)), vendor: None },
    Class { name: "64", lanes: Some((32, 64)), vendor: None },
    Class { name: "any", lanes: Some((4, 128)), vendor: None },
    Class { name: "none", lanes: None, vendor: None },
];

impl Class {
    /// The limits of WebGPU's defaults, and bindings of any size: a device refuses larger bindings than its
    /// own.
    fn limits(&self) -> Limits {
        let subgroups = self.lanes.map(|(smallest, largest)| Subgroups { smallest, largest, barrier: false });
        let fifo_dispatch = self.vendor.is_some();
        Limits { subgroups, fifo_dispatch, binding_bytes: u64::MAX, buffer_bytes: u64::MAX, ..Limits::WEBGPU }
    }
}

fn family(element: ElementType, class: &Class) -> String {
    let limits = class.limits();
    let mut items = Items::default();
    let mut sorts = Vec::new();
    for (descending, payload) in [(false, false), (false, true), (true, false), (true, true)] {
        let transform = KeyTransform { element, descending, begin: 0, bits: 8 * element.bytes() as u32 };
        // Not by leading digits, which pay where elements are very many.
        let variant = default_variant(Algorithm::Radix, &limits);
        let callers = CallerPlans::new(transform, payload, Some(variant), &limits)
            .expect("every device has room for a tile");
        sorts.push(Sort::new(&callers, &mut items).json());
    }
    let family = json!({ "items": items.0, "sorts": sorts });
    // A text is opaque to compilers of TypeScript, and engines read it faster.
    let text = family.to_string();
    assert!(!text.contains(['`', '$']), "texts are written between backticks");
    module("Family", &format!("export const family: Family = JSON.parse(String.raw`{text}`);\n"))
}

/// A module of TypeScript that uses a type of `plan.ts`.
fn module(used: &str, body: &str) -> String {
    format!("// Written by crates/npm: do not edit.\nimport type {{ {used} }} from \"../plan.js\";\n\n{body}")
}

/// Names of files, with their texts.
type Files = Vec<(String, String)>;

/// The files of npm.
fn files() -> Files {
    let mut files = Files::new();
    let mut loaders = String::new();
    for element in ElementType::WIDE {
        for class in &CLASSES {
            let name = format!("{}_{}", element.name(), class.name);
            files.push((format!("{name}.ts"), family(element, class)));
            loaders += &format!("    {name}: () => import(\"./{name}.js\"),\n");
        }
    }
    let classes = CLASSES.map(|Class { name, lanes, vendor }| {
        let (least, most) = lanes.unwrap_or_default();
        let vendor = vendor.map(|vendor| format!(", vendor: \"{vendor}\"")).unwrap_or_default();
        format!("    {{ name: \"{name}\", least: {least}, most: {most}{vendor} }},\n")
    });
    let texts = [
        ("prepare", prepare_text()),
        ("prepareRows", prepare_rows_text()),
        ("copy1", copy_text(1, false)),
        ("copy2", copy_text(2, false)),
    ];
    let texts = texts.map(|(name, text)| format!("export const {name} = {};\n", json!(short(&text))));
    let index = format!(
        "/** Lanes of subgroups, at least and at most; none in the last class. */\n\
         export const classes: {{ name: string; least: number; most: number; vendor?: string }}[] = [\n{}];\n\n\
         export const families: Record<string, () => Promise<{{ family: Family }}>> = {{\n{loaders}}};\n\n{}",
        classes.concat(),
        texts.concat()
    );
    files.push(("index.ts".to_owned(), module("Family", &index)));
    files
}

/// The folders of generated files, each with its files.
fn folders() -> [(PathBuf, Files); 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    [("npm/src/generated", files()), ("web/src/generated", traces::files())]
        .map(|(name, files)| (root.join(name), files))
}

fn main() -> io::Result<()> {
    for (folder, files) in folders() {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_files_are_what_is_written_now() {
        for (folder, files) in folders() {
            let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
            let text = |path| fs::read_to_string(path).unwrap();
            let there = entries.map(|entry| (entry.file_name().into_string().unwrap(), text(entry.path())));
            let (there, files): (BTreeSet<_>, _) = (there.collect(), files.into_iter().collect());
            let differing: BTreeSet<_> = there.symmetric_difference(&files).map(|(name, _)| name).collect();
            let folder = folder.display();
            assert!(
                differing.is_empty(),
                "{folder}: {differing:?}: out of date; run: cargo run -p gpusort-npm"
            );
        }
    }
}
