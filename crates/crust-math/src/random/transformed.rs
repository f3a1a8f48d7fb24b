//! Distributions that are a short formula away from those of the other modules, in Stan's parametrisation.

use pxfm::{f_exp, f_log, f_log1p};

use super::{Draw, Stream};
use crate::density::Domain;

impl Stream {
    pub fn lognormal(&mut self, location: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("lognormal_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        Ok(f_exp(location + scale * self.standard_normal()))
    }

    /// The Laplace distribution.
    pub fn double_exponential(&mut self, location: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("double_exponential_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        let sign = if self.next_u32() & 1 == 0 { 1.0 } else { -1.0 };
        Ok(location + sign * scale * self.standard_exponential())
    }

    pub fn logistic(&mut self, location: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("logistic_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        let u = self.uniform();
        Ok(location + scale * (f_log(u) - f_log1p(-u)))
    }

    pub fn gumbel(&mut self, location: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("gumbel_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        Ok(location - scale * f_log(self.standard_exponential()))
    }

    pub fn weibull(&mut self, shape: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("weibull_rng");
        domain.positive_finite("Shape parameter", shape)?;
        domain.positive_finite("Scale parameter", scale)?;
        Ok(scale * f_exp(f_log(self.standard_exponential()) / shape))
    }

    pub fn frechet(&mut self, shape: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("frechet_rng");
        domain.positive_finite("Shape parameter", shape)?;
        domain.positive_finite("Scale parameter", scale)?;
        Ok(scale * f_exp(-f_log(self.standard_exponential()) / shape))
    }

    pub fn rayleigh(&mut self, scale: f64) -> Draw<f64> {
        Domain("rayleigh_rng").positive_finite("Scale parameter", scale)?;
        Ok(scale * (2.0 * self.standard_exponential()).sqrt())
    }

    pub fn pareto(&mut self, minimum: f64, shape: f64) -> Draw<f64> {
        let domain = Domain("pareto_rng");
        domain.positive_finite("Scale parameter", minimum)?;
        domain.positive_finite("Shape parameter", shape)?;
        Ok(minimum * f_exp(self.standard_exponential() / shape))
    }

    /// 1 / X for a gamma draw X, by its logarithm so that tiny shapes do not divide by 0.
    pub fn inv_gamma(&mut self, shape: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("inv_gamma_rng");
        domain.positive_finite("Shape parameter", shape)?;
        domain.positive_finite("Scale parameter", scale)?;
        Ok(self.scale_over_gamma(shape, scale))
    }

    pub fn inv_chi_square(&mut self, degrees: f64) -> Draw<f64> {
        Domain("inv_chi_square_rng").positive_finite("Degrees of freedom parameter", degrees)?;
        Ok(self.scale_over_gamma(0.5 * degrees, 0.5))
    }

    pub fn scaled_inv_chi_square(&mut self, degrees: f64, scale: f64) -> Draw<f64> {
        let domain = Domain("scaled_inv_chi_square_rng");
        domain.positive_finite("Degrees of freedom parameter", degrees)?;
        domain.positive_finite("Scale parameter", scale)?;
        Ok(self.scale_over_gamma(0.5 * degrees, 0.5 * degrees * scale * scale))
    }

    fn scale_over_gamma(&mut self, shape: f64, scale: f64) -> f64 {
        if shape >= 1.0 {
            scale / self.standard_gamma(shape)
        } else {
            f_exp(f_log(scale) - self.standard_log_gamma(shape))
        }
    }

    /// Azzalini (1985): of two standard normal draws, the first is turned over if the second is above `shape` times it.
    pub fn skew_normal(&mut self, location: f64, scale: f64, shape: f64) -> Draw<f64> {
        let domain = Domain("skew_normal_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        domain.finite("Shape parameter", shape)?;
        let (x, y) = (self.standard_normal(), self.standard_normal());
        Ok(location + scale * if y < shape * x { x } else { -x })
    }

    /// The sum of a normal and an exponential draw.
    pub fn exp_mod_normal(&mut self, location: f64, scale: f64, rate: f64) -> Draw<f64> {
        let domain = Domain("exp_mod_normal_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        domain.positive_finite("Inv_scale parameter", rate)?;
        Ok(location + scale * self.standard_normal() + self.standard_exponential() / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{Sample, integrated, normal_cdf, stream};
    use super::*;

    const N: usize = 30_000;

    fn test(name: &str, draw: impl Fn(&mut Stream) -> Draw<f64>, cdf: impl Fn(f64) -> f64) {
        Sample::draw(N, &mut stream(1), |s| draw(s).unwrap()).follows(name, cdf);
    }

    /// Location, or shape, and scale in four regimes each.
    #[test]
    fn draws_follow_closed_forms() {
        for (m, s) in [(0.0, 1.0), (-3.0, 0.01), (2.0, 40.0), (100.0, 3.0)] {
            let z = |x: f64| (x - m) / s;
            test("lognormal", |r| r.lognormal(m, s), |x| normal_cdf(z(x.ln())));
            let laplace = |z: f64| if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() };
            test("double_exponential", |r| r.double_exponential(m, s), |x| laplace(z(x)));
            test("logistic", |r| r.logistic(m, s), |x| 1.0 / (1.0 + (-z(x)).exp()));
            test("gumbel", |r| r.gumbel(m, s), |x| (-(-z(x)).exp()).exp());
        }
        for (a, s) in [(1.0, 1.0), (0.05, 3.0), (20.0, 1e-5), (1e4, 1e4)] {
            test("weibull", |r| r.weibull(a, s), |x| -(-(x / s).powf(a)).exp_m1());
            test("frechet", |r| r.frechet(a, s), |x| (-(x / s).powf(-a)).exp());
            test("pareto", |r| r.pareto(s, a), |x| -(-a * (x / s).ln()).exp_m1());
            test("rayleigh", |r| r.rayleigh(s), |x| -(-0.5 * (x / s) * (x / s)).exp_m1());
        }
    }

    #[test]
    fn inverse_gamma_draws() {
        for a in [0.2, 1.0, 7.5, 1e6] {
            // log(a / X) for a gamma draw X.
            let low = -(40.0 / a + 12.0 / f64::sqrt(a)).ln_1p();
            let cdf = integrated(low, 30.0 / a + 12.0 / f64::sqrt(a), |y| -a * (y + (-y).exp_m1()));
            test("inv_gamma", |r| r.inv_gamma(a, 5.0), |x| cdf((x * a / 5.0).ln()));
            test("inv_chi_square", |r| r.inv_chi_square(2.0 * a), |x| cdf((x * 2.0 * a).ln()));
            test("scaled_inv_chi_square", |r| r.scaled_inv_chi_square(2.0 * a, 0.3), |x| cdf((x / 0.09).ln()));
        }
    }

    #[test]
    fn skewed_draws() {
        for shape in [0.0, 1.0, -4.0, 1e3] {
            let cdf = integrated(-9.0, 9.0, |z| -0.5 * z * z + normal_cdf(shape * z).max(1e-300).ln());
            test("skew_normal", |r| r.skew_normal(2.0, 0.5, shape), |x| cdf((x - 2.0) / 0.5));
        }
        for rate in [0.1, 1.0, 5.0, 1e6] {
            let sample = Sample::draw(N, &mut stream(2), |r| r.exp_mod_normal(1.0, 2.0, rate).unwrap());
            sample.has_moments("exp_mod_normal", 1.0 + 1.0 / rate, 4.0 + 1.0 / (rate * rate));
        }
        let rate = 0.7;
        let upper = |x: f64| f_exp(0.5 * rate * rate - rate * x) * normal_cdf(x - rate);
        test("exp_mod_normal", |r| r.exp_mod_normal(0.0, 1.0, rate), |x| normal_cdf(x) - upper(x));
    }

    #[test]
    fn impossible_parameters_are_errors() {
        let mut s = stream(3);
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            assert!(s.lognormal(0.0, bad).is_err() && s.double_exponential(0.0, bad).is_err());
            assert!(s.logistic(0.0, bad).is_err() && s.gumbel(0.0, bad).is_err());
            assert!(s.weibull(bad, 1.0).is_err() && s.frechet(1.0, bad).is_err() && s.rayleigh(bad).is_err());
            assert!(s.pareto(bad, 1.0).is_err() && s.inv_gamma(bad, 1.0).is_err() && s.inv_chi_square(bad).is_err());
            assert!(s.scaled_inv_chi_square(1.0, bad).is_err() && s.skew_normal(0.0, bad, 1.0).is_err());
            assert!(s.exp_mod_normal(0.0, 1.0, bad).is_err());
        }
    }
}
