//! `T`, `ad` and the functions that make tensors.

use std::rc::Rc;

use super::math::{elementwise, plain};
use super::{Native, arg, expect_array};
use crate::algebra;
use crate::coerce;
use crate::distributions::build::dims_of;
use crate::error::{Run, fail};
use crate::tape::Tape;
use crate::tensor::Tensor;
use crate::value::{Text, Value};
use crate::world::World;

fn size(args: &[Value], i: usize, what: &str) -> Run<usize> {
    match coerce::number(&arg(args, i)) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        n if n >= 0.0 && n.fract() == 0.0 && n < 1e9 => Ok(n as usize),
        _ => fail(format!("{what} expects a non-negative integer")),
    }
}

/// Tensors in an array, or as arguments.
fn list_of(args: &[Value]) -> Vec<Value> {
    match args {
        [Value::Array(a)] => a.items().clone(),
        args => args.to_vec(),
    }
}

pub fn list() -> Vec<Native> {
    let mut list = elementwise();
    list.extend(plain(&[
        ("sumreduce", |_, args| algebra::sum(&arg(args, 0))),
        ("allreduce", |_, args| {
            Ok(Value::Bool(algebra::tensor(&arg(args, 0), "allreduce")?.0.data.iter().all(|x| *x != 0.0)))
        }),
        ("anyreduce", |_, args| {
            Ok(Value::Bool(algebra::tensor(&arg(args, 0), "anyreduce")?.0.data.iter().any(|x| *x != 0.0)))
        }),
        ("get", |_, args| algebra::get(&arg(args, 0), size(args, 1, "T.get")?)),
        ("toScalars", |_, args| Ok(Value::array(algebra::to_scalars(&arg(args, 0))?))),
        ("fromScalars", |_, args| algebra::from_scalars(&list_of(args))),
        ("range", |_, args| algebra::range(&arg(args, 0), size(args, 1, "T.range")?, size(args, 2, "T.range")?)),
        ("split", |_, args| algebra::split(&arg(args, 0), &dims_of(&arg(args, 1)))),
        ("concat", |_, args| algebra::concat(&list_of(args))),
        ("reshape", |_, args| algebra::reshape(&arg(args, 0), dims_of(&arg(args, 1)))),
        ("transpose", |_, args| algebra::transpose(&arg(args, 0))),
        ("diagonal", |_, args| algebra::diagonal(&arg(args, 0))),
        ("inverse", |_, args| algebra::inverse(&arg(args, 0))),
        ("determinant", |_, args| algebra::determinant(&arg(args, 0))),
        ("dot", |_, args| algebra::dot(&arg(args, 0), &arg(args, 1))),
        ("cholesky", |_, args| algebra::cholesky(&arg(args, 0))),
        ("softmax", |_, args| algebra::softmax(&arg(args, 0))),
    ]));
    list
}

pub fn ad_list() -> Vec<Native> {
    plain(&[
        ("lift", |_, args| {
            Ok(match arg(args, 0) {
                v @ (Value::Number(_) | Value::Tensor(_)) => Rc::new(Tape::default()).lift(v),
                other => other,
            })
        }),
        ("value", |_, args| Ok(arg(args, 0).primal())),
        ("valueRec", |_, args| Ok(arg(args, 0).deep_primal())),
        ("isLifted", |_, args| Ok(Value::Bool(matches!(arg(args, 0), Value::Ad(_))))),
    ])
}

fn checked_dims(args: &[Value], what: &str) -> Run<Vec<usize>> {
    expect_array(args, 0, what)?;
    let dims = dims_of(&arg(args, 0));
    if dims.iter().try_fold(1_usize, |n, d| n.checked_mul(*d)).is_none_or(|n| n > 1 << 28) {
        return fail(format!("{what}: the tensor is too large"));
    }
    Ok(dims)
}

