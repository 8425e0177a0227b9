//! Every message that the code can print, in one file to be read by people: `tests/messages.txt`.
//!
//! Messages are the string literals with words in them. Left out are texts that no user reads:
//! tests, documentation, reasons of panics, labels of GPU objects, and code in other languages. A
//! change of a message is a change of the file, so that a review sees the words alone.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::support::files::sources;

/// With this variable set, the test writes the file.
const UPDATE: &str = "GPUSORT_WRITE_MESSAGES";

/// Macros and functions whose texts are for programmers.
const SILENT: [&str; 17] = [
    "asm",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "expect",
    "panic",
    "unreachable",
    // Labels of GPU objects, and elements of pictures.
    "begin_pass",
    "bind_group",
    "encoder",
    "label",
    "layout",
    "open",
    "pipeline",
    "wgsl",
];

/// Attributes whose texts are for programmers: of lints, configurations and documentation.
const SILENT_ATTRIBUTES: [&str; 6] = ["allow", "cfg", "cfg_attr", "doc", "expect", "must_use"];

#[test]
fn every_message_is_in_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut listed = String::new();
    for (path, text) in sources("crates").into_iter().chain(sources("src")) {
        let messages = messages(&text);
        if !messages.is_empty() {
            writeln!(listed, "\n{path}").unwrap();
            messages.iter().for_each(|message| writeln!(listed, "    {message}").unwrap());
        }
    }
    let list = root.join("tests/messages.txt");
    if std::env::var_os(UPDATE).is_some() {
        return fs::write(list, listed.trim_start()).unwrap();
    }
    let known = fs::read_to_string(list).unwrap_or_default();
    let differs = known.lines().zip(listed.trim_start().lines()).find(|(known, now)| known != now);
    assert!(
        known == listed.trim_start(),
        "tests/messages.txt is out of date, first at {differs:?}; {UPDATE}=1 cargo test --release --test main \
         words:: writes it anew: read the difference"
    );
}

#[test]
fn messages_are_told_from_other_texts() {
    let source = r##"
        //! Not a message, but documentation.
        #[cfg(test)]
        mod tests { fn it() { say("not a message of a test"); } }
        #[arg(help = "of an attribute")]
        #[allow(dead_code, reason = "no message of a lint")]
        fn all() {
            // "not a message, but a comment"
            say("one \"line\" \
                 and its continuation");
            write!(f, r#"{} of a "raw" one"#, 'a');
            assert!(sound, "no message of a panic");
            value.expect("no message of a panic");
            device(Descriptor { label: Some("no message") });
            text += "fn main() {\n    let no = message;\n";
            picture += "<g class='no message'>";
            word("alone");
        }
        #[cfg(not(test))]
        fn last() { say("last one") }
    "##;
    let expected =
        ["of an attribute", r#"one \"line\" and its continuation"#, r#"{} of a "raw" one"#, "last one"];
    assert_eq!(messages(source), expected);
}

/// The messages of a source text, as they are spelled there.
fn messages(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(TokenStream::from_str(source).unwrap(), &mut found);
    found
}

fn walk(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => {
                let is_bang =
                    |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == '!');
                at += usize::from(tokens.get(at).is_some_and(is_bang));
                let Some(TokenTree::Group(attribute)) = tokens.get(at) else { continue };
                at += 1;
                let text = attribute.stream().to_string().replace(' ', "");
                if !SILENT_ATTRIBUTES.iter().any(|name| text.starts_with(name)) {
                    walk(attribute.stream(), found);
                }
                if text.starts_with("cfg(test)") || text.starts_with("cfg(all(test") {
                    // Skip the item, which ends with a block or a semicolon.
                    let ends = |token: &TokenTree| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(it) => it.as_char() == ';',
                        _ => false,
                    };
                    at += tokens[at..].iter().position(ends).map_or(0, |end| end + 1);
                }
            }
            TokenTree::Ident(name) if SILENT.iter().any(|silent| name == silent) => {
                // `name(…)`, `name! {…}` or `name: Some(…)`.
                let is_macro = matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == '!');
                let is_argument = |token: &TokenTree| matches!(token, TokenTree::Group(it) if is_macro || it.delimiter() == Delimiter::Parenthesis);
                at += tokens[at..].iter().take(3).position(is_argument).map_or(0, |place| place + 1);
            }
            TokenTree::Group(group) => walk(group.stream(), found),
            TokenTree::Literal(literal) => found.extend(message(&literal.to_string())),
            _ => {}
        }
    }
}

/// The text of a literal, if it has several words and is not code.
fn message(literal: &str) -> Option<String> {
    let raw = literal.strip_prefix('r').map(|raw| raw.trim_matches('#'));
    let text = raw.unwrap_or(literal).strip_prefix('"')?.strip_suffix('"')?;
    let mut lines = text.split("\\\n");
    let mut joined = lines.next()?.to_owned();
    lines.for_each(|line| joined += line.trim_start());
    let is_code = ["<", "const ", "struct ", "// ", "for (", "vec2("]
        .iter()
        .any(|begin| joined.trim_start().starts_with(begin))
        || [";", ";\\n", "{\\n", "; }"].iter().any(|end| joined.ends_with(end))
        || joined.contains("{{");
    let is_word = |word: &str| word.chars().filter(|letter| letter.is_alphabetic()).count() > 1;
    let has_words = joined.split([' ', '\n']).filter(|word| is_word(word)).count() > 1;
    (has_words && !is_code).then(|| joined.replace('\n', "\\n"))
}
