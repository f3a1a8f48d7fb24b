//! Both tails of a cumulative distribution function in log form, from which `_cdf`, `_lcdf` and `_lccdf` follow.

use crate::density::Partials;
use crate::special::{inv_logit, log_Phi, log_Phi_derivative, log1m_exp, log1p_exp, std_normal_density};
use std::f64::consts::LN_2;

/// A distribution function F(x) of one real number x at a point, where x (and the shape of F) depend on N arguments.
///
/// `slope` says how F depends on the arguments, in units of the density f: ∂F/∂θᵢ = f · slopeᵢ. Where F depends on the
/// arguments through x alone, slopeᵢ is ∂x/∂θᵢ. The rates f/F and f/(1−F) are kept because they are moderate numbers in
/// the far tails, where f and F both underflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tails<const N: usize> {
    /// log F
    pub lower: f64,
    /// log(1 − F)
    pub upper: f64,
    /// f
    pub density: f64,
    /// f / F
    pub lower_rate: f64,
    /// f / (1 − F)
    pub upper_rate: f64,
    pub slope: [f64; N],
}

fn scaled<const N: usize>(slope: [f64; N], rate: f64) -> [f64; N] {
    slope.map(|s| if s == 0.0 || rate == 0.0 { 0.0 } else { s * rate })
}

impl<const N: usize> Tails<N> {
    /// The lower end of the support: F is 0, and depends on nothing.
    pub fn lowest() -> Self {
        Self { lower: f64::NEG_INFINITY, upper: 0.0, density: 0.0, lower_rate: 0.0, upper_rate: 0.0, slope: [0.0; N] }
    }

    /// The upper end of the support: F is 1, and depends on nothing.
    pub fn highest() -> Self {
        Self::lowest().flip()
    }

    /// From log F and log f.
    pub fn from_lower(lower: f64, log_density: f64, slope: [f64; N]) -> Self {
        let upper = log1m_exp(lower.min(0.0));
        Self {
            lower: lower.min(0.0),
            upper,
            density: log_density.exp(),
            lower_rate: (log_density - lower).exp(),
            upper_rate: (log_density - upper).exp(),
            slope,
        }
    }

    /// From log(1 − F) and log f.
    pub fn from_upper(upper: f64, log_density: f64, slope: [f64; N]) -> Self {
        Self::from_lower(upper, log_density, slope.map(|s| -s)).flip()
    }

    /// The distribution of −x.
    pub fn flip(self) -> Self {
        Self {
            lower: self.upper,
            upper: self.lower,
            density: self.density,
            lower_rate: self.upper_rate,
            upper_rate: self.lower_rate,
            slope: self.slope.map(|s| -s),
        }
    }

    /// The same point with F's dependence told by other arguments (the chain rule).
    pub fn with_slope<const M: usize>(self, slope: [f64; M]) -> Tails<M> {
        let Self { lower, upper, density, lower_rate, upper_rate, .. } = self;
        Tails { lower, upper, density, lower_rate, upper_rate, slope }
    }

    /// The standard normal distribution at z.
    pub fn normal(z: f64, slope: [f64; N]) -> Self {
        if z.is_infinite() {
            return Self::end(z);
        }
        Self {
            lower: log_Phi(z),
            upper: log_Phi(-z),
            density: std_normal_density(z),
            lower_rate: log_Phi_derivative(z),
            upper_rate: log_Phi_derivative(-z),
            slope,
        }
    }

    /// The standard logistic distribution at z: F = 1 / (1 + exp(−z)).
    pub fn logistic(z: f64, slope: [f64; N]) -> Self {
        if z.is_infinite() {
            return Self::end(z);
        }
        let (lower_rate, upper_rate) = (inv_logit(-z), inv_logit(z));
        let density = lower_rate * upper_rate;
        Self { lower: -log1p_exp(-z), upper: -log1p_exp(z), density, lower_rate, upper_rate, slope }
    }

    /// The standard exponential distribution at x ≥ 0: F = 1 − exp(−x).
    pub fn exponential(x: f64, slope: [f64; N]) -> Self {
        if x == f64::INFINITY {
            return Self::highest();
        }
        let lower = log1m_exp(-x);
        Self { lower, upper: -x, density: (-x).exp(), lower_rate: 1.0 / x.exp_m1(), upper_rate: 1.0, slope }
    }

    /// The distribution of the logarithm of a standard exponential at t: F = 1 − exp(−x) with x = exp(t). `x` is given
    /// apart: of a large t, exp(t) has lost as many digits as t has in front of the point.
    pub fn log_exponential(t: f64, x: f64, slope: [f64; N]) -> Self {
        if x == f64::INFINITY || t == f64::NEG_INFINITY {
            return Self::end(t);
        }
        let lower = if t < -40.0 { t } else { log1m_exp(-x) };
        let lower_rate = if x == 0.0 { 1.0 } else { x / x.exp_m1() };
        Self { lower, upper: -x, density: x * (-x).exp(), lower_rate, upper_rate: x, slope }
    }

    /// The end of the real line on the side of x.
    pub fn end(x: f64) -> Self {
        if x < 0.0 { Self::lowest() } else { Self::highest() }
    }

    /// F with its partials.
    pub fn cdf(self) -> Partials<N> {
        let value = if self.lower < -LN_2 { self.lower.exp() } else { -self.upper.exp_m1() };
        Partials { value, d: scaled(self.slope, self.density) }
    }

    /// log F with its partials.
    pub fn lcdf(self) -> Partials<N> {
        Partials { value: self.lower, d: scaled(self.slope, self.lower_rate) }
    }

    /// log(1 − F) with its partials.
    pub fn lccdf(self) -> Partials<N> {
        Partials { value: self.upper, d: scaled(self.slope, -self.upper_rate) }
    }
}

/// Defines the cumulative functions of a distribution from a function that checks its arguments and computes [`Tails`].
macro_rules! cumulative {
    (@function $tails:ident ($($arg:ident),+) $n:literal $name:ident $kind:ident) => {
        #[doc = cumulative!(@doc $kind)]
        pub fn $name($($arg: f64),+) -> Density<$n> {
            Ok($tails(Domain(stringify!($name)), $($arg),+)?.$kind())
        }
    };
    (@doc cdf) => { "The probability of a value ≤ y, with partials." };
    (@doc lcdf) => { "The logarithm of the probability of a value ≤ y, with partials; accurate in both tails." };
    (@doc lccdf) => { "The logarithm of the probability of a value > y, with partials; accurate in both tails." };
    ($tails:ident $args:tt -> $n:literal: $($name:ident = $kind:ident),+) => {
        $(cumulative!(@function $tails $args $n $name $kind);)+
    };
}
pub(super) use cumulative;
