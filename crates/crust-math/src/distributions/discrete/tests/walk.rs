//! Random arguments for every distribution, from fixed seeds.

use super::super::table::{Argument, Distribution, TABLE};
use super::{Point, close, cumulative, lpmf};
use crate::density::Terms;

/// A small generator for test arguments (`SplitMix64`).
struct Stream(u64);

impl Stream {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((z ^ (z >> 31)) >> 32).expect("32 bits")) / f64::from(u32::MAX)
    }

    /// Between the powers of ten.
    fn positive(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(low + (high - low) * self.uniform())
    }

    fn real(&mut self, bound: f64) -> f64 {
        bound * (2.0 * self.uniform() - 1.0)
    }

    #[allow(clippy::cast_possible_truncation)] // small numbers
    fn integer(&mut self, low: i64, high: i64) -> i64 {
        low + (self.uniform() * super::super::rising::real(high - low + 1)).floor() as i64 % (high - low + 1)
    }

    fn vector(&mut self, mut f: impl FnMut(&mut Self) -> f64) -> Vec<f64> {
        (0..self.integer(1, 4)).map(|_| f(self)).collect()
    }

    fn simplex(&mut self) -> Vec<f64> {
        let weights = self.vector(|s| s.positive(-1.5, 0.5));
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect()
    }

    fn cutpoints(&mut self) -> Vec<f64> {
        let mut c = self.real(2.0);
        self.vector(|s| {
            c += s.positive(-1.0, 0.3);
            c
        })
    }

    /// Integer and real arguments in the support.
    fn arguments(&mut self, name: &str) -> (Vec<i64>, Vec<f64>) {
        let trials = self.integer(0, 40);
        match name {
            "bernoulli" => (vec![self.integer(0, 1)], vec![0.01 + 0.98 * self.uniform()]),
            "bernoulli_logit" => (vec![self.integer(0, 1)], vec![self.real(30.0)]),
            "binomial" => (vec![self.integer(0, trials), trials], vec![0.01 + 0.98 * self.uniform()]),
            "binomial_logit" => (vec![self.integer(0, trials), trials], vec![self.real(20.0)]),
            "beta_binomial" => {
                (vec![self.integer(0, trials), trials], vec![self.positive(-1.5, 2.0), self.positive(-1.5, 2.0)])
            }
            "hypergeometric" => {
                let (a, b) = (self.integer(0, 30), self.integer(0, 30));
                let draws = self.integer(0, a + b);
                (vec![self.integer((draws - b).max(0), draws.min(a)), draws, a, b], vec![])
            }
            "discrete_range" => {
                let low = self.integer(-20, 20);
                (vec![self.integer(low, low + trials), low, low + trials], vec![])
            }
            "poisson" => (vec![self.integer(0, 60)], vec![self.positive(-2.0, 2.0)]),
            "poisson_log" => (vec![self.integer(0, 60)], vec![self.real(4.0)]),
            "neg_binomial" => (vec![self.integer(0, 60)], vec![self.positive(-1.0, 3.0), self.positive(-1.0, 2.0)]),
            "neg_binomial_2" => (vec![self.integer(0, 60)], vec![self.positive(-2.0, 1.7), self.positive(-1.0, 4.0)]),
            "neg_binomial_2_log" => (vec![self.integer(0, 60)], vec![self.real(4.0), self.positive(-1.0, 4.0)]),
            "beta_neg_binomial" => (vec![self.integer(0, 60)], (0..3).map(|_| self.positive(-1.0, 1.7)).collect()),
            "yule_simon" => (vec![self.integer(1, 60)], vec![self.positive(-2.0, 2.0)]),
            "categorical" => self.category(Self::simplex),
            "categorical_logit" => self.category(|s| s.vector(|s| s.real(20.0))),
            "ordered_logistic" | "ordered_probit" => {
                let (location, c) = (self.real(4.0), self.cutpoints());
                let categories = i64::try_from(c.len()).expect("few") + 1;
                (vec![self.integer(1, categories)], [vec![location], c].concat())
            }
            "multinomial" => self.counts(Self::simplex),
            "multinomial_logit" => self.counts(|s| s.vector(|s| s.real(5.0))),
            "dirichlet_multinomial" => self.counts(|s| s.vector(|s| s.positive(-1.5, 2.0))),
            _ => panic!("no arguments for {name}"),
        }
    }

    fn category(&mut self, parameter: impl Fn(&mut Self) -> Vec<f64>) -> (Vec<i64>, Vec<f64>) {
        let x = parameter(self);
        (vec![self.integer(1, i64::try_from(x.len()).expect("few"))], x)
    }

    fn counts(&mut self, parameter: impl Fn(&mut Self) -> Vec<f64>) -> (Vec<i64>, Vec<f64>) {
        let x = parameter(self);
        (x.iter().map(|_| self.integer(0, 8)).collect(), x)
    }
}

