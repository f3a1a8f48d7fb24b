//! Equations with known solutions, easy and hard, and the derivative of a solution.

use super::*;
use crate::linalg::vectors::max_norm;

/// Equations given by a function; the Jacobian is made of central differences of order 4.
struct Given<F>(F);

impl<F: FnMut(&[f64]) -> Vec<f64>> Equations for Given<F> {
    fn value(&mut self, x: &[f64], value: &mut [f64]) -> Result<(), SolverError> {
        value.copy_from_slice(&(self.0)(x));
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], value: &mut [f64], by_unknown: &mut [f64]) -> Result<(), SolverError> {
        self.value(x, value)?;
        for (j, column) in by_unknown.chunks_exact_mut(x.len()).enumerate() {
            let h = 1e-3 * x[j].abs().max(1.0);
            let mut at = |k: f64| {
                let mut moved = x.to_vec();
                moved[j] += k * h;
                (self.0)(&moved)
            };
            let rows = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
            for (i, entry) in column.iter_mut().enumerate() {
                *entry = (rows[0][i] - 8.0 * rows[1][i] + 8.0 * rows[2][i] - rows[3][i]) / (12.0 * h);
            }
        }
        Ok(())
    }
}

fn rosenbrock(x: &[f64]) -> Vec<f64> {
    vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]
}

/// Moré, Garbow and Hillstrom's test problem 3: the solution is (1.098…e-5, 9.106…).
fn powell_badly_scaled(x: &[f64]) -> Vec<f64> {
    vec![1e4 * x[0] * x[1] - 1.0, (-x[0]).exp() + (-x[1]).exp() - 1.0001]
}

/// Their problem 7, the helical valley, with the solution (1, 0, 0).
fn helical_valley(x: &[f64]) -> Vec<f64> {
    let mut theta = (x[1] / x[0]).atan() / std::f64::consts::TAU;
    if x[0] < 0.0 {
        theta += 0.5;
    }
    vec![10.0 * (x[2] - 10.0 * theta), 10.0 * (x[0].hypot(x[1]) - 1.0), x[2]]
}

fn broyden_tridiagonal(x: &[f64]) -> Vec<f64> {
    let at = |i: Option<usize>| i.and_then(|i| x.get(i)).copied().unwrap_or(0.0);
    (0..x.len()).map(|i| (3.0 - 2.0 * x[i]) * x[i] - at(i.checked_sub(1)) - 2.0 * at(Some(i + 1)) + 1.0).collect()
}

#[test]
fn both_methods_solve_the_classical_problems() {
    let newton = NewtonTolerances { function: 1e-10, scaling_step: 1e-12, ..NewtonTolerances::default() };
    let powell = PowellTolerances { max_steps: 1000, ..PowellTolerances::default() };
    let check = |name: &str, f: fn(&[f64]) -> Vec<f64>, guess: &[f64], solution: Option<&[f64]>| {
        let first = solve_newton(&mut Given(f), guess, newton).unwrap_or_else(|e| panic!("{name}, Newton: {e}"));
        let second = solve_powell(&mut Given(f), guess, powell).unwrap_or_else(|e| panic!("{name}, Powell: {e}"));
        for x in [first, second] {
            assert!(max_norm(&f(&x)) < 1e-8, "{name}: {x:?}");
            if let Some(solution) = solution {
                let off: Vec<f64> = x.iter().zip(solution).map(|(a, b)| a - b).collect();
                assert!(max_norm(&off) < 1e-7, "{name}: {x:?}");
            }
        }
    };
    check("Rosenbrock", rosenbrock, &[-1.2, 1.0], Some(&[1.0, 1.0]));
    check("helical valley", helical_valley, &[-1.0, 0.0, 0.0], Some(&[1.0, 0.0, 0.0]));
    check("Broyden tridiagonal", broyden_tridiagonal, &[-1.0; 10], None);
    check("line", |x| vec![2.0 * x[0] - 3.0], &[0.0], Some(&[1.5]));
    let x = solve_powell(&mut Given(powell_badly_scaled), &[0.0, 1.0], powell).expect("solvable");
    assert!((x[0] / 1.098_159_329e-5 - 1.0).abs() < 1e-6 && (x[1] / 9.106_146_74 - 1.0).abs() < 1e-6, "{x:?}");
}

