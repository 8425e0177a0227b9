//! Finds values in JSON Lines without building trees.
//!
//! ```text
//! {"user": {"id": 7, "name": "Ada"}, "tags": ["new", "big"], "ms": 12.5}
//!                 ^ user.id                  ^ tags[0]             ^ ms
//! ```
//!
//! One pass over a line checks the whole line (RFC 8259, and the `NaN`, `Infinity` and `-Infinity` that
//! Python writes) and records the places of the values of some paths. If several members of an object have
//! the same name, the last member counts.

use std::borrow::Cow;
use std::ops::Range;

pub use gpusort_values::json::Json as Value;
use memchr::memchr;

/// The maximum depth of a line, since each level takes stack memory.
const DEPTH: usize = 512;

/// The commands that turn an array, or objects of several lines, into JSON Lines.
pub(super) const OF_ARRAY: &str = "jq -c '.[]' FILE";
pub(super) const OF_OBJECTS: &str = "jq -c . FILE";

/// The path of a value in a record: `user.id`, `tags[0]`, `."a.b"`, `["a.b"][1]`; `.` is the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(Vec<u8>),
    Index(usize),
}

impl Path {
    /// Returns the path of the record's member of this name.
    pub(super) fn member(name: &str) -> Self {
        Self(vec![Step::Name(name.as_bytes().to_vec())])
    }

    /// Returns the path that this text represents.
    ///
    /// # Errors
    ///
    /// The path is malformed.
    pub(super) fn parse(said: &str) -> Result<Self, &'static str> {
        let mut steps = Vec::new();
        // Paths of jq begin with a point.
        let mut rest = said.strip_prefix('.').unwrap_or(said);
        while !rest.is_empty() {
            let (step, after) = if let Some(inner) = rest.strip_prefix('[') {
                let (step, after) = if inner.starts_with('"') {
                    quoted_name(inner)?
                } else {
                    let end = inner.find(']').ok_or("unclosed [")?;
                    let index =
                        inner[..end].parse().map_err(|_| "expected an index from 0 between [ and ]")?;
                    (Step::Index(index), &inner[end..])
                };
                (step, after.strip_prefix(']').ok_or("unclosed [")?)
            } else if rest.starts_with('"') {
                quoted_name(rest)?
            } else {
                match rest.find(['.', '[']).unwrap_or(rest.len()) {
                    0 => return Err("missing name"),
                    end => (Step::Name(rest.as_bytes()[..end].to_vec()), &rest[end..]),
                }
            };
            steps.push(step);
            rest = match after.strip_prefix('.') {
                Some("") => return Err("missing name"),
                Some(more) => more,
                None if after.is_empty() || after.starts_with('[') => after,
                None => return Err("missing . before a name"),
            };
        }
        Ok(Self(steps))
    }
}

/// Returns the name in quotes at the start of this text, and the text after it.
fn quoted_name(text: &str) -> Result<(Step, &str), &'static str> {
    let mut is_escaped = false;
    let closes = |c: char| {
        let closes = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        closes
    };
    let end = text[1..].find(closes).ok_or("unclosed quote")?;
    let name = unescaped(&text.as_bytes()[1..][..end]).into_owned();
    Ok((Step::Name(name), &text[end + 2..]))
}

/// Paths to find in one pass.
#[derive(Debug)]
pub(super) struct Paths {
    /// The first node is the record.
    nodes: Vec<Node>,
}

/// No paths.
static NOTHING: Paths = Paths { nodes: Vec::new() };

/// A value along some paths, or at their end.
#[derive(Debug, Default)]
struct Node {
    steps: Vec<(Step, usize)>,
    /// The paths that end here, and the paths that end here or below.
    paths: Vec<usize>,
    below: Vec<usize>,
}

/// A problem in a line, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) at: usize,
    pub(super) problem: &'static str,
}

