//! From parameters to distributions, with WebPPL's checks.

use std::rc::Rc;

use super::family::{Kind, Parameter};
use super::{Dist, Family, NONE, Parts, Samples, Table};
use crate::error::{Run, fail};
use crate::record::Guard;
use crate::tape::Num;
use crate::tensor::Tensor;
use crate::value::{Text, Value};

/// `gaussian(mu, sigma)` or `gaussian({mu, sigma})`
pub fn from_arguments(family: Family, args: &[Value]) -> Run<Dist> {
    let parameters = family.parameters();
    if let [Value::Object(_), ..] = args {
        return from_params(family, args);
    }
    if family.is_of_numbers() {
        return from_numbers(family, args);
    }
    // the object of parameters is made when it is asked for
    if let (Family::Discrete, [ps @ Value::Array(_)]) = (family, args) {
        check(&parameters[0], ps)?;
        return build(family, vec![ps.clone()]);
    }
    let given = parameters.iter().map(|p| Text::from(p.name)).zip(args.iter().cloned());
    let fields: Vec<_> = given.filter(|(_, v)| !v.is_undefined()).collect();
    from_params(family, &[Value::object(fields)])
}

/// A family of numbers only: the object of parameters is made when it is asked for.
pub fn from_numbers(family: Family, args: &[Value]) -> Run<Dist> {
    let mut nums = NONE;
    for (i, p) in family.parameters().iter().enumerate() {
        nums[i] = real(family, p, args.get(i).unwrap_or(&Value::Undefined))?;
    }
    Ok(Dist::new(family, nums, Parts::None))
}

/// `Gaussian({mu, sigma})`
pub fn from_params(family: Family, args: &[Value]) -> Run<Dist> {
    if args.len() > 1 && family.helper().is_empty() {
        return fail("too many arguments: distributions take at most one argument");
    }
    let empty = Value::Undefined;
    let params = args.first().unwrap_or(&empty);
    let get = |p: &Parameter| match params {
        Value::Object(o) => o.fields().get(p.name).cloned(),
        _ => None,
    };
    let mut values = Vec::new();
    for p in family.parameters() {
        match get(p) {
            Some(value) => {
                check(p, &value)?;
                values.push(value);
            }
            None if p.optional => values.push(Value::Undefined),
            None => return fail(format!("parameter \"{}\" missing from {} distribution", p.name, family.name())),
        }
    }
    let dist = build(family, values)?;
    if matches!(params, Value::Object(_)) && !matches!(family, Family::Categorical | Family::Kde) {
        dist.set_params(params.clone());
    }
    Ok(dist)
}

fn wrong<T>(p: &Parameter) -> Run<T> {
    fail(format!("parameter \"{}\" should be of type \"{}\"", p.name, p.kind.describe()))
}

fn real(family: Family, p: &Parameter, value: &Value) -> Run<Num> {
    if value.is_undefined() {
        return fail(format!("parameter \"{}\" missing from {} distribution", p.name, family.name()));
    }
    check(p, value)?;
    Num::of(value).map_or_else(|| wrong(p), Ok)
}

pub fn within(x: f64, low: f64, high: f64, closed: [bool; 2]) -> bool {
    (x > low || (closed[0] && x == low)) && (x < high || (closed[1] && x == high))
}

/// Whether a number lies between bounds; a recording notes that it must stay there.
fn value_within(value: &Value, low: f64, high: f64, closed: [bool; 2]) -> bool {
    match (value, value.shape()) {
        (Value::Ad(ad), Value::Number(x)) => {
            ad.guard(Guard::Within { low, high, closed });
            within(*x, low, high, closed)
        }
        _ => value.as_number().is_some_and(|x| within(x, low, high, closed)),
    }
}

