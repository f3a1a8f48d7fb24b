//! Steps of all slots, as [`super::super::step`] takes them for one.

use super::corrector::Part;
use super::kernels::{Complete, Pascal, Rescale};
use super::{Chosen, Lanes, SLOTS, each};
use crate::functions::Row;
use crate::lanes::dispatch;
use crate::solvers::numbers::real;
use crate::solvers::ode::multistep::Family;
use crate::solvers::ode::multistep::corrector::Attempt;
use crate::solvers::ode::multistep::formula::{self, Formula, SIZE};
use crate::solvers::ode::multistep::step::{
    BIAS, BIAS_ABOVE, BIAS_BELOW, CONVERGENCE_SHRINK, FAILURES_BEFORE_LOWER, FAILURES_BEFORE_REPEATED, Failures,
    GROWTH_LIMIT, GROWTH_WORTHWHILE, MAX_CONVERGENCE_FAILURES, MAX_ERROR_FAILURES, REPEATED_SHRINK, SMALLEST_SHRINK,
    growth,
};

/// How an attempt failed.
#[derive(Clone, Copy)]
enum Setback {
    NoConvergence(Part),
    Error(Part, f64),
}

impl Lanes<'_> {
    /// Slots that are to begin a new step get their weights, order and length.
    pub(super) fn begin_steps(&mut self) {
        let begin: Chosen = std::array::from_fn(|l| self.slots[l].busy && self.slots[l].attempt == Attempt::First);
        let norms = self.update_weights(std::array::from_fn(|l| begin[l] && self.slots[l].accepted > 0));
        let mut change = [false; SLOTS];
        for l in each(begin) {
            let slot = &mut self.slots[l];
            if slot.since >= self.tolerances.max_steps || f64::EPSILON * norms[l] > 1.0 {
                self.give_up(l);
                continue;
            }
            slot.since += 1;
            slot.begin = slot.t;
            slot.failures = Failures::default();
            change[l] = slot.step_changes;
            if slot.step_changes {
                self.change_order(l, self.slots[l].next_order);
            }
        }
        self.rescale(change);
    }

    /// Predicts and corrects; slots whose attempt fails go back to where they were, with a shorter step.
    pub(super) fn attempt(&mut self) {
        let mut left = self.busy();
        if left == [false; SLOTS] {
            return;
        }
        self.predict(left);
        let mut worst = [0.0_f64; SLOTS];
        let mut setbacks = [None; SLOTS];
        let parts = if self.len() > self.n { &[Part::State, Part::Columns][..] } else { &[Part::State] };
        for &part in parts {
            let outcome = self.correct(part, left);
            for l in 0..SLOTS {
                left[l] &= self.slots[l].busy;
                let (true, slot) = (left[l], &self.slots[l]) else { continue };
                setbacks[l] = match outcome[l].map(|norm| norm * slot.formula.error) {
                    None => Some(Setback::NoConvergence(part)),
                    Some(error) if error > 1.0 => Some(Setback::Error(part, error)),
                    Some(error) => {
                        worst[l] = worst[l].max(error);
                        None
                    }
                };
                left[l] = setbacks[l].is_none();
            }
            if left == [false; SLOTS] {
                break;
            }
        }
        if left != [false; SLOTS] {
            self.complete(left);
            each(left).for_each(|l| self.prepare_next(l, worst[l]));
        }
        self.go_back(setbacks);
    }

    fn orders(&self, chosen: Chosen) -> Row {
        std::array::from_fn(|l| if chosen[l] { real(self.slots[l].order) } else { -1.0 })
    }

    /// Slices of the history up to the highest order of the chosen slots.
    fn highest(&self, chosen: Chosen) -> usize {
        each(chosen).map(|l| self.slots[l].order).max().unwrap_or(0)
    }

    /// Moves the times and the polynomials' origins.
    fn predict(&mut self, chosen: Chosen) {
        self.pascal(chosen, 1.0);
        let family = self.family;
        for slot in self.slots.iter_mut().filter(|slot| slot.busy) {
            slot.t += slot.steps.h;
            slot.formula = Formula::new(family, slot.order, &slot.steps, slot.patience == 1);
            slot.gamma = slot.steps.h * (1.0 / slot.formula.l[1]);
            if slot.accepted == 0 {
                slot.matrix_gamma = slot.gamma;
            }
        }
    }

    fn pascal(&mut self, chosen: Chosen, sign: f64) {
        let (orders, highest) = (self.orders(chosen), self.highest(chosen));
        dispatch(Pascal { history: &mut self.vectors.history[..=highest], orders: &orders, sign });
    }

    /// Scales the histories of the chosen slots to steps that are `growth` times as long.
    fn rescale(&mut self, chosen: Chosen) {
        let mut factors = [[1.0; SLOTS]; SIZE];
        for l in each(chosen) {
            let slot = &mut self.slots[l];
            let mut factor = slot.growth;
            for row in &mut factors[1..=slot.order] {
                row[l] = factor;
                factor *= slot.growth;
            }
            slot.steps.h = slot.scaled_to * slot.growth;
            slot.scaled_to = slot.steps.h;
        }
        if chosen != [false; SLOTS] {
            let highest = self.highest(chosen);
            dispatch(Rescale { history: &mut self.vectors.history[1..=highest], factors: &factors[1..] });
        }
    }

    /// Changes the order of a slot by one at most.
    fn change_order(&mut self, l: usize, order: usize) {
        let q = self.slots[l].order;
        if order == q {
            return;
        }
        let mut steps = self.slots[l].steps;
        steps.h = self.slots[l].scaled_to;
        let (history, last) = (&mut self.vectors.history, self.family.max_order());
        if order > q {
            let raise = formula::raise(self.family, q, &steps);
            for i in 0..history[0].len() {
                let highest = history[last][i][l] * raise.highest;
                for (z, by) in history[..=q].iter_mut().zip(raise.lower).skip(2) {
                    z[i][l] += by * highest;
                }
                history[order][i][l] = highest;
            }
        } else if q > 2 {
            let lower = formula::lower(self.family, q, &steps);
            for i in 0..history[0].len() {
                let highest = history[q][i][l];
                for (z, factor) in history[..q].iter_mut().zip(lower).skip(2) {
                    z[i][l] += -factor * highest;
                }
            }
        }
        self.slots[l].order = order;
        self.slots[l].patience = order + 1;
    }

    /// Undoes attempts that failed, and makes their steps shorter.
    fn go_back(&mut self, setbacks: [Option<Setback>; SLOTS]) {
        let back = setbacks.map(|setback| setback.is_some());
        if back == [false; SLOTS] {
            return;
        }
        self.pascal(back, -1.0);
        let mut shrink = [false; SLOTS];
        for (l, setback) in setbacks.into_iter().enumerate() {
            let Some(setback) = setback else { continue };
            self.slots[l].t = self.slots[l].begin;
            shrink[l] = match setback {
                Setback::NoConvergence(part) => self.after_no_convergence(l, part),
                Setback::Error(part, error) => self.after_error_test(l, part, error),
            };
            if !shrink[l] {
                self.give_up(l);
            }
        }
        self.rescale(shrink);
    }

    /// Says `false` if there is no way on.
    fn after_no_convergence(&mut self, l: usize, part: Part) -> bool {
        let slot = &mut self.slots[l];
        let failures = &mut slot.failures.convergence[usize::from(part == Part::Columns)];
        *failures += 1;
        slot.growth = CONVERGENCE_SHRINK;
        slot.attempt = Attempt::AfterNoConvergence;
        *failures < MAX_CONVERGENCE_FAILURES
    }

    /// Likewise. Where even the lowest order fails, the problem is solved alone.
    fn after_error_test(&mut self, l: usize, part: Part, error: f64) -> bool {
        let slot = &mut self.slots[l];
        let failures = &mut slot.failures.error[usize::from(part == Part::Columns)];
        *failures += 1;
        slot.attempt = Attempt::AfterErrorTest;
        if *failures <= FAILURES_BEFORE_LOWER {
            slot.growth = growth(BIAS, error, slot.order + 1).max(SMALLEST_SHRINK);
            if *failures >= FAILURES_BEFORE_REPEATED {
                slot.growth = slot.growth.min(REPEATED_SHRINK);
            }
            return true;
        }
        slot.growth = SMALLEST_SHRINK;
        if *failures == MAX_ERROR_FAILURES || slot.order == 1 {
            return false;
        }
        self.change_order(l, self.slots[l].order - 1);
        true
    }

    /// Accepts steps: histories take corrections up.
    fn complete(&mut self, chosen: Chosen) {
        let (last, orders, highest) = (self.family.max_order(), self.orders(chosen), self.highest(chosen));
        let (mut coefficients, mut keep) = ([[0.0; SLOTS]; SIZE], [false; SLOTS]);
        for l in each(chosen) {
            let slot = &mut self.slots[l];
            slot.accepted += 1;
            for i in (2..=slot.order).rev() {
                slot.steps.past[i] = slot.steps.past[i - 1];
            }
            if slot.order == 1 && slot.accepted > 1 {
                slot.steps.past[2] = slot.steps.past[1];
            }
            slot.steps.past[1] = slot.steps.h;
            for (row, by) in coefficients.iter_mut().zip(slot.formula.l) {
                row[l] = by;
            }
            slot.patience -= 1;
            if slot.patience == 1 && slot.order != last {
                keep[l] = true;
                slot.kept_scale = slot.formula.above_scale;
            }
        }
        let (history, correction) = (&mut self.vectors.history, &self.vectors.correction[..]);
        let l = &coefficients[..=highest];
        dispatch(Complete { history, correction, orders: &orders, l, keep });
    }

    /// The order among three and the step that promise the longest steps.
    fn prepare_next(&mut self, l: usize, error: f64) {
        let slot = &mut self.slots[l];
        slot.next_order = slot.order;
        slot.step_changes = false;
        let failed = std::mem::replace(&mut slot.attempt, Attempt::First) != Attempt::First;
        if failed {
            slot.patience = slot.patience.max(2);
            slot.growth_limit = GROWTH_LIMIT;
            return;
        }
        slot.growth = growth(BIAS, error, slot.order + 1);
        if slot.patience == 0 {
            slot.patience = 2;
            self.choose_order(l);
        }
        let slot = &mut self.slots[l];
        if slot.growth >= GROWTH_WORTHWHILE {
            slot.growth = slot.growth.min(slot.growth_limit);
            slot.step_changes = true;
        }
        slot.growth_limit = GROWTH_LIMIT;
    }

    /// Compares the growth that the neighbouring orders promise.
    fn choose_order(&mut self, l: usize) {
        let (below, above) = (self.growth_below(l), self.growth_above(l));
        let best = below.max(above);
        let slot = &mut self.slots[l];
        if slot.growth >= best {
            return;
        }
        slot.growth = best;
        if best < GROWTH_WORTHWHILE {
            return;
        }
        if below >= above {
            slot.next_order = slot.order - 1;
        } else {
            slot.next_order = slot.order + 1;
            if self.family == Family::Bdf {
                let last = self.family.max_order();
                for (z, e) in self.vectors.history[last].iter_mut().zip(&self.vectors.correction) {
                    z[l] = e[l];
                }
            }
        }
    }

    /// The largest weighted norm among all columns of a vector of one slot.
    fn norm_of(&self, l: usize, vector: impl Fn(usize) -> f64) -> f64 {
        let mut worst = 0.0_f64;
        for first in (0..self.len()).step_by(self.n) {
            let weighted = |i: usize| vector(i) * self.vectors.weights[i][l];
            let sum: f64 = (first..first + self.n).map(|i| weighted(i) * weighted(i)).sum();
            worst = super::super::nan_max(worst, (sum / real(self.n)).sqrt());
        }
        worst
    }

    fn growth_below(&self, l: usize) -> f64 {
        let slot = &self.slots[l];
        if slot.order == 1 {
            return 0.0;
        }
        let z = &self.vectors.history[slot.order];
        growth(BIAS_BELOW, self.norm_of(l, |i| z[i][l]) * slot.formula.error_below, slot.order)
    }

    fn growth_above(&self, l: usize) -> f64 {
        let (slot, last) = (&self.slots[l], self.family.max_order());
        if slot.order == last || slot.kept_scale == 0.0 {
            return 0.0;
        }
        let exponent = real(slot.order + 1);
        let ratio = slot.formula.above_scale / slot.kept_scale * (slot.steps.h / slot.steps.past[2]).powf(exponent);
        let (correction, kept) = (&self.vectors.correction, &self.vectors.history[last]);
        let norm = self.norm_of(l, |i| correction[i][l] - ratio * kept[i][l]);
        growth(BIAS_ABOVE, norm * slot.formula.error_above, slot.order + 2)
    }
}
