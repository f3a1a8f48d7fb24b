//! Posteriors of one or two numbers (the others integrated out by hand), by quadrature.

use crate::Truth;
use crate::posterior;
use crate::quadrature::{averages, moments, normal, positive, unit};
use serde_json::json;

#[test]
fn mixture() {
    let y: [f64; 10] = [-1.4, 2.2, 1.6, -0.3, 2.9, 1.1, -2.0, 0.4, 2.5, 3.1];
    let log_density = |[t, s]: [f64; 2]| {
        let ((theta, theta_jacobian), (sigma, _)) = (unit(t), positive(s));
        let mixed = |y: f64| (theta * normal(y, -1.0, sigma).exp() + (1.0 - theta) * normal(y, 2.0, sigma).exp()).ln();
        // log σ is normal(0, ½)
        (theta * (1.0 - theta)).ln() + theta_jacobian + normal(s, 0.0, 0.5) + y.into_iter().map(mixed).sum::<f64>()
    };
    let truths = moments(["theta", "sigma"], [(-12.0, 12.0), (-2.0, 3.0)], log_density, |[t, s]| [unit(t).0, s.exp()]);
    posterior!("mixture", json!({"N": y.len(), "y": y}), truths);
}

#[test]
fn logistic_regression() {
    let x: [f64; 12] = [-2.1, -1.6, -1.2, -0.8, -0.3, 0.0, 0.2, 0.7, 1.0, 1.4, 1.9, 2.5];
    let y = [0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1];
    let log_density = |[alpha, beta]: [f64; 2]| {
        let term = |(x, y): (&f64, i32)| {
            let eta = alpha + beta * x;
            f64::from(y) * eta - (1.0 + eta.exp()).ln()
        };
        let student = -4.0 * (1.0 + (beta / 2.0).powi(2) / 7.0).ln();
        normal(alpha, 0.0, 2.5) + student + x.iter().zip(y).map(term).sum::<f64>()
    };
    let truths = moments(["alpha", "beta"], [(-9.0, 9.0), (-5.0, 11.0)], log_density, |x| x);
    posterior!("logistic_regression", json!({"N": x.len(), "x": x, "y": y}), truths);
}

#[test]
fn poisson_regression() {
    let x: [f64; 8] = [-1.5, -1.0, -0.4, 0.1, 0.3, 0.8, 1.2, 1.7];
    let log_exposure = [0.0, 0.5, -0.3, 0.2, 0.9, 0.0, -0.7, 0.4];
    let y = [1, 0, 1, 3, 5, 3, 2, 9];
    let log_density = |[alpha, beta]: [f64; 2]| {
        let term = |((x, offset), y): ((&f64, f64), i32)| {
            let eta = alpha + beta * x + offset;
            f64::from(y) * eta - eta.exp()
        };
        let prior = normal(alpha, 0.0, 2.0) + normal(beta, 0.0, 1.0);
        prior + x.iter().zip(log_exposure).zip(y).map(term).sum::<f64>()
    };
    let truths = moments(["alpha", "beta[1]"], [(-3.0, 3.0), (-2.0, 4.0)], log_density, |x| x);
    let column = x.map(|x| [x]);
    posterior!("poisson_regression", json!({"N": x.len(), "x": column, "log_exposure": log_exposure, "y": y}), truths);
}

#[test]
fn negative_binomial() {
    let y = [3, 0, 7, 2, 12, 1, 4, 5, 0, 9];
    let log_density = |[t, s]: [f64; 2]| {
        let ((mu, mu_jacobian), (phi, _)) = (positive(t), positive(s));
        // Γ(y + φ)/Γ(φ) is the product of φ, φ + 1, …, φ + y − 1
        let term = |y: i32| {
            let rising: f64 = (0..y).map(|k| (phi + f64::from(k)).ln()).sum();
            rising + phi * (phi / (mu + phi)).ln() + f64::from(y) * (mu / (mu + phi)).ln()
        };
        mu.ln() - 0.5 * mu + mu_jacobian + normal(s, 0.5, 0.7) + y.into_iter().map(term).sum::<f64>()
    };
    let truths = moments(["mu", "phi"], [(-1.5, 4.5), (-4.5, 5.5)], log_density, |[t, s]| [t.exp(), s.exp()]);
    posterior!("negative_binomial", json!({"N": y.len(), "y": y}), truths);
}

#[test]
fn autoregression() {
    let y = [1.1, 0.4, 1.3, 1.9, 0.8, 0.9, -0.5, -0.2, 0.6, 1.5, 2.2, 1.0, -0.1, 0.3];
    let log_density = |[t, s]: [f64; 2]| {
        let ((p, phi_jacobian), (sigma, sigma_jacobian)) = (unit(t), positive(s));
        let phi = 2.0 * p - 1.0;
        let steps: f64 = y.windows(2).map(|pair| normal(pair[1], phi * pair[0], sigma)).sum();
        // 1 − φ² = 4p(1 − p) without loss of digits near the ends
        let stationary = sigma / (2.0 * (0.5 * phi_jacobian).exp());
        normal(y[0], 0.0, stationary) + steps - sigma + phi_jacobian + sigma_jacobian
    };
    let quantities = |[t, s]: [f64; 2]| [2.0 * unit(t).0 - 1.0, s.exp()];
    let truths = moments(["phi", "sigma"], [(-12.0, 22.0), (-2.0, 2.5)], log_density, quantities);
    posterior!("autoregression", json!({"T": y.len(), "y": y}), truths);
}

