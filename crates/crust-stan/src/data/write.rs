//! Values as Stan JSON: what [`super::read_data`] and Stan's own reader read back.

use std::fmt::Write;

use crate::ast::BlockKind;
use crate::typed::Program;
use crate::value::{Tensor, Tuple, Value};

use super::Data;

/// The variables of the data block as a JSON object, in the order of the program. Variables that are not known are left
/// out.
pub fn write_json(program: &Program, data: &Data) -> String {
    let mut out = String::from("{");
    for id in program.declared_in(BlockKind::Data) {
        let Some(value) = data.get(id).filter(|v| v.is_available()) else { continue };
        let _ = write!(out, "{}\n  \"{}\": ", if out.len() == 1 { "" } else { "," }, program.variable(id).name);
        write_value(&mut out, value);
    }
    out.push_str("\n}\n");
    out
}

/// Appends one value. What is not known is written as `null`, which no reader takes for a number.
pub fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Int(n) => {
            let _ = write!(out, "{n}");
        }
        Value::Real(x) => write_real(out, *x),
        Value::Complex(z) => write_list(out, [z.re, z.im].into_iter(), write_real),
        Value::Tensor(t) => write_tensor(out, t),
        Value::Tuple(t) => write_tuple(out, t, value),
        Value::Unavailable(_) => out.push_str("null"),
    }
}

/// The shortest text that is read back as the same number.
fn write_real(out: &mut String, x: f64) {
    let _ = if x.is_nan() {
        write!(out, "\"NaN\"")
    } else if x.is_infinite() {
        write!(out, "\"{}Inf\"", if x < 0.0 { "-" } else { "" })
    } else {
        write!(out, "{x:?}")
    };
}

fn write_list<T>(out: &mut String, items: impl Iterator<Item = T>, mut one: impl FnMut(&mut String, T)) {
    out.push('[');
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        one(out, item);
    }
    out.push(']');
}

fn write_tensor(out: &mut String, tensor: &Tensor) {
    // Every reader takes this for an empty value, however many dimensions it has.
    if tensor.numbers.is_empty() {
        return out.push_str("[]");
    }
    let dims = tensor.dims();
    let mut strides = vec![1; dims.len()];
    for k in (1..dims.len()).rev() {
        strides[k - 1] = strides[k] * dims[k];
    }
    // A matrix lies column by column and is written row by row.
    if let ([.., row, col], &[rows, _]) = (strides.as_mut_slice(), tensor.cell.dims().as_slice()) {
        (*row, *col) = (1, rows);
    }
    write_nested(out, tensor, &dims, &strides, 0);
}

fn write_nested(out: &mut String, tensor: &Tensor, dims: &[usize], strides: &[usize], at: usize) {
    match (dims, strides) {
        ([size, dims @ ..], [stride, strides @ ..]) => {
            write_list(out, 0..*size, |out, i| write_nested(out, tensor, dims, strides, at + i * stride));
        }
        _ => write_value(out, &tensor.scalar(at)),
    }
}

fn write_tuple(out: &mut String, tuple: &Tuple, value: &Value) {
    if let Some(&size) = tuple.array.first() {
        return write_list(out, 0..size, |out, i| match value.element(i) {
            Some(element) => write_value(out, &element),
            None => out.push_str("null"),
        });
    }
    out.push('{');
    for (k, part) in tuple.parts.iter().enumerate() {
        let _ = write!(out, "{}\"{}\": ", if k == 0 { "" } else { ", " }, k + 1);
        write_value(out, part);
    }
    out.push('}');
}
