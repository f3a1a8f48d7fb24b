//! Time series.

use super::{Case, normals, stream};
use serde_json::json;

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "autoregression",
            program: include_str!("stan/autoregression.stan"),
            data: |d| {
                let s = &mut stream(d);
                let mut y = vec![0.5];
                (1..100).for_each(|t| y.push(0.2 + 0.6 * y[t - 1] + 0.7 * s.standard_normal()));
                json!({"T": 100, "y": y})
            },
        },
        Case {
            name: "moving average",
            program: include_str!("stan/moving_average.stan"),
            data: |d| {
                let s = &mut stream(d);
                let e = normals(90, s);
                let y: Vec<f64> = (0..90).map(|t| 0.4 + e[t] + if t > 0 { 0.5 * e[t - 1] } else { 0.0 }).collect();
                json!({"T": 90, "y": y})
            },
        },
        Case {
            name: "GARCH",
            program: include_str!("stan/garch.stan"),
            data: |d| {
                let s = &mut stream(d);
                let (mut r, mut v) = (Vec::new(), 0.25);
                for _ in 0..150 {
                    let e = f64::sqrt(v) * s.standard_normal();
                    r.push(0.1 + e);
                    v = 0.1 + 0.3 * e * e + 0.4 * v;
                }
                json!({"T": 150, "r": r, "sigma1": 0.5})
            },
        },
        Case {
            name: "local level",
            program: include_str!("stan/local_level.stan"),
            data: |d| {
                let s = &mut stream(d);
                let mut x = 1.0;
                let y: Vec<f64> = (0..40)
                    .map(|_| {
                        x += 0.5 * s.standard_normal();
                        x + 0.6 * s.standard_normal()
                    })
                    .collect();
                json!({"T": 40, "y": y})
            },
        },
        Case {
            name: "stochastic volatility",
            program: include_str!("stan/stochastic_volatility.stan"),
            data: |d| {
                let s = &mut stream(d);
                let mut h = 0.0;
                let y: Vec<f64> = (0..60)
                    .map(|_| {
                        h = 0.9 * h + 0.5 * s.standard_normal();
                        (h / 2.0).exp() * s.standard_normal()
                    })
                    .collect();
                json!({"T": 60, "y": y})
            },
        },
        Case {
            name: "hidden Markov",
            program: include_str!("stan/hidden_markov.stan"),
            data: |d| {
                let s = &mut stream(d);
                let mut high = false;
                let y: Vec<f64> = (0..80)
                    .map(|_| {
                        high ^= s.uniform() < if high { 0.3 } else { 0.2 };
                        s.standard_normal() + if high { 4.0 } else { 1.0 }
                    })
                    .collect();
                json!({"N": 80, "K": 2, "y": y})
            },
        },
    ]
}
