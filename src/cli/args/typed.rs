//! The typed words, before clap parses them.

use std::ffi::OsString;
use std::path::Path;

use gpusort::Format;

/// The names of all commands.
pub(crate) const COMMANDS: [&str; 12] = [
    "sort",
    "devices",
    "gen",
    "bench",
    "trace",
    "tune",
    "check",
    "merge",
    "count",
    "shuffle",
    "completions",
    "man",
];

/// The commands that take the options of `sort`.
pub(crate) const SORTS: [&str; 5] = ["sort", "check", "merge", "count", "shuffle"];

/// Inserts `sort` before the first word, unless the word names a command, or asks for help or the version.
/// `-h` or `-V` alone ask for these only if nothing `comes_in`, and an empty command line only if standard
/// input `is_terminal`. After `sort`, `check` or `merge`, too, `-h` alone asks for help if nothing `comes_in`;
/// otherwise `-h` sorts sizes, as in coreutils.
pub(crate) fn with_command(
    mut all: Vec<OsString>,
    is_terminal: bool,
    comes_in: impl Fn() -> bool,
) -> Vec<OsString> {
    let first = all.get(1).map(|first| first.to_string_lossy());
    let is_other = match first.as_deref() {
        Some("help" | "--help" | "--version") => true,
        None => is_terminal,
        Some("-h" | "-V") if all.len() == 2 => !comes_in(),
        Some(first) => COMMANDS.contains(&first),
    };
    if !is_other {
        all.insert(1, "sort".into());
    }
    if let [_, command, letter] = &mut all[..]
        && SORTS.iter().any(|name| command == name)
        && letter == "-h"
        && !comes_in()
    {
        *letter = "--help".into();
    }
    all
}

/// Replaces each `-f` without a format by `--ignore-case`, its meaning in `sort`.
pub(crate) fn with_ignore_case(mut all: Vec<OsString>) -> Vec<OsString> {
    /// Letters of `sort` and `check` that take no value.
    const LETTERS: &str = "bcCfghmnrsuvzqV";
    let is_format =
        |name: &str| name == "auto" || Format::ALL.into_iter().any(|format| format.name() == name);
    let is_sort = all.get(1).is_some_and(|command| SORTS.iter().any(|name| command == name));
    let mut place = 2;
    while is_sort && place < all.len() && all[place] != "--" {
        // The next word is its value, whatever it looks like.
        let has_any_value = ["--na", "-k", "--key"].iter().any(|option| all[place] == *option);
        let next = all.get(place + 1).and_then(|next| next.to_str());
        // Another word may be a misspelt format, which is an error later.
        let may_follow = next.is_none_or(|next| next.starts_with('-') || Path::new(next).exists());
        let letters = all[place].to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
        if let Some((_, after)) = letters.split_once('f')
            && letters.chars().all(|letter| LETTERS.contains(letter))
            && !is_format(after)
            && (may_follow || !after.is_empty())
        {
            let rest = format!("-{}", letters.replace('f', ""));
            all[place] = "--ignore-case".into();
            if rest.len() > 1 {
                all.insert(place, rest.into());
                place += 1;
            }
        }
        place += if has_any_value { 2 } else { 1 };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_of_sort_is_told_from_a_format() {
        let with = |typed: &str| {
            let all = typed.split(' ').map(OsString::from).collect();
            with_ignore_case(all)
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        for typed in [
            "gpusort sort -f csv a",
            "gpusort sort -fcsv",
            "gpusort sort -rf csv",
            "gpusort sort -f jpeg",
            "gpusort bench -f",
            "gpusort sort -- -f",
            "gpusort sort --na -f",
            "gpusort sort -k -f",
            "gpusort sort -k1,1f",
            "gpusort sort --from",
        ] {
            assert_eq!(with(typed), typed);
        }
        for (typed, expected) in [
            ("gpusort sort -f", "gpusort sort --ignore-case"),
            ("gpusort sort -f -k1,1", "gpusort sort --ignore-case -k1,1"),
            ("gpusort sort -f Cargo.toml", "gpusort sort --ignore-case Cargo.toml"),
            ("gpusort sort -ruf Cargo.toml", "gpusort sort -ru --ignore-case Cargo.toml"),
            ("gpusort sort -fr x", "gpusort sort -r --ignore-case x"),
            ("gpusort merge -f Cargo.toml", "gpusort merge --ignore-case Cargo.toml"),
        ] {
            assert_eq!(with(typed), expected);
        }
    }

    #[test]
    fn sort_may_be_left_out() {
        let with = |typed: &str, comes_in: bool| {
            let all = with_command(typed.split(' ').map(OsString::from).collect(), !comes_in, || comes_in);
            all.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        for typed in ["sort a", "check a", "merge", "help", "--help", "--version", "gen", "man sort"] {
            let typed = format!("gpusort {typed}");
            assert_eq!([true, false].map(|comes_in| with(&typed, comes_in)), [&*typed; 2]);
        }
        for typed in ["a.txt", "-", "-r", "-h a", "-V a", "-n -r", "--top 3", "sorted"] {
            let expected = format!("gpusort sort {typed}");
            assert_eq!(
                [true, false].map(|comes_in| with(&format!("gpusort {typed}"), comes_in)),
                [&*expected; 2]
            );
        }
        for typed in ["gpusort", "gpusort -h", "gpusort -V"] {
            let sorts = typed.replacen("gpusort", "gpusort sort", 1);
            assert_eq!([true, false].map(|comes_in| with(typed, comes_in)), [&*sorts, typed]);
        }
        for command in SORTS {
            let typed = format!("gpusort {command} -h");
            let help = format!("gpusort {command} --help");
            assert_eq!([true, false].map(|comes_in| with(&typed, comes_in)), [&*typed, &*help]);
        }
        // From `/dev/null`.
        assert_eq!(with_command(vec!["gpusort".into()], false, || false), ["gpusort", "sort"]);
    }
}
