//! Categories and counts of them: categorical, ordered, multinomial.
//!
//! Sums over arrays of outcomes of the probabilities in [`crate::distributions::discrete`]. Integers arrive as numbers.

use super::layout::{Containers, category, cell, count, element, observations, same, same_size, scalars_fit, shapes};
use crate::density::{Domain, DomainError, Terms};
use crate::distributions::discrete::{ordered_logistic_lpmf, ordered_probit_lpmf};
use crate::functions::{Argument, Cell, Shape, ShapeError, VectorDensity};
use crate::special::{digamma_difference, lgamma, lgamma_difference, lmultiply, log_sum_exp_slice};

fn vector(name: &'static str, shape: &Shape) -> Result<(), ShapeError> {
    if shape.rank() == 1 {
        Ok(())
    } else {
        Err(ShapeError::Kind { name, verb: "is", shape: *shape, must_be: "a vector" })
    }
}

/// `categorical`: Σ log θ[yᵢ]
#[derive(Debug)]
pub(super) struct Categorical;

impl VectorDensity for Categorical {
    fn name(&self) -> &'static str {
        "categorical_lpmf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [_, theta] = shapes(arguments)?;
        vector("probabilities parameter", &theta)
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        _scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let (outcomes, theta) = (arguments[0].numbers, arguments[1].numbers);
        domain.simplex("Probabilities parameter", theta.iter().copied())?;
        let mut value = 0.0;
        for &y in outcomes {
            let k = category(domain, "element of outcome array", y, theta.len())?;
            value += theta[k].ln();
            if !adjoints[1].is_empty() {
                adjoints[1][k] += seed / theta[k];
            }
        }
        Ok(if terms.keep(0b10) { value } else { 0.0 })
    }
}

/// `categorical_logit`: Σ (β[yᵢ] − log Σ exp β)
#[derive(Debug)]
pub(super) struct CategoricalLogit;

impl VectorDensity for CategoricalLogit {
    fn name(&self) -> &'static str {
        "categorical_logit_lpmf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [_, beta] = shapes(arguments)?;
        vector("log odds parameter", &beta)
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        _scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let (outcomes, beta) = (arguments[0].numbers, arguments[1].numbers);
        domain.all_finite("log odds parameter", beta)?;
        let mut categories = outcomes.iter().map(|&y| category(domain, "categorical outcome", y, beta.len()));
        categories.clone().try_for_each(|k| k.map(|_| ()))?;
        let total = log_sum_exp_slice(beta);
        let value = categories.try_fold(0.0, |sum, k| Ok(sum + (beta[k?] - total)))?;
        if !adjoints[1].is_empty() {
            let weight = seed * count(outcomes.len());
            adjoints[1].iter_mut().zip(beta).for_each(|(d, b)| *d -= weight * (b - total).exp());
            for &y in outcomes {
                adjoints[1][category(domain, "categorical outcome", y, beta.len())?] += seed;
            }
        }
        Ok(if terms.keep(0b10) { value } else { 0.0 })
    }
}

/// `ordered_logistic` and `ordered_probit`: outcomes, locations, cutpoints (one set for all or one for each).
///
/// Of an array of outcomes with one location for all, which only the probit has, every outcome counts. (Stan 2.39
/// counts the first alone, against its documentation.)
#[derive(Debug)]
pub(super) struct Ordered {
    pub probit: bool,
}

impl Ordered {
    fn observations(shapes: &[Shape; 3]) -> usize {
        observations(&shapes[..2])
    }
}

impl VectorDensity for Ordered {
    fn name(&self) -> &'static str {
        if self.probit { "ordered_probit_lpmf" } else { "ordered_logistic_lpmf" }
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let all: [Shape; 3] = shapes(arguments)?;
        scalars_fit(&["array of outcomes", "location parameter"], &all[..2])?;
        let cuts = &all[2];
        if cuts.cell() != Cell::Vector || cuts.array_rank() > 1 {
            return Err(ShapeError::Kind {
                name: "cutpoints",
                verb: "are",
                shape: *cuts,
                must_be: "a vector or an array of vectors",
            });
        }
        if cuts.array_rank() == 1 && cuts.cells() != 1 {
            same("the number of cutpoint vectors", cuts.cells(), "that of observations", Self::observations(&all))?;
        }
        Ok(())
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[2].cell_len()
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let [outcomes, locations, cuts] = [0, 1, 2].map(|i| &arguments[i]);
        let n = Self::observations(&[outcomes.shape, locations.shape, cuts.shape]);
        if cuts.shape.cells() == 0 {
            return Ok(0.0);
        }
        let d_cuts = &mut scratch[..cuts.shape.cell_len()];
        let mut value = 0.0;
        for i in 0..n {
            let y = integer(outcomes.numbers[element(&outcomes.shape, i)]);
            let at = element(&locations.shape, i);
            let of_cuts = cell(&cuts.shape, if cuts.shape.cells() == 1 { 0 } else { i });
            let c = &cuts.numbers[of_cuts.clone()];
            let lpmf = if self.probit { ordered_probit_lpmf } else { ordered_logistic_lpmf };
            let one = lpmf(y, locations.numbers[at], c, terms, d_cuts)?;
            value += one.value;
            if !adjoints[1].is_empty() {
                adjoints[1][at] += seed * one.d[1];
            }
            if !adjoints[2].is_empty() {
                adjoints[2][of_cuts].iter_mut().zip(&*d_cuts).for_each(|(a, d)| *a += seed * d);
            }
        }
        Ok(value)
    }
}

