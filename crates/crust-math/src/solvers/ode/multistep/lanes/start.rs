//! First steps, as [`super::super::start`] chooses them.

use super::{Chosen, Lanes, SLOTS, each};
use crate::functions::Row;
use crate::lanes::dispatch;
use crate::solvers::ode::multistep::lanes::kernels::Norms;
use crate::solvers::ode::multistep::start::{CAUTION, ITERATIONS, SMALLEST, largest_first_step, next_trial};

impl Lanes<'_> {
    /// Evaluates initial rates, chooses first steps, and scales histories to them.
    pub(super) fn choose_first_steps(&mut self, fresh: Chosen) {
        self.update_weights(fresh);
        let t = self.times();
        self.vectors.point.copy_from_slice(&self.vectors.history[0]);
        self.coupled_rates(&t, fresh);
        self.give_up_bad(fresh, self.len());
        let mut pending: Chosen = std::array::from_fn(|l| fresh[l] && self.slots[l].busy);
        let mine = pending;
        let (mut trial, mut smallest, mut largest) = ([0.0; SLOTS], [0.0; SLOTS], [f64::INFINITY; SLOTS]);
        for l in each(mine) {
            for (z, rate) in self.vectors.history[1].iter_mut().zip(&self.vectors.rates) {
                z[l] = rate[l];
            }
            (smallest[l], largest[l]) = self.first_step_range(l);
            trial[l] = (smallest[l] * largest[l]).sqrt();
            pending[l] = largest[l] >= smallest[l];
        }
        let narrow: Chosen = std::array::from_fn(|l| mine[l] && !pending[l]);
        let mut settled = [false; SLOTS];
        for iteration in 1..=ITERATIONS {
            if pending == [false; SLOTS] {
                break;
            }
            let curvature = self.curvatures(&trial, pending);
            for l in each(pending) {
                pending[l] = self.slots[l].busy && !settled[l] && iteration < ITERATIONS;
                if pending[l] {
                    (trial[l], settled[l]) = next_trial(iteration, trial[l], largest[l], curvature[l]);
                }
            }
        }
        let fine: Chosen = std::array::from_fn(|l| mine[l] && self.slots[l].busy);
        for l in each(fine) {
            let h = if narrow[l] { trial[l] } else { (CAUTION * trial[l]).max(smallest[l]).min(largest[l]) };
            self.slots[l].steps.h = h;
            self.slots[l].scaled_to = h;
            self.vectors.history[1].iter_mut().for_each(|row| row[l] *= h);
        }
    }

    fn first_step_range(&self, l: usize) -> (f64, f64) {
        let (t, time) = (self.slots[l].t, self.spans[self.slots[l].problem].times[0]);
        let rounding = f64::EPSILON * t.abs().max(time.abs());
        let [z, rate] = [0, 1].map(|k| &self.vectors.history[k]);
        let elements = (0..self.len()).map(|i| (z[i][l], rate[i][l], self.vectors.weights[i][l]));
        (SMALLEST * rounding, largest_first_step(time - t, elements))
    }

    /// The weighted norms of y'' by difference quotients over the trial steps. A slot where they are no numbers is given
    /// up.
    fn curvatures(&mut self, trial: &Row, chosen: Chosen) -> Row {
        let (mut t, n) = (self.times(), self.n);
        (0..SLOTS).for_each(|l| t[l] += trial[l]);
        for i in 0..self.len() {
            let [z, rate] = [0, 1].map(|k| self.vectors.history[k][i]);
            self.vectors.point[i] = std::array::from_fn(|l| z[l] + trial[l] * rate[l]);
        }
        self.coupled_rates(&t, chosen);
        for i in 0..self.len() {
            let [a, b] = [self.vectors.history[1][i], self.vectors.rates[i]];
            self.vectors.residual[i] = std::array::from_fn(|l| (b[l] - a[l]) / trial[l]);
        }
        let norms = dispatch(Norms { n, vector: &self.vectors.residual, weights: &self.vectors.weights });
        for l in (0..SLOTS).filter(|&l| chosen[l] && norms[l].is_nan()) {
            self.give_up(l);
        }
        norms
    }
}
