//! JSON values into Stan values of a known shape.

use super::errors::{DataError, Text};
use super::json::{self, Kind, Member, Node};
use super::{Step, place};
use crate::value::{Cell, Complex, Item, Numbers, Shape, Tensor, Tuple, Value};

/// What was read, with remarks.
pub(super) struct Read {
    pub value: Value,
    pub notes: Vec<String>,
}

/// Where and why a value does not fit.
#[derive(Debug)]
pub(super) struct Trouble {
    path: Vec<Step>,
    at: usize,
    kind: TroubleKind,
}

#[derive(Debug)]
enum TroubleKind {
    /// Another number of elements, or of dimensions.
    Size,
    /// Not what is wanted: a number, or an array.
    Type {
        found: String,
        wanted: &'static str,
    },
    /// Not an integer, though the variable is an `int`.
    NotInt {
        written: String,
        value: f64,
        more: usize,
    },
    /// A tuple that is not an object.
    NotTuple,
    MissingPart(u32),
    RepeatedPart,
}

/// A value to be read, and how one gets there.
struct Entry<'n> {
    node: &'n Node,
    path: Vec<Step>,
}

pub(super) fn value(json: &str, shape: &Shape, node: &Node) -> Result<Read, Box<Trouble>> {
    let mut notes = Vec::new();
    let value = read_all(json, &[], shape, &[Entry { node, path: Vec::new() }], &mut notes)?;
    notes.dedup();
    Ok(Read { value, notes })
}

/// Reads values of one shape that stand in an array of dimensions `outer`; see [`Tuple`] for why.
fn read_all(
    json: &str,
    outer: &[usize],
    shape: &Shape,
    entries: &[Entry<'_>],
    notes: &mut Vec<String>,
) -> Result<Value, Box<Trouble>> {
    let array: Vec<usize> = outer.iter().chain(&shape.array).copied().collect();
    match &shape.item {
        Item::Cell(cell) => read_cells(json, array, &shape.array, *cell, entries, notes),
        Item::Tuple(parts) => {
            let mut elements = Vec::new();
            for entry in entries {
                spread(json, &shape.array, entry.node, &mut entry.path.clone(), &mut elements)?;
            }
            let mut values = Vec::with_capacity(parts.len());
            for (k, part) in (1..).zip(parts) {
                let slots = elements.iter().map(|e| slot(e, k, parts.len(), notes)).collect::<Result<Vec<_>, _>>()?;
                values.push(read_all(json, &array, part, &slots, notes)?);
            }
            Ok(Tuple { array, parts: values }.into())
        }
    }
}

/// Lists the elements of nested arrays of the given dimensions.
fn spread<'n>(
    json: &str,
    dims: &[usize],
    node: &'n Node,
    path: &mut Vec<Step>,
    into: &mut Vec<Entry<'n>>,
) -> Result<(), Box<Trouble>> {
    let [size, rest @ ..] = dims else {
        into.push(Entry { node, path: path.clone() });
        return Ok(());
    };
    let nothing = dims.contains(&0) && leaves(node) == 0;
    match &node.kind {
        _ if nothing => Ok(()),
        Kind::Array(nodes) if nodes.len() == *size => {
            for (i, node) in nodes.iter().enumerate() {
                path.push(Step::Index(i));
                spread(json, rest, node, path, into)?;
                path.pop();
            }
            Ok(())
        }
        Kind::Numbers(list) if list.values.len() == *size => {
            path.push(Step::Index(0));
            trouble(path, json::element_at(json, node.at, 0), TroubleKind::NotTuple)
        }
        Kind::Array(_) | Kind::Numbers(_) => trouble(path, node.at, TroubleKind::Size),
        _ => trouble(path, node.at, TroubleKind::Type { found: describe(node), wanted: "an array" }),
    }
}

/// One part of a tuple.
fn slot<'n>(entry: &Entry<'n>, part: u32, count: usize, notes: &mut Vec<String>) -> Result<Entry<'n>, Box<Trouble>> {
    let Kind::Object(members) = &entry.node.kind else {
        return trouble(&entry.path, entry.node.at, TroubleKind::NotTuple);
    };
    let is_part = |m: &Member| (1..=count).any(|k| m.key == k.to_string());
    if let Some(extra) = members.iter().find(|m| !is_part(m)) {
        notes.push(format!("the tuple part \"{}\" is not declared; it is ignored", extra.key));
    }
    let key = part.to_string();
    let mut found = members.iter().filter(|m| m.key == key);
    let mut path = entry.path.clone();
    path.push(Step::Part(part));
    match (found.next(), found.next()) {
        (Some(member), None) => Ok(Entry { node: &member.value, path }),
        (Some(_), Some(again)) => trouble(&path, again.at, TroubleKind::RepeatedPart),
        (None, _) => trouble(&path, entry.node.at, TroubleKind::MissingPart(part)),
    }
}