/// An integer argument.
#[expect(clippy::cast_possible_truncation, reason = "integers of the language have 32 bits")]
pub(super) fn integer(x: f64) -> i64 {
    x as i64
}

/// What a vector of counts depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    Probabilities,
    Logits,
    Dirichlet,
}

/// `multinomial`, `multinomial_logit`, `dirichlet_multinomial`: with N = Σ nᵢ, log N! − Σ log nᵢ! and
/// Σ nᵢ log θᵢ, or Σ nᵢ (βᵢ − log Σ exp β), or Σ log (αᵢ)ₙᵢ − log (Σ α)_N (rising factorials)
#[derive(Debug)]
pub(super) struct Multinomial {
    pub counts: Counts,
}

impl Multinomial {
    fn parameter(&self) -> &'static str {
        match self.counts {
            Counts::Probabilities => "Probabilities parameter",
            Counts::Logits => "log-probabilities parameter",
            Counts::Dirichlet => "prior size parameter",
        }
    }

    fn check_domain(&self, ns: &[f64], parameter: &[f64]) -> Result<(), DomainError> {
        let domain = Domain(self.name());
        ns.iter().try_for_each(|&n| domain.nonnegative("Number of trials variable", n))?;
        match self.counts {
            Counts::Probabilities => domain.simplex(self.parameter(), parameter.iter().copied()),
            Counts::Logits => domain.all_finite(self.parameter(), parameter),
            Counts::Dirichlet => parameter.iter().try_for_each(|&a| domain.positive_finite(self.parameter(), a)),
        }
    }

    /// The part that depends on the parameter.
    fn parameter_part(&self, ns: &[f64], parameter: &[f64], seed: f64, adjoint: &mut [f64]) -> f64 {
        let total: f64 = ns.iter().sum();
        let pairs = || ns.iter().zip(parameter);
        match self.counts {
            Counts::Probabilities => {
                let slopes = pairs().map(|(&n, p)| if n == 0.0 { 0.0 } else { n / p });
                adjoint.iter_mut().zip(slopes).for_each(|(a, d)| *a += seed * d);
                pairs().map(|(&n, &p)| lmultiply(n, p)).sum()
            }
            Counts::Logits => {
                let log_sum = log_sum_exp_slice(parameter);
                let slopes = pairs().map(|(n, b)| n - total * (b - log_sum).exp());
                adjoint.iter_mut().zip(slopes).for_each(|(a, d)| *a += seed * d);
                pairs().filter(|&(&n, _)| n != 0.0).map(|(n, b)| n * (b - log_sum)).sum()
            }
            Counts::Dirichlet => {
                let all: f64 = parameter.iter().sum();
                let d_all = digamma_difference(all, total);
                let slopes = pairs().map(|(&n, &a)| digamma_difference(a, n) - d_all);
                adjoint.iter_mut().zip(slopes).for_each(|(a, d)| *a += seed * d);
                pairs().map(|(&n, &a)| lgamma_difference(a, n)).sum::<f64>() - lgamma_difference(all, total)
            }
        }
    }
}

impl VectorDensity for Multinomial {
    fn name(&self) -> &'static str {
        match self.counts {
            Counts::Probabilities => "multinomial_lpmf",
            Counts::Logits => "multinomial_logit_lpmf",
            Counts::Dirichlet => "dirichlet_multinomial_lpmf",
        }
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [ns, parameter] = shapes(arguments)?;
        let name = self.parameter();
        vector(name, &parameter)?;
        same_size("array of counts", ns.len(), name, parameter.len())
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        _scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let (ns, parameter) = (arguments[0].numbers, arguments[1].numbers);
        self.check_domain(ns, parameter)?;
        let total: f64 = ns.iter().sum();
        if total == 0.0 {
            return Ok(0.0);
        }
        let mut value = self.parameter_part(ns, parameter, seed, adjoints[1]);
        if !terms.keep(0b10) {
            value = 0.0;
        }
        if terms.keep(0) {
            value += lgamma(total + 1.0) - ns.iter().map(|n| lgamma(n + 1.0)).sum::<f64>();
        } else if self.counts == Counts::Dirichlet && terms.keep(0b10) {
            // Stan's beta functions keep Γ(N) and Γ(nᵢ)
            value += lgamma(total) - ns.iter().filter(|&&n| n > 0.0).map(|&n| lgamma(n)).sum::<f64>();
        }
        Ok(value)
    }
}