fn check(p: &Parameter, value: &Value) -> Run<()> {
    let integer = |v: &Value, low: f64| v.as_number().is_some_and(|x| x.is_finite() && x.fract() == 0.0 && x >= low);
    let numbers = |v: &Value, ok: &dyn Fn(&Value) -> bool| match v {
        Value::Array(a) => a.items().iter().all(ok),
        _ => false,
    };
    let ok = match p.kind {
        Kind::Any => true,
        Kind::Real { low, high, closed } => value_within(value, low, high, closed),
        Kind::Int(low) => integer(value, low as f64),
        Kind::Vector { .. } => value.shape().as_tensor().is_some_and(|t| t.is_vector()),
        Kind::Weights => match value.as_tensor() {
            Some(t) => t.is_vector() && t.data.iter().all(|x| within(*x, 0.0, f64::INFINITY, [true, false])),
            None => numbers(value, &|v| value_within(v, 0.0, f64::INFINITY, [true, false])),
        },
        Kind::Matrix => value.shape().as_tensor().is_some_and(|t| t.is_matrix() && t.dims[0] == t.dims[1]),
        Kind::Tensor { .. } => value.shape().as_tensor().is_some(),
        Kind::Probabilities => {
            let sum: f64 = match value {
                Value::Array(a) => a.items().iter().filter_map(Value::as_number).sum(),
                _ => f64::NAN,
            };
            numbers(value, &|v| value_within(v, 0.0, f64::INFINITY, [true, false])) && (sum - 1.0).abs() < 1e-8
        }
        Kind::Array => matches!(value, Value::Array(_)),
        Kind::Dims => match value {
            Value::Array(a) => a.items().iter().all(|v| integer(v, 1.0)),
            _ => false,
        },
    };
    if ok { Ok(()) } else { wrong(p) }
}

/// Weights in an array or vector, and their sum.
fn weights(value: &Value) -> Run<(Vec<Num>, Num)> {
    let items = match value {
        Value::Array(a) => a.items().clone(),
        other => crate::algebra::to_scalars(other)?,
    };
    let nums: Vec<Num> = items.iter().filter_map(Num::of).collect();
    let total = nums.iter().fold(Num::Plain(0.0), |acc, n| acc.add(n));
    Ok((nums, total))
}

pub fn dims_of(value: &Value) -> Vec<usize> {
    match value {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a dimension")]
        Value::Array(a) => a.items().iter().filter_map(Value::as_number).map(|x| x as usize).collect(),
        _ => Vec::new(),
    }
}

fn shape(value: &Value) -> Vec<usize> {
    value.shape().as_tensor().map(|t| t.dims.clone()).unwrap_or_default()
}

fn build(family: Family, values: Vec<Value>) -> Run<Dist> {
    let num = |i: usize| Num::of(&values[i]).unwrap_or(Num::Plain(f64::NAN));
    let mismatch = || fail(format!("{}: dimension mismatch between the parameters", family.name()));
    let parts = match family {
        Family::Delta => Parts::Delta(values[0].clone()),
        Family::Discrete => {
            let (ws, norm) = weights(&values[0])?;
            Parts::Weights(ws, norm)
        }
        Family::Categorical => Parts::Table(Rc::new(categorical(&values[0], &values[1])?)),
        Family::Mixture => mixture(&values[0], &values[1])?,
        Family::Multinomial => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            let n = num(1).value() as usize;
            Parts::Multinomial(weights(&values[0])?.0, n)
        }
        Family::LogitNormal => Parts::Logit(Box::new([num(0), num(1), num(2), num(3)])),
        Family::Kde => kernel(&values[0], &values[1])?,
        Family::TensorGaussian | Family::TensorLaplace => {
            let dims = dims_of(&values[2]);
            Parts::Tensors(values[..2].to_vec(), dims)
        }
        Family::DiagCovGaussian => {
            if shape(&values[0]) != shape(&values[1]) {
                return mismatch();
            }
            let dims = shape(&values[0]);
            Parts::Tensors(values, dims)
        }
        Family::MultivariateGaussian => {
            let dims = shape(&values[0]);
            if dims.first() != shape(&values[1]).first() {
                return mismatch();
            }
            Parts::Tensors(values, dims)
        }
        Family::LogisticNormal => {
            let mut dims = shape(&values[0]);
            if dims.first() != shape(&values[1]).first() {
                return mismatch();
            }
            dims[0] += 1;
            Parts::Tensors(values, dims)
        }
        Family::Dirichlet | Family::MultivariateBernoulli => {
            let dims = shape(&values[0]);
            Parts::Tensors(values, dims)
        }
        Family::SampleBasedMarginal => Parts::Samples(Rc::new(samples(&values[0])?)),
        Family::Marginal => Parts::Table(Rc::new(marginal(&values[0])?)),
        _ => {
            let mut nums = NONE;
            for (n, v) in nums.iter_mut().zip(&values) {
                *n = Num::of(v).unwrap_or(Num::Plain(f64::NAN));
            }
            return Ok(Dist::new(family, nums, Parts::None));
        }
    };
    Ok(Dist::new(family, NONE, parts))
}

