//! Every kernel against the exact density.

mod sums;
mod tails;

use crust_math::density::Terms;

use super::KERNELS;
use super::row::{LONGEST, Pattern};
use crate::density::{Density, Scalar};
use crate::machine::{MOST, RowKernel, Rows};

/// A small generator of random numbers (Marsaglia's xorshift with a multiplication).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() % n as u64).expect("small")
    }
}

/// What an argument may be.
#[derive(Clone, Copy)]
enum Kind {
    Real,
    Positive,
    /// Positive, and an argument of log Γ.
    Gamma,
    Unit,
    /// 0 or 1.
    Bit,
    Count,
    /// At least the count before it.
    Trials,
    /// Above the argument before it by less than the one before that is: a bound of an interval.
    Above,
    /// Below the arguments behind it.
    Below,
    /// Positive, and at most the first argument.
    Within,
}

use Kind::{Above, Below, Bit, Count, Gamma, Positive, Real, Trials, Unit, Within};

/// Without the suffix of probabilities.
fn stem(name: &str) -> &str {
    ["_lccdf", "_lcdf", "_cdf"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

fn kinds(name: &str) -> &'static [Kind] {
    match stem(name) {
        "std_normal" => &[Real],
        "normal" | "cauchy" | "double_exponential" | "logistic" | "gumbel" | "von_mises" => &[Real, Real, Positive],
        "lognormal" => &[Positive, Real, Positive],
        "student_t" => &[Real, Positive, Real, Positive],
        "exponential" | "rayleigh" => &[Positive, Positive],
        "chi_square" | "inv_chi_square" => &[Positive, Gamma],
        "gamma" | "inv_gamma" | "weibull" | "scaled_inv_chi_square" => &[Positive, Gamma, Positive],
        "beta" => &[Unit, Gamma, Gamma],
        "beta_proportion" => &[Unit, Unit, Gamma],
        "uniform" => &[Real, Below, Above],
        "bernoulli" => &[Bit, Unit],
        "bernoulli_logit" => &[Bit, Real],
        "binomial" => &[Count, Trials, Unit],
        "binomial_logit" => &[Count, Trials, Real],
        "poisson" => &[Count, Positive],
        "poisson_log" => &[Count, Real],
        "neg_binomial_2" => &[Count, Positive, Gamma],
        "neg_binomial_2_log" => &[Count, Real, Gamma],
        "neg_binomial" => &[Count, Gamma, Positive],
        "beta_binomial" => &[Count, Trials, Gamma, Gamma],
        "pareto" => &[Positive, Within, Positive],
        "pareto_type_2" => &[Real, Below, Positive, Positive],
        "loglogistic" | "frechet" => &[Positive, Positive, Positive],
        "skew_normal" => &[Real, Real, Positive, Real],
        "skew_double_exponential" => &[Real, Real, Positive, Unit],
        _ => panic!("{name} is not known here"),
    }
}

impl Kind {
    /// A random item; `before` are the arguments before it.
    fn draw(self, random: &mut Random, spread: f64, before: &[f64]) -> f64 {
        let u = 2.0 * random.unit() - 1.0;
        match self {
            Real => spread * u,
            Positive | Gamma => (spread * u).exp(),
            Unit => 1.0 / (1.0 + (2.0 * spread * u).exp()),
            Bit => f64::from(u8::from(u > 0.0)),
            Count => ((spread * u).exp() - 0.3).clamp(0.0, 1e9).round(),
            Trials => before[0] + (spread * u).exp().min(1e9).round(),
            Above => before[0].abs().max(1.0) * f64::EPSILON + before[0] + (spread * u).exp(),
            Below => before[0] - (spread * u).exp(),
            Within => before[0] * (-(spread * (u + 1.0))).exp(),
        }
    }
}

/// How the items of an argument repeat themselves.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Constant,
    Free,
    Period(usize),
    Runs { first: usize, rest: usize },
}

impl Shape {
    /// Which item stands at `i`.
    fn index(self, i: usize) -> usize {
        match self {
            Self::Constant => 0,
            Self::Free => i,
            Self::Period(p) => i % p,
            Self::Runs { first, rest } => (i + rest - first) / rest,
        }
    }
}

const SHAPES: [Shape; 6] = [
    Shape::Constant,
    Shape::Free,
    Shape::Period(8),
    Shape::Period(12),
    Shape::Runs { first: 16, rest: 16 },
    Shape::Runs { first: 3, rest: 10 },
];

fn scalar(name: &str) -> Scalar {
    let suffixes: &[&str] = if stem(name) == name { &["_lpdf", "_lpmf"] } else { &[""] };
    let found = suffixes.iter().find_map(|suffix| Density::named(&format!("{name}{suffix}")));
    match found {
        Some(Density::Scalar(scalar)) => scalar,
        _ => panic!("{name} is no density"),
    }
}

