//! Functions of numbers, applied to every number of a container; the operators by their names; constants.

use super::{Args, Function, elementwise, plain};
use crate::ast::{BinaryOp, UnaryOp};
use crate::eval::operators::{Answer, binary, complexes, transpose, unary, zip};
use crate::eval::{Failure, fail};
use crate::value::{Cell, Complex, Numbers, Tensor, Value};
use crust_math::special;

pub(super) const TABLE: &[Function] = &[
    plain("e", |_| Ok(Value::Real(std::f64::consts::E))),
    plain("pi", |_| Ok(Value::Real(std::f64::consts::PI))),
    plain("sqrt2", |_| Ok(Value::Real(std::f64::consts::SQRT_2))),
    plain("machine_precision", |_| Ok(Value::Real(f64::EPSILON))),
    plain("not_a_number", |_| Ok(Value::Real(f64::NAN))),
    plain("positive_infinity", |_| Ok(Value::Real(f64::INFINITY))),
    plain("negative_infinity", |_| Ok(Value::Real(f64::NEG_INFINITY))),
    elementwise("log2", |a| if a.len() == 0 { Ok(Value::Real(std::f64::consts::LN_2)) } else { map(a, f64::log2) }),
    elementwise("log10", |a| if a.len() == 0 { Ok(Value::Real(std::f64::consts::LN_10)) } else { map(a, f64::log10) }),
    elementwise("acos", |a| map(a, f64::acos)),
    elementwise("acosh", |a| map_where(a, |x| x >= 1.0 || x.is_nan(), "at least 1", f64::acosh)),
    elementwise("asin", |a| map(a, f64::asin)),
    elementwise("asinh", |a| map(a, f64::asinh)),
    elementwise("atan", |a| map(a, f64::atan)),
    elementwise("atanh", |a| map_where(a, |x| x.abs() <= 1.0 || x.is_nan(), "between -1 and 1", f64::atanh)),
    elementwise("cbrt", |a| map(a, f64::cbrt)),
    elementwise("ceil", |a| map(a, f64::ceil)),
    elementwise("cos", |a| map(a, f64::cos)),
    elementwise("cosh", |a| map(a, f64::cosh)),
    elementwise("exp", |a| map(a, f64::exp)),
    elementwise("exp2", |a| map(a, f64::exp2)),
    elementwise("expm1", |a| map(a, f64::exp_m1)),
    elementwise("floor", |a| map(a, f64::floor)),
    elementwise("inv", |a| map(a, |x| 1.0 / x)),
    elementwise("inv_cloglog", |a| map(a, special::inv_cloglog)),
    elementwise("inv_logit", |a| map(a, special::inv_logit)),
    elementwise("inv_sqrt", |a| map(a, |x| 1.0 / x.sqrt())),
    elementwise("inv_square", |a| map(a, |x| 1.0 / (x * x))),
    elementwise("log", |a| map(a, f64::ln)),
    elementwise("log1m", |a| map_where(a, |x| x <= 1.0 || x.is_nan(), "at most 1", |x| (-x).ln_1p())),
    elementwise("log1m_exp", |a| map(a, special::log1m_exp)),
    elementwise("log1m_inv_logit", |a| map(a, special::log1m_inv_logit)),
    elementwise("log1p", |a| map_where(a, |x| x >= -1.0 || x.is_nan(), "at least -1", f64::ln_1p)),
    elementwise("log1p_exp", |a| map(a, special::log1p_exp)),
    elementwise("log_inv_logit", |a| map(a, special::log_inv_logit)),
    elementwise("logit", |a| map(a, special::logit)),
    elementwise("round", |a| map(a, f64::round)),
    elementwise("sin", |a| map(a, f64::sin)),
    elementwise("sinh", |a| map(a, f64::sinh)),
    elementwise("sqrt", |a| map(a, f64::sqrt)),
    elementwise("square", |a| map(a, |x| x * x)),
    elementwise("tan", |a| map(a, f64::tan)),
    elementwise("tanh", |a| map(a, f64::tanh)),
    elementwise("trunc", |a| map(a, f64::trunc)),
    plain("atan2", |a| map2(a, f64::atan2)),
    plain("fdim", |a| map2(a, |x, y| if x <= y { 0.0 } else { x - y })),
    plain("fmax", |a| map2(a, f64::max)),
    plain("fmin", |a| map2(a, f64::min)),
    plain("fmod", |a| map2(a, |x, y| x % y)),
    plain("hypot", |a| map2(a, f64::hypot)),
    plain("lmultiply", |a| map2(a, special::lmultiply)),
    plain("log_diff_exp", |a| map2(a, special::log_diff_exp)),
    plain("pow", |a| binary(BinaryOp::EltPower, a.get(0)?, a.get(1)?)),
    plain("ldexp", |a| map2(a, |x, n| x * n.exp2())),
    plain("fma", |a| {
        let product = binary(BinaryOp::EltMultiply, a.get(0)?, a.get(1)?)?;
        binary(BinaryOp::Add, &product, a.get(2)?)
    }),
    elementwise("lgamma", |a| map(a, special::lgamma)),
    elementwise("digamma", |a| map(a, special::digamma)),
    elementwise("trigamma", |a| map(a, special::trigamma)),
    elementwise("tgamma", |a| map(a, special::tgamma)),
    elementwise("erf", |a| map(a, special::erf)),
    elementwise("erfc", |a| map(a, special::erfc)),
    elementwise("Phi", |a| map(a, special::Phi)),
    elementwise("Phi_approx", |a| map(a, special::Phi_approx)),
    elementwise("inv_Phi", |a| map_where(a, |p| (0.0..=1.0).contains(&p), "between 0 and 1", special::inv_Phi)),
    elementwise("std_normal_qf", |a| map_where(a, |p| (0.0..=1.0).contains(&p), "between 0 and 1", special::inv_Phi)),
    plain("lbeta", |a| map2(a, special::lbeta)),
    plain("lchoose", |a| map2(a, special::lchoose)),
    plain("log_rising_factorial", |a| map2(a, special::log_rising_factorial)),
    plain("log_falling_factorial", |a| map2(a, special::log_falling_factorial)),
    plain("choose", |a| map_ints(a, choose)),
    plain("rising_factorial", |a| factorial(a, 1)),
    plain("falling_factorial", |a| factorial(a, -1)),
    elementwise("abs", abs),
    plain("to_int", to_int),
    plain("step", |a| Ok(Value::Real(if a.real(0)? < 0.0 { 0.0 } else { 1.0 }))),
    plain("int_step", |a| Ok(Value::flag(a.real(0)? > 0.0))),
    plain("is_inf", |a| Ok(Value::flag(a.real(0)?.is_infinite()))),
    plain("is_nan", |a| Ok(Value::flag(a.real(0)?.is_nan()))),
    plain("add", |a| binary(BinaryOp::Add, a.get(0)?, a.get(1)?)),
    plain("subtract", |a| binary(BinaryOp::Subtract, a.get(0)?, a.get(1)?)),
    plain("multiply", |a| binary(BinaryOp::Multiply, a.get(0)?, a.get(1)?)),
    plain("divide", |a| binary(BinaryOp::Divide, a.get(0)?, a.get(1)?)),
    plain("modulus", |a| binary(BinaryOp::Modulo, a.get(0)?, a.get(1)?)),
    plain("elt_multiply", |a| binary(BinaryOp::EltMultiply, a.get(0)?, a.get(1)?)),
    plain("elt_divide", |a| binary(BinaryOp::EltDivide, a.get(0)?, a.get(1)?)),
    plain("minus", |a| unary(UnaryOp::Minus, a.get(0)?)),
    plain("plus", |a| Ok(a.get(0)?.clone())),
    plain("transpose", |a| transpose(a.get(0)?)),
    plain("logical_negation", |a| unary(UnaryOp::Not, a.get(0)?)),
    plain("logical_and", |a| binary(BinaryOp::And, a.get(0)?, a.get(1)?)),
    plain("logical_or", |a| binary(BinaryOp::Or, a.get(0)?, a.get(1)?)),
    plain("logical_eq", |a| binary(BinaryOp::Equal, a.get(0)?, a.get(1)?)),
    plain("logical_neq", |a| binary(BinaryOp::NotEqual, a.get(0)?, a.get(1)?)),
    plain("logical_lt", |a| binary(BinaryOp::Less, a.get(0)?, a.get(1)?)),
    plain("logical_lte", |a| binary(BinaryOp::LessEqual, a.get(0)?, a.get(1)?)),
    plain("logical_gt", |a| binary(BinaryOp::Greater, a.get(0)?, a.get(1)?)),
    plain("logical_gte", |a| binary(BinaryOp::GreaterEqual, a.get(0)?, a.get(1)?)),
    plain("to_complex", |a| {
        let part = |i| if i < a.len() { a.real(i) } else { Ok(0.0) };
        Ok(Value::Complex(Complex { re: part(0)?, im: part(1)? }))
    }),
    plain("polar", |a| {
        let (r, angle) = (a.real(0)?, a.real(1)?);
        Ok(Value::Complex(Complex { re: r * angle.cos(), im: r * angle.sin() }))
    }),
    plain("get_real", |a| complex_part(a, |z| z.re)),
    plain("get_imag", |a| complex_part(a, |z| z.im)),
    plain("arg", |a| complex_part(a, |z| z.im.atan2(z.re))),
    plain("norm", |a| complex_part(a, |z| z.re * z.re + z.im * z.im)),
    plain("conj", conj),
];

