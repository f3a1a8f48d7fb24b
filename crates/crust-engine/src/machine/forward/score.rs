//! How likely the steps of the forward sampler are.

use crust_math::density::Domain;
use crust_math::functions::{Cell, Shape};
use crust_math::random::{Draw, Stream};
use crust_math::special::lgamma;
use crust_stan::span::Span;

use super::super::Machine;
use super::component;
use crate::density::Density;
use crate::random::Scalar;
use crate::simulate::{Flat, Forward, Mode, Order, Score, log_mass, number_density};

impl Machine {
    /// Something if nothing is drawn.
    pub(super) fn given(&self) -> Option<()> {
        self.score.as_ref().filter(|s| s.mode == Mode::Given).map(|_| ())
    }

    /// A component, of which nothing is needed if all are gone through.
    pub(super) fn component(&mut self, stream: &mut Stream, log_weights: &[f64]) -> Draw<f64> {
        if let Some(score) = &mut self.score {
            score.open(log_weights);
            if score.mode == Mode::Given {
                let sum: f64 = log_weights.iter().map(|w| w.exp()).sum();
                Domain("mixture").that((sum - 1.0).abs() < super::TOLERANCE, "Sum of the weights", sum, "1")?;
                return Ok(1.0);
            }
        }
        component(stream, log_weights)
    }

    pub(super) fn enter(&mut self, chosen: f64, k: f64) -> bool {
        match &mut self.score {
            Some(score) if score.mode == Mode::Given => {
                score.enter(k);
                true
            }
            _ => (chosen - k).abs() == 0.0,
        }
    }

    /// Takes over what is missing. A Jacobian that is one number counts for each element.
    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    pub(super) fn keep(&mut self, rest: &[Vec<f64>], out: &mut [f64], span: Span) {
        let Some((value, jacobians)) = rest.split_first() else { return };
        let given = self.given().is_some();
        let missing = out.iter().any(|x| x.is_nan());
        for (to, x) in out.iter_mut().zip(value).filter(|(to, _)| to.is_nan() && !given) {
            *to = *x;
        }
        let Some(score) = &mut self.score else { return };
        if !(given || missing) || out.iter().any(|x| x.is_nan()) {
            return;
        }
        for list in jacobians {
            let times = if list.len() == 1 { out.len() as f64 } else { 1.0 };
            score.add_jacobian(times * list.iter().sum::<f64>(), span);
        }
    }

    /// Notes terms of the likelihood, and the loops around them.
    #[allow(clippy::cast_possible_truncation, reason = "indices are integers of 32 bits")]
    pub(super) fn note_terms(&mut self, step: Forward, values: &[Vec<f64>]) {
        let Some(score) = self.score.as_mut().filter(|s| s.mode == Mode::Terms) else { return };
        let Some((first, rest)) = values.split_first() else { return };
        let noted = &mut score.terms;
        match step {
            Forward::Mark { depth, number, counted } => {
                noted.mark(depth, number, (!counted).then_some(first[0] as i64));
            }
            Forward::Term { depth, number } => {
                for (e, x) in first.iter().enumerate() {
                    noted.add(depth, (first.len() > 1 || depth == 0).then_some((number, e)), *x);
                }
            }
            Forward::Terms { depth, number, density, scalar } => {
                let Density::Scalar(function) = density else { return };
                let arity = function.arity.saturating_sub(1);
                let size = values.iter().map(Vec::len).max().unwrap_or(1);
                for e in 0..size {
                    let at = |list: &Vec<f64>| if list.len() == 1 { list[0] } else { list[e] };
                    let x: Vec<f64> = rest.iter().map(at).collect();
                    let (x, bounds) = x.split_at(arity.min(x.len()));
                    let y = at(first);
                    let mut value = number_density(Some(density), y, x).log_density;
                    if let ([low, high], Some(scalar)) = (bounds, scalar) {
                        let mass = log_mass(scalar, x, *low, *high).unwrap_or(f64::NAN);
                        value = if y < *low || y > *high { f64::NEG_INFINITY } else { value - mass };
                    }
                    noted.add(depth, (size > 1 || depth == 0).then_some((number, e)), value);
                }
            }
            _ => {}
        }
    }

