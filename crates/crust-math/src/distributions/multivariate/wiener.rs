//! The first passage time of a Wiener process with drift: `wiener`.
//!
//! A process starts at β α between 0 and α and has drift δ; y − τ is the time at which it leaves through α. With t = y
//! − τ, x = t/α² and w = 1 − β (Feller 1968; Navarro and Fuss 2009; for the variability σ of the drift Horrocks and
//! Thompson 2004):
//!
//! log f = (σ² α² w² + 2 δ α w − δ² t)/(2 (1 + σ² t)) − ½ log(1 + σ² t) − 2 log α + log φ(x, w),
//! φ = (2π x³)^(−½) Σₖ (w + 2k) exp(−(w + 2k)²/2x) = π Σₖ₌₁ k exp(−k² π² x/2) sin(k π w)
//!
//! Both series run to double precision (Stan stops at an error of 10⁻⁶ in the density).

use std::f64::consts::{PI, TAU};

use super::layout::{element, observations, scalars_fit};
use super::wiener_mixture::log_mean_density;
use crate::density::{Density, Domain, DomainError, Partials, Terms};
use crate::functions::{Argument, Shape, ShapeError, VectorDensity};

/// log φ with its derivatives for x and w.
fn log_kernel(x: f64, w: f64) -> [f64; 3] {
    // Here both need few terms: at most the 9 and 6 that the loops have.
    if x < 0.4 { log_kernel_early(x, w) } else { log_kernel_late(x, w) }
}

fn log_kernel_early(x: f64, w: f64) -> [f64; 3] {
    let (mut sum, mut d_x, mut d_w) = (0.0, 0.0, 0.0);
    for k in [4, -4, 3, -3, 2, -2, 1, -1, 0] {
        let a = w + 2.0 * f64::from(k);
        // relative to the term for k = 0: (a² − w²)/2 = 2k (w + k)
        let e = (-2.0 * f64::from(k) * (w + f64::from(k)) / x).exp();
        sum += a * e;
        d_x += a * a * a * e;
        d_w += (1.0 - a * a / x) * e;
    }
    let value = sum.ln() - 0.5 * w * w / x - 0.5 * TAU.ln() - 1.5 * x.ln();
    [value, 0.5 * d_x / (sum * x * x) - 1.5 / x, d_w / sum]
}

fn log_kernel_late(x: f64, w: f64) -> [f64; 3] {
    let (mut sum, mut d_x, mut d_w) = (0.0, 0.0, 0.0);
    for k in (1..=6).rev().map(f64::from) {
        let e = k * (-0.5 * (k * k - 1.0) * PI * PI * x).exp();
        let (sine, cosine) = (k * PI * w).sin_cos();
        sum += e * sine;
        d_x -= 0.5 * k * k * PI * PI * e * sine;
        d_w += k * PI * e * cosine;
    }
    [sum.ln() - 0.5 * PI * PI * x + PI.ln(), d_x / sum, d_w / sum]
}

/// Arguments y, α, τ, β, δ, σ, all inside of their domain.
pub(super) fn log_density([y, alpha, tau, beta, delta, sigma]: [f64; 6]) -> Partials<6> {
    let (t, w) = (y - tau, 1.0 - beta);
    let [kernel, d_x, d_w] = log_kernel(t / (alpha * alpha), w);
    let spread = 1.0 + sigma * sigma * t;
    let start = alpha * w;
    let top = sigma * sigma * start * start + 2.0 * delta * start - delta * delta * t;
    let exponent = 0.5 * top / spread;
    let value = exponent - 0.5 * spread.ln() - 2.0 * alpha.ln() + kernel;
    let d_start = (sigma * sigma * start + delta) / spread;
    let of_spread = -(exponent + 0.5) / spread;
    let d_t = -0.5 * delta * delta / spread + of_spread * sigma * sigma + d_x / (alpha * alpha);
    Partials {
        value,
        d: [
            d_t,
            d_start * w - 2.0 / alpha - 2.0 * d_x * t / (alpha * alpha * alpha),
            -d_t,
            -d_start * alpha - d_w,
            (start - delta * t) / spread,
            sigma * start * start / spread + of_spread * 2.0 * sigma * t,
        ],
    }
}

fn check_domain(domain: Domain, point: [f64; 8]) -> Result<(), DomainError> {
    let [y, alpha, tau, beta, delta, sigma, s_beta, s_tau] = point;
    domain.positive("Random variable", y)?;
    domain.positive_finite("Boundary separation", alpha)?;
    domain.that(tau >= 0.0 && tau.is_finite(), "Nondecision time", tau, "nonnegative finite")?;
    domain.that(beta > 0.0 && beta < 1.0, "A-priori bias", beta, "between 0 and 1")?;
    domain.finite("Drift rate", delta)?;
    let name = "Inter-trial variability in drift rate";
    domain.that(sigma >= 0.0 && sigma.is_finite(), name, sigma, "nonnegative finite")?;
    let (name, room) = ("Inter-trial variability in A-priori bias", 2.0 * beta.min(1.0 - beta));
    domain.that(
        (0.0..room).contains(&s_beta),
        name,
        s_beta,
        "nonnegative and such that the bias stays inside of (0, 1)",
    )?;
    let name = "Inter-trial variability in Nondecision time";
    domain.that(s_tau >= 0.0 && s_tau.is_finite(), name, s_tau, "nonnegative finite")?;
    domain.that(y > tau && y.is_finite(), "Random variable", y, "finite and greater than the nondecision time")
}