/// Applies `f` to every number; integers become reals.
fn map(a: &Args, f: impl Fn(f64) -> f64) -> Answer {
    match a.get(0)? {
        Value::Tensor(t) if !t.cell.is_complex() => {
            let numbers = (0..t.numbers.len()).map(|i| f(t.numbers.real(i))).collect();
            let cell = if t.cell == Cell::Int { Cell::Real } else { t.cell };
            Ok(Tensor::reals(t.array.clone(), cell, numbers).into())
        }
        Value::Tensor(_) | Value::Complex(_) => {
            Err(Failure::Lacking(format!("`{}` of complex numbers is not computed before the run", a.name)))
        }
        _ => Ok(Value::Real(f(a.real(0)?))),
    }
}

/// [`map`] for a function that stops the program outside its domain, as Stan's does.
fn map_where(a: &Args, fits: impl Fn(f64) -> bool, domain: &str, f: impl Fn(f64) -> f64) -> Answer {
    if let Some(numbers) = a.get(0)?.to_reals()
        && let Some(x) = numbers.iter().find(|x| !fits(**x))
    {
        return fail("out-of-domain", format!("the argument of `{}` is {x}, but must be {domain}", a.name));
    }
    map(a, f)
}

fn map2(a: &Args, f: impl Fn(f64, f64) -> f64) -> Answer {
    let (x, y) = (a.get(0)?, a.get(1)?);
    for value in [x, y] {
        if matches!(value, Value::Complex(_)) || value.as_tensor().is_some_and(|t| t.cell.is_complex()) {
            return Err(Failure::Lacking(format!("`{}` of complex numbers is not computed before the run", a.name)));
        }
    }
    zip(x, y, f)
}

