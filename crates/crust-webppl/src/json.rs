//! JSON: `JSON.stringify` and `JSON.parse` of the language, and the JSON that a run is reported in.

use crate::error::{Run, fail};
use crate::format;
use crate::value::{Text, Value, Wrapped};
use std::fmt::Write;

/// `JSON.stringify(value)`; with `infinities` as WebPPL serialises keys of distributions: infinite numbers as strings.
/// `undefined` and functions have no JSON: the result is `None`.
pub fn stringify(value: &Value, infinities: bool) -> Option<String> {
    let mut out = String::new();
    write_value(&mut out, value, infinities).then_some(out)
}

/// The key of a value in a distribution: its JSON, or the word `undefined`.
pub fn key(value: &Value) -> String {
    stringify(value, true).unwrap_or_else(|| "undefined".into())
}

fn write_value(out: &mut String, value: &Value, infinities: bool) -> bool {
    match value {
        Value::Undefined | Value::Closure(_) | Value::Native(_) => return false,
        Value::Wrapped(w) => match **w {
            Wrapped::Regex { .. } | Wrapped::Trace(_) => out.push_str("{}"),
            _ => return false,
        },
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(x) if x.is_finite() => out.push_str(&format::number(*x)),
        Value::Number(x) if infinities && !x.is_nan() => {
            out.push_str(if *x > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
        }
        Value::Number(_) => out.push_str("null"),
        Value::Text(t) => quote(out, t),
        Value::Ad(ad) => return write_value(out, ad.read(), infinities),
        Value::Cell(c) => return write_value(out, &c.borrow(), infinities),
        Value::Array(a) => {
            out.push('[');
            for (i, item) in a.items().iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                if !write_value(out, item, infinities) {
                    out.push_str("null");
                }
            }
            out.push(']');
        }
        Value::Object(o) => write_fields(out, o.fields().ordered(), infinities),
        Value::Tensor(t) => {
            // what JSON.stringify makes of WebPPL's tensors
            let dims = Value::numbers(t.dims.iter().map(|d| *d as f64));
            let data =
                Value::object(t.data.iter().enumerate().map(|(i, x)| (Text::from(i.to_string()), Value::Number(*x))));
            let length = Value::Number(t.len() as f64);
            write_fields(
                out,
                vec![("dims".into(), dims), ("length".into(), length), ("data".into(), data)],
                infinities,
            );
        }
        Value::Dist(d) => match d.to_json() {
            Some(fields) => return write_value(out, &fields, infinities),
            None => out.push_str("{}"),
        },
        Value::Query => out.push_str("{\"table\":{}}"),
    }
    true
}

fn write_fields(out: &mut String, fields: Vec<(Text, Value)>, infinities: bool) {
    out.push('{');
    let mut first = true;
    for (k, v) in fields {
        let before = out.len();
        if !first {
            out.push(',');
        }
        quote(out, &k);
        out.push(':');
        if write_value(out, &v, infinities) {
            first = false;
        } else {
            out.truncate(before);
        }
    }
    out.push('}');
}

pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// `JSON.stringify(value, null, indent)`: lays out JSON text.
pub fn pretty(json: &str, indent: usize) -> String {
    let mut out = String::new();
    let (mut depth, mut text, mut escaped) = (0_usize, false, false);
    let mut previous = ' ';
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&" ".repeat(depth * indent));
    };
    for c in json.chars() {
        if text {
            out.push(c);
            (text, escaped) = (escaped || c != '"', !escaped && c == '\\');
        } else {
            match c {
                '{' | '[' => {
                    if matches!(previous, '{' | '[') && depth > 0 {
                        newline(&mut out, depth);
                    }
                    out.push(c);
                    depth += 1;
                    previous = c;
                    continue;
                }
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    if !matches!(previous, '{' | '[') {
                        newline(&mut out, depth);
                    }
                    out.push(c);
                }
                ',' => {
                    out.push(c);
                    newline(&mut out, depth);
                }
                ':' => out.push_str(": "),
                c => {
                    if matches!(previous, '{' | '[') {
                        newline(&mut out, depth);
                    }
                    text = c == '"';
                    out.push(c);
                }
            }
        }
        previous = if text { '"' } else { c };
    }
    out
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// `JSON.parse(text)`
pub fn parse(text: &str) -> Run<Value> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.space();
    if reader.at < text.len() { reader.wrong() } else { Ok(value) }
}

impl Reader<'_> {
    fn wrong<T>(&self) -> Run<T> {
        let line = self.text[..self.at].matches('\n').count() + 1;
        fail(format!("this is not JSON: line {line}, byte {}", self.at))
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn value(&mut self) -> Run<Value> {
        self.space();
        self.depth += 1;
        if self.depth > 1000 {
            return fail("JSON is nested too deeply");
        }
        let value = match self.text[self.at..].chars().next() {
            Some('{') => self.object(),
            Some('[') => self.array(),
            Some('"') => Ok(Value::text(&self.string()?)),
            Some('-' | '0'..='9') => {
                let rest = &self.text[self.at..];
                let end =
                    rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
                match rest[..end].parse() {
                    Ok(x) => {
                        self.at += end;
                        Ok(Value::Number(x))
                    }
                    Err(_) => self.wrong(),
                }
            }
            _ if self.eat("true") => Ok(Value::Bool(true)),
            _ if self.eat("false") => Ok(Value::Bool(false)),
            _ if self.eat("null") => Ok(Value::Null),
            _ => self.wrong(),
        };
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Run<Value> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.eat("]") {
            return Ok(Value::array(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            if self.eat("]") {
                return Ok(Value::array(items));
            }
            if !self.eat(",") {
                return self.wrong();
            }
        }
    }

    fn object(&mut self) -> Run<Value> {
        self.at += 1;
        let mut fields = Vec::new();
        self.space();
        if self.eat("}") {
            return Ok(Value::object(fields));
        }
        loop {
            self.space();
            if !self.text[self.at..].starts_with('"') {
                return self.wrong();
            }
            let key = self.string()?;
            self.space();
            if !self.eat(":") {
                return self.wrong();
            }
            fields.push((Text::from(key), self.value()?));
            self.space();
            if self.eat("}") {
                return Ok(Value::object(fields));
            }
            if !self.eat(",") {
                return self.wrong();
            }
        }
    }

    fn string(&mut self) -> Run<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else { return self.wrong() };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => {
                    let Some(c) = self.text[self.at..].chars().next() else { return self.wrong() };
                    self.at += c.len_utf8();
                    match c {
                        'n' => out.push('\n'),
                        't' => out.push('\t'),
                        'r' => out.push('\r'),
                        'b' => out.push('\u{8}'),
                        'f' => out.push('\u{c}'),
                        '"' | '\\' | '/' => out.push(c),
                        'u' => out.push(self.unicode()?),
                        _ => return self.wrong(),
                    }
                }
                c => out.push(c),
            }
        }
    }

    fn unicode(&mut self) -> Run<char> {
        let hex = |s: &Self| s.text.get(s.at..s.at + 4).and_then(|t| u32::from_str_radix(t, 16).ok());
        let Some(mut code) = hex(self) else { return self.wrong() };
        self.at += 4;
        if (0xD800..0xDC00).contains(&code) && self.eat("\\u") {
            let Some(low) = hex(self) else { return self.wrong() };
            self.at += 4;
            code = 0x10000 + ((code - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF);
        }
        Ok(char::from_u32(code).unwrap_or('\u{fffd}'))
    }
}
