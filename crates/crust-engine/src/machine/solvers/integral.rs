//! Integrals.

use crust_math::solvers::SolverError;
use crust_math::solvers::quadrature::{
    Integrand, RELATIVE_TOLERANCE, integrate_1d, integrate_1d_by_limits, integrate_1d_gradient,
};

use super::callback::Callback;
use super::{Item, Solved};

struct Function<'c, 'm> {
    callback: &'c mut Callback<'m>,
    parameters: usize,
}

impl Integrand for Function<'_, '_> {
    fn parameters(&self) -> usize {
        self.parameters
    }

    fn value(&mut self, x: f64, xc: f64) -> Result<f64, SolverError> {
        let mut out = [0.0];
        self.callback.value(&[&[x], &[xc]], &mut out)?;
        Ok(out[0])
    }

    fn gradient(&mut self, x: f64, xc: f64, by_parameter: &mut [f64]) -> Result<f64, SolverError> {
        let mut out = [0.0];
        self.callback.jacobian(&[&[x], &[xc]], &mut out, &mut [], by_parameter)?;
        Ok(out[0])
    }
}

pub fn solve(callback: &mut Callback, item: &Item, solved: &mut Solved) -> Result<(), SolverError> {
    let number = |list: &[Vec<f64>], i: usize| list.get(i).and_then(|x| x.first()).copied();
    let [lower, upper] = [0, 1].map(|i| number(&item.leading, i).unwrap_or(f64::NAN));
    let tolerance = number(&item.tolerances, 0).unwrap_or(RELATIVE_TOLERANCE);
    let mut function = Function { callback, parameters: item.parameters };
    solved.values.push(integrate_1d(&mut function, lower, upper, tolerance)?);
    if item.parameters > 0 {
        solved.by_parameters.resize(item.parameters, 0.0);
        integrate_1d_gradient(&mut function, lower, upper, tolerance, &mut solved.by_parameters)?;
    }
    if item.wanted.contains(&true) {
        let (by_lower, by_upper) = integrate_1d_by_limits(&mut function, lower, upper)?;
        solved.by_leading[0].push(by_lower);
        solved.by_leading[1].push(by_upper);
    }
    Ok(())
}