/// Applies `f` to pairs of integers.
fn map_ints(a: &Args, f: fn(&Args, i32, i32) -> Result<i32, Failure>) -> Answer {
    let (x, y) = (a.get(0)?, a.get(1)?);
    let (Some(left), Some(right)) = (x.to_ints(), y.to_ints()) else {
        return a.error("argument-type", "integers are expected");
    };
    match (x, y) {
        (Value::Int(x), Value::Int(y)) => Ok(Value::Int(f(a, *x, *y)?)),
        (Value::Tensor(s), Value::Tensor(t)) if s.array != t.array => {
            a.error("size-mismatch", "the arguments differ in size")
        }
        (Value::Tensor(t), _) | (_, Value::Tensor(t)) => {
            let pick = |list: &[i32], i: usize| if list.len() == 1 { list[0] } else { list[i] };
            let numbers = (0..t.numbers.len()).map(|i| f(a, pick(&left, i), pick(&right, i)));
            Ok(Tensor::ints(t.array.clone(), numbers.collect::<Result<_, _>>()?).into())
        }
        _ => a.error("argument-type", "integers are expected"),
    }
}

fn choose(a: &Args, n: i32, k: i32) -> Result<i32, Failure> {
    if n < 0 {
        return a.error("out-of-domain", &format!("choose({n}, {k}): the first argument must not be negative"));
    }
    if k < 0 || k > n {
        return Ok(0);
    }
    let mut product: i128 = 1;
    for i in 1..=i128::from(k.min(n - k)) {
        product = product * (i128::from(n) + 1 - i) / i;
        if product > i128::from(i32::MAX) {
            return fail("integer-overflow", format!("choose({n}, {k}) does not fit Stan's int, which has 32 bits"));
        }
    }
    i32::try_from(product).or_else(|_| fail("integer-overflow", "choose does not fit Stan's int"))
}

