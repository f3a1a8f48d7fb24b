//! The steps of the forward sampler: draw what is missing as soon as what it depends on is there.
//!
//! A number that is not known yet is NaN, and everything computed from it is NaN, too. So a draw whose arguments are
//! NaN waits for a later pass, and the order of drawing comes out of the values themselves, element by element.

mod cells;
mod score;

use std::collections::BTreeMap;

use crust_math::density::{Domain, DomainError};
use crust_math::functions::{Cell, Shape};
use crust_math::random::{Draw, Stream};
use crust_stan::span::Span;

use super::random::Trouble;
use super::value::View;
use super::{Machine, Run, fatal};
use crate::memory::Flags;
use crate::random::Scalar;
use crate::simulate::{Flat, Forward, Order, within};
use cells::Pieces;

/// How often a vector is drawn until it is in order.
const TRIES: usize = 100_000;

/// How far the weights of a mixture may be from a sum of one.
const TOLERANCE: f64 = 1e-6;

impl Machine {
    pub(super) fn forward(&mut self, step: Forward, views: &[View], span: Span) -> Run<View> {
        if matches!(step, Forward::Mark { .. } | Forward::Term { .. } | Forward::Terms { .. }) {
            self.note_terms(step, views)?;
            return self.number(0.0);
        }
        if self.width.lanes != 1 {
            return fatal("internal", "the forward sampler has one lane", span);
        }
        let values: Vec<Vec<f64>> = views.iter().map(|v| self.elements(*v)).collect();
        let there = |list: &[f64]| list.iter().all(|x| !x.is_nan());
        let Some((first, rest)) = values.split_first() else {
            return self.hand_out(Shape::SCALAR, &[1.0]);
        };
        let shape = views[0].shape;
        let mut out = first.clone();
        let mut stream = self.streams[0].clone();
        let drawn: Result<(), DomainError> = match step {
            Forward::Ready => {
                let all = values.iter().all(|list| there(list));
                return self.hand_out(Shape::SCALAR, &[f64::from(u8::from(all))]);
            }
            Forward::Count => {
                count(&mut out, rest.first());
                Ok(())
            }
            Forward::Component => match self.component(&mut stream, first) {
                Ok(k) => {
                    self.streams[0] = stream;
                    return self.hand_out(Shape::SCALAR, &[k]);
                }
                Err(error) => Err(error),
            },
            Forward::Enter => {
                let k = rest.first().and_then(|list| list.first()).copied().unwrap_or(f64::NAN);
                let here = self.enter(first[0], k);
                return self.hand_out(Shape::SCALAR, &[f64::from(u8::from(here))]);
            }
            Forward::Close => {
                if let Some(score) = &mut self.score {
                    score.close(span);
                }
                Ok(())
            }
            Forward::Keep => {
                self.keep(rest, &mut out, span);
                Ok(())
            }
            Forward::Mark { .. } | Forward::Term { .. } | Forward::Terms { .. } => Ok(()),
            Forward::Weigh { loose } => {
                self.weigh(loose, first, span);
                Ok(())
            }
            Forward::Numbers { scalar, order, density } => {
                if let Some(n) = rest.iter().map(Vec::len).find(|&n| n != 1 && n != out.len()) {
                    let message = format!("{} numbers are drawn, but an argument has {n}", out.len());
                    return fatal("size-mismatch", message, span);
                }
                let drawn =
                    self.given().map_or_else(|| numbers(&mut stream, scalar, order, rest, &mut out), |()| Ok(()));
                self.score_numbers((scalar, order, density), rest, (first, &out), span);
                drawn
            }
            Forward::Cells { container, letters, counts, density } => {
                let shapes: Vec<Shape> = views.iter().map(|v| v.shape).collect();
                let given = self.given().is_some();
                let pieces = match Pieces::new((container, letters, counts), &shapes, rest) {
                    Ok(pieces) => pieces,
                    Err(error) => return fatal("size-mismatch", error.to_string(), span),
                };
                let drawn = if given { Ok(()) } else { pieces.draw(&mut stream, &mut out) };
                if let Some(score) = &mut self.score {
                    pieces.score(score, density, (first, &out), span);
                }
                drawn
            }
            Forward::CategoricalGlm => {
                let given = self.given().is_some();
                let mut score = self.score.as_deref_mut();
                categorical_glm((&mut stream, given), views[1].shape, rest, &mut out, &mut |x| {
                    if let Some(score) = &mut score {
                        score.add(x.into(), span);
                    }
                })
            }
            Forward::Flat(flat) => {
                let drawn = flat_cells(&mut stream, flat, shape, &mut out);
                self.score_flat(flat, shape, (first, &out), span);
                drawn
            }
        };
        if let Err(error) = drawn {
            let mut trouble = Trouble::new();
            let name = error.function;
            trouble.push((0, error));
            self.reject_draws(name, trouble, span)?;
        }
        self.streams[0] = stream;
        self.hand_out(shape, &out)
    }

    fn elements(&self, view: View) -> Vec<f64> {
        let [by_element, ..] = view.block.strides(self.width);
        let numbers = self.arena.values();
        (0..view.block.count()).map(|e| numbers[view.block.start() + e * by_element]).collect()
    }

