//! The log density of what the forward sampler does, added up statement by statement while it does it.

use std::collections::{BTreeMap, BTreeSet};

use crust_math::density::Terms;
use crust_math::functions::{Argument, Shape};
use crust_stan::span::Span;

use super::forward::cumulative;
use super::noted::Noted;
use crate::density::Density;
use crate::random::Scalar;

/// Where a statement stands: its first and its last character.
pub type Place = (u32, u32);

/// Whether steps draw, or only say how likely what is there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each draw that is made counts, at the moment it is made.
    Drawing,
    /// Nothing is drawn: everything is given, and counts.
    Given,
    /// Terms of the likelihood are noted one by one. What is outside of the domain of a density is NaN.
    Terms,
}

/// What a statement contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The log density of what it draws.
    pub density: f64,
    /// The sum of the absolute values of all terms: what rounding is relative to.
    pub magnitude: f64,
    /// How much rounding of the arguments may change it.
    pub noise: f64,
    /// The log Jacobian of the images that stand on its left.
    pub jacobian: f64,
}

impl Sums {
    /// Nothing is known about the density.
    pub fn unknown() -> Self {
        Self { density: f64::NAN, ..Self::default() }
    }
}

/// What has been added up so far.
#[derive(Clone, Debug)]
pub struct Score {
    pub mode: Mode,
    pub statements: BTreeMap<Place, Sums>,
    /// What depends on data alone and draws nothing.
    pub loose: f64,
    /// Arguments of draws whose normaliser is not known: they must always be the same.
    pub assumed: Vec<(Place, Vec<f64>)>,
    /// Statements whose draws come from a function of the program, and mixtures: what was drawn there is not what
    /// counts.
    pub supplied: BTreeSet<Place>,
    pub mixtures: BTreeSet<Place>,
    frames: Vec<Frame>,
    pub terms: Noted,
}

/// A mixture that is being gone through.
#[derive(Clone, Debug)]
struct Frame {
    log_weights: Vec<f64>,
    /// What each component contributes.
    terms: Vec<Sums>,
    component: usize,
}

pub fn place(span: Span) -> Place {
    (span.start, span.end)
}

impl Score {
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            statements: BTreeMap::new(),
            loose: 0.0,
            assumed: Vec::new(),
            supplied: BTreeSet::new(),
            mixtures: BTreeSet::new(),
            frames: Vec::new(),
            terms: Noted::default(),
        }
    }

    /// Nothing has been added up.
    pub fn clear(&mut self) {
        let terms = Noted::new(self.terms.lanes, self.terms.finest);
        *self = Self::new(self.mode);
        self.terms = terms;
    }

    /// Adds what another pass has scored.
    pub fn merge(&mut self, other: &Self) {
        for (at, sums) in &other.statements {
            let own = self.statements.entry(*at).or_default();
            own.density += sums.density;
            own.magnitude += sums.magnitude;
            own.noise += sums.noise;
            own.jacobian += sums.jacobian;
        }
    }

    /// The log density of all draws.
    pub fn total(&self) -> Sums {
        self.statements.values().fold(Sums::default(), |sum, s| Sums {
            density: sum.density + s.density,
            magnitude: sum.magnitude + s.magnitude,
            noise: sum.noise + s.noise,
            jacobian: sum.jacobian + s.jacobian,
        })
    }

    fn slot(&mut self, span: Span) -> &mut Sums {
        match self.frames.last_mut().and_then(|f| f.terms.get_mut(f.component)) {
            Some(sums) => sums,
            None => self.statements.entry(place(span)).or_default(),
        }
    }

    pub fn add(&mut self, Weight { log_density, noise }: Weight, span: Span) {
        let slot = self.slot(span);
        slot.density += log_density;
        slot.magnitude += log_density.abs();
        slot.noise += noise;
    }

    pub fn add_jacobian(&mut self, log_jacobian: f64, span: Span) {
        self.slot(span).jacobian += log_jacobian;
    }

    pub fn assume(&mut self, arguments: Vec<f64>, span: Span) {
        self.assumed.push((place(span), arguments));
    }

    pub fn open(&mut self, log_weights: &[f64]) {
        let terms = vec![Sums::default(); log_weights.len()];
        self.frames.push(Frame { log_weights: log_weights.to_vec(), terms, component: 0 });
    }

    /// What follows belongs to component `k`, counted from 1.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "components are few")]
    pub fn enter(&mut self, k: f64) {
        if let Some(frame) = self.frames.last_mut() {
            frame.component = (k as usize).saturating_sub(1);
        }
    }

    /// Adds `log Σ_k w_k p_k` for the mixture that was opened last.
    pub fn close(&mut self, span: Span) {
        let Some(frame) = self.frames.pop() else { return };
        if self.mode == Mode::Drawing {
            return;
        }
        self.mixtures.insert(place(span));
        let parts: Vec<f64> = frame.log_weights.iter().zip(&frame.terms).map(|(w, s)| w + s.density).collect();
        let top = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = if top.is_finite() { top + parts.iter().map(|x| (x - top).exp()).sum::<f64>().ln() } else { top };
        let sum = if parts.iter().any(|x| x.is_nan()) { f64::NAN } else { sum };
        let largest = |of: fn(&Sums) -> f64| frame.terms.iter().map(of).filter(|m| m.is_finite()).fold(0.0, f64::max);
        let (magnitude, noise) = (largest(|s| s.magnitude), largest(|s| s.noise));
        // All components stand for the same variate, so that they have its Jacobian in common.
        let jacobian = frame.terms.first().map_or(0.0, |s| s.jacobian);
        let slot = self.slot(span);
        slot.density += sum;
        slot.magnitude += magnitude + sum.abs();
        slot.noise += noise;
        slot.jacobian += jacobian;
    }
}

