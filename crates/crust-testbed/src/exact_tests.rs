use std::num::NonZero;

use crust_infer::drive::{Control, Parallelism};
use crust_math::random::{Purpose, StreamKey};

use super::*;
use crate::grid::float;
use crate::toy::{self, Estimate};

/// The same quantities another way: dense matrices, and expectations of the log weights from the marginals of the
/// states that are weighed. Shares only log f with the code above.
///
/// > E[log w] = Σₜ (βₜ − βₜ₋₁) E[log f(xₜ₋₁)], B = E_rev[−log w_rev] − E_fwd[log w].
fn by_expectations(grid: &Grid, distributions: usize) -> (f64, f64) {
    let beta = |t: usize| float(t - 1) / float(distributions - 1);
    let log_f: Vec<f64> = (0..CELLS).map(|cell| grid.log_f(cell)).collect();
    let matrix = |beta: f64| {
        let mut matrix = vec![[0.0; CELLS]; CELLS];
        for i in 0..CELLS {
            let mut left = 1.0;
            for j in 0..CELLS {
                let (a, b) = ((i / 7, i % 7), (j / 7, j % 7));
                if a.0.abs_diff(b.0) + a.1.abs_diff(b.1) == 1 {
                    matrix[i][j] = 0.25 * (beta * (log_f[j] - log_f[i])).exp().min(1.0);
                    left -= matrix[i][j];
                }
            }
            matrix[i][i] = left;
        }
        matrix
    };
    let times = |q: &[f64], m: &[[f64; CELLS]]| -> Vec<f64> {
        (0..CELLS).map(|j| (0..CELLS).map(|i| q[i] * m[i][j]).sum()).collect()
    };
    let mean = |q: &[f64]| -> f64 { q.iter().zip(&log_f).map(|(q, l)| q * l).sum() };
    let total: f64 = log_f.iter().map(|l| l.exp()).sum();
    let target: Vec<f64> = log_f.iter().map(|l| l.exp() / total).collect();
    let (mut forward, mut lower) = (vec![1.0 / float(CELLS); CELLS], 0.0);
    let (mut reverse, mut upper) = (target.clone(), 0.0);
    for t in 2..=distributions {
        lower += (beta(t) - beta(t - 1)) * mean(&forward);
        forward = times(&forward, &matrix(beta(t)));
        let s = distributions + 2 - t;
        reverse = times(&reverse, &matrix(beta(s)));
        upper += (beta(s) - beta(s - 1)) * mean(&reverse);
    }
    let jeffreys = target.iter().zip(&forward).map(|(p, q)| (p - q) * (p / q).ln()).sum();
    (jeffreys, upper - lower)
}

fn grids() -> [(&'static str, Grid); 3] {
    let key = StreamKey::new(1, Purpose::TEST);
    [("barrier", Grid::barrier()), ("easy", Grid::random(2.0, key)), ("hard", Grid::random(10.0, key))]
}

#[test]
fn two_computations_agree() {
    for (name, grid) in grids() {
        for distributions in [2, 3, 10, 100, 1000] {
            let exact = compute(&grid, &Schedule::linear(distributions).unwrap());
            let (jeffreys, bound) = by_expectations(&grid, distributions);
            assert!((exact.jeffreys() - jeffreys).abs() < 1e-9, "{name} {distributions}: {exact:?} {jeffreys}");
            assert!((exact.bound() - bound).abs() < 1e-9, "{name} {distributions}: {exact:?} {bound}");
        }
    }
}

/// The digits in section 5.1.1: T counts all distributions, and the last move is part of the chain.
#[test]
fn barrier_has_the_papers_digits() {
    let at = |t| compute(&Grid::barrier(), &Schedule::linear(t).unwrap());
    let digits = |x: f64, decimals: usize| format!("{x:.decimals$}");
    assert_eq!(digits(at(100).jeffreys(), 2), "1.65");
    assert_eq!(digits(at(1000).jeffreys(), 3), "1.085");
    assert_eq!(digits(at(1000).bound(), 3), "1.184");
    assert!((Grid::barrier().distribution(1.0).iter().filter(|p| **p > 0.05).sum::<f64>() - 0.87).abs() < 0.005);
}

#[test]
fn bounds_are_above_divergences() {
    for (name, grid) in grids() {
        let mut before = f64::INFINITY;
        for t in [2, 5, 10, 30, 100, 300, 1000] {
            let exact = compute(&grid, &Schedule::linear(t).unwrap());
            assert!(exact.chain_kl_forward >= exact.kl_forward && exact.chain_kl_reverse >= exact.kl_reverse, "{name}");
            assert!(exact.bound() < before, "{name}: more distributions, less bound");
            before = exact.bound();
        }
    }
}

/// Chains of the generic code have the expectations that are computed here. Three grids at 4 standard errors: the
/// false-alarm rate is 3 · 6·10⁻⁵. A chain that weighed after its moves, or skipped a distribution, would be off by 10
/// and more.
#[test]
fn chains_agree_with_the_exact_expectation() {
    let schedule = Schedule::linear(30).unwrap();
    for (name, grid) in grids() {
        let bound = compute(&grid, &schedule).bound();
        let key = StreamKey::new(2, Purpose::TEST);
        let estimate = |threads: usize| {
            let how = Parallelism { threads: NonZero::new(threads).unwrap(), ..Parallelism::default() };
            toy::estimate(&grid, &schedule, 2000, key, how, &Control::default()).unwrap()
        };
        let Estimate { mean, standard_error, .. } = estimate(1);
        assert!((mean - bound).abs() < 4.0 * standard_error, "{name}: {mean} ± {standard_error} for {bound}");
        assert_eq!(estimate(3), estimate(1), "the number of threads does not matter");
    }
}

#[test]
fn relative_is_accurate_where_logarithms_cancel() {
    for (p, q, truth) in [
        (1.0, 1.0 + 1e-9, 5e-19),
        (1.0, 1.0 - 1e-5, 5.000_033_333_583_335e-11),
        (2.0, 1.0, 2.0 * 2.0_f64.ln() - 1.0),
        (0.0, 0.25, 0.25),
    ] {
        assert!((relative(p, q) - truth).abs() <= 2e-7 * truth, "{p} {q}: {}", relative(p, q));
    }
    // Both branches at the switch.
    let (a, b) = (relative(1.0, 1.0 + 0.999_999e-3), relative(1.0, 1.0 + 1.000_001e-3));
    assert!((a - b).abs() < 1e-8 * 1e-3 && a < b);
}