fn trouble<T>(path: &[Step], at: usize, kind: TroubleKind) -> Result<T, Box<Trouble>> {
    Err(Box::new(Trouble { path: path.to_vec(), at, kind }))
}

fn read_cells(
    json: &str,
    array: Vec<usize>,
    own: &[usize],
    cell: Cell,
    entries: &[Entry<'_>],
    notes: &mut Vec<String>,
) -> Result<Value, Box<Trouble>> {
    let mut dims: Vec<usize> = own.iter().chain(cell.dims().as_slice()).copied().collect();
    if cell.is_complex() {
        dims.push(2);
    }
    let mut numbers = Flat { json, is_int: cell == Cell::Int, numbers: Vec::new(), first_bad: None, bad: 0 };
    for entry in entries {
        if dims.contains(&0) {
            // Stan takes everything without elements for an empty value, `[]` as well as `[[], []]`, and even a number.
            match (&entry.node.kind, leaves(entry.node)) {
                (Kind::Number(_), _) => notes.push("has no elements; the number in the data is ignored".into()),
                (Kind::Array(_) | Kind::Numbers(_), 0) => {}
                _ => return trouble(&entry.path, entry.node.at, TroubleKind::Size),
            }
        } else {
            numbers.read(&dims, entry.node, &mut entry.path.clone())?;
        }
    }
    if let Some(mut first) = numbers.first_bad {
        if let TroubleKind::NotInt { more, .. } = &mut first.kind {
            *more = numbers.bad - 1;
        }
        return Err(first);
    }
    Ok(assemble(array, cell, numbers.numbers))
}

/// The value of numbers in the order of the file, in which the columns of a matrix run faster than its rows.
fn assemble(array: Vec<usize>, cell: Cell, mut numbers: Vec<f64>) -> Value {
    if array.is_empty() {
        match (cell, &numbers[..]) {
            (Cell::Int, [x]) => return Value::Int(to_int(*x)),
            (Cell::Real, [x]) => return Value::Real(*x),
            (Cell::Complex, [re, im]) => return Value::Complex(Complex { re: *re, im: *im }),
            _ => {}
        }
    }
    let (unit, size) = (cell.unit(), cell.numbers());
    if let (&[rows, cols], true) = (cell.dims().as_slice(), size > 0) {
        let mut turned = vec![0.0; size];
        for matrix in numbers.chunks_exact_mut(size) {
            for (from, piece) in matrix.chunks_exact(unit).enumerate() {
                let to = ((from % cols) * rows + from / cols) * unit;
                turned[to..to + unit].copy_from_slice(piece);
            }
            matrix.copy_from_slice(&turned);
        }
    }
    let numbers = if cell == Cell::Int {
        Numbers::Int(numbers.into_iter().map(to_int).collect())
    } else {
        Numbers::Real(numbers)
    };
    Tensor { array, cell, numbers }.into()
}

#[expect(clippy::cast_possible_truncation, reason = "the parser marks what fits, and only that comes here")]
fn to_int(x: f64) -> i32 {
    x as i32
}

/// Numbers in the order of the file.
struct Flat<'a> {
    json: &'a str,
    is_int: bool,
    numbers: Vec<f64>,
    first_bad: Option<Box<Trouble>>,
    bad: usize,
}

impl Flat<'_> {
    fn read(&mut self, dims: &[usize], node: &Node, path: &mut Vec<Step>) -> Result<(), Box<Trouble>> {
        match (&node.kind, dims) {
            (Kind::Numbers(list), &[size]) if list.values.len() == size => {
                if let (true, Some(first)) = (self.is_int, list.first_real) {
                    let at = json::element_at(self.json, node.at, first);
                    path.push(Step::Index(first));
                    self.not_int(path, at, list.values[first], list.reals);
                    path.pop();
                }
                self.numbers.extend_from_slice(&list.values);
                Ok(())
            }
            (Kind::Array(nodes), [size, rest @ ..]) if nodes.len() == *size => {
                for (i, inner) in nodes.iter().enumerate() {
                    path.push(Step::Index(i));
                    self.read(rest, inner, path)?;
                    path.pop();
                }
                Ok(())
            }
            (Kind::Array(_) | Kind::Numbers(_), _) => trouble(path, node.at, TroubleKind::Size),
            (_, dims) => match json::special(node) {
                Some(number) if dims.is_empty() => {
                    if self.is_int && !number.is_int {
                        self.not_int(path, node.at, number.value, 1);
                    }
                    self.numbers.push(number.value);
                    Ok(())
                }
                Some(_) => trouble(path, node.at, TroubleKind::Size),
                None => {
                    let wanted = if dims.is_empty() { "a number" } else { "an array" };
                    trouble(path, node.at, TroubleKind::Type { found: describe(node), wanted })
                }
            },
        }
    }

    fn not_int(&mut self, path: &[Step], at: usize, value: f64, count: usize) {
        self.bad += count;
        if self.first_bad.is_none() {
            let kind = TroubleKind::NotInt { written: json::spelling(self.json, at), value, more: 0 };
            self.first_bad = Some(Box::new(Trouble { path: path.to_vec(), at, kind }));
        }
    }
}

