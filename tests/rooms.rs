//! The rooms of each crate, which are the files and folders of its `src/`: no two of them need each
//! other, so that each can be read, changed and taken out after those that it uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::files::sources;

type Rooms = BTreeMap<String, BTreeSet<String>>;

/// The rooms that a text names as `crate::room` or in `use crate::{room, …}`, outside of comments
/// and tests.
fn named(text: &str) -> BTreeSet<String> {
    let (code, _) = text.split_once("#[cfg(test)]\nmod tests").unwrap_or((text, ""));
    let lines = code.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let first = |path: &str| -> String {
        path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut rooms = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        match path.strip_prefix('{').and_then(|list| list.split_once("};")) {
            Some((list, _)) => rooms.extend(list.split(',').map(first)),
            None => drop(rooms.insert(first(path))),
        }
    }
    rooms
}

/// The rooms that need each other, in one circle or several; none where all can be laid on floors.
fn circles(mut rooms: Rooms) -> Rooms {
    loop {
        let left: BTreeSet<String> = rooms.keys().cloned().collect();
        for (room, needs) in &mut rooms {
            needs.retain(|need| need != room && left.contains(need));
        }
        let count = rooms.len();
        rooms.retain(|_, needs| !needs.is_empty());
        if rooms.len() == count {
            return rooms;
        }
    }
}

#[test]
fn no_two_rooms_need_each_other() {
    let rooms = |folder: &str| {
        let mut rooms = Rooms::new();
        for (path, text) in sources(folder) {
            let room = path[folder.len() + 1..].split('/').next().unwrap().trim_end_matches(".rs");
            // These two put all together.
            if !["lib", "main"].contains(&room) {
                // Above the file of a room is the crate.
                let is_top =
                    path == format!("{folder}/{room}.rs") || path == format!("{folder}/{room}/mod.rs");
                let text = if is_top { text.replace("super::", "crate::") } else { text };
                rooms.entry(room.to_owned()).or_default().extend(named(&text));
            }
        }
        rooms
    };
    for entry in std::fs::read_dir("crates").unwrap() {
        let folder = entry.unwrap().path().join("src");
        let rooms = rooms(folder.to_str().unwrap());
        assert!(rooms.len() < 2 || rooms.values().any(|needs| !needs.is_empty()), "{folder:?}: {rooms:?}");
        assert_eq!(circles(rooms), Rooms::new());
    }
    let cpu = rooms("crates/cpu/src");
    assert!(cpu["local"].contains("items") && cpu["vector"].contains("items"), "{cpu:?}");
    assert_eq!(circles(rooms("src")), Rooms::new());
    let mut rooms = rooms("crates/files/src");
    assert!(rooms["dataset"].contains("columns"), "{rooms:?}");
    // The search must be able to find one.
    rooms.get_mut("columns").unwrap().extend(named("use crate::{job, dataset::Dataset};"));
    assert!(circles(rooms).contains_key("dataset"));
}

#[test]
fn only_the_crate_of_the_gpu_names_wgpu() {
    let names =
        |text: &str| text.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("wgpu::"));
    let all = sources("src").into_iter().chain(sources("crates"));
    let mut naming: Vec<String> = all.filter(|(_, text)| names(text)).map(|(path, _)| path).collect();
    assert!(naming.iter().any(|path| path == "crates/gpu/src/encode.rs"), "{naming:?}");
    naming.retain(|path| !path.starts_with("crates/gpu/"));
    assert_eq!(naming, ["crates/engine/src/async_sorter.rs"]);
}
