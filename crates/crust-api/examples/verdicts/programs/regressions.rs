//! Regressions and generalised linear models.

use super::{Case, bernoulli, gamma, normals, poisson, stream};
use serde_json::json;

#[expect(clippy::too_many_lines, reason = "a list of programs")]
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "regression",
            program: include_str!("stan/regression.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x = normals(50, s);
                let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 1.2 * s.standard_normal()).collect();
                json!({"N": 50, "x": x, "y": y})
            },
        },
        Case {
            name: "regression, flat",
            program: include_str!("stan/regression_flat.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x = normals(30, s);
                let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 1.2 * s.standard_normal()).collect();
                json!({"N": 30, "x": x, "y": y})
            },
        },
        Case {
            name: "logistic",
            program: include_str!("stan/logistic.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<Vec<f64>> = (0..100).map(|_| normals(2, s)).collect();
                let y: Vec<u8> = x.iter().map(|x| bernoulli(0.3 + x[0] - 0.5 * x[1], s)).collect();
                json!({"N": 100, "x": x, "y": y})
            },
        },
        Case {
            name: "poisson",
            program: include_str!("stan/poisson.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x = normals(80, s);
                let y: Vec<u32> = x.iter().map(|x| poisson((1.0 + 0.4 * x).exp(), s)).collect();
                json!({"N": 80, "x": x, "y": y})
            },
        },
        Case {
            name: "student noise",
            program: include_str!("stan/student_noise.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> = (0..60).map(|_| 1.0 + s.student_t(4.0, 0.0, 1.0).unwrap_or(0.0)).collect();
                json!({"N": 60, "y": y})
            },
        },
        Case {
            name: "gamma and beta",
            program: include_str!("stan/gamma_and_beta.stan"),
            data: |d| {
                let s = &mut stream(d);
                let mut gamma = |n: u32| -> f64 { (0..n).map(|_| -s.uniform().ln()).sum() };
                let y: Vec<f64> = (0..50)
                    .map(|_| {
                        let (a, b) = (gamma(2), gamma(4));
                        a / (a + b)
                    })
                    .collect();
                json!({"N": 50, "y": y})
            },
        },
        Case {
            name: "wide regression, QR",
            program: include_str!("stan/wide_regression_qr.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<Vec<f64>> = (0..80).map(|_| normals(6, s)).collect();
                let y: Vec<f64> = x.iter().map(|x| 1.0 + x[0] - 0.5 * x[3] + 0.9 * s.standard_normal()).collect();
                json!({"N": 80, "K": 6, "X": x, "y": y})
            },
        },
        Case {
            name: "counts, overdispersed",
            program: include_str!("stan/counts_overdispersed.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x = normals(90, s);
                let y: Vec<u32> = x
                    .iter()
                    .map(|x| {
                        let g = gamma(2, s) / 2.0;
                        poisson(g * (1.2 + 0.5 * x).exp(), s)
                    })
                    .collect();
                json!({"N": 90, "x": x, "y": y})
            },
        },
        Case {
            name: "zeros and counts",
            program: include_str!("stan/zeros_and_counts.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<u32> = (0..80).map(|_| if s.uniform() < 0.3 { 0 } else { poisson(3.0, s) }).collect();
                json!({"N": 80, "y": y})
            },
        },
        Case {
            name: "ordered answers",
            program: include_str!("stan/ordered_answers.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x = normals(100, s);
                let y: Vec<usize> = x
                    .iter()
                    .map(|x| {
                        let z = 0.8 * x + {
                            let u = s.uniform();
                            (u / (1.0 - u)).ln()
                        };
                        1 + [-1.0, 0.2, 1.5].iter().filter(|c| z > **c).count()
                    })
                    .collect();
                json!({"K": 4, "N": 100, "y": y, "x": x})
            },
        },
        Case {
            name: "binomial, probit",
            program: include_str!("stan/binomial_probit.stan"),
            data: |d| {
                let s = &mut stream(d);
                let dose: Vec<f64> = (0..10).map(|i| -2.0 + 0.45 * f64::from(i)).collect();
                let y: Vec<usize> =
                    dose.iter().map(|x| (0..12).filter(|_| s.standard_normal() < 0.2 + 0.9 * x).count()).collect();
                json!({"N": 10, "n": vec![12; 10], "y": y, "dose": dose})
            },
        },
        Case {
            name: "spread that grows",
            program: include_str!("stan/spread_that_grows.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x = normals(70, s);
                let y: Vec<f64> = x.iter().map(|x| 1.0 - x + (-0.3 + 0.4 * x).exp() * s.standard_normal()).collect();
                json!({"N": 70, "x": x, "y": y})
            },
        },
        Case {
            name: "gamma outcomes, log link",
            program: include_str!("stan/gamma_outcomes_log_link.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x = normals(60, s);
                let y: Vec<f64> = x.iter().map(|x| gamma(3, s) / 3.0 * (0.5 + 0.6 * x).exp()).collect();
                json!({"N": 60, "x": x, "y": y})
            },
        },
    ]
}
