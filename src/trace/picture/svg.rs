//! SVG as text: elements that are opened and closed, attributes that are escaped, numbers that are short.

use std::fmt::{Display, Write};

/// A picture under way.
#[derive(Default)]
pub(super) struct Svg {
    text: String,
    open: Vec<&'static str>,
}

/// Attributes: names and values.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

impl Svg {
    /// Begins an element, up to the matching [`Svg::close`].
    pub(super) fn open(&mut self, name: &'static str, attributes: Attributes) {
        self.begin(name, attributes);
        self.text.push('>');
        self.open.push(name);
    }

    /// Ends the last element that is open.
    pub(super) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = writeln!(self.text, "</{name}>");
        }
    }

    /// An element without content.
    pub(super) fn leaf(&mut self, name: &str, attributes: Attributes) {
        self.begin(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element with text in it.
    pub(super) fn words(&mut self, name: &'static str, attributes: Attributes, words: &str) {
        self.open(name, attributes);
        self.text.push_str(&escaped(words));
        self.close();
    }

    /// A path, unless nothing is drawn.
    pub(super) fn path(&mut self, class: &str, d: &str) {
        if !d.is_empty() {
            self.leaf("path", &[("class", &class), ("d", &d)]);
        }
    }

    /// The whole text, with another picture at its end.
    pub(super) fn finish_with(mut self, last: Self) -> String {
        self.text.push_str(&last.finish());
        self.finish()
    }

    /// The whole text.
    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }

    fn begin(&mut self, name: &str, attributes: Attributes) {
        let _ = write!(self.text, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"{}\"", escaped(&value.to_string()));
        }
    }
}

/// Text as XML has it. What XML has no way to say is left out.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(' '),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// A length or a place in pixels, with a digit after the point where there is something to say.
#[derive(Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 {
            write!(f, "{}", tenths / 10)
        } else {
            let sign = if tenths < 0 { "-" } else { "" };
            write!(f, "{sign}{}.{}", tenths.abs() / 10, tenths.abs() % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_text_is_escaped() {
        let shown = |number| Px(number).to_string();
        assert_eq!([1.0, 1.04, 1.05, -0.25, -3.0, 12.96].map(shown), ["1", "1", "1.1", "-0.3", "-3", "13"]);
        let mut svg = Svg::default();
        svg.open("g", &[("class", &"a\"<b")]);
        svg.words("text", &[], "1 < 2 & \u{1b}[1m");
        assert_eq!(svg.finish(), "<g class=\"a&quot;&lt;b\"><text>1 &lt; 2 &amp; [1m</text>\n</g>\n");
    }
}
