//! Checks pictures: well-formed XML, as far as they need it (elements, attributes, text, predefined
//! entities), and colours.

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

/// Whether a renderer without style sheets draws every shape in a colour: a literal of its own, or of
/// an element around it.
///
/// # Errors
///
/// The shape that it would draw in black or not at all.
pub fn check_colours(picture: &str) -> Result<(), String> {
    let is_colour = |value: &str| {
        value
            .strip_prefix('#')
            .is_some_and(|hex| hex.len() == 6 && hex.chars().all(|c| c.is_ascii_hexdigit()))
    };
    let mut around = vec![[None; 2]];
    for tag in picture.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        if tag.starts_with('/') {
            around.pop();
            continue;
        }
        let own = |name: &str| Some(tag.split_once(&format!(" {name}=\""))?.1.split('"').next().unwrap());
        let [fill, stroke] = *around.last().unwrap();
        let paint = [own("fill").or(fill), own("stroke").or(stroke)];
        let is_literal = |value: &str| value == "none" || is_colour(value);
        let is_shape = ["path", "rect", "circle", "text"].contains(&tag.split([' ', '/']).next().unwrap());
        let is_painted = paint[0].is_some() && paint.iter().flatten().any(|value| is_colour(value));
        if !paint.iter().flatten().all(|value| is_literal(value)) || is_shape && !is_painted {
            return Err(format!("<{}> has no colour", tag.chars().take(60).collect::<String>()));
        }
        if !tag.ends_with('/') {
            around.push(paint);
        }
    }
    Ok(())
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