    fn hand_out(&mut self, shape: Shape, numbers: &[f64]) -> Run<View> {
        let block = self.allocate(numbers.len(), Flags::LANES)?;
        let width = self.width;
        self.arena.of_mut(block, width).copy_from_slice(numbers);
        Ok(View { shape, block })
    }
}

/// Counts elements as drawn. The numbers of elements show which of them stand there more than once.
fn count(out: &mut [f64], numbers: Option<&Vec<f64>>) {
    let mut seen: BTreeMap<u64, f64> = BTreeMap::new();
    for x in numbers.into_iter().flatten() {
        *seen.entry(x.to_bits()).or_default() += 1.0;
    }
    for (i, n) in out.iter_mut().enumerate() {
        let times = numbers.and_then(|list| seen.get(&list.get(i)?.to_bits())).copied().unwrap_or(1.0);
        *n = if n.is_nan() { times } else { *n + times };
    }
}

/// A component, counted from 1; nothing as long as a weight is missing.
fn component(stream: &mut Stream, log_weights: &[f64]) -> Draw<f64> {
    if log_weights.iter().any(|w| w.is_nan()) {
        return Ok(f64::NAN);
    }
    let sum: f64 = log_weights.iter().map(|w| w.exp()).sum();
    Domain("mixture").that((sum - 1.0).abs() < TOLERANCE, "Sum of the weights", sum, "1")?;
    let k = stream.categorical_log(log_weights)?;
    #[allow(clippy::cast_precision_loss, reason = "components are few")]
    Ok((k + 1) as f64)
}

/// Numbers, each with its own arguments; the last two of `arguments` are bounds where there are more than the
/// distribution has.
fn numbers(
    stream: &mut Stream,
    scalar: &Scalar,
    order: Order,
    arguments: &[Vec<f64>],
    out: &mut [f64],
) -> Result<(), DomainError> {
    let one = |stream: &mut Stream, e: usize| -> Draw<f64> {
        let mut x = [0.0; 3];
        let at = |list: &Vec<f64>| if list.len() == 1 { list[0] } else { list[e] };
        for (x, list) in x.iter_mut().zip(&arguments[..scalar.arity]) {
            *x = at(list);
        }
        let bounds: Vec<f64> = arguments[scalar.arity..].iter().map(at).collect();
        if x.iter().chain(&bounds).any(|x| x.is_nan()) {
            return Ok(f64::NAN);
        }
        match bounds.as_slice() {
            [low, high] => within(stream, scalar, x, *low, *high),
            _ => (scalar.draw)(stream, x),
        }
    };
    if order == Order::Free {
        for (e, to) in out.iter_mut().enumerate().filter(|(_, to)| to.is_nan()) {
            *to = one(stream, e)?;
        }
        return Ok(());
    }
    let ready = arguments.iter().flatten().all(|x| !x.is_nan());
    if !ready || out.iter().all(|x| !x.is_nan()) {
        return Ok(());
    }
    for _ in 0..TRIES {
        for (e, to) in out.iter_mut().enumerate() {
            *to = one(stream, e)?;
        }
        if order == Order::Sorted {
            out.sort_by(f64::total_cmp);
        }
        if out.windows(2).all(|pair| pair[0] < pair[1]) {
            return Ok(());
        }
    }
    Domain("ordered").that(false, "Probability of being in order", 0.0, "large enough to be met by drawing")
}

/// One category for each row of the predictors: its log odds are the row times the coefficients, plus the intercepts.
/// `score` is told the log probability of each category that is drawn, or given.
fn categorical_glm(
    (stream, given): (&mut Stream, bool),
    shape: Shape,
    arguments: &[Vec<f64>],
    out: &mut [f64],
    score: &mut dyn FnMut(f64),
) -> Result<(), DomainError> {
    let [x, alpha, beta] = arguments else { return Ok(()) };
    let rows = shape.rows();
    for (row, to) in out.iter_mut().enumerate().filter(|(_, to)| given || to.is_nan()) {
        let predictors: Vec<f64> = x[row.min(rows - 1)..].iter().step_by(rows).copied().collect();
        let coefficients = beta.chunks_exact(predictors.len().max(1));
        let log_odds: Vec<f64> = alpha
            .iter()
            .zip(coefficients)
            .map(|(a, column)| a + predictors.iter().zip(column).map(|(x, b)| x * b).sum::<f64>())
            .collect();
        if log_odds.iter().any(|x| x.is_nan()) {
            continue;
        }
        if !given {
            let k = stream.categorical_log(&log_odds)?;
            #[allow(clippy::cast_precision_loss, reason = "categories are few")]
            let category = (k + 1) as f64;
            *to = category;
        }
        let top = log_odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = top + log_odds.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "categories are few")]
        let own = log_odds.get((*to as usize).wrapping_sub(1)).copied().unwrap_or(f64::NEG_INFINITY);
        score(own - sum);
    }
    Ok(())
}

fn flat_cells(stream: &mut Stream, flat: Flat, shape: Shape, out: &mut [f64]) -> Result<(), DomainError> {
    let rows = if shape.cell() == Cell::Scalar { 1 } else { shape.rows() };
    for cell in out.chunks_mut(shape.cell_len().max(1)).filter(|cell| cell.iter().any(|x| x.is_nan())) {
        flat.draw(stream, rows, cell)?;
    }
    Ok(())
}
