//! Problems whose log p(y) is known: conjugate ones, and those with one or two parameters that are left after others
//! have been integrated out by hand.

use super::truth::{cauchy, line, log_sum_exp, multi_normal, normal, plane};
use crust_math::special::lgamma;
use serde_json::{Value, json};

/// A program with data and the logarithm of its marginal likelihood.
pub struct Known {
    pub name: &'static str,
    pub program: &'static str,
    pub data: Value,
    pub log_z: f64,
}

/// Numbers that look like noise.
fn noise(n: u32, phase: f64) -> Vec<f64> {
    (0..n).map(|i| (1.3 * f64::from(i) + phase).sin() + 0.7 * (2.9 * f64::from(i) * (1.0 + phase)).cos()).collect()
}

fn ln_beta(a: f64, b: f64) -> f64 {
    lgamma(a) + lgamma(b) - lgamma(a + b)
}

const LN_2: f64 = std::f64::consts::LN_2;

const MEAN: &str = "data { int N; vector[N] y; real s; } parameters { real mu; }
    model { mu ~ normal(0, s); y ~ normal(mu, 1); }";

const COIN: &str = "data { int n; int k; real a; real b; } parameters { real<lower=0, upper=1> p; }
    model { p ~ beta(a, b); k ~ binomial(n, p); }";

const REGRESSION: &str = "data { int N; int K; matrix[N, K] x; vector[N] y; } parameters { vector[K] b; }
    model { b ~ normal(0, 2); y ~ normal(x * b, 1); }";

const CAUCHY: &str = "data { int N; vector[N] y; } parameters { real mu; }
    model { mu ~ normal(0, 20); y ~ cauchy(mu, 1); }";

pub fn all() -> Vec<Known> {
    let mut list = conjugate();
    list.extend(regressions());
    list.extend(scales());
    list.extend(modes());
    list.extend(cut());
    list.extend(hierarchies());
    list.extend(generalised());
    list
}

fn conjugate() -> Vec<Known> {
    let mean = |name, n, s: f64| {
        let y = noise(n, 0.3);
        let covariance: Vec<Vec<f64>> =
            (0..y.len()).map(|i| (0..y.len()).map(|j| s * s + f64::from(u8::from(i == j))).collect()).collect();
        Known { name, program: MEAN, data: json!({"N": n, "y": y, "s": s}), log_z: multi_normal(&y, covariance) }
    };
    let coin = |name, n: u32, k: u32, a: f64, b: f64| {
        let (m, j) = (f64::from(n), f64::from(k));
        let choose = lgamma(m + 1.0) - lgamma(j + 1.0) - lgamma(m - j + 1.0);
        let log_z = choose + ln_beta(a + j, b + m - j) - ln_beta(a, b);
        Known { name, program: COIN, data: json!({"n": n, "k": k, "a": a, "b": b}), log_z }
    };
    let counts = [3, 0, 5, 2, 4, 1];
    let (total, n): (i32, f64) = (counts.iter().sum(), 6.0);
    let (total, factorials) = (f64::from(total), counts.iter().map(|c| lgamma(f64::from(*c) + 1.0)).sum::<f64>());
    let poisson = Known {
        name: "gamma-poisson",
        program: "data { int N; array[N] int y; } parameters { real<lower=0> r; }
            model { r ~ gamma(2, 0.5); y ~ poisson(r); }",
        data: json!({"N": 6, "y": counts}),
        log_z: 2.0 * 0.5_f64.ln() + lgamma(2.0 + total) - lgamma(2.0) - (2.0 + total) * (0.5 + n).ln() - factorials,
    };
    let waits = [0.3, 1.9, 0.8, 2.2, 0.1];
    let sum: f64 = waits.iter().sum();
    let exponential = Known {
        name: "gamma-exponential",
        program: "data { vector[5] y; } parameters { real<lower=0> r; } model { r ~ exponential(1); y ~ exponential(r); }",
        data: json!({"y": waits}),
        log_z: lgamma(6.0) - 6.0 * (1.0 + sum).ln(),
    };
    let cells = [4.0, 1.0, 0.0, 7.0];
    let alpha = 0.7;
    let dirichlet = Known {
        name: "dirichlet-multinomial",
        program: "data { array[4] int y; } parameters { simplex[4] p; }
            model { p ~ dirichlet(rep_vector(0.7, 4)); y ~ multinomial(p); }",
        data: json!({"y": [4, 1, 0, 7]}),
        log_z: lgamma(13.0) - cells.iter().map(|c| lgamma(c + 1.0)).sum::<f64>() + lgamma(4.0 * alpha)
            - lgamma(4.0 * alpha + 12.0)
            + cells.iter().map(|c| lgamma(alpha + c) - lgamma(alpha)).sum::<f64>(),
    };
    vec![
        mean("normal mean", 5, 10.0),
        mean("normal mean, wide prior", 5, 1000.0),
        coin("coin", 20, 3, 1.0, 1.0),
        coin("coin, no success", 30, 0, 1.0, 1.0),
        coin("coin, Jeffreys' prior", 12, 1, 0.5, 0.5),
        poisson,
        exponential,
        dirichlet,
    ]
}

