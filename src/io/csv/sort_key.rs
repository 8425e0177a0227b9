//! Keys as `sort` writes them: `2,2n`, `2nr`, `3n,3`.
//!
//! What orders by the number at the beginning of a field means the same here. The rest is refused with what to write.

/// A key of `sort`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortKey {
    /// The number of the field where it begins, from 1.
    pub field: usize,
    /// Whether it orders by numbers: `n` or `g`.
    pub numeric: bool,
    /// Whether it orders by sizes: `h`.
    pub sizes: bool,
    /// Whether it is reversed.
    pub reversed: bool,
    /// Whether it has any letter, and so the global ones do not count for it.
    pub has_own: bool,
}

impl SortKey {
    /// The key that this text is, if it has the form of one.
    ///
    /// # Errors
    ///
    /// What of it has no meaning here, and what to write instead.
    #[must_use]
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let mut key = Self::default();
        let mut problem = None;
        let (begin, end) = text.split_once(',').map_or((text, None), |(begin, end)| (begin, Some(end)));
        let (field, character) = key.position(begin, &mut problem)?;
        if field == 0 {
            return None;
        }
        if !matches!(character, None | Some(1)) {
            problem.get_or_insert_with(|| {
                format!("characters in a field are not counted here; {field} is the whole field")
            });
        }
        if let Some(end) = end {
            let (last, character) = key.position(end, &mut problem)?;
            if !matches!(character, None | Some(0)) {
                problem.get_or_insert_with(|| {
                    format!("characters in a field are not counted here; {field} is the whole field")
                });
            }
            if last < field {
                problem
                    .get_or_insert_with(|| format!("it ends before it begins; {field} is the whole field"));
            }
        }
        key.field = field;
        Some(problem.map_or(Ok(key), Err))
    }

    /// A field, the character in it if there is one, and the letters after it, which are added; `None` for what is no such
    /// thing.
    fn position(&mut self, text: &str, problem: &mut Option<String>) -> Option<(usize, Option<usize>)> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (field, mut rest) = text.split_at(digits(text));
        let field = field.parse().ok()?;
        let mut character = None;
        if let Some(after) = rest.strip_prefix('.') {
            let number;
            (number, rest) = after.split_at(digits(after));
            character = Some(number.parse().ok()?);
        }
        for letter in rest.chars() {
            match letter {
                'n' | 'g' => self.numeric = true,
                'h' => self.sizes = true,
                'r' => self.reversed = true,
                'b' => {}
                'd' | 'f' | 'i' | 'M' | 'R' | 'V' => {
                    let said = || {
                        format!(
                            "{letter} is about text, and keys are numbers and times here; {field}n orders by numbers"
                        )
                    };
                    problem.get_or_insert_with(said);
                }
                _ => return None,
            }
            self.has_own = true;
        }
        Some((field, character))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_order_by_numbers() {
        let n = SortKey { field: 2, numeric: true, has_own: true, ..SortKey::default() };
        for (text, expected) in [
            ("2", SortKey { field: 2, ..SortKey::default() }),
            ("2,2", SortKey { field: 2, ..SortKey::default() }),
            ("2n", n),
            ("2,2n", n),
            ("2n,2", n),
            ("2bg,4", n),
            ("2.1n,2.0", n),
            ("2nr", SortKey { reversed: true, ..n }),
            ("2rn,2", SortKey { reversed: true, ..n }),
            ("2h", SortKey { numeric: false, sizes: true, ..n }),
        ] {
            assert_eq!(SortKey::parse(text), Some(Ok(expected)), "{text}");
        }
    }

    #[test]
    fn other_keys_are_refused_with_what_to_write() {
        for (text, said) in [
            ("2.3n", "2 is the whole field"),
            ("2,2.5", "2 is the whole field"),
            ("3,2n", "3 is the whole field"),
            ("2V", "V is about text"),
            ("1,1f", "1n orders by numbers"),
        ] {
            let problem = SortKey::parse(text).unwrap().unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
        for text in
            ["", "n", "price", "2x", "2:r", ",2", "2,", "2,n", "2n,x", "-1", "2.n", "99999999999999999999"]
        {
            assert_eq!(SortKey::parse(text), None, "{text}");
        }
    }
}