impl Paths {
    /// Prepares a search for these paths, each with its number.
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = (usize, &'a Path)>) -> Self {
        let mut nodes = vec![Node::default()];
        for (number, Path(steps)) in paths {
            let mut at = 0;
            nodes[at].below.push(number);
            for step in steps {
                let new = nodes.len();
                let next = nodes[at].steps.iter().find(|(other, _)| other == step).map(|&(_, next)| next);
                if next.is_none() {
                    nodes[at].steps.push((step.clone(), new));
                    nodes.push(Node::default());
                }
                at = next.unwrap_or(new);
                nodes[at].below.push(number);
            }
            nodes[at].paths.push(number);
        }
        Self { nodes }
    }

    /// Sets the place of each path found in the line that begins here and ends with LF. Returns the
    /// start of the next line.
    ///
    /// # Errors
    ///
    /// The line is invalid; the next line begins after its LF.
    #[inline]
    pub(super) fn find(
        &self,
        bytes: &[u8],
        start: usize,
        places: &mut [Range<usize>],
    ) -> Result<usize, Damage> {
        let mut line = Line { bytes, paths: self, places };
        let at = line.blanks(start);
        let at = line.value(at, Some(0), DEPTH)?;
        let at = line.blanks(at);
        match line.byte(at) {
            b'\n' => Ok(at + 1),
            _ => Err(Damage { at, problem: "unexpected text after the value" }),
        }
    }
}

/// Returns the names of the members of the object in this line; `None` if the value is not an object.
pub(super) fn names(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let begin = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
    (line[begin] == b'{')
        .then(|| members(&line[begin..]).into_iter().map(|(name, _)| unescaped(name).into_owned()).collect())
}

/// Returns the members of an object, up to the first error: their names with escapes, without quotes, and
/// their values; `None` for null.
pub fn members(object: &[u8]) -> Vec<(&[u8], Option<&[u8]>)> {
    children(object, |scan, at| {
        let (name, value) = scan.name(at).ok()?;
        Some((&object[name], value))
    })
}

/// Returns the elements of an array, up to the first error; `None` for null.
pub fn elements(array: &[u8]) -> Vec<Option<&[u8]>> {
    children(array, |_, at| Some(((), at))).into_iter().map(|((), value)| value).collect()
}

/// Returns the values within a value. `named` returns the name at a place and the start of the value.
fn children<T>(value: &[u8], named: impl Fn(&Line, usize) -> Option<(T, usize)>) -> Vec<(T, Option<&[u8]>)> {
    let mut scan = Line { bytes: value, paths: &NOTHING, places: &mut [] };
    let (mut children, mut at) = (Vec::new(), 0);
    loop {
        at = scan.blanks(at + 1);
        let Some((name, begin)) = named(&scan, at) else { return children };
        let Ok(end) = scan.value(begin, None, DEPTH) else { return children };
        let child = &value[begin..end];
        children.push((name, (Value::of(child) != Value::Null).then_some(child)));
        at = scan.blanks(end);
        if scan.byte(at) != b',' {
            return children;
        }
    }
}

/// Returns the content of a value: a string without its quotes and escapes.
#[inline]
pub fn content(token: &[u8]) -> Cow<'_, [u8]> {
    if let [b'"', string @ .., b'"'] = token { unescaped(string) } else { token.into() }
}

/// Returns the content of a string or of a name; `None` for half a surrogate pair.
pub fn string(token: &[u8]) -> Option<Cow<'_, [u8]>> {
    let string = if let [b'"', string @ .., b'"'] = token { string } else { token };
    let (content, is_whole) = unescape(string);
    is_whole.then_some(content)
}

/// Returns true if this is a number, not an infinity.
pub fn is_number(text: &[u8]) -> bool {
    let scan = Line { bytes: text, paths: &NOTHING, places: &mut [] };
    scan.number(0) == Ok(text.len()) && !text.ends_with(b"y")
}