/// A log density, and how much rounding of its arguments may change it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    pub log_density: f64,
    pub noise: f64,
}

impl From<f64> for Weight {
    fn from(log_density: f64) -> Self {
        Self { log_density, noise: 0.0 }
    }
}

/// How far arguments may be off, relative to their size.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// The log density of one number of a generator's distribution; −∞ where that cannot draw it.
pub fn number(density: Option<Density>, y: f64, x: &[f64]) -> Weight {
    let Some(Density::Scalar(density)) = density else { return f64::NAN.into() };
    if density.is_probability() && y.fract() != 0.0 {
        return f64::NEG_INFINITY.into();
    }
    let mut all = [0.0; 4];
    all[0] = y;
    all[1..=x.len()].copy_from_slice(x);
    let all = &all[..=x.len()];
    // Outside of the support Stan's densities complain instead of being zero.
    density.at(all, Terms::ALL).map_or(f64::NEG_INFINITY.into(), |(log_density, partials)| {
        let moved: f64 = all.iter().zip(partials).map(|(x, d)| (x * d).abs()).filter(|m| m.is_finite()).sum();
        Weight { log_density, noise: ROUNDING * moved }
    })
}

/// The log density of a generator by its name.
pub fn density_of(generator: &str) -> Option<Density> {
    let stem = generator.strip_suffix("_rng")?;
    Density::named(&format!("{stem}_lpdf")).or_else(|| Density::named(&format!("{stem}_lpmf")))
}

