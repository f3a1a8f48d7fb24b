//! Differential equations.

use crust_math::solvers::SolverError;
use crust_math::solvers::ode::{self, Method, Sensitivities, Solution, Span, System, Tangents, Tolerances};

use super::callback::Callback;
use super::lanes::LaneRates;
use super::{Item, Solved, steps};

/// The right-hand side of the differential equation.
struct Rates<'c, 'm> {
    callback: &'c mut Callback<'m>,
    states: usize,
    parameters: usize,
}

impl System for Rates<'_, '_> {
    fn states(&self) -> usize {
        self.states
    }

    fn parameters(&self) -> usize {
        self.parameters
    }

    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        self.callback.value(&[&[t], y], rate)
    }

    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        rate: &mut [f64],
        by_state: &mut [f64],
        by_parameter: &mut [f64],
    ) -> Result<(), SolverError> {
        self.callback.jacobian(&[&[t], y], rate, by_state, by_parameter)
    }

    fn tangents(
        &mut self,
        t: f64,
        y: &[f64],
        tangents: Tangents,
        rate: &mut [f64],
        rates: &mut [f64],
    ) -> Result<bool, SolverError> {
        self.callback.tangents(&[&[t], y], tangents, rate, rates)
    }
}

/// The method and its tolerances. The adjoint solver gives an absolute tolerance for each state, of which the smallest
/// is taken, and says with 1 or 2 whether to go forward by Adams' or by backward differentiation formulas.
fn method(given: Option<Method>, tolerances: &[Vec<f64>]) -> (Method, Tolerances) {
    let number = |i: usize| tolerances[i].first().copied().unwrap_or(f64::NAN);
    match given {
        Some(method) if tolerances.len() == 3 => {
            let tolerances = Tolerances { relative: number(0), absolute: number(1), max_steps: steps(number(2)) };
            (method, tolerances)
        }
        Some(method) => (method, Tolerances::of(method)),
        None => {
            let method = if number(9) < 1.5 { Method::Adams } else { Method::Bdf };
            let absolute = tolerances[1].iter().copied().fold(f64::INFINITY, f64::min);
            (method, Tolerances { relative: number(0), absolute, max_steps: steps(number(6)) })
        }
    }
}

pub fn solve(
    given: Option<Method>,
    callback: &mut Callback,
    item: &Item,
    solved: &mut Solved,
) -> Result<(), SolverError> {
    let (method, tolerances) = method(given, &item.tolerances);
    let (initial_state, times) = (&item.leading[0], &item.leading[2]);
    let initial_time = item.leading[1].first().copied().unwrap_or(f64::NAN);
    let [by_state, by_start, by_times] = [0, 1, 2].map(|i| item.wanted[i]);
    let mut rates = Rates { callback, states: initial_state.len(), parameters: item.parameters };
    let wanted = Sensitivities { initial_state: by_state || by_start, parameters: item.parameters > 0 };
    let span = Span { initial_state, initial_time, times };
    let solution = ode::solve(method, &mut rates, span, tolerances, wanted)?;
    record(&solution, item, solved);
    if by_start {
        by_initial_time(&solution, &mut rates, span, &mut solved.by_leading[1])?;
    }
    if by_times {
        by_output_times(&solution, &mut rates, span, &mut solved.by_leading[2])?;
    }
    Ok(())
}

/// Takes over what does not depend on times.
pub fn record(solution: &Solution, item: &Item, solved: &mut Solved) {
    let (states, times) = (item.leading[0].len(), item.leading[2].len());
    for time in 0..times {
        solved.values.extend_from_slice(solution.state(time));
        transpose(solution.by_parameters(time), states, &mut solved.by_parameters);
        if item.wanted[0] {
            transpose(solution.by_initial_state(time), states, &mut solved.by_leading[0]);
        }
    }
}

/// Many problems with the same tolerances at once; none where that cannot be done. `parameters` are those of all
/// problems, one after the other.
pub fn solve_lanes<'i>(
    given: Option<Method>,
    callback: &Callback,
    items: &'i [Item],
    parameters: &[f64],
) -> Option<Vec<Option<Solution>>> {
    let first = items.first()?;
    let (method, tolerances) = method(given, &first.tolerances);
    let same = |item: &Item| item.tolerances == first.tolerances;
    if !ode::has_lanes(method) || first.wanted[1] || first.wanted[2] || !items.iter().all(same) {
        return None;
    }
    let (trace, first_parameter) = callback.list_of_operations()?;
    let states = first.leading[0].len();
    let by_initial_state = if first.wanted[0] { states } else { 0 };
    let sizes = [states, by_initial_state];
    let unit = method != Method::Rk45;
    let mut rates = LaneRates::new(trace, sizes, (first_parameter, first.parameters), parameters, unit)?;
    let span = |Item { leading, .. }: &'i Item| {
        let initial_time = leading[1].first().copied().unwrap_or(f64::NAN);
        Span { initial_state: &leading[0], initial_time, times: &leading[2] }
    };
    let spans: Vec<Span> = items.iter().map(span).collect();
    Some(ode::solve_lanes(method, &mut rates, &spans, tolerances))
}

/// Appends a matrix, given column by column, row by row.
fn transpose(columns: &[f64], rows: usize, out: &mut Vec<f64>) {
    for row in 0..rows {
        out.extend(columns.iter().skip(row).step_by(rows));
    }
}

/// A later start is the same as starting from a state that lies a little back: ∂y/∂t₀ = −(∂y/∂y₀) f(t₀, y₀).
fn by_initial_time(solution: &Solution, rates: &mut Rates, span: Span, out: &mut Vec<f64>) -> Result<(), SolverError> {
    let n = span.initial_state.len();
    let mut rate = vec![0.0; n];
    rates.rate(span.initial_time, span.initial_state, &mut rate)?;
    for time in 0..span.times.len() {
        let columns = solution.by_initial_state(time);
        out.extend((0..n).map(|row| -columns.iter().skip(row).step_by(n).zip(&rate).map(|(s, f)| s * f).sum::<f64>()));
    }
    Ok(())
}

/// A state moves with the rate, ∂y(t)/∂t = f(t, y(t)), and only with its own time.
fn by_output_times(solution: &Solution, rates: &mut Rates, span: Span, out: &mut Vec<f64>) -> Result<(), SolverError> {
    let mut rate = vec![0.0; span.initial_state.len()];
    for (time, &t) in span.times.iter().enumerate() {
        rates.rate(t, solution.state(time), &mut rate)?;
        for f in &rate {
            out.extend((0..span.times.len()).map(|other| if other == time { *f } else { 0.0 }));
        }
    }
    Ok(())
}
