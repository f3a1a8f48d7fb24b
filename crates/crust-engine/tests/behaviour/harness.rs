//! Small programs, evaluated many lanes at once and one at a time, compared with differences and with values by hand.

use std::sync::Arc;

use crate::common::{agree, bind, evaluate};
use crust_engine::{Include, Model, Terms};
use crust_math::random::{Purpose, StreamKey};

/// The natural logarithm of √(2π).
pub const LOG_ROOT_TAU: f64 = 0.918_938_533_204_672_8;

pub const NORMALISED: Terms = Terms { propto: false, jacobian: true };
pub const PROPTO: Terms = Terms { propto: true, jacobian: true };
pub const NO_JACOBIAN: Terms = Terms { propto: false, jacobian: false };

/// Numbers of lanes: alone, a few, a full vector register, and a register with a rest.
const LANES: [usize; 4] = [1, 3, 8, 17];

/// Points spread evenly over (−1.5, 1.5), the same ones always (a Weyl sequence with one irrational step per
/// dimension).
pub fn spread(count: usize, dimension: usize) -> Vec<Vec<f64>> {
    let coordinate = |i: usize, d: usize| {
        let step = (2.3 + d as f64).sqrt() * 7.31;
        (((i + 1) as f64 * step + 0.31 * d as f64).fract() - 0.5) * 3.0
    };
    (0..count).map(|i| (0..dimension).map(|d| coordinate(i, d)).collect()).collect()
}

/// The derivative of a function along each coordinate by the central difference of fourth order,
/// `(f(x − 2h) − 8 f(x − h) + 8 f(x + h) − f(x + 2h)) / 12h`; its error is `h⁴ f⁽⁵⁾ / 30`.
pub fn differences(x: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let h = 1e-3;
    let mut at = x.to_vec();
    (0..x.len())
        .map(|d| {
            let mut value = |step: f64| {
                at[d] = x[d] + step * h;
                let value = f(&at);
                at[d] = x[d];
                value
            };
            (value(-2.0) - 8.0 * value(-1.0) + 8.0 * value(1.0) - value(2.0)) / (12.0 * h)
        })
        .collect()
}

/// Evaluates 17 points in batches of several sizes, and compares: batches with each other, gradients with differences.
/// Gives the model and its points.
pub fn check(program: &str, data: &str) -> (Arc<Model>, Vec<Vec<f64>>) {
    let model = bind(program, data);
    let points = spread(17, model.dimension());
    check_at(&model, &points);
    (model, points)
}

pub fn check_at(model: &Arc<Model>, points: &[Vec<f64>]) {
    for terms in [NORMALISED, PROPTO, NO_JACOBIAN] {
        let together = evaluate(&mut model.evaluator(), points, None, terms);
        for lanes in LANES {
            let mut evaluator = model.evaluator();
            for (chunk, part) in points.chunks(lanes).enumerate() {
                let found = evaluate(&mut evaluator, part, None, terms);
                for l in 0..part.len() {
                    let at = chunk * lanes + l;
                    for (a, b) in [
                        (found.log_prior[l], together.log_prior[at]),
                        (found.log_likelihood[l], together.log_likelihood[at]),
                    ] {
                        assert!(a.is_finite() && agree(a, b, 1e-12), "{lanes} lanes, point {at}: {a} is not {b}");
                    }
                    for (d, (a, b)) in found.gradient[l].iter().zip(&together.gradient[at]).enumerate() {
                        assert!(agree(*a, *b, 1e-12), "{lanes} lanes, point {at}, gradient {d}: {a} is not {b}");
                    }
                }
            }
        }
        let mut evaluator = model.evaluator();
        for (l, x) in points.iter().enumerate() {
            let slopes = differences(x, |x| evaluate(&mut evaluator, &[x.to_vec()], None, terms).log_density(0));
            for (d, (a, b)) in together.gradient[l].iter().zip(&slopes).enumerate() {
                assert!(agree(*a, *b, 2e-8), "{terms:?} point {l} {x:?}, gradient {d}: {a} is not {b}");
            }
        }
    }
}

/// [`check`], and the normalised log density with Jacobian against a value by hand.
pub fn check_value(program: &str, data: &str, by_hand: impl Fn(&[f64]) -> f64) {
    let (model, points) = check(program, data);
    compare(&model, &points, NORMALISED, by_hand);
}

/// [`check`], and the normalised and the unnormalised log density against values by hand.
pub fn check_both(program: &str, data: &str, normalised: impl Fn(&[f64]) -> f64, propto: impl Fn(&[f64]) -> f64) {
    let (model, points) = check(program, data);
    compare(&model, &points, NORMALISED, normalised);
    compare(&model, &points, PROPTO, propto);
}

pub fn compare(model: &Arc<Model>, points: &[Vec<f64>], terms: Terms, by_hand: impl Fn(&[f64]) -> f64) {
    let found = evaluate(&mut model.evaluator(), points, None, terms);
    for (l, x) in points.iter().enumerate() {
        let (a, b) = (found.log_density(l), by_hand(x));
        assert!(agree(a, b, 1e-11), "{terms:?} at {x:?}: {a} is not {b}");
    }
}

/// Checks that two programs state the same density.
pub fn check_same(one: &str, other: &str, data: &str) {
    let (one, points) = check(one, data);
    let (other, _) = check(other, data);
    for terms in [NORMALISED, PROPTO] {
        let (a, b) = (
            evaluate(&mut one.evaluator(), &points, None, terms),
            evaluate(&mut other.evaluator(), &points, None, terms),
        );
        for l in 0..points.len() {
            let (a, b) = (a.log_density(l), b.log_density(l));
            assert!(agree(a, b, 1e-12), "{terms:?} point {l}: {a} is not {b}");
        }
    }
}

/// Named output numbers at a point.
pub fn quantities(model: &Arc<Model>, x: &[f64]) -> Vec<(String, f64)> {
    let include = Include { transformed: true, generated: true };
    let key = StreamKey::new(1, Purpose::GENERATED);
    let found = model.evaluator().quantities(x, key, include).expect("it runs");
    assert_eq!(found.rejection, None);
    model.output_names(include).into_iter().zip(found.numbers).collect()
}

pub fn normal(y: f64, mu: f64, sigma: f64) -> f64 {
    -0.5 * ((y - mu) / sigma).powi(2) - sigma.ln() - LOG_ROOT_TAU
}

pub fn log_sum_exp(x: &[f64]) -> f64 {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + x.iter().map(|v| (v - most).exp()).sum::<f64>().ln()
}