/// One first passage time: (y | α, τ, β, δ). No term is ever dropped unless all are data.
pub fn wiener_lpdf(y: f64, alpha: f64, tau: f64, beta: f64, delta: f64, terms: Terms) -> Density<5> {
    let domain = Domain("wiener_lpdf");
    domain.positive("Nondecision time", tau)?;
    check_domain(domain, [y, alpha, tau, beta, delta, 0.0, 0.0, 0.0])?;
    let Partials { value, d } = log_density([y, alpha, tau, beta, delta, 0.0]);
    let value = if terms.keep(u32::MAX) { value } else { 0.0 };
    Ok(Partials { value, d: [d[0], d[1], d[2], d[3], d[4]] })
}

const NAMES: [&str; 8] = [
    "random variable",
    "boundary separation",
    "nondecision time",
    "bias",
    "drift rate",
    "variability of the drift rate",
    "variability of the bias",
    "variability of the nondecision time",
];

/// The sum over observations: (y | α, τ, β, δ), with the variability of δ a sixth argument, with those of β and τ
/// eight; each a number or a container of numbers. After six and eight, Stan takes the precision of derivatives, which
/// here needs no choice.
#[derive(Debug)]
pub(super) struct Wiener;

/// The arguments before the precision.
fn parameters<T>(arguments: &[T]) -> &[T] {
    match arguments.len() {
        n @ (7 | 9) => &arguments[..n - 1],
        _ => arguments,
    }
}

fn shapes(arguments: &[Argument]) -> [Shape; 8] {
    let mut shapes = [Shape::SCALAR; 8];
    shapes.iter_mut().zip(arguments).for_each(|(shape, argument)| *shape = argument.shape);
    shapes
}

impl VectorDensity for Wiener {
    fn name(&self) -> &'static str {
        "wiener_lpdf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        if !(5..=9).contains(&arguments.len()) {
            return Err(ShapeError::ArgumentsOutside { given: arguments.len(), least: 5, most: 9 });
        }
        scalars_fit(&NAMES, &shapes(parameters(arguments)))
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        _scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let domain = Domain(self.name());
        let arguments = parameters(arguments);
        let mut value = 0.0;
        for i in 0..observations(&shapes(arguments)) {
            let mut point = [0.0; 8];
            for (x, argument) in point.iter_mut().zip(arguments) {
                *x = argument.numbers[element(&argument.shape, i)];
            }
            if arguments.len() == 5 {
                domain.positive("Nondecision time", point[2])?;
            }
            check_domain(domain, point)?;
            let one = log_mean_density(point);
            value += one.value;
            for ((adjoint, argument), d) in adjoints.iter_mut().zip(arguments).zip(one.d) {
                if !adjoint.is_empty() {
                    adjoint[element(&argument.shape, i)] += seed * d;
                }
            }
        }
        Ok(if terms.keep(u32::MAX) { value } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both series are the same function.
    #[test]
    fn early_and_late_series_agree() {
        for x in [0.25, 0.4, 0.6] {
            for w in [0.02, 0.3, 0.5, 0.8, 0.97] {
                let pairs = log_kernel_early(x, w).into_iter().zip(log_kernel_late(x, w));
                for (early, late) in pairs {
                    assert!((early - late).abs() < 2e-12 * (1.0 + late.abs()), "{x} {w}: {early} {late}");
                }
            }
        }
    }

    /// The process leaves through one of the two ends: the densities integrate to the probability (e^(2δz) −
    /// 1)/(e^(2δα) − 1) of the end α from the start z, with the reversed sign of the drift for the other.
    #[test]
    fn it_integrates_to_the_probability_of_the_end() {
        for (alpha, beta, delta) in [(1.3, 0.4, 0.7), (0.8, 0.7, -1.0), (2.0, 0.2, 0.3)] {
            // t = eˢ
            let steps = 4000;
            let sum: f64 = (0..steps)
                .map(|i| -9.0 + 14.0 * (f64::from(i) + 0.5) / f64::from(steps))
                .map(|s| {
                    (wiener_lpdf(s.exp() + 0.1, alpha, 0.1, beta, delta, Terms::ALL).expect("inside").value + s).exp()
                })
                .sum();
            let integral = sum * 14.0 / f64::from(steps);
            let start = alpha * beta;
            let expected = (1.0 - (-2.0 * delta * start).exp()) / (1.0 - (-2.0 * delta * alpha).exp());
            assert!((integral - expected).abs() < 1e-7, "{integral} {expected}");
        }
    }

    #[test]
    fn times_before_the_nondecision_time_are_rejected() {
        assert!(wiener_lpdf(0.1, 1.0, 0.1, 0.5, 0.0, Terms::ALL).is_err());
        assert!(wiener_lpdf(0.2, 1.0, 0.1, 1.0, 0.0, Terms::ALL).is_err());
        assert!(wiener_lpdf(f64::NAN, 1.0, 0.1, 0.5, 0.0, Terms::ALL).is_err());
        let nothing = wiener_lpdf(0.2, 1.0, 0.1, 0.5, 0.0, Terms::varying(0)).expect("inside");
        assert!(nothing.value.abs() < f64::MIN_POSITIVE);
    }
}
