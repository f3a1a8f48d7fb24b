//! Distributions with known moments, over every kind of constrained parameter.

use crate::Truth;
use crate::algebra::gamma_of_half;
use crate::conjugate::dirichlet;
use crate::posterior;
use crate::quadrature::{moments, normal, positive, unit};
use serde_json::json;
use std::f64::consts::PI;

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

#[test]
fn families() {
    let delta = 3.0 / 10.0_f64.sqrt();
    let lognormal = 0.28_f64.exp();
    let truths = [
        Truth::new("a_lognormal", lognormal, lognormal * (0.16_f64.exp() - 1.0).sqrt()),
        Truth::new("an_exponential", 0.5, 0.5),
        Truth::new("a_weibull", 1.5 * PI.sqrt(), 3.0 * (1.0 - PI / 4.0).sqrt()),
        Truth::new("an_inverse_gamma", 0.5, 0.5 / 7.0_f64.sqrt()),
        Truth::new("a_chi_square", 5.0, 10.0_f64.sqrt()),
        Truth::new("a_beta", 0.3, (0.3 * 0.7 / 7.0_f64).sqrt()),
        Truth::new("a_student_t", 1.0, 2.0 * (12.0 / 10.0_f64).sqrt()),
        Truth::new("a_logistic", 1.0, 0.5 * PI / 3.0_f64.sqrt()),
        Truth::new("a_double_exponential", -2.0, 0.5 * 2.0_f64.sqrt()),
        Truth::new("a_gumbel", 0.5 + 2.0 * EULER, 2.0 * PI / 6.0_f64.sqrt()),
        Truth::new(
            "a_skew_normal",
            1.0 + 2.0 * delta * (2.0 / PI).sqrt(),
            2.0 * (1.0 - 2.0 * delta * delta / PI).sqrt(),
        ),
    ];
    posterior!("families", json!({}), truths);
}

#[test]
fn truncated() {
    let mut truths = vec![
        Truth::new("half", 3.0 * (2.0 / PI).sqrt(), 3.0 * (1.0 - 2.0 / PI).sqrt()),
        // `inner` has a normalised density given `outer`, which therefore keeps its own
        Truth::new("outer", 2.0, 1.0),
    ];
    let between = |t: f64| -1.0 + 3.0 * unit(t).0;
    let log_density = |[t]: [f64; 1]| normal(between(t), 0.5, 1.5) + unit(t).1;
    truths.extend(moments(["between"], [(-25.0, 25.0)], log_density, |[t]| [between(t)]));
    let below = |t: f64| 1.0 - positive(t).0;
    let log_density = |[t]: [f64; 1]| normal(below(t), 2.0, 1.0) + positive(t).1;
    truths.extend(moments(["below"], [(-25.0, 3.0)], log_density, |[t]| [below(t)]));
    let pair = |[t, s]: [f64; 2]| (positive(t).0, positive(t).0 * unit(s).0);
    let log_density = |x: [f64; 2]| {
        let (outer, inner) = pair(x);
        let log_jacobian = positive(x[0]).1 + outer.ln() + unit(x[1]).1;
        3.0 * outer.ln() - 2.0 * outer - inner - (1.0 - (-outer).exp()).ln() + log_jacobian
    };
    truths.extend(moments(["inner"], [(-7.0, 4.0), (-25.0, 25.0)], log_density, |x| [pair(x).1]));
    posterior!("truncated", json!({}), truths);
}

/// An LKJ matrix of 3 rows and shape η has correlations (and the partial correlations of the first tree) with density ∝
/// (1 − r²)^(η − ½), and an independent partial correlation z of the second tree with density ∝ (1 − z²)^(η − 1).
#[test]
fn correlations() {
    let omega = |name: &str| Truth::new(name, 0.0, 1.0 / 6.0_f64.sqrt());
    let factor = |name: &str| Truth::new(name, 0.0, 1.0 / 5.0_f64.sqrt());
    // with η = 3/2: E√(1 − r²) = (3π/8)/(4/3) and E√(1 − z²) = (4/3)/(π/2), E(1 − r²) = 4/5 and E(1 − z²) = 3/4
    let (root_r, root_z) = (9.0 * PI / 32.0, 8.0 / (3.0 * PI));
    let third = root_r * root_z;
    let truths = [
        omega("Omega[2,1]"),
        omega("Omega[3,1]"),
        omega("Omega[3,2]"),
        factor("L[2,1]"),
        factor("L[3,1]"),
        // z·√(1 − r²): 1/4 times 4/5
        factor("L[3,2]"),
        factor("r_23"),
        Truth::new("L[2,2]", root_r, (0.8 - root_r * root_r).sqrt()),
        Truth::new("L[3,3]", third, (0.6 - third * third).sqrt()),
    ];
    posterior!("correlations", json!({}), truths);
}

