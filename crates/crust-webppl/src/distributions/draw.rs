//! Random draws.

use super::{Dist, Family, Parts};
use crate::algebra;
use crate::error::{Run, fail};
use crate::tape::Num;
use crate::tensor::Tensor;
use crate::value::Value;
use crust_math::random::{Draw, Stream};

/// A draw, with the library's message if a parameter has none.
fn drawn<T>(draw: Draw<T>) -> Run<T> {
    match draw {
        Ok(x) => Ok(x),
        Err(e) => fail(e.to_string()),
    }
}

/// An index with probability proportional to its weight.
pub fn pick(stream: &mut Stream, weights: impl Iterator<Item = f64> + Clone) -> usize {
    let total: f64 = weights.clone().sum();
    let mut u = stream.uniform() * total;
    let mut last = 0;
    for (i, w) in weights.enumerate() {
        if w > 0.0 {
            if u < w {
                return i;
            }
            last = i;
        }
        u -= w;
    }
    last
}

/// Many draws of indices with probability proportional to their weights.
pub struct Picker(Vec<f64>);

impl Picker {
    pub fn new(weights: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        Self(
            weights
                .map(|w| {
                    sum += w;
                    sum
                })
                .collect(),
        )
    }

    pub fn pick(&self, stream: &mut Stream) -> usize {
        let total = self.0.last().copied().unwrap_or(0.0);
        let u = stream.uniform() * total;
        // the first sum above u; where rounding leaves none, the first that reaches the total
        let i = self.0.partition_point(|sum| *sum <= u);
        if i < self.0.len() { i } else { self.0.partition_point(|sum| *sum < total) }
    }
}

/// The smallest and largest numbers that lie inside of (0, 1).
fn inside_unit(x: f64) -> f64 {
    x.clamp(5e-324, 1.0 - f64::EPSILON / 2.0)
}

impl Dist {
    pub fn sample(&self, stream: &mut Stream) -> Run<Value> {
        let [a, b] = [self.args[0].value(), self.args[1].value()];
        let value = match &self.parts {
            Parts::None => match self.family {
                Family::Bernoulli => return Ok(Value::Bool(stream.uniform() < a)),
                Family::Gaussian => a + b * stream.standard_normal(),
                Family::Uniform => {
                    let u = stream.uniform();
                    ((1.0 - u) * a + u * b).clamp(a, b)
                }
                Family::Beta => inside_unit(drawn(stream.beta(a, b))?),
                Family::Gamma => (drawn(stream.gamma(a, 1.0))? * b).max(5e-324),
                Family::Exponential => stream.standard_exponential() / a,
                Family::Cauchy => drawn(stream.cauchy(a, b))?,
                Family::Laplace => drawn(stream.double_exponential(a, b))?,
                Family::LogNormal => (a + b * stream.standard_normal()).exp(),
                Family::IspNormal => crust_math::special::log1p_exp(a + b * stream.standard_normal()),
                Family::Poisson => drawn(stream.poisson(a))? as f64,
                #[expect(clippy::cast_possible_truncation, reason = "checked to be an integer")]
                Family::Binomial => drawn(stream.binomial(b as i64, a))? as f64,
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
                Family::RandomInteger => stream.below(a as u64) as f64,
                _ => return fail(format!("cannot sample from the improper distribution {}", self.family.name())),
            },
            Parts::Logit(params) => {
                let [mu, sigma, low, high] = &**params;
                let u = crust_math::special::inv_logit(mu.value() + sigma.value() * stream.standard_normal());
                low.value() + inside_unit(u) * (high.value() - low.value())
            }
            Parts::Delta(v) => return Ok(v.primal()),
            Parts::Weights(ws, _) => pick(stream, ws.iter().map(Num::value)) as f64,
            Parts::Table(t) => {
                let i = pick(stream, t.entries.iter().map(|e| e.prob.value()));
                return Ok(t.entries[i].value.clone());
            }
            Parts::Samples(s) => return Ok(s.samples[stream.index_below(s.samples.len())].0.clone()),
            Parts::Mixture(dists, ws, _) => {
                let i = pick(stream, ws.iter().map(Num::value));
                return dists[i].sample(stream);
            }
            Parts::Multinomial(ps, n) => {
                let mut counts = vec![0.0; ps.len()];
                for _ in 0..*n {
                    counts[pick(stream, ps.iter().map(Num::value))] += 1.0;
                }
                return Ok(Value::numbers(counts));
            }
            Parts::Tensors(params, dims) => return self.sample_tensor(stream, params, dims),
            Parts::Kernel(data, width) => {
                let i = stream.index_below(data.len());
                return sample_kernel(stream, &data[i], width);
            }
        };
        Ok(Value::Number(value))
    }

