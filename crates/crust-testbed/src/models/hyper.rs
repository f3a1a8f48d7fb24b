//! Hyperparameters: fixed, as in most of BDMC's experiments, or with the conjugate priors of its Table 1.

use crust_infer::target::Fatal;
use crust_math::random::Stream;
use pxfm::{f_exp, f_log};

use super::conditional::{Beta, Conditional, Dirichlet, InverseGamma};
use crate::grid::float;
use crate::model::Floor;

/// Why a model cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadModel {
    #[error("the data need at least one row and one column, not {rows} × {columns}")]
    NoData { rows: usize, columns: usize },
    #[error("row {row}, column {column} of the data is {value}, which is not a finite number")]
    NotFinite { row: usize, column: usize, value: f64 },
    #[error("a model needs at least one component")]
    NoComponents,
    #[error("{name} is {value}, but must be positive and finite")]
    NotPositive { name: &'static str, value: f64 },
    #[error("{name}: there are {found} for {components} components")]
    Count { name: &'static str, found: usize, components: usize },
    #[error("mixture weights must be positive and add up to 1, but these add up to {total}")]
    Weights { total: f64 },
    #[error("attribute probability {index} is {value}, but must lie between 0 and 1, both excluded")]
    Probability { index: usize, value: f64 },
}

fn positive(name: &'static str, value: f64) -> Result<(), BadModel> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(BadModel::NotPositive { name, value }) }
}

/// A variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variance {
    Fixed(f64),
    Unknown(InverseGamma),
}

impl Variance {
    pub fn check(&self, name: &'static str) -> Result<(), BadModel> {
        match *self {
            Self::Fixed(value) => positive(name, value),
            Self::Unknown(prior) => positive(name, prior.shape).and_then(|()| positive(name, prior.scale)),
        }
    }

    pub fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// Where it is fixed, if it is.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Fixed(value) => Some(*value),
            Self::Unknown(_) => None,
        }
    }

    pub fn draw(&self, stream: &mut Stream) -> Result<f64, Fatal> {
        match self {
            Self::Fixed(value) => Ok(*value),
            Self::Unknown(prior) => prior.sample(stream),
        }
    }

    /// 0 where it is fixed.
    pub fn log_prior(&self, value: f64) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Unknown(prior) => prior.log_density(&value),
        }
    }

    /// Given numbers that are N(0, σ²), `count` of them with this sum of squares, their density raised to a power:
    ///
    /// > (σ²)^(−power · count / 2) exp(−power · squares / (2σ²)) · `InvGamma`(a, b) ∝ `InvGamma`(a + power · count / 2,
    /// > b + power · squares / 2)
    pub fn conditional(&self, power: f64, count: f64, squares: f64) -> Option<InverseGamma> {
        match self {
            Self::Fixed(_) => None,
            Self::Unknown(prior) => Some(InverseGamma {
                shape: prior.shape + 0.5 * power * count,
                scale: prior.scale + 0.5 * power * squares,
            }),
        }
    }

    /// log of the density of [`Self::conditional`] at a value; 0 where it is fixed.
    pub(crate) fn log_conditional(&self, value: f64, power: f64, count: f64, squares: f64) -> f64 {
        self.conditional(power, count, squares).map_or(0.0, |conditional| conditional.log_density(&value))
    }

    /// Metropolis moves within the constrained prior (Eq. 45), if the value is not fixed: steps of log σ² of several
    /// sizes, each accepted with probability p(σ′²) σ′² share(σ′²) / (p(σ²) σ² share(σ²)), where σ² is the Jacobian of
    /// the logarithm. `log_likelihood` is that at a value. Returns the last value.
    pub(crate) fn move_constrained(
        &self,
        mut value: f64,
        floor: &Floor,
        mut log_likelihood: impl FnMut(f64) -> Result<f64, Fatal>,
        stream: &mut Stream,
    ) -> Result<f64, Fatal> {
        const SIZES: [f64; 3] = [1.0, 0.3, 0.1];
        if self.is_fixed() {
            return Ok(value);
        }
        let mut share = floor.share(log_likelihood(value)?);
        for size in SIZES {
            let next = value * f_exp(size * stream.standard_normal());
            let next_share = floor.share(log_likelihood(next)?);
            let ratio = f_exp(self.log_prior(next) - self.log_prior(value)) * next / value * next_share;
            if stream.uniform() * share < ratio {
                (value, share) = (next, next_share);
            }
        }
        Ok(value)
    }

    /// Replaces a value by a draw from [`Self::conditional`], if it is not fixed.
    pub(crate) fn redraw(
        &self,
        value: &mut f64,
        power: f64,
        count: f64,
        squares: f64,
        stream: &mut Stream,
    ) -> Result<(), Fatal> {
        if let Some(conditional) = self.conditional(power, count, squares) {
            *value = conditional.sample(stream)?;
        }
        Ok(())
    }
}

/// π of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    Fixed(Vec<f64>),
    /// Symmetric Dirichlet.
    Unknown {
        concentration: f64,
    },
}

impl Weights {
    /// 1/K each.
    pub fn equal(components: usize) -> Self {
        Self::Fixed(vec![1.0 / float(components); components])
    }

