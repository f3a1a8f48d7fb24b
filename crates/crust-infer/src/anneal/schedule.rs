//! Schedules: how β goes from 0 to 1.

use pxfm::f_exp;

use super::tuned::TunedKernels;

/// β₁ = 0 < … < `β_T` = 1. T counts all distributions, both ends included.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Schedule(Vec<f64>);

/// Why numbers are no schedule.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BadSchedule {
    #[error("a schedule needs at least 2 distributions, the initial one and the target, not {0}")]
    TooShort(usize),
    #[error("a schedule begins with 0 and ends with 1, not with {first} and {last}")]
    Ends { first: f64, last: f64 },
    #[error("a schedule rises, but number {index} is {value}, after {before}")]
    NotRising { index: usize, value: f64, before: f64 },
    #[error("the sigmoid schedule needs a positive number up to 300, not {0}")]
    Delta(f64),
}

impl TryFrom<Vec<f64>> for Schedule {
    type Error = BadSchedule;

    fn try_from(beta: Vec<f64>) -> Result<Self, BadSchedule> {
        let (&[first, ..], &[.., last]) = (&beta[..], &beta[..]) else { return Err(BadSchedule::TooShort(0)) };
        if beta.len() < 2 {
            return Err(BadSchedule::TooShort(beta.len()));
        }
        // Exactly: at β = 0 the likelihood must not count at all.
        #[expect(clippy::float_cmp, reason = "the ends are exact")]
        if first != 0.0 || last != 1.0 {
            return Err(BadSchedule::Ends { first, last });
        }
        match beta.windows(2).position(|pair| pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less)) {
            Some(i) => Err(BadSchedule::NotRising { index: i + 2, value: beta[i + 1], before: beta[i] }),
            None => Ok(Self(beta)),
        }
    }
}

impl From<Schedule> for Vec<f64> {
    fn from(schedule: Schedule) -> Self {
        schedule.0
    }
}

impl Schedule {
    /// βₜ = (t − 1)/(T − 1).
    pub fn linear(distributions: usize) -> Result<Self, BadSchedule> {
        Self::from_shape(distributions, |x| x)
    }

    /// BDMC, section 6.2, where δ = 4: more distributions near both ends.
    ///
    /// > β̃ₜ = σ(δ (2t/T − 1)), βₜ = (β̃ₜ − β̃₁)/(`β̃_T` − β̃₁), with t = 1 … T.
    pub fn sigmoid(distributions: usize, delta: f64) -> Result<Self, BadSchedule> {
        if !(delta > 0.0 && delta <= 300.0) {
            return Err(BadSchedule::Delta(delta));
        }
        if distributions < 2 {
            return Err(BadSchedule::TooShort(distributions));
        }
        let sigmoid = |t: usize| 1.0 / (1.0 + f_exp(-delta * (2.0 * float(t) / float(distributions) - 1.0)));
        let (first, last) = (sigmoid(1), sigmoid(distributions));
        let shape = |t: usize| (sigmoid(t) - first) / (last - first);
        // With a large δ the numbers near an end are equal up to rounding: such a schedule is refused.
        Self::try_from((1..=distributions).map(shape).collect::<Vec<f64>>())
    }

    /// Equal steps of thermodynamic length, as a pilot run has measured it.
    ///
    /// The length of the geometric path is ∫ √Var[log likelihood] dβ, the variance being that of `p_β`. To second order
    /// the divergence between neighbours is half the square of the step, so with kernels that forget, equal steps
    /// minimise the gap of the sandwich.
    pub fn from_pilot(distributions: usize, kernels: &TunedKernels) -> Result<Self, BadSchedule> {
        Self::from_shape(distributions, |x| kernels.beta_at_share(x))
    }

    /// Observations are added one at a time, each in a number of equal steps: a path for systems that condition on more
    /// and more data ([`Subset`]). T is `observations` · `steps_each` + 1.
    pub fn data_subset(observations: usize, steps_each: usize) -> Result<Self, BadSchedule> {
        Self::linear(observations.saturating_mul(steps_each).saturating_add(1))
    }

