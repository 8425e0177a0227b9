//! Column names and their lookup.

use std::sync::Arc;

use gpusort_order::key::ElementType;
use gpusort_values::names::Names;
use gpusort_values::number::Sign;
use gpusort_values::time::TimeForm;

use super::dialect::{Dialect, Fields, Gap};
use super::key::{Axis, ColumnRef, Key, KeyMeaning, KeySpec, Kind, Modifiers, direction};
use super::rows::{LONE_CR, UNCLOSED, for_each_field, has_lone_cr};
use crate::blanks::trimmed;
use crate::error::{Error, Hint, Remedy};
use crate::format::Format;
use crate::human::quoted;
use crate::json::{self, Path};
use crate::order::{KeyOrder, Reading, TextOrder};
use crate::spelling::Spelling;
use crate::text::LineEnd;

/// A key whose column was found, with the order of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedKey {
    /// The place of the field in a record.
    pub column: ColumnAt,
    /// The name or number of the column, as typed; for points, `hilbert(x,y)`.
    pub typed: String,
    /// The column of points.
    pub axis: Option<Axis>,
    /// The modifier of the key's own direction: `:r`, `:a` or none.
    pub direction: &'static str,
    /// True for a key with `:nocase` or the letter `f` of `sort`.
    pub nocase: bool,
    /// The name of the column, or its number if the table has no names.
    pub name: String,
    /// The order. Its reading becomes the kind once that was decided.
    pub order: KeyOrder,
    /// The requested type of its numbers.
    pub element: Option<ElementType>,
    /// True if the kind was inferred from the fields.
    pub is_found: bool,
    /// The currency or percent sign common to all numbers.
    pub sign: Option<Sign>,
    /// The form common to all times.
    pub form: Option<TimeForm>,
    /// The spelling of fields.
    pub spelling: Arc<Spelling>,
    /// The names of a list, without case if the order ignores case.
    pub names: Option<Arc<Names>>,
}

/// The place of a key's field in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnAt {
    /// The field of this number, counted from 0.
    Field(usize),
    /// From the field of this number to the end of the line.
    Rest(usize),
    /// The last field.
    Last,
    /// The whole record.
    Whole,
    /// Between two gaps, in characters.
    Between(Gap, Option<Gap>),
    /// A value of JSON.
    Path(Path),
}

impl ResolvedKey {
    fn new(said: Modifiers, by: &KeySpec, column: ColumnAt, name: String) -> Self {
        let order = said.order(by);
        Self {
            column,
            typed: name.clone(),
            axis: said.axis,
            direction: match said.descending {
                Some(true) => ":r",
                Some(false) if by.order.descending => ":a",
                _ => "",
            },
            nocase: said.nocase,
            name,
            order,
            element: by.element,
            is_found: false,
            sign: None,
            form: None,
            spelling: by.spelling.clone(),
            names: None,
        }
    }

    /// Returns the key with this kind, as a user writes it.
    pub fn with_kind(&self, kind: &str) -> String {
        let nocase = if self.nocase && kind == "text" { ":nocase" } else { "" };
        format!("{}:{kind}{nocase}{}", self.typed, self.direction)
    }

    /// Returns the key of the whole record: as a version if the global kind is versions, or else as text.
    pub fn record(by: &KeySpec) -> Self {
        let is_version = by.order.reading == Reading::Text(TextOrder::Version);
        let kind = if is_version { Kind::Version } else { Kind::Text };
        Self::whole(Modifiers::default(), by, kind)
    }

    /// Returns the key of the whole record as this kind, whatever the global kind is.
    fn whole(said: Modifiers, by: &KeySpec, kind: Kind) -> Self {
        Self::new(Modifiers { kind: Some(kind), ..said }, by, ColumnAt::Whole, "0".to_owned())
    }

    /// Returns the key of the first field, for lines without a requested key.
    pub fn first_field(by: &KeySpec) -> Self {
        Self::new(Modifiers::default(), by, ColumnAt::Field(0), "1".to_owned())
    }

