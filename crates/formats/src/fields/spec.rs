//! The decisions about the inputs: their format, the keys and the order.

use gpusort_order::key::ElementType;

use super::dialect::{Dialect, Fields};
use super::header::{ColumnAt, ResolvedKey};
use super::key::{Axis, KeySpec};
use crate::binary::BinaryInput;
use crate::number::PerLine;
use crate::order::{KeyOrder, Reading, TextOrder};
use crate::text::LineEnd;

/// The common format of all inputs.
#[derive(Clone, Debug)]
pub enum InputKind {
    /// Numbers separated by white space.
    Text(PerLine),
    /// Rows of a table.
    Table(Dialect),
    /// Binary elements, with the source for each input.
    Bits(Vec<BinaryInput>),
}

impl InputKind {
    /// Returns the dialect of the records.
    pub fn dialect(&self) -> Dialect {
        let tokens = Dialect { fields: Fields::Tokens, header: 0, comments: false };
        if let Self::Table(dialect) = self { *dialect } else { tokens }
    }
}

/// The decided format of the inputs, and the order of their records.
#[derive(Clone, Debug)]
pub struct InputSpec {
    /// The common format.
    pub kind: InputKind,
    /// The requested order.
    pub by: KeySpec,
    /// The keys of text and tables.
    pub keys: Vec<ResolvedKey>,
    /// The columns of a table with quotes.
    pub columns: usize,
}

impl InputSpec {
    /// Returns true if a key was requested.
    pub fn has_key(&self) -> bool {
        !self.by.keys.is_empty()
    }

    /// Returns the sources of binary elements.
    pub fn bits(&self) -> Option<&[BinaryInput]> {
        if let InputKind::Bits(sources) = &self.kind { Some(sources) } else { None }
    }

    /// Returns the numbers per line and their order if the records may be plain numbers, which are read
    /// without keeping the text.
    pub fn numbers(&self) -> Option<(PerLine, KeyOrder)> {
        let per_line = self.per_line().filter(|_| self.kind.dialect().header == 0)?;
        Some((per_line, self.keys[0].order))
    }

    /// Returns the numbers per line if the records may be plain numbers: tokens, or lines whose first field is
    /// a number, followed by the whole line as the only other key.
    pub(super) fn per_line(&self) -> Option<PerLine> {
        match &self.kind {
            &InputKind::Text(per_line) => Some(per_line),
            InputKind::Table(Dialect { fields: Fields::Words(LineEnd::Lf), comments: false, .. }) => {
                let [first, rest @ ..] = &self.keys[..] else { return None };
                let is_plain = first.column == ColumnAt::Field(0)
                    && first.order.reading == Reading::Numbers
                    && !first.order.leading
                    && first.sign.is_none()
                    && first.spelling.is_default();
                (is_plain && rest.iter().all(|key| key.order.is_last_resort)).then_some(PerLine::Whole)
            }
            _ => None,
        }
    }

    /// Returns the order of each key.
    pub fn orders(&self) -> Vec<KeyOrder> {
        match self.kind {
            InputKind::Bits(_) => vec![self.by.order],
            _ => self.keys.iter().map(|key| key.order).collect(),
        }
    }

    /// Returns the element type of binary inputs; `None` for text.
    pub fn element(&self) -> Option<ElementType> {
        self.bits()?.first().map(|source| source.element)
    }

    /// Returns the names of the kinds of the keys, separated by commas, or of the element type.
    pub fn kinds(&self) -> String {
        if let Some(element) = self.element() {
            return element.name().to_owned();
        }
        let is_other = |key: &&ResolvedKey| key.axis != Some(Axis::Second) && !key.order.is_last_resort;
        let keys = self.keys.iter().filter(|key| is_other(key) || self.keys.len() == 1);
        keys.map(ResolvedKey::kind_name).collect::<Vec<_>>().join(",")
    }

    /// Returns the maximum size of copied keys in bytes per byte of a record: copies of texts compared
    /// in another form than written, and copies of quoted fields with quotes inside.
    pub(crate) fn copies(&self) -> (u64, u64) {
        let orders = self.keys.iter().map(|key| key.order).filter(|order| order.reading.is_text());
        let compared = orders.clone().map(|order| match order.text_order() {
            // Version keys turn a letter and a digit into three bytes.
            TextOrder::Version => 2,
            _ => u64::from(!order.compares_bytes()),
        });
        let is_quoted = matches!(self.kind.dialect().fields, Fields::Quoted(_));
        (compared.sum(), if is_quoted { orders.count() as u64 } else { 0 })
    }
}
