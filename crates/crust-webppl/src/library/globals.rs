//! Functions that programs call by their bare name.

use std::cell::RefCell;
use std::rc::Rc;

use super::math::{parse_float, parse_int, plain};
use super::{Body, Control, Native, arg, expect_array, sorting, tensors, utilities};
use crate::algebra::{self, Binary, Unary};
use crate::coerce;
use crate::error::{Run, fail};
use crate::format;
use crate::infer::Method;
use crate::json;
use crate::object::Fields;
use crate::value::{Value, Wrapped};
use crate::world::World;

pub fn list() -> Vec<Native> {
    let control = |name: &'static str, control: Control| Native { name, body: Body::Control(control) };
    let method = |name: &'static str, m: Method| Native { name, body: Body::Control(Control::Method(m)) };
    let mut list = vec![
        control("sample", Control::Sample),
        control("flip", Control::Flip),
        control("factor", Control::Factor),
        control("condition", Control::Condition),
        control("observe", Control::Observe),
        control("map", Control::Map),
        control("map2", Control::Map2),
        control("mapN", Control::MapN),
        control("mapIndexed", Control::MapIndexed),
        control("repeat", Control::Repeat),
        control("filter", Control::Filter),
        control("reduce", Control::Reduce),
        control("mapData", Control::MapData),
        control("apply", Control::Apply),
        control("mem", Control::Mem),
        control("Infer", Control::Infer),
        control("guide", Control::Guide),
        control("param", Control::Param),
        control("webpplEval", Control::Eval),
        method("Enumerate", Method::Enumerate),
        method("Rejection", Method::Rejection),
        method("MCMC", Method::Mcmc),
        method("IncrementalMH", Method::IncrementalMh),
        method("SMC", Method::Smc),
        method("PMCMC", Method::Pmcmc),
        method("AsyncPF", Method::AsyncPf),
        method("AIS", Method::Ais),
        method("ForwardSample", Method::Forward),
        method("forward", Method::RunForward),
        method("forwardGuide", Method::RunGuide),
        method("dreamSample", Method::DreamSample),
        method("Optimize", Method::Optimize),
        method("OptimizeThenSample", Method::OptimizeThenSample),
        Native { name: "sigmoid", body: Body::Unary(Unary::Sigmoid) },
        Native { name: "tanh", body: Body::Unary(Unary::Tanh) },
        Native { name: "relu", body: Body::Unary(Unary::Relu) },
    ];
    list.extend(plain(&[
        ("cache", cache),
        ("_constantly", |_, args| Ok(arg(args, 0))),
        ("display", display),
        ("print", display),
        ("error", |_, args| fail(coerce::text(&arg(args, 0)))),
        ("sum", |_, args| fold(args, Binary::Add, 0.0)),
        ("product", |_, args| fold(args, Binary::Mul, 1.0)),
        ("zip", zip),
        ("_sort", sorting::sort_full),
        ("sort", sorting::sort),
        ("sortOn", sorting::sort_on),
        ("_merge", sorting::merge_full),
        ("append", |world, args| concat2(world, args)),
        ("cons", |_, args| {
            let mut items = vec![arg(args, 0)];
            items.extend(spread(&arg(args, 1)));
            Ok(Value::array(items))
        }),
        ("snoc", |_, args| {
            let mut items = expect_array(args, 0, "snoc")?.items().clone();
            items.push(arg(args, 1));
            Ok(Value::array(items))
        }),
        ("softmax", |_, args| algebra::softmax(&arg(args, 0))),
        ("squishToProbSimplex", |_, args| crate::distributions::draw::squish(&arg(args, 0))),
        ("Number", |_, args| Ok(Value::Number(args.first().map_or(0.0, coerce::number)))),
        ("String", |_, args| Ok(Value::text(&args.first().map(coerce::text).unwrap_or_default()))),
        ("Boolean", |_, args| Ok(Value::Bool(coerce::truthy(&arg(args, 0))))),
        ("Array", |_, args| Ok(Value::array(args.to_vec()))),
        ("Object", |_, _| Ok(Value::object([]))),
        ("parseInt", parse_int),
        ("parseFloat", parse_float),
        ("isNaN", |_, args| Ok(Value::Bool(coerce::number(&arg(args, 0)).is_nan()))),
        ("isFinite", |_, args| Ok(Value::Bool(coerce::number(&arg(args, 0)).is_finite()))),
        ("serializeDist", |_, args| {
            Ok(json::stringify(&arg(args, 0), true).map_or(Value::Undefined, |s| Value::text(&s)))
        }),
        ("deserializeDist", utilities::deserialize_dist),
    ]));
    list.extend(tensors::globals());
    list.extend(crate::infer::params::natives());
    list
}

fn cache(_: &mut World, args: &[Value]) -> Run<Value> {
    let function = arg(args, 0);
    if !function.is_function() {
        return fail("cache expects a function");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    let size = arg(args, 1).as_number().filter(|n| *n >= 1.0).map(|n| n as usize);
    Ok(Value::Wrapped(Rc::new(Wrapped::Cache(function, RefCell::new(Fields::default()), size))))
}

pub fn display(world: &mut World, args: &[Value]) -> Run<Value> {
    let text = args.iter().map(|v| format::inspect(&v.deep_primal())).collect::<Vec<_>>().join(" ");
    world.printed.push(text);
    Ok(Value::Undefined)
}

/// From the last item to the first, as `reduce` goes.
fn fold(args: &[Value], op: Binary, start: f64) -> Run<Value> {
    let items = expect_array(args, 0, "sum")?;
    let items = items.items();
    let mut total = start;
    for (i, item) in items.iter().enumerate().rev() {
        match item {
            Value::Number(x) => total = op.value(*x, total),
            _ => {
                // not all are plain numbers: JavaScript's operators decide
                let mut acc = Value::Number(total);
                let js = if op == Binary::Add { crate::ast::Binary::Add } else { crate::ast::Binary::Multiply };
                for item in items[..=i].iter().rev() {
                    acc = crate::machine::operators::binary(js, item, &acc)?;
                }
                return Ok(acc);
            }
        }
    }
    Ok(Value::Number(total))
}

fn zip(_: &mut World, args: &[Value]) -> Run<Value> {
    let (xs, ys) = (expect_array(args, 0, "zip")?, expect_array(args, 1, "zip")?);
    let ys = ys.items();
    let pair = |(i, x): (usize, &Value)| Value::array(vec![x.clone(), ys.get(i).cloned().unwrap_or(Value::Undefined)]);
    Ok(Value::array(xs.items().iter().enumerate().map(pair).collect()))
}

/// The items of an array, or the value itself.
pub fn spread(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(a) => a.items().clone(),
        other => vec![other.clone()],
    }
}

fn concat2(_: &mut World, args: &[Value]) -> Run<Value> {
    match arg(args, 0) {
        Value::Array(a) => {
            let mut items = a.items().clone();
            items.extend(spread(&arg(args, 1)));
            Ok(Value::array(items))
        }
        Value::Text(t) => Ok(Value::Text(format!("{}{}", &*t, coerce::text(&arg(args, 1))).into())),
        other => fail(format!("append expects an array but received {}", format::inspect(&other))),
    }
}