/// Checks that a line, without its line end, is one value.
///
/// # Errors
///
/// The problem.
pub fn check(line: &[u8]) -> Result<(), &'static str> {
    let mut scan = Line { bytes: line, paths: &NOTHING, places: &mut [] };
    let end = scan.value(0, None, DEPTH).map_err(|damage| damage.problem)?;
    if end < line.len() { Err("unexpected text after the value") } else { Ok(()) }
}

/// A line to scan. Any place beyond its bytes counts as its end.
struct Line<'a> {
    bytes: &'a [u8],
    paths: &'a Paths,
    places: &'a mut [Range<usize>],
}

impl Line<'_> {
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    #[inline]
    fn blanks(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\t' | b'\r') {
            at += 1;
        }
        at
    }

    /// Returns the name in quotes that begins here, and the start of its value.
    #[inline]
    fn name(&self, at: usize) -> Result<(Range<usize>, usize), Damage> {
        if self.byte(at) != b'"' {
            return Err(Damage { at, problem: "expected a name in quotes" });
        }
        let end = self.string(at)?;
        let colon = self.blanks(end);
        if self.byte(colon) != b':' {
            return Err(Damage { at: colon, problem: "expected a colon" });
        }
        Ok((at + 1..end - 1, self.blanks(colon + 1)))
    }

    /// Scans the value of `node` that begins here, with at most `depth` levels. Returns the end of the
    /// value.
    fn value(&mut self, at: usize, node: Option<usize>, depth: usize) -> Result<usize, Damage> {
        let wrong = |problem| Err(Damage { at, problem });
        let end = match self.byte(at) {
            b'"' => self.string(at)?,
            b'{' | b'[' if depth == 0 => return wrong("nested more than 512 levels deep"),
            b'{' => self.children(at, node, depth - 1, b'}', "expected a comma or }")?,
            b'[' => self.children(at, node, depth - 1, b']', "expected a comma or ]")?,
            b'-' | b'0'..=b'9' => self.number(at)?,
            b'\n' => return wrong("unexpected end of line"),
            _ => {
                let words = [&b"true"[..], b"false", b"null", b"NaN", b"Infinity"];
                let word = words.into_iter().find(|word| self.bytes[at..].starts_with(word));
                let Some(word) = word else { return wrong("expected a value") };
                at + word.len()
            }
        };
        if let Some(node) = node {
            for &path in &self.paths.nodes[node].paths {
                self.places[path] = at..end;
            }
        }
        Ok(end)
    }

    /// Scans the members of an object, or the elements of an array, that begins here and ends with `close`.
    fn children(
        &mut self,
        start: usize,
        node: Option<usize>,
        depth: usize,
        close: u8,
        unclosed: &'static str,
    ) -> Result<usize, Damage> {
        let node = node.filter(|&node| !self.paths.nodes[node].steps.is_empty());
        let mut at = self.blanks(start + 1);
        if self.byte(at) == close {
            return Ok(at + 1);
        }
        for index in 0.. {
            let child = if close == b'}' {
                let name;
                (name, at) = self.name(at)?;
                node.and_then(|node| self.member(node, name))
            } else {
                node.and_then(|node| self.child(node, |step| *step == Step::Index(index)))
            };
            at = self.value(at, child, depth)?;
            at = self.blanks(at);
            match self.byte(at) {
                b',' => at = self.blanks(at + 1),
                byte if byte == close => return Ok(at + 1),
                _ => break,
            }
        }
        Err(Damage { at, problem: unclosed })
    }

    #[inline]
    fn child(&self, node: usize, is_step: impl Fn(&Step) -> bool) -> Option<usize> {
        self.paths.nodes[node].steps.iter().find(|(step, _)| is_step(step)).map(|&(_, child)| child)
    }

    /// Returns the node of the member of this name, whose earlier values do not count.
    #[inline]
    fn member(&mut self, node: usize, name: Range<usize>) -> Option<usize> {
        let name = unescaped(&self.bytes[name]);
        let child = self.child(node, |step| matches!(step, Step::Name(other) if *other == *name))?;
        for &path in &self.paths.nodes[child].below {
            self.places[path] = 0..0;
        }
        Some(child)
    }

    /// Returns the end of the string that begins here, after its closing quote.
    #[inline]
    fn string(&self, start: usize) -> Result<usize, Damage> {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x80 * ONES;
        let mut at = start + 1;
        loop {
            if let Some(chunk) = self.bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
                let word = u64::from_le_bytes(*chunk);
                // The lowest marked byte is exact: a quote, a backslash, or a byte below 0x20.
                let are = |byte: u8| {
                    let other = word ^ (ONES * u64::from(byte));
                    other.wrapping_sub(ONES) & !other
                };
                let control = word.wrapping_sub(0x20 * ONES) & !word;
                let marked = (are(b'"') | are(b'\\') | control) & HIGH;
                if marked == 0 {
                    at += 8;
                    continue;
                }
                at += (marked.trailing_zeros() / 8) as usize;
            }
            match self.byte(at) {
                b'"' => return Ok(at + 1),
                b'\\' => match self.byte(at + 1) {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                    b'u' if (2..6).all(|more| self.byte(at + more).is_ascii_hexdigit()) => at += 6,
                    _ => return Err(Damage { at, problem: "invalid escape" }),
                },
                b'\n' => return Err(Damage { at, problem: "unclosed string" }),
                0..0x20 => return Err(Damage { at, problem: "unescaped control character" }),
                _ => at += 1,
            }
        }
    }

    /// Returns the end of the number that begins here.
    #[inline]
    fn number(&self, start: usize) -> Result<usize, Damage> {
        // The end of the digits that begin here, at least one.
        let digits = |begin: usize| {
            let mut at = begin;
            while self.byte(at).is_ascii_digit() {
                at += 1;
            }
            if at > begin { Ok(at) } else { Err(Damage { at, problem: "expected a digit" }) }
        };
        let whole = start + usize::from(self.byte(start) == b'-');
        if whole > start && self.bytes[whole..].starts_with(b"Infinity") {
            return Ok(whole + b"Infinity".len());
        }
        let mut at = digits(whole)?;
        if at > whole + 1 && self.byte(whole) == b'0' {
            return Err(Damage { at: whole, problem: "leading zero" });
        }
        if self.byte(at) == b'.' {
            at = digits(at + 1)?;
        }
        if matches!(self.byte(at), b'e' | b'E') {
            at = digits(at + 1 + usize::from(matches!(self.byte(at + 1), b'+' | b'-')))?;
        }
        Ok(at)
    }
}

