//! Whether a text is well-formed XML, as far as pictures need any of it: elements, attributes,
//! text, predefined entities.

/// # Errors
///
/// What is wrong, and where.
pub fn check(text: &str) -> Result<(), String> {
    let mut rest = text;
    let mut open: Vec<&str> = Vec::new();
    let mut roots = 0;
    while !rest.is_empty() {
        let here = || format!("at {:?}", rest.chars().take(40).collect::<String>());
        let (between, after) = rest.split_once('<').unwrap_or((rest, ""));
        entities(between)?;
        if open.is_empty() && !between.trim().is_empty() {
            return Err(format!("text outside of all elements {}", here()));
        }
        if after.is_empty() {
            rest = after;
            if between.len() < text.len() && text.ends_with('<') {
                return Err("an element without a name".to_owned());
            }
            continue;
        }
        let (tag, after) = after.split_once('>').ok_or_else(|| format!("a tag without an end {}", here()))?;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("'{name}' ends and is not open {}", here()));
            }
        } else {
            let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
            let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
            if name.is_empty() || !name.chars().all(char::is_alphanumeric) {
                return Err(format!("'{name}' is no name {}", here()));
            }
            check_attributes(attributes)?;
            roots += usize::from(open.is_empty());
            if !is_empty {
                open.push(name);
            }
        }
        rest = after;
    }
    match (open.last(), roots) {
        (Some(name), _) => Err(format!("'{name}' has no end")),
        (None, 1) => Ok(()),
        (None, _) => Err(format!("{roots} elements are outermost")),
    }
}

fn check_attributes(mut rest: &str) -> Result<(), String> {
    let mut names = Vec::new();
    while !rest.trim().is_empty() {
        let (name, after) = rest.split_once("=\"").ok_or_else(|| format!("no value: {rest}"))?;
        let (value, after) =
            after.split_once('"').ok_or_else(|| format!("a value without an end: {rest}"))?;
        entities(value)?;
        let name = name.trim();
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '-') || names.contains(&name)
        {
            return Err(format!("'{name}' is no name, or is there twice"));
        }
        names.push(name);
        rest = after;
    }
    Ok(())
}

fn entities(text: &str) -> Result<(), String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "apos;"];
    let is_known = |after: &str| known.iter().any(|name| after.starts_with(name));
    if text.split('&').skip(1).all(is_known) { Ok(()) } else { Err(format!("'&' alone in {text:?}")) }
}
