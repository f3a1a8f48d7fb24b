//! Regressions and generalised linear models.

use super::{Case, bernoulli, gamma, normals, poisson, stream};
use serde_json::json;

#[expect(clippy::too_many_lines, reason = "a list of programs")]
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "regression",
            program: "data { int N; vector[N] x; vector[N] y; } parameters { real a; real b; real<lower=0> sigma; }
                model { a ~ normal(0, 10); b ~ normal(0, 10); sigma ~ normal(0, 1); y ~ normal(a + b * x, sigma); }",
            data: |d| {
                let s = &mut stream(d);
                let x = normals(50, s);
                let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 1.2 * s.standard_normal()).collect();
                json!({"N": 50, "x": x, "y": y})
            },
        },
        Case {
            name: "regression, flat",
            program: "data { int N; vector[N] x; vector[N] y; } parameters { real a; real b; real<lower=0> sigma; }
                model { y ~ normal(a + b * x, sigma); }",
            data: |d| {
                let s = &mut stream(d);
                let x = normals(30, s);
                let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 1.2 * s.standard_normal()).collect();
                json!({"N": 30, "x": x, "y": y})
            },
        },
        Case {
            name: "logistic",
            program: "data { int N; matrix[N, 2] x; array[N] int<lower=0, upper=1> y; } parameters { real a; vector[2] b; }
                model { a ~ normal(0, 2.5); b ~ normal(0, 2.5); y ~ bernoulli_logit(a + x * b); }",
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<Vec<f64>> = (0..100).map(|_| normals(2, s)).collect();
                let y: Vec<u8> = x.iter().map(|x| bernoulli(0.3 + x[0] - 0.5 * x[1], s)).collect();
                json!({"N": 100, "x": x, "y": y})
            },
        },
        Case {
            name: "poisson",
            program: "data { int N; vector[N] x; array[N] int<lower=0> y; } parameters { real a; real b; }
                model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ poisson_log(a + b * x); }",
            data: |d| {
                let s = &mut stream(d);
                let x = normals(80, s);
                let y: Vec<u32> = x.iter().map(|x| poisson((1.0 + 0.4 * x).exp(), s)).collect();
                json!({"N": 80, "x": x, "y": y})
            },
        },
        Case {
            name: "student noise",
            program: "data { int N; vector[N] y; } parameters { real mu; real<lower=0> sigma; real<lower=1> nu; }
                model { mu ~ normal(0, 5); sigma ~ cauchy(0, 2); nu ~ gamma(2, 0.1); y ~ student_t(nu, mu, sigma); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> = (0..60).map(|_| 1.0 + s.student_t(4.0, 0.0, 1.0).unwrap_or(0.0)).collect();
                json!({"N": 60, "y": y})
            },
        },
        Case {
            name: "gamma and beta",
            program: "data { int N; vector<lower=0, upper=1>[N] y; } parameters { real<lower=0> a; real<lower=0> b; }
                model { a ~ exponential(0.2); b ~ exponential(0.2); y ~ beta(a, b); }",
            data: |d| {
                let s = &mut stream(d);
                let mut gamma = |n: u32| -> f64 { (0..n).map(|_| -s.uniform().ln()).sum() };
                let y: Vec<f64> = (0..50).map(|_| { let (a, b) = (gamma(2), gamma(4)); a / (a + b) }).collect();
                json!({"N": 50, "y": y})
            },
        },
        Case {
            name: "wide regression, QR",
            program: "data { int N; int K; matrix[N, K] X; vector[N] y; }
                transformed data { matrix[N, K] Q = qr_thin_Q(X) * sqrt(N - 1); matrix[K, K] R = qr_thin_R(X) / sqrt(N - 1);
                  matrix[K, K] R_inv = inverse(R); }
                parameters { real alpha; vector[K] theta; real<lower=0> sigma; }
                model { alpha ~ student_t(3, 0, 2.5); theta ~ normal(0, 1); sigma ~ student_t(3, 0, 2.5);
                  y ~ normal(Q * theta + alpha, sigma); }
                generated quantities { vector[K] beta = R_inv * theta; }",
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<Vec<f64>> = (0..80).map(|_| normals(6, s)).collect();
                let y: Vec<f64> = x.iter().map(|x| 1.0 + x[0] - 0.5 * x[3] + 0.9 * s.standard_normal()).collect();
                json!({"N": 80, "K": 6, "X": x, "y": y})
            },
        },
        Case {
            name: "counts, overdispersed",
            program: "data { int<lower=1> N; vector[N] x; array[N] int<lower=0> y; }
                parameters { real alpha; real beta; real<lower=0> inv_phi; }
                transformed parameters { real phi = inv(inv_phi); }
                model { alpha ~ normal(0, 2); beta ~ normal(0, 1); inv_phi ~ exponential(1);
                  y ~ neg_binomial_2_log(alpha + beta * x, phi); }",
            data: |d| {
                let s = &mut stream(d);
                let x = normals(90, s);
                let y: Vec<u32> = x.iter().map(|x| { let g = gamma(2, s) / 2.0; poisson(g * (1.2 + 0.5 * x).exp(), s) }).collect();
                json!({"N": 90, "x": x, "y": y})
            },
        },
        Case {
            name: "zeros and counts",
            program: "data { int N; array[N] int<lower=0> y; } parameters { real<lower=0, upper=1> theta; real<lower=0> lambda; }
                model { theta ~ beta(1, 1); lambda ~ gamma(2, 0.5);
                  for (n in 1:N) { if (y[n] == 0) target += log_sum_exp(bernoulli_lpmf(1 | theta),
                      bernoulli_lpmf(0 | theta) + poisson_lpmf(y[n] | lambda));
                    else target += bernoulli_lpmf(0 | theta) + poisson_lpmf(y[n] | lambda); } }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<u32> = (0..80).map(|_| if s.uniform() < 0.3 { 0 } else { poisson(3.0, s) }).collect();
                json!({"N": 80, "y": y})
            },
        },
        Case {
            name: "ordered answers",
            program: "data { int<lower=2> K; int<lower=0> N; array[N] int<lower=1, upper=K> y; vector[N] x; }
                parameters { real beta; ordered[K - 1] c; }
                model { beta ~ normal(0, 1); c ~ normal(0, 3); for (n in 1:N) y[n] ~ ordered_logistic(x[n] * beta, c); }",
            data: |d| {
                let s = &mut stream(d);
                let x = normals(100, s);
                let y: Vec<usize> = x.iter().map(|x| {
                    let z = 0.8 * x + { let u = s.uniform(); (u / (1.0 - u)).ln() };
                    1 + [-1.0, 0.2, 1.5].iter().filter(|c| z > **c).count()
                }).collect();
                json!({"K": 4, "N": 100, "y": y, "x": x})
            },
        },
        Case {
            name: "binomial, probit",
            program: "data { int N; array[N] int n; array[N] int y; vector[N] dose; } parameters { real a; real<lower=0> b; }
                model { a ~ normal(0, 2); b ~ lognormal(0, 1); y ~ binomial(n, Phi(a + b * dose)); }",
            data: |d| {
                let s = &mut stream(d);
                let dose: Vec<f64> = (0..10).map(|i| -2.0 + 0.45 * f64::from(i)).collect();
                let y: Vec<usize> = dose.iter().map(|x| (0..12).filter(|_| s.standard_normal() < 0.2 + 0.9 * x).count()).collect();
                json!({"N": 10, "n": vec![12; 10], "y": y, "dose": dose})
            },
        },
        Case {
            name: "spread that grows",
            program: "data { int N; vector[N] x; vector[N] y; } parameters { real a; real b; real g0; real g1; }
                model { a ~ normal(0, 5); b ~ normal(0, 5); g0 ~ normal(0, 1); g1 ~ normal(0, 1);
                  y ~ normal(a + b * x, exp(g0 + g1 * x)); }",
            data: |d| {
                let s = &mut stream(d);
                let x = normals(70, s);
                let y: Vec<f64> = x.iter().map(|x| 1.0 - x + (-0.3 + 0.4 * x).exp() * s.standard_normal()).collect();
                json!({"N": 70, "x": x, "y": y})
            },
        },
        Case {
            name: "gamma outcomes, log link",
            program: "data { int N; vector[N] x; vector<lower=0>[N] y; } parameters { real a; real b; real<lower=0> shape; }
                model { a ~ normal(0, 3); b ~ normal(0, 3); shape ~ gamma(0.01, 0.01); y ~ gamma(shape, shape ./ exp(a + b * x)); }",
            data: |d| {
                let s = &mut stream(d);
                let x = normals(60, s);
                let y: Vec<f64> = x.iter().map(|x| gamma(3, s) / 3.0 * (0.5 + 0.6 * x).exp()).collect();
                json!({"N": 60, "x": x, "y": y})
            },
        },
    ]
}