/// The log probability that a draw lies within bounds; `None` where the distribution function is not known.
pub fn log_mass(scalar: &Scalar, x: &[f64], low: f64, high: f64) -> Option<f64> {
    if low == f64::NEG_INFINITY && high == f64::INFINITY {
        return Some(0.0);
    }
    let (least, most) = support(scalar.name, x);
    if low <= least && high >= most {
        return Some(0.0);
    }
    let Some(names) = cumulative(scalar.name) else { return counted(scalar, x, low.max(least), high.min(most)) };
    let (Density::Scalar(lower), Density::Scalar(upper)) =
        (Density::named(&names.lower)?, Density::named(&names.upper)?)
    else {
        return None;
    };
    // P(Y > y) jumps at integers, and `low` itself is inside.
    let start = if names.discrete { low.ceil() - 1.0 } else { low };
    let end = if names.discrete { high.floor() } else { high };
    let at = |above: bool, y: f64| -> f64 {
        let nothing = if above { y > 0.0 } else { y < 0.0 };
        let beyond = if nothing { f64::NEG_INFINITY } else { 0.0 };
        if y.is_infinite() {
            return beyond;
        }
        let mut all = vec![y];
        all.extend_from_slice(x);
        // A bound outside of the support is an error of the function, but no question.
        let edge = if y.total_cmp(&start).is_eq() { above } else { !above };
        let outside = if edge { 0.0 } else { f64::NEG_INFINITY };
        (if above { &upper } else { &lower }).at(&all, Terms::ALL).map_or(outside, |(value, _)| value)
    };
    let difference = |large: f64, small: f64| large + (-(small - large).exp()).ln_1p();
    Some(if end == f64::INFINITY {
        at(true, start)
    } else if start == f64::NEG_INFINITY {
        at(false, end)
    } else if at(false, start) > -std::f64::consts::LN_2 {
        difference(at(true, start), at(true, end))
    } else {
        difference(at(false, end), at(false, start))
    })
}

