//! Getters of private fields.

/// Getters of private fields, by value.
macro_rules! getters {
    ($type:ident { $($(#[$doc:meta])* $name:ident: $of:ty,)+ }) => {
        impl $type {$(
            $(#[$doc])*
            pub fn $name(&self) -> $of {
                self.$name
            }
        )+}
    };
}
pub(crate) use getters;