/// Rows of arguments. Those that belong to one item are drawn together; then some rows are made to repeat themselves.
fn arguments(kinds: &[Kind], shapes: &[Shape], random: &mut Random, spread: f64) -> [[f64; LONGEST]; MOST] {
    let mut rows = [[0.0; LONGEST]; MOST];
    // Arguments that depend on each other share a shape: the first one's.
    let tied = kinds.iter().any(|k| matches!(k, Trials | Above | Below | Within));
    let mut items = Vec::new();
    for _ in 0..=LONGEST {
        let mut item = [0.0; MOST];
        for (k, kind) in kinds.iter().enumerate() {
            item[k] = kind.draw(random, spread, &item[..k]);
        }
        items.push(item);
    }
    for i in 0..LONGEST {
        for k in 0..kinds.len() {
            rows[k][i] = items[shapes[if tied { 0 } else { k }].index(i)][k];
        }
    }
    rows
}

struct Outcome {
    fine: bool,
    value: [f64; LONGEST],
    partials: [[f64; LONGEST]; MOST],
}

fn run(kernel: RowKernel, rows: &[[f64; LONGEST]; MOST], [from, to]: [usize; 2], wanted: u32, terms: Terms) -> Outcome {
    let mut outcome = Outcome { fine: false, value: [7.0; LONGEST], partials: [[7.0; LONGEST]; MOST] };
    let arguments = std::array::from_fn(|k| &rows[k][from..to]);
    let value = &mut outcome.value[..to - from];
    let partials = &mut outcome.partials;
    outcome.fine =
        kernel(&mut Rows { arguments, value, partials, wanted, terms, patterns: [None; MOST], summed: None });
    outcome
}

fn at(rows: &[[f64; LONGEST]; MOST], i: usize) -> [f64; MOST] {
    std::array::from_fn(|k| rows[k][i])
}

/// Compares a row with the exact density. What rounding may do is measured by the terms: 1, the value, x ∂/∂x, and
/// x log x for arguments of log Γ.
fn compare(name: &str, rows: &[[f64; LONGEST]; MOST], n: usize, wanted: u32, terms: Terms, outcome: &Outcome) {
    let scalar = scalar(name);
    for i in 0..n {
        let x = at(rows, i);
        let (value, d) = scalar.at(&x[..scalar.arity], terms).expect("in the domain");
        let all = scalar.at(&x[..scalar.arity], Terms::ALL).expect("in the domain").0;
        let mut scale = 1.0 + value.abs() + all.abs();
        for (x, d) in x.iter().zip(&d).take(scalar.arity) {
            scale += (x * d).abs();
        }
        for (x, _) in x.iter().zip(kinds(name)).filter(|(_, kind)| matches!(kind, Count | Trials | Gamma)) {
            scale += x * (1.0 + x.ln().abs().min(1e3));
        }
        let error = (outcome.value[i] - value).abs();
        let what = format!("{name}{:?} {terms:?} item {i}", &x[..scalar.arity]);
        assert!(error <= 1e-14 * scale, "{what}: {} is not {value}", outcome.value[i]);
        for k in (0..scalar.arity).filter(|k| wanted >> k & 1 == 1) {
            let tolerance = 1e-14 * (d[k].abs() + scale / x[k].abs().max(1e-300)).min(1e300);
            let computed = outcome.partials[k][i];
            assert!((computed - d[k]).abs() <= tolerance, "{what}: partial {k} {computed} is not {}", d[k]);
        }
    }
}

fn ordinary_value(name: &str, x: &[f64]) -> bool {
    let scalar = scalar(name);
    scalar
        .at(&x[..scalar.arity], Terms::ALL)
        .is_ok_and(|(value, d)| value.abs() < 1e250 && d.iter().all(|d| d.abs() < 1e250))
}

/// All terms and all masks of varying arguments.
fn all_terms(arity: usize) -> impl Iterator<Item = Terms> {
    std::iter::once(Terms::ALL).chain((0..1 << arity).map(Terms::varying))
}

/// The mask of the arguments that have derivatives.
fn reals(name: &str) -> u32 {
    let real = |(k, kind): (usize, &Kind)| if matches!(kind, Bit | Count | Trials) { 0 } else { 1 << k };
    kinds(name).iter().enumerate().map(real).sum()
}