fn regressions() -> Vec<Known> {
    let regression = |name, n: u32, k: u32| {
        let x: Vec<Vec<f64>> = (0..n).map(|i| noise(k, 0.37 * f64::from(i))).collect();
        let y = noise(n, 2.1);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let entry = |i: usize, j: usize| 4.0 * dot(&x[i], &x[j]) + f64::from(u8::from(i == j));
        let covariance: Vec<Vec<f64>> = (0..y.len()).map(|i| (0..y.len()).map(|j| entry(i, j)).collect()).collect();
        let log_z = multi_normal(&y, covariance);
        Known { name, program: REGRESSION, data: json!({"N": n, "K": k, "x": x, "y": y}), log_z }
    };
    let walk = {
        let y = noise(12, 1.7);
        let covariance: Vec<Vec<f64>> = (0..12)
            .map(|i: usize| {
                let noise = |j: usize| f64::from(u8::from(i == j)) * 0.25;
                (0..12).map(|j| f64::from(u32::try_from(i.min(j) + 1).unwrap_or(0)) + noise(j)).collect()
            })
            .collect();
        Known {
            name: "random walk",
            program: "data { int N; vector[N] y; } parameters { vector[N] z; }
                model { z[1] ~ normal(0, 1); for (t in 2:N) z[t] ~ normal(z[t - 1], 1); y ~ normal(z, 0.5); }",
            data: json!({"N": 12, "y": y}),
            log_z: multi_normal(&y, covariance),
        }
    };
    vec![
        regression("regression, 1 weight", 10, 1),
        regression("regression, 3 weights", 50, 3),
        regression("regression, 10 weights", 100, 10),
        regression("regression, more weights than data", 12, 20),
        walk,
    ]
}

fn scales() -> Vec<Known> {
    let y = noise(15, 0.9);
    let fit = |mu: f64, log_s: f64| y.iter().map(|y| normal(*y, mu, log_s.exp())).sum::<f64>();
    let data = json!({"N": 15, "y": y});
    let wide = (-14.0, 12.0);
    let few = [2.0, 2.5, 4.0];
    vec![
        Known {
            name: "scale, half-normal",
            program: "data { int N; vector[N] y; } parameters { real<lower=0> s; }
                model { s ~ normal(0, 1); y ~ normal(0, s); }",
            data: data.clone(),
            log_z: line(|u| LN_2 + normal(u.exp(), 0.0, 1.0) + u + fit(0.0, u), wide),
        },
        Known {
            name: "scale, half-Cauchy",
            program: "data { int N; vector[N] y; } parameters { real<lower=0> s; }
                model { s ~ cauchy(0, 5); y ~ normal(0, s); }",
            data: data.clone(),
            log_z: line(|u| LN_2 + cauchy(u.exp(), 0.0, 5.0) + u + fit(0.0, u), wide),
        },
        Known {
            name: "location and scale",
            program: "data { int N; vector[N] y; } parameters { real mu; real<lower=0> s; }
                model { mu ~ normal(0, 5); s ~ exponential(1); y ~ normal(mu, s); }",
            data: data.clone(),
            log_z: plane(|mu, u| normal(mu, 0.0, 5.0) - u.exp() + u + fit(mu, u), (-6.0, 6.0), (-5.0, 5.0)),
        },
        Known {
            name: "location and scale, vague priors, three data",
            program: "data { vector[3] y; } parameters { real mu; real<lower=0> s; }
                model { mu ~ normal(0, 100); s ~ normal(0, 100); y ~ normal(mu, s); }",
            data: json!({"y": few}),
            log_z: {
                // The mean is integrated out: s² I + 10⁴.
                let row = |i: usize, u: f64| -> Vec<f64> {
                    (0..3).map(|j| 1e4 + f64::from(u8::from(i == j)) * (2.0 * u).exp()).collect()
                };
                let inner = |u: f64| multi_normal(&few, (0..3).map(|i| row(i, u)).collect());
                line(|u| LN_2 + normal(u.exp(), 0.0, 100.0) + u + inner(u), (-10.0, 7.5))
            },
        },
        Known {
            name: "scale, lognormal",
            program: "data { int N; vector[N] y; } parameters { real<lower=0> s; }
                model { s ~ lognormal(0, 2); y ~ normal(0, s); }",
            data,
            log_z: line(|u| normal(u, 0.0, 2.0) + fit(0.0, u), wide),
        },
    ]
}

