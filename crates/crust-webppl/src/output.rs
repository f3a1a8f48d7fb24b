//! The value of a program as JSON for other programs.

use crate::distributions::{Dist, Family, Parts};
use crate::error::Run;
use crate::format;
use crate::json::quote;
use crate::value::{Value, Wrapped};

/// Distributions with support and probabilities, tensors with dims and data, `undefined` as null, infinities and NaN as
/// strings.
pub fn json(value: &Value) -> Run<String> {
    let mut out = String::new();
    write(&mut out, value)?;
    Ok(out)
}

fn list<'a>(out: &mut String, items: impl Iterator<Item = &'a Value>) -> Run<()> {
    out.push('[');
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(out, item)?;
    }
    out.push(']');
    Ok(())
}

fn number(out: &mut String, x: f64) {
    if x.is_finite() {
        out.push_str(&format::number(x));
    } else {
        quote(out, &format::number(x));
    }
}

fn numbers(out: &mut String, xs: &[f64]) {
    out.push('[');
    for (i, x) in xs.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        number(out, *x);
    }
    out.push(']');
}

fn write(out: &mut String, value: &Value) -> Run<()> {
    match value {
        Value::Undefined | Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(x) => number(out, *x),
        Value::Text(t) => quote(out, t),
        Value::Array(a) => list(out, a.items().iter())?,
        Value::Object(o) => {
            out.push('{');
            for (i, (k, v)) in o.fields().ordered().iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                quote(out, k);
                out.push(':');
                write(out, v)?;
            }
            out.push('}');
        }
        Value::Tensor(t) => {
            out.push_str("{\"dims\":");
            numbers(out, &t.dims.iter().map(|d| *d as f64).collect::<Vec<_>>());
            out.push_str(",\"data\":");
            numbers(out, &t.data);
            out.push('}');
        }
        Value::Ad(ad) => write(out, ad.read())?,
        Value::Cell(c) => write(out, &c.borrow())?,
        Value::Dist(d) => distribution(out, d)?,
        Value::Query => out.push_str("{}"),
        Value::Wrapped(w) if matches!(**w, Wrapped::Trace(_)) => out.push_str("{\"trace\":true}"),
        Value::Closure(_) | Value::Native(_) | Value::Wrapped(_) => quote(out, &format::inspect(value)),
    }
    Ok(())
}

fn distribution(out: &mut String, dist: &Dist) -> Run<()> {
    out.push_str("{\"distribution\":");
    quote(out, dist.family.name());
    let table = match &dist.parts {
        Parts::Table(t) => Some(t.clone()),
        Parts::Samples(s) => Some(s.table()),
        _ => None,
    };
    if let Some(table) = table {
        let entries = table.ordered();
        out.push_str(",\"support\":");
        list(out, entries.iter().map(|e| &e.value))?;
        out.push_str(",\"probs\":");
        numbers(out, &entries.iter().map(|e| e.prob.value()).collect::<Vec<_>>());
    } else if dist.has_support() {
        let support = dist.support()?;
        out.push_str(",\"support\":");
        write(out, &support)?;
        if let Value::Array(values) = &support {
            let probs: Run<Vec<f64>> = values.items().iter().map(|v| Ok(dist.score(v)?.value().exp())).collect();
            out.push_str(",\"probs\":");
            numbers(out, &probs?);
        }
    }
    if let Some(z) = dist.normalization {
        out.push_str(",\"normalizationConstant\":");
        number(out, z);
    }
    if !matches!(dist.family, Family::Marginal | Family::SampleBasedMarginal) {
        out.push_str(",\"params\":");
        write(out, &dist.params())?;
    }
    out.push('}');
    Ok(())
}
