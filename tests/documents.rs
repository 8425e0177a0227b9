//! Whatever the documents name exists: options and commands in code, paths and links, tests,
//! scenarios, fuzz targets, examples and variables. No GPU is needed.
//!
//! An option belongs to the command word of its part of a pipeline, and is looked up in that
//! command's help. A code span that begins with a dash belongs to any command of gpusort, unless
//! [`OTHERS`] has it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::command::sorted;

/// Options of other programs that documents name without the program: of `sort`, of cargo, of
/// tests/faults/run.py, and those that gpusort answers with its own.
const OTHERS: [&str; 9] =
    ["-M", "-R", "-i", "-p", "--by", "--desc", "--limit", "--no-default-features", "--self-test"];

/// Folders that are not part of the sources: they need not be there, and what is in them is not looked at.
const MADE: [&str; 5] = [".git", "target", "node_modules", "npm/dist", "web/dist"];

#[test]
fn what_the_documents_name_exists() {
    let facts = Facts::collect();
    let mut wrong = Vec::new();
    for path in facts.files.iter().filter(|path| is_document(path)) {
        let text = fs::read_to_string(facts.root.join(path)).unwrap();
        // Older sections of a changelog are history.
        let newest = match path.as_str() {
            "CHANGELOG.md" => text.match_indices("\n## ").nth(2).map_or(&text[..], |(at, _)| &text[..at]),
            _ => &text,
        };
        wrong.extend(facts.wrong(path, newest).into_iter().map(|wrong| format!("{path}:{wrong}")));
    }
    assert!(wrong.is_empty(), "{} names do not exist:\n{}", wrong.len(), wrong.join("\n"));
}

/// The front page stays short: what does not fit belongs in `docs/`.
#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
    let long = readme.lines().find(|line| line.chars().count() > 100);
    assert_eq!(long, None, "more than 100 characters");
}