    /// Whether what is outside of the domain of a density is NaN and no reason to stop.
    pub(in crate::machine) fn is_lenient(&self) -> bool {
        self.score.as_ref().is_some_and(|s| s.mode == Mode::Terms)
    }

    pub(super) fn weigh(&mut self, loose: bool, value: &[f64], span: Span) {
        let Some(score) = self.score.as_mut().filter(|s| s.mode == Mode::Given) else { return };
        let sum: f64 = value.iter().sum();
        if loose {
            score.loose += sum;
        } else {
            score.add(sum.into(), span);
            score.supplied.insert(crate::simulate::place(span));
        }
    }

    /// Adds the log density of the numbers that have been drawn just now, or of all if they are given.
    pub(super) fn score_numbers(
        &mut self,
        (scalar, order, density): (&Scalar, Order, Option<Density>),
        arguments: &[Vec<f64>],
        (before, after): (&[f64], &[f64]),
        span: Span,
    ) {
        let Some(score) = &mut self.score else { return };
        for (e, (was, is)) in before.iter().zip(after).enumerate() {
            let at = |list: &Vec<f64>| if list.len() == 1 { list[0] } else { list[e] };
            let all: Vec<f64> = arguments.iter().map(at).collect();
            let there = !is.is_nan() && all.iter().all(|x| !x.is_nan());
            if !there || !(was.is_nan() || score.mode == Mode::Given) {
                continue;
            }
            let (x, bounds) = all.split_at(scalar.arity);
            score.add(number_density(density, *is, x), span);
            if let [low, high] = bounds {
                truncation(score, scalar, (*is, x), (*low, *high), span);
            }
        }
        if order != Order::Free && after.windows(2).any(|pair| pair[0] >= pair[1]) {
            score.add(f64::NEG_INFINITY.into(), span);
        }
        // Numbers that are alike are as probable in any of their K! orders, and only one is left of them.
        let drawn = before.iter().all(|x| x.is_nan()) || score.mode == Mode::Given;
        if order == Order::Sorted && drawn && after.iter().all(|x| !x.is_nan()) {
            #[allow(clippy::cast_precision_loss, reason = "sizes of vectors")]
            score.add(lgamma(after.len() as f64 + 1.0).into(), span);
        }
        // The probability to be in order by chance is not known: it must always be the same.
        if order == Order::Ordered && score.mode == Mode::Given {
            score.assume(arguments.concat(), span);
        }
    }
}

impl Machine {
    /// Flat densities are normalised where their volume is known: simplexes of K numbers have the volume 1/Γ(K).
    pub(super) fn score_flat(&mut self, flat: Flat, shape: Shape, (before, after): (&[f64], &[f64]), span: Span) {
        let Some(score) = &mut self.score else { return };
        let size = shape.cell_len().max(1);
        let rows = if shape.cell() == Cell::Scalar { 1 } else { shape.rows() }.max(1);
        let (simplexes, k) = match flat {
            Flat::Simplex => (1, size),
            Flat::Columns => (size / rows, rows),
            Flat::Rows => (rows, size / rows),
            Flat::UnitVector | Flat::CorrMatrix | Flat::CholeskyFactorCorr => {
                if score.mode == Mode::Given {
                    score.assume(vec![], span);
                }
                return;
            }
        };
        #[allow(clippy::cast_precision_loss, reason = "sizes of parameters")]
        let log_density = simplexes as f64 * lgamma(k as f64);
        for (was, is) in before.chunks(size).zip(after.chunks(size)) {
            let drawn = was.iter().any(|x| x.is_nan()) || score.mode == Mode::Given;
            if drawn && is.iter().all(|x| !x.is_nan()) {
                score.add(log_density.into(), span);
            }
        }
    }
}

/// Divides by the probability to be within the bounds.
fn truncation(score: &mut Score, scalar: &Scalar, (y, x): (f64, &[f64]), (low, high): (f64, f64), span: Span) {
    if y < low || y > high {
        score.add(f64::NEG_INFINITY.into(), span);
        return;
    }
    match log_mass(scalar, x, low, high) {
        Some(mass) => score.add((-mass).into(), span),
        None if score.mode == Mode::Given => score.assume([x, &[low, high]].concat(), span),
        None => {}
    }
}
