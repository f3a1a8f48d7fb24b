//! Numbers and values as JavaScript prints them.

use crate::object::Fields;
use crate::value::{Value, Wrapped};

/// `String(x)` for a number.
pub fn number(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if x == 0.0 {
        return "0".into();
    }
    if x.fract() == 0.0 && x.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2⁵³")]
        return (x as i64).to_string();
    }
    // the shortest digits that read back as the same number, with their exponent
    let scientific = format!("{:e}", x.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let sign = if x < 0.0 { "-" } else { "" };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    if (1..=21).contains(&point) {
        if count <= point {
            return format!("{sign}{digits}{}", zeros(point - count));
        }
        let (whole, part) = digits.split_at(usize::try_from(point).unwrap_or(0));
        return format!("{sign}{whole}.{part}");
    }
    if (-5..=0).contains(&point) {
        return format!("{sign}0.{}{digits}", zeros(-point));
    }
    let (first, rest) = digits.split_at(1);
    let exponent = point - 1;
    let plus = if exponent < 0 { '-' } else { '+' };
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{dot}{rest}e{plus}{}", exponent.abs())
}

/// `x.toFixed(digits)`
pub fn fixed(x: f64, digits: usize) -> String {
    if !x.is_finite() || x.abs() >= 1e21 {
        return number(x);
    }
    // Rust rounds ties to even, JavaScript away from 0: the next number lies beyond the tie
    let exact = format!("{:.*}", digits + 30, x.abs());
    let tail = &exact[exact.len() - 30..];
    let tie = tail.starts_with('5') && tail[1..].bytes().all(|b| b == b'0');
    let size = if tie { x.abs().next_up() } else { x.abs() };
    let out = format!("{size:.digits$}");
    if x < 0.0 { format!("-{out}") } else { out }
}

/// What `console.log` prints for a value.
pub fn inspect(value: &Value) -> String {
    match value {
        Value::Text(t) => t.to_string(),
        other => inspect_inner(other, 0, 0),
    }
}

const MAX_LINE: usize = 72;
const MAX_DEPTH: usize = 2;

fn inspect_inner(value: &Value, depth: usize, indent: usize) -> String {
    match value {
        Value::Undefined => "undefined".into(),
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(x) if *x == 0.0 && x.is_sign_negative() => "-0".into(),
        Value::Number(x) => number(*x),
        Value::Text(t) => quoted(t),
        Value::Ad(ad) => inspect_inner(ad.read(), depth, indent),
        Value::Cell(c) => inspect_inner(&c.borrow(), depth, indent),
        Value::Array(a) => {
            if depth > MAX_DEPTH {
                return "[Array]".into();
            }
            let items = a.items();
            let mut parts: Vec<String> =
                items.iter().take(100).map(|v| inspect_inner(v, depth + 1, indent + 2)).collect();
            if items.len() > 100 {
                parts.push(format!("... {} more items", items.len() - 100));
            }
            join(&parts, ['[', ']'], indent)
        }
        Value::Object(o) => fields(&o.fields(), depth, indent),
        Value::Tensor(t) => {
            let dims = t.dims.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            let data = t.data.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", ");
            format!("Tensor {{ dims: [ {dims} ], data: [ {data} ] }}")
        }
        Value::Dist(d) => d.describe(),
        Value::Query => "Query".into(),
        Value::Wrapped(w) => match &**w {
            Wrapped::Regex { pattern, flags } => format!("/{}/{}", &**pattern, &**flags),
            Wrapped::Trace(_) => "[Trace]".into(),
            _ => "[Function]".into(),
        },
        Value::Closure(c) => match &c.proto.name {
            Some(name) => format!("[Function: {name}]"),
            None => "[Function (anonymous)]".into(),
        },
        Value::Native(n) => format!("[Function: {}]", n.name),
    }
}

fn fields(fields: &Fields, depth: usize, indent: usize) -> String {
    if depth > MAX_DEPTH {
        return "[Object]".into();
    }
    let part = |(k, v): (crate::value::Text, Value)| {
        let key = if is_identifier(&k) { k.to_string() } else { quoted(&k) };
        format!("{key}: {}", inspect_inner(&v, depth + 1, indent + 2))
    };
    let parts: Vec<String> = fields.ordered().into_iter().map(part).collect();
    join(&parts, ['{', '}'], indent)
}

fn join(parts: &[String], [open, close]: [char; 2], indent: usize) -> String {
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    let length: usize = parts.iter().map(|p| p.len() + 2).sum();
    if length + indent <= MAX_LINE && !parts.iter().any(|p| p.contains('\n')) {
        return format!("{open} {} {close}", parts.join(", "));
    }
    let space = " ".repeat(indent + 2);
    let body = parts.join(&format!(",\n{space}"));
    format!("{open}\n{space}{body}\n{}{close}", " ".repeat(indent))
}

fn is_identifier(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

fn quoted(text: &str) -> String {
    let quote = if !text.contains('\'') {
        '\''
    } else if !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::unreadable_literal, reason = "as JavaScript writes them")]
    fn numbers_print_as_in_javascript() {
        for (x, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "0"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (5e-324, "5e-324"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (-1.0 / 3.0, "-0.3333333333333333"),
            (9007199254740993.0, "9007199254740992"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(number(x), text);
        }
        assert_eq!(fixed(1.005, 2), "1.00");
        assert_eq!(fixed(2.5, 0), "3");
        assert_eq!(fixed(-0.125, 2), "-0.13");
        assert_eq!(fixed(-0.0, 1), "0.0");
    }
}