    /// Returns the spelling of fields for a change.
    pub fn spelling_mut(&mut self) -> &mut Spelling {
        Arc::make_mut(&mut self.spelling)
    }

    /// Returns the name of the key, which for points has both columns.
    pub fn label(&self) -> &str {
        if self.axis.is_some() { &self.typed } else { &self.name }
    }

    /// Returns the name for messages.
    pub fn shown(&self) -> String {
        quoted(&self.name)
    }
}

/// The number of columns of a table, and their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of columns; `usize::MAX` for lines.
    pub columns: usize,
    /// The names without quotes, which may not be UTF-8; `None` without a header.
    names: Option<Vec<Vec<u8>>>,
    /// The first byte of JSON. The names come from the first object; later objects may differ.
    json: Option<u8>,
}

/// The number of columns of lines, which may vary.
const ANY: usize = usize::MAX;

impl Header {
    /// Reads the first row, header or not, and returns where the next row begins. The input ends at
    /// `end`, and a line end always follows.
    ///
    /// # Errors
    ///
    /// The problem with the row.
    pub fn read(
        bytes: &[u8],
        start: usize,
        end: usize,
        dialect: Dialect,
    ) -> Result<(usize, Self), &'static str> {
        if dialect.fields == Fields::Json {
            let next = memchr::memchr(b'\n', &bytes[start..]).map_or(end, |length| start + length + 1);
            let names = json::names(&bytes[start..next]);
            return Ok((next, Self { names, json: Some(bytes[start]), ..Self::of_lines() }));
        }
        let (mut names, mut cr) = (Vec::new(), false);
        let are_lines = dialect.fields.are_of_lines();
        let read = for_each_field(bytes, start, dialect.fields, usize::MAX, |_, field| {
            let field = &bytes[field];
            cr |= !are_lines && has_lone_cr(field);
            names.push(dialect.fields.content(field).into_owned());
        });
        let (next, columns) = read.ok_or(UNCLOSED)?;
        let columns = if are_lines { ANY } else { columns };
        // A CR in an input without any LF; a NUL means binary data.
        let is_one_line = are_lines
            && next > end
            && dialect.fields.line_end() == LineEnd::Lf
            && memchr::memchr(0, &bytes[start..end]).is_none();
        cr |= is_one_line && memchr::memchr(b'\r', bytes[start..end].trim_ascii_end()).is_some();
        if cr && (dialect.header > 0 || next > end) {
            return Err(LONE_CR);
        }
        Ok((next, Self { names: (dialect.header > 0).then_some(names), ..Self::of_columns(columns) }))
    }

    /// Returns the header of a table with this number of columns and without names.
    pub fn of_columns(columns: usize) -> Self {
        Self { columns, names: None, json: None }
    }

    /// Returns the header of a table with this number of columns and these names. Nested fields have
    /// names as well, so there may be more names than columns.
    pub fn of_names<'a>(columns: usize, all: impl IntoIterator<Item = &'a str>) -> Self {
        let names = all.into_iter().map(|name| name.as_bytes().to_vec()).collect();
        Self { names: Some(names), ..Self::of_columns(columns) }
    }

    /// Returns the header of lines or tokens, whose number of fields varies.
    pub fn of_lines() -> Self {
        Self::of_columns(ANY)
    }

    /// Finds the key columns, without duplicates. Without keys, returns the only column.
    ///
    /// # Errors
    ///
    /// A column that does not exist, or whose name is ambiguous.
    pub fn find(&self, by: &KeySpec, table: &str) -> Result<Vec<ResolvedKey>, Error> {
        let only = [Key::number(1)];
        let record = [Key::column(".")];
        let keys = match &by.keys[..] {
            [] if self.columns == 1 => &only[..],
            // JSON lines with numbers or strings instead of objects.
            [] if self.json.is_some() && self.names.is_none() => &record[..],
            [] => {
                let example = self.names().next().and_then(|name| std::str::from_utf8(name).ok());
                let example = example.filter(|name| !name.is_empty()).unwrap_or("1").to_owned();
                let problem = format!("choose a key column: {}", self.shown());
                let remedies = [Remedy::Key(example.into())].into();
                return Err(Error::input(table, problem).hinting(Hint::Remedies(remedies)));
            }
            keys => keys,
        };
        let mut found: Vec<ResolvedKey> = Vec::with_capacity(keys.len());
        for key in keys {
            // A remedy would be one column in place of the points.
            let unhinted = |error: Error| if key.is_axis() { error.unhinted() } else { error };
            let mut column = self.find_one(key, by, table).map_err(unhinted)?;
            if column.axis.is_some() {
                if column.order.reading != Reading::Numbers {
                    let problem = format!("key '{}': hilbert takes no kind; leave it out", quoted(&key.said));
                    return Err(Error::input(table, problem));
                }
                column.typed.clone_from(&key.said);
            }
            if column.order.text_order() == TextOrder::List {
                column.names.clone_from(&key.names);
                if let Some(names) = column.names.as_mut().filter(|_| column.order.nocase) {
                    *names = Arc::new(names.ignoring_case());
                }
            }
            // A repeated column would only compare equal fields.
            let same = |other: &ResolvedKey| {
                (&other.column, other.axis, other.order.reading, &other.names)
                    == (&column.column, None, column.order.reading, &column.names)
                    && other.order.nocase <= column.order.nocase
            };
            if column.axis.is_some() || key.is_apart || !found.iter().any(same) {
                found.push(column);
            }
        }
        Ok(found)
    }

    fn find_one(&self, key: &Key, by: &KeySpec, table: &str) -> Result<ResolvedKey, Error> {
        if self.json.is_some() {
            return self.find_path(key, by, table);
        }
        let named = if key.is_axis() { key.bare_name() } else { &key.said };
        let wrong = |problem: String| Error::input(table, problem);
        for KeyMeaning { column, said } in &key.readings {
            let found = |index, name| ResolvedKey::new(*said, by, ColumnAt::Field(index), name);
            let numbered = |typed, index| Ok(ResolvedKey { typed, ..found(index, self.name_of(index)) });
            match column {
                ColumnRef::Name(name) => {
                    let wanted = trimmed(name.as_bytes());
                    let mut same = (0..).zip(self.names()).filter(|(_, other)| trimmed(other) == wanted);
                    let Some((index, _)) = same.next() else { continue };
                    let number = index + 1;
                    if let Some((other, _)) = same.next() {
                        let other = other + 1;
                        let problem =
                            format!("columns {number} and {other} are both named '{}'", quoted(name));
                        return Err(wrong(problem).hinting(Hint::ColumnNumber(number, other)));
                    }
                    if let Some(other) = self.number_of(key).filter(|&other| other != number) {
                        let named_other = self.name_of(other - 1);
                        let problem = format!(
                            "column {number} is named '{}', and column {other} is named '{}'",
                            quoted(name),
                            quoted(&named_other)
                        );
                        let keys = [(number.to_string(), index), (named_other, other - 1)];
                        let keys = keys.into_iter().filter(|(key, at)| self.leads(key, *at));
                        let modifiers = named.strip_prefix(&name[..]).unwrap_or_default();
                        let mut remedies: Vec<Remedy> =
                            keys.map(|(key, _)| Remedy::Key((key + modifiers).into())).collect();
                        if remedies.is_empty() {
                            remedies.push(Remedy::NoHeader);
                        }
                        return Err(wrong(problem).hinting(Hint::Remedies(remedies.into())));
                    }
                    return Ok(found(index, name.clone()));
                }
                ColumnRef::Number(0) => return Ok(ResolvedKey::whole(*said, by, Kind::Text)),
                ColumnRef::Last if self.columns == ANY => {
                    return Ok(ResolvedKey::new(*said, by, ColumnAt::Last, "-1".to_owned()));
                }
                ColumnRef::Last => return numbered("-1".to_owned(), self.columns - 1),
                ColumnRef::Number(number) if *number <= self.columns => {
                    return numbered(number.to_string(), number - 1);
                }
                ColumnRef::Number(_) => {}
                ColumnRef::Refused(problem) => {
                    return Err(wrong(format!("key '{}': {problem}", quoted(named))));
                }
            }
        }
        let mut missing = format!("no column '{}'", quoted(key.bare_name()));
        let has_names = self.names.is_some();
        if let Some(meant) = self.meant(named).filter(|_| self.separator().is_none()) {
            if has_names {
                missing += &format!("; columns: {}", self.shown());
            }
            let hint = asked(meant, &mut missing);
            return Err(wrong(missing).hinting(hint));
        }
        if has_names && self.names().all(<[u8]>::is_empty) {
            let blank = missing + ": the first line is blank, but should name the columns";
            return Err(Error::input(format!("{table}:1"), blank).hinting(Hint::BlankHeader));
        }
        if self.columns == ANY && !has_names {
            let missing =
                format!("no field '{}': fields of lines are numbered from 1", quoted(key.bare_name()));
            return Err(wrong(missing).hinting(Hint::Header));
        }
        if let Some((_, word)) = named.rsplit_once(':').filter(|(name, _)| self.has(name)) {
            return Err(wrong(format!(
                "key '{}': unknown modifier '{}'; use r, a, nocase, or a kind such as number or text; columns: {}",
                quoted(named),
                quoted(word),
                self.shown()
            )));
        }
        if self.names().any(|name| name.contains(&0)) {
            let missing = missing + ": the first row has a NUL, so the file may be binary data";
            return Err(wrong(missing).hinting(Hint::Format(Format::Binary)));
        }
        let missing = format!("{missing}; columns: {}", self.shown());
        Err(wrong(missing).hinting(self.separator().map_or(Hint::NoColumn, Hint::Delimiter)))
    }

    /// Returns the number of the column that a key gives, if a number can be its meaning.
    fn number_of(&self, key: &Key) -> Option<usize> {
        key.readings.iter().find_map(|reading| match reading.column {
            ColumnRef::Number(number) if !reading.said.is_of_sort => {
                (1..=self.columns).contains(&number).then_some(number)
            }
            ColumnRef::Last if self.columns != ANY => Some(self.columns),
            _ => None,
        })
    }

    /// Returns true if a key with this text can mean the column at this index alone.
    fn leads(&self, key: &str, at: usize) -> bool {
        let named = trimmed(key.as_bytes());
        let is_name = self.names().enumerate().any(|(index, name)| index != at && trimmed(name) == named);
        let is_number =
            key.parse().is_ok_and(|number: usize| number != at + 1 && (1..=self.columns).contains(&number));
        !is_name && !is_number
    }

    /// Returns the name of a column, or its number if the table has no names.
    pub fn name_of(&self, index: usize) -> String {
        let name = self.names.as_ref().and_then(|names| names.get(index));
        name.map_or_else(|| (index + 1).to_string(), |name| String::from_utf8_lossy(name).into_owned())
    }

    /// Finds the value that a key names in JSON: a member of the first object, or else a path.
    fn find_path(&self, key: &Key, by: &KeySpec, table: &str) -> Result<ResolvedKey, Error> {
        let mut path = None;
        for KeyMeaning { column, said } in &key.readings {
            match column {
                ColumnRef::Name(name) if self.has_name(name) => {
                    let column = ColumnAt::Path(Path::member(name));
                    return Ok(ResolvedKey::new(*said, by, column, name.clone()));
                }
                ColumnRef::Name(name) => path = Some((name.clone(), said)),
                ColumnRef::Number(0) => return Ok(ResolvedKey::whole(*said, by, Kind::Text)),
                ColumnRef::Last => _ = path.get_or_insert(("-1".to_owned(), said)),
                ColumnRef::Number(number) => _ = path.get_or_insert((number.to_string(), said)),
                ColumnRef::Refused(_) => {}
            }
        }
        let (name, said) = path.unwrap_or_else(|| (key.said.clone(), &key.readings[0].said));
        let path = Path::parse(&name).map_err(|problem| {
            Error::input(table, format!("'{}' is not a valid path: {problem}", quoted(&name)))
                .hinting(Hint::Path)
        })?;
        Ok(ResolvedKey::new(*said, by, ColumnAt::Path(path), name))
    }

    /// Returns the problem and a hint for a key that no record has.
    pub fn lacking(&self, key: &ResolvedKey) -> (String, Option<Hint>) {
        let mut problem = format!("no record has the field '{}'", key.shown());
        if self.names().next().is_some() {
            problem += &format!("; the first record has {}", self.shown());
        }
        if self.json == Some(b'[') {
            return (problem, Some(Hint::Through(json::OF_ARRAY)));
        }
        let hint = self.meant(&key.name).map(|meant| asked(meant, &mut problem));
        (problem, hint)
    }

    /// Returns the header without names, for rows with the same number of columns.
    pub fn unnamed(self) -> Self {
        Self { names: None, ..self }
    }

    /// Returns the names of the columns; empty without a header.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().flatten().map(Vec::as_slice)
    }

    /// Returns a likely separator if the names contain one, yet form a single column.
    pub fn separator(&self) -> Option<char> {
        let [name] = &self.names.as_ref()?[..] else { return None };
        [';', '\t', '|', ','].into_iter().find(|&separator| name.contains(&(separator as u8)))
    }

    /// Returns the keys that an unknown key probably meant, and the name of the column if it differs
    /// from the typed one.
    fn meant(&self, named: &str) -> Option<(Option<String>, Vec<String>)> {
        let parts = named.split(',').filter(|part| self.has(part.strip_suffix(":r").unwrap_or(part)));
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        if parts.len() > 1 && parts.len() == named.split(',').count() {
            return Some((None, parts));
        }
        let worded = named.rsplit_once([':', ' ']).and_then(|(name, word)| Some((name, direction(word)?)));
        let signed = named.strip_prefix('-').map(|name| (name, ":r"));
        [signed, Some((named, "")), worded].into_iter().flatten().find_map(|(name, direction)| {
            let like = if self.has(name) { None } else { Some(self.like(name)?) };
            let key = format!("{}{direction}", like.as_deref().unwrap_or(name));
            Some((like, vec![key]))
        })
    }

    /// Returns true if a column has exactly this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.names().any(|other| other == name.as_bytes())
    }

    /// Returns true if a column has this name or number.
    fn has(&self, name: &str) -> bool {
        // JSON has no numbers of columns.
        let is_number = || name.parse().is_ok_and(|number: usize| (1..=self.columns).contains(&number));
        self.has_name(name) || self.json.is_none() && is_number()
    }

    /// Returns the name that equals this one except for case and signs, or else the only name that
    /// contains it.
    fn like(&self, name: &str) -> Option<String> {
        let plain =
            |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let wanted = plain(name);
        let all = || self.names().filter_map(|name| std::str::from_utf8(name).ok());
        let mut containing = all().filter(|name| plain(name).contains(&wanted));
        let found = all()
            .find(|name| plain(name) == wanted)
            .or_else(|| containing.next().filter(|_| containing.next().is_none()));
        found.filter(|_| !wanted.is_empty()).map(str::to_owned)
    }

    /// Returns the list of columns for messages.
    fn shown(&self) -> String {
        const MOST: usize = 20;
        let Some(names) = &self.names else {
            return if self.columns == 1 { "1".to_owned() } else { format!("1 to {}", self.columns) };
        };
        let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("'{}'", quoted(name))).collect();
        let more = names.len().saturating_sub(MOST);
        shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
    }
}

