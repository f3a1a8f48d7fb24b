//! Log densities of vectors, tensors and counts.

use std::cell::RefCell;
use std::rc::Rc;

use super::Family;
use crate::algebra::{self, Binary, Unary};
use crate::error::{Run, fail};
use crate::tape::{Num, recorded};
use crate::tensor::Tensor;
use crate::value::Value;
use crust_math::special::lgamma;

const LOG_2PI: f64 = 1.837_877_066_409_345_3;
const MINUS_INFINITY: Num = Num::Plain(f64::NEG_INFINITY);

fn num(value: &Value) -> Run<Num> {
    match Num::of(value) {
        Some(n) => Ok(n),
        None => fail("a number is expected"),
    }
}

fn sub(a: &Value, b: &Value) -> Run<Value> {
    Binary::Sub.apply(a, b)
}

fn mul(a: &Value, b: &Value) -> Run<Value> {
    Binary::Mul.apply(a, b)
}

fn total(a: &Value) -> Run<Num> {
    num(&algebra::sum(a)?)
}

/// The score of a tensor; one of other dims has none.
pub fn score(family: Family, params: &[Value], dims: &[usize], value: &Value) -> Run<Num> {
    let args: Vec<&Value> = params.iter().chain([value]).collect();
    let (count, shape) = (params.len(), dims.to_vec());
    let again = move |v: &[Value]| Ok(score(family, &v[..count], &shape, &v[count])?.into_value());
    if let Some(out) = recorded(&args, again) {
        return num(&out?);
    }
    let Some(x) = value.as_tensor() else { return Ok(MINUS_INFINITY) };
    if x.dims != dims {
        return Ok(MINUS_INFINITY);
    }
    let n = x.len() as f64;
    match family {
        Family::TensorGaussian => {
            let (mu, sigma) = (&params[0], num(&params[1])?);
            let d = sub(value, mu)?;
            let squares = total(&mul(&d, &d)?)?.div(&sigma.mul(&sigma));
            let constant = Num::Plain(n * LOG_2PI).add(&sigma.ln().scale(2.0 * n));
            Ok(constant.add(&squares).scale(-0.5))
        }
        Family::TensorLaplace => {
            let scale = num(&params[1])?;
            let d = total(&Unary::Abs.apply(&sub(value, &params[0])?)?)?.div(&scale);
            Ok(scale.scale(2.0).ln().scale(n).add(&d).scale(-1.0))
        }
        Family::DiagCovGaussian => diagonal(&params[0], &params[1], value),
        Family::LogisticNormal => {
            let d = x.len() - 1;
            let u = algebra::reshape(&algebra::range(value, 0, d)?, vec![d, 1])?;
            let last = algebra::get(value, d)?;
            let inverse = Unary::Log.apply(&Binary::Div.apply(&u, &last)?)?;
            Ok(diagonal(&params[0], &params[1], &inverse)?.sub(&total(&Unary::Log.apply(value)?)?))
        }
        Family::MultivariateBernoulli => {
            let one = Value::Number(1.0);
            let (x1, p1) = (sub(value, &one)?, sub(&params[0], &one)?);
            let p = Binary::Add.apply(&mul(value, &params[0])?, &mul(&x1, &p1)?)?;
            total(&Unary::Log.apply(&p)?)
        }
        Family::Dirichlet => {
            let alpha = &params[0];
            let terms = mul(&sub(alpha, &Value::Number(1.0))?, &Unary::Log.apply(value)?)?;
            let terms = sub(&terms, &Unary::LogGamma.apply(alpha)?)?;
            Ok(total(&terms)?.add(&num(&Unary::LogGamma.apply(&algebra::sum(alpha)?)?)?))
        }
        _ => {
            let (mu, cov) = (&params[0], &params[1]);
            if let (Value::Tensor(x), Value::Tensor(mu), Value::Tensor(cov)) = (value, mu, cov)
                && let Some(score) = gaussian(x, mu, cov)
            {
                return Ok(Num::Plain(score));
            }
            let det = num(&algebra::determinant(cov)?)?;
            if det.value() <= 0.0 {
                return fail("the covariance matrix is not positive definite");
            }
            let z = sub(value, mu)?;
            let form = algebra::dot(&algebra::dot(&algebra::transpose(&z)?, &algebra::inverse(cov)?)?, &z)?;
            let form = num(&algebra::get(&form, 0)?)?;
            Ok(Num::Plain(n * LOG_2PI).add(&det.ln()).add(&form).scale(-0.5))
        }
    }
}

