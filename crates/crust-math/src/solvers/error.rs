//! Why a solver gave up: every reason rejects the point at which it happened, as a domain error does in Stan.

use std::error::Error;
use std::fmt;

/// A solver's failure. All but [`SolverError::Callback`] are of the solver's own making.
#[derive(Debug)]
pub enum SolverError {
    /// The user's function failed; its error passes through untouched.
    Callback(Box<dyn Error + Send + Sync>),
    /// An argument must be finite.
    NotFinite(&'static str),
    /// An argument must have at least one element.
    Empty(&'static str),
    /// A tolerance or a maximal number of steps must be positive.
    NotPositive(&'static str),
    /// A tolerance must not be negative.
    Negative(&'static str),
    /// `times[index]` is smaller than its predecessor.
    TimesNotSorted { index: usize },
    /// The first output time does not lie after the initial time.
    NotAfterStart { time: f64, start: f64 },
    /// The rate of change is not a number.
    RateNotANumber { time: f64 },
    /// The next output time is further away than the allowed steps reach.
    TooManySteps { time: f64 },
    /// No step size satisfied the error test.
    ErrorTest { time: f64 },
    /// The corrector's Newton iteration did not converge for any step size.
    Corrector { time: f64 },
    /// The tolerances ask for more digits than the state has.
    ToleranceTooSmall { time: f64 },
    /// The limits of an integral are in the wrong order or not numbers.
    LimitsNotSorted { lower: f64, upper: f64 },
    /// Both limits are the same infinity.
    LimitsBothInfinite { limit: f64 },
    /// The estimated error of an integral exceeds its tolerance times the integral of the absolute value.
    IntegralTolerance { part: &'static str, error: f64 },
    /// The integrand is singular inside of the interval, or finite nowhere.
    IntegrandNotFinite,
    /// The integrand does not vanish at an infinite limit.
    IntegrandDoesNotVanish { value: f64 },
    /// The integrand's derivative by a parameter is not a number although the integrand is not zero.
    GradientNotANumber { parameter: usize },
    /// An algebraic solver used up its steps.
    TooManyIterations { maximum: u64 },
    /// The algebraic solver stopped where the equations do not hold.
    NotARoot { norm: f64, tolerance: f64 },
    /// No point along Newton's direction reduces the equations' norm.
    LineSearch,
    /// The equations' Jacobian cannot be inverted.
    SingularJacobian,
}

impl fmt::Display for SolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Callback(error) => error.fmt(f),
            Self::NotFinite(what) => write!(f, "{what} must be finite"),
            Self::Empty(what) => write!(f, "{what} must have at least one element"),
            Self::NotPositive(what) => write!(f, "{what} must be positive and finite"),
            Self::Negative(what) => write!(f, "{what} must not be negative"),
            Self::TimesNotSorted { index } => {
                write!(f, "times must not decrease, but times[{}] is smaller than the time before it", index + 1)
            }
            Self::NotAfterStart { time, start } => {
                write!(f, "the initial time is {start}, but must be less than the first output time, {time}")
            }
            Self::RateNotANumber { time } => write!(f, "the rate of change is not a number at time {time}"),
            Self::TooManySteps { time } => {
                write!(f, "output time {time} was not reached within max_num_steps steps")
            }
            Self::ErrorTest { time } => write!(f, "no step size after time {time} satisfies the tolerances"),
            Self::Corrector { time } => {
                write!(f, "the implicit equations after time {time} were not solved for any step size")
            }
            Self::ToleranceTooSmall { time } => {
                write!(f, "the tolerances at time {time} are below the rounding error of the state")
            }
            Self::LimitsNotSorted { lower, upper } => {
                write!(f, "the lower limit of the integral is {lower}, but must be at most the upper limit, {upper}")
            }
            Self::LimitsBothInfinite { limit } => write!(f, "both limits of the integral are {limit}"),
            Self::IntegralTolerance { part, error } => write!(
                f,
                "the error estimate of the integral{part}, {error}, exceeds the relative tolerance times its norm"
            ),
            Self::IntegrandNotFinite => f.write_str("the integrand has a singularity inside of the interval"),
            Self::IntegrandDoesNotVanish { value } => {
                write!(f, "the integrand must go to zero at infinity, but goes to {value}")
            }
            Self::GradientNotANumber { parameter } => {
                write!(f, "the integrand's derivative by parameter {} is not a number", parameter + 1)
            }
            Self::TooManyIterations { maximum } => {
                write!(f, "the maximum number of iterations ({maximum}) was exceeded in the solve")
            }
            Self::NotARoot { norm, tolerance } => write!(
                f,
                "the norm of the algebraic function is {norm}, but should be lower than the function tolerance, \
                 {tolerance}"
            ),
            Self::LineSearch => {
                f.write_str("no step along Newton's direction brings the algebraic function nearer to 0")
            }
            Self::SingularJacobian => f.write_str("the Jacobian of the algebraic function is singular"),
        }
    }
}

impl Error for SolverError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Callback(error) => error.source(),
            _ => None,
        }
    }
}

/// Fails where some element is infinite or not a number.
pub(super) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), SolverError> {
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(SolverError::NotFinite(what)) }
}

/// Fails on an empty slice.
pub(super) fn check_not_empty(what: &'static str, values: &[f64]) -> Result<(), SolverError> {
    if values.is_empty() { Err(SolverError::Empty(what)) } else { Ok(()) }
}

/// Fails unless the value is positive and finite.
pub(super) fn check_positive(what: &'static str, value: f64) -> Result<(), SolverError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(SolverError::NotPositive(what)) }
}

/// Fails on negative values and NaN.
pub(super) fn check_not_negative(what: &'static str, value: f64) -> Result<(), SolverError> {
    if value >= 0.0 { Ok(()) } else { Err(SolverError::Negative(what)) }
}