#[test]
fn kernels_are_the_exact_densities() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for (name, kernel) in KERNELS {
        let kinds = kinds(name);
        for spread in [0.5, 2.0, 6.0] {
            for shape in SHAPES {
                let shapes: Vec<_> = kinds
                    .iter()
                    .enumerate()
                    .map(|(k, _)| if k == 0 { shape } else { SHAPES[random.below(6)] })
                    .collect();
                let rows = arguments(kinds, &shapes, &mut random, spread);
                for terms in all_terms(kinds.len()) {
                    let wanted = reals(name) & u32::try_from(random.below(32)).expect("small");
                    let outcome = run(*kernel, &rows, [0, LONGEST], wanted, terms);
                    // No statement wants a derivative for an argument that does not vary.
                    let usual = terms.keep(reals(name))
                        && (0..kinds.len()).all(|k| terms.keep(wanted & 1 << k) || wanted >> k & 1 == 0);
                    let finite = (0..LONGEST).all(|i| ordinary_value(name, &at(&rows, i)));
                    assert!(
                        outcome.fine || !usual || !finite,
                        "{name} {shapes:?} {terms:?} is left to the exact density"
                    );
                    if outcome.fine {
                        compare(name, &rows, LONGEST, wanted, terms, &outcome);
                    }
                }
            }
        }
    }
}

/// Where a kernel claims to have computed arguments of any size, it is right.
#[test]
fn kernels_are_right_or_say_that_they_are_not() {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    for (name, kernel) in KERNELS {
        let kinds = kinds(name);
        let mut done = 0;
        for spread in [20.0, 60.0, 300.0, 700.0] {
            for _ in 0..400 {
                let rows = arguments(kinds, &[Shape::Constant; MOST], &mut random, spread);
                let outcome = run(*kernel, &rows, [0, 1], reals(name), Terms::ALL);
                if outcome.fine && ordinary_value(name, &at(&rows, 0)) {
                    compare(name, &rows, 1, reals(name), Terms::ALL, &outcome);
                    done += 1;
                }
            }
        }
        assert!(done > 200, "{name}: only {done} of 1600");
    }
}

/// A kernel never accepts what the exact density refuses, and never differs from it at special values.
#[test]
fn arguments_outside_of_the_domain_are_left_to_the_exact_density() {
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.5, 1.0, 2.0, 0.25, 1e-310, 1e300];
    let mut random = Random(0xABCD_EF01_2345_6789);
    for (name, kernel) in KERNELS {
        let (kinds, scalar) = (kinds(name), scalar(name));
        let mut refused = 0;
        for k in 0..kinds.len() {
            for x in special {
                if matches!(kinds[k], Bit | Count | Trials) && !(x.is_finite() && x.fract() == 0.0 && x.abs() < 1e9) {
                    continue;
                }
                let mut rows = arguments(kinds, &[Shape::Free; MOST], &mut random, 1.0);
                rows[k][17] = x;
                let outcome = run(*kernel, &rows, [0, 40], reals(name), Terms::ALL);
                refused += u32::from(!outcome.fine);
                let item = at(&rows, 17);
                match scalar.at(&item[..scalar.arity], Terms::ALL) {
                    Err(_) => assert!(!outcome.fine, "{name} accepts {x} as argument {k}"),
                    Ok((value, d)) if outcome.fine => {
                        let close =
                            |a: f64, b: f64| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-13 * b.abs().max(1.0);
                        let same = |a: f64, b: f64| close(a, b) || (a.is_nan() && b.is_nan());
                        assert!(same(outcome.value[17], value), "{name} {item:?}: {} {value}", outcome.value[17]);
                        for k in (0..scalar.arity).filter(|k| reals(name) >> k & 1 == 1) {
                            let d_k = outcome.partials[k][17];
                            assert!(same(d_k, d[k]), "{name} {item:?}: partial {k} {d_k} {}", d[k]);
                        }
                    }
                    Ok(_) => {}
                }
            }
        }
        assert!(refused > 0, "{name} refuses nothing");
    }
}

#[test]
fn the_length_of_a_row_does_not_matter() {
    let mut random = Random(0x0F1E_2D3C_4B5A_6978);
    for (name, kernel) in KERNELS {
        let kinds = kinds(name);
        let shapes: Vec<_> = kinds.iter().map(|_| SHAPES[random.below(6)]).collect();
        let rows = arguments(kinds, &shapes, &mut random, 2.0);
        let whole = run(*kernel, &rows, [0, LONGEST], reals(name), Terms::ALL);
        for n in 1..=LONGEST {
            let from = random.below(LONGEST - n + 1);
            let part = run(*kernel, &rows, [from, from + n], reals(name), Terms::ALL);
            assert!(part.fine);
            for i in 0..n {
                assert_eq!(part.value[i].to_bits(), whole.value[from + i].to_bits(), "{name} {n} {i}");
                for k in (0..kinds.len()).filter(|k| reals(name) >> k & 1 == 1) {
                    assert_eq!(
                        part.partials[k][i].to_bits(),
                        whole.partials[k][from + i].to_bits(),
                        "{name} {n} {i} {k}"
                    );
                }
            }
        }
    }
}