/// Returns the bytes of a string without its escapes; a lone surrogate becomes U+FFFD.
fn unescaped(string: &[u8]) -> Cow<'_, [u8]> {
    unescape(string).0
}

/// Returns the bytes of a string without its escapes, and false for a lone surrogate.
fn unescape(string: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let Some(first) = memchr(b'\\', string) else { return (string.into(), true) };
    let (mut said, mut is_whole) = (Vec::with_capacity(string.len()), true);
    said.extend_from_slice(&string[..first]);
    let mut rest = &string[first..];
    while let [_, kind, ..] = rest {
        let mut length = 2;
        match kind {
            b'b' => said.push(b'\x08'),
            b'f' => said.push(b'\x0C'),
            b'n' => said.push(b'\n'),
            b'r' => said.push(b'\r'),
            b't' => said.push(b'\t'),
            b'u' => {
                let letter;
                (letter, length) = code_point(rest);
                is_whole &= letter.is_some();
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                said.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            byte => said.push(*byte),
        }
        rest = &rest[length.min(rest.len())..];
        let plain = memchr(b'\\', rest).unwrap_or(rest.len());
        said.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
    }
    (said.into(), is_whole)
}

/// Returns the letter of one escape `\uXXXX` or of a pair, `None` for a lone surrogate, and the length in bytes.
fn code_point(escape: &[u8]) -> (Option<char>, usize) {
    let unit = |escape: &[u8]| {
        let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
        u16::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 4)
    };
    let letter = char::decode_utf16(escape.chunks(6).take(2).map_while(unit)).next().and_then(Result::ok);
    (letter, 6 * letter.map_or(1, char::len_utf16))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Built;

    use super::*;

    /// Returns the values of these paths in a line, which ends with LF.
    fn found<'a>(line: &'a str, paths: &[&str]) -> Result<Vec<&'a str>, Damage> {
        let parsed: Vec<Path> = paths.iter().map(|path| Path::parse(path).unwrap()).collect();
        let mut places = vec![0..0; paths.len()];
        let next = Paths::new(parsed.iter().enumerate()).find(line.as_bytes(), 0, &mut places)?;
        assert_eq!(next, line.len());
        Ok(places.into_iter().map(|place| &line[place]).collect())
    }

    #[test]
    fn values_of_paths() {
        let line =
            "{\"user\": {\"id\": 7, \"a.b\": -1.5e3}, \"tags\":[\"new\",[true,null]], \"\\u006ds\":{}}\r\n";
        let paths =
            ["user.id", "user.\"a.b\"", "tags[0]", "tags[1][1]", "ms", "user", "tags[2]", "id", ".user.id"];
        assert_eq!(
            found(line, &paths).unwrap(),
            ["7", "-1.5e3", "\"new\"", "null", "{}", "{\"id\": 7, \"a.b\": -1.5e3}", "", "", "7"]
        );
        assert_eq!(found("5\n", &["."]).unwrap(), ["5"]);
        assert_eq!(found("[1,[2,{\"a\":3}]]\n", &["[1][0]", "[1][1].a", "a"]).unwrap(), ["2", "3", ""]);
        assert_eq!(found("{\"\":1,\"a\\\"b\":2}\n", &["[\"\"]", "\"a\\\"b\""]).unwrap(), ["1", "2"]);
        assert_eq!(found("[NaN, -Infinity, Infinity]\n", &["[1]"]).unwrap(), ["-Infinity"]);
    }

    #[test]
    fn the_last_member_of_a_name_counts() {
        assert_eq!(found("{\"a\":1,\"a\":{\"b\":2}}\n", &["a", "a.b"]).unwrap(), ["{\"b\":2}", "2"]);
        assert_eq!(found("{\"a\":{\"b\":2},\"a\":1}\n", &["a", "a.b"]).unwrap(), ["1", ""]);
    }

    #[test]
    fn paths_are_refused() {
        for (said, problem) in [
            ("a..b", "missing name"),
            ("a.", "missing name"),
            ("..", "missing name"),
            ("a[0", "unclosed ["),
            ("a[x]", "expected an index from 0 between [ and ]"),
            ("a[-1]", "expected an index from 0 between [ and ]"),
            ("[0]a", "missing . before a name"),
            ("\"a", "unclosed quote"),
            ("\"a\\", "unclosed quote"),
            ("\"a\\é", "unclosed quote"),
            ("[\"a\"", "unclosed ["),
            ("\"a\"b", "missing . before a name"),
        ] {
            assert_eq!(Path::parse(said), Err(problem), "{said}");
        }
    }

    #[test]
    fn damage_has_a_place() {
        for (line, at, problem) in [
            ("\n", 0, "unexpected end of line"),
            ("{\"a\":1\n", 6, "expected a comma or }"),
            ("{\"a\" 1}\n", 5, "expected a colon"),
            ("{a:1}\n", 1, "expected a name in quotes"),
            ("{\"a\":1,}\n", 7, "expected a name in quotes"),
            ("[1,]\n", 3, "expected a value"),
            ("[1 2]\n", 3, "expected a comma or ]"),
            ("{\"a\":01}\n", 5, "leading zero"),
            ("{\"a\":-}\n", 6, "expected a digit"),
            ("{\"a\":1.}\n", 7, "expected a digit"),
            ("{\"a\":1e+}\n", 8, "expected a digit"),
            ("{\"a\":\"b\n", 7, "unclosed string"),
            ("{\"a\":\"b\tc\"}\n", 7, "unescaped control character"),
            ("{\"a\":\"\\x\"}\n", 6, "invalid escape"),
            ("{\"a\":\"\\u12g4\"}\n", 6, "invalid escape"),
            ("{} {}\n", 3, "unexpected text after the value"),
            ("nul\n", 0, "expected a value"),
        ] {
            assert_eq!(found(line, &["a"]), Err(Damage { at, problem }), "{line:?}");
        }
        let deep = |levels| "[".repeat(levels) + &"]".repeat(levels) + "\n";
        assert!(found(&deep(DEPTH), &["a"]).is_ok());
        assert_eq!(found(&deep(DEPTH + 1), &["a"]).unwrap_err().at, DEPTH);
    }

    #[test]
    fn strings_without_escapes() {
        let said = |string: &str| String::from_utf8(unescaped(string.as_bytes()).into_owned()).unwrap();
        assert_eq!(said("a\\n\\\"\\/\\\\b"), "a\n\"/\\b");
        assert_eq!(said("\\u00e9\\ud83d\\ude00x"), "é😀x");
        assert_eq!(said("\\ud83dx\\ude00\\ud83d"), "\u{FFFD}x\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn names_of_members() {
        let all = |line: &str| names(line.as_bytes());
        assert_eq!(all("{\"a\":1, \"b\\n\" : {\"c\":2}}\n"), Some(vec![b"a".to_vec(), b"b\n".to_vec()]));
        assert_eq!(all(" [1]\n"), None);
        assert_eq!(all("{\"a\":1,\n"), Some(vec![b"a".to_vec()]));
    }

    /// Generates a value, as text.
    fn json() -> impl Strategy<Value = String> {
        let string = "\"([ab é/]|\\\\[\"\\\\/bfnrt]|\\\\u00[4e]1){0,12}\"";
        let leaf = prop_oneof![
            string.prop_map(String::from),
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9])?".prop_map(String::from),
            prop::sample::select(vec!["true", "false", "null", "[]", "{}"]).prop_map(String::from),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..5).prop_map(|all| format!("[{}]", all.join(" ,"))),
                prop::collection::vec(("\"[abc]\"", inner), 1..5).prop_map(|all| {
                    let all: Vec<String> =
                        all.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                    format!("{{{}}}", all.join(","))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn values_are_those_of_serde(value in json(), cut in 0..400_usize, put in "[\\[{}\\]\":,0e\\-\\\\ ]?") {
            let line = value.clone() + "\n";
            let paths = ["a", "a.b", "b[1]", "[0].a", ".", "c[0][0]"];
            let built: Built = serde_json::from_str(&value).unwrap();
            let pointers = ["/a", "/a/b", "/b/1", "/0/a", "", "/c/0/0"];
            for (text, pointer) in found(&line, &paths).unwrap().into_iter().zip(pointers) {
                let of_names = pointer.split('/').skip(1).try_fold(&built, |value, step| match value {
                    Built::Array(all) => all.get(step.parse::<usize>().ok()?),
                    Built::Object(all) if step.parse::<usize>().is_err() => all.get(step),
                    _ => None,
                });
                let here = (!text.is_empty()).then(|| serde_json::from_str::<Built>(text).unwrap());
                prop_assert_eq!(here.as_ref(), of_names, "{}", pointer);
                if let Some(Built::String(string)) = of_names {
                    let inner = &text.as_bytes()[1..text.len() - 1];
                    prop_assert_eq!(&unescaped(inner)[..], string.as_bytes());
                }
            }
            // If a byte changes, serde and gpusort both accept the line or both refuse it.
            let cut = cut.min(value.len());
            if value.is_char_boundary(cut) {
                let other = format!("{}{put}{}", &value[..cut], value[cut..].chars().skip(1).collect::<String>());
                let is_known = serde_json::from_str::<Built>(&other).is_ok();
                prop_assert_eq!(found(&(other.clone() + "\n"), &paths).is_ok(), is_known, "{}", other);
            }
        }
    }
}
