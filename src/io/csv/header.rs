//! Column names and their lookup.

use std::sync::Arc;

use gpusort_order::key::ElementType;

use super::column::Field;
use super::dialect::{Dialect, Fields, unquoted};
use super::json::{self, Path, Value};
use super::key::{ColumnRef, Key, KeyMeaning, KeySpec, Kind, Modifiers};
use super::rows::{LONE_CR, UNCLOSED, for_each_field, has_lone_cr};
use crate::error::{Error, Hint};
use crate::human::quoted;
use crate::io::infer::is_valid;
use crate::io::source::LineEnd;
use crate::io::spelling::Spelling;
use crate::io::texts::ComparedText;
use crate::order::{KeyOrder, Reading};

/// A key whose column was found by name or number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// From 0; `None` is the whole line.
    pub(crate) column: Option<usize>,
    /// Its name or number.
    pub(in crate::io) name: String,
    pub(crate) order: KeyOrder,
    /// Where its values are in JSON.
    pub(in crate::io) path: Option<Path>,
    /// The requested type of its numbers.
    pub(in crate::io) element: Option<ElementType>,
    /// Whether it has fields as `sort -b` has them: without blanks before them, and a date and a
    /// time of day are two.
    pub(in crate::io) is_of_sort: bool,
    /// How fields are written, if that is said.
    pub(in crate::io) spelling: Option<Arc<Spelling>>,
    /// Whether it or the command has a letter that says what it is.
    pub(in crate::io) has_letters: bool,
}

impl Found {
    fn new(said: Modifiers, by: &KeySpec, column: Option<usize>, name: String) -> Self {
        let order = said.order(by);
        let is_number = matches!(order.reading, Reading::Numbers | Reading::NumbersOrTimes);
        let element = by.element.filter(|_| is_number);
        let (is_of_sort, has_letters) = (said.of_sort.is_some(), said.has_letters(by));
        let spelling = by.spelling.is_said().then(|| by.spelling.clone());
        Self { column, name, order, path: None, element, is_of_sort, spelling, has_letters }
    }

    /// All of a line, which is text, if nobody says what it is.
    fn whole_line(said: Modifiers, by: &KeySpec) -> Self {
        let mut line = Self::new(said, by, None, "the whole line".to_owned());
        if line.order.reading == Reading::Any {
            line.order.reading = Kind::Text.reading(line.order.nocase);
        }
        line
    }

    /// Whether a field, without surrounding blanks, is not invalid.
    pub(super) fn is_valid(&self, field: &[u8]) -> bool {
        let Some(spelling) = &self.spelling else { return is_valid(field, self.element, self.order) };
        if spelling.is_empty(field) {
            return true;
        }
        // Marks are those of numbers.
        if self.order.reading.text().is_some() {
            return is_valid(field, self.element, self.order);
        }
        match spelling.times.as_ref().filter(|_| self.order.reading == Reading::Times) {
            Some(format) => format.time(field).is_some(),
            None => spelling
                .plain(field, &mut Vec::new())
                .is_some_and(|plain| is_valid(plain, self.element, self.order)),
        }
    }

    /// The same of a field of a row.
    pub(super) fn is_valid_as(&self, field: &Field, value: &[u8]) -> bool {
        if field.fields != Fields::Json {
            return value.is_empty() || self.is_valid(value);
        }
        match field.json() {
            Value::Null => true,
            Value::Other => false,
            // These are words.
            Value::String | Value::Bool if self.order.reading == Reading::Any => true,
            Value::Bool => self.order.reading.text().is_some_and(|form| form.holds(value)),
            Value::Number | Value::String => self.is_valid(value),
        }
    }

    /// The form in messages.
    pub(crate) fn shown(&self) -> String {
        quoted(&self.name)
    }
}

/// The column names of a table, if it has any, and the number of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// [`ANY`] of lines.
    pub(in crate::io) columns: usize,
    /// The names without quotes. `None` without a header.
    names: Option<Names>,
    /// The lines of the header before the names, without CR.
    above: Vec<u8>,
    /// The first byte of JSON. The names are those of its first object; others may have others.
    json: Option<u8>,
}

/// The names of columns, of which there may be very many, not necessarily UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, index: usize) -> Option<&[u8]> {
        let begin = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(begin..*self.ends.get(index)?)
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).filter_map(|index| self.get(index))
    }
}

/// The number of columns of lines, which may have any.
const ANY: usize = usize::MAX;