    pub fn check(&self, components: usize) -> Result<(), BadModel> {
        match self {
            Self::Unknown { concentration } => positive("the concentration of the mixture weights", *concentration),
            Self::Fixed(weights) if weights.len() != components => {
                Err(BadModel::Count { name: "mixture weights", found: weights.len(), components })
            }
            Self::Fixed(weights) => {
                let total: f64 = weights.iter().sum();
                let good = weights.iter().all(|&w| w > 0.0) && (total - 1.0).abs() < 1e-9;
                if good { Ok(()) } else { Err(BadModel::Weights { total }) }
            }
        }
    }

    pub fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// The distribution of π given how many cases each component has.
    pub fn conditional(&self, counts: &[usize]) -> Option<Dirichlet> {
        match self {
            Self::Fixed(_) => None,
            Self::Unknown { concentration } => {
                Some(Dirichlet { concentration: counts.iter().map(|&n| concentration + float(n)).collect() })
            }
        }
    }

    /// log π, drawn from the prior.
    pub fn draw(&self, components: usize, stream: &mut Stream) -> Result<Vec<f64>, Fatal> {
        match self {
            Self::Fixed(weights) => Ok(weights.iter().map(|&w| f_log(w)).collect()),
            Self::Unknown { concentration } => {
                Dirichlet { concentration: vec![*concentration; components] }.sample(stream)
            }
        }
    }

    pub fn log_prior(&self, log_weights: &[f64]) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Unknown { concentration } => {
                Dirichlet { concentration: vec![*concentration; log_weights.len()] }.log_density(&log_weights.to_vec())
            }
        }
    }
}

/// πₖ of binary attributes.
#[derive(Clone, Debug, PartialEq)]
pub enum Probabilities {
    Fixed(Vec<f64>),
    /// The same beta distribution for each.
    Unknown(Beta),
}

impl Probabilities {
    pub fn check(&self, components: usize) -> Result<(), BadModel> {
        match self {
            Self::Unknown(prior) => {
                let name = "a parameter of the prior of the attribute probabilities";
                positive(name, prior.a).and_then(|()| positive(name, prior.b))
            }
            Self::Fixed(values) if values.len() != components => {
                Err(BadModel::Count { name: "attribute probabilities", found: values.len(), components })
            }
            Self::Fixed(values) => match values.iter().position(|&p| !(p > 0.0 && p < 1.0)) {
                Some(index) => Err(BadModel::Probability { index: index + 1, value: values[index] }),
                None => Ok(()),
            },
        }
    }

    pub fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// The distribution of πₖ if `ones` of `cases` have the attribute.
    pub fn conditional(&self, ones: f64, cases: f64) -> Option<Beta> {
        match self {
            Self::Fixed(_) => None,
            Self::Unknown(prior) => Some(Beta { a: prior.a + ones, b: prior.b + cases - ones }),
        }
    }

    pub fn draw(&self, components: usize, stream: &mut Stream) -> Result<Vec<f64>, Fatal> {
        match self {
            Self::Fixed(values) => Ok(values.clone()),
            Self::Unknown(prior) => (0..components).map(|_| prior.sample(stream)).collect(),
        }
    }

    pub fn log_prior(&self, values: &[f64]) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Unknown(prior) => values.iter().map(|p| prior.log_density(p)).sum(),
        }
    }
}

/// Data that a model can be made of.
pub(crate) fn check_data(data: &super::rows::Rows) -> Result<(), BadModel> {
    let (rows, columns) = (data.rows(), data.columns());
    if rows == 0 || columns == 0 {
        return Err(BadModel::NoData { rows, columns });
    }
    for (i, row) in data.iter().enumerate() {
        if let Some(j) = row.iter().position(|x| !x.is_finite()) {
            return Err(BadModel::NotFinite { row: i + 1, column: j + 1, value: row[j] });
        }
    }
    Ok(())
}

/// An error for estimators that need what only fixed hyperparameters offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} needs fixed {which}: the {model} model was given priors on them. Annealing, particle learning and nested sampling do not"
)]
pub struct NeedsFixed {
    pub what: &'static str,
    pub which: &'static str,
    pub model: &'static str,
}

#[cfg(test)]
pub(super) mod asserts {
    use super::*;

    /// A fit that chooses the noise is as good as the best of fits with given ones, and one that chooses more is
    /// better. `best` gives the maximum of the likelihood and the number of free parameters, with a variance of the
    /// noise and with or without the others fixed; these are so many.
    pub(in crate::models) fn finds_hyperparameters(best: impl Fn(Variance, bool) -> (f64, usize), others: usize) {
        let unknown = Variance::Unknown(InverseGamma { shape: 1.0, scale: 1.0 });
        let (chosen, parameters) = best(unknown, true);
        let grid = (0..60).map(|i| best(Variance::Fixed(0.2 * 1.05_f64.powi(i)), true).0);
        let (on_grid, fixed) = (grid.fold(f64::NEG_INFINITY, f64::max), best(Variance::Fixed(1.0), true).1);
        // Between two values of the grid, 5 % apart, the log likelihood of 60 numbers rises by less than 0.02.
        assert!(chosen > on_grid - 1e-3 && chosen < on_grid + 0.02, "{chosen} {on_grid}");
        let (more, most) = best(unknown, false);
        assert!(more > chosen && (parameters, most) == (fixed + 1, fixed + 1 + others), "{more} {chosen}");
    }
}
