//! The errors of fields that do not fit the decided kind.

use super::column::NotAdded;
use super::header::ResolvedKey;
use super::spec::InputSpec;
use crate::error::{Error, Hint, Remedy};
use crate::human::quoted;
use crate::json;
use crate::keys::texts::kind_of;
use crate::order::{Class, Reading};

impl ResolvedKey {
    /// Returns the name of the kind.
    pub fn kind_name(&self) -> &'static str {
        self.kind().0
    }

    /// Returns the name of the kind, and a field of the kind for messages.
    fn kind(&self) -> (&'static str, &'static str) {
        match self.order.reading {
            _ if self.axis.is_some() => ("hilbert", "a number"),
            Reading::Numbers => (self.element.map_or("number", |element| element.name()), "a number"),
            Reading::Sizes => ("size", "a size"),
            Reading::Times => ("time", "a time"),
            Reading::Durations => ("duration", "a duration"),
            Reading::Text(order) => (kind_of(order).name, kind_of(order).noun),
            Reading::Any => ("any", "a number"),
        }
    }
}

/// Returns the error of a field of this key, at `file:line`, that does not fit the decided kind.
pub fn misfit(how: &InputSpec, key: &ResolvedKey, place: String, token: &[u8], reason: NotAdded) -> Error {
    let shown = quoted(token);
    let unlike = |expected: &str| Error::input(place.clone(), format!("'{shown}' is not {expected}"));
    let error = match reason {
        NotAdded::Null(Class::Empty) => {
            return Error::input(place, "the field is empty").hinting(Hint::Empty);
        }
        NotAdded::Null(Class::Nan) => {
            return Error::input(place, format!("'{shown}' is NaN")).hinting(Hint::Nan);
        }
        NotAdded::Type(element) => {
            return unlike(&format!("a number that {element} holds")).hinting(Hint::OtherType(element));
        }
        NotAdded::Json | NotAdded::TooLong => {
            let is_array_of_objects = key.name == "."
                && matches!(token, [b'[', rest @ ..] if rest.trim_ascii_start().starts_with(b"{"));
            let hint = if is_array_of_objects { Hint::Through(json::OF_ARRAY) } else { Hint::Invalid };
            return unlike("a number, a string, true, false or null").hinting(hint);
        }
        NotAdded::Apart(is_zone) => unlike(match key.form {
            Some(form) if is_zone && form.zone => "a time with a time zone, as the times before",
            Some(_) if is_zone => "a time without a time zone, as the times before",
            Some(form) if form.year => "a time with a year, as the times before",
            _ => "a time without a year, as the times before",
        }),
        NotAdded::Null(Class::Invalid) => match &key.sign {
            Some(sign) => unlike(&format!("a number with the sign '{sign}'")),
            None => unlike(key.kind().1),
        },
    };
    let remedies = match reason {
        NotAdded::Apart(_) if how.has_key() => vec![Remedy::Key(key.with_kind("text").into())],
        _ if how.has_key() || !key.is_found => remedies(key),
        _ => vec![Remedy::Record],
    };
    error.hinting(Hint::Remedies(remedies.into()))
}

/// Returns the remedies that work for any field.
fn remedies(key: &ResolvedKey) -> Vec<Remedy> {
    if !key.is_found {
        return vec![Remedy::Invalid("".into())];
    }
    let given: Box<str> = key.with_kind(key.kind_name()).into();
    // A requested version takes any text.
    let kind = if key.kind_name() == "version" { Remedy::Key(given) } else { Remedy::Invalid(given) };
    vec![Remedy::Key(key.with_kind("text").into()), kind]
}