impl Header {
    /// Reads the first row, header or not; also returns where the next row begins. The input ends
    /// at `end`, and a line end follows in any case.
    ///
    /// # Errors
    ///
    /// What is wrong with the row.
    pub(in crate::io) fn read(
        bytes: &[u8],
        start: usize,
        end: usize,
        dialect: Dialect,
    ) -> Result<(usize, Self), &'static str> {
        if dialect.fields == Fields::Json {
            let next = memchr::memchr(b'\n', &bytes[start..]).map_or(end, |length| start + length + 1);
            let names = json::names(&bytes[start..next]).map(|names| {
                let mut all = Names::default();
                names.iter().for_each(|name| all.push(name));
                all
            });
            return Ok((next, Self { names, json: Some(bytes[start]), ..Self::of_lines() }));
        }
        let (mut names, mut cr) = (Names::default(), false);
        let are_lines = dialect.fields.are_of_lines();
        let read = for_each_field(bytes, start, dialect.fields, usize::MAX, |_, field| {
            let field = &bytes[field];
            cr |= !are_lines && has_lone_cr(field);
            names.push(&if are_lines { field.into() } else { unquoted(field) });
        });
        let (next, columns) = read.ok_or(UNCLOSED)?;
        let columns = if are_lines { ANY } else { columns };
        // An input without LF is one line.
        let is_one_line = are_lines && next > end && dialect.fields.line_end() == LineEnd::Lf;
        cr |= is_one_line && memchr::memchr(b'\r', bytes[start..end].trim_ascii_end()).is_some();
        if cr && (dialect.has_header() || next > end) {
            return Err(LONE_CR);
        }
        Ok((next, Self { names: dialect.has_header().then_some(names), ..Self::of_columns(columns) }))
    }

    /// The same below these lines.
    pub(in crate::io) fn below(self, above: &[u8]) -> Self {
        Self { above: above.iter().copied().filter(|&byte| byte != b'\r').collect(), ..self }
    }

    /// The same with names from a comment, the one that begins here: `#CHROM POS`, `#columns: a b`.
    pub(in crate::io) fn named_by(self, bytes: &[u8], start: usize, fields: Fields) -> Self {
        let mut names = Names::default();
        let line = memchr::memchr(fields.line_end().byte(), &bytes[start..])
            .map_or(bytes, |end| &bytes[..=start + end]);
        // In tables names may be in quotes, which end on the line.
        for_each_field(line, start + 1, fields, usize::MAX, |number, field| {
            let name = if fields.are_of_lines() { line[field].into() } else { unquoted(&line[field]) };
            let is_title = number == 0 && name.ends_with(b":");
            if !is_title {
                names.push(&name);
            }
        });
        Self { names: Some(names), ..self }
    }

    /// Rows of this many columns, without a header.
    pub(in crate::io) fn of_columns(columns: usize) -> Self {
        Self { columns, names: None, above: Vec::new(), json: None }
    }

    /// So many columns of these names, which may be more: those of fields within columns.
    #[cfg(feature = "arrow")]
    pub(crate) fn of_names(columns: usize, all: &[String]) -> Self {
        let mut names = Names::default();
        all.iter().for_each(|name| names.push(name.as_bytes()));
        Self { names: Some(names), ..Self::of_columns(columns) }
    }

    /// Lines, which have any fields, and tokens of text as such.
    pub(in crate::io) fn of_lines() -> Self {
        Self::of_columns(ANY)
    }

    /// Finds the key columns, without duplicates; without names, the only column.
    ///
    /// # Errors
    ///
    /// A column that does not exist, or whose name is ambiguous.
    pub(crate) fn find(&self, by: &KeySpec, table: &str) -> Result<Vec<Found>, Error> {
        let only = [Key::number(1)];
        let record = [Key::column(".")];
        let keys = match &by.keys[..] {
            [] if self.columns == 1 => &only[..],
            // Lines of numbers or strings.
            [] if self.json.is_some() && self.names.is_none() => &record[..],
            [] => {
                let example = self.names().next().and_then(|name| std::str::from_utf8(name).ok());
                let example = example.filter(|name| !name.is_empty()).unwrap_or("1").to_owned();
                let problem = format!("choose a key column: {}", self.shown());
                return Err(Error::input(table, problem).hinting(Hint::Column(example.into())));
            }
            keys => keys,
        };
        let mut found: Vec<Found> = Vec::with_capacity(keys.len());
        for key in keys {
            let mut column = if self.json.is_some() {
                self.find_path(key, by, table)
            } else {
                self.find_one(key, by, table)
            }?;
            if column.path.is_some() {
                let same = found.iter().find(|other| other.path == column.path);
                column.column = same.map_or(Some(found.len()), |other| other.column);
            }
            // A repeated column would compare what is equal already.
            let same = |other: &Found| (other.column, other.is_of_sort) == (column.column, column.is_of_sort);
            if !found.iter().any(|other| same(other) && other.order.reading == column.order.reading) {
                found.push(column);
            }
        }
        Ok(found)
    }

    fn find_one(&self, key: &Key, by: &KeySpec, table: &str) -> Result<Found, Error> {
        let named = &key.said[..];
        for KeyMeaning { column, said } in &key.readings {
            let found = |column, name| Found::new(*said, by, column, name);
            match column {
                ColumnRef::Name(name) => {
                    let all = self.names().enumerate();
                    let mut same = all.filter(|(_, other)| *other == name.as_bytes()).map(|(index, _)| index);
                    match (same.next(), same.next()) {
                        (Some(index), Some(other)) => {
                            let both = (index + 1, other + 1, quoted(name));
                            let problem =
                                format!("columns {} and {} are both named '{}'", both.0, both.1, both.2);
                            return Err(Error::input(table, problem)
                                .hinting(Hint::ColumnNumber(index + 1, other + 1)));
                        }
                        (Some(index), None) => return Ok(found(Some(index), name.clone())),
                        (None, _) => {}
                    }
                }
                ColumnRef::Number(0) => return Ok(Found::whole_line(*said, by)),
                ColumnRef::Number(number) => {
                    let index = number - 1;
                    if index < self.columns {
                        let name = self.names.as_ref().and_then(|names| names.get(index));
                        let name = name.map(|name| String::from_utf8_lossy(name).into_owned());
                        return Ok(found(Some(index), name.unwrap_or_else(|| number.to_string())));
                    }
                }
                ColumnRef::Refused(problem) => {
                    return Err(Error::input(table, format!("key '{}': {problem}", quoted(named))));
                }
            }
        }
        if let Some((like, keys)) = self.meant(named).filter(|_| self.separator().is_none()) {
            let mut missing = format!("no column '{}'", quoted(named));
            if self.names.is_some() {
                missing += &format!("; columns: {}", self.shown());
            }
            if let Some(like) = like {
                missing += &format!("; did you mean '{}'?", quoted(like));
            }
            return Err(Error::input(table, missing).hinting(Hint::Keys(keys.into())));
        }
        if self.columns == ANY && self.names().all(<[u8]>::is_empty) && self.names.is_some() {
            let blank = format!(
                "no column '{}': the first line is blank, but should name the columns",
                quoted(named)
            );
            return Err(Error::input(format!("{table}:1"), blank).hinting(Hint::BlankHeader));
        }
        if self.columns == ANY && self.names.is_none() {
            let missing = format!("no field '{}': fields of lines are numbered from 1", quoted(named));
            return Err(Error::input(table, missing).hinting(Hint::Header));
        }
        if let Some((_, word)) = named.rsplit_once(':').filter(|(name, _)| self.has(name)) {
            let problem = format!(
                "key '{}': unknown modifier '{}' (r, a, nocase, or a kind such as number or text); columns: {}",
                quoted(named),
                quoted(word),
                self.shown()
            );
            return Err(Error::input(table, problem));
        }
        let missing = format!("no column '{}'; columns: {}", quoted(named), self.shown());
        Err(match self.separator() {
            Some(separator) => Error::input(table, missing).hinting(Hint::Delimiter(separator)),
            None => Error::input(table, missing).hinting(Hint::NoColumn),
        })
    }

    /// Finds what a key names in JSON: a member that the first object has, else a path.
    fn find_path(&self, key: &Key, by: &KeySpec, table: &str) -> Result<Found, Error> {
        let has = |name: &str| self.names().any(|other| other == name.as_bytes());
        let mut path = None;
        for KeyMeaning { column, said } in &key.readings {
            match column {
                ColumnRef::Name(name) if has(name) => {
                    return Ok(Found {
                        path: Some(Path::member(name)),
                        ..Found::new(*said, by, None, name.clone())
                    });
                }
                ColumnRef::Name(name) => path = Some((name.clone(), said)),
                ColumnRef::Number(0) => return Ok(Found::whole_line(*said, by)),
                ColumnRef::Number(number) => _ = path.get_or_insert((number.to_string(), said)),
                ColumnRef::Refused(_) => {}
            }
        }
        let (name, said) = path.unwrap_or_else(|| (key.said.clone(), &key.readings[0].said));
        let parsed = Path::parse(&name).map_err(|problem| {
            Error::input(table, format!("'{}' is not a valid path: {problem}", quoted(&name)))
                .hinting(Hint::Path)
        })?;
        Ok(Found { path: Some(parsed), ..Found::new(*said, by, None, name) })
    }

    /// What is wrong if no record has what a key names, and what helps.
    pub(super) fn lacking(&self, key: &Found) -> (String, Option<Hint>) {
        let mut problem = format!("no record has the field '{}'", key.shown());
        if self.names.is_some() {
            problem += &format!("; the first record has {}", self.shown());
        }
        if self.json == Some(b'[') {
            return (problem, Some(Hint::Through(json::OF_ARRAY)));
        }
        let Some((like, keys)) = self.meant(&key.name) else { return (problem, None) };
        if let Some(like) = like {
            problem += &format!("; did you mean '{}'?", quoted(like));
        }
        (problem, Some(Hint::Keys(keys.into())))
    }

    /// The names of the columns; none without a header.
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().flat_map(Names::iter)
    }

    /// A likely separator of the names, if ours finds only one column.
    fn separator(&self) -> Option<char> {
        let names = self.names.as_ref().filter(|names| names.ends.len() == 1)?;
        let name = names.get(0)?;
        [';', '\t', '|', ','].into_iter().find(|&separator| name.contains(&(separator as u8)))
    }

    /// The keys that one without a column may have meant, and the name of its column if it is not
    /// the typed one.
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

    /// Whether a column has this name or number.
    fn has(&self, name: &str) -> bool {
        let is_number = name.parse().is_ok_and(|number: usize| (1..=self.columns).contains(&number));
        self.names().any(|other| other == name.as_bytes()) || is_number
    }

    /// The name that is this one but for case and signs, else the only one that contains it.
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

    /// The list of columns in messages.
    fn shown(&self) -> String {
        const MOST: usize = 20;
        match &self.names {
            Some(names) => {
                let shown = names.iter().take(MOST).map(|name| format!("'{}'", quoted(name)));
                let shown = shown.collect::<Vec<_>>().join(", ");
                match names.ends.len().checked_sub(MOST) {
                    None | Some(0) => shown,
                    Some(more) => format!("{shown} and {more} more"),
                }
            }
            None if self.columns == 1 => "1".to_owned(),
            None => format!("1 to {}", self.columns),
        }
    }
}

