//! J and B without Monte Carlo: BREAD, section 3.2.
//!
//! B is the Jeffreys divergence between the distributions of whole forward and reverse chains (eq. 13). Both are Markov
//! chains, so that a divergence between them is a sum over their links (eqs. 14 and 15). The chain rule may be used in
//! either order of time; against the direction in which a chain is run it needs only marginals of that chain, which one
//! pass over T yields:
//!
//! > D(fwd ‖ rev) = D(q_fwd(x_T) ‖ p_T) + Σₜ E_fwd[log q_fwd(xₜ₋₁ | xₜ) − log 𝒯̃ₜ(xₜ₋₁ | xₜ)],
//! > q_fwd(xₜ₋₁ | xₜ) = q_fwd(xₜ₋₁) 𝒯ₜ(xₜ | xₜ₋₁) / q_fwd(xₜ),
//!
//! and the same with the directions exchanged. The first term is a part of J; every term is a divergence, so nothing
//! cancels and B ≥ J term by term.

use crust_infer::anneal::{Direction, Itinerary, Leg, Schedule};
use pxfm::f_log;

use crate::grid::{CELLS, Grid};

/// The exact quantities for one schedule, in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// D(`q_fwd`(`x_T`) ‖ `p_T`).
    pub kl_forward: f64,
    /// D(`p_T` ‖ `q_fwd`(`x_T`)).
    pub kl_reverse: f64,
    /// D of whole forward chains from reverse ones: log `Z_T`/Z₁ − E[log w].
    pub chain_kl_forward: f64,
    /// D of whole reverse chains from forward ones: E[−log w of reverse chains] − log `Z_T`/Z₁.
    pub chain_kl_reverse: f64,
}

impl Exact {
    /// J, the Jeffreys divergence between the distribution of the samples and the target (eq. 12).
    pub fn jeffreys(&self) -> f64 {
        self.kl_forward + self.kl_reverse
    }

    /// B, the expectation of B̂ (eq. 13).
    pub fn bound(&self) -> f64 {
        self.chain_kl_forward + self.chain_kl_reverse
    }
}

type Marginal = [f64; CELLS];

/// J and B of annealing on a grid, with a pass over the schedule in each direction.
pub fn compute(grid: &Grid, schedule: &Schedule) -> Exact {
    let (samples, links_forward) = pass(grid, schedule, Direction::Forward);
    let (initial, links_reverse) = pass(grid, schedule, Direction::Reverse);
    let target = grid.distribution(1.0);
    let kl_forward = divergence(&samples, &target);
    Exact {
        kl_forward,
        kl_reverse: divergence(&target, &samples),
        chain_kl_forward: kl_forward + links_forward,
        chain_kl_reverse: divergence(&initial, &grid.distribution(0.0)) + links_reverse,
    }
}

/// The last marginal of a chain, and the sum over its links.
fn pass(grid: &Grid, schedule: &Schedule, direction: Direction) -> (Marginal, f64) {
    let mut marginal = grid.distribution(if direction == Direction::Forward { 0.0 } else { 1.0 });
    let mut links = 0.0;
    for leg in Itinerary::new(direction, schedule.len()) {
        // The kernel is reversible: one matrix serves both directions, from the row for the move, from the column for
        // what is conditioned on.
        if let Leg::Move { t } | Leg::MoveReversed { t } = leg {
            let rows = std::array::from_fn(|from| grid.row(from, schedule.beta(t)));
            let before = marginal;
            marginal = [0.0; CELLS];
            for (from, row) in rows.iter().enumerate() {
                row.edges(from).for_each(|(to, p)| marginal[to] += before[from] * p);
            }
            links += link(&rows, &before, &marginal);
        }
    }
    (marginal, links)
}

/// E[log q(x | x′) − log 𝒯(x′ → x)] over a move x → x′, where q(x | x′) is the posterior of where the move came from.
fn link(rows: &[crate::grid::Row; CELLS], before: &Marginal, after: &Marginal) -> f64 {
    let mut sum = 0.0;
    for (x, row) in rows.iter().enumerate() {
        for (next, p) in row.edges(x) {
            let joint = before[x] * p;
            let back = rows[next].edges(next).find(|&(to, _)| to == x).map_or(0.0, |(_, p)| p);
            sum += relative(joint, after[next] * back);
        }
    }
    sum
}

/// D(p ‖ q).
fn divergence(p: &Marginal, q: &Marginal) -> f64 {
    p.iter().zip(q).map(|(&p, &q)| relative(p, q)).sum()
}

/// p log(p/q) − p + q, which is not negative. Sums of it are divergences if both sum to the same, and have no error
/// from terms that cancel.
fn relative(p: f64, q: f64) -> f64 {
    if p == 0.0 {
        return q;
    }
    let excess = (q - p) / p;
    // −log(1 + e) + e, with its series where the logarithm cancels.
    let gap = if excess.abs() < 1e-3 {
        excess * excess * (0.5 - excess * (1.0 / 3.0 - excess * (0.25 - excess * (0.2 - excess / 6.0))))
    } else {
        excess - f_log(q / p)
    };
    p * gap
}

#[cfg(test)]
#[path = "exact_tests.rs"]
mod tests;
