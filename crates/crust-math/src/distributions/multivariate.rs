//! Distributions of vectors and matrices.
//!
//! Every density of [`ALL`] takes whole containers, checks them as Stan does, and adds all partial derivatives. The
//! partial derivatives of a symmetric matrix treat its elements as n² variables, half of the slope at each of a pair;
//! those of a triangular one are left alone above its diagonal. Factors are computed once for all observations of a
//! call.

mod categories;
mod correlation;
mod elliptical;
mod glm;
mod hmm;
mod kalman;
mod layout;
mod process;
#[cfg(test)]
mod tests;
mod wiener;
mod wiener_mixture;
mod wishart;

pub(crate) use hmm::filtered as hmm_filtered;
pub use hmm::{hmm_hidden_state_prob, hmm_memory};
pub(crate) use layout::Containers;
pub use wiener::wiener_lpdf;

use crate::functions::VectorDensity;
use categories::{Categorical, CategoricalLogit, Counts, Multinomial, Ordered};
use correlation::{Dirichlet, LkjCholesky, LkjCorrelation};
use elliptical::{Elliptical, Scale};
use glm::{CategoricalGlm, OrderedGlm};
use process::{MatrixNormal, Process};
use wishart::Wishart;

/// Every log density in this module.
pub const ALL: &[&dyn VectorDensity] = &[
    &Elliptical { name: "multi_normal_lpdf", scale: Scale::Covariance, student: false },
    &Elliptical { name: "multi_normal_prec_lpdf", scale: Scale::Precision, student: false },
    &Elliptical { name: "multi_normal_cholesky_lpdf", scale: Scale::Cholesky, student: false },
    &Elliptical { name: "multi_student_t_lpdf", scale: Scale::Covariance, student: true },
    &Elliptical { name: "multi_student_t_cholesky_lpdf", scale: Scale::Cholesky, student: true },
    &Process { name: "multi_gp_lpdf", cholesky: false },
    &Process { name: "multi_gp_cholesky_lpdf", cholesky: true },
    &MatrixNormal,
    &kalman::LinearModel,
    &Dirichlet,
    &LkjCorrelation,
    &LkjCholesky,
    &Wishart { name: "wishart_lpdf", inverse: false, cholesky: false },
    &Wishart { name: "wishart_cholesky_lpdf", inverse: false, cholesky: true },
    &Wishart { name: "inv_wishart_lpdf", inverse: true, cholesky: false },
    &Wishart { name: "inv_wishart_cholesky_lpdf", inverse: true, cholesky: true },
    &Categorical,
    &CategoricalLogit,
    &Ordered { probit: false },
    &Ordered { probit: true },
    &Multinomial { counts: Counts::Probabilities },
    &Multinomial { counts: Counts::Logits },
    &Multinomial { counts: Counts::Dirichlet },
    &CategoricalGlm,
    &OrderedGlm,
    &hmm::Marginal,
    &wiener::Wiener,
];
