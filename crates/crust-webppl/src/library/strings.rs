//! Methods of strings, numbers and regular expressions.

use std::rc::Rc;

use super::arrays::position;
use super::math::plain;
use super::{Native, arg};
use crate::coerce;
use crate::error::{Run, fail};
use crate::format;
use crate::regex::Regex;
use crate::value::{Text, Value, Wrapped};
use crate::world::World;

pub const METHODS: &[&str] = &[
    "split",
    "indexOf",
    "lastIndexOf",
    "includes",
    "slice",
    "substring",
    "substr",
    "toUpperCase",
    "toLowerCase",
    "trim",
    "charAt",
    "charCodeAt",
    "concat",
    "replace",
    "startsWith",
    "endsWith",
    "repeat",
    "toString",
    "padStart",
    "padEnd",
    "match",
    "search",
];

pub fn list() -> Vec<Native> {
    plain(&[("fromCharCode", |_, args| {
        let code = |v: &Value| char::from_u32(coerce::int32(v).unsigned_abs()).unwrap_or('\u{fffd}');
        Ok(Value::text(&args.iter().map(code).collect::<String>()))
    })])
}

fn regex(value: &Value) -> Run<Option<(Regex, bool)>> {
    match value {
        Value::Wrapped(w) => match &**w {
            Wrapped::Regex { pattern, flags } => {
                Ok(Some((Regex::new(pattern, flags.contains('i'))?, flags.contains('g'))))
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

pub fn regex_method(wrapped: &Rc<Wrapped>, name: &Text, args: &[Value]) -> Run<Value> {
    let Some((regex, _)) = regex(&Value::Wrapped(wrapped.clone()))? else { return fail("not a regular expression") };
    let text: Vec<char> = coerce::text(&arg(args, 0)).chars().collect();
    match &**name {
        "test" => Ok(Value::Bool(regex.find(&text, 0)?.is_some())),
        "exec" => Ok(match regex.find(&text, 0)? {
            Some(found) => found.groups(&text),
            None => Value::Null,
        }),
        other => fail(format!("regular expressions have no method '{other}'")),
    }
}

fn slice(chars: &[char], from: usize, to: usize) -> Value {
    Value::text(&chars.get(from..to.max(from)).unwrap_or_default().iter().collect::<String>())
}

fn split(text: &str, chars: &[char], separator: &Value, limit: &Value) -> Run<Value> {
    let mut parts: Vec<Value> = Vec::new();
    if let Some((regex, _)) = regex(separator)? {
        let (mut start, mut at) = (0, 0);
        while let Some(found) = regex.find(chars, at)? {
            if found.end == found.start {
                if found.start >= chars.len() {
                    break;
                }
                at = found.start + 1;
                if found.start > start {
                    parts.push(slice(chars, start, found.start));
                    start = found.start;
                }
                continue;
            }
            parts.push(slice(chars, start, found.start));
            start = found.end;
            at = found.end;
        }
        parts.push(slice(chars, start, chars.len()));
    } else if separator.is_undefined() {
        parts.push(Value::text(text));
    } else {
        let separator = coerce::text(separator);
        parts = match &*separator {
            "" => chars.iter().map(|c| Value::text(&c.to_string())).collect(),
            s => text.split(s).map(Value::text).collect(),
        };
    }
    parts.truncate(position(limit, parts.len(), parts.len()));
    Ok(Value::array(parts))
}

fn replace(world: &mut World, text: &str, chars: &[char], args: &[Value]) -> Run<Value> {
    let with = arg(args, 1);
    let substitute = |world: &mut World, found: &str| -> Run<String> {
        if with.is_function() {
            Ok(coerce::text(&world.call_sync(&with, vec![Value::text(found)], "a replacement")?))
        } else {
            Ok(coerce::text(&with).replace("$&", found))
        }
    };
    let Some((regex, global)) = regex(&arg(args, 0))? else {
        let what = coerce::text(&arg(args, 0));
        let new = substitute(world, &what)?;
        return Ok(Value::text(&text.replacen(&what, &new, 1)));
    };
    let (mut out, mut at) = (String::new(), 0);
    while let Some(found) = regex.find(chars, at)? {
        out.extend(&chars[at..found.start]);
        let matched: String = chars[found.start..found.end].iter().collect();
        out.push_str(&substitute(world, &matched)?);
        at = found.end;
        if found.end == found.start {
            out.extend(chars.get(at));
            at += 1;
        }
        if !global || at > chars.len() {
            break;
        }
    }
    out.extend(chars.get(at..).unwrap_or_default());
    Ok(Value::text(&out))
}

pub fn method(world: &mut World, text: &Text, name: &Text, args: &[Value]) -> Run<Value> {
    let chars: Vec<char> = text.chars().collect();
    let n = chars.len();
    let first = arg(args, 0);
    let needle = || coerce::text(&first);
    let index = |bytes: Option<usize>| Value::Number(bytes.map_or(-1.0, |b| text[..b].chars().count() as f64));
    // where a search begins: the second argument, which does not count from the end
    let start = || {
        let from = if coerce::number(&arg(args, 1)) < 0.0 { 0 } else { position(&arg(args, 1), n, 0) };
        chars[..from].iter().map(|c| c.len_utf8()).sum::<usize>()
    };
    Ok(match &**name {
        "split" => split(text, &chars, &first, &arg(args, 1))?,
        "indexOf" => index(text[start()..].find(&needle()).map(|found| start() + found)),
        "lastIndexOf" => index(text.rfind(&needle())),
        "includes" => Value::Bool(text[start()..].contains(&needle())),
        "startsWith" => Value::Bool(text[start()..].starts_with(&needle())),
        "endsWith" => Value::Bool(text.ends_with(&needle())),
        "slice" => slice(&chars, position(&first, n, 0), position(&arg(args, 1), n, n)),
        "substring" => {
            let bound = |v: &Value, default: usize| match coerce::number(v) {
                _ if v.is_undefined() => default,
                x if x.is_nan() || x < 0.0 => 0,
                _ => position(v, n, default),
            };
            let (a, b) = (bound(&first, 0), bound(&arg(args, 1), n));
            slice(&chars, a.min(b), a.max(b))
        }
        "substr" => {
            let from = position(&first, n, 0);
            slice(&chars, from, (from + position(&arg(args, 1), n, n)).min(n))
        }
        "toUpperCase" => Value::text(&text.to_uppercase()),
        "toLowerCase" => Value::text(&text.to_lowercase()),
        "trim" => Value::text(text.trim()),
        "charAt" => chars.get(position(&first, n, 0)).map_or_else(|| Value::text(""), |c| Value::text(&c.to_string())),
        "charCodeAt" => Value::Number(chars.get(position(&first, n, 0)).map_or(f64::NAN, |c| f64::from(u32::from(*c)))),
        "concat" => Value::text(&args.iter().fold(text.to_string(), |acc, v| acc + &coerce::text(v))),
        "replace" => replace(world, text, &chars, args)?,
        "repeat" => {
            let times = position(&first, 1 << 24, 0);
            if times.saturating_mul(text.len()) > 1 << 28 {
                return fail("repeat: the string would be too long");
            }
            Value::text(&text.repeat(times))
        }
        "padStart" | "padEnd" => {
            let fill = if args.len() > 1 { coerce::text(&arg(args, 1)) } else { " ".into() };
            let missing = position(&first, 1 << 20, 0).saturating_sub(n);
            let pad: String = fill.chars().cycle().take(if fill.is_empty() { 0 } else { missing }).collect();
            Value::text(&if &**name == "padStart" { pad + text } else { text.to_string() + &pad })
        }
        "toString" | "valueOf" => Value::Text(text.clone()),
        "search" => match regex(&first)? {
            Some((r, _)) => Value::Number(r.find(&chars, 0)?.map_or(-1.0, |f| f.start as f64)),
            None => index(text.find(&needle())),
        },
        "match" => match regex(&first)? {
            Some((r, true)) => {
                let (mut all, mut at) = (Vec::new(), 0);
                while let Some(found) = r.find(&chars, at)? {
                    all.push(slice(&chars, found.start, found.end));
                    at = found.end.max(found.start + 1);
                }
                if all.is_empty() { Value::Null } else { Value::array(all) }
            }
            Some((r, false)) => r.find(&chars, 0)?.map_or(Value::Null, |f| f.groups(&chars)),
            None => return fail("match expects a regular expression"),
        },
        other => return fail(format!("strings have no method '{other}'")),
    })
}

pub fn number_method(x: f64, name: &Text, args: &[Value]) -> Run<Value> {
    let digits = position(&arg(args, 0), 100, 0);
    Ok(Value::text(&match &**name {
        "toFixed" => format::fixed(x, digits),
        "toString" | "valueOf" => match coerce::int32(&arg(args, 0)) {
            radix @ 2..=36 if radix != 10 => in_radix(x, radix.unsigned_abs()),
            _ => format::number(x),
        },
        "toPrecision" if args.is_empty() || digits == 0 || !x.is_finite() => format::number(x),
        "toPrecision" => precision(x, digits),
        "toExponential" => {
            let text = if args.is_empty() { format!("{x:e}") } else { format!("{x:.digits$e}") };
            match text.split_once('e') {
                Some((m, e)) if !e.starts_with('-') => format!("{m}e+{e}"),
                _ => text,
            }
        }
        other => return fail(format!("numbers have no method '{other}'")),
    }))
}

fn precision(x: f64, digits: usize) -> String {
    let scientific = format!("{x:.*e}", digits - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let wanted = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -6 || exponent >= wanted {
        let (m, _) = scientific.split_once('e').unwrap_or((&scientific, ""));
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{m}e{sign}{}", exponent.abs());
    }
    format!("{x:.*}", usize::try_from(wanted - 1 - exponent).unwrap_or(0))
}

fn in_radix(x: f64, radix: u32) -> String {
    if !x.is_finite() {
        return format::number(x);
    }
    let digit = |d: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a digit")]
        char::from_digit(d as u32, radix).unwrap_or('0')
    };
    let base = f64::from(radix);
    let (mut whole, mut part) = (x.abs().trunc(), x.abs().fract());
    let mut out = Vec::new();
    loop {
        out.push(digit(whole % base));
        whole = (whole / base).trunc();
        if whole == 0.0 {
            break;
        }
    }
    let mut text: String = out.into_iter().rev().collect();
    if part > 0.0 {
        text.push('.');
        for _ in 0..52 {
            part *= base;
            text.push(digit(part.trunc()));
            part = part.fract();
            if part == 0.0 {
                break;
            }
        }
    }
    if x < 0.0 { format!("-{text}") } else { text }
}
