//! Parts and shapes of tensors.

use std::rc::Rc;

use super::tensor;
use crate::error::{Run, fail};
use crate::tape::{Num, recorded};
use crate::tensor::Tensor;
use crate::value::Value;

/// Elements `from..to` as a tensor of the given dims.
fn part(value: &Value, from: usize, dims: Vec<usize>, what: &'static str) -> Run<Value> {
    let shape = dims.clone();
    if let Some(out) = recorded(&[value], move |v| part(&v[0], from, shape.clone(), what)) {
        return out;
    }
    let (t, place) = tensor(value, what)?;
    let n: usize = dims.iter().product();
    if from + n > t.len() {
        return fail(format!("{what}: the tensor has only {} elements", t.len()));
    }
    let out = Value::tensor(Tensor::new(dims, t.data[from..from + n].to_vec()));
    let Some((tape, index)) = place else { return Ok(out) };
    Ok(tape.general(out, move |g, adjoints| {
        for (i, g) in g.iter().enumerate() {
            adjoints.add(index, from + i, *g);
        }
    }))
}

/// How many elements a tensor has.
pub fn length(value: &Value, what: &str) -> Run<usize> {
    match value {
        // shapes do not depend on numbers
        Value::Ad(ad) => length(ad.raw(), what),
        other => Ok(tensor(other, what)?.0.len()),
    }
}

pub fn reshape(value: &Value, dims: Vec<usize>) -> Run<Value> {
    let n = length(value, "reshape")?;
    if dims.iter().product::<usize>() != n {
        return fail(format!("reshape: {n} elements do not make a tensor of dims {dims:?}"));
    }
    part(value, 0, dims, "reshape")
}

pub fn range(value: &Value, from: usize, to: usize) -> Run<Value> {
    if to < from {
        return fail("range: the end lies before the start");
    }
    part(value, from, vec![to - from], "range")
}

pub fn split(value: &Value, sizes: &[usize]) -> Run<Value> {
    let mut at = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for size in sizes {
        parts.push(part(value, at, vec![*size], "split")?);
        at += size;
    }
    Ok(Value::array(parts))
}

/// One element as a number.
pub fn get(value: &Value, i: usize) -> Run<Value> {
    if let Some(out) = recorded(&[value], move |v| get(&v[0], i)) {
        return out;
    }
    let (t, place) = tensor(value, "get")?;
    let Some(x) = t.data.get(i) else { return fail(format!("get: the tensor has only {} elements", t.len())) };
    let Some((tape, index)) = place else { return Ok(Value::Number(*x)) };
    Ok(tape.general(Value::Number(*x), move |g, adjoints| adjoints.add(index, i, g[0])))
}

pub fn to_scalars(value: &Value) -> Run<Vec<Value>> {
    let n = length(value, "toScalars")?;
    (0..n).map(|i| get(value, i)).collect()
}

/// A tensor of dims `[n]` from numbers.
pub fn from_scalars(items: &[Value]) -> Run<Value> {
    if let Some(out) = recorded(&items.iter().collect::<Vec<_>>(), from_scalars) {
        return out;
    }
    let mut data = Vec::with_capacity(items.len());
    let mut places = Vec::new();
    let mut tape = None;
    for (i, item) in items.iter().enumerate() {
        match Num::of(item) {
            Some(Num::Plain(x)) => data.push(x),
            Some(Num::Ad(ad)) => {
                data.push(ad.read().as_number().unwrap_or(f64::NAN));
                places.push((i, ad.index));
                tape = Some(ad.tape.clone());
            }
            None => data.push(crate::coerce::number(item)),
        }
    }
    let out = Value::tensor(Tensor::new(vec![items.len()], data));
    let Some(tape) = tape else { return Ok(out) };
    Ok(tape.general(out, move |g, adjoints| {
        for (i, index) in &places {
            if let Some(g) = g.get(*i) {
                adjoints.add(*index, 0, *g);
            }
        }
    }))
}

/// All elements one after the other, with dims `[n]`.
pub fn concat(items: &[Value]) -> Run<Value> {
    if let Some(out) = recorded(&items.iter().collect::<Vec<_>>(), concat) {
        return out;
    }
    let mut data = Vec::new();
    let mut places = Vec::new();
    let mut tape = None;
    for item in items {
        let (t, place) = tensor(item, "concat")?;
        if let Some((on, index)) = place {
            places.push((data.len(), t.len(), index));
            tape = Some(on);
        }
        data.extend_from_slice(&t.data);
    }
    let out = Value::tensor(Tensor::new(vec![data.len()], data));
    let Some(tape) = tape else { return Ok(out) };
    Ok(tape.general(out, move |g, adjoints| {
        for (from, n, index) in &places {
            for i in 0..*n {
                adjoints.add(*index, i, g.get(from + i).copied().unwrap_or(0.0));
            }
        }
    }))
}

/// A diagonal matrix.
pub fn diagonal(value: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[value], |v| diagonal(&v[0])) {
        return out;
    }
    let (t, place) = tensor(value, "diagonal")?;
    let n = t.len();
    let mut out = Tensor::fill(&[n, n], 0.0);
    for (i, x) in t.data.iter().enumerate() {
        out.data[i * (n + 1)] = *x;
    }
    let out = Value::Tensor(Rc::new(out));
    let Some((tape, index)) = place else { return Ok(out) };
    Ok(tape.general(out, move |g, adjoints| {
        for i in 0..n {
            adjoints.add(index, i, g.get(i * (n + 1)).copied().unwrap_or(0.0));
        }
    }))
}
