//! Time series.

use super::{Case, normals, stream};
use serde_json::json;

#[expect(clippy::too_many_lines, reason = "a list of programs")]
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "autoregression",
            program: "data { int T; vector[T] y; } parameters { real a; real<lower=-1, upper=1> phi; real<lower=0> sigma; }
                model { a ~ normal(0, 2); sigma ~ exponential(1);
                  for (t in 2:T) y[t] ~ normal(a + phi * y[t - 1], sigma); }",
            data: |d| {
                let s = &mut stream(d);
                let mut y = vec![0.5];
                (1..100).for_each(|t| y.push(0.2 + 0.6 * y[t - 1] + 0.7 * s.standard_normal()));
                json!({"T": 100, "y": y})
            },
        },
        Case {
            name: "moving average",
            program: "data { int<lower=3> T; vector[T] y; } parameters { real mu; real<lower=0> sigma; real<lower=-1, upper=1> theta; }
                transformed parameters { vector[T] epsilon; epsilon[1] = y[1] - mu;
                  for (t in 2:T) epsilon[t] = y[t] - mu - theta * epsilon[t - 1]; }
                model { mu ~ cauchy(0, 2.5); theta ~ cauchy(0, 2.5); sigma ~ cauchy(0, 2.5);
                  for (t in 2:T) y[t] ~ normal(mu + theta * epsilon[t - 1], sigma); }",
            data: |d| {
                let s = &mut stream(d);
                let e = normals(90, s);
                let y: Vec<f64> = (0..90).map(|t| 0.4 + e[t] + if t > 0 { 0.5 * e[t - 1] } else { 0.0 }).collect();
                json!({"T": 90, "y": y})
            },
        },
        Case {
            name: "GARCH",
            program: "data { int<lower=0> T; array[T] real r; real<lower=0> sigma1; }
                parameters { real mu; real<lower=0> alpha0; real<lower=0, upper=1> alpha1; real<lower=0, upper=(1 - alpha1)> beta1; }
                model { array[T] real sigma; sigma[1] = sigma1;
                  for (t in 2:T) sigma[t] = sqrt(alpha0 + alpha1 * square(r[t - 1] - mu) + beta1 * square(sigma[t - 1]));
                  r ~ normal(mu, sigma); }",
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
            program: "data { int T; vector[T] y; } parameters { real x0; vector[T] z; real<lower=0> q; real<lower=0> r; }
                transformed parameters { vector[T] x; x[1] = x0 + q * z[1]; for (t in 2:T) x[t] = x[t - 1] + q * z[t]; }
                model { x0 ~ normal(0, 5); z ~ std_normal(); q ~ normal(0, 1); r ~ normal(0, 1); y ~ normal(x, r); }",
            data: |d| {
                let s = &mut stream(d);
                let mut x = 1.0;
                let y: Vec<f64> = (0..40).map(|_| { x += 0.5 * s.standard_normal(); x + 0.6 * s.standard_normal() }).collect();
                json!({"T": 40, "y": y})
            },
        },
        Case {
            name: "stochastic volatility",
            program: "data { int<lower=0> T; vector[T] y; }
                parameters { real mu; real<lower=-1, upper=1> phi; real<lower=0> sigma; vector[T] h_std; }
                transformed parameters { vector[T] h = h_std * sigma; h[1] /= sqrt(1 - phi * phi); h += mu;
                  for (t in 2:T) h[t] += phi * (h[t - 1] - mu); }
                model { phi ~ uniform(-1, 1); sigma ~ cauchy(0, 5); mu ~ cauchy(0, 10); h_std ~ std_normal(); y ~ normal(0, exp(h / 2)); }",
            data: |d| {
                let s = &mut stream(d);
                let mut h = 0.0;
                let y: Vec<f64> = (0..60).map(|_| { h = 0.9 * h + 0.5 * s.standard_normal(); (h / 2.0).exp() * s.standard_normal() }).collect();
                json!({"T": 60, "y": y})
            },
        },
        Case {
            name: "hidden Markov",
            program: "data { int<lower=1> N; int K; vector[N] y; }
                parameters { array[K] simplex[K] theta; positive_ordered[K] mu; }
                model { vector[K] acc; array[N] vector[K] gamma; mu ~ normal(0, 5); for (k in 1:K) theta[k] ~ dirichlet(rep_vector(2, K));
                  for (k in 1:K) gamma[1, k] = -log(K) + normal_lpdf(y[1] | mu[k], 1);
                  for (t in 2:N) for (k in 1:K) { for (j in 1:K) acc[j] = gamma[t - 1, j] + log(theta[j, k]) + normal_lpdf(y[t] | mu[k], 1);
                    gamma[t, k] = log_sum_exp(acc); }
                  target += log_sum_exp(gamma[N]); }",
            data: |d| {
                let s = &mut stream(d);
                let mut high = false;
                let y: Vec<f64> = (0..80).map(|_| {
                    high ^= s.uniform() < if high { 0.3 } else { 0.2 };
                    if high { 4.0 } else { 1.0 } + s.standard_normal()
                }).collect();
                json!({"N": 80, "K": 2, "y": y})
            },
        },
    ]
}
