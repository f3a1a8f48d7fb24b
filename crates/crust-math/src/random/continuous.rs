//! Continuous distributions, in Stan's parametrisation.

use std::f64::consts::TAU;

use pxfm::{f_atan, f_exp, f_log};

use super::numeric::log1p_minus;
use super::{Draw, Stream};
use crate::density::Domain;

impl Stream {
    pub fn normal(&mut self, location: f64, scale: f64) -> Draw<f64> {
        check_location_scale(Domain("normal_rng"), location, scale)?;
        Ok(location + scale * self.standard_normal())
    }

    pub fn exponential(&mut self, rate: f64) -> Draw<f64> {
        Domain("exponential_rng").positive_finite("Inverse scale parameter", rate)?;
        Ok(self.standard_exponential() / rate)
    }

    pub fn cauchy(&mut self, location: f64, scale: f64) -> Draw<f64> {
        check_location_scale(Domain("cauchy_rng"), location, scale)?;
        Ok(location + scale * self.standard_cauchy())
    }

    /// The ratio of the coordinates of a point in the unit disc, which needs no tangent.
    fn standard_cauchy(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            if x * x + y * y <= 1.0 && x != 0.0 {
                return y / x;
            }
        }
    }

    /// A draw with density ∝ xᵃ⁻¹ exp(−rate x). Where the shape is small, many draws are below the smallest number and
    /// are returned as 0; [`Self::log_gamma`] has no such limit.
    pub fn gamma(&mut self, shape: f64, rate: f64) -> Draw<f64> {
        let domain = Domain("gamma_rng");
        domain.positive_finite("Shape parameter", shape)?;
        domain.positive_finite("Inverse scale parameter", rate)?;
        Ok(self.standard_gamma(shape) / rate)
    }

    /// The logarithm of a draw from the gamma distribution with rate 1, finite for every shape.
    pub fn log_gamma(&mut self, shape: f64) -> Draw<f64> {
        Domain("gamma_rng").positive_finite("Shape parameter", shape)?;
        Ok(self.standard_log_gamma(shape))
    }

    pub(super) fn standard_gamma(&mut self, shape: f64) -> f64 {
        if shape >= 1.0 { self.gamma_from_1(shape) } else { f_exp(self.standard_log_gamma(shape)) }
    }

    pub(super) fn standard_log_gamma(&mut self, shape: f64) -> f64 {
        if shape >= 1.0 {
            f_log(self.gamma_from_1(shape))
        } else {
            // Where U is uniform, a gamma draw of shape a + 1 times U to the power 1/a has shape a.
            f_log(self.gamma_from_1(shape + 1.0)) - self.standard_exponential() / shape
        }
    }

    /// Shapes from 1 on: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
    ///
    /// With y = x / √(9d) they accept if log U < x²/2 + d (1 − (1 + y)³ + 3 log(1 + y)). At large shapes this is a
    /// difference of large numbers; what is left of it after x²/2 = 9dy²/2 has cancelled is not.
    fn gamma_from_1(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (3.0 * d.sqrt());
        loop {
            let x = self.standard_normal();
            let y = c * x;
            if y <= -1.0 {
                continue;
            }
            let draw = d * ((1.0 + y) * (1.0 + y) * (1.0 + y));
            let u = self.uniform();
            if u < 1.0 - 0.0331 * (x * x) * (x * x) {
                return draw;
            }
            if f_log(u) < 3.0 * (d * (log1p_minus(y) + 0.5 * y * y)) - d * (y * y * y) {
                return draw;
            }
        }
    }

    pub fn beta(&mut self, a: f64, b: f64) -> Draw<f64> {
        let domain = Domain("beta_rng");
        domain.positive_finite("First shape parameter", a)?;
        domain.positive_finite("Second shape parameter", b)?;
        Ok(self.beta_draw(a, b))
    }

    /// X / (X + Y) for two gamma draws; by their logarithms where both may be too small for a number.
    pub(super) fn beta_draw(&mut self, a: f64, b: f64) -> f64 {
        if a.min(b) >= 1.0 {
            let (x, y) = (self.gamma_from_1(a), self.gamma_from_1(b));
            x / (x + y)
        } else {
            let (x, y) = (self.standard_log_gamma(a), self.standard_log_gamma(b));
            1.0 / (1.0 + f_exp(y - x))
        }
    }

    pub fn chi_square(&mut self, degrees: f64) -> Draw<f64> {
        Domain("chi_square_rng").positive_finite("Degrees of freedom parameter", degrees)?;
        Ok(2.0 * self.standard_gamma(0.5 * degrees))
    }

    /// A normal draw over the root of a gamma draw with mean 1. With very few degrees of freedom a draw may be too
    /// large for a number, and is infinite.
    pub fn student_t(&mut self, degrees: f64, location: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("student_t_rng");
        domain.positive_finite("Degrees of freedom parameter", degrees)?;
        check_location_scale(domain, location, scale)?;
        let z = self.standard_normal();
        let half = 0.5 * degrees;
        let t = if half >= 1.0 {
            z * (half / self.gamma_from_1(half)).sqrt()
        } else {
            z * f_exp(0.5 * (f_log(half) - self.standard_log_gamma(half)))
        };
        Ok(location + scale * t)
    }

    /// An angle in [m − π, m + π] where m is the location's remainder by 2π.
    ///
    /// Best and Fisher, "Efficient simulation of the von Mises distribution" (1979): rejection from the wrapped Cauchy
    /// distribution. Their r is (1 + w) / (2κ) with w = √(1 + 4κ²). A wrapped Cauchy angle is twice the arc tangent of
    /// a scaled Cauchy draw t. With their r − 1 and 1 − f written as below nothing cancels, so one form serves κ = 0
    /// (uniform) to κ = 10³⁰⁰.
    pub fn von_mises(&mut self, location: f64, concentration: f64) -> Draw<f64> {
        let domain = Domain("von_mises_rng");
        domain.finite("Location parameter", location)?;
        domain.nonnegative("Scale parameter", concentration)?;
        domain.finite("Scale parameter", concentration)?;
        // Beyond, 2κ may overflow; the angle is 0 next to any location, and below 10⁻¹⁴⁵ anyway.
        let kappa = concentration.min(1e300);
        let w = if kappa > 1e10 { 2.0 * kappa } else { (1.0 + 4.0 * kappa * kappa).sqrt() };
        // κ (r − 1), and tan²(half the angle) at t = 1: (r − 1) / (r + 1).
        let gap = 0.5 * (1.0 + 1.0 / (w + 2.0 * kappa));
        let width = gap / (gap + 2.0 * kappa);
        loop {
            let t = width.sqrt() * self.standard_cauchy();
            // κ (r − f), where f is the cosine of the angle.
            let sine = t * t / (1.0 + t * t);
            let c = gap + 2.0 * kappa * sine;
            let u = self.uniform();
            if c * (2.0 - c) > u || f_log(c / u) + 1.0 >= c {
                return Ok(location % TAU + 2.0 * f_atan(t));
            }
        }
    }
}

fn check_location_scale(domain: Domain, location: f64, scale: f64) -> Draw<()> {
    domain.finite("Location parameter", location)?;
    domain.positive_finite("Scale parameter", scale)
}

#[cfg(test)]
#[path = "continuous_tests.rs"]
mod tests;
