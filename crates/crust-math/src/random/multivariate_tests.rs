use super::super::check::{Probabilities, Sample, normal_cdf, stream};
use super::*;
use crate::linalg::cholesky;
use crate::special::{digamma, gamma_p, inc_beta, trigamma};

const N: usize = 20_000;
const S: [f64; 9] = [2.0, 0.6, -0.3, 0.6, 1.0, 0.4, -0.3, 0.4, 1.5];
const MEAN: [f64; 3] = [1.0, -2.0, 0.5];

/// Directions in which a distribution is looked at.
const DIRECTIONS: [[f64; 3]; 5] =
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -1.0, 2.0], [0.3, 2.0, 1.0]];

/// aᵀ M a
fn quadratic(m: &[f64], a: [f64; 3]) -> f64 {
    (0..9).map(|k| m[k] * a[k % 3] * a[k / 3]).sum()
}

fn inverse(m: &[f64]) -> Vec<f64> {
    let (mut l, mut out) = (m.to_vec(), vec![0.0; 9]);
    cholesky::factor(&mut l, 3).unwrap();
    cholesky::inverse(&l, 3, &mut out);
    out
}

fn draws(seed: u64, mut draw: impl FnMut(&mut Stream, &mut [f64])) -> Vec<Vec<f64>> {
    let mut s = stream(seed);
    (0..N)
        .map(|_| {
            let mut out = vec![0.0; 9];
            draw(&mut s, &mut out);
            out
        })
        .collect()
}

/// Every projection of a vector, in units of its scale, has the distribution function.
fn projections_follow(name: &str, draws: &[Vec<f64>], covariance: &[f64], cdf: impl Fn(f64) -> f64) {
    for a in DIRECTIONS {
        let scale = quadratic(covariance, a).sqrt();
        let project = |x: &[f64]| (0..3).map(|i| a[i] * (x[i] - MEAN[i])).sum::<f64>() / scale;
        Sample(draws.iter().map(|x| project(x)).collect()).follows(name, &cdf);
    }
}

#[test]
fn vectors_have_their_projections() {
    let factor = factor(Domain("test"), "S", &S, 3).unwrap();
    let normal = draws(61, |s, out| s.multi_normal(&MEAN, &S, &mut out[..3]).unwrap());
    projections_follow("multi_normal", &normal, &S, normal_cdf);
    let by_precision = draws(62, |s, out| s.multi_normal_prec(&MEAN, &S, &mut out[..3]).unwrap());
    projections_follow("multi_normal_prec", &by_precision, &inverse(&S), normal_cdf);
    // Student's t with two degrees of freedom
    let t2 = |t: f64| 0.5 + 0.5 * t / (2.0 + t * t).sqrt();
    let student = draws(63, |s, out| s.multi_student_t(2.0, &MEAN, &S, &mut out[..3]).unwrap());
    projections_follow("multi_student_t", &student, &S, t2);
    let student = draws(64, |s, out| s.multi_student_t_cholesky(2.0, &MEAN, &factor, &mut out[..3]).unwrap());
    projections_follow("multi_student_t_cholesky", &student, &S, t2);
}

/// aᵀ W a / aᵀ S a is χ² with ν degrees of freedom; of the inverse, aᵀ S a / aᵀ W a with ν − n + 1.
#[test]
fn covariances_have_their_quadratic_forms() {
    let nu = 4.5;
    let wishart = draws(65, |s, out| s.wishart(nu, &S, out).unwrap());
    let inverse_wishart = draws(66, |s, out| s.inv_wishart(nu, &S, out).unwrap());
    for a in DIRECTIONS {
        let of_scale = quadratic(&S, a);
        let ratios = wishart.iter().map(|w| quadratic(w, a) / of_scale).collect();
        Sample(ratios).follows("wishart", |x| gamma_p(0.5 * nu, 0.5 * x));
        let ratios = inverse_wishart.iter().map(|w| of_scale / quadratic(w, a)).collect();
        Sample(ratios).follows("inv_wishart", |x| gamma_p(0.5 * (nu - 2.0), 0.5 * x));
        // the inverse of an inverse Wishart draw is a Wishart draw
        let of_inverse = quadratic(&inverse(&S), a);
        let ratios = inverse_wishart.iter().map(|w| quadratic(&inverse(w), a) / of_inverse).collect();
        Sample(ratios).follows("inv_wishart", |x| gamma_p(0.5 * nu, 0.5 * x));
    }
    assert!(
        wishart
            .iter()
            .chain(&inverse_wishart)
            .all(|w| w[1].to_bits() == w[3].to_bits() && w[5].to_bits() == w[7].to_bits())
    );
}

#[test]
fn factors_are_lower_triangular() {
    let l = factor(Domain("test"), "S", &S, 3).unwrap();
    let mut s = stream(67);
    let (mut a, mut b, mut c) = ([0.0; 9], [0.0; 9], [0.0; 9]);
    s.wishart_cholesky(3.0, &l, &mut a).unwrap();
    s.inv_wishart_cholesky(3.0, &l, &mut b).unwrap();
    s.lkj_corr_cholesky(3, 2.0, &mut c).unwrap();
    for factor in [a, b, c] {
        check_factor(Domain("test"), "draw", &factor, 3).unwrap();
    }
    for i in 0..3 {
        let row: f64 = (0..3).map(|j| c[j * 3 + i].powi(2)).sum();
        assert!((row - 1.0).abs() < 1e-14);
    }
}

