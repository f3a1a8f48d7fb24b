//! The terms of a group as a function of its unconstrained numbers, everything else being given.

use std::sync::Arc;

use crust_math::random::{Purpose, StreamKey};

use super::super::{SimulateError, values};
use crate::evaluator::{Batch, Evaluator, Include, Terms as Which};
use crate::model::Model;

/// How many points are evaluated at once.
const TOGETHER: usize = 64;

/// log f(c(u)) + log |c′(u)| for the unconstrained numbers u of a group, c(u) being its parameters.
pub struct Terms<'a> {
    base: &'a [f64],
    pub coordinates: &'a [usize],
    evaluator: Evaluator,
    /// The log Jacobian of all other parameters, where those of the group have one.
    others: Option<f64>,
}

impl<'a> Terms<'a> {
    /// Parameters that can have every value have no Jacobian.
    pub fn unbounded(model: &Arc<Model>, base: &'a [f64], coordinates: &'a [usize]) -> Self {
        Self { base, coordinates, evaluator: model.evaluator(), others: None }
    }

    /// Each of the parameters is a number with a transform of its own. The Jacobian that the evaluator adds is that of
    /// all parameters; at u = 0 that of the group is known from its values there.
    pub fn bounded(
        model: &Arc<Model>,
        parameters: &[usize],
        base: &'a [f64],
        coordinates: &'a [usize],
    ) -> Result<Self, SimulateError> {
        let mut found = Self::unbounded(model, base, coordinates);
        let mut at = Vec::new();
        for u in [-1.0, 0.0, 1.0, 2.0] {
            at.push(found.constrained(model, parameters, u)?);
        }
        let own: f64 = (0..at[0].len()).map(|i| log_slope([at[0][i], at[1][i], at[2][i], at[3][i]])).sum();
        let origin = vec![0.0; coordinates.len()];
        found.others = Some(found.jacobian(&origin)? - own);
        Ok(found)
    }

    /// Whether some of the parameters have bounds.
    pub fn is_bounded(&self) -> bool {
        self.others.is_some()
    }

    /// The values of the parameters where all unconstrained numbers of the group are `u`.
    fn constrained(&mut self, model: &Arc<Model>, parameters: &[usize], u: f64) -> Result<Vec<f64>, SimulateError> {
        let mut point = self.base.to_vec();
        self.coordinates.iter().for_each(|c| point[*c] = u);
        let include = Include { transformed: false, generated: false };
        let found = self.evaluator.quantities(&point, StreamKey::new(0, Purpose::GENERATED), include)?;
        let mut named = values::named(&model.parameters, &found.numbers);
        Ok(parameters.iter().flat_map(|i| named.remove(&model.parameters[*i].name).unwrap_or_default()).collect())
    }

    /// Values and gradients at points. One that the program rejects is an error.
    pub fn gradients(&mut self, points: &[Vec<f64>]) -> Result<Vec<(f64, Vec<f64>)>, SimulateError> {
        let others = self.others;
        let mut all = Vec::with_capacity(points.len());
        for some in points.chunks(TOGETHER) {
            let (found, gradients) = self.evaluate(some, others.is_some())?;
            if let Some(rejection) = self.evaluator.rejections().iter().flatten().next() {
                return Err(SimulateError::Rejected(rejection.clone()));
            }
            all.extend(found.into_iter().map(|x| x - others.unwrap_or(0.0)).zip(gradients));
        }
        Ok(all)
    }

    /// Values at points: −∞ where the program rejects them.
    pub fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>, SimulateError> {
        let others = self.others;
        let mut all = Vec::with_capacity(points.len());
        for some in points.chunks(TOGETHER) {
            let (found, _) = self.evaluate(some, others.is_some())?;
            let accepted = self.evaluator.rejections().iter().map(Option::is_none);
            let value = |(x, fine): (f64, bool)| {
                if fine && !x.is_nan() { x - others.unwrap_or(0.0) } else { f64::NEG_INFINITY }
            };
            all.extend(found.into_iter().zip(accepted).map(value));
        }
        Ok(all)
    }

    /// log |c′(u)|.
    pub fn log_jacobian(&mut self, point: &[f64]) -> Result<f64, SimulateError> {
        match self.others {
            Some(others) => Ok(self.jacobian(point)? - others),
            None => Ok(0.0),
        }
    }

    /// That of all parameters.
    fn jacobian(&mut self, point: &[f64]) -> Result<f64, SimulateError> {
        let point = [point.to_vec()];
        let (with, _) = self.evaluate(&point, true)?;
        let (without, _) = self.evaluate(&point, false)?;
        match self.evaluator.rejections().iter().flatten().next() {
            Some(rejection) => Err(SimulateError::Rejected(rejection.clone())),
            None => Ok(with[0] - without[0]),
        }
    }

    fn evaluate(&mut self, points: &[Vec<f64>], jacobian: bool) -> Result<(Vec<f64>, Vec<Vec<f64>>), SimulateError> {
        let lanes = points.len();
        let mut rows: Vec<f64> = self.base.iter().flat_map(|x| std::iter::repeat_n(*x, lanes)).collect();
        for (lane, point) in points.iter().enumerate() {
            self.coordinates.iter().zip(point).for_each(|(c, x)| rows[c * lanes + lane] = *x);
        }
        let (mut prior, mut likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
        let mut gradient = vec![0.0; rows.len()];
        let mut batch = Batch {
            lanes,
            points: &rows,
            // There are no other terms, and without an outcome some of these may count as likelihood.
            beta: None,
            log_prior: &mut prior,
            log_likelihood: &mut likelihood,
            gradient: &mut gradient,
        };
        self.evaluator.evaluate(&mut batch, Which { propto: false, jacobian })?;
        let values = prior.iter().zip(&likelihood).map(|(a, b)| a + b).collect();
        let along = |lane: usize| self.coordinates.iter().map(|c| gradient[c * lanes + lane]).collect();
        Ok((values, (0..lanes).map(along).collect()))
    }
}

/// log |c′(0)| of a number from c(−1), c(0), c(1), c(2). Stan has three kinds of transforms of single numbers: c is straight;
/// or c = a ± eᵘ, with |c′(0)| = 1; or c = a + (b − a) / (1 + e⁻ᵘ), which is symmetric around 0, with c(1) − c(−1) = (b − a)
/// tanh(½) and c′(0) = (b − a)/4. A number that does not change is given, and not among u.
fn log_slope([before, at, after, later]: [f64; 4]) -> f64 {
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-6 * (x.abs() + y.abs());
    let step = after - at;
    if step.abs() == 0.0 || !near(step, at - before) {
        return 0.0;
    }
    let slope = if near(later - after, step) { step } else { (after - before) / (4.0 * 0.5_f64.tanh()) };
    slope.abs().ln()
}

#[cfg(test)]
mod tests {
    use super::log_slope;

    #[test]
    fn slopes_of_all_transforms() {
        let at = |c: &dyn Fn(f64) -> f64| log_slope([-1.0, 0.0, 1.0, 2.0].map(c));
        let logistic = |u: f64| 1.0 / (1.0 + (-u).exp());
        for (found, wanted) in [
            (at(&|u| u), 0.0),
            (at(&|_| 4.0), 0.0),
            (at(&|u| 3.0 - 2.5 * u), 2.5_f64.ln()),
            (at(&|u| 7.0 + u.exp()), 0.0),
            (at(&|u| -2.0 - u.exp()), 0.0),
            (at(&|u| -1.0 + 5.0 * logistic(u)), 1.25_f64.ln()),
        ] {
            assert!((found - wanted).abs() < 1e-12, "{found} for {wanted}");
        }
    }
}
