//! Algebraic equations.

use crust_math::solvers::SolverError;
use crust_math::solvers::algebra::{
    Equations, NewtonTolerances, PowellTolerances, implicit_seed, solve_newton, solve_powell,
};

use super::callback::Callback;
use super::{Item, Solved, steps};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Newton,
    Powell,
}

/// `algebra_solver` allows more steps than `solve_powell` where the program gives no tolerances.
const OLD_POWELL_STEPS: u64 = 1000;

struct System<'c, 'm>(&'c mut Callback<'m>);

impl Equations for System<'_, '_> {
    fn value(&mut self, x: &[f64], value: &mut [f64]) -> Result<(), SolverError> {
        self.0.value(&[x], value)
    }

    fn jacobian(&mut self, x: &[f64], value: &mut [f64], by_unknown: &mut [f64]) -> Result<(), SolverError> {
        self.0.jacobian(&[x], value, by_unknown, &mut [])
    }
}

/// Equations of which only the derivative at the solution is known.
struct Linear<'j>(&'j [f64]);

impl Equations for Linear<'_> {
    fn value(&mut self, _: &[f64], value: &mut [f64]) -> Result<(), SolverError> {
        value.fill(0.0);
        Ok(())
    }

    fn jacobian(&mut self, _: &[f64], value: &mut [f64], by_unknown: &mut [f64]) -> Result<(), SolverError> {
        value.fill(0.0);
        by_unknown.copy_from_slice(self.0);
        Ok(())
    }
}

pub fn solve(method: Method, callback: &mut Callback, item: &Item, solved: &mut Solved) -> Result<(), SolverError> {
    let guess = &item.leading[0];
    let mut equations = System(callback);
    let root = match method {
        Method::Newton => solve_newton(&mut equations, guess, newton(item))?,
        Method::Powell => solve_powell(&mut equations, guess, powell(item))?,
    };
    let (n, p) = (root.len(), item.parameters);
    if p > 0 {
        let (mut value, mut by_unknown, mut by_parameter) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n * p]);
        callback.jacobian(&[&root], &mut value, &mut by_unknown, &mut by_parameter)?;
        for i in 0..n {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            let seed = implicit_seed(&mut Linear(&by_unknown), &root, &unit)?;
            let columns = by_parameter.chunks_exact(n);
            solved
                .by_parameters
                .extend(columns.map(|column| column.iter().zip(&seed).map(|(a, b)| a * b).sum::<f64>()));
        }
    }
    // The guess has no influence on the solution.
    solved.by_leading[0].resize(n * n, 0.0);
    solved.values = root;
    Ok(())
}

fn number(item: &Item, i: usize) -> Option<f64> {
    item.tolerances.get(i).and_then(|x| x.first()).copied()
}

fn newton(item: &Item) -> NewtonTolerances {
    let default = NewtonTolerances::default();
    NewtonTolerances {
        scaling_step: number(item, 0).unwrap_or(default.scaling_step),
        function: number(item, 1).unwrap_or(default.function),
        max_steps: number(item, 2).map_or(default.max_steps, steps),
    }
}

fn powell(item: &Item) -> PowellTolerances {
    let default = PowellTolerances::default();
    let max_steps = if item.old { OLD_POWELL_STEPS } else { default.max_steps };
    PowellTolerances {
        relative: number(item, 0).unwrap_or(default.relative),
        function: number(item, 1).unwrap_or(default.function),
        max_steps: number(item, 2).map_or(max_steps, steps),
    }
}
