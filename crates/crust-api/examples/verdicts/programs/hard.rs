//! Modes that chains do not leave, and funnels that they do not enter.

use super::{Case, bernoulli, normals, stream};
use serde_json::json;

#[expect(clippy::too_many_lines, reason = "a list of programs")]
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "two far modes",
            program: "data { int N; vector[N] y; } parameters { real mu; } model { mu ~ normal(0, 20); y ~ cauchy(mu, 1); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> = (0..20).map(|n| if n < 11 { -15.0 } else { 15.0 } + 0.5 * s.standard_normal()).collect();
                json!({"N": 20, "y": y})
            },
        },
        Case {
            name: "schools, centred",
            program: "data { int J; vector[J] y; vector<lower=0>[J] sigma; } parameters { real mu; real<lower=0> tau; vector[J] theta; }
                model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, sigma); }",
            data: |_| json!({"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}),
        },
        Case {
            name: "funnel",
            program: "data { int D; vector[D] y; } parameters { real v; vector[D] x; }
                model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); y ~ normal(x, 10); }",
            data: |d| {
                let s = &mut stream(d);
                json!({"D": 9, "y": normals(9, s).iter().map(|z| 10.0 * z).collect::<Vec<_>>()})
            },
        },
        Case {
            name: "labels",
            program: "data { int N; vector[N] y; } parameters { vector[2] mu; real<lower=0, upper=1> theta; real<lower=0> sigma; }
                model { mu ~ normal(0, 5); theta ~ beta(2, 2); sigma ~ normal(0, 1);
                  for (n in 1:N) target += log_mix(theta, normal_lpdf(y[n] | mu[1], sigma), normal_lpdf(y[n] | mu[2], sigma)); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> = (0..100).map(|_| if s.uniform() < 0.4 { -2.5 } else { 2.0 } + 0.8 * s.standard_normal()).collect();
                json!({"N": 100, "y": y})
            },
        },
        Case {
            name: "three labels",
            program: "data { int N; vector[N] y; } parameters { simplex[3] w; vector[3] mu; vector<lower=0>[3] sigma; }
                model { mu ~ normal(0, 10); sigma ~ exponential(1); w ~ dirichlet(rep_vector(2, 3));
                  for (n in 1:N) { vector[3] lps = log(w); for (k in 1:3) lps[k] += normal_lpdf(y[n] | mu[k], sigma[k]);
                    target += log_sum_exp(lps); } }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> = (0..150).map(|n| [-5.0, 0.0, 6.0][n % 3] + s.standard_normal()).collect();
                json!({"N": 150, "y": y})
            },
        },
        Case {
            name: "a square",
            program: "data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 5); y ~ normal(square(m), 1); }",
            data: |d| {
                let s = &mut stream(d);
                json!({"N": 20, "y": normals(20, s).iter().map(|z| 9.0 + z).collect::<Vec<_>>()})
            },
        },
        Case {
            name: "signs of a factor",
            program: "data { int N; int D; matrix[N, D] y; } parameters { vector[D] lambda; vector[N] f; vector<lower=0>[D] psi; }
                model { lambda ~ normal(0, 2); f ~ std_normal(); psi ~ exponential(1);
                  for (n in 1:N) y[n] ~ normal(f[n] * lambda', psi); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<Vec<f64>> = (0..40).map(|_| {
                    let f = s.standard_normal();
                    [1.5, 1.0, -1.2, 0.8].iter().map(|l| l * f + 0.5 * s.standard_normal()).collect()
                }).collect();
                json!({"N": 40, "D": 4, "y": y})
            },
        },
        Case {
            name: "signs of items",
            program: "data { int I; int J; array[J, I] int<lower=0, upper=1> y; } parameters { vector[I] a; vector[I] b; vector[J] theta; }
                model { a ~ normal(0, 2); b ~ normal(0, 2); theta ~ std_normal();
                  for (j in 1:J) y[j] ~ bernoulli_logit(a * theta[j] - b); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<Vec<u8>> = (0..60).map(|_| {
                    let theta = s.standard_normal();
                    (0..6).map(|i| bernoulli((1.5 + 0.2 * f64::from(i)) * theta - 0.3, s)).collect()
                }).collect();
                json!({"I": 6, "J": 60, "y": y})
            },
        },
        Case {
            name: "a frequency",
            program: "data { int N; vector[N] t; vector[N] y; } parameters { real<lower=0, upper=10> w; real a; real b; }
                model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(a * sin(w * t) + b * cos(w * t), 0.5); }",
            data: |d| {
                let s = &mut stream(d);
                let t: Vec<f64> = (0..40).map(|i| 0.5 * f64::from(i)).collect();
                let y: Vec<f64> = t.iter().map(|t| (4.0 * t).sin() + 0.5 * s.standard_normal()).collect();
                json!({"N": 40, "t": t, "y": y})
            },
        },
        Case {
            name: "a needle beside a hill",
            program: "data { real y; } parameters { vector[4] x; }
                model { target += log_mix(0.5, normal_lpdf(x | 0, 1), normal_lpdf(x | 8, 0.05)); y ~ normal(sum(x), 100); }",
            data: |_| json!({"y": 3.0}),
        },
    ]
}
