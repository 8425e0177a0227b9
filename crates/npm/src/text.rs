//! WGSL for browsers: without comments and indentation, in declarations that kernels share.

/// Returns WGSL without comments, indentation and blank lines.
pub(crate) fn short(text: &str) -> String {
    let line = |line: &str| line.split("//").next().unwrap_or_default().trim().to_owned();
    let lines: Vec<String> = text.lines().map(line).filter(|line| !line.is_empty()).collect();
    lines.join("\n") + "\n"
}

/// The place of a value in a list without repetitions.
pub(crate) fn number<T: PartialEq>(all: &mut Vec<T>, value: T) -> usize {
    all.iter().position(|known| *known == value).unwrap_or_else(|| {
        all.push(value);
        all.len() - 1
    })
}

/// Declarations, each once.
#[derive(Default)]
pub(crate) struct Items(pub(crate) Vec<String>);

impl Items {
    /// The numbers of the declarations in a text, in order.
    pub(crate) fn of(&mut self, text: &str) -> Vec<usize> {
        let mut numbers = Vec::new();
        let mut add = |item| numbers.push(number(&mut self.0, item));
        let (mut item, mut depth) = (String::new(), 0);
        for line in short(text).lines() {
            let count = |bracket: &[char]| line.matches(bracket).count() as i32;
            depth += count(&['{', '(']) - count(&['}', ')']);
            item += line;
            item += "\n";
            // Attributes belong to the next declaration.
            if depth == 0 && line.ends_with([';', '}']) {
                add(std::mem::take(&mut item));
            }
        }
        if !item.is_empty() {
            add(item);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_shared_and_come_out_in_order() {
        let first = "// A comment.\nconst A = 1u;\n\n@compute @workgroup_size(64)\nfn main(\n    place: vec3<u32>, // Where.\n) {\n    if A > 0u { }\n}\n";
        let second = "const A = 1u;\nstruct B {\n    a: u32,\n}\n";
        let mut items = Items::default();
        let numbers = [first, second].map(|text| items.of(text));
        assert_eq!(numbers, [vec![0, 1], vec![0, 2]]);
        for (text, numbers) in [first, second].into_iter().zip(&numbers) {
            let joined: String = numbers.iter().map(|&number| &*items.0[number]).collect();
            assert_eq!(joined, short(text));
        }
        assert_eq!(short(first).lines().next(), Some("const A = 1u;"));
    }
}