pub fn globals() -> Vec<Native> {
    plain(&[
        ("Vector", |_, args| {
            let items = expect_array(args, 0, "Vector")?;
            let items = items.items();
            algebra::reshape(&algebra::from_scalars(&items)?, vec![items.len(), 1])
        }),
        ("Matrix", matrix),
        ("Tensor", |_, args| {
            let items = expect_array(args, 1, "Tensor")?.items().clone();
            algebra::reshape(&algebra::from_scalars(&items)?, checked_dims(args, "Tensor")?)
        }),
        ("zeros", |_, args| Ok(Value::tensor(Tensor::fill(&checked_dims(args, "zeros")?, 0.0)))),
        ("ones", |_, args| Ok(Value::tensor(Tensor::fill(&checked_dims(args, "ones")?, 1.0)))),
        ("dims", |_, args| {
            let object = arg(args, 0);
            let t = algebra::tensor(object.shape(), "dims")?.0;
            Ok(Value::numbers(t.dims.iter().map(|d| *d as f64)))
        }),
        ("concat", |_, args| {
            let flat = algebra::concat(&list_of(args))?;
            let n = algebra::length(&flat, "concat")?;
            algebra::reshape(&flat, vec![n, 1])
        }),
        ("idMatrix", id_matrix),
        ("oneHot", one_hot),
    ])
}

fn matrix(_: &mut World, args: &[Value]) -> Run<Value> {
    let rows = expect_array(args, 0, "Matrix")?;
    let rows = rows.items();
    let mut items = Vec::new();
    let mut width = None;
    for row in rows.iter() {
        let Value::Array(row) = row else { return fail("Matrix expects an array of arrays") };
        let row = row.items();
        if *width.get_or_insert(row.len()) != row.len() {
            return fail("Matrix: the rows have different lengths");
        }
        items.extend(row.iter().cloned());
    }
    algebra::reshape(&algebra::from_scalars(&items)?, vec![rows.len(), width.unwrap_or(0)])
}

pub fn id_matrix(_: &mut World, args: &[Value]) -> Run<Value> {
    let n = size(args, 0, "idMatrix")?;
    if n == 0 || n > 10_000 {
        return fail("idMatrix: n should be > 0");
    }
    algebra::diagonal(&Value::tensor(Tensor::vector(vec![1.0; n])))
}

pub fn one_hot(_: &mut World, args: &[Value]) -> Run<Value> {
    let (i, n) = (size(args, 0, "oneHot")?, size(args, 1, "oneHot")?);
    if i >= n {
        return fail("oneHot: index out of bounds");
    }
    let mut t = Tensor::vector(vec![0.0; n]);
    t.data[i] = 1.0;
    Ok(Value::tensor(t))
}

/// Methods of tensors.
pub fn method(object: &Value, name: &Text, args: &[Value]) -> Run<Value> {
    match &**name {
        "toFlatArray" => Ok(Value::array(algebra::to_scalars(object)?)),
        "toArray" => {
            let t = algebra::tensor(object, "toArray")?.0;
            Ok(nested(&t.dims, &t.data))
        }
        "get" => match args {
            [Value::Array(_)] => {
                let t = algebra::tensor(object.shape(), "get")?.0;
                let at = dims_of(&args[0]);
                let i = at.iter().zip(&t.dims).fold(0, |acc, (i, d)| acc * d + i);
                algebra::get(object, i)
            }
            args => algebra::get(object, size(args, 0, "get")?),
        },
        "sumreduce" => algebra::sum(object),
        other => fail(format!("tensors have no method '{other}'; use T.{other}")),
    }
}

/// Rows of rows of numbers.
fn nested(dims: &[usize], data: &[f64]) -> Value {
    match dims {
        [] | [_] => Value::numbers(data.iter().copied()),
        [_, rest @ ..] => {
            let n: usize = rest.iter().product();
            Value::array(data.chunks(n.max(1)).map(|c| nested(rest, c)).collect())
        }
    }
}
