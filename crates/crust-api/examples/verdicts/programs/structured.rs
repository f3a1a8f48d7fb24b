//! Survival, mixtures, processes, items and likelihoods by hand.

use super::{Case, bernoulli, choice, normals, stream};
use serde_json::json;

#[expect(clippy::too_many_lines, reason = "a list of programs")]
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "survival, censored",
            program: include_str!("stan/survival_censored.stan"),
            data: |d| {
                let s = &mut stream(d);
                let all: Vec<f64> = (0..60).map(|_| -s.uniform().ln() / 0.5).collect();
                let t: Vec<f64> = all.iter().map(|t| t.min(3.0)).collect();
                let seen: Vec<u8> = all.iter().map(|t| u8::from(*t < 3.0)).collect();
                json!({"N": 60, "t": t, "seen": seen})
            },
        },
        Case {
            name: "Weibull, censored",
            program: include_str!("stan/weibull_censored.stan"),
            data: |d| {
                let s = &mut stream(d);
                let all: Vec<(f64, f64)> = (0..80)
                    .map(|_| {
                        let x = s.standard_normal();
                        ((-s.uniform().ln()).powf(1.0 / 1.5) * (-(-0.5 + 0.6 * x) / 1.5_f64).exp(), x)
                    })
                    .collect();
                let (seen, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(|(t, _)| *t < 2.0);
                json!({"N_obs": seen.len(), "N_cen": lost.len(), "t_obs": seen.iter().map(|s| s.0).collect::<Vec<_>>(),
                    "x_obs": seen.iter().map(|s| s.1).collect::<Vec<_>>(), "t_cen": vec![2.0; lost.len()],
                    "x_cen": lost.iter().map(|s| s.1).collect::<Vec<_>>()})
            },
        },
        Case {
            name: "mixture, ordered",
            program: include_str!("stan/mixture_ordered.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> =
                    (0..120).map(|_| if s.uniform() < 0.4 { -2.0 } else { 1.5 } + 0.8 * s.standard_normal()).collect();
                json!({"N": 120, "y": y})
            },
        },
        Case {
            name: "Gaussian process",
            program: include_str!("stan/gaussian_process.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<f64> = (0..25).map(|i| -3.0 + 0.25 * f64::from(i)).collect();
                let (a, b) = (s.standard_normal(), s.standard_normal());
                let y: Vec<f64> =
                    x.iter().map(|x| 0.8 * (a * x.sin() + b * x.cos()) + 0.4 * s.standard_normal()).collect();
                json!({"N": 25, "x": x, "y": y})
            },
        },
        Case {
            name: "correlated outcomes",
            program: include_str!("stan/correlated_outcomes.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<[f64; 3]> = (0..60)
                    .map(|_| {
                        let z = normals(3, s);
                        [1.0 + z[0], 0.6 * z[0] + 0.8 * z[1], -1.0 + 1.5 * z[2] - 0.5 * z[0]]
                    })
                    .collect();
                json!({"N": 60, "y": y})
            },
        },
        Case {
            name: "choices, softmax",
            program: include_str!("stan/choices_softmax.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<Vec<f64>> = (0..100)
                    .map(|_| {
                        let mut x = normals(2, s);
                        x.insert(0, 1.0);
                        x
                    })
                    .collect();
                let y: Vec<usize> = x
                    .iter()
                    .map(|x| {
                        let w = [1.0, (0.5 + x[1]).exp(), (-0.5 + 0.8 * x[2]).exp()];
                        let sum: f64 = w.iter().sum();
                        choice(&w.map(|w| w / sum), s)
                    })
                    .collect();
                json!({"K": 3, "N": 100, "D": 3, "y": y, "x": x})
            },
        },
        Case {
            name: "growth curve",
            program: include_str!("stan/growth_curve.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<f64> = (0..27).map(|i| 1.0 + f64::from(i)).collect();
                let y: Vec<f64> =
                    x.iter().map(|x| 2.6 - 0.97 * 0.87_f64.powf(*x) + 0.1 * s.standard_normal()).collect();
                json!({"N": 27, "x": x, "Y": y})
            },
        },
        Case {
            name: "two-parameter items",
            program: include_str!("stan/two_parameter_items.stan"),
            data: |d| {
                let s = &mut stream(d);
                let (theta, beta) = (normals(20, s), normals(5, s));
                let (ii, jj): (Vec<_>, Vec<_>) =
                    ((0..100).map(|n| n % 5 + 1).collect(), (0..100).map(|n| n / 5 + 1).collect());
                let y: Vec<u8> = (0..100).map(|n| bernoulli(1.2 * (theta[n / 5] - beta[n % 5]), s)).collect();
                json!({"I": 5, "J": 20, "N": 100, "ii": ii, "jj": jj, "y": y})
            },
        },
        Case {
            name: "captured again",
            program: include_str!("stan/captured_again.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<Vec<u8>> = (0..100)
                    .map(|_| {
                        let here = s.uniform() < 0.6;
                        (0..5).map(|_| u8::from(s.uniform() < 0.4 && here)).collect()
                    })
                    .collect();
                json!({"M": 100, "T": 5, "y": y})
            },
        },
    ]
}