/// Calls `check` with random arguments.
fn walk(points: usize, mut check: impl FnMut(&Distribution, &[i64], &[f64], &mut Stream)) {
    for distribution in &TABLE {
        let mut stream = Stream(2026);
        for _ in 0..points {
            let (n, x) = stream.arguments(distribution.name);
            check(distribution, &n, &x, &mut stream);
        }
    }
}

/// A direction in the domain with the distance over which the function changes.
fn directions(name: &str, x: &[f64]) -> Vec<(Vec<f64>, f64)> {
    let axis = |i: usize| (0..x.len()).map(|j| if i == j { 1.0 } else { 0.0 }).collect::<Vec<_>>();
    let gap = |i: usize| {
        let before = if i >= 2 { x[i] - x[i - 1] } else { 1.0 };
        let after = if i >= 1 && i + 1 < x.len() { x[i + 1] - x[i] } else { 1.0 };
        before.min(after)
    };
    match name {
        "categorical" | "multinomial" => (1..x.len())
            .map(|i| {
                let mut direction = axis(i);
                direction[0] = -1.0;
                (direction, x[0].min(x[i]))
            })
            .collect(),
        "bernoulli" | "binomial" => vec![(vec![1.0], x[0].min(1.0 - x[0]))],
        "ordered_logistic" | "ordered_probit" => (0..x.len()).map(|i| (axis(i), 0.5 * gap(i))).collect(),
        "neg_binomial_2_log" => vec![(axis(0), 1.0), (axis(1), x[1])],
        _ if name.contains("log") => (0..x.len()).map(|i| (axis(i), 1.0)).collect(),
        _ => (0..x.len()).map(|i| (axis(i), x[i])).collect(),
    }
}

/// A central difference of order 8 with steps of 0.5 % of the distance. Its error is below 1e-9 of (1 + |f|) /
/// distance.
fn check_partials(what: &str, name: &str, x: &[f64], f: &dyn Fn(&[f64]) -> Point) {
    let (value, d) = f(x);
    for (direction, distance) in directions(name, x) {
        let h = 0.005 * distance;
        let at = |steps: f64| {
            let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, v)| x + steps * h * v).collect();
            f(&moved).0
        };
        let weights = [(1.0, 4.0 / 5.0), (2.0, -1.0 / 5.0), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0)];
        let difference: f64 = weights.iter().map(|&(i, w)| w * (at(i) - at(-i))).sum::<f64>() / h;
        let slope: f64 = d.iter().zip(&direction).map(|(d, v)| d * v).sum();
        close(
            &format!("{what} {name} {x:?} {direction:?}"),
            slope,
            difference,
            1e-9,
            1e-9 * (1.0 + value.abs()) / distance,
        );
    }
}

#[test]
fn discrete_partials_match_finite_differences() {
    walk(150, |distribution, n, x, _| {
        let name = distribution.name;
        let f = |x: &[f64]| lpmf(distribution, n, x, Terms::ALL).expect("in the domain");
        check_partials(&format!("lpmf {n:?}"), name, x, &f);
        if let Some(c) = distribution.cumulative {
            for (kind, f) in [("cdf", c.cdf), ("lcdf", c.lcdf), ("lccdf", c.lccdf)] {
                if cumulative(f, n, x).0.is_finite() {
                    check_partials(&format!("{kind} {n:?}"), name, x, &|x: &[f64]| cumulative(f, n, x));
                }
            }
        }
    });
}

/// All variates of a finite support, or those up to a bound beyond which the rest is in the upper tail.
fn support(name: &str, n: &[i64], x: &[f64]) -> Vec<Vec<i64>> {
    let with = |first: i64| [&[first], &n[1..]].concat();
    let size = i64::try_from(x.len()).expect("few");
    match name {
        "bernoulli" | "bernoulli_logit" => (0..=1).map(with).collect(),
        "binomial" | "binomial_logit" | "beta_binomial" => (0..=n[1]).map(with).collect(),
        "hypergeometric" => ((n[1] - n[3]).max(0)..=n[1].min(n[2])).map(with).collect(),
        "discrete_range" => (n[1]..=n[2]).map(with).collect(),
        "categorical" | "categorical_logit" | "ordered_logistic" | "ordered_probit" => (1..=size).map(with).collect(),
        "multinomial" | "multinomial_logit" | "dirichlet_multinomial" => compositions(n.iter().sum(), n.len()),
        "yule_simon" => (1..=400).map(with).collect(),
        _ => (0..400).map(with).collect(),
    }
}

