//! Two identities that hold for draws from the joint distribution of a program and for no others.

use crate::kinds::KINDS;
use crate::{case, evaluate};
use crust_engine::Model;
use crust_math::random::{Purpose, StreamKey};
use crust_stan::typed::{Stmt, StmtKind};
use std::sync::Arc;

/// Draws per program.
const DRAWS: u32 = 400;

/// With `(θ, y)` drawn from `p(θ, y)`, θ unconstrained, and a bounded function `f`, integration by parts gives
/// `E[f(θ_i) ∂_i log p(θ, y) + f'(θ_i)] = 0` (Stein's identity; the boundary terms vanish), where the gradient is that
/// of the program with the Jacobian of its transforms. With `f = 1` this is the score identity; with `f = tanh` it
/// fails for a draw of the wrong scale, a missing Jacobian, a bound that is not kept. Wrong data show in the gradient
/// of the likelihood, which is a part of it.
///
/// Every sum is a mean of independent terms. With 182 z-scores in all, taken as normal, a threshold of 5 has a
/// false-alarm rate of 182 × 5.7e-7 ≈ 1e-4 (the seeds are fixed: it has been met or not).
#[test]
fn draws_satisfy_steins_identity() {
    for (name, text, json) in KINDS {
        let mut case = case(text, json);
        let mut sums: Vec<[f64; 4]> = Vec::new();
        for number in 0..DRAWS {
            let (point, data) = case.draw(number);
            let mut evaluator = case.bind(&data);
            let (.., gradient) = evaluate(&mut evaluator, &point);
            sums.resize(point.len(), [0.0; 4]);
            for ((sum, x), d) in sums.iter_mut().zip(&point).zip(gradient) {
                let f = x.tanh();
                let terms = [d, f * d + 1.0 - f * f];
                for (k, term) in terms.into_iter().enumerate() {
                    sum[2 * k] += term;
                    sum[2 * k + 1] += term * term;
                }
            }
        }
        let n = f64::from(DRAWS);
        for (i, sum) in sums.iter().enumerate() {
            for k in 0..2 {
                let (mean, square) = (sum[2 * k] / n, sum[2 * k + 1] / n);
                let z = mean / ((square - mean * mean).max(1e-300) / n).sqrt();
                assert!(z.abs() < 5.0, "{name}: parameter {i}, identity {k}: z = {z}");
            }
        }
    }
}

/// The reading changes nothing: the program that has only the statements that are drawn from has the same log density
/// as the program itself, up to a constant, and the same prior.
#[test]
fn the_factors_are_the_density_up_to_a_constant() {
    for (name, text, json) in KINDS {
        let mut case = case(text, json);
        let (_, data) = case.draw(1);
        let mut own = case.bind(&data);
        let mut read = case.joint.program.clone();
        for block in read.blocks.iter_mut().flatten() {
            block.statements.iter_mut().for_each(without_constants);
        }
        let mut drawn = Arc::new(Model::bind(&read, &data, 1).expect("the reading is a program")).evaluator();
        let mut stream = StreamKey::new(3, Purpose::TEST).stream();
        let mut differences = Vec::new();
        for _ in 0..4 {
            let point: Vec<f64> = (0..own.model().dimension()).map(|_| 1.6 * stream.uniform() - 0.8).collect();
            let ((a, b, _), (c, d, _)) = (evaluate(&mut own, &point), evaluate(&mut drawn, &point));
            differences.push([a - c, b - d]);
        }
        for difference in &differences {
            for (x, y) in difference.iter().zip(&differences[0]) {
                assert!((x - y).abs() < 1e-9, "{name}: {differences:?}");
            }
        }
    }
}

/// Leaves constants out: nothing is drawn from them.
fn without_constants(stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::TargetPlus(e) if e.level == crust_stan::typed::Level::Data => stmt.kind = StmtKind::Skip,
        StmtKind::Block(list) => list.iter_mut().for_each(without_constants),
        StmtKind::For { body, .. } => without_constants(body),
        _ => {}
    }
}