fn modes() -> Vec<Known> {
    let heavy: Vec<f64> = noise(8, 0.1);
    let apart: Vec<f64> =
        noise(20, 0.5).iter().enumerate().map(|(i, e)| if i < 11 { e - 15.0 } else { e + 15.0 }).collect();
    let location = |name, y: Vec<f64>| {
        let f = |mu: f64| normal(mu, 0.0, 20.0) + y.iter().map(|y| cauchy(*y, mu, 1.0)).sum::<f64>();
        Known { name, program: CAUCHY, log_z: line(f, (-200.0, 200.0)), data: json!({"N": y.len(), "y": y}) }
    };
    let square = |t: f64| normal(t, 0.0, 2.0) + normal(3.0, t * t, 0.5) + normal(3.4, t * t, 0.5);
    let pairs = [-2.1, -1.8, 1.7, 2.4, 2.0, -2.2];
    let pair = |a: f64, b: f64| {
        let of = |y: &f64| log_sum_exp(&[normal(*y, a, 1.0), normal(*y, b, 1.0)]) - LN_2;
        normal(a, 0.0, 3.0) + normal(b, 0.0, 3.0) + pairs.iter().map(of).sum::<f64>()
    };
    let banana = |a: f64, b: f64| {
        normal(a, 0.0, 1.0) + normal(b, 0.0, 1.0) + normal(1.0, a + b * b, 0.3) + normal(1.2, a + b * b, 0.3)
    };
    vec![
        location("Cauchy location", heavy),
        location("Cauchy location, two modes", apart),
        Known {
            name: "two signs",
            program: "data { vector[2] y; } parameters { real t; }
                model { t ~ normal(0, 2); y ~ normal(square(t), 0.5); }",
            data: json!({"y": [3.0, 3.4]}),
            log_z: line(square, (-12.0, 12.0)),
        },
        Known {
            name: "mixture, labels exchangeable",
            program: "data { vector[6] y; } parameters { vector[2] m; }
                model { m ~ normal(0, 3); for (n in 1:6) target += log_mix(0.5, normal_lpdf(y[n] | m[1], 1),
                normal_lpdf(y[n] | m[2], 1)); }",
            data: json!({"y": pairs}),
            log_z: plane(pair, (-12.0, 12.0), (-12.0, 12.0)),
        },
        Known {
            name: "banana",
            program: "data { vector[2] y; } parameters { real a; real b; }
                model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(a + b * b, 0.3); }",
            data: json!({"y": [1.0, 1.2]}),
            log_z: plane(banana, (-7.0, 7.0), (-7.0, 7.0)),
        },
    ]
}

