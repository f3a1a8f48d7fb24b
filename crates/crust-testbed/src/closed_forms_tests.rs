//! Closed forms against numerical integration, and gradients against differences.

use crust_math::random::{Purpose, StreamKey};

use crate::logistic::Logistic;
use crate::pointwise::Pointwise;
use crate::positive::{Jacobian, Positive};
use crate::regression::Regression;
use crate::scale::{Scale, Simulator};
use crate::scales::Scales;

fn key(dataset: u32) -> StreamKey {
    StreamKey::new(11, Purpose::TEST).dataset(dataset)
}

/// log ∫ prior · likelihood^β by the trapezoidal rule.
fn integrated(model: &impl Pointwise, beta: f64, low: f64, high: f64) -> f64 {
    let cells = 20_000;
    let step = (high - low) / f64::from(cells);
    let value = |i: i32| {
        let (prior, likelihood) = model.at(&[low + step * f64::from(i)], beta, &mut [0.0]);
        prior + beta * likelihood
    };
    let logs: Vec<f64> = (0..=cells).map(value).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + (logs.iter().map(|log| (log - top).exp()).sum::<f64>() * step).ln()
}

#[test]
fn normalisers_are_integrals() {
    let mut stream = key(0).stream();
    for beta in [0.0, 0.3, 1.0] {
        let regression = Regression::simulate(5, 1, 1.7, 0.6, &mut stream).model;
        let truth = integrated(&regression, beta, -20.0, 20.0);
        assert!((regression.log_normaliser(beta) - truth).abs() < 1e-8, "regression {beta}");
        let scale = Scale::simulate(1.5, 0.8, 6, Simulator::Right, &mut stream).model;
        let truth = integrated(&scale, beta, -20.0, 40.0);
        assert!((scale.log_normaliser(beta) - truth).abs() < 1e-8, "scale {beta}");
    }
    let positive = Positive::simulate(1, 2.0, 0.7, Jacobian::Present, &mut stream).model;
    assert!((positive.log_marginal_likelihood() - integrated(&positive, 1.0, -30.0, 30.0)).abs() < 1e-8, "positive");
    for d in 1..4 {
        let model = Regression::simulate(8, d, 1.2, 0.9, &mut stream).model;
        assert!(model.log_normaliser(0.0).abs() < 1e-12, "the prior is normalised");
        // d log Z / dβ is the mean of the log likelihood under p_β, whose quadratic is exact at the mean plus its
        // spread: checked by a convex function having its slope between neighbours.
        let slope = |b: f64| (model.log_normaliser(b + 1e-4) - model.log_normaliser(b - 1e-4)) / 2e-4;
        let at_mean = model.at(&model.mean(0.5), 0.5, &mut vec![0.0; d]).1;
        assert!(slope(0.5) < at_mean && slope(0.4) < slope(0.5), "{d}");
    }
}

fn check_gradient(model: &impl Pointwise, x: &[f64], beta: f64) {
    let mut gradient = vec![0.0; x.len()];
    model.at(x, beta, &mut gradient);
    let value = |x: &[f64]| {
        let (prior, likelihood) = model.at(x, beta, &mut vec![0.0; x.len()]);
        prior + beta * likelihood
    };
    for i in 0..x.len() {
        let (mut up, mut down) = (x.to_vec(), x.to_vec());
        up[i] += 1e-5;
        down[i] -= 1e-5;
        let difference = (value(&up) - value(&down)) / 2e-5;
        assert!(
            (gradient[i] - difference).abs() < 1e-6 * (1.0 + difference.abs()),
            "{i}: {} {difference}",
            gradient[i]
        );
    }
}

#[test]
fn gradients_are_derivatives() {
    let mut stream = key(1).stream();
    for beta in [0.0, 0.4, 1.0] {
        let problem = Regression::simulate(9, 3, 1.7, 0.6, &mut stream);
        check_gradient(&problem.model, &problem.truth, beta);
        let problem = Logistic::simulate(9, 3, 1.5, 0.5, &mut stream);
        check_gradient(&problem.model, &problem.truth, beta);
        let problem = Scale::simulate(1.5, 0.8, 6, Simulator::Right, &mut stream);
        check_gradient(&problem.model, &problem.truth, beta);
        let problem = Scales::simulate(9, 3, &mut stream);
        check_gradient(&problem.model, &problem.truth, beta);
        for jacobian in [Jacobian::Present, Jacobian::Missing] {
            let problem = Positive::simulate(3, 2.0, 0.7, jacobian, &mut stream);
            check_gradient(&problem.model, &problem.truth, beta);
        }
    }
}

/// Draws of `p_β` have its mean, and the log likelihood's mean is d log Z / dβ: 5 standard errors for 8 means, 5·10⁻⁶.
#[test]
fn draws_have_the_moments_of_the_path() {
    const DRAWS: u32 = 4000;
    let mut stream = key(2).stream();
    let regression = Regression::simulate(6, 2, 1.7, 0.6, &mut stream).model;
    let scale = Scale::simulate(3.0, 0.8, 6, Simulator::Right, &mut stream).model;
    let check = |values: Vec<f64>, truth: f64, what: &str| {
        let n = f64::from(DRAWS);
        let mean = values.iter().sum::<f64>() / n;
        let error = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>()).sqrt() / n;
        assert!((mean - truth).abs() < 5.0 * error, "{what}: {mean} ± {error} for {truth}");
    };
    for beta in [0.2, 1.0] {
        let h = 1e-5;
        let draws: Vec<Vec<f64>> = (0..DRAWS).map(|_| regression.draw(beta, &mut stream)).collect();
        check(draws.iter().map(|w| w[1]).collect(), regression.mean(beta)[1], "mean");
        let slope = (regression.log_normaliser(beta + h) - regression.log_normaliser(beta - h)) / (2.0 * h);
        check(draws.iter().map(|w| regression.at(w, 1.0, &mut [0.0; 2]).1).collect(), slope, "regression");
        let draws = (0..DRAWS).map(|_| scale.draw(beta, &mut stream));
        let slope = (scale.log_normaliser(beta + h) - scale.log_normaliser(beta - h)) / (2.0 * h);
        check(draws.map(|x| scale.at(&x, 1.0, &mut [0.0]).1).collect(), slope, "scale");
    }
}
