//! Draws as differentiable functions of the parameters and of random numbers that do not depend on them.

use super::{Dist, Family, Parts, draw};
use crate::algebra::{self, Binary, Unary};
use crate::error::Run;
use crate::tape::Num;
use crate::tensor::Tensor;
use crate::value::Value;
use crust_math::random::Stream;

impl Dist {
    /// Whether draws can be differentiated.
    pub fn can_reparam(&self) -> bool {
        matches!(
            self.family,
            Family::Gaussian
                | Family::Exponential
                | Family::Cauchy
                | Family::Laplace
                | Family::LogitNormal
                | Family::IspNormal
                | Family::Delta
                | Family::LogisticNormal
                | Family::DiagCovGaussian
                | Family::TensorGaussian
                | Family::TensorLaplace
                | Family::MultivariateGaussian
        )
    }

    /// A draw that depends on the parameters.
    pub fn sample_reparam(&self, stream: &mut Stream) -> Run<Value> {
        let [a, b] = &self.args;
        let shift = |z: f64| a.add(&b.scale(z));
        let laplace = |stream: &mut Stream| {
            let u = stream.uniform() - 0.5;
            -u.signum() * (1.0 - 2.0 * u.abs()).ln()
        };
        Ok(match (&self.parts, self.family) {
            (Parts::Delta(v), _) => v.clone(),
            (Parts::Logit(p), _) => {
                let x = p[0].add(&p[1].scale(stream.standard_normal())).into_value();
                let y = Unary::Sigmoid.apply(&x)?;
                let width = p[3].sub(&p[2]).into_value();
                Binary::Add.apply(&Binary::Mul.apply(&y, &width)?, &p[2].clone().into_value())?
            }
            (_, Family::Gaussian) => shift(stream.standard_normal()).into_value(),
            (_, Family::IspNormal) => {
                let x = shift(stream.standard_normal()).into_value();
                let y = Binary::Add.apply(&Unary::Exp.apply(&x)?, &Value::Number(1.0))?;
                Unary::Log.apply(&y)?
            }
            (_, Family::Exponential) => Num::Plain(stream.standard_exponential()).div(a).into_value(),
            (_, Family::Cauchy) => shift((std::f64::consts::PI * (stream.uniform() - 0.5)).tan()).into_value(),
            (_, Family::Laplace) => shift(laplace(stream)).into_value(),
            (Parts::Tensors(params, dims), family) => {
                // the standard distribution has as many elements as mu
                let shape = match family {
                    Family::TensorGaussian | Family::TensorLaplace => dims.clone(),
                    _ => algebra::tensor(&params[0], family.name())?.0.dims.clone(),
                };
                let n: usize = shape.iter().product();
                let z = match family {
                    Family::TensorLaplace => (0..n).map(|_| laplace(stream)).collect(),
                    _ => (0..n).map(|_| stream.standard_normal()).collect(),
                };
                let z = Value::tensor(Tensor::new(shape, z));
                let scaled = match family {
                    Family::MultivariateGaussian => algebra::dot(&algebra::cholesky(&params[1])?, &z)?,
                    _ => Binary::Mul.apply(&z, &params[1])?,
                };
                let x = Binary::Add.apply(&scaled, &params[0])?;
                if family == Family::LogisticNormal { draw::squish(&x)? } else { x }
            }
            _ => self.sample(stream)?,
        })
    }
}
