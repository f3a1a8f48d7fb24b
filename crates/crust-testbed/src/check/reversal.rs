//! Is a kernel's reversal its reversal, and does a constrained move leave the constrained prior where it is?

use crust_infer::anneal::Direction;
use crust_infer::target::Fatal;
use crust_math::random::Stream;

use crate::grid::float;
use crate::model::{Constrained, Floor, Model, Transition};

/// log p(x) 𝒯(x′ | x) − log p(x′) 𝒯̃(x | x′) at β, which is 0 for *any* two states (BDMC, Eq. 44); invariance follows
/// from it.
pub fn imbalance<M: Transition>(model: &mut M, x: &M::State, other: &M::State, beta: f64) -> Result<f64, Fatal> {
    let there = model.log_joint(x, beta)? + model.log_transition(x, other, beta, Direction::Forward)?;
    let back = model.log_joint(other, beta)? + model.log_transition(other, x, beta, Direction::Reverse)?;
    Ok(there - back)
}

/// By how many standard errors one constrained move changes the means of some statistics, from `count` exact draws of
/// the constrained prior: draws from the prior whose likelihood is above that of most of them. A kernel that leaves it
/// invariant changes none.
pub fn drift<M: Constrained + Model, const N: usize>(
    model: &mut M,
    statistics: impl Fn(&M::State) -> [f64; N],
    count: usize,
    stream: &mut Stream,
) -> Result<[f64; N], Fatal> {
    let floor = typical(model, stream)?;
    let (mut sums, mut squares) = ([0.0; N], [0.0; N]);
    let mut found = 0;
    while found < count {
        let mut state = model.draw_initial(stream)?;
        if stream.uniform() >= floor.share(model.log_likelihood(&state)?) {
            continue;
        }
        found += 1;
        let before = statistics(&state);
        model.step_constrained(&mut state, &floor, stream)?;
        for (n, (after, before)) in statistics(&state).into_iter().zip(before).enumerate() {
            sums[n] += after - before;
            squares[n] += (after - before) * (after - before);
        }
    }
    let n = float(count);
    Ok(std::array::from_fn(|i| {
        let mean = sums[i] / n;
        let variance = squares[i] / n - mean * mean;
        mean / (variance / n).sqrt().max(f64::MIN_POSITIVE)
    }))
}

/// A floor that seven of ten draws from the prior are below.
fn typical<M: Constrained + Model>(model: &mut M, stream: &mut Stream) -> Result<Floor, Fatal> {
    let mut log_likelihoods = vec![];
    for _ in 0..100 {
        let state = model.draw_initial(stream)?;
        log_likelihoods.push(model.log_likelihood(&state)?);
    }
    log_likelihoods.sort_by(f64::total_cmp);
    Ok(Floor { log_likelihood: log_likelihoods[70], label: 0.0, rounding: 1e-11 })
}

#[cfg(test)]
pub(crate) mod asserts {
    use super::*;

    /// Balance at three β, from a state to draws from the prior.
    pub(crate) fn is_balanced<M: Transition>(model: &mut M, x: &M::State, stream: &mut Stream) {
        for beta in [0.0, 0.3, 1.0] {
            for _ in 0..5 {
                let other = model.draw_initial(stream).expect("a state");
                let size = 1.0 + model.log_joint(&other, beta).expect("log f").abs();
                let off = imbalance(model, x, &other, beta).expect("densities");
                assert!(off.abs() < 1e-11 * size, "β = {beta}: {off}");
            }
        }
    }

    /// 5 standard errors: a false alarm in 10⁶ for each number.
    pub(crate) fn does_not_drift<M: Constrained + Model, const N: usize>(
        model: &mut M,
        statistics: impl Fn(&M::State) -> [f64; N],
        stream: &mut Stream,
    ) {
        let drifts = drift(model, statistics, 4000, stream).expect("moves");
        assert!(drifts.iter().all(|z| z.abs() < 5.0), "{drifts:?}");
    }
}
