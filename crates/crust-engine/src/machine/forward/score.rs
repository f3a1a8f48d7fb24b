//! How likely the steps of the forward sampler are.

use crust_math::density::Domain;
use crust_math::functions::{Cell, Shape};
use crust_math::random::{Draw, Stream};
use crust_math::special::lgamma;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::super::value::View;
use super::super::{Machine, Run};
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

    /// Notes terms of the likelihood, and the loops around them. Each lane is an outcome.
    #[allow(clippy::cast_possible_truncation, reason = "indices are integers of 32 bits")]
    pub(super) fn note_terms(&mut self, step: Forward, views: &[View]) -> Run<()> {
        let index = match step {
            Forward::Mark { counted: false, .. } => Some(self.uniform_number(views[0])? as i64),
            _ => None,
        };
        let (width, lanes) = (self.width, self.width.lanes);
        let Self { score, arena, .. } = self;
        let Some(score) = score.as_mut().filter(|s| s.mode == Mode::Terms) else { return Ok(()) };
        let (noted, numbers) = (&mut score.terms, arena.values());
        let of = |view: &View| {
            let [by_element, _, by_lane] = view.block.strides(width);
            let (start, single) = (view.block.start(), view.block.count() == 1);
            move |e: usize, lane: usize| numbers[start + if single { 0 } else { e * by_element } + lane * by_lane]
        };
        match step {
            Forward::Mark { depth, number, .. } => noted.mark(depth, number, index),
            Forward::Term { depth, number } => {
                let (at, size) = (of(&views[0]), views[0].block.count());
                for e in 0..size {
                    let row = noted.row(depth, (size > 1 || depth == 0).then_some((number, e)));
                    row.iter_mut().take(lanes).enumerate().for_each(|(lane, to)| *to += at(e, lane));
                }
            }
            Forward::Terms { depth, number, density, scalar } => {
                let Density::Scalar(function) = density else { return Ok(()) };
                let arity = function.arity.saturating_sub(1);
                let size = views.iter().map(|v| v.block.count()).max().unwrap_or(1);
                let arguments: SmallVec<[_; 6]> = views.iter().map(of).collect();
                for e in 0..size {
                    let row = noted.row(depth, (size > 1 || depth == 0).then_some((number, e)));
                    for (lane, to) in row.iter_mut().take(lanes).enumerate() {
                        let x: SmallVec<[f64; 6]> = arguments.iter().map(|at| at(e, lane)).collect();
                        let (y, (x, bounds)) = (x[0], x[1..].split_at(arity.min(x.len() - 1)));
                        let mut value = number_density(Some(density), y, x).log_density;
                        if let ([low, high], Some(scalar)) = (bounds, scalar) {
                            let mass = log_mass(scalar, x, *low, *high).unwrap_or(f64::NAN);
                            value = if y < *low || y > *high { f64::NEG_INFINITY } else { value - mass };
                        }
                        *to += value;
                    }
                }
            }
            _ => {}
        }
        Ok(())
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