/// Adds the name that a key probably meant to a problem. Returns the hint that names the keys.
fn asked((like, keys): (Option<String>, Vec<String>), problem: &mut String) -> Hint {
    if let Some(like) = like {
        *problem += &format!("; did you mean '{}'?", quoted(like));
    }
    Hint::Keys(keys.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;

    fn found(header: &str, key: &str) -> Result<(usize, bool), Error> {
        let dialect = Dialect { fields: Fields::Quoted(b','), header: 1, comments: false };
        let (_, header) = Header::read(header.as_bytes(), 0, header.len(), dialect).unwrap();
        let keys = vec![Key::parse(key), Key::parse(key)];
        let by = KeySpec { keys, ..KeySpec::default() };
        let found = header.find(&by, "t.csv")?;
        assert_eq!(found.len(), 1, "the second time is of no use");
        let ColumnAt::Field(column) = found[0].column else { panic!("{key}") };
        Ok((column, found[0].order.descending))
    }

    #[test]
    fn columns_by_name_then_by_number() {
        let header = "id,\"unit, price\",2,x:r,x,y,y\n";
        for (key, expected) in [
            ("id", (0, false)),
            ("unit, price:r", (1, true)),
            ("3:r", (2, true)),
            ("3:a", (2, false)),
            ("x:r", (3, false)),
            ("x:a", (4, false)),
            ("7", (6, false)),
        ] {
            assert_eq!(found(header, key).unwrap(), expected, "{key}");
        }
        let missing = "t.csv: no column 'none'; columns: 'id', 'unit, price', '2', 'x:r', 'x', 'y', 'y'";
        assert_eq!(found(header, "none").unwrap_err().to_string(), missing);
        let hinted = |header, key, hint: &str| {
            let said = found(header, key).unwrap_err().to_string();
            assert!(said.ends_with(hint), "{said}");
        };
        let meant = |key, like: Option<&str>, keys: &[&str]| {
            let keys = keys.iter().map(|&key| key.to_owned()).collect();
            let error = found("id,%MEM,item price,price,2\n", key).unwrap_err();
            assert_eq!(error.hint(), Some(&Hint::Keys(keys)), "{key}");
            let asked = error.to_string().split("did you mean ").nth(1).map(str::to_owned);
            assert_eq!(asked, like.map(|like| format!("'{like}'?")), "{key}");
        };
        meant("ID", Some("id"), &["id"]);
        meant("MEM:r", Some("%MEM"), &["%MEM:r"]);
        meant("Item_Price", Some("item price"), &["item price"]);
        meant("item", Some("item price"), &["item price"]);
        meant("price:DESC", None, &["price:r"]);
        meant("price desc", None, &["price:r"]);
        meant("Price:descending", Some("price"), &["price:r"]);
        meant("price:asc", None, &["price:a"]);
        meant("price:n", None, &["price"]);
        meant("-price", None, &["price:r"]);
        meant("price,id:r", None, &["price", "id:r"]);
        // The number 2 is also the name of another column.
        let either = found(header, "2").unwrap_err();
        let remedies = ["3", "unit, price"].map(|key| Remedy::Key(key.into()));
        assert_eq!(either.hint(), Some(&Hint::Remedies(remedies.into())), "{either}");
        for key in ["price,none", "x:desc", "-", "ric:n2", ":desc", "i"] {
            assert_eq!(found("id,price\n", key).unwrap_err().hint(), Some(&Hint::NoColumn), "{key}");
        }
        assert_eq!(found("a:desc,a\n", "a:desc").unwrap(), (0, false));
        // Keys in the syntax of `sort`; a column with such a name takes precedence.
        for (key, expected) in
            [("2,2nr", (1, true)), ("3n", (2, false)), ("3,3", (2, false)), ("x:r", (3, false))]
        {
            assert_eq!(found(header, key).unwrap(), expected, "{key}");
        }
        assert_eq!(found("2nr,3\n", "2nr").unwrap(), (0, false));
        hinted(
            header,
            "2.3n",
            "key '2.3n': positions within a field are not supported; use 2,2n for the whole field",
        );
        for (header, separator) in [("a;b\n", ';'), ("a\tb\n", '\t')] {
            assert_eq!(found(header, "b").unwrap_err().hint(), Some(&Hint::Delimiter(separator)));
        }
        assert!(found(header, "8").is_err());
        let both = found(header, "y").unwrap_err();
        assert_eq!(both.to_string(), "t.csv: columns 6 and 7 are both named 'y'");
        assert_eq!(both.hint(), Some(&Hint::ColumnNumber(6, 7)));
    }
}
