//! Numerical solvers of Stan's library, found by name.

use crust_math::solvers::ode::Method;

/// What is solved, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// y' = f(t, y, …) from an initial state and time, at given times.
    Ode(Method),
    /// As well, by the method that the tolerances of the adjoint solver name. Derivatives are integrated forward all
    /// the same.
    AdjointOde,
    /// ∫ f(x, xc, …) dx between two limits.
    Integral,
    /// f(x, …) = 0 by Newton's method, from a guess.
    Newton,
    /// f(x, …) = 0 by Powell's method, from a guess.
    Powell,
}

impl Problem {
    /// How many arguments say what is solved: the state, the time and the output times; the limits; the guess.
    fn leading(self) -> usize {
        match self {
            Self::Ode(_) | Self::AdjointOde => 3,
            Self::Integral => 2,
            Self::Newton | Self::Powell => 1,
        }
    }
}

/// A solver with the arrangement of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solver {
    pub problem: Problem,
    /// How many tolerances are given.
    pub tolerances: usize,
    /// Whether they come last, as they do in the interface with `theta, x_r, x_i`; otherwise they stand before the
    /// arguments that are passed on.
    pub tolerances_last: bool,
}

/// `theta, x_r, x_i`.
const OLD_ARGUMENTS: usize = 3;

impl Solver {
    /// The solver with this name, called with so many arguments after the function.
    pub fn named(name: &str, arguments: usize) -> Option<Self> {
        let old = match name {
            "integrate_ode" | "integrate_ode_rk45" => Some(Problem::Ode(Method::Rk45)),
            "integrate_ode_bdf" => Some(Problem::Ode(Method::Bdf)),
            "integrate_ode_adams" => Some(Problem::Ode(Method::Adams)),
            "integrate_1d" => Some(Problem::Integral),
            "algebra_solver" => Some(Problem::Powell),
            "algebra_solver_newton" => Some(Problem::Newton),
            _ => None,
        };
        if let Some(problem) = old {
            let tolerances = arguments.checked_sub(problem.leading() + OLD_ARGUMENTS)?;
            return Some(Self { problem, tolerances, tolerances_last: true });
        }
        let (problem, tolerances) = match name {
            "ode_rk45" => (Problem::Ode(Method::Rk45), 0),
            "ode_rk45_tol" => (Problem::Ode(Method::Rk45), 3),
            "ode_ckrk" => (Problem::Ode(Method::Ckrk), 0),
            "ode_ckrk_tol" => (Problem::Ode(Method::Ckrk), 3),
            "ode_bdf" => (Problem::Ode(Method::Bdf), 0),
            "ode_bdf_tol" => (Problem::Ode(Method::Bdf), 3),
            "ode_adams" => (Problem::Ode(Method::Adams), 0),
            "ode_adams_tol" => (Problem::Ode(Method::Adams), 3),
            "ode_adjoint_tol_ctl" => (Problem::AdjointOde, 11),
            "solve_newton" => (Problem::Newton, 0),
            "solve_newton_tol" => (Problem::Newton, 3),
            "solve_powell" => (Problem::Powell, 0),
            "solve_powell_tol" => (Problem::Powell, 3),
            _ => return None,
        };
        Some(Self { problem, tolerances, tolerances_last: false })
    }

    /// Takes a list of arguments apart: what says what is solved, tolerances, what is passed on to the function.
    pub fn split<T>(self, arguments: &[T]) -> Option<(&[T], &[T], &[T])> {
        let (leading, rest) = arguments.split_at_checked(self.problem.leading())?;
        if self.tolerances_last {
            let (passed, tolerances) = rest.split_at_checked(rest.len().checked_sub(self.tolerances)?)?;
            Some((leading, tolerances, passed))
        } else {
            let (tolerances, passed) = rest.split_at_checked(self.tolerances)?;
            Some((leading, tolerances, passed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_in_both_interfaces() {
        let old = Solver::named("integrate_ode_bdf", 9).expect("it is known");
        let list = [0, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(old.split(&list), Some((&list[..3], &list[6..], &list[3..6])));
        let new = Solver::named("ode_bdf_tol", 9).expect("it is known");
        assert_eq!(new.split(&list), Some((&list[..3], &list[3..6], &list[6..])));
        let bare = Solver::named("integrate_1d", 5).expect("it is known");
        assert_eq!(bare.split(&list[..5]), Some((&list[..2], &list[5..5], &list[2..5])));
        assert_eq!(Solver::named("integrate_1d", 4), None);
        assert_eq!(Solver::named("reduce_sum", 4), None);
    }
}