/// The product of `n` factors that start at `x` and go up or down; only for integers, the other cases need gamma
/// functions.
fn factorial(a: &Args, step: i32) -> Answer {
    if a.get(0)?.to_ints().is_none() || a.get(1)?.to_ints().is_none() {
        return Err(Failure::Lacking(format!("`{}` of reals is not computed before the run", a.name)));
    }
    let up: fn(&Args, i32, i32) -> Result<i32, Failure> = |a, x, n| steps_product(a, x, n, 1);
    let down: fn(&Args, i32, i32) -> Result<i32, Failure> = |a, x, n| steps_product(a, x, n, -1);
    map_ints(a, if step > 0 { up } else { down })
}

fn steps_product(a: &Args, x: i32, n: i32, step: i64) -> Result<i32, Failure> {
    if n < 0 {
        return a.error("out-of-domain", &format!("the number of factors is {n}, but must not be negative"));
    }
    let mut product: i32 = 1;
    for i in 0..i64::from(n) {
        let factor = i32::try_from(i64::from(x) + step * i).unwrap_or(i32::MAX);
        match product.checked_mul(factor) {
            Some(0) => return Ok(0),
            Some(p) => product = p,
            None => return a.error("integer-overflow", "the result does not fit Stan's int, which has 32 bits"),
        }
    }
    Ok(product)
}

fn abs(a: &Args) -> Answer {
    match a.get(0)? {
        Value::Int(n) => match n.checked_abs() {
            Some(n) => Ok(Value::Int(n)),
            None => a.error("integer-overflow", "the result does not fit Stan's int, which has 32 bits"),
        },
        Value::Complex(z) => Ok(Value::Real(z.re.hypot(z.im))),
        Value::Tensor(t) if t.cell.is_complex() => complex_part(a, |z| z.re.hypot(z.im)),
        Value::Tensor(t) => {
            let numbers = match &t.numbers {
                Numbers::Int(v) => match v.iter().map(|n| n.checked_abs()).collect() {
                    Some(v) => Numbers::Int(v),
                    None => return a.error("integer-overflow", "an element does not fit Stan's int"),
                },
                Numbers::Real(v) => Numbers::Real(v.iter().map(|x| x.abs()).collect()),
            };
            Ok(Tensor { array: t.array.clone(), cell: t.cell, numbers }.into())
        }
        _ => Ok(Value::Real(a.real(0)?.abs())),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked; the fraction is to be cut off")]
fn to_int(a: &Args) -> Answer {
    let convert = |x: f64| {
        if x > f64::from(i32::MIN) - 1.0 && x < f64::from(i32::MAX) + 1.0 {
            Ok(x as i32)
        } else {
            fail("integer-overflow", format!("to_int({x}): not a number that fits Stan's int, which has 32 bits"))
        }
    };
    match a.get(0)? {
        Value::Int(n) => Ok(Value::Int(*n)),
        Value::Tensor(t) if t.cell == Cell::Int => Ok(a.get(0)?.clone()),
        Value::Tensor(t) if t.cell == Cell::Real => {
            let numbers = t.numbers.to_reals().into_iter().map(convert).collect::<Result<_, _>>()?;
            Ok(Tensor::ints(t.array.clone(), numbers).into())
        }
        _ => Ok(Value::Int(convert(a.real(0)?)?)),
    }
}

fn complex_part(a: &Args, f: fn(Complex) -> f64) -> Answer {
    match a.get(0)? {
        Value::Tensor(t) => {
            let numbers = complexes(t).into_iter().map(f).collect();
            Ok(Tensor::reals(t.array.clone(), t.cell.with_complex(true).with_complex(false), numbers).into())
        }
        other => match other.as_complex() {
            Some(z) => Ok(Value::Real(f(z))),
            None => a.error("argument-type", "a complex number is expected"),
        },
    }
}

fn conj(a: &Args) -> Answer {
    match a.get(0)? {
        Value::Tensor(t) => {
            let numbers = complexes(t).into_iter().flat_map(|z| [z.re, -z.im]).collect();
            Ok(Tensor::reals(t.array.clone(), t.cell.with_complex(true), numbers).into())
        }
        other => match other.as_complex() {
            Some(z) => Ok(Value::Complex(Complex { re: z.re, im: -z.im })),
            None => a.error("argument-type", "a complex number is expected"),
        },
    }
}
