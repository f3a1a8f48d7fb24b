//! Ordinary programs, each with data that come from it.

use crust_math::random::{Purpose, Stream, StreamKey};
use serde_json::{Value, json};

/// A program with a way to draw its data.
pub struct Case {
    pub name: &'static str,
    pub program: &'static str,
    pub data: fn(u64) -> Value,
}

fn stream(dataset: u64) -> Stream {
    StreamKey::new(dataset, Purpose::DATA).stream()
}

fn normals(n: usize, s: &mut Stream) -> Vec<f64> {
    (0..n).map(|_| s.standard_normal()).collect()
}

fn bernoulli(logit: f64, s: &mut Stream) -> u8 {
    u8::from(s.uniform() < 1.0 / (1.0 + (-logit).exp()))
}

fn poisson(rate: f64, s: &mut Stream) -> u32 {
    let (mut p, mut n) = (s.uniform(), 0);
    while p > (-rate).exp() {
        p *= s.uniform();
        n += 1;
    }
    n
}

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
            name: "groups, non-centred",
            program: "data { int J; vector[J] y; vector<lower=0>[J] se; }
                parameters { real mu; real<lower=0> tau; vector[J] z; }
                model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); z ~ normal(0, 1); y ~ normal(mu + tau * z, se); }",
            data: |d| {
                let s = &mut stream(d);
                let se = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
                let y: Vec<f64> = se.iter().map(|se| 5.0 + 6.0 * s.standard_normal() + se * s.standard_normal()).collect();
                json!({"J": 8, "y": y, "se": se})
            },
        },
        Case {
            name: "varying intercepts",
            program: "data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] y; }
                parameters { vector[J] a; real mu; real<lower=0> tau; real<lower=0> sigma; }
                model { mu ~ normal(0, 5); tau ~ normal(0, 2); sigma ~ normal(0, 2); a ~ normal(mu, tau);
                  for (n in 1:N) y[n] ~ normal(a[g[n]], sigma); }",
            data: |d| {
                let s = &mut stream(d);
                let a: Vec<f64> = (0..12).map(|_| 1.0 + s.standard_normal()).collect();
                let y: Vec<f64> = (0..120).map(|n| a[n % 12] + 0.8 * s.standard_normal()).collect();
                json!({"N": 120, "J": 12, "g": (0..120).map(|n| n % 12 + 1).collect::<Vec<_>>(), "y": y})
            },
        },
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
            name: "survival, censored",
            program: "data { int N; vector<lower=0>[N] t; array[N] int<lower=0, upper=1> seen; }
                parameters { real<lower=0> rate; }
                model { rate ~ gamma(1, 1);
                  for (n in 1:N) { if (seen[n]) t[n] ~ exponential(rate); else target += exponential_lccdf(t[n] | rate); } }",
            data: |d| {
                let s = &mut stream(d);
                let all: Vec<f64> = (0..60).map(|_| -s.uniform().ln() / 0.5).collect();
                let t: Vec<f64> = all.iter().map(|t| t.min(3.0)).collect();
                let seen: Vec<u8> = all.iter().map(|t| u8::from(*t < 3.0)).collect();
                json!({"N": 60, "t": t, "seen": seen})
            },
        },
        Case {
            name: "one-parameter items",
            program: "data { int I; int J; array[J, I] int<lower=0, upper=1> y; }
                parameters { vector[J] theta; vector[I] b; real<lower=0> s; }
                model { s ~ exponential(1); theta ~ normal(0, s); b ~ normal(0, 2);
                  for (j in 1:J) y[j] ~ bernoulli_logit(theta[j] - b); }",
            data: |d| {
                let s = &mut stream(d);
                let b = normals(8, s);
                let theta: Vec<f64> = normals(25, s);
                let y: Vec<Vec<u8>> = theta.iter().map(|t| b.iter().map(|b| bernoulli(t - b, s)).collect()).collect();
                json!({"I": 8, "J": 25, "y": y})
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
    ]
}
