//! Linear algebra.

use std::rc::Rc;

use super::tensor;
use crate::error::Run;
use crate::tape::{Adjoints, recorded};
use crate::tensor::Tensor;
use crate::value::Value;

fn add_all(adjoints: &mut Adjoints, index: u32, values: &[f64]) {
    for (i, v) in values.iter().enumerate() {
        adjoints.add(index, i, *v);
    }
}

/// The adjoint as a matrix; elements that nothing depends on are 0.
fn matrix(g: &[f64], dims: &[usize]) -> Tensor {
    let mut out = Tensor::fill(dims, 0.0);
    out.data[..g.len()].copy_from_slice(g);
    out
}

/// A product whose shapes are known to fit.
fn product(a: &Tensor, b: &Tensor) -> Tensor {
    a.dot(b).unwrap_or_else(|_| Tensor::fill(&[0, 0], 0.0))
}

fn flip(a: &Tensor) -> Tensor {
    a.transpose().unwrap_or_else(|_| a.clone())
}

pub fn transpose(value: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[value], |v| transpose(&v[0])) {
        return out;
    }
    let (t, place) = tensor(value, "transpose")?;
    let out = Value::tensor(t.transpose()?);
    let Some((tape, index)) = place else { return Ok(out) };
    let dims = [t.dims[1], t.dims[0]];
    Ok(tape.general(out, move |g, adjoints| add_all(adjoints, index, &flip(&matrix(g, &dims)).data)))
}

pub fn dot(left: &Value, right: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[left, right], |v| dot(&v[0], &v[1])) {
        return out;
    }
    let (a, pa) = tensor(left, "dot")?;
    let (b, pb) = tensor(right, "dot")?;
    let out = a.dot(&b)?;
    let dims = out.dims.clone();
    let out = Value::tensor(out);
    let Some(tape) = pa.as_ref().or(pb.as_ref()).map(|(t, _)| t.clone()) else { return Ok(out) };
    let (pa, pb) = (pa.map(|p| p.1), pb.map(|p| p.1));
    Ok(tape.general(out, move |g, adjoints| {
        let g = matrix(g, &dims);
        if let Some(i) = pa {
            add_all(adjoints, i, &product(&g, &flip(&b)).data);
        }
        if let Some(i) = pb {
            add_all(adjoints, i, &product(&flip(&a), &g).data);
        }
    }))
}

pub fn inverse(value: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[value], |v| inverse(&v[0])) {
        return out;
    }
    let (t, place) = tensor(value, "inverse")?;
    let out = Rc::new(t.inverse()?);
    let Some((tape, index)) = place else { return Ok(Value::Tensor(out)) };
    let y = out.clone();
    Ok(tape.general(Value::Tensor(out), move |g, adjoints| {
        let yt = flip(&y);
        let d = product(&product(&yt, &matrix(g, &y.dims)), &yt);
        add_all(adjoints, index, &d.map(|x| -x).data);
    }))
}

pub fn determinant(value: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[value], |v| determinant(&v[0])) {
        return out;
    }
    let (t, place) = tensor(value, "determinant")?;
    let det = t.determinant()?;
    let Some((tape, index)) = place else { return Ok(Value::Number(det)) };
    let inverse = flip(&t.inverse()?);
    Ok(tape.general(Value::Number(det), move |g, adjoints| {
        add_all(adjoints, index, &inverse.map(|x| x * det * g[0]).data);
    }))
}

/// The lower factor; backward as in Murray (2016), eq. 10: with Φ taking the lower half, Ā = L⁻ᵀ Φ(Lᵀ L̄) L⁻¹,
/// symmetrised.
pub fn cholesky(value: &Value) -> Run<Value> {
    if let Some(out) = recorded(&[value], |v| cholesky(&v[0])) {
        return out;
    }
    let (t, place) = tensor(value, "cholesky")?;
    let l = Rc::new(t.cholesky()?);
    let Some((tape, index)) = place else { return Ok(Value::Tensor(l)) };
    let inverse = l.inverse()?;
    let factor = l.clone();
    Ok(tape.general(Value::Tensor(l), move |g, adjoints| {
        let n = factor.dims[0];
        let mut p = product(&flip(&factor), &matrix(g, &factor.dims));
        for i in 0..n {
            p.data[i * n + i] *= 0.5;
            for j in i + 1..n {
                p.data[i * n + j] = 0.0;
            }
        }
        let s = product(&product(&flip(&inverse), &p), &inverse);
        let st = flip(&s);
        add_all(adjoints, index, &s.zip(&st, |a, b| 0.5 * (a + b)).data);
    }))
}
