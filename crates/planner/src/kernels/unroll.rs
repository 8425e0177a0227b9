//! Unrolls the loops of a kernel that index registers.
//!
//! Only constants can index an array in registers. A loop variable is not a constant, and each driver
//! decides by itself whether to unroll a loop. This module therefore unrolls the loops that must be: each
//! `for` on the line after the comment `// unroll` becomes a block for each value of its variable, with the
//! value in the variable's place. The kernels are plain WGSL either way.
//!
//! The loops have one form, `for (var i = 0u; i < BOUND; i++) {`, where `BOUND` is a number or the
//! name of a constant; they may be nested.

/// Returns `source` with every marked loop unrolled; `constants` are the names that bounds may have.
///
/// # Panics
///
/// Panics if a marked loop does not have the required form: the kernels are part of this crate, and the
/// tests compile all of them.
pub(crate) fn unroll(source: &str, constants: &[(&str, u32)]) -> String {
    const MARK: &str = "// unroll\n";
    let Some((before, rest)) = source.split_once(MARK) else { return source.to_owned() };
    let (header, rest) = rest.split_once('{').expect("a marked loop has a body");
    let (body, after) = split_at_closing_brace(rest);
    let parsed = parse_header(header.trim(), constants);
    let (variable, bound) = parsed.unwrap_or_else(|| panic!("not the form of a marked loop: {header}"));
    let mut unrolled = before.to_owned();
    for value in 0..bound {
        unrolled.push('{');
        unrolled.push_str(&unroll(&replace_word(body, variable, &format!("{value}u")), constants));
        unrolled.push('}');
    }
    unrolled + &unroll(after, constants)
}

/// Returns the variable, and the value of its bound.
fn parse_header<'a>(header: &'a str, constants: &[(&str, u32)]) -> Option<(&'a str, u32)> {
    let (variable, rest) = header.strip_prefix("for (var ")?.split_once(" = 0u; ")?;
    let (condition, step) = rest.strip_suffix("++)")?.split_once("; ")?;
    let bound = condition.strip_prefix(variable)?.strip_prefix(" < ").filter(|_| step == variable)?;
    let constant = constants.iter().find(|(name, _)| *name == bound).map(|(_, value)| *value);
    Some((variable, constant.or_else(|| bound.trim_end_matches('u').parse().ok())?))
}

/// Splits the text at the brace that closes the block around its beginning.
fn split_at_closing_brace(text: &str) -> (&str, &str) {
    let mut depth = 1;
    let is_end = |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    };
    text.find(is_end).map(|end| (&text[..end], &text[end + 1..])).expect("a marked loop's body ends")
}

/// Replaces `word` where it stands alone, not as a part of another name.
fn replace_word(text: &str, word: &str, with: &str) -> String {
    let ends_name = |c: char| !(c.is_alphanumeric() || c == '_' || c == '.');
    let replaced = |part| {
        let name = str::trim_end_matches(part, ends_name);
        [if name == word { with } else { name }, &part[name.len()..]]
    };
    text.split_inclusive(ends_name).flat_map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_become_blocks() {
        let source = "a;\n// unroll\nfor (var i = 0u; i < N; i++) { x[i] = i_i + i; }\nb;";
        assert_eq!(unroll(source, &[("N", 2)]), "a;\n{ x[0u] = i_i + 0u; }{ x[1u] = i_i + 1u; }\nb;");
        assert_eq!(unroll("for (;;) {}", &[]), "for (;;) {}");
    }

    #[test]
    fn nested_loops_become_nested_blocks() {
        let source = "// unroll\nfor (var i = 0u; i < 2u; i++) {\n// unroll\nfor (var j = 0u; j < 2u; j++) { i, j; } }";
        let unrolled: String = unroll(source, &[]).split_whitespace().collect();
        assert_eq!(unrolled, "{{0u,0u;}{0u,1u;}}{{1u,0u;}{1u,1u;}}");
    }

    #[test]
    #[should_panic(expected = "form")]
    fn other_forms_are_refused() {
        unroll("// unroll\nwhile true {}", &[]);
    }
}
