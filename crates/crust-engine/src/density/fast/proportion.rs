//! The beta distribution by its mean and precision.

use crust_math::lanes::scalar::{digamma, lgamma, log, log1p};

use super::positive::inner;
use super::row::{Hoisted, Space, all, each, finite, ordinary};
use crate::machine::Rows;

/// With α = μκ and β = κ − μκ: (α − 1) log y + (β − 1) log(1 − y) + log Γ(κ) − log Γ(α) − log Γ(β)
#[inline(always)]
pub fn beta_proportion(rows: &mut Rows) -> bool {
    let ([y, mu, kappa, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    if !(terms.keep(0b111) && all(y, inner) && all(mu, inner) && all(kappa, ordinary)) {
        return false;
    }
    let (mut alpha, mut beta) = (Space::empty(), Space::empty());
    alpha.zeros(y.len());
    beta.zeros(y.len());
    each!([mu, kappa], [], [alpha, beta], {
        *alpha = mu * kappa;
        *beta = kappa - mu * kappa;
    });
    // A mean that rounding puts on the edge.
    if !(all(&alpha, ordinary) && all(&beta, ordinary)) {
        return false;
    }
    let slopes = wanted & 0b110 != 0;
    let mut spaces = [const { Space::empty }; 6].map(|empty| empty());
    let [lgamma_alpha, lgamma_beta, lgamma_kappa, psi_alpha, psi_beta, psi_kappa] = &mut spaces;
    for (x, keep, value, slope) in [
        (&*alpha, terms.keep(0b110), lgamma_alpha, psi_alpha),
        (&*beta, terms.keep(0b110), lgamma_beta, psi_beta),
        (kappa, terms.keep(0b100), lgamma_kappa, psi_kappa),
    ] {
        let mut hoisted = Hoisted::new(x);
        hoisted.map(
            keep,
            value,
            #[inline(always)]
            |x| lgamma(x),
        );
        hoisted.map(
            slopes,
            slope,
            #[inline(always)]
            |x| digamma(x),
        );
    }
    let (mut log_y, mut log1m_y) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(0);
    hoisted.map(
        true,
        &mut log_y,
        #[inline(always)]
        |y| log(y),
    );
    hoisted.map(
        true,
        &mut log1m_y,
        #[inline(always)]
        |y| log1p(-y),
    );
    let [lgamma_alpha, lgamma_beta, lgamma_kappa, psi_alpha, psi_beta, psi_kappa] = &spaces;
    let value = &mut *rows.value;
    let [d_y, d_mu, d_kappa, ..] = rows.partials;
    each!([alpha, beta, lgamma_alpha, lgamma_beta, lgamma_kappa, log_y, log1m_y], [], [value], {
        let norm = lgamma_kappa - lgamma_alpha - lgamma_beta;
        *value = (alpha - 1.0) * log_y + (beta - 1.0) * log1m_y + norm;
    });
    each!([mu, kappa, psi_alpha, psi_beta, psi_kappa, log_y, log1m_y], [], [d_mu, d_kappa], {
        let (d_alpha, d_beta) = (log_y - psi_alpha, log1m_y - psi_beta);
        *d_mu = kappa * (d_alpha - d_beta);
        *d_kappa = psi_kappa + mu * d_alpha + (1.0 - mu) * d_beta;
    });
    if wanted & 1 != 0 {
        each!([y, alpha, beta], [], [d_y], {
            *d_y = (alpha - 1.0) / y - (beta - 1.0) / (1.0 - y);
        });
    }
    all(value, finite)
}