    fn sample_tensor(&self, stream: &mut Stream, params: &[Value], dims: &[usize]) -> Run<Value> {
        let n: usize = dims.iter().product();
        let number = |i: usize| params[i].as_number().unwrap_or(f64::NAN);
        let tensor = |i: usize| algebra::tensor(&params[i], self.family.name()).map(|t| t.0);
        let data: Vec<f64> = match self.family {
            Family::TensorGaussian => (0..n).map(|_| number(0) + number(1) * stream.standard_normal()).collect(),
            Family::TensorLaplace => {
                (0..n).map(|_| drawn(stream.double_exponential(number(0), number(1)))).collect::<Run<_>>()?
            }
            Family::MultivariateBernoulli => {
                tensor(0)?.data.iter().map(|p| f64::from(u8::from(stream.uniform() < *p))).collect()
            }
            Family::Dirichlet => {
                let mut out = vec![0.0; n];
                drawn(stream.dirichlet(&tensor(0)?.data, &mut out))?;
                out.into_iter().map(inside_unit).collect()
            }
            Family::DiagCovGaussian | Family::LogisticNormal => {
                let (mu, sigma) = (tensor(0)?, tensor(1)?);
                let z: Vec<f64> =
                    mu.data.iter().zip(&sigma.data).map(|(m, s)| m + s * stream.standard_normal()).collect();
                if self.family == Family::LogisticNormal {
                    return squish(&Value::tensor(Tensor::vector(z)));
                }
                z
            }
            _ => {
                let (mu, l) = (tensor(0)?, tensor(1)?.cholesky()?);
                let z = Tensor::vector((0..mu.len()).map(|_| stream.standard_normal()).collect());
                #[cfg(test)]
                let mu = if WRONG.get() { mu.map(|x| -x).into() } else { mu };
                l.dot(&z)?.data.iter().zip(&mu.data).map(|(a, b)| a + b).collect()
            }
        };
        Ok(Value::tensor(Tensor::new(dims.to_vec(), data)))
    }
}

#[cfg(test)]
thread_local! {
    /// Plants a mistake in the sampler of multivariate normal vectors: the mean has the wrong sign.
    pub static WRONG: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn sample_kernel(stream: &mut Stream, x: &Value, width: &Value) -> Run<Value> {
    if let (Value::Tensor(x), Value::Tensor(w)) = (x, width) {
        let data = x.data.iter().zip(&w.data).map(|(x, w)| x + w * stream.standard_normal()).collect();
        return Ok(Value::tensor(Tensor::new(x.dims.clone(), data)));
    }
    let (x, w) = (x.as_number().unwrap_or(f64::NAN), width.as_number().unwrap_or(f64::NAN));
    Ok(Value::Number(x + w * stream.standard_normal()))
}

/// A vector of length d to a probability vector of length d + 1.
pub fn squish(x: &Value) -> Run<Value> {
    let d = algebra::tensor(x, "squishToProbSimplex")?.0.len();
    let u = algebra::concat(&[x.clone(), Value::tensor(Tensor::fill(&[1], 0.0))])?;
    algebra::softmax(&algebra::reshape(&u, vec![d + 1, 1])?)
}
