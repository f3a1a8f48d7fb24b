//! Newton's iterations of all slots, as [`super::super::corrector`] makes them for one.

use super::kernels::{Clear, ColumnRates, Newton, Norms, Place};
use super::{Chosen, Lanes, SLOTS, Vectors, each};
use crate::functions::Row;
use crate::lanes::dispatch;
use crate::linalg::lu::factor_plain;
use crate::solvers::ode::multistep::Family;
use crate::solvers::ode::multistep::corrector::{
    Attempt, Blame, GAMMA_CHANGE_FOR_JACOBIAN, GAMMA_CHANGE_FOR_MATRIX, Judge, STEPS_PER_JACOBIAN, STEPS_PER_MATRIX,
    TOLERANCE, Verdict,
};

/// What is corrected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    State,
    Columns,
}

/// The norm of the correction of each slot; none where the iteration failed.
type Outcome = [Option<f64>; SLOTS];

impl Lanes<'_> {
    fn gamma_ratio(&self, l: usize) -> f64 {
        let slot = &self.slots[l];
        if slot.accepted > 0 { slot.gamma / slot.matrix_gamma } else { 1.0 }
    }

    /// Solves for the corrections of the chosen slots.
    pub(super) fn correct(&mut self, part: Part, chosen: Chosen) -> Outcome {
        let mut setup = [None; SLOTS];
        for l in each(chosen) {
            let ratio = self.gamma_ratio(l);
            let slot = &mut self.slots[l];
            slot.jacobian_is_new = false;
            let due = slot.attempt != Attempt::First
                || slot.accepted == 0
                || slot.accepted >= slot.matrix_step + STEPS_PER_MATRIX
                || (ratio - 1.0).abs() > GAMMA_CHANGE_FOR_MATRIX;
            let blame = if slot.attempt == Attempt::AfterNoConvergence { Blame::Other } else { Blame::Nobody };
            setup[l] = (due && part == Part::State).then_some(blame);
        }
        if part == Part::Columns {
            self.linearise(chosen);
        }
        self.clear(part, chosen);
        let refused = self.factor(setup);
        let mut left: Chosen = std::array::from_fn(|l| chosen[l] && !refused[l] && self.slots[l].busy);
        let mut outcome = self.iterate(part, left);
        // Where that fails with an old matrix, once more with a new one.
        for l in 0..SLOTS {
            left[l] &= outcome[l].is_none() && self.slots[l].busy;
        }
        if left == [false; SLOTS] {
            return outcome;
        }
        self.clear(part, left);
        let again = |l: usize| (left[l] && !self.slots[l].jacobian_is_new).then_some(Blame::OldJacobian);
        let setup: [Option<Blame>; SLOTS] = std::array::from_fn(again);
        let refused = self.factor(setup);
        let left = std::array::from_fn(|l| setup[l].is_some() && !refused[l] && self.slots[l].busy);
        if left != [false; SLOTS] {
            let second = self.iterate(part, left);
            each(left).for_each(|l| outcome[l] = second[l]);
        }
        outcome
    }

    fn clear(&mut self, part: Part, chosen: Chosen) {
        let (state, columns) = self.vectors.correction.split_at_mut(self.n);
        let vector = if part == Part::State { state } else { columns };
        dispatch(Clear { vector, chosen });
    }

    /// Writes states with their current corrections to the front of `point`.
    fn place_state(&mut self) {
        let n = self.n;
        let Vectors { point, history, correction, .. } = &mut self.vectors;
        dispatch(Place { point: &mut point[..n], z: &history[0][..n], correction: &correction[..n] });
    }

    /// The derivatives of f at the corrected states.
    fn linearise(&mut self, chosen: Chosen) {
        self.place_state();
        let (t, n) = (self.times(), self.n);
        let Vectors { point, rates, by_state, by_parameter, .. } = &mut self.vectors;
        self.system.jacobian(&t, &point[..n], &mut rates[..n], by_state, by_parameter);
        self.give_up_bad(chosen, n);
    }

    /// Makes matrices 1 − γ ∂f/∂y anew, with new Jacobians where old ones are too old or to blame. Says which are
    /// singular.
    fn factor(&mut self, setup: [Option<Blame>; SLOTS]) -> Chosen {
        let mut stale = [false; SLOTS];
        for (l, blame) in setup.iter().enumerate() {
            let (Some(blame), slot) = (blame, &self.slots[l]) else { continue };
            let change = (slot.gamma / slot.matrix_gamma - 1.0).abs();
            stale[l] = slot.accepted == 0
                || slot.accepted >= slot.jacobian_step + STEPS_PER_JACOBIAN
                || (*blame == Blame::OldJacobian && change < GAMMA_CHANGE_FOR_JACOBIAN)
                || *blame == Blame::Other;
        }
        if stale != [false; SLOTS] {
            self.renew_jacobians(stale);
        }
        let mut refused = [false; SLOTS];
        for l in (0..SLOTS).filter(|&l| setup[l].is_some()) {
            let slot = &mut self.slots[l];
            slot.jacobian_is_new = stale[l];
            slot.matrix_gamma = slot.gamma;
            slot.matrix_step = slot.accepted;
            slot.rates = [1.0; 2];
            refused[l] = !self.factor_one(l);
        }
        refused
    }

    fn renew_jacobians(&mut self, stale: Chosen) {
        self.place_state();
        let (t, n) = (self.times(), self.n);
        let Vectors { point, rates, by_state, jacobian, .. } = &mut self.vectors;
        self.system.jacobian(&t, &point[..n], &mut rates[..n], by_state, &mut []);
        for l in each(stale) {
            self.slots[l].jacobian_step = self.slots[l].accepted;
            for (to, from) in jacobian.iter_mut().zip(by_state.iter()) {
                to[l] = from[l];
            }
        }
        self.give_up_bad(stale, n);
    }

    fn factor_one(&mut self, l: usize) -> bool {
        let (n, gamma) = (self.n, self.slots[l].gamma);
        let Vectors { jacobian, factors, pivots, .. } = &mut self.vectors;
        let mut matrix: Vec<f64> = jacobian.iter().map(|row| row[l] * -gamma).collect();
        for i in 0..n {
            matrix[i * (n + 1)] += 1.0;
        }
        let mut own = vec![0.0; n];
        let regular = factor_plain(n, &mut matrix, &mut own);
        for (to, from) in factors.iter_mut().zip(&matrix) {
            to[l] = *from;
        }
        for (to, from) in pivots.iter_mut().zip(&own) {
            to[l] = crate::linalg::lu::index(*from);
        }
        regular
    }

    /// Iterates until all chosen slots are done.
    fn iterate(&mut self, part: Part, chosen: Chosen) -> Outcome {
        let n = self.n;
        let of = if part == Part::State { 0..n } else { n..self.len() };
        let which = usize::from(part == Part::Columns);
        let (mut left, mut outcome) = (chosen, [None; SLOTS]);
        let mut judges: [Judge; SLOTS] = std::array::from_fn(|_| Judge::default());
        while left != [false; SLOTS] {
            self.rates_of(part, left);
            let sizes = self.newton(of.clone(), left);
            let mut ended = [false; SLOTS];
            for l in each(left) {
                let slot = &mut self.slots[l];
                let verdict = judges[l].judge(sizes[l], &mut slot.rates[which], TOLERANCE / slot.formula.error);
                left[l] = slot.busy && matches!(verdict, Verdict::Continue);
                if matches!(verdict, Verdict::Converged) {
                    outcome[l] = Some(sizes[l]);
                    ended[l] = judges[l].iteration > 0;
                }
            }
            if ended != [false; SLOTS] {
                let Vectors { correction, weights, .. } = &self.vectors;
                let norms = dispatch(Norms { n, vector: &correction[of.clone()], weights: &weights[of.clone()] });
                each(ended).for_each(|l| outcome[l] = Some(norms[l]));
            }
        }
        (0..SLOTS).filter(|&l| !self.slots[l].busy).for_each(|l| outcome[l] = None);
        outcome
    }

    /// The rates at the corrected predictions.
    fn rates_of(&mut self, part: Part, left: Chosen) {
        let (t, n) = (self.times(), self.n);
        if part == Part::State {
            self.place_state();
            let Vectors { point, rates, .. } = &mut self.vectors;
            self.system.values(&t, &point[..n], &mut rates[..n]);
            self.give_up_bad(left, n);
            return;
        }
        let Vectors { point, history, correction, rates, by_state, by_parameter, .. } = &mut self.vectors;
        dispatch(Place { point: &mut point[n..], z: &history[0][n..], correction: &correction[n..] });
        let (columns, rates) = (&point[n..], &mut rates[n..]);
        let first_parameter = n * self.by_initial_state;
        dispatch(ColumnRates { n, first_parameter, by_state, by_parameter, columns, rates });
    }

    /// Newton's corrections of a part, added; their norms.
    fn newton(&mut self, of: std::ops::Range<usize>, chosen: Chosen) -> Row {
        let inverse = std::array::from_fn(|l| 1.0 / self.slots[l].formula.l[1]);
        let gamma = std::array::from_fn(|l| self.slots[l].gamma);
        // Matrices were made for another γ: for stiff components this factor makes up for it (BDF only).
        let bdf = self.family == Family::Bdf;
        let scale = std::array::from_fn(|l| if bdf { 2.0 / (1.0 + self.gamma_ratio(l)) } else { 1.0 });
        let Vectors { history, weights, correction, rates, residual, factors, pivots, .. } = &mut self.vectors;
        dispatch(Newton {
            n: self.n,
            chosen,
            gamma: &gamma,
            inverse: &inverse,
            scale: &scale,
            factors,
            pivots,
            rates: &rates[of.clone()],
            slope: &history[1][of.clone()],
            weights: &weights[of.clone()],
            residual: &mut residual[of.clone()],
            correction: &mut correction[of],
        })
    }
}
