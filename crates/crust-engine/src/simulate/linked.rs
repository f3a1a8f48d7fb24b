//! Groups of parameters that several terms of the prior weigh together, drawn at once where that is a normal density.
//!
//! With u the unconstrained numbers of a group and everything before it given, log f(u) = c + gᵀu − ½ uᵀΛu just if the
//! gradient is g − Λu. So g and Λ are n + 1 gradients of the program's own density, and at further points the gradient
//! must be the same straight function. (That is looked at only for polynomials: [`is_polynomial`].) Then, with Λ = L·Lᵀ, u = L⁻ᵀ(L⁻¹g + z) for standard normal z has the normalised
//! density −½ |Lᵀ(u − m)|² + log det L − n/2 log 2π around m = Λ⁻¹g, and log ∫ f = log f(m) + n/2 log 2π − log det L. If Λ
//! is singular, f has no integral. If the integral depends on what was given, f weighs that as well, and the proof of the
//! reading finds it.

mod envelope;

use std::sync::{Arc, OnceLock};

use crust_math::random::{Purpose, Stream, StreamKey};
use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::joint::{Joint, Linked, is_polynomial};
use crust_stan::typed::Program;

use super::guard::without_outcomes;
use super::program::unconstrained;
use super::score::{Place, Score, Sums, place};
use super::{SimulateError, Simulator, values};
use crate::evaluator::{Batch, Evaluator, Include, Terms};
use crate::model::Model;
use crate::unconstrain::Values;
use envelope::{Factor, Singular};

/// A group that is drawn at once.
#[derive(Clone)]
pub struct Group {
    /// The terms of the group alone.
    model: Arc<Model>,
    /// Whether these are polynomials of the parameters: nothing else is shown to be normal by some gradients.
    polynomial: bool,
    /// Positions of its parameters, and of those that must be known, among all.
    parameters: Vec<usize>,
    needs: Vec<usize>,
    names: String,
    place: Place,
    problem: Diagnostic,
    /// Where the density does not depend on other parameters it is always the same.
    always: OnceLock<Arc<Normal>>,
}

/// A normal density of some of the unconstrained numbers.
struct Normal {
    mean: Vec<f64>,
    factor: Factor,
    /// Of the normalised density, at its mean.
    log_peak: f64,
    /// What the terms of the program integrate to.
    log_integral: f64,
    /// How much rounding may change either of them.
    noise: f64,
}

/// What the terms of a group integrate to, given the parameters before it.
#[derive(Clone)]
pub struct Integral {
    pub place: Place,
    pub names: String,
    pub log: f64,
    pub noise: f64,
}

/// More numbers are not drawn at once, nor those that would take so many multiplications: for each draw, or once.
const MOST: usize = 2000;
const MOST_WORK: usize = 10_000_000;
const MOST_WORK_ONCE: usize = 1_000_000_000;

/// How many gradients are computed at once.
const TOGETHER: usize = 64;

/// How far a gradient may be from the straight function, relative to the sizes of what it is a sum of.
const STRAIGHT: f64 = 1e-8;

const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;

impl Group {
    pub fn all(joint: &Joint, skeleton: &Model, data: &Data) -> Result<Vec<Self>, SimulateError> {
        joint.linked.iter().map(|linked| Self::new(joint, linked, skeleton, data)).collect()
    }

    fn new(joint: &Joint, linked: &Linked, skeleton: &Model, data: &Data) -> Result<Self, SimulateError> {
        let program = terms(joint, linked);
        let polynomial = is_polynomial(&program, &linked.parameters);
        let model = Arc::new(Model::bind(&program, data, 1)?);
        let name = |id| joint.program.variable(id).name.clone();
        let at = |ids: &std::collections::BTreeSet<_>| -> Vec<usize> {
            let names: Vec<String> = ids.iter().map(|id| name(*id)).collect();
            let found = skeleton.parameters.iter().enumerate().filter(|(_, layout)| names.contains(&layout.name));
            found.map(|(i, _)| i).collect()
        };
        let names: Vec<String> = linked.parameters.iter().map(|id| format!("`{}`", name(*id))).collect();
        Ok(Self {
            model,
            polynomial,
            parameters: at(&linked.parameters),
            needs: at(&linked.needs),
            names: names.join(", "),
            place: linked.spans.first().map_or((0, 0), |span| place(*span)),
            problem: linked.problem.clone(),
            always: OnceLock::new(),
        })
    }

