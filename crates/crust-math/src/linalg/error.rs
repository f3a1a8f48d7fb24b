//! Why a matrix has no such decomposition.

/// Why a matrix has no such decomposition, or why it was not found.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LinalgError {
    /// A pivot of the Cholesky factorisation is not positive (or not a number).
    #[error("the matrix is not positive definite: the pivot of row {row} is {pivot}")]
    NotPositiveDefinite {
        /// From 1.
        row: usize,
        pivot: f64,
    },
    #[error("the matrix is singular: column {column} has no pivot other than 0")]
    Singular {
        /// From 1.
        column: usize,
    },
    /// An iteration for eigenvalues or singular values reached its limit.
    #[error("the iteration has not converged after {limit} steps")]
    NoConvergence { limit: usize },
}

impl LinalgError {
    /// The number that tells most: the pivot, or the limit of an iteration.
    #[expect(clippy::cast_precision_loss, reason = "limits are small")]
    pub fn value(self) -> f64 {
        match self {
            Self::NotPositiveDefinite { pivot, .. } => pivot,
            Self::Singular { .. } => 0.0,
            Self::NoConvergence { limit } => limit as f64,
        }
    }
}
