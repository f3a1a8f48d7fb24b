//! Functions of three numbers.

use super::Ternary;
use crate::density::{Density, Domain, Partials};
use crate::special;

pub(super) const ALL: &[Ternary] = &[
    Ternary { name: "fma", at: |x, y, z| Ok(Partials { value: x.mul_add(y, z), d: [y, x, 1.0] }) },
    Ternary { name: "inc_beta", at: inc_beta },
    Ternary { name: "inv_inc_beta", at: inv_inc_beta },
    Ternary { name: "log_mix", at: log_mix },
];

fn inc_beta(a: f64, b: f64, x: f64) -> Density<3> {
    let domain = Domain("inc_beta");
    domain.positive("a", a)?;
    domain.positive("b", b)?;
    domain.bounded("x", x, 0.0, 1.0, "in the interval [0, 1]")?;
    Ok(special::inc_beta_partials(a, b, x))
}

fn inv_inc_beta(a: f64, b: f64, p: f64) -> Density<3> {
    let domain = Domain("inv_inc_beta");
    domain.positive("a", a)?;
    domain.positive("b", b)?;
    domain.bounded("p", p, 0.0, 1.0, "in the interval [0, 1]")?;
    Ok(special::inv_inc_beta_partials(a, b, p))
}

fn log_mix(theta: f64, first: f64, second: f64) -> Density<3> {
    let domain = Domain("log_mix");
    domain.not_nan("lambda1", first)?;
    domain.not_nan("lambda2", second)?;
    domain.bounded("theta", theta, 0.0, 1.0, "in the interval [0, 1]")?;
    Ok(special::log_mix_partials(theta, first, second))
}