fn cut() -> Vec<Known> {
    let y = [0.7, 2.1, 1.4, 2.9];
    // ∫ over theta > 2.9 of 0.1 e^(−0.1 t) t^−4
    let uniform = line(|u| 0.1_f64.ln() - 0.1 * u.exp() + u - 4.0 * u, (2.9_f64.ln(), 9.0));
    let shifted = line(|c| normal(c, 0.0, 3.0) + y.iter().map(|y| -(y - c)).sum::<f64>(), (-40.0, 0.7));
    let cuts = {
        // An ordered pair is a pair in one of two orders.
        let pair = |a: f64, b: f64| normal(a, 0.0, 1.0) + normal(b, 0.0, 1.0) + normal(0.4, a.max(b) - a.min(b), 0.5);
        plane(pair, (-8.0, 8.0), (-8.0, 8.0))
    };
    let share = line(|p| 8.0 * p.ln() + 5.0 * (1.0 - p).ln(), (0.2, 0.6)) - 0.4_f64.ln() + lgamma(14.0)
        - lgamma(9.0)
        - lgamma(6.0);
    vec![
        Known {
            name: "uniform to an unknown end",
            program: "data { vector[4] y; } parameters { real<lower=0> t; }
                model { t ~ exponential(0.1); y ~ uniform(0, t); }",
            data: json!({"y": y}),
            log_z: uniform,
        },
        Known {
            name: "shifted exponential",
            program: "data { vector[4] y; } parameters { real c; }
                model { c ~ normal(0, 3); y - c ~ exponential(1); }",
            data: json!({"y": y}),
            log_z: shifted,
        },
        Known {
            name: "ordered pair",
            program: "data { real y; } parameters { ordered[2] c; }
                model { c ~ normal(0, 1); y ~ normal(c[2] - c[1], 0.5); }",
            data: json!({"y": 0.4}),
            log_z: cuts,
        },
        Known {
            name: "share between bounds",
            program: "data { int k; } parameters { real<lower=0.2, upper=0.6> p; } model { k ~ binomial(13, p); }",
            data: json!({"k": 8}),
            log_z: share,
        },
    ]
}

fn hierarchies() -> Vec<Known> {
    let (y, s) = ([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]);
    let data = json!({"y": y, "s": s});
    // Effects are integrated out, then the mean by completing the square: N(y; 0, diag(s² + t²) + 25).
    let given = |t: f64| {
        let entry = |i: usize, j: usize| 25.0 + if i == j { s[i] * s[i] + t * t } else { 0.0 };
        multi_normal(&y, (0..8).map(|i| (0..8).map(|j| entry(i, j)).collect()).collect())
    };
    let schools = |prior: &dyn Fn(f64) -> f64| line(|u| prior(u.exp()) + u + given(u.exp()), (-12.0, 12.0));
    let half_cauchy = schools(&|t| LN_2 + cauchy(t, 0.0, 5.0));
    let means = noise(10, 1.1);
    let funnel = |v: f64| {
        let deviation = (1.0 + v.exp()).sqrt();
        normal(v, 0.0, 1.5) + means.iter().map(|y| normal(*y, 0.0, deviation)).sum::<f64>()
    };
    vec![
        Known {
            name: "eight schools, non-centred",
            program: "data { vector[8] y; vector[8] s; } parameters { real mu; real<lower=0> tau; vector[8] z; }
                model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); z ~ normal(0, 1); y ~ normal(mu + tau * z, s); }",
            data: data.clone(),
            log_z: half_cauchy,
        },
        Known {
            name: "eight schools, centred",
            program: "data { vector[8] y; vector[8] s; } parameters { real mu; real<lower=0> tau; vector[8] theta; }
                model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, s); }",
            data: data.clone(),
            log_z: half_cauchy,
        },
        Known {
            name: "eight schools, effects summed out",
            program: "data { vector[8] y; vector[8] s; } parameters { real mu; real<lower=0> tau; }
                model { mu ~ normal(0, 5); tau ~ exponential(0.1); y ~ normal(mu, sqrt(square(s) + square(tau))); }",
            data,
            log_z: schools(&|t| 0.1_f64.ln() - 0.1 * t),
        },
        Known {
            name: "funnel with data",
            program: "data { int N; vector[N] y; } parameters { real v; vector[N] x; }
                model { v ~ normal(0, 1.5); x ~ normal(0, exp(v / 2)); y ~ normal(x, 1); }",
            data: json!({"N": 10, "y": means}),
            log_z: line(funnel, (-20.0, 20.0)),
        },
    ]
}