    /// A rising function from [0, 1] onto itself, at equal steps.
    fn from_shape(distributions: usize, shape: impl Fn(f64) -> f64) -> Result<Self, BadSchedule> {
        if distributions < 2 {
            return Err(BadSchedule::TooShort(distributions));
        }
        let last = distributions - 1;
        let beta = |i: usize| match i {
            0 => 0.0,
            i if i == last => 1.0,
            i => shape(float(i) / float(last)),
        };
        Self::try_from((0..distributions).map(beta).collect::<Vec<f64>>())
    }

    /// T, the number of distributions.
    #[expect(clippy::len_without_is_empty, reason = "there are always two")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// βₜ, for t from 1 to T.
    pub fn beta(&self, t: usize) -> f64 {
        self.0[t - 1]
    }

    /// β₁ … `β_T`.
    pub fn betas(&self) -> &[f64] {
        &self.0
    }
}

/// A place on the data-subset path: BREAD section 2.2, conditioning on increasing subsets of the data.
///
/// > log f = log prior + Σ log p(yₙ | …) over the first `whole` observations + `part` · log p(y of the next | …)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subset {
    pub whole: usize,
    pub part: f64,
}

impl Subset {
    /// Where β is on the path of a number of observations.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and `observations`")]
    pub fn at(beta: f64, observations: usize) -> Self {
        let position = beta.clamp(0.0, 1.0) * float(observations);
        // β = n/N is rounded, and so is its product with N: n itself is meant.
        let nearest = position.round();
        if (position - nearest).abs() <= 4.0 * f64::EPSILON * nearest.max(1.0) {
            return Self { whole: nearest as usize, part: 0.0 };
        }
        Self { whole: position as usize, part: position.fract() }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
fn float(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_has_t_distributions() {
        assert_eq!(Schedule::linear(5).unwrap().betas(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(Schedule::linear(2).unwrap().betas(), [0.0, 1.0]);
        let schedule = Schedule::linear(11).unwrap();
        assert_eq!((schedule.len(), schedule.beta(1), schedule.beta(11)), (11, 0.0, 1.0));
    }

    /// σ(4 (2t/5 − 1)) for t = 1 … 5 by hand; the paper's formula is not symmetric, since t/T begins with 1/T.
    #[test]
    fn sigmoid_is_the_papers() {
        let schedule = Schedule::sigmoid(5, 4.0).unwrap();
        let raw: Vec<f64> = [-2.4, -0.8, 0.8, 2.4, 4.0].iter().map(|x: &f64| 1.0 / (1.0 + (-x).exp())).collect();
        for (t, beta) in schedule.betas().iter().enumerate() {
            assert!((beta - (raw[t] - raw[0]) / (raw[4] - raw[0])).abs() < 1e-15);
        }
        assert_eq!(schedule.len(), 5);
        assert_eq!(Schedule::sigmoid(5, -1.0), Err(BadSchedule::Delta(-1.0)));
        assert!(matches!(Schedule::sigmoid(1000, 300.0), Err(BadSchedule::NotRising { .. })));
    }

    #[test]
    fn bad_schedules_are_refused() {
        assert_eq!(Schedule::linear(1), Err(BadSchedule::TooShort(1)));
        assert_eq!(Schedule::try_from(vec![]), Err(BadSchedule::TooShort(0)));
        assert_eq!(Schedule::try_from(vec![0.1, 1.0]), Err(BadSchedule::Ends { first: 0.1, last: 1.0 }));
        assert!(matches!(Schedule::try_from(vec![0.0, 0.5, 0.5, 1.0]), Err(BadSchedule::NotRising { index: 3, .. })));
        assert!(Schedule::try_from(vec![0.0, f64::NAN, 1.0]).is_err());
    }

    #[test]
    fn subsets_are_whole_where_they_should_be() {
        for observations in [1, 3, 7, 49, 272, 1566] {
            for steps in [1, 2, 5] {
                let schedule = Schedule::data_subset(observations, steps).unwrap();
                for (i, &beta) in schedule.betas().iter().enumerate() {
                    let subset = Subset::at(beta, observations);
                    assert_eq!(subset.whole, i / steps, "{observations} {steps} {i}");
                    assert!((subset.part - float(i % steps) / float(steps)).abs() < 1e-9);
                }
            }
        }
    }
}