#[test]
fn a_wrong_name_of_each_kind_is_found() {
    let right = "\
# A title, and `code`
`gpusort sort -rk2,2n --top=3 x.txt | sort --foo`, `gpusort -k 2 --top 3`, `gpusort --version`, `gpusort check --quiet`, `--svg`, `-k 2`, `-430`, `--`
```console
$ seq 5 | gpusort trace -n 16 && GPUSORT_DEVICE=cpu gpusort sort -t, <(printf -- '--none | -x')  # --none
--none
```
`src/lib.rs`, `web/dist/`, `benches/results/*.md`, `run.sh`, [this](#a-title-and-code), [that](README.md), [far](https://x.y)
`cargo run --example particles`, `GPUSORT_CASES`, [item](crate::sort)
| promise | test |
|---|---|
| one | `cli::gnu`, `tables`, `faults: kill, disk`, `fuzz: csv`, `the_order_is_that_of_sort`, `spill::tests` |
";
    let facts = Facts::collect();
    assert_eq!(facts.wrong("made-up.md", right), [""; 0]);
    for (wrong, name) in [
        ("`gpusort sort --none`", "--none"),
        ("`gpusort -k 2 --none`", "--none"),
        ("`gpusort check --top 3`", "--top"),
        ("`x | gpusort sort -rj`", "-rj"),
        ("```sh\ngpusort gen -k 1\n```", "-k"),
        ("`gpusort none`", "gpusort none"),
        ("`--none`", "--none"),
        ("`src/none.rs`", "src/none.rs"),
        ("`web/none/`", "web/none"),
        ("`benches/results/none.csv`", "benches/results/none.csv"),
        ("`none.py`", "none.py"),
        ("[x](none.md)", "none.md"),
        ("[x](README.md#none)", "README.md#none"),
        ("[x](#none)", "#none"),
        ("`cargo run --example none`", "--example none"),
        ("`GPUSORT_NONE`", "GPUSORT_NONE"),
        ("`cli::none`", "cli::none"),
        ("| test |\n| `none` |", "none"),
        ("| test |\n| `cli::none` |", "cli::none"),
        ("| test |\n| `faults: kill, none` |", "faults: none"),
        ("| test |\n| `fuzz: none` |", "fuzz: none"),
    ] {
        let found = facts.wrong("made-up.md", wrong);
        assert!(found.len() == 1 && found[0].ends_with(&format!(" {name}")), "{wrong}: {found:?}");
    }
}

fn is_document(path: &str) -> bool {
    let is_ours = !path.contains('/') || ["docs/", "fixtures/"].iter().any(|folder| path.starts_with(folder));
    Path::new(path).extension().is_some_and(|extension| extension == "md") && is_ours
}

/// Whether a path from the root is such a folder, wherever it is if it has no other before it.
fn is_made(path: &str) -> bool {
    MADE.iter().any(|made| path == *made || (!made.contains('/') && path.rsplit('/').next() == Some(made)))
}

/// The names that exist.
struct Facts {
    root: &'static Path,
    /// Paths from the root, of files and of folders.
    files: BTreeSet<String>,
    folders: HashSet<String>,
    /// Of each command, and of all under no name.
    options: BTreeMap<String, Options>,
    /// Tests and the modules around them, by their paths.
    tests: HashSet<String>,
    scenarios: HashSet<String>,
    /// All sources, for names of variables.
    sources: String,
}

#[derive(Default)]
struct Options {
    long: HashSet<String>,
    /// Whether they take a value.
    short: BTreeMap<char, bool>,
}

impl Facts {
    fn collect() -> Self {
        let mut facts = Self {
            root: Path::new(env!("CARGO_MANIFEST_DIR")),
            files: BTreeSet::new(),
            folders: HashSet::new(),
            options: BTreeMap::new(),
            tests: HashSet::new(),
            scenarios: HashSet::new(),
            sources: String::new(),
        };
        facts.find_files(facts.root.to_owned());
        let help = sorted(&["--help"], "");
        let (_, commands) = help.split_once("Commands:\n").unwrap();
        for line in commands.lines().take_while(|line| !line.is_empty()) {
            let command = line.split_whitespace().next().unwrap().to_owned();
            let asked = if command == "help" { vec!["--help"] } else { vec![&command[..], "--help"] };
            // Help leaves out a few options, which the manual page has.
            let page = if command == "help" { String::new() } else { sorted(&["man", &command], "") };
            let page = ["\\fB", "\\fI", "\\fR", "\\"].iter().fold(page, |page, mark| page.replace(mark, ""));
            for name in [&command[..], ""] {
                let options = facts.options.entry(name.to_owned()).or_default();
                options.read(&(sorted(&asked, "") + "\n" + &page));
            }
        }
        for path in facts.files.clone() {
            let is_source = [".rs", ".py", ".sh"].iter().any(|end| path.ends_with(end));
            if is_source && !path.starts_with("tests/documents") {
                let text = fs::read_to_string(facts.root.join(&path)).unwrap();
                facts.find_tests(&path, &text);
                let scenarios = text.split("Scenario(\"").skip(1).filter_map(|after| after.split('"').next());
                facts.scenarios.extend(scenarios.map(|name| format!("faults: {name}")));
                facts.sources += &text;
            }
            let target = path.strip_prefix("fuzz/targets/").and_then(|name| name.strip_suffix(".rs"));
            facts.scenarios.extend(target.map(|name| format!("fuzz: {name}")));
        }
        facts
    }

    fn find_files(&mut self, folder: PathBuf) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(self.root).unwrap().to_str().unwrap().replace('\\', "/");
            // Links to files, too.
            if path.is_file() {
                self.files.insert(name);
            } else if !is_made(&name) {
                self.folders.insert(name);
                self.find_files(path);
            }
        }
    }

    /// Notes the tests of a source, by the path that `cargo test` shows.
    fn find_tests(&mut self, path: &str, text: &str) {
        let of_crate = || path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        let own = ["tests/", "src/"].iter().find_map(|folder| path.strip_prefix(folder));
        let own = own.or_else(|| of_crate().map(|(_, own)| own));
        let Some(own) = own.and_then(|own| own.strip_suffix(".rs")) else { return };
        let mut module = own.trim_end_matches("/mod").replace('/', "::");
        if !path.starts_with("tests/") {
            module += "::tests";
        }
        for after in text.split("#[test]").skip(1) {
            let name: String = after
                .split("fn ")
                .nth(1)
                .unwrap_or_default()
                .chars()
                .take_while(|&letter| is_of_name(letter))
                .collect();
            let whole = format!("{module}::{name}");
            let modules = whole.match_indices("::").map(|(end, _)| whole[..end].to_owned());
            self.tests.extend(modules.collect::<Vec<_>>());
            self.tests.extend([name, whole]);
        }
    }

    /// The names in a document that do not exist, each with its line.
    fn wrong(&self, path: &str, text: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let (mut block, mut in_tests) = (None, false);
        for (number, line) in (1..).zip(text.lines()) {
            let mut note = |name: String| wrong.push(format!("{number}: {name}"));
            self.variables(line).for_each(&mut note);
            if let Some(language) = line.trim_start().strip_prefix("```") {
                block = if block.is_none() { Some(language) } else { None };
                continue;
            }
            match block {
                // Of a session only what is typed.
                Some("console") if !line.starts_with("$ ") => {}
                Some("sh" | "console" | "text" | "") => {
                    self.command_line(line.trim_start_matches("$ "), &mut note);
                    self.paths(line, &mut note);
                }
                Some(_) => self.paths(line, &mut note),
                None => {
                    let cells: Vec<&str> = line.split('`').collect();
                    in_tests = line.starts_with('|') && (in_tests || line.ends_with("| test |"));
                    for (at, span) in cells.iter().enumerate() {
                        if at % 2 == 0 {
                            self.links(path, text, span, &mut note);
                            continue;
                        }
                        let span = span.replace("\\|", "|");
                        let is_last = cells[at + 1..]
                            .iter()
                            .step_by(2)
                            .all(|after| after.trim_end_matches(" |").find('|').is_none());
                        if in_tests && is_last || self.is_test_path(&span) {
                            self.test(&span, &mut note);
                        } else if span.starts_with('-') {
                            let words = span.split_whitespace().filter(|word| !OTHERS.contains(word));
                            self.options[""].check(words, &mut note);
                        } else {
                            self.command_line(&span, &mut note);
                            self.paths(&span, &mut note);
                        }
                    }
                }
            }
        }
        wrong
    }

    fn command_line(&self, line: &str, note: &mut dyn FnMut(String)) {
        for words in segments(line) {
            let mut words = words
                .iter()
                .map(String::as_str)
                .skip_while(|word| word.contains('=') && !word.starts_with('-'));
            let command = words.next().unwrap_or_default();
            if command == "cargo"
                && let Some(name) = words.clone().skip_while(|word| *word != "--example").nth(1)
                && !["examples", "benches/tunings"]
                    .iter()
                    .any(|folder| self.files.contains(&format!("{folder}/{name}.rs")))
            {
                note(format!("--example {name}"));
            }
            if command.rsplit('/').next() != Some("gpusort") {
                continue;
            }
            let Some(command) = words.next() else { continue };
            match self.options.get(command) {
                Some(options) => options.check(words, note),
                // The word sort may be left out.
                None if command.starts_with('-') && !self.options["help"].knows(command) => {
                    self.options["sort"].check([command].into_iter().chain(words), note);
                }
                // A name of a command, and no placeholder.
                None if command.chars().all(|letter| letter.is_ascii_lowercase()) => {
                    note(format!("gpusort {command}"));
                }
                None => {}
            }
        }
    }

    /// Paths from the root, and by itself the name of a source or a document.
    fn paths(&self, code: &str, note: &mut dyn FnMut(String)) {
        for word in code.split(|letter: char| letter.is_whitespace() || "\"'(),;<>".contains(letter)) {
            let word = word.trim_end_matches(['.', ':', '/']);
            let is_there = match word.split_once('/') {
                Some((top, _)) => {
                    // Of a pattern its folder.
                    let before = word.split_once('*').and_then(|(before, _)| before.rsplit_once('/'));
                    let known = before.map_or(word, |(folder, _)| folder);
                    !self.folders.contains(top)
                        || is_made(known)
                        || self.files.contains(known)
                        || self.folders.contains(known)
                }
                None => {
                    let is_source =
                        [".rs", ".py", ".sh", ".md", ".toml", ".wgsl"].iter().any(|end| word.ends_with(end));
                    let is_named = |path: &String| path.rsplit('/').next() == Some(word);
                    // Among other words it is a user's.
                    !is_source || word != code || word.contains('*') || self.files.iter().any(is_named)
                }
            };
            if !is_there {
                note(word.to_owned());
            }
        }
    }

    /// Targets of links, from the folder of the document.
    fn links(&self, path: &str, text: &str, prose: &str, note: &mut dyn FnMut(String)) {
        for after in prose.split("](").skip(1) {
            let target = after.split(')').next().unwrap_or_default();
            // Those of rustdoc are checked by it.
            if target.contains("://") || target.contains("::") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let file = joined(folder, file);
            let of_file = if target.starts_with('#') {
                Some(text.to_owned())
            } else {
                // A picture is there, too.
                fs::read(self.root.join(&file)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            let is_there = match of_file {
                None => self.folders.contains(&file),
                Some(text) => {
                    anchor.is_empty()
                        || text.lines().any(|line| slug(line).is_some_and(|slug| slug == anchor))
                }
            };
            if !is_there {
                note(target.to_owned());
            }
        }
    }

    /// Whether it is written as a path of a test, in a module that has tests.
    fn is_test_path(&self, span: &str) -> bool {
        let first = span.split_once("::").map(|(first, _)| first);
        first.is_some_and(|first| self.tests.contains(first))
            && span.chars().all(|letter| is_of_name(letter) || letter == ':')
    }

    /// A test, a module of tests, or a list of scenarios or targets.
    fn test(&self, span: &str, note: &mut dyn FnMut(String)) {
        match span.split_once(": ") {
            Some((kind, names)) => {
                let names = names.split(", ").map(|name| format!("{kind}: {name}"));
                names.filter(|name| !self.scenarios.contains(name)).for_each(note);
            }
            None if !self.tests.contains(span) => note(span.to_owned()),
            None => {}
        }
    }

    /// Names of variables that occur in no source.
    fn variables<'a>(&'a self, line: &'a str) -> impl Iterator<Item = String> + 'a {
        let after = line.split("GPUSORT_").skip(1);
        let names = after
            .map(|after| after.chars().take_while(|letter| letter.is_ascii_uppercase() || *letter == '_'));
        let names = names.map(|name| format!("GPUSORT_{}", name.collect::<String>()));
        names.filter(|name| !self.sources.contains(name.as_str()))
    }
}

impl Options {
    /// Reads `-k, --key <COLUMN>  …` in the help of a command.
    fn read(&mut self, help: &str) {
        for line in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
            let names = line.split("  ").next().unwrap_or_default();
            for name in names.split(", ") {
                let long: String =
                    name.trim_start_matches('-').chars().take_while(|&letter| is_of_option(letter)).collect();
                match (name.starts_with("--"), long.chars().next()) {
                    (true, _) => drop(self.long.insert(long)),
                    (false, Some(letter)) => *self.short.entry(letter).or_default() |= names.contains('<'),
                    _ => {}
                }
            }
        }
    }

    /// Whether this word is one of the options.
    fn knows(&self, word: &str) -> bool {
        let mut unknown = false;
        self.check([word].into_iter(), &mut |_| unknown = true);
        !unknown
    }

    fn check<'a>(&self, words: impl Iterator<Item = &'a str>, note: &mut dyn FnMut(String)) {
        for word in words.take_while(|word| *word != "--") {
            let is_known = if let Some(long) = word.strip_prefix("--") {
                let name: String = long.chars().take_while(|&letter| is_of_option(letter)).collect();
                self.long.contains(&name)
            } else if let Some(letters) = word.strip_prefix('-') {
                let is_number =
                    letters.starts_with(|letter: char| letter.is_ascii_digit()) || letters == "inf";
                let flags =
                    letters.chars().take_while(|letter| self.short.get(letter) == Some(&false)).count();
                let last = letters.chars().nth(flags);
                is_number || last.is_none_or(|last| self.short.contains_key(&last))
            } else {
                true
            };
            if !is_known {
                note(word.chars().take_while(|&letter| is_of_option(letter)).collect());
            }
        }
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_of_option(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

/// The words of each command in a line for a shell, without what is quoted.
fn segments(line: &str) -> Vec<Vec<String>> {
    let (mut segments, mut quote) = (vec![vec![String::new()]], None);
    for letter in line.chars() {
        let words = segments.last_mut().unwrap();
        let word = words.last_mut().unwrap();
        match (quote, letter) {
            (Some(open), _) => quote = (letter != open).then_some(open),
            (None, '"' | '\'') => {
                word.push('_');
                quote = Some(letter);
            }
            (None, '#') if word.is_empty() => break,
            (None, '|' | '&' | ';' | '(' | ')') => segments.push(vec![String::new()]),
            (None, ' ' | '<' | '>') if !word.is_empty() => words.push(String::new()),
            (None, ' ' | '<' | '>') => {}
            (None, _) => word.push(letter),
        }
    }
    segments.iter_mut().for_each(|words| words.retain(|word| !word.is_empty()));
    segments
}

/// A path from a folder, both from the root.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

/// The anchor of a heading.
fn slug(line: &str) -> Option<String> {
    let title = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))?;
    let kept = title.to_lowercase().replace(' ', "-");
    Some(kept.chars().filter(|&letter| is_of_name(letter) || letter == '-').collect())
}