/// How many numbers (or other single values) there are in a node.
fn leaves(node: &Node) -> usize {
    match &node.kind {
        Kind::Numbers(list) => list.values.len(),
        Kind::Array(nodes) => nodes.iter().map(leaves).sum(),
        Kind::Object(members) => members.len().max(1),
        _ => 1,
    }
}

/// The dimensions of nested arrays, if they are rectangular.
fn dims(node: &Node) -> Option<Vec<usize>> {
    match &node.kind {
        Kind::Numbers(list) => Some(vec![list.values.len()]),
        Kind::Array(nodes) => {
            let inner = dims(nodes.first()?)?;
            if nodes[1..].iter().any(|n| dims(n).as_ref() != Some(&inner)) {
                return None;
            }
            Some(std::iter::once(nodes.len()).chain(inner).collect())
        }
        _ => Some(Vec::new()),
    }
}

/// What a node is, for "found …".
fn describe(node: &Node) -> String {
    let nodes = match &node.kind {
        Kind::Number(number) => return format!("the number {}", number.value),
        Kind::Text(text) => return format!("the string {:?}", text.chars().take(40).collect::<String>()),
        Kind::Bool(truth) => return truth.to_string(),
        Kind::Null => return "null".into(),
        Kind::Object(_) => return "an object".into(),
        Kind::Numbers(list) if list.values.is_empty() => return "an empty array".into(),
        Kind::Numbers(list) => return counted(list.values.len(), "value"),
        Kind::Array(nodes) => nodes,
    };
    if let Some(dims) = dims(node) {
        return match dims[..] {
            [n] => counted(n, "element"),
            [rows, cols] => format!("{} of {}", counted(rows, "row"), counted(cols, "value")),
            _ => format!("an array of dimensions {}", list(dims.iter().map(usize::to_string), "×")),
        };
    }
    let length = |n: &Node| match &n.kind {
        Kind::Numbers(list) => Some(list.values.len()),
        Kind::Array(nodes) => Some(nodes.len()),
        _ => None,
    };
    match nodes.iter().map(length).collect::<Option<Vec<_>>>() {
        Some(lengths) if lengths.len() <= 6 && lengths.windows(2).any(|w| w[0] != w[1]) => {
            let (last, init) = lengths.split_last().map_or((0, &[][..]), |(last, init)| (*last, init));
            let init = list(init.iter().map(usize::to_string), ", ");
            format!("{} of {init} and {}", counted(lengths.len(), "row"), counted(last, "value"))
        }
        Some(lengths) => {
            let odd = lengths.iter().position(|n| *n != lengths[0]).unwrap_or(0);
            let (first, other) = (lengths[0], lengths[odd]);
            let rows = counted(lengths.len(), "row");
            if odd == 0 {
                format!("{rows} of {first} parts that differ in size")
            } else {
                format!(
                    "{rows} of different length: row 1 has {}, row {} has {other}",
                    counted(first, "value"),
                    odd + 1
                )
            }
        }
        None => format!("{}, some of them arrays and some not", counted(nodes.len(), "element")),
    }
}

fn counted(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

fn list(items: impl Iterator<Item = String>, between: &str) -> String {
    items.collect::<Vec<_>>().join(between)
}

/// Where the part of a value stands to which a path leads; as near as the path can be followed.
pub(super) fn find(json: &str, root: &Node, path: &[Step]) -> usize {
    match follow(root, path) {
        Ok(node) => node.at,
        Err((node, index)) => json::element_at(json, node.at, index),
    }
}

/// The node to which a path leads, or the packed array and the index in it.
fn follow<'n>(root: &'n Node, path: &[Step]) -> Result<&'n Node, (&'n Node, usize)> {
    let mut node = root;
    for step in path {
        node = match (&node.kind, step) {
            (Kind::Array(nodes), Step::Index(i)) if *i < nodes.len() => &nodes[*i],
            (Kind::Numbers(list), Step::Index(i)) if *i < list.values.len() => return Err((node, *i)),
            (Kind::Object(members), Step::Part(k)) => match members.iter().find(|m| m.key == k.to_string()) {
                Some(member) => &member.value,
                None => return Ok(node),
            },
            _ => return Ok(node),
        };
    }
    Ok(node)
}

