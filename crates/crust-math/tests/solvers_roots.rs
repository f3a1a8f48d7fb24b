//! Integrals and algebraic equations against real Stan 2.39: `golden/solvers_roots.stan`, values, gradients,
//! rejections.

use crust_math::solvers::SolverError;
use crust_math::solvers::algebra::{
    Equations, NewtonTolerances, PowellTolerances, implicit_seed, solve_newton, solve_powell,
};
use crust_math::solvers::quadrature::{Integrand, integrate_1d, integrate_1d_by_limits, integrate_1d_gradient};

const GOLDEN: &str = include_str!("golden/solvers_roots.tsv");

/// The functions of the Stan program by their numbers there.
struct Model {
    system: usize,
    theta: [f64; 2],
}

impl Integrand for Model {
    fn parameters(&self) -> usize {
        2
    }

    fn value(&mut self, x: f64, xc: f64) -> Result<f64, SolverError> {
        let [a, b] = self.theta;
        Ok(match self.system {
            1 => (-a * x).exp() * (b * x).cos(),
            2 => (-a * (x - b).powi(2)).exp(),
            3 => x.powf(a - 1.0) * self.complement(x, xc).powf(b - 1.0),
            4 => 1.0 / (1.0 + a * x * x + b * x.powi(4)),
            _ => (-a * x.abs()).exp() * (b * x * x).ln_1p(),
        })
    }

    fn gradient(&mut self, x: f64, xc: f64, by_parameter: &mut [f64]) -> Result<f64, SolverError> {
        let [a, b] = self.theta;
        let value = Integrand::value(self, x, xc)?;
        let gradient = match self.system {
            1 => [-x * value, -x * (-a * x).exp() * (b * x).sin()],
            2 => [-(x - b).powi(2) * value, 2.0 * a * (x - b) * value],
            3 => [x.ln() * value, self.complement(x, xc).ln() * value],
            4 => [-x * x * value * value, -x.powi(4) * value * value],
            _ => [-x.abs() * value, (-a * x.abs()).exp() * x * x / (1.0 + b * x * x)],
        };
        by_parameter.copy_from_slice(&gradient);
        Ok(value)
    }
}

impl Model {
    fn complement(&self, x: f64, xc: f64) -> f64 {
        assert_eq!(self.system, 3);
        if xc.is_nan() || x < 0.5 { 1.0 - x } else { xc }
    }

    /// ηᵀ ∂f/∂θ of the equations.
    fn pull_back(&self, x: &[f64], seed: &[f64]) -> [f64; 2] {
        match self.system {
            1 => [-seed[0] * (-x[1]).exp(), -seed[1]],
            2 => [-10.0 * seed[0] * x[0] * x[0], seed[1]],
            _ => [-seed[0], -seed[1] * x[2] - seed[2]],
        }
    }
}

impl Equations for Model {
    fn value(&mut self, x: &[f64], value: &mut [f64]) -> Result<(), SolverError> {
        let [a, b] = self.theta;
        match self.system {
            1 => value.copy_from_slice(&[x[0] - a * (-x[1]).exp(), x[1] * x[1] + x[0] - b]),
            2 => value.copy_from_slice(&[10.0 * (x[1] - a * (x[0] * x[0])), b - x[0]]),
            _ => value.copy_from_slice(&[x[0] + x[1] + x[2] - a, x[0] * x[1] - b * x[2], x[0].exp() - b - x[2]]),
        }
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], value: &mut [f64], by_unknown: &mut [f64]) -> Result<(), SolverError> {
        Equations::value(self, x, value)?;
        let [a, b] = self.theta;
        match self.system {
            1 => by_unknown.copy_from_slice(&[1.0, 1.0, a * (-x[1]).exp(), 2.0 * x[1]]),
            2 => by_unknown.copy_from_slice(&[-20.0 * a * x[0], -1.0, 10.0, 0.0]),
            _ => by_unknown.copy_from_slice(&[1.0, x[1], x[0].exp(), 1.0, x[0], 0.0, 1.0, -b, -1.0]),
        }
        Ok(())
    }
}

fn numbers(field: &str) -> Vec<f64> {
    field.split(' ').map(|word| word.parse().expect("a number")).collect()
}

/// The solution, and the gradient by θ and the limits of the sum of w times it.
fn integral(model: &mut Model, a: f64, b: f64, tolerance: f64, by_limits: bool) -> Result<[Vec<f64>; 2], SolverError> {
    let value = integrate_1d(model, a, b, tolerance)?;
    let mut gradient = vec![0.0; 2];
    integrate_1d_gradient(model, a, b, tolerance, &mut gradient)?;
    let limits = if by_limits { integrate_1d_by_limits(model, a, b)? } else { (0.0, 0.0) };
    gradient.extend([limits.0, limits.1]);
    Ok([vec![value], gradient])
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers of a file of our own")]
fn solve(fields: &[Vec<f64>]) -> Result<[Vec<f64>; 2], SolverError> {
    let [method, system, a, b, tolerance, function, steps] = fields[0][..] else { panic!("seven numbers") };
    let mut model = Model { system: system as usize, theta: [fields[1][0], fields[1][1]] };
    let (guess, max_steps) = (&fields[2], steps as u64);
    let x = match method as usize {
        1 => return integral(&mut model, a, b, tolerance, false),
        4 => return integral(&mut model, a, b, tolerance, true),
        2 => solve_newton(&mut model, guess, NewtonTolerances { scaling_step: tolerance, function, max_steps })?,
        _ => solve_powell(&mut model, guess, PowellTolerances { relative: tolerance, function, max_steps })?,
    };
    let weights: Vec<f64> = (1..=x.len()).map(|i| f64::from(u32::try_from(i).expect("few"))).collect();
    let seed = implicit_seed(&mut model, &x, &weights)?;
    let [first, second] = model.pull_back(&x, &seed);
    Ok([x, vec![first, second, 0.0, 0.0]])
}

/// Stan's Powell method takes a Jacobian from a rejected point after two failures; ours takes it where it belongs, and
/// so agrees only to the relative tolerance.
fn limit(case: &[f64]) -> f64 {
    if case[0] > 2.5 && case[0] < 3.5 { case[4].max(1e-11) } else { 1e-11 }
}

#[test]
fn integrals_and_roots_are_those_of_stan() {
    for line in GOLDEN.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<Vec<f64>> = line.split('\t').map(numbers).collect();
        let found = solve(&fields);
        let [Some(value), Some(gradient)] = [fields.get(3), fields.get(4)] else {
            assert!(found.is_err(), "Stan rejects {line}");
            continue;
        };
        let found = found.unwrap_or_else(|error| panic!("{line}: {error}"));
        for (found, expected) in found.iter().zip([value, gradient]) {
            let size = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let worst = found.iter().zip(expected).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(worst <= limit(&fields[0]) * size, "{line}: {found:?}");
        }
    }
}
