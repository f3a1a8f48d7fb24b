//! Outcomes whose elements depend on each other in order: hidden Markov models, errors that depend on earlier ones.
//!
//! > p(yₙ | y₁…yₙ₋₁, θ) = p(y₁…yₙ | θ) / p(y₁…yₙ₋₁ | θ),
//!
//! where the program with the first n observations states p(y₁…yₙ | θ). That it does is checked: the sum or integral
//! over yₙ must be p(y₁…yₙ₋₁ | θ), up to a factor that is always the same. Real outcomes become parameters of the
//! program, so that all their values are lanes of one evaluation; integers are bound anew.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crust_math::random::Stream;
use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::joint::Joint;
use crust_stan::span::Span;
use crust_stan::typed::{Block, Level, Origin, Program, StmtKind, VariableId};
use crust_stan::types::Type;
use crust_stan::value::Value;

use super::super::program::{tainted, unconstrained};
use super::super::{SimulateError, values};
use super::evaluate::in_time;
use super::line::{Along, Landmarks, Search, lines};
use super::{Domain, counts, prefix};
use crate::evaluator::{Batch, Evaluator, Terms};
use crate::machine::Rejection;
use crate::model::Model;

/// The likelihoods of all prefixes of an outcome.
pub struct Chain {
    joint: Arc<Joint>,
    /// The program as it is; or with the outcome as a parameter behind the others.
    program: Program,
    outcome: VariableId,
    cut: prefix::Prefixes,
    data: Data,
    domains: Vec<Domain>,
    base: Vec<f64>,
    /// The whole program, for the prior.
    whole: Arc<Model>,
    models: Mutex<BTreeMap<usize, Arc<Model>>>,
}

/// How many prefixes stay bound.
const MOST_MODELS: usize = 600;

/// How many points are evaluated together.
const LANES: usize = 64;

impl Chain {
    /// Nothing where the data cannot be cut, or the program does not state what a prefix of them is.
    pub fn new(joint: &Joint, data: &Data, outcome: VariableId, domains: &[Domain], base: &[f64]) -> Option<Self> {
        let cut = prefix::Prefixes::of(&joint.stated, data, outcome)?;
        let integer = domains.first()?.integer;
        let program = if integer { joint.stated.clone() } else { with_parameter(joint, outcome)? };
        let whole = Arc::new(Model::bind(&joint.stated, data, 1).ok()?);
        let chain = Self {
            joint: Arc::new(joint.clone()),
            program,
            outcome,
            cut,
            data: data.clone(),
            domains: domains.to_vec(),
            base: base.to_vec(),
            whole,
            models: Mutex::default(),
        };
        // Sizes of parameters must not depend on the number of observations.
        let dimension = chain.whole.dimension();
        for n in [1, base.len().div_ceil(2)] {
            let model = Model::bind(&chain.joint.stated, &chain.cut.first(data, n)?, 1).ok()?;
            if model.dimension() != dimension {
                return None;
            }
        }
        Some(chain)
    }

    /// Draws all elements in order, and adds up the logarithms of what the likelihood of each adds up to.
    pub fn draw(
        &self,
        point: &[f64],
        stream: &mut Stream,
        until: Option<Instant>,
    ) -> Result<(Vec<f64>, f64), SimulateError> {
        let integer = self.domains.first().is_some_and(|d| d.integer);
        let prior = log_density(&mut self.whole.evaluator(), &[point.to_vec()], 0.0)?[0].0;
        let mut drawn: Vec<f64> = Vec::new();
        let (mut log_normaliser, mut before) = (0.0, 0.0);
        let landmarks = Landmarks::of(self.base.clone());
        for n in 1..=self.base.len() {
            in_time(until)?;
            let mut next = if integer {
                Next::bound_anew(self, point, &drawn, n)
            } else {
                Next::with_lanes(self, point, &drawn, n, prior)?
            };
            let start = self.base[n - 1];
            let (x, log_sum) = if integer {
                let list = counts::along(&mut next, start, self.domains[n - 1])?;
                let (values, log_sum) = counts::draw(&list, stream);
                (values.first().copied().unwrap_or(f64::NAN), log_sum)
            } else {
                let at = next.log_densities(&[(0, start)])?[0];
                let search = Search::new(0, self.domains[n - 1], start, at);
                let line = lines(&mut next, vec![search], &landmarks)?.remove(0);
                (line.draw(stream), line.log_integral())
            };
            if !log_sum.is_finite() {
                let message = format!("the likelihood of the first {n} observations is zero wherever it was tried");
                return Err(SimulateError::Rejected(Rejection { message, span: Span::default() }));
            }
            log_normaliser += log_sum - before;
            before = next.log_densities(&[(0, x)])?[0];
            drawn.push(x);
        }
        Ok((drawn, log_normaliser))
    }

    /// The program with the first n observations, the outcome being a parameter.
    fn model(&self, n: usize) -> Result<Arc<Model>, SimulateError> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(&n) {
            return Ok(Arc::clone(model));
        }
        let data = self.cut.first(&self.data, n).ok_or_else(|| self.unfit(n))?;
        let model = Arc::new(Model::bind(&self.program, &data, 1)?);
        if models.len() < MOST_MODELS {
            models.insert(n, Arc::clone(&model));
        }
        Ok(model)
    }

    fn unfit(&self, n: usize) -> SimulateError {
        let name = format!("`{}`", self.joint.program.variable(self.outcome).name);
        SimulateError::NoDensity { name, why: format!("the data cannot be cut to {n} observations") }
    }
}

