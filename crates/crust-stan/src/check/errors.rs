//! The checker's messages: one constructor for each kind of mistake, each with a code of its own.

mod calls;
mod functions;
mod names;
mod places;
mod types;

pub(super) use calls::*;
pub(super) use functions::*;
pub(super) use names::*;
pub(super) use places::*;
pub(super) use types::*;

/// `a`, `b` or `c`
fn alternatives(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

/// "first", "second", … for arguments counted from zero.
fn ordinal(index: usize) -> String {
    const WORDS: [&str; 10] =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    WORDS.get(index).map_or_else(|| format!("{}th", index + 1), |word| (*word).to_owned())
}

/// "a `real`", "an `int`"
fn one(ty: &crate::types::Type) -> String {
    let name = ty.to_string();
    let article = if name.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} `{name}`")
}

/// "1 argument", "2 arguments"
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