    /// The density of the coordinates, given the others.
    fn normal(&self, base: &[f64], coordinates: &[usize]) -> Result<Arc<Normal>, SimulateError> {
        let whole = self.needs.is_empty() && coordinates.len() == self.size();
        if let Some(known) = self.always.get().filter(|_| whole) {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(self.complete_square(base, coordinates)?);
        if whole {
            let _ = self.always.set(Arc::clone(&found));
        }
        Ok(found)
    }

    fn size(&self) -> usize {
        self.parameters.iter().map(|i| self.model.parameters[*i].free_size).sum()
    }

    fn complete_square(&self, base: &[f64], coordinates: &[usize]) -> Result<Normal, SimulateError> {
        if !self.polynomial {
            return Err(self.not_normal());
        }
        let n = coordinates.len();
        if n > MOST {
            return Err(self.refused(&format!("more than {MOST} numbers are weighed together")));
        }
        let mut evaluator = self.model.evaluator();
        let place = (base, coordinates);
        let mut points = vec![vec![0.0; n]];
        points.extend((0..n).map(|i| (0..n).map(|k| f64::from(u8::from(k == i))).collect()));
        let found = gradients(place, &points, &mut evaluator)?;
        let Some(((_, start), moved)) = found.split_first() else { return Err(self.not_normal()) };
        let precision = self.precision(start, moved)?;
        self.check_straight(place, (start, &precision), &mut evaluator)?;
        let most = if self.needs.is_empty() { MOST_WORK_ONCE } else { MOST_WORK };
        if Factor::work(&precision, n) > most {
            return Err(self.refused(&format!("{n} numbers depend on each other, which takes too long")));
        }
        let factor = Factor::of(&precision, n).map_err(|Singular| self.improper())?;
        let mut mean = start.clone();
        factor.solve(&mut mean);
        factor.solve_transposed(&mut mean);
        let top = gradients(place, std::slice::from_ref(&mean), &mut evaluator)?;
        let at_mean = top.first().map_or(f64::NAN, |(value, _)| *value);
        let (half_log_det, noise) = factor.half_log_det();
        #[allow(clippy::cast_precision_loss, reason = "numbers are few")]
        let number = n as f64;
        let log_peak = half_log_det - number * HALF_LOG_TWO_PI;
        let noise = noise + f64::EPSILON * (16.0 * at_mean.abs() + number);
        Ok(Normal { mean, factor, log_peak, log_integral: at_mean - log_peak, noise })
    }

    /// Λ from the change of the gradient along each coordinate.
    fn precision(&self, start: &[f64], moved: &[(f64, Vec<f64>)]) -> Result<Vec<f64>, SimulateError> {
        let n = start.len();
        let mut all = vec![0.0; n * n];
        for (i, (_, gradient)) in moved.iter().enumerate() {
            for k in 0..n {
                all[i * n + k] = start[k] - gradient[k];
            }
        }
        if all.iter().any(|x| !x.is_finite()) {
            return Err(self.not_normal());
        }
        for i in 0..n {
            for k in 0..i {
                let (a, b) = (all[i * n + k], all[k * n + i]);
                let size = (all[i * n + i] * all[k * n + k]).abs().sqrt();
                let lost = 16.0 * f64::EPSILON * (start[i].abs() + start[k].abs() + size);
                if (a - b).abs() > STRAIGHT * size + lost {
                    return Err(self.not_normal());
                }
                // what is left of a difference that is 0 would only make the envelope wider
                let both = if a.abs().max(b.abs()) <= lost { 0.0 } else { 0.5 * (a + b) };
                all[i * n + k] = both;
                all[k * n + i] = both;
            }
        }
        Ok(all)
    }

    /// The gradient at other points, near and far on the scale of each number, is that of a normal density.
    fn check_straight(
        &self,
        place: (&[f64], &[usize]),
        (start, precision): (&[f64], &[f64]),
        evaluator: &mut Evaluator,
    ) -> Result<(), SimulateError> {
        let n = start.len();
        let mut stream = StreamKey::new(7, Purpose::GENERATED).stream();
        let scale = |i: usize| precision[i * n + i].abs().sqrt().recip().min(1e6);
        let points: Vec<Vec<f64>> = [0.3, 1.0, 5.0, 40.0]
            .iter()
            .map(|far| (0..n).map(|i| far * scale(i) * stream.standard_normal()).collect())
            .collect();
        let found = gradients(place, &points, evaluator)?;
        for (point, (_, gradient)) in points.iter().zip(found) {
            for i in 0..n {
                let row = &precision[i * n..(i + 1) * n];
                let line: f64 = row.iter().zip(point).map(|(a, x)| a * x).sum();
                let size: f64 = row.iter().zip(point).map(|(a, x)| (a * x).abs()).sum();
                let off = (gradient[i] - start[i] + line).abs();
                if off.is_nan() || off > STRAIGHT * (size + start[i].abs() + gradient[i].abs()) {
                    return Err(self.not_normal());
                }
            }
        }
        Ok(())
    }

    fn not_normal(&self) -> SimulateError {
        SimulateError::Reading(Box::new(self.problem.clone()))
    }

    fn refused(&self, why: &str) -> SimulateError {
        SimulateError::Reading(Box::new(self.problem.clone().note(format!("{} is normal, but {why}", self.names))))
    }

    fn improper(&self) -> SimulateError {
        let message =
            format!("the prior of {} is improper: its terms leave some combination of values free", self.names);
        let (start, end) = self.place;
        let diagnostic = Diagnostic::error("improper-prior", message, crust_stan::span::Span { start, end })
            .note("as a function of it the density is the exponential of a quadratic form whose matrix is singular")
            .help("add a term for what is free, such as the first value of a random walk or the sum of differences");
        SimulateError::Reading(Box::new(diagnostic))
    }
}

/// The values and the gradients of the terms at points that differ from `base` in some coordinates.
fn gradients(
    (base, coordinates): (&[f64], &[usize]),
    points: &[Vec<f64>],
    evaluator: &mut Evaluator,
) -> Result<Vec<(f64, Vec<f64>)>, SimulateError> {
    let mut all = Vec::with_capacity(points.len());
    for some in points.chunks(TOGETHER) {
        let lanes = some.len();
        let mut rows: Vec<f64> = base.iter().flat_map(|x| std::iter::repeat_n(*x, lanes)).collect();
        for (lane, point) in some.iter().enumerate() {
            coordinates.iter().zip(point).for_each(|(c, x)| rows[c * lanes + lane] = *x);
        }
        let (mut prior, mut likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
        let mut gradient = vec![0.0; rows.len()];
        let mut batch = Batch {
            lanes,
            points: &rows,
            // There are no other terms, and without an outcome some of these may count as likelihood.
            beta: None,
            log_prior: &mut prior,
            log_likelihood: &mut likelihood,
            gradient: &mut gradient,
        };
        evaluator.evaluate(&mut batch, Terms { propto: false, jacobian: false })?;
        if let Some(rejection) = evaluator.rejections().iter().flatten().next() {
            return Err(SimulateError::Rejected(rejection.clone()));
        }
        all.extend((0..lanes).map(|lane| {
            let value = prior[lane] + likelihood[lane];
            (value, coordinates.iter().map(|c| gradient[c * lanes + lane]).collect::<Vec<f64>>())
        }));
    }
    Ok(all)
}

impl Normal {
    /// The log density of values.
    fn score(&self, values: &[f64]) -> Sums {
        let from_mean: Vec<f64> = values.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        let (z, noise) = self.factor.transposed_times(&from_mean);
        let squares = 0.5 * z.iter().map(|z| z * z).sum::<f64>();
        let density = self.log_peak - squares;
        Sums { density, magnitude: squares + self.log_peak.abs(), noise: 8.0 * noise + self.noise, jacobian: 0.0 }
    }

    fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let mut x: Vec<f64> = self.mean.iter().map(|_| stream.standard_normal()).collect();
        self.factor.solve_transposed(&mut x);
        x.iter().zip(&self.mean).map(|(x, m)| x + m).collect()
    }
}

/// The program with the terms of a group alone, and without what is made of outcomes.
fn terms(joint: &Joint, linked: &Linked) -> Program {
    let mut program = without_outcomes(joint, joint.program_of(linked));
    // Parameters that are not drawn yet may not keep to what is declared.
    for id in joint.program.declared_in(BlockKind::TransformedParameters) {
        let variable = &mut program.variables[id.0 as usize];
        variable.declared = variable.declared.as_ref().map(unconstrained);
    }
    program
}

impl Simulator {
    /// Draws the next group whose parameters are missing, if all that its terms look at is there.
    pub(super) fn draw_linked(
        &self,
        state: &mut [f64],
        stream: &mut Stream,
        score: Option<&mut Score>,
    ) -> Result<bool, SimulateError> {
        let layouts = &self.skeleton.parameters;
        let mut ranges = Vec::with_capacity(layouts.len());
        let mut start = 0;
        for layout in layouts {
            ranges.push(start..start + layout.len());
            start += layout.len();
        }
        let known = |i: usize| state[ranges[i].clone()].iter().all(|x| !x.is_nan());
        for group in &self.linked {
            let missing: Vec<usize> = group.parameters.iter().copied().filter(|i| !known(*i)).collect();
            if missing.is_empty() || !group.needs.iter().all(|i| known(*i)) {
                continue;
            }
            let mut point = self.free_of_known(state, &ranges)?;
            let coordinates = self.coordinates(&missing);
            let normal = group.normal(&point, &coordinates)?;
            let drawn = normal.draw(stream);
            coordinates.iter().zip(&drawn).for_each(|(c, x)| point[*c] = *x);
            let named = self.constrained(&point)?;
            for i in missing {
                let numbers = named.get(&layouts[i].name).map(Vec::as_slice).unwrap_or_default();
                state[ranges[i].clone()].copy_from_slice(&values::machine_order(&layouts[i], numbers));
            }
            if let Some(score) = score {
                score.statements.insert(group.place, normal.score(&drawn));
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The unconstrained numbers of parameters.
    fn coordinates(&self, parameters: &[usize]) -> Vec<usize> {
        let mut start = 0;
        let mut all = Vec::new();
        for (i, layout) in self.skeleton.parameters.iter().enumerate() {
            if parameters.contains(&i) {
                all.extend(start..start + layout.free_size);
            }
            start += layout.free_size;
        }
        all
    }

    /// The unconstrained point of what is known; 0 for what is not.
    fn free_of_known(&self, state: &[f64], ranges: &[std::ops::Range<usize>]) -> Result<Vec<f64>, SimulateError> {
        let mut constrained = Values::new();
        for (layout, range) in self.skeleton.parameters.iter().zip(ranges) {
            let own = &state[range.clone()];
            if own.iter().all(|x| !x.is_nan()) {
                constrained.insert(layout.name.clone(), values::nested_order(layout, own));
            }
        }
        let free = self.skeleton.evaluator().unconstrain(&constrained)?;
        Ok(free.into_iter().map(|x| x.unwrap_or(0.0)).collect())
    }

    fn constrained(&self, point: &[f64]) -> Result<Values, SimulateError> {
        let include = Include { transformed: false, generated: false };
        let key = StreamKey::new(0, Purpose::GENERATED);
        let found = self.skeleton.evaluator().quantities(point, key, include)?;
        Ok(values::named(&self.skeleton.parameters, &found.numbers))
    }

    /// Adds the log densities of all groups at a point.
    pub(super) fn score_linked(&self, point: &[f64], score: &mut Score) {
        for group in &self.linked {
            let coordinates = self.coordinates(&group.parameters);
            let sums = match group.normal(point, &coordinates) {
                Ok(normal) => normal.score(&coordinates.iter().map(|c| point[*c]).collect::<Vec<f64>>()),
                // Too close to singular, or refused by the program: nothing is known.
                Err(SimulateError::Reading(problem)) if problem.code == "improper-prior" => Sums::unknown(),
                Err(SimulateError::Rejected(_)) => Sums::unknown(),
                // It is no normal density here, so that nothing like it is drawn.
                Err(_) => Sums { density: f64::NEG_INFINITY, ..Sums::default() },
            };
            score.statements.insert(group.place, sums);
        }
    }

    /// What the terms of each group integrate to, given the others at a point.
    pub(crate) fn linked_integrals(&self, point: &[f64]) -> Vec<Integral> {
        let found = self.linked.iter().filter_map(|group| {
            let normal = group.normal(point, &self.coordinates(&group.parameters)).ok()?;
            let (place, names) = (group.place, group.names.clone());
            Some(Integral { place, names, log: normal.log_integral, noise: normal.noise })
        });
        found.collect()
    }
}