/// The smallest and the largest value that a distribution draws.
fn support(generator: &str, x: &[f64]) -> (f64, f64) {
    let at = |i: usize| x.get(i).copied().unwrap_or(f64::INFINITY);
    match generator.trim_end_matches("_rng") {
        "bernoulli" | "bernoulli_logit" | "beta" | "beta_proportion" => (0.0, 1.0),
        "binomial" | "binomial_logit" | "beta_binomial" => (0.0, at(0)),
        "uniform" | "discrete_range" => (at(0), at(1)),
        "yule_simon" => (1.0, f64::INFINITY),
        "pareto" | "pareto_type_2" => (at(0), f64::INFINITY),
        "beta_neg_binomial"
        | "hypergeometric"
        | "neg_binomial"
        | "neg_binomial_2"
        | "neg_binomial_2_log"
        | "poisson"
        | "poisson_log"
        | "lognormal"
        | "chi_square"
        | "inv_chi_square"
        | "scaled_inv_chi_square"
        | "exponential"
        | "gamma"
        | "inv_gamma"
        | "weibull"
        | "frechet"
        | "rayleigh"
        | "loglogistic" => (0.0, f64::INFINITY),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// The log probability of an interval of integers, added up; the other side of it where it has no end.
fn counted(scalar: &Scalar, x: &[f64], low: f64, high: f64) -> Option<f64> {
    const MOST: f64 = 10_000.0;
    let density = density_of(scalar.name).filter(|d| matches!(d, Density::Scalar(s) if s.is_probability()))?;
    let sum = |from: f64, to: f64| -> Option<f64> {
        let mut total = 0.0;
        let mut y = from.ceil();
        (to - y < MOST).then_some(())?;
        while y <= to {
            total += number(Some(density), y, x).log_density.exp();
            y += 1.0;
        }
        Some(total)
    };
    if high.is_finite() {
        return sum(low, high).map(f64::ln);
    }
    sum(support(scalar.name, x).0, low.ceil() - 1.0).map(|below| (-below).ln_1p())
}

/// The log density of a vector, matrix or category, for one cell.
pub fn cell(density: Option<Density>, arguments: &[(&[f64], Shape)]) -> f64 {
    let Some(Density::Vector(density)) = density else { return f64::NAN };
    let list: Vec<Argument> = arguments.iter().map(|&(numbers, shape)| Argument { numbers, shape }).collect();
    if density.0.check(&list).is_err() {
        return f64::NAN;
    }
    let shapes: Vec<Shape> = list.iter().map(|a| a.shape).collect();
    let mut scratch = vec![0.0; density.0.scratch(&shapes)];
    let mut adjoints: Vec<&mut [f64]> = list.iter().map(|_| &mut [] as &mut [f64]).collect();
    density.0.log_density(&list, Terms::ALL, 1.0, &mut adjoints, &mut scratch).unwrap_or(f64::NEG_INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Generator;

    fn scalar(name: &str) -> &'static Scalar {
        match Generator::named(name) {
            Some(Generator::Scalar(scalar)) => scalar,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Every generator that readings draw from has a density that can be scored.
    #[test]
    fn every_generator_has_its_density() {
        let all = "bernoulli bernoulli_logit beta beta_binomial beta_neg_binomial beta_proportion binomial binomial_logit cauchy \
            chi_square discrete_range double_exponential exp_mod_normal exponential frechet gamma gumbel hypergeometric \
            inv_chi_square inv_gamma logistic loglogistic lognormal neg_binomial neg_binomial_2 neg_binomial_2_log normal \
            pareto pareto_type_2 poisson poisson_log rayleigh scaled_inv_chi_square skew_double_exponential skew_normal \
            std_normal student_t uniform von_mises weibull yule_simon";
        for stem in all.split_whitespace() {
            let found = density_of(&format!("{stem}_rng"));
            assert!(matches!(found, Some(Density::Scalar(_))), "{stem}");
        }
        for stem in "categorical categorical_logit dirichlet ordered_logistic ordered_probit wishart inv_wishart wishart_cholesky \
            inv_wishart_cholesky multi_normal multi_normal_cholesky multi_student_t multi_student_t_cholesky lkj_corr \
            lkj_corr_cholesky multinomial multinomial_logit dirichlet_multinomial"
            .split_whitespace()
        {
            assert!(matches!(density_of(&format!("{stem}_rng")), Some(Density::Vector(_))), "{stem}");
        }
    }

    #[test]
    fn masses_of_intervals() {
        let normal = scalar("normal_rng");
        let mass = |low, high| log_mass(normal, &[0.0, 1.0], low, high).expect("a distribution function").exp();
        assert!((mass(0.0, f64::INFINITY) - 0.5).abs() < 1e-14);
        assert!((mass(-1.0, 1.0) - 0.682_689_492_137_085_9).abs() < 1e-13);
        assert!((mass(1.0, 2.0) - 0.135_905_121_983_277_8).abs() < 1e-13);
        let beyond = log_mass(normal, &[0.0, 1.0], 30.0, 31.0).expect("a distribution function");
        assert!((beyond + 454.321_243_653_7).abs() < 1e-6, "{beyond}");
        // integers: both ends are inside
        let poisson = log_mass(scalar("poisson_rng"), &[2.0], 1.0, 2.0).expect("a distribution function").exp();
        assert!((poisson - 4.0 * (-2.0_f64).exp()).abs() < 1e-13, "{poisson}");
        // without a distribution function, or beyond the support
        let logit = log_mass(scalar("bernoulli_logit_rng"), &[0.3], 0.0, 1.0);
        assert_eq!(logit, Some(0.0));
        let log_rate = log_mass(scalar("poisson_log_rng"), &[2.0_f64.ln()], 1.0, f64::INFINITY).expect("a sum");
        assert!((log_rate.exp() - (1.0 - (-2.0_f64).exp())).abs() < 1e-13, "{log_rate}");
        // bounds beyond the support cut nothing
        let beta = log_mass(scalar("beta_rng"), &[2.0, 2.0], -1.0, 3.0).expect("a distribution function");
        assert!(beta.abs() < 1e-13, "{beta}");
        let gamma = log_mass(scalar("gamma_rng"), &[2.0, 2.0], -1.0, f64::INFINITY).expect("a distribution function");
        assert!(gamma.abs() < 1e-13, "{gamma}");
    }

    #[test]
    fn mixtures_are_sums_over_components() {
        let span = Span::default();
        let mut score = Score::new(Mode::Given);
        score.open(&[0.25_f64.ln(), 0.75_f64.ln()]);
        score.enter(1.0);
        score.add((-1.0).into(), span);
        score.enter(2.0);
        score.add((-2.0).into(), span);
        score.close(span);
        let wanted = (0.25 * (-1.0_f64).exp() + 0.75 * (-2.0_f64).exp()).ln();
        assert!((score.total().density - wanted).abs() < 1e-15);
    }
}
