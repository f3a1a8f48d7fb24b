//! `json.read` and `csv.read`: only files below the program's folder, or those that the user named.

use std::path::PathBuf;

use super::math::plain;
use super::{Native, arg};
use crate::coerce;
use crate::error::{Run, fail};
use crate::json;
use crate::value::Value;
use crate::world::World;

pub fn json_list() -> Vec<Native> {
    plain(&[("read", |world, args| json::parse(&read(world, args)?))])
}

pub fn csv_list() -> Vec<Native> {
    plain(&[("read", |world, args| Ok(rows(&read(world, args)?)))])
}

fn path(world: &World, name: &str) -> Run<PathBuf> {
    if let Some(path) = world.data.get(name) {
        return Ok(path.clone());
    }
    let Some(folder) = &world.folder else {
        return fail(format!("this program has no folder to read '{name}' from; name the file with --data"));
    };
    let refused = || fail(format!("'{name}' is not below the program's folder; name the file with --data"));
    match (folder.canonicalize(), folder.join(name).canonicalize()) {
        (Ok(folder), Ok(path)) if path.starts_with(&folder) => Ok(path),
        (_, Err(_)) => fail(format!("there is no file '{name}' in the program's folder")),
        _ => refused(),
    }
}

fn read(world: &World, args: &[Value]) -> Run<String> {
    let name = coerce::text(&arg(args, 0));
    match std::fs::read_to_string(path(world, &name)?) {
        Ok(text) => Ok(text),
        Err(e) => fail(format!("'{name}' cannot be read: {e}")),
    }
}

/// Rows of strings; quoted fields may hold commas, line breaks and doubled quotes.
fn rows(text: &str) -> Value {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut chars = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    let finish = |row: &mut Vec<Value>, field: &mut String| row.push(Value::text(&std::mem::take(field)));
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => finish(&mut row, &mut field),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                finish(&mut row, &mut field);
                rows.push(Value::array(std::mem::take(&mut row)));
            }
            c => field.push(c),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        finish(&mut row, &mut field);
        rows.push(Value::array(row));
    }
    Value::array(rows)
}