fn categorical(ps: &Value, vs: &Value) -> Run<Table> {
    let Value::Array(vs) = vs else { return fail("parameter \"vs\" should be an array") };
    let vs = vs.items();
    let (ws, norm) = match ps {
        Value::Undefined => (vec![Num::Plain(1.0); vs.len()], Num::Plain(vs.len() as f64)),
        ps => weights(ps)?,
    };
    if ws.len() != vs.len() {
        return fail("parameters ps and vs should have the same length");
    }
    if vs.is_empty() {
        return fail("parameters ps and vs should have length > 0");
    }
    let mut table = Table::default();
    for (value, w) in vs.iter().zip(&ws) {
        table.add(value, &w.div(&norm));
    }
    Ok(table)
}

fn mixture(dists: &Value, ps: &Value) -> Run<Parts> {
    let Value::Array(dists) = dists else { return fail("parameter dists should be an array") };
    let mut parts = Vec::new();
    for dist in dists.items().iter() {
        match dist {
            Value::Dist(d) => parts.push(d.clone()),
            _ => return fail("parameter dists should be an array of distributions"),
        }
    }
    let (ws, norm) = weights(ps)?;
    if ws.len() != parts.len() || parts.is_empty() {
        return fail("parameters ps and dists should have the same length > 0");
    }
    let bounds = |d: &Rc<Dist>| d.bounds().map(|[a, b]| [a.value().to_bits(), b.value().to_bits()]);
    for d in &parts[1..] {
        if d.is_continuous() != parts[0].is_continuous() {
            return fail("mixtures combining discrete and continuous distributions are not supported");
        }
        if d.is_continuous() && bounds(d) != bounds(&parts[0]) {
            return fail("all continuous distributions of a mixture should have the same support");
        }
    }
    Ok(Parts::Mixture(parts, ws, norm))
}

/// Without a width, Silverman's rule of thumb.
fn kernel(data: &Value, width: &Value) -> Run<Parts> {
    let Value::Array(data) = data else { return fail("parameter \"data\" should be a non-empty array") };
    let data = data.items().clone();
    let n = data.len() as f64;
    let width = match (data.first(), width) {
        (Some(Value::Number(_)), Value::Undefined) => {
            let xs: Vec<f64> = data.iter().filter_map(Value::as_number).collect();
            let mean = xs.iter().sum::<f64>() / n;
            let sd = (xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
            Value::Number(1.06 * sd * n.powf(-0.2))
        }
        (Some(Value::Tensor(first)), Value::Undefined) => {
            let d = first.len() as f64;
            let column = |i: usize| data.iter().filter_map(Value::as_tensor).map(move |t| t.data[i]);
            let factor = (4.0 / (d + 2.0)).powf(1.0 / (d + 4.0)) * n.powf(-1.0 / (d + 4.0));
            let sd = |i: usize| {
                let mean = column(i).sum::<f64>() / n;
                (column(i).map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt() * factor
            };
            Value::tensor(Tensor::new(first.dims.clone(), (0..first.len()).map(sd).collect()))
        }
        (Some(Value::Number(_)), w) if w.as_number().is_some_and(|w| w > 0.0) => w.clone(),
        (Some(Value::Tensor(_)), Value::Tensor(_)) => width.clone(),
        (Some(Value::Number(_) | Value::Tensor(_)), _) => {
            return fail("parameter \"width\" should be of type real (0, Infinity) or a positive vector");
        }
        _ => return fail("parameter \"data\" should be a non-empty array of reals or vectors"),
    };
    Ok(Parts::Kernel(data, width))
}

fn samples(value: &Value) -> Run<Samples> {
    let Value::Array(items) = value else { return fail("expected samples to be a non-empty array") };
    let one = |v: &Value| match v {
        Value::Object(o) => {
            Ok((o.get("value").unwrap_or(Value::Undefined), o.get("score").and_then(|s| s.as_number())))
        }
        _ => fail("expected samples to be objects"),
    };
    let samples: Vec<_> = items.items().iter().map(one).collect::<Run<_>>()?;
    if samples.is_empty() { fail("expected samples to be a non-empty array") } else { Ok(Samples::new(samples)) }
}

fn marginal(value: &Value) -> Run<Table> {
    let Value::Object(o) = value else { return fail("expected dist to be an object") };
    let mut table = Table::default();
    for (_, entry) in o.fields().iter() {
        if let Value::Object(e) = entry {
            let prob = e.get("prob").and_then(|p| Num::of(&p)).unwrap_or(Num::Plain(0.0));
            table.add(&e.get("val").unwrap_or(Value::Undefined), &prob);
        }
    }
    Ok(table)
}