fn generalised() -> Vec<Known> {
    let x: Vec<f64> = noise(25, 0.2);
    let outcome: Vec<u8> =
        x.iter().enumerate().map(|(i, x)| u8::from(x + f64::from(u8::from(i % 3 == 0)) > 0.4)).collect();
    let logistic = |a: f64, b: f64| {
        let term = |(x, y): (&f64, &u8)| {
            let eta = a + b * x;
            -(if *y == 1 { -eta } else { eta }).exp().ln_1p()
        };
        normal(a, 0.0, 2.5) + normal(b, 0.0, 2.5) + x.iter().zip(&outcome).map(term).sum::<f64>()
    };
    let counts: Vec<u8> = (0..25_u8).map(|i| (i * 7 + 3) % 5).collect();
    let poisson = |a: f64, b: f64| {
        let term = |(x, y): (&f64, &u8)| f64::from(*y) * (a + b * x) - (a + b * x).exp() - lgamma(f64::from(*y) + 1.0);
        normal(a, 0.0, 2.0) + normal(b, 0.0, 1.0) + x.iter().zip(&counts).map(term).sum::<f64>()
    };
    let waits = [0.5, 1.7, 2.2, 0.9, 3.0, 3.0];
    // Shape and scale on the log scale; the last two are censored at 3.
    let weibull = |u: f64, v: f64| {
        let (shape, scale) = (u.exp(), v.exp());
        let term = |(i, t): (usize, &f64)| {
            let rest = -(t / scale).powf(shape);
            if i < 4 { rest + u - v + (shape - 1.0) * (t.ln() - v) } else { rest }
        };
        normal(u, 0.0, 0.5) + normal(v, 0.0, 1.0) + waits.iter().enumerate().map(term).sum::<f64>()
    };
    let robust = |a: f64, u: f64| {
        // Student's t with 3 degrees of freedom.
        let term = |y: &f64| {
            let z = (y - a) / u.exp();
            lgamma(2.0) - lgamma(1.5) - 0.5 * (3.0 * std::f64::consts::PI).ln() - u - 2.0 * (z * z / 3.0).ln_1p()
        };
        normal(a, 0.0, 3.0) + LN_2 + normal(u.exp(), 0.0, 2.0) + u + x.iter().map(term).sum::<f64>()
    };
    vec![
        Known {
            name: "logistic regression",
            program: "data { int N; vector[N] x; array[N] int y; } parameters { real a; real b; }
                model { a ~ normal(0, 2.5); b ~ normal(0, 2.5); y ~ bernoulli_logit(a + b * x); }",
            data: json!({"N": 25, "x": x, "y": outcome}),
            log_z: plane(logistic, (-20.0, 20.0), (-20.0, 20.0)),
        },
        Known {
            name: "Poisson regression",
            program: "data { int N; vector[N] x; array[N] int y; } parameters { real a; real b; }
                model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ poisson_log(a + b * x); }",
            data: json!({"N": 25, "x": x, "y": counts}),
            log_z: plane(poisson, (-6.0, 6.0), (-6.0, 6.0)),
        },
        Known {
            name: "Weibull, censored",
            program: "data { vector[4] t; int c; real at; } parameters { real<lower=0> k; real<lower=0> l; }
                model { k ~ lognormal(0, 0.5); l ~ lognormal(0, 1); t ~ weibull(k, l);
                target += c * weibull_lccdf(at | k, l); }",
            data: json!({"t": waits[..4], "c": 2, "at": 3.0}),
            log_z: plane(weibull, (-4.0, 4.0), (-6.0, 8.0)),
        },
        Known {
            name: "robust location and scale",
            program: "data { int N; vector[N] y; } parameters { real a; real<lower=0> s; }
                model { a ~ normal(0, 3); s ~ normal(0, 2); y ~ student_t(3, a, s); }",
            data: json!({"N": 25, "y": x}),
            log_z: plane(robust, (-6.0, 6.0), (-6.0, 4.0)),
        },
    ]
}
