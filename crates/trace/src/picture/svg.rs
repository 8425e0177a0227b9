//! SVG as text: elements are opened and closed, attributes are escaped, numbers are short. An element with
//! a class has the presentation attributes of that class.

use std::fmt::{Display, Write};

use super::colours;
use gpusort_base::human::wrapped;

/// A picture under way.
#[derive(Default)]
pub(super) struct Svg {
    pub(super) text: String,
    dark: bool,
}

/// Attributes: names and values.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

impl Svg {
    /// An empty picture, in the colours of a dark page or of a light one.
    pub(super) fn new(dark: bool) -> Self {
        Self { dark, ..Self::default() }
    }

    /// Begins an element, up to the matching [`Svg::close`].
    pub(super) fn open(&mut self, name: &str, attributes: Attributes) {
        self.begin(name, attributes);
        self.text.push('>');
    }

    /// Ends the open element of this name.
    pub(super) fn close(&mut self, name: &str) {
        let _ = writeln!(self.text, "</{name}>");
    }

    /// An element without content.
    pub(super) fn leaf(&mut self, name: &str, attributes: Attributes) {
        self.begin(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element with text in it.
    pub(super) fn words(&mut self, name: &str, attributes: Attributes, words: &str) {
        self.open(name, attributes);
        self.text.push_str(&escaped(words));
        self.close(name);
    }

    /// A text at a place.
    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), words: &str) {
        self.words("text", &[("class", &class), ("x", &Px(x)), ("y", &Px(y))], words);
    }

    /// Words in lines of at most `width` characters, `height` pixels apart, below this place; returns
    /// the height of the last line.
    pub(super) fn lines(&mut self, (x, mut y): (f64, f64), words: &str, width: usize, height: f64) -> f64 {
        for line in wrapped(words, width, 0).lines() {
            y += height;
            self.text("q", (x, y), line);
        }
        y
    }

    /// A rectangle: its place, its width and its height.
    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4], more: Attributes) {
        let place: Attributes =
            &[("x", &Px(x)), ("y", &Px(y)), ("width", &Px(width)), ("height", &Px(height))];
        self.leaf("rect", &[place, more].concat());
    }

    /// A path with more attributes, unless nothing is drawn.
    pub(super) fn path(&mut self, class: &str, data: &Data, more: Attributes) {
        if !data.text.is_empty() {
            let own: Attributes = &[("class", &class), ("d", &data.text)];
            self.leaf("path", &[own, more].concat());
        }
    }

    fn begin(&mut self, name: &str, attributes: Attributes) {
        let _ = write!(self.text, "<{name}");
        let mut classes = String::new();
        for (name, value) in attributes {
            let value = escaped(&value.to_string());
            let _ = write!(self.text, " {name}=\"{value}\"");
            if *name == "class" {
                classes = value;
            }
        }
        for (name, value) in colours::attributes(&classes, self.dark) {
            let _ = write!(self.text, " {name}=\"{value}\"");
        }
    }
}

/// Text as XML has it, without the characters that XML cannot hold.
pub(super) fn escaped(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A length or a place in pixels, with a digit after the point where there is something to say.
#[derive(Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.tenths() as f64 / 10.0)
    }
}

impl Px {
    /// The place as written.
    fn tenths(self) -> i64 {
        (self.0 * 10.0).round() as i64
    }
}

/// The data of a path. Each place is written as seen from the one before. Places are rounded before
/// distances are taken, so that nothing adds up over a path.
#[derive(Default)]
pub(super) struct Data {
    pub(super) text: String,
    /// The present place, in tenths of pixels.
    at: [i64; 2],
}

impl Data {
    /// Straight lines from the first place through the others.
    pub(super) fn lines(&mut self, places: &[(f64, f64)]) {
        for (number, &place) in places.iter().enumerate() {
            match self.by(&[place])[..] {
                ref by if number == 0 => self.push('m', by),
                [by, 0] => self.push('h', &[by]),
                [0, by] => self.push('v', &[by]),
                ref by => self.push('l', by),
            }
        }
    }

    /// A line that leaves towards the second place, and arrives from the third one at the last.
    pub(super) fn curve(&mut self, places: [(f64, f64); 4]) {
        self.lines(&places[..1]);
        let by = self.by(&places[1..]);
        self.push('c', &by);
    }

    /// Straight lines through these places and back to the first.
    pub(super) fn polygon(&mut self, places: &[(f64, f64)]) {
        self.lines(places);
        self.text.push('z');
        self.by(&places[..1]);
    }

    /// The distances to these places; the last place becomes the present one.
    fn by(&mut self, places: &[(f64, f64)]) -> Vec<i64> {
        let to = |&(x, y): &(f64, f64)| [x, y].map(|place| Px(place).tenths());
        let [x, y] = self.at;
        self.at = places.last().map_or(self.at, to);
        places.iter().map(to).flat_map(|[to_x, to_y]| [to_x - x, to_y - y]).collect()
    }

    fn push(&mut self, command: char, by: &[i64]) {
        self.text.push(command);
        for (number, &tenths) in by.iter().enumerate() {
            // A sign parts numbers, too.
            let gap = if number > 0 && tenths >= 0 { " " } else { "" };
            let _ = write!(self.text, "{gap}{}", tenths as f64 / 10.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_from_the_one_before() {
        let mut data = Data::default();
        data.lines(&[(100.0, 200.04), (100.0, 211.0)]);
        data.lines(&[(100.0, 222.0), (100.0, 9.0)]);
        data.polygon(&[(0.0, 1.0), (20.5, 1.0), (20.5, 3.0), (0.0, 3.0)]);
        data.curve([(3.0, 0.0), (100.0, 0.0), (100.0, 50.0), (200.0, 50.0)]);
        data.lines(&[(200.0, 50.0), (201.0, 40.0)]);
        assert_eq!(data.text, "m100 200v11m0 11v-213m-100-8h20.5v2h-20.5zm3-1c97 0 97 50 197 50m0 0l1-10");
        // Steps of a third do not add up to another place.
        let mut data = Data::default();
        (0..=300).for_each(|step| data.lines(&[(1000.0 + f64::from(step) / 3.0, 0.0)]));
        let steps = data.text;
        let sum: f64 =
            steps.split('m').skip(1).map(|step| step[..step.len() - 2].parse::<f64>().unwrap()).sum();
        assert!((sum - 1100.0).abs() < 1e-6, "{steps}");
    }

    #[test]
    fn numbers_are_short_and_text_is_escaped() {
        let shown = |number| Px(number).to_string();
        assert_eq!([1.0, 1.04, 1.05, -0.25, -3.0, 12.96].map(shown), ["1", "1", "1.1", "-0.3", "-3", "13"]);
        let mut svg = Svg::default();
        svg.open("g", &[("class", &"a\"<b")]);
        svg.words("text", &[], "1 < 2 & \u{1b}[1m");
        svg.close("g");
        assert_eq!(svg.text, "<g class=\"a&quot;&lt;b\"><text>1 &lt; 2 &amp; [1m</text>\n</g>\n");
    }
}