/// (r + 1)/2 is beta with both parameters η − 1 + K/2, and log |R| has the moments that its normaliser's derivatives
/// say.
#[test]
fn correlations_are_beta() {
    for eta in [0.7, 1.0, 3.0] {
        let mut s = stream(68);
        let all: Vec<[f64; 16]> = (0..N)
            .map(|_| {
                let mut out = [0.0; 16];
                s.lkj_corr(4, eta, &mut out).unwrap();
                out
            })
            .collect();
        let a = eta + 1.0;
        for (i, j) in [(0, 1), (0, 3), (1, 2), (2, 3)] {
            let sample = Sample(all.iter().map(|r| 0.5 * (r[i * 4 + j] + 1.0)).collect());
            sample.follows("lkj_corr", |x| inc_beta(a, a, x));
        }
        let log_determinant = |r: &[f64; 16]| {
            let mut l = *r;
            cholesky::factor(&mut l, 4).unwrap();
            2.0 * cholesky::log_diagonal(&l, 4)
        };
        let sum = |f: fn(f64) -> f64| (0..3).map(|k| f(eta + 0.5 * f64::from(k))).sum::<f64>() - 3.0 * f(eta + 1.5);
        Sample(all.iter().map(log_determinant).collect()).has_moments("log |R|", sum(digamma), sum(trigamma));
    }
}

#[test]
fn correlation_matrices_of_any_size() {
    let mut s = stream(69);
    s.lkj_corr_cholesky(0, 1.0, &mut []).unwrap();
    let mut one = [0.0];
    s.lkj_corr(1, 1.0, &mut one).unwrap();
    assert!((one[0] - 1.0).abs() < f64::MIN_POSITIVE);
}

#[test]
fn counts_have_their_margins() {
    let mut s = stream(70);
    let (mut logit, mut dirichlet) = (vec![], vec![]);
    for _ in 0..N {
        let mut out = [0; 3];
        s.multinomial_logit(12, &[1e3, 1e3 + 1.0, 999.5], &mut out).unwrap();
        logit.push(out[1]);
        s.dirichlet_multinomial(12, &[0.5, 2.0, 1.5], &mut out).unwrap();
        assert_eq!(out.iter().sum::<i64>(), 12);
        dirichlet.push(out[1]);
    }
    let odds = 1_f64.exp() / (1.0 + (-0.5_f64).exp());
    Probabilities::from_ratios(0, 6, 12, |k| odds * float(12 - k) / float(k + 1)).describe("multinomial_logit", &logit);
    let up = |k: i64| float(12 - k) * (2.0 + float(k)) / (float(k + 1) * (2.0 + float(11 - k)));
    Probabilities::from_ratios(0, 6, 12, up).describe("dirichlet_multinomial", &dirichlet);
}

#[test]
fn ordered_categories_have_their_probabilities() {
    let (cuts, location) = ([-1.0, 0.2, 1.5], 0.4);
    let cells = |cdf: &dyn Fn(f64) -> f64| {
        let at: Vec<f64> = cuts.iter().map(|c| cdf(c - location)).collect();
        Probabilities { first: 0, p: vec![at[0], at[1] - at[0], at[2] - at[1], 1.0 - at[2]] }
    };
    let mut s = stream(71);
    let index = |i: usize| i64::try_from(i).unwrap();
    let logistic: Vec<i64> = (0..N).map(|_| index(s.ordered_logistic(location, &cuts).unwrap())).collect();
    cells(&|x| 1.0 / (1.0 + (-x).exp())).describe("ordered_logistic", &logistic);
    let probit: Vec<i64> = (0..N).map(|_| index(s.ordered_probit(location, &cuts).unwrap())).collect();
    cells(&normal_cdf).describe("ordered_probit", &probit);
}

/// All eight ways through two states in three times.
#[test]
fn hidden_states_are_joint() {
    let log_omega = [-0.3, -1.0, -1e4, -1e4 - 0.5, 0.2, 0.9];
    let gamma = [0.7, 0.4, 0.3, 0.6];
    let rho = [0.25, 0.75];
    let mut p = vec![];
    for way in 0..8_usize {
        let x = [way & 1, way >> 1 & 1, way >> 2];
        let seen: f64 = (0..3).map(|t| log_omega[t * 2 + x[t]]).sum();
        p.push((seen + 1e4).exp() * rho[x[0]] * gamma[x[1] * 2 + x[0]] * gamma[x[2] * 2 + x[1]]);
    }
    let total: f64 = p.iter().sum();
    let mut s = stream(72);
    let ways: Vec<i64> = (0..N)
        .map(|_| {
            let mut x = [0; 3];
            s.hmm_latent(&log_omega, &gamma, &rho, &mut x).unwrap();
            i64::try_from(x[0] | x[1] << 1 | x[2] << 2).unwrap()
        })
        .collect();
    Probabilities { first: 0, p: p.iter().map(|p| p / total).collect() }.describe("hmm_latent", &ways);
}

#[test]
fn impossible_parameters_are_errors() {
    let mut s = stream(73);
    let mut out = [0.0; 9];
    let indefinite = [1.0, 2.0, 2.0, 1.0];
    assert!(s.multi_normal(&[0.0; 2], &indefinite, &mut out[..2]).is_err());
    assert!(s.multi_normal(&[0.0, f64::NAN], &[1.0, 0.0, 0.0, 1.0], &mut out[..2]).is_err());
    assert!(s.wishart(1.5, &S, &mut out).is_err());
    assert!(s.inv_wishart_cholesky(4.0, &S, &mut out).is_err());
    assert!(s.lkj_corr(3, 0.0, &mut out).is_err());
    assert!(s.ordered_logistic(0.0, &[]).is_err());
    assert!(s.ordered_probit(0.0, &[1.0, 0.5]).is_err());
    assert!(s.hmm_latent(&[0.0, 0.0], &[0.5, 0.5, 0.4, 0.5], &[0.5, 0.5], &mut [0]).is_err());
}