#[test]
fn solution_at_the_guess_is_returned_at_once() {
    let mut calls = 0;
    let mut f = Given(|x: &[f64]| {
        calls += 1;
        vec![x[0] - 2.0]
    });
    assert_eq!(solve_newton(&mut f, &[2.0], NewtonTolerances::default()).expect("solved"), [2.0]);
    assert_eq!(calls, 1);
    assert_eq!(solve_powell(&mut Given(rosenbrock), &[1.0, 1.0], PowellTolerances::default()).expect("ok"), [1.0, 1.0]);
}

#[test]
fn equations_without_a_solution_are_refused() {
    let mut none = Given(|x: &[f64]| vec![x[0] * x[0] + 1.0]);
    let newton =
        solve_newton(&mut none, &[0.7], NewtonTolerances { scaling_step: 1e-12, ..NewtonTolerances::default() });
    assert!(newton.is_err(), "{newton:?}");
    let powell = solve_powell(&mut none, &[0.7], PowellTolerances::default());
    assert!(matches!(powell, Err(SolverError::NotARoot { .. })), "{powell:?}");
    let few = PowellTolerances { max_steps: 3, ..PowellTolerances::default() };
    let powell = solve_powell(&mut Given(rosenbrock), &[-1.2, 1.0], few);
    assert!(matches!(powell, Err(SolverError::TooManyIterations { maximum: 3 })), "{powell:?}");
    let few = NewtonTolerances { max_steps: 1, ..NewtonTolerances::default() };
    let newton = solve_newton(&mut Given(rosenbrock), &[-1.2, 1.0], few);
    assert!(matches!(newton, Err(SolverError::TooManyIterations { maximum: 1 })), "{newton:?}");
    assert!(solve_newton(&mut Given(rosenbrock), &[f64::NAN, 1.0], NewtonTolerances::default()).is_err());
    assert!(solve_newton(&mut Given(rosenbrock), &[], NewtonTolerances::default()).is_err());
    let exact = NewtonTolerances { scaling_step: 0.0, function: 0.0, max_steps: 50 };
    let nan = solve_newton(&mut Given(|_: &[f64]| vec![f64::NAN]), &[0.0], exact);
    assert!(matches!(nan, Err(SolverError::SingularJacobian)), "{nan:?}");
    let flat = solve_newton(&mut Given(|_: &[f64]| vec![1.0]), &[0.0], NewtonTolerances::default());
    assert!(matches!(flat, Err(SolverError::SingularJacobian)), "{flat:?}");
}

#[test]
fn implicit_seed_gives_the_derivative_of_the_solution() {
    // x₁ = θ₁ e^(−x₂), x₂² + x₁ = θ₂: the adjoint of θ for w·x, against differences of tight solves
    let solve_at = |theta: [f64; 2]| {
        let f = move |x: &[f64]| vec![x[0] - theta[0] * (-x[1]).exp(), x[1] * x[1] + x[0] - theta[1]];
        let tight = PowellTolerances { relative: 1e-15, function: 1e-12, max_steps: 500 };
        (solve_powell(&mut Given(f), &[1.0, 1.0], tight).expect("solvable"), Given(f))
    };
    let (theta, w) = ([0.8, 2.5], [0.3, -1.1]);
    let (x, mut equations) = solve_at(theta);
    let seed = implicit_seed(&mut equations, &x, &w).expect("regular");
    // ∂f/∂θ = diag(−e^(−x₂), −1)
    let found = [-seed[0] * (-x[1]).exp(), -seed[1]];
    for k in 0..2 {
        let h = 1e-3;
        let objective = |step: f64| {
            let mut moved = theta;
            moved[k] += step;
            let x = solve_at(moved).0;
            w[0] * x[0] + w[1] * x[1]
        };
        let expected =
            (objective(-2.0 * h) - 8.0 * objective(-h) + 8.0 * objective(h) - objective(2.0 * h)) / (12.0 * h);
        assert!((found[k] - expected).abs() < 1e-10, "{k}: {} instead of {expected}", found[k]);
    }
}