/// A lower Cholesky factor with the matrix that it is of, and Σ log of its diagonal.
struct Factor {
    of: Rc<Tensor>,
    lower: Tensor,
    log_diagonal: f64,
}

thread_local! {
    /// The last factor: observations mostly share their covariance.
    static FACTOR: RefCell<Option<Factor>> = const { RefCell::new(None) };
}

/// The log density of plain numbers; nothing if the covariance has no Cholesky factor.
fn gaussian(x: &Tensor, mu: &Tensor, cov: &Rc<Tensor>) -> Option<f64> {
    FACTOR.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|factor| !Rc::ptr_eq(&factor.of, cov)) {
            let lower = cov.cholesky().ok()?;
            let n = lower.dims[0];
            let log_diagonal: f64 = (0..n).map(|i| lower.data[i * (n + 1)].ln()).sum();
            *last = log_diagonal.is_finite().then(|| Factor { of: cov.clone(), lower, log_diagonal });
        }
        let factor = last.as_ref()?;
        let n = x.len();
        let mut z: Vec<f64> = Vec::with_capacity(n);
        for (i, row) in factor.lower.data.chunks_exact(n).enumerate() {
            let known: f64 = row[..i].iter().zip(&z).map(|(l, z)| l * z).sum();
            z.push((x.data[i] - mu.data[i] - known) / row[i]);
        }
        let squares: f64 = z.iter().map(|z| z * z).sum();
        Some(-0.5 * (x.len() as f64 * LOG_2PI + squares) - factor.log_diagonal)
    })
}

fn diagonal(mu: &Value, sigma: &Value, x: &Value) -> Run<Num> {
    let n = x.as_tensor().map_or(0, |t| t.len()) as f64;
    let z = Binary::Div.apply(&sub(x, mu)?, sigma)?;
    let log_det = total(&Unary::Log.apply(sigma)?)?.scale(2.0);
    Ok(Num::Plain(n * LOG_2PI).add(&log_det).add(&total(&mul(&z, &z)?)?).scale(-0.5))
}

pub fn multinomial(ps: &[Num], n: usize, value: &Value) -> Run<Num> {
    let Value::Array(counts) = value else { return Ok(MINUS_INFINITY) };
    let counts: Vec<f64> = counts.items().iter().map(crate::coerce::number).collect();
    let sum: f64 = counts.iter().sum();
    #[expect(clippy::float_cmp, reason = "counts are whole numbers")]
    if counts.len() != ps.len() || sum != n as f64 {
        return Ok(MINUS_INFINITY);
    }
    let mut score = Num::Plain(lgamma(n as f64 + 1.0));
    for (p, k) in ps.iter().zip(counts) {
        score = score.sub(&Num::Plain(lgamma(k + 1.0)));
        if k != 0.0 {
            score = score.add(&p.ln().scale(k));
        }
    }
    Ok(score)
}

/// A kernel density estimate.
pub fn kernel(data: &[Value], width: &Value, value: &Value) -> Run<Num> {
    let mut total = Num::Plain(f64::NEG_INFINITY);
    for x in data {
        let score = match (x, value.as_tensor()) {
            (Value::Tensor(_), Some(_)) => diagonal(x, width, value)?,
            (Value::Number(x), None) => {
                let (w, v) = (width.as_number().unwrap_or(f64::NAN), num(value)?);
                let z = v.sub(&Num::Plain(*x)).scale(1.0 / w);
                Num::Plain(LOG_2PI + 2.0 * w.ln()).add(&z.mul(&z)).scale(-0.5)
            }
            _ => return Ok(MINUS_INFINITY),
        };
        total = total.log_add_exp(&score);
    }
    Ok(total.sub(&Num::Plain((data.len() as f64).ln())))
}