/// All ways to write `total` as a sum of `parts` counts.
fn compositions(total: i64, parts: usize) -> Vec<Vec<i64>> {
    if parts == 1 {
        return vec![vec![total]];
    }
    (0..=total)
        .flat_map(|first| {
            compositions(total - first, parts - 1).into_iter().map(move |rest| [vec![first], rest].concat())
        })
        .collect()
}

/// To 1e-10, with the upper tail where the support has no end.
#[test]
fn discrete_probabilities_sum_to_one() {
    walk(20, |distribution, n, x, _| {
        let points = support(distribution.name, n, x);
        let sum: f64 = points.iter().map(|n| lpmf(distribution, n, x, Terms::ALL).expect("support").0.exp()).sum();
        let last = points.last().expect("a support");
        let tail_of = match distribution.name {
            "poisson_log" => Some(("poisson", vec![x[0].exp()])),
            "neg_binomial_2_log" => Some(("neg_binomial_2", vec![x[0].exp(), x[1]])),
            name if distribution.cumulative.is_some() => Some((name, x.to_vec())),
            _ => None,
        };
        let rest = tail_of
            .map_or(0.0, |(name, x)| cumulative(super::find(name).cumulative.expect("tails").lccdf, last, &x).0.exp());
        close(&format!("{} {n:?} {x:?}", distribution.name), sum + rest, 1.0, 1e-10, 0.0);
    });
}

/// The sum to 1e-12, both logs to 1e-12 of the cdf and of each other.
#[test]
fn discrete_cdf_is_the_running_sum() {
    walk(20, |distribution, n, x, _| {
        let Some(c) = distribution.cumulative else { return };
        let mut sum = 0.0;
        for n in support(distribution.name, n, x).iter().take(80) {
            let what = format!("{} {n:?} {x:?}", distribution.name);
            sum += lpmf(distribution, n, x, Terms::ALL).expect("support").0.exp();
            let [p, lower, upper] = [c.cdf, c.lcdf, c.lccdf].map(|f| cumulative(f, n, x).0);
            close(&what, p, sum, 1e-12, 1e-15);
            close(&what, lower.exp(), p, 1e-12, 0.0);
            close(&what, lower.exp() + upper.exp(), 1.0, 1e-12, 0.0);
        }
        let below = [&[support(distribution.name, n, x)[0][0] - 1], &n[1..]].concat();
        for (f, expected) in [(c.cdf, 0.0), (c.lcdf, f64::NEG_INFINITY), (c.lccdf, 0.0)] {
            close(distribution.name, cumulative(f, &below, x).0, expected, 0.0, 0.0);
        }
    });
}

/// What `propto` drops does not depend on the arguments that vary, and partials do not depend on `propto`.
#[test]
fn discrete_propto_drops_constants() {
    walk(40, |distribution, n, x, stream| {
        let reals: Vec<usize> = (0..distribution.arguments.len())
            .filter(|&i| matches!(distribution.arguments[i], Argument::Real | Argument::Reals))
            .collect();
        for subset in 0..1_u32 << reals.len() {
            let varies = |i: usize| reals.iter().enumerate().any(|(bit, &r)| r == i && subset & (1 << bit) != 0);
            let mask = (0..distribution.arguments.len()).filter(|&i| varies(i)).fold(0, |mask, i| mask | 1 << i);
            let moved = move_some(distribution, x, varies, stream);
            let [(here, d), (there, _)] = [x, &moved].map(|x| {
                let all = lpmf(distribution, n, x, Terms::ALL).expect("in the domain");
                let some = lpmf(distribution, n, x, Terms::varying(mask)).expect("in the domain");
                assert_eq!(all.1, some.1, "{}", distribution.name);
                if mask == 0 && distribution.name != "ordered_probit" {
                    close(distribution.name, some.0, 0.0, 0.0, 0.0);
                }
                (all.0 - some.0, all.0.abs() + some.0.abs())
            });
            if mask != 0 {
                let what = format!("{} {n:?} {x:?} {mask:b}", distribution.name);
                close(&what, there, here, 0.0, 1e-12 * (1.0 + d + there.abs()));
            }
        }
    });
}

/// Other values for the arguments that vary.
fn move_some(distribution: &Distribution, x: &[f64], varies: impl Fn(usize) -> bool, stream: &mut Stream) -> Vec<f64> {
    let steps = directions(distribution.name, x);
    let first = distribution.arguments.iter().position(|a| matches!(a, Argument::Real | Argument::Reals)).unwrap_or(0);
    let mut moved = x.to_vec();
    for (direction, distance) in steps {
        let element = direction.iter().position(|&v| v > 0.0).expect("a direction");
        let argument = (first + element).min(distribution.arguments.len() - 1);
        if varies(argument) {
            let step = 0.2 * distance * stream.uniform();
            moved.iter_mut().zip(&direction).for_each(|(x, v)| *x += step * v);
        }
    }
    moved
}