#[test]
fn censored() {
    let (y, at_least) = ([0.7, 1.9, 2.4, 0.3, 3.1, 1.2, 2.2], [3.5, 3.5, 1.5, 2.0]);
    let log_density = |[t, s]: [f64; 2]| {
        let ((shape, shape_jacobian), (scale, scale_jacobian)) = (positive(t), positive(s));
        let log_survival = |y: &f64| -(y / scale).powf(shape);
        let seen = |y: &f64| (shape / scale).ln() + (shape - 1.0) * (y / scale).ln() + log_survival(y);
        let prior = 3.0 * t - 2.0 * shape + s - 0.5 * scale;
        let likelihood = y.iter().map(seen).sum::<f64>() + at_least.iter().map(log_survival).sum::<f64>();
        prior + likelihood + shape_jacobian + scale_jacobian
    };
    let truths = moments(["shape", "scale"], [(-2.5, 2.5), (-1.5, 4.5)], log_density, |[t, s]| [t.exp(), s.exp()]);
    let data = json!({"N": y.len(), "N_censored": at_least.len(), "y": y, "at_least": at_least});
    posterior!("censored", data, truths);
}

#[test]
fn robust_location() {
    let y = [1.2, 0.7, 1.9, 1.4, 9.5, 0.2, 1.1, 2.3];
    let log_density = |[mu, s]: [f64; 2]| {
        let (sigma, sigma_jacobian) = positive(s);
        let term = |y: f64| -2.5 * (1.0 + ((y - mu) / sigma).powi(2) / 4.0).ln() - s;
        normal(mu, 0.0, 5.0) - 0.5 * (sigma / 2.0).powi(2) + sigma_jacobian + y.into_iter().map(term).sum::<f64>()
    };
    let truths = moments(["mu", "sigma"], [(-10.0, 14.0), (-4.0, 3.5)], log_density, |[mu, s]| [mu, s.exp()]);
    posterior!("robust_location", json!({"N": y.len(), "y": y}), truths);
}

#[test]
fn decay() {
    let t: [f64; 6] = [0.5, 1.0, 1.5, 2.5, 4.0, 6.0];
    let y = [1.7, 1.1, 1.0, 0.4, 0.3, 0.1];
    let log_density = |[s, r]: [f64; 2]| {
        let (k, (amount, jacobian)) = (s.exp(), positive(r));
        let term = |(t, y): (f64, f64)| normal(y, amount * (-k * t).exp(), 0.2);
        normal(s, -0.5, 0.7) + normal(amount, 2.0, 1.0) + jacobian + t.into_iter().zip(y).map(term).sum::<f64>()
    };
    let truths = moments(["k", "A"], [(-3.0, 2.0), (-1.2, 2.0)], log_density, |[s, r]| [s.exp(), r.exp()]);
    posterior!("decay", json!({"N": t.len(), "t": t, "y": y}), truths);
}

/// Given τ, yⱼ is normal around μ with variance σⱼ² + τ² and μ has a normal prior, so μ and then each θⱼ are normal
/// with known moments, which are averaged over τ; its density is the prior times the density of y without μ and θ.
#[test]
fn eight_schools() {
    let y = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
    let sigma = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0_f64];
    let spread = |tau: f64| sigma.map(|sigma| sigma.hypot(tau));
    let centre = |tau: f64| {
        let (mut precision, mut h) = (1.0 / 25.0, 0.0);
        for (y, sd) in y.iter().zip(spread(tau)) {
            precision += sd.powi(-2);
            h += y * sd.powi(-2);
        }
        (h / precision, 1.0 / precision)
    };
    let log_density = |[t]: [f64; 1]| {
        let (tau, jacobian) = positive(t);
        // p(y | τ) = p(y | μ, τ) p(μ) / p(μ | y, τ), at the mean of the last
        let (mean, variance) = centre(tau);
        let joint: f64 = y.iter().zip(spread(tau)).map(|(y, sd)| normal(*y, mean, sd)).sum();
        joint + normal(mean, 0.0, 5.0) + 0.5 * variance.ln() - (1.0 + (tau / 5.0).powi(2)).ln() + jacobian
    };
    // first the means, then the squares
    let quantities = |[t]: [f64; 1]| -> [f64; 20] {
        let tau = t.exp();
        let (mean, variance) = centre(tau);
        let conditional = |i: usize| match i {
            0 => (mean, variance),
            1 => (tau, 0.0),
            _ => {
                // θ = μ + (1 − shrink)(y − μ) + noise of variance shrink·τ²
                let (y, sigma) = (y[i - 2], sigma[i - 2]);
                let shrink = sigma.powi(2) / (sigma.powi(2) + tau.powi(2));
                (shrink * mean + (1.0 - shrink) * y, shrink.powi(2) * variance + shrink * tau.powi(2))
            }
        };
        std::array::from_fn(|q| {
            let (mean, variance) = conditional(q % 10);
            if q < 10 { mean } else { mean * mean + variance }
        })
    };
    let found = averages([(-25.0, 6.5)], log_density, quantities);
    let name = |i: usize| match i {
        0 => "mu".to_owned(),
        1 => "tau".to_owned(),
        _ => format!("theta[{}]", i - 1),
    };
    let truths: Vec<Truth> =
        (0..10).map(|i| Truth::new(&name(i), found[i], (found[10 + i] - found[i].powi(2)).sqrt())).collect();
    posterior!("eight_schools", json!({"J": 8, "y": y, "sigma": sigma}), truths);
}
