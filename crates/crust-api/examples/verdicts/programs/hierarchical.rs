//! Programs with groups.

use super::{Case, bernoulli, binomial, gamma, groups, normals, poisson, stream};
use serde_json::json;

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "groups, non-centred",
            program: include_str!("stan/groups_non_centred.stan"),
            data: |d| {
                let s = &mut stream(d);
                let se = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
                let y: Vec<f64> =
                    se.iter().map(|se| 5.0 + 6.0 * s.standard_normal() + se * s.standard_normal()).collect();
                json!({"J": 8, "y": y, "se": se})
            },
        },
        Case {
            name: "varying intercepts",
            program: include_str!("stan/varying_intercepts.stan"),
            data: |d| {
                let s = &mut stream(d);
                let a: Vec<f64> = (0..12).map(|_| 1.0 + s.standard_normal()).collect();
                let y: Vec<f64> = (0..120).map(|n| a[n % 12] + 0.8 * s.standard_normal()).collect();
                json!({"N": 120, "J": 12, "g": (0..120).map(|n| n % 12 + 1).collect::<Vec<_>>(), "y": y})
            },
        },
        Case {
            name: "one-parameter items",
            program: include_str!("stan/one_parameter_items.stan"),
            data: |d| {
                let s = &mut stream(d);
                let b = normals(8, s);
                let theta: Vec<f64> = normals(25, s);
                let y: Vec<Vec<u8>> = theta.iter().map(|t| b.iter().map(|b| bernoulli(t - b, s)).collect()).collect();
                json!({"I": 8, "J": 25, "y": y})
            },
        },
        Case {
            name: "rates, beta-binomial",
            program: include_str!("stan/rates_beta_binomial.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<usize> = (0..14)
                    .map(|_| {
                        let (a, b) = (gamma(3, s), gamma(9, s));
                        binomial(25, a / (a + b), s)
                    })
                    .collect();
                json!({"J": 14, "n": vec![25; 14], "y": y})
            },
        },
        Case {
            name: "varying slopes, LKJ",
            program: include_str!("stan/varying_slopes_lkj.stan"),
            data: |d| {
                let s = &mut stream(d);
                let (x, g) = (normals(150, s), groups(150, 10));
                let u: Vec<(f64, f64)> = (0..10)
                    .map(|_| {
                        let z = s.standard_normal();
                        (0.8 * z, 0.2 * z + 0.4 * s.standard_normal())
                    })
                    .collect();
                let y: Vec<f64> = x
                    .iter()
                    .zip(&g)
                    .map(|(x, g)| 1.0 + u[g - 1].0 + (0.5 + u[g - 1].1) * x + 0.7 * s.standard_normal())
                    .collect();
                json!({"N": 150, "J": 10, "g": g, "x": x, "y": y})
            },
        },
        Case {
            name: "counts in groups",
            program: include_str!("stan/counts_in_groups.stan"),
            data: |d| {
                let s = &mut stream(d);
                let (a, g) = (normals(12, s), groups(60, 12));
                let log_e: Vec<f64> = (0..60).map(|_| s.uniform()).collect();
                let y: Vec<u32> = (0..60).map(|i| poisson((0.5 + 0.5 * a[g[i] - 1] + log_e[i]).exp(), s)).collect();
                json!({"N": 60, "J": 12, "g": g, "log_e": log_e, "y": y})
            },
        },
        Case {
            name: "two ways of grouping",
            program: include_str!("stan/two_ways_of_grouping.stan"),
            data: |d| {
                let s = &mut stream(d);
                let (u, v) = (normals(8, s), normals(5, s));
                let (a, b) = (groups(200, 8), groups(200, 5));
                let y: Vec<u8> = (0..200).map(|i| bernoulli(0.2 + 0.8 * u[a[i] - 1] + 0.5 * v[b[i] - 1], s)).collect();
                json!({"N": 200, "A": 8, "B": 5, "a": a, "b": b, "y": y})
            },
        },
    ]
}
