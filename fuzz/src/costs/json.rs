//! JSON as a tree that a fuzzer edits.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value; a name may occur twice in an object.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The fields of a structure, each once and no others; it may be an array of them in this
    /// order, too.
    pub(super) fn fields<const N: usize>(&self, names: [&str; N], optional: &[&str]) -> Option<[&Self; N]> {
        match self {
            Self::Array(fields) if fields.len() == N => Some(std::array::from_fn(|at| &fields[at])),
            Self::Object(fields) => {
                if fields.iter().any(|(name, _)| !names.contains(&name.as_str())) {
                    return None;
                }
                let mut found = [&Self::Null; N];
                for (place, name) in found.iter_mut().zip(names) {
                    let mut same = fields.iter().filter(|(other, _)| other == name);
                    match (same.next(), same.next()) {
                        (Some((_, field)), None) => *place = field,
                        (None, None) if optional.contains(&name) => {}
                        _ => return None,
                    }
                }
                Some(found)
            }
            _ => None,
        }
    }

    pub(super) fn elements(&self) -> Option<&[Self]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn float(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    pub(super) fn integer(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// Changes one value: a byte selects the value, another the change, a third the operand.
    pub(super) fn edit(&mut self, edit: &[u8]) {
        let &[which, how, what] = edit else { return };
        let mut left = usize::from(which) % self.len();
        self.edit_at(&mut left, how, what);
    }

    /// All values in it.
    fn len(&self) -> usize {
        1 + match self {
            Self::Array(elements) => elements.iter().map(Self::len).sum(),
            Self::Object(fields) => fields.iter().map(|(_, field)| field.len()).sum::<usize>(),
            _ => 0,
        }
    }

    /// Changes the value at position `left` in depth-first order.
    fn edit_at(&mut self, left: &mut usize, how: u8, what: u8) -> bool {
        if *left == 0 {
            self.change(how, what);
            return true;
        }
        *left -= 1;
        match self {
            Self::Array(elements) => elements.iter_mut().any(|element| element.edit_at(left, how, what)),
            Self::Object(fields) => fields.iter_mut().any(|(_, field)| field.edit_at(left, how, what)),
            _ => false,
        }
    }

    fn change(&mut self, how: u8, what: u8) {
        const VALUES: &str = r#"0 1 2 3 4 8 16 1000 65536 65537 1048576 1e6 0.5 1.5 -1 -0 -0.0 1e-320 1e308 0.1
            4294967295 4294967296 18446744073709551615 18446744073709551616 9007199254740993
            1.7976931348623157e308 2.2250738585072014e-308 null true false "G" [] {} [1,1]
            [65536,1] [2000000,3.25] 64 7 100.25 5e-324"#;
        let at = usize::from(what);
        let value = || {
            let text = VALUES.split_whitespace().nth(at % 40);
            serde_json::from_str(text.unwrap_or_default()).expect("it is JSON")
        };
        match (how % 8, self) {
            (0, Self::Array(elements)) if !elements.is_empty() => {
                elements.remove(at % elements.len());
            }
            (0, Self::Object(fields)) if !fields.is_empty() => {
                fields.remove(at % fields.len());
            }
            (1, Self::Array(elements)) if !elements.is_empty() => {
                let copy = elements[at % elements.len()].clone();
                elements.push(copy);
            }
            (1, Self::Object(fields)) if !fields.is_empty() => {
                let copy = fields[at % fields.len()].clone();
                fields.push(copy);
            }
            (2, Self::Array(elements)) => elements.reverse(),
            (2, Self::Object(fields)) => fields.reverse(),
            (3, Self::Array(elements)) => elements.insert(at / 64 % (elements.len() + 1), value()),
            (3, Self::Object(fields)) if at % 2 == 0 => fields.push(("more".to_owned(), value())),
            (3, this @ Self::Object(_)) => {
                // Its fields without their names.
                let Self::Object(fields) = std::mem::replace(this, Self::Null) else { return };
                *this = Self::Array(fields.into_iter().map(|(_, field)| field).collect());
            }
            (4, Self::Number(number)) => {
                // Another number of the same kind.
                let factor = [0.5, 2.0, 1.0 + f64::EPSILON, 1.1, 3.0, 1e9, 1e-9, -1.0][at % 8];
                let scaled = number.as_f64().unwrap_or_default() * factor;
                let scaled = match number.as_u64() {
                    Some(_) if scaled >= 0.0 => Some((scaled as u64).into()),
                    _ => serde_json::Number::from_f64(scaled),
                };
                *number = scaled.unwrap_or(1.into());
            }
            (_, this) => *this = value(),
        }
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(Self::to_string).collect();
                write!(f, "[{}]", elements.join(","))
            }
            Self::Object(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, field)| format!("{}:{field}", quoted(name))).collect();
                write!(f, "{{{}}}", fields.join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Json;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Number(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Number(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(serde_json::Number::from_f64(value).map_or(Json::Null, Json::Number))
            }

            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = access.next_element()? {
                    elements.push(element);
                }
                Ok(Json::Array(elements))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = access.next_entry()? {
                    fields.push(field);
                }
                Ok(Json::Object(fields))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