impl Trouble {
    pub(super) fn error(&self, text: &Text<'_>, name: &str, shape: &Shape, node: &Node) -> DataError {
        let at = place(name, &self.path);
        let mut error = match &self.kind {
            TroubleKind::Size => {
                let error = DataError::new("data-size", format!("`{name}` has another size than declared"));
                size_help(error, shape, node)
            }
            TroubleKind::Type { found, wanted } => {
                let error = DataError::new("data-type", format!("`{at}` is {found}, not {wanted}"));
                type_help(error, found)
            }
            TroubleKind::NotInt { written, value, more } => {
                let more = match more {
                    0 => String::new(),
                    1 => " (nor is 1 other)".into(),
                    n => format!(" (nor are {n} others)"),
                };
                let error = DataError::new("data-int", format!("`{at}` is {written}, not an int{more}"));
                int_help(error, *value)
            }
            TroubleKind::NotTuple => DataError::new("data-tuple", format!("`{at}` is not a tuple"))
                .help("a tuple is an object with the keys \"1\", \"2\", …: {\"1\": 3, \"2\": [4, 5]}"),
            TroubleKind::MissingPart(part) => DataError::new("data-tuple", format!("`{at}` is missing"))
                .help(format!("the tuple needs a value with the key \"{part}\"")),
            TroubleKind::RepeatedPart => DataError::new("data-duplicate", format!("`{at}` stands twice in the data")),
        };
        error.expected = Some(shape.to_string());
        if matches!(self.kind, TroubleKind::Size | TroubleKind::NotTuple) {
            // Inside a tuple, what is found there says more than what the whole is.
            let inside = self.path.iter().any(|step| matches!(step, Step::Part(_)));
            error.found = Some(match follow(node, &self.path) {
                Ok(part) if inside => format!("{} in {at}", describe(part)),
                _ => describe(node),
            });
        }
        if !self.path.is_empty() {
            error.place = Some(at);
        }
        error.variable(name).at(text, self.at)
    }
}

/// The dimensions in which a value of this shape is written.
fn written_dims(shape: &Shape) -> Option<Vec<usize>> {
    let Item::Cell(cell) = &shape.item else { return None };
    let inner = cell.dims();
    let complex = if cell.is_complex() { &[2][..] } else { &[] };
    Some(shape.array.iter().chain(inner.as_slice()).chain(complex).copied().collect())
}

fn size_help(error: DataError, shape: &Shape, node: &Node) -> DataError {
    let (Some(expected), Some(found)) = (written_dims(shape), dims(node)) else { return error };
    let complex = matches!(&shape.item, Item::Cell(cell) if cell.is_complex());
    match (&expected[..], &found[..]) {
        ([1], []) => error.help("an array or vector of one element stands in brackets: [3] (in R: as.array)"),
        ([], [1]) => error.help("a single number stands without brackets"),
        _ if complex && found[..] == expected[..expected.len() - 1] => {
            error.help("a complex number is written as its real and imaginary part: [1.5, -2]")
        }
        ([a, b], [c, d]) if (a, b) == (d, c) && a != b => {
            error.help("rows and columns look exchanged: write row by row")
        }
        (expected, &[n]) if expected.len() > 1 && n == expected.iter().product::<usize>() => {
            error.help("write it as nested arrays, outermost index first: a matrix is an array of its rows")
        }
        _ => error,
    }
}

fn type_help(error: DataError, found: &str) -> DataError {
    match found {
        "true" | "false" => error.help("write 1 for true and 0 for false"),
        "null" | "the string \"NA\"" => {
            error.help("Stan has no missing values: leave them out, and say in the data which ones are there")
        }
        _ => match found
            .trim_start_matches("the string ")
            .trim_matches('"')
            .to_lowercase()
            .trim_start_matches(['+', '-'])
        {
            word if word.parse::<f64>().is_ok() => error.help("write the number without quotes"),
            _ => error,
        },
    }
}

fn int_help(error: DataError, value: f64) -> DataError {
    if value.fract() != 0.0 || !value.is_finite() {
        error.help("if the variable is not a whole number, declare it as real")
    } else if value < f64::from(i32::MIN) || value > f64::from(i32::MAX) {
        error.help("an int goes from -2147483648 to 2147483647; declare larger numbers as real")
    } else {
        error.help(format!("write {value}, without a decimal point or exponent"))
    }
}
