//! Supports: the values of finite distributions, the bounds of continuous ones.

use super::{Dist, Family, Parts};
use crate::error::{Run, fail};
use crate::json;
use crate::tape::Num;
use crate::tensor::Tensor;
use crate::value::{Text, Value};

/// Supports with more values than this are not listed.
const MAX_SUPPORT: f64 = 1e7;

impl Dist {
    pub fn has_support(&self) -> bool {
        match &self.parts {
            Parts::Mixture(dists, ..) => dists.iter().all(|d| d.has_support()),
            Parts::Tensors(..) => self.family == Family::MultivariateBernoulli,
            Parts::Kernel(..) => false,
            _ => !matches!(self.family, Family::Cauchy | Family::Gaussian | Family::Poisson | Family::ImproperUniform),
        }
    }

    /// The bounds of a continuous distribution of one number, if it has any.
    pub fn bounds(&self) -> Option<[Num; 2]> {
        let plain = |a: f64, b: f64| Some([Num::Plain(a), Num::Plain(b)]);
        match &self.parts {
            Parts::Mixture(dists, ..) => dists[0].bounds(),
            Parts::Logit(p) => Some([p[2].clone(), p[3].clone()]),
            Parts::None => match self.family {
                Family::Uniform => Some(self.args.clone()),
                Family::Beta => plain(0.0, 1.0),
                Family::Exponential | Family::Gamma | Family::LogNormal | Family::IspNormal => {
                    plain(0.0, f64::INFINITY)
                }
                Family::Laplace => plain(f64::NEG_INFINITY, f64::INFINITY),
                _ => None,
            },
            _ => None,
        }
    }

    /// `dist.support()`: an array of values, or an object with the bounds.
    pub fn support(&self) -> Run<Value> {
        if let Some([low, high]) = self.bounds() {
            return Ok(Value::object([
                (Text::from("lower"), low.into_value()),
                (Text::from("upper"), high.into_value()),
            ]));
        }
        let range = |n: f64| {
            if n > MAX_SUPPORT {
                return fail("the support has too many values to list them");
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            Ok(Value::numbers((0..n as usize).map(|i| i as f64)))
        };
        match &self.parts {
            Parts::None => match self.family {
                Family::Bernoulli => Ok(Value::array(vec![Value::Bool(true), Value::Bool(false)])),
                Family::Binomial => range(self.args[1].value() + 1.0),
                Family::RandomInteger => range(self.args[0].value()),
                _ => fail(format!("{} has no finite support", self.family.name())),
            },
            Parts::Delta(v) => Ok(Value::array(vec![v.clone()])),
            Parts::Weights(ws, _) => range(ws.len() as f64),
            Parts::Table(t) => Ok(t.values()),
            Parts::Samples(s) => match &s.samples[..] {
                [(only, _)] => Ok(Value::array(vec![only.clone()])),
                _ => Ok(s.table().values()),
            },
            Parts::Multinomial(ps, n) => compositions(*n, ps.len()),
            Parts::Tensors(_, dims) if self.family == Family::MultivariateBernoulli => {
                let d: usize = dims.iter().product();
                if d > 20 {
                    return fail("the support has too many values to list them");
                }
                let bits = |x: usize| (0..d).map(|i| f64::from(u8::from(x >> i & 1 == 1))).collect();
                Ok(Value::array((0..1_usize << d).map(|x| Value::tensor(Tensor::new(dims.clone(), bits(x)))).collect()))
            }
            Parts::Mixture(dists, ..) if !self.is_continuous() => {
                let mut seen = std::collections::HashSet::new();
                let mut all = Vec::new();
                for dist in dists {
                    let Value::Array(values) = dist.support()? else {
                        return fail("a component has no finite support");
                    };
                    for value in values.items().iter() {
                        if seen.insert(json::key(value)) {
                            all.push(value.clone());
                        }
                    }
                }
                Ok(Value::array(all))
            }
            _ => fail(format!("{} has no finite support", self.family.name())),
        }
    }
}

/// All ways to divide `n` among `k`, the largest first entries first.
fn compositions(n: usize, k: usize) -> Run<Value> {
    let mut out: Vec<Vec<f64>> = vec![Vec::new()];
    for i in 0..k {
        let mut longer = Vec::new();
        for row in &out {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
            let left = n - row.iter().sum::<f64>() as usize;
            let least = if i + 1 == k { left } else { 0 };
            for x in (least..=left).rev() {
                longer.push(row.iter().copied().chain([x as f64]).collect());
            }
        }
        if longer.len() as f64 > MAX_SUPPORT {
            return fail("the support has too many values to list them");
        }
        out = longer;
    }
    Ok(Value::array(out.into_iter().map(Value::numbers).collect()))
}
