//! The value of a log density with its partial derivatives, and which of its terms are wanted.

use std::fmt;

/// A log density, log probability or cumulative probability with the partial derivative for each argument, in the order
/// of the arguments (the variate first). Partials for integer arguments are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partials<const N: usize> {
    pub value: f64,
    pub d: [f64; N],
}

impl<const N: usize> Partials<N> {
    /// A value that depends on nothing.
    pub fn constant(value: f64) -> Self {
        Self { value, d: [0.0; N] }
    }
}

/// Which terms of a log density are computed. In Stan's `propto` mode (the `~` statement, `_lupdf`) a term is dropped
/// if it depends only on arguments that are data; a normalised density keeps all terms.
///
/// Arguments are numbered as in [`Partials`]: bit `i` stands for argument `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    propto: bool,
    varying: u32,
}

impl Terms {
    /// All terms: `_lpdf`.
    pub const ALL: Self = Self { propto: false, varying: u32::MAX };

    /// Only terms that depend on one of the arguments in the mask `varying`: `_lupdf`, `~`.
    pub fn varying(varying: u32) -> Self {
        Self { propto: true, varying }
    }

    /// Whether a term that depends on the arguments in `mask` is wanted. A constant term has the mask 0.
    #[inline]
    pub fn keep(self, mask: u32) -> bool {
        !self.propto || self.varying & mask != 0
    }
}

/// Arguments outside of the domain of a distribution or function: the point is rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainError {
    pub function: &'static str,
    /// The argument's name as in the Stan documentation, such as "Scale parameter".
    pub argument: &'static str,
    pub value: f64,
    /// Completes "must be …", such as "positive finite".
    pub must_be: &'static str,
}

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is {}, but must be {}", self.function, self.argument, self.value, self.must_be)
    }
}

impl std::error::Error for DomainError {}

/// The result of a density.
pub type Density<const N: usize> = Result<Partials<N>, DomainError>;

/// Domain checks in Stan's words, one constructor for each kind. NaN fails all of them.
#[derive(Clone, Copy, Debug)]
pub struct Domain(pub &'static str);

impl Domain {
    fn check(self, ok: bool, argument: &'static str, value: f64, must_be: &'static str) -> Result<(), DomainError> {
        if ok { Ok(()) } else { Err(DomainError { function: self.0, argument, value, must_be }) }
    }

    pub fn not_nan(self, argument: &'static str, x: f64) -> Result<(), DomainError> {
        self.check(!x.is_nan(), argument, x, "a number")
    }

    pub fn finite(self, argument: &'static str, x: f64) -> Result<(), DomainError> {
        self.check(x.is_finite(), argument, x, "finite")
    }

    pub fn positive(self, argument: &'static str, x: f64) -> Result<(), DomainError> {
        self.check(x > 0.0, argument, x, "positive")
    }

    pub fn positive_finite(self, argument: &'static str, x: f64) -> Result<(), DomainError> {
        self.check(x > 0.0 && x.is_finite(), argument, x, "positive finite")
    }

    pub fn nonnegative(self, argument: &'static str, x: f64) -> Result<(), DomainError> {
        self.check(x >= 0.0, argument, x, "nonnegative")
    }

    /// `low ≤ x ≤ high`, both included.
    pub fn bounded(
        self,
        argument: &'static str,
        x: f64,
        low: f64,
        high: f64,
        must_be: &'static str,
    ) -> Result<(), DomainError> {
        self.check(x >= low && x <= high, argument, x, must_be)
    }

    pub fn that(self, ok: bool, argument: &'static str, x: f64, must_be: &'static str) -> Result<(), DomainError> {
        self.check(ok, argument, x, must_be)
    }
}
