//! Programs with groups.

use super::{Case, bernoulli, binomial, gamma, groups, normals, poisson, stream};
use serde_json::json;

#[expect(clippy::too_many_lines, reason = "a list of programs")]
pub fn cases() -> Vec<Case> {
    vec![
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
            name: "rates, beta-binomial",
            program: "data { int J; array[J] int n; array[J] int y; }
                parameters { real<lower=0, upper=1> phi; real<lower=1> kappa; vector<lower=0, upper=1>[J] theta; }
                model { kappa ~ pareto(1, 1.5); theta ~ beta(phi * kappa, (1 - phi) * kappa); y ~ binomial(n, theta); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<usize> = (0..14).map(|_| {
                    let (a, b) = (gamma(3, s), gamma(9, s));
                    binomial(25, a / (a + b), s)
                }).collect();
                json!({"J": 14, "n": vec![25; 14], "y": y})
            },
        },
        Case {
            name: "varying slopes, LKJ",
            program: "data { int N; int J; array[N] int g; vector[N] x; vector[N] y; }
                parameters { vector[2] b; vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z; real<lower=0> sigma; }
                transformed parameters { matrix[J, 2] u = (diag_pre_multiply(tau, L) * z)'; }
                model { b ~ normal(0, 5); tau ~ exponential(1); L ~ lkj_corr_cholesky(2); to_vector(z) ~ std_normal();
                  sigma ~ exponential(1); for (n in 1:N) y[n] ~ normal(b[1] + u[g[n], 1] + (b[2] + u[g[n], 2]) * x[n], sigma); }",
            data: |d| {
                let s = &mut stream(d);
                let (x, g) = (normals(150, s), groups(150, 10));
                let u: Vec<(f64, f64)> = (0..10).map(|_| { let z = s.standard_normal(); (0.8 * z, 0.2 * z + 0.4 * s.standard_normal()) }).collect();
                let y: Vec<f64> = x.iter().zip(&g).map(|(x, g)| 1.0 + u[g - 1].0 + (0.5 + u[g - 1].1) * x + 0.7 * s.standard_normal()).collect();
                json!({"N": 150, "J": 10, "g": g, "x": x, "y": y})
            },
        },
        Case {
            name: "counts in groups",
            program: "data { int N; int J; array[N] int g; vector[N] log_e; array[N] int y; }
                parameters { real mu; real<lower=0> tau; vector[J] eta; }
                transformed parameters { vector[J] a = mu + tau * eta; }
                model { mu ~ normal(0, 3); tau ~ student_t(3, 0, 1); eta ~ std_normal(); y ~ poisson_log(a[g] + log_e); }",
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
            program: "data { int N; int A; int B; array[N] int<lower=1> a; array[N] int<lower=1> b; array[N] int y; }
                parameters { real mu; real<lower=0> sa; real<lower=0> sb;
                  vector<offset=0, multiplier=sa>[A] u; vector<multiplier=sb>[B] v; }
                model { mu ~ normal(0, 1.5); sa ~ normal(0, 1); sb ~ normal(0, 1); u ~ normal(0, sa); v ~ normal(0, sb);
                  y ~ bernoulli_logit(mu + u[a] + v[b]); }",
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