#[test]
fn order_statistics() {
    let extreme = 1.5 / PI.sqrt();
    let root = 3.0_f64.sqrt();
    let extreme_sd = (1.0 + root / (2.0 * PI) - 2.25 / PI).sqrt();
    let mut truths = vec![
        Truth::new("c[1]", -extreme, extreme_sd),
        Truth::new("c[2]", 0.0, (1.0 - root / PI).sqrt()),
        Truth::new("c[3]", extreme, extreme_sd),
    ];
    // the gaps between ordered exponentials are exponentials of rates 3, 2 and 1
    let (mut mean, mut variance) = (0.0, 0.0_f64);
    for (i, rate) in [3.0, 2.0, 1.0_f64].into_iter().enumerate() {
        mean += 1.0 / rate;
        variance += rate.powi(-2);
        truths.push(Truth::new(&format!("w[{}]", i + 1), mean, variance.sqrt()));
    }
    posterior!("order_statistics", json!({}), truths);
}

#[test]
fn wishart() {
    let scale: [[f64; 3]; 3] = [[1.0, 0.5, -0.2], [0.5, 2.0, 0.3], [-0.2, 0.3, 0.6]];
    let (nu, nu_inverse) = (7.0, 16.0);
    let mut truths = Vec::new();
    for i in 0..3 {
        for j in 0..=i {
            let (entry, diagonal) = (scale[i][j], scale[i][i] * scale[j][j]);
            let name = |matrix: &str| format!("{matrix}[{},{}]", i + 1, j + 1);
            let variance = nu * (entry * entry + diagonal);
            truths.push(Truth::new(&name("W"), nu * entry, variance.sqrt()));
            let spare: f64 = nu_inverse - 3.0;
            let below = spare * (spare - 1.0).powi(2) * (spare - 3.0);
            let variance = ((spare + 1.0) * entry * entry + (spare - 1.0) * diagonal) / below;
            truths.push(Truth::new(&name("V"), entry / (spare - 1.0), variance.sqrt()));
            if i == j {
                // the root of a chi-square with ν − i + 1 degrees of freedom
                let freedom = 7 - i as u32;
                let mean = 2.0_f64.sqrt() * gamma_of_half(freedom + 1) / gamma_of_half(freedom);
                truths.push(Truth::new(&name("L"), mean, (f64::from(freedom) - mean * mean).sqrt()));
            } else {
                truths.push(Truth::new(&name("L"), 0.0, 1.0));
            }
        }
    }
    posterior!("wishart", json!({"K": 3, "nu": nu, "nu_inverse": nu_inverse, "S": scale}), truths);
}

#[test]
fn directions() {
    let kappa: f64 = 2.0;
    // the third coordinate has density ∝ exp(κt) between −1 and 1, the others share 1 − t²
    let mean = 1.0 / kappa.tanh() - 1.0 / kappa;
    let square = 1.0 - 2.0 * mean / kappa;
    let side = ((1.0 - square) / 2.0).sqrt();
    let mut truths = vec![
        Truth::new("u[1]", 0.0, side),
        Truth::new("u[2]", 0.0, side),
        Truth::new("u[3]", mean, (square - mean * mean).sqrt()),
    ];
    // four normals without their mean: variance 2²·(1 − 1/4)
    truths.extend((1..=4).map(|i| Truth::new(&format!("z[{i}]"), 0.0, 3.0_f64.sqrt())));
    truths.extend(dirichlet(&[1.0, 2.0, 3.0], |i| format!("P[{i},1]")));
    truths.extend(dirichlet(&[4.0, 1.0, 2.0], |i| format!("P[{i},2]")));
    posterior!("directions", json!({"kappa": kappa}), truths);
}