/// The modifier that people elsewhere write as this word; none for what all keys are.
fn direction(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "r" | "d" | "desc" | "descending" | "rev" | "reverse" | "down" | "nr" | "rn" | "-1" => ":r",
        "a" | "asc" | "ascending" | "up" => ":a",
        "n" | "g" | "num" | "number" | "numeric" | "int" | "float" => "",
        _ => return None,
    })
}

impl Dialect {
    /// The order of the number that is the only field of a line, where lines may be sorted by that.
    pub(crate) fn first_number(self, by: &KeySpec) -> Option<KeyOrder> {
        let is_other = self.has_header() || self.comments || by.spelling.is_said();
        if is_other || self.fields != Fields::Blanks(LineEnd::Lf) {
            return None;
        }
        let found = Header::of_lines().find(by, "").ok()?;
        let [Found { column: Some(0), order, .. }] = found[..] else { return None };
        let is_number = order.reading == Reading::Numbers || order.reading.finds_times();
        (is_number && !order.leading).then_some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::csv::Fields;

    fn found(header: &str, key: &str) -> Result<(usize, bool), Error> {
        let dialect = Dialect { fields: Fields::Quoted(b','), header: 1, comments: false };
        let (_, header) = Header::read(header.as_bytes(), 0, header.len(), dialect).unwrap();
        let keys = vec![Key::parse(key), Key::parse(key)];
        let by = KeySpec { keys, ..KeySpec::default() };
        let found = header.find(&by, "t.csv")?;
        assert_eq!(found.len(), 1, "the second time is of no use");
        Ok((found[0].column.unwrap(), found[0].order.descending))
    }

    #[test]
    fn columns_by_name_then_by_number() {
        let header = "id,\"unit, price\",2,x:r,x,y,y\n";
        for (key, expected) in [
            ("id", (0, false)),
            ("unit, price:r", (1, true)),
            ("2", (2, false)),
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
        meant("3:desc", None, &["3:r"]);
        meant("-price", None, &["price:r"]);
        meant("price,id:r", None, &["price", "id:r"]);
        for key in ["price,none", "x:desc", "-", "ric:n2", ":desc", "i"] {
            assert_eq!(found("id,price\n", key).unwrap_err().hint(), Some(&Hint::NoColumn), "{key}");
        }
        assert_eq!(found("a:desc,a\n", "a:desc").unwrap(), (0, false));
        // Keys of `sort`, of which a name comes first.
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