/// The likelihood as a function of the next element.
enum Next<'a> {
    Lanes { evaluator: Evaluator, before: Vec<f64>, prior: f64 },
    Bound { chain: &'a Chain, point: &'a [f64], before: &'a [f64], n: usize },
}

impl<'a> Next<'a> {
    fn with_lanes(chain: &'a Chain, point: &[f64], drawn: &[f64], n: usize, prior: f64) -> Result<Self, SimulateError> {
        let evaluator = chain.model(n)?.evaluator();
        Ok(Self::Lanes { evaluator, before: [point, drawn].concat(), prior })
    }

    fn bound_anew(chain: &'a Chain, point: &'a [f64], before: &'a [f64], n: usize) -> Self {
        Self::Bound { chain, point, before, n }
    }
}

impl Along for Next<'_> {
    fn log_densities(&mut self, requests: &[(usize, f64)]) -> Result<Vec<f64>, SimulateError> {
        let mut all = Vec::new();
        match self {
            Self::Lanes { evaluator, before, prior } => {
                for some in requests.chunks(LANES) {
                    let points: Vec<Vec<f64>> =
                        some.iter().map(|(_, x)| [before.as_slice(), std::slice::from_ref(x)].concat()).collect();
                    let found = log_density(evaluator, &points, 1.0)?;
                    all.extend(found.into_iter().map(|(own, likelihood)| own + likelihood - *prior));
                }
            }
            Self::Bound { chain, point, before, n } => {
                for (_, x) in requests {
                    all.push(bound(chain, point, &[before, std::slice::from_ref(x)].concat(), *n)?);
                }
            }
        }
        Ok(all.into_iter().map(|x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x }).collect())
    }
}

/// The log likelihood of a prefix as data.
fn bound(chain: &Chain, point: &[f64], prefix: &[f64], n: usize) -> Result<f64, SimulateError> {
    let mut data = chain.data.clone();
    let mut numbers = chain.base.clone();
    numbers[..prefix.len()].copy_from_slice(prefix);
    if values::set(&chain.joint.program, &mut data, chain.outcome, &numbers).is_err() {
        return Ok(f64::NEG_INFINITY);
    }
    let data = chain.cut.first(&data, n).ok_or_else(|| chain.unfit(n))?;
    let Ok(model) = Model::bind(&chain.program, &data, 1) else { return Ok(f64::NEG_INFINITY) };
    let found = log_density(&mut Arc::new(model).evaluator(), &[point.to_vec()], 1.0);
    Ok(found.map_or(f64::NEG_INFINITY, |found| found[0].1))
}

/// Log prior and log likelihood, constants included, on the constrained scale.
fn log_density(evaluator: &mut Evaluator, points: &[Vec<f64>], beta: f64) -> Result<Vec<(f64, f64)>, SimulateError> {
    let lanes = points.len();
    let dimension = points.first().map_or(0, Vec::len);
    let mut rows = vec![0.0; dimension * lanes];
    for (lane, point) in points.iter().enumerate() {
        point.iter().enumerate().for_each(|(row, x)| rows[row * lanes + lane] = *x);
    }
    let betas = vec![beta; lanes];
    let (mut prior, mut likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
    let mut batch = Batch {
        lanes,
        points: &rows,
        beta: Some(&betas),
        log_prior: &mut prior,
        log_likelihood: &mut likelihood,
        gradient: &mut [],
    };
    evaluator.evaluate(&mut batch, Terms { propto: false, jacobian: false })?;
    Ok(prior.into_iter().zip(likelihood).collect())
}

/// The program with a real outcome as a parameter, behind all others.
fn with_parameter(joint: &Joint, outcome: VariableId) -> Option<Program> {
    let source = &joint.stated;
    let mut program = source.clone();
    let variable = &mut program.variables[outcome.0 as usize];
    variable.origin = Origin::Block(BlockKind::Parameters);
    variable.level = Level::Parameter;
    variable.declared = variable.declared.as_ref().map(unconstrained);
    let statements = |kind: BlockKind| source.block(kind).to_vec();
    let is_own = |kind: &StmtKind| matches!(kind, StmtKind::Declare { variable, .. } if *variable == outcome);
    let (own, data): (Vec<_>, Vec<_>) = statements(BlockKind::Data).into_iter().partition(|s| is_own(&s.kind));
    let (moved, kept): (Vec<_>, Vec<_>) =
        statements(BlockKind::TransformedData).into_iter().partition(|s| tainted(joint, s));
    for stmt in &moved {
        if let StmtKind::Declare { variable, .. } = &stmt.kind {
            let variable = &mut program.variables[variable.0 as usize];
            if is_integer(&variable.ty) {
                return None;
            }
            variable.origin = Origin::Block(BlockKind::TransformedParameters);
        }
    }
    let mut set = |kind: BlockKind, statements| {
        program.blocks[kind as usize] = Some(Block { statements, span: Span::default() });
    };
    set(BlockKind::Data, data);
    set(BlockKind::TransformedData, kept);
    set(BlockKind::Parameters, [statements(BlockKind::Parameters), own].concat());
    set(BlockKind::TransformedParameters, [moved, statements(BlockKind::TransformedParameters)].concat());
    set(BlockKind::GeneratedQuantities, Vec::new());
    Some(program)
}

fn is_integer(ty: &Type) -> bool {
    match ty {
        Type::Array(element) => is_integer(element),
        other => *other == Type::Int,
    }
}

/// The number of elements of an outcome.
pub fn size(data: &Data, id: VariableId) -> usize {
    data.get(id).and_then(Value::shape).and_then(|shape| shape.numbers()).unwrap_or(0)
}