#[test]
fn patterns_are_found() {
    let mut random = Random(0x7777_1111_3333_5555);
    let items: Vec<f64> = (0..300).map(|_| random.unit()).collect();
    let row = |shape: Shape, n: usize| (0..n).map(|i| items[shape.index(i)]).collect::<Vec<_>>();
    assert_eq!(Pattern::of(&row(Shape::Constant, 77)), Pattern::Period(1));
    assert_eq!(Pattern::of(&row(Shape::Period(12), 256)), Pattern::Period(12));
    assert_eq!(Pattern::of(&row(Shape::Period(12), 23)), Pattern::Free);
    assert_eq!(Pattern::of(&row(Shape::Free, 256)), Pattern::Free);
    let runs = Shape::Runs { first: 3, rest: 10 };
    assert_eq!(Pattern::of(&row(runs, 256)), Pattern::Runs { first: 3, rest: 10 });
    let shape = Shape::Runs { first: 16, rest: 16 };
    assert_eq!(Pattern::of(&row(shape, 256)), Pattern::Runs { first: 16, rest: 16 });
    let mut broken = row(shape, 256);
    broken[200] = 2.0;
    assert_eq!(Pattern::of(&broken), Pattern::Free);
}

/// A pattern that is known is as good as one that was found.
#[test]
fn known_patterns_change_nothing() {
    let mut random = Random(0x5EED_0F0F_1234_7777);
    for (name, kernel) in KERNELS {
        let kinds = kinds(name);
        let tied = kinds.iter().any(|k| matches!(k, Trials | Above | Below | Within));
        for n in [8, 40, LONGEST] {
            let choose = |random: &mut Random| match random.below(3) {
                0 => (Shape::Period(8), Pattern::Period(8)),
                1 => (Shape::Runs { first: 8, rest: 8 }, Pattern::Runs { first: 8, rest: 8 }),
                _ => (Shape::Free, Pattern::Free),
            };
            let chosen: Vec<_> = kinds.iter().map(|_| choose(&mut random)).collect();
            let shapes: Vec<_> = chosen.iter().map(|(shape, _)| *shape).collect();
            let rows = arguments(kinds, &shapes, &mut random, 1.5);
            let found = run(*kernel, &rows, [0, n], reals(name), Terms::ALL);
            let mut known = Outcome { fine: false, value: [7.0; LONGEST], partials: [[7.0; LONGEST]; MOST] };
            let mut patterns = [None; MOST];
            for (k, pattern) in patterns.iter_mut().enumerate().take(kinds.len()) {
                *pattern = Some(chosen[if tied { 0 } else { k }].1);
            }
            let arguments = std::array::from_fn(|k| &rows[k][..n]);
            let (value, partials) = (&mut known.value[..n], &mut known.partials);
            let (wanted, terms) = (reals(name), Terms::ALL);
            known.fine = kernel(&mut Rows { arguments, value, partials, wanted, terms, patterns, summed: None });
            assert!(found.fine && known.fine, "{name}");
            assert_eq!(found.value[..n], known.value[..n], "{name}");
            for k in (0..kinds.len()).filter(|k| wanted >> k & 1 == 1) {
                assert_eq!(found.partials[k][..n], known.partials[k][..n], "{name}");
            }
        }
    }
}

/// What a kernel gives an item is the same to the last bit in any row that it accepts: chains may share rows. Where it
/// accepts a row it accepts each item of it.
#[test]
fn items_do_not_depend_on_the_others_in_their_row() {
    let mut random = Random(0x2468_ACE0_1357_9BDF);
    for (name, kernel) in KERNELS {
        let mut accepted = 0;
        for (spread, shape) in [0.5, 2.0, 5.0].into_iter().flat_map(|spread| SHAPES.map(|shape| (spread, shape))) {
            let rows = arguments(kinds(name), &[Shape::Free, shape, shape, Shape::Free, shape], &mut random, spread);
            let (wanted, terms) = (reals(name), Terms::ALL);
            for [from, to] in [[0, LONGEST], [5, 46], [40, 57], [100, 103]] {
                let together = run(*kernel, &rows, [from, to], wanted, terms);
                for i in (from..to).filter(|_| together.fine) {
                    let alone = run(*kernel, &rows, [i, i + 1], wanted, terms);
                    assert!(alone.fine, "{name} {:?}", at(&rows, i));
                    accepted += 1;
                    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
                    assert!(same(alone.value[0], together.value[i - from]), "{name} {:?}", at(&rows, i));
                    for k in (0..kinds(name).len()).filter(|k| wanted >> k & 1 == 1) {
                        let (a, b) = (alone.partials[k][0], together.partials[k][i - from]);
                        assert!(same(a, b), "{name} {:?}: partial {k} {a} is not {b}", at(&rows, i));
                    }
                }
            }
        }
        assert!(accepted > 1000, "{name}: {accepted} items");
    }
}
