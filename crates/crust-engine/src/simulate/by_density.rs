//! Outcomes drawn from the values of the program's own log likelihood, without understanding its text.
//!
//! The program says its terms one by one ([`write`]). Which terms look at which elements of the outcome shows when
//! elements are changed ([`structure`]). Elements that share no term are independent given the parameters, so that
//! the distribution of each *block* of elements is what the density says at all its values: integers are gone
//! through ([`counts`]), real numbers integrated ([`line`]). Where all depend on each other in order, they are drawn one
//! after the other ([`chain`]). All blocks are evaluated at the same time, so that one
//! evaluation of the program serves all of them.
//!
//! What is drawn is p(y | θ) only if the likelihood, summed or integrated over y, is the same for all θ; that is part
//! of the proof ([`crate::proof`]).

mod chain;
mod classes;
mod counts;
mod ends;
mod evaluate;
mod given;
mod lanes;
mod line;
mod narrow;
mod poles;
mod prefix;
mod structure;
mod write;

use std::sync::Arc;
use std::time::Instant;

use crust_math::random::{Purpose, Stream, StreamKey};
use crust_stan::data::{Calculator as _, Data, Limits};
use crust_stan::deep::on_deep_stack;
use crust_stan::joint::{Joint, Source, declared_bounds, special_type};
use crust_stan::span::Span;
use crust_stan::typed::{Expr, Program, VariableId};
use crust_stan::types::Type;
use crust_stan::value::Value;

use super::SimulateError;
use crate::calculator::Calculator;
use crate::machine::Rejection;
use crate::model::{EngineError, Model};
use classes::Classes;
use evaluate::Terms;
use given::Given;
use structure::{Structure, Trouble};

/// Where an element of the outcome can lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    pub integer: bool,
    pub lower: f64,
    pub upper: f64,
}

/// The likelihood as a function of the outcome's elements.
#[derive(Clone)]
pub struct Likelihood {
    terms: Terms,
    pub drawn: Vec<VariableId>,
    pub sizes: Vec<usize>,
    domains: Vec<Domain>,
    /// The given outcome.
    base: Vec<f64>,
    kind: Kind,
    classes: Classes,
    given: Given,
}

/// How elements depend on each other.
#[derive(Clone)]
enum Kind {
    Blocks(Arc<Structure>),
    Chain(Arc<chain::Chain>),
}

/// The distribution of a block, up to a factor.
enum Table {
    /// Combinations of values with their log weights.
    Listed(Vec<(Vec<f64>, f64)>),
    Line(line::Line),
}

/// At how many points it is looked which of the data are the outcome.
const TRIALS: usize = 3;

impl Likelihood {
    /// Chooses the outcome where no density names it: the one of the data over which the likelihood adds up to the same
    /// number for all parameters.
    pub fn choose(joint: &mut Joint, data: &Data, until: Option<Instant>) -> Result<Option<Self>, SimulateError> {
        let candidates: Vec<_> = joint.outcomes.iter().filter(|(_, s)| *s == Source::Density).copied().collect();
        if !joint.split.outcomes.is_empty() || candidates.len() < 2 {
            return Self::new(joint, data, until);
        }
        for candidate in candidates {
            let mut one = joint.clone();
            one.outcomes = vec![candidate];
            if let Ok(Some(found)) = Self::new(&one, data, until)
                && found.is_density()
            {
                *joint = one;
                return Ok(Some(found));
            }
        }
        Self::new(joint, data, until)
    }

    /// From now on, draws take as long as they take.
    pub fn take_time(&mut self) {
        self.terms.until = None;
    }

    /// Why it may be drawn wrongly although the likelihood is a density, if so.
    pub fn doubt(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Chain(_) => Some(
                "its elements depend on each other, and the program with fewer observations does not state the \
                 distribution of the first ones",
            ),
            Kind::Blocks(_) if self.terms.begins_anew() => Some("sizes of variables depend on it"),
            Kind::Blocks(_) => None,
        }
    }

    pub fn has_integers_only(&self) -> bool {
        self.domains.iter().all(|domain| domain.integer)
    }

    /// Whether the normaliser is the same at some points.
    fn is_density(&self) -> bool {
        let seen = self.normalisers();
        let spread = seen.iter().flat_map(|a| seen.iter().map(move |b| (a - b).abs())).fold(0.0, f64::max);
        seen.len() == TRIALS && spread < 1e-4
    }

    /// Whether it is 1 there.
    fn is_distribution(&self) -> bool {
        let seen = self.normalisers();
        seen.len() == TRIALS && seen.iter().all(|log| log.abs() < 1e-6)
    }

    /// The logarithm of the normaliser at some points; fewer than [`TRIALS`] where it has no value.
    fn normalisers(&self) -> Vec<f64> {
        let mut stream = StreamKey::new(2, Purpose::GENERATED).stream();
        let (mut seen, mut endless): (Vec<f64>, usize) = (Vec::new(), 0);
        for _ in 0..10 * TRIALS {
            let point: Vec<f64> = (0..self.terms.dimension()).map(|_| 4.0 * stream.uniform() - 2.0).collect();
            match self.log_normaliser(&point) {
                Ok(x) if x.log.is_finite() => seen.push(x.log),
                // Covariates that are taken for outcomes have no end, and each look for one takes long.
                Err(SimulateError::Endless) => endless += 1,
                _ => {}
            }
            if seen.len() == TRIALS || endless == TRIALS {
                break;
            }
        }
        seen
    }

    pub fn new(joint: &Joint, data: &Data, until: Option<Instant>) -> Result<Option<Self>, SimulateError> {
        let Some(written) = on_deep_stack(|| write::write(joint)) else { return Ok(None) };
        let name = |id: VariableId| joint.program.variable(id).name.clone();
        if let Some(id) = written.drawn.iter().find(|id| data.missing.contains(id)) {
            return Err(SimulateError::GivenMissing { name: name(*id) });
        }
        let (mut base, mut sizes, mut domains) = (Vec::new(), Vec::new(), Vec::new());
        for id in &written.drawn {
            let special = special_type(&joint.program, *id).is_some();
            let numbers = data.get(*id).and_then(Value::to_reals).filter(|_| !special);
            let Some(numbers) = numbers else { return Err(unfit(name(*id), "its elements are not single numbers")) };
            domains.extend(bounds(&joint.program, data, *id, numbers.len())?);
            sizes.push(numbers.len());
            base.extend(numbers);
        }
        let model = Arc::new(Model::bind(&written.program, data, 1)?);
        let mut terms = Terms::new(model, base.len(), written.sizes_vary);
        terms.until = until;
        let mut start = 0;
        for size in &sizes {
            narrow::narrow(&terms, &base, start..start + size, &mut domains);
            start += size;
        }
        let names = written.drawn.iter().map(|id| format!("`{}`", name(*id))).collect::<Vec<_>>().join(", ");
        let kind = match Structure::find(&mut terms, &base, &domains) {
            Ok(structure) => Kind::Blocks(Arc::new(structure)),
            Err(trouble @ Trouble::Coupled { .. }) => {
                let only = if let [only] = written.drawn.as_slice() { Some(*only) } else { None };
                let chain = only.and_then(|id| chain::Chain::new(joint, data, id, &domains, &base));
                Kind::Chain(Arc::new(chain.ok_or_else(|| trouble.named(&names))?))
            }
            Err(trouble) => return Err(trouble.named(&names)),
        };
        let (classes, given) = (Classes::default(), Given::default());
        let mut found = Self { terms, drawn: written.drawn, sizes, domains, base, kind, classes, given };
        if found.has_combinations() {
            found.settle_combinations();
        }
        // Points at which there was no time for a sum were left out.
        evaluate::in_time(until)?;
        Ok(Some(found))
    }

    /// Whether there are blocks whose combinations of values are gone through.
    fn has_combinations(&self) -> bool {
        let Kind::Blocks(structure) = &self.kind else { return false };
        let integer = |e: &usize| self.domains[*e].integer;
        structure.blocks.iter().any(|b| b.elements.len() > 1 && b.elements.iter().all(integer))
    }

    /// Combinations that the likelihood does not tell apart share a probability where that makes it a density; elements
    /// that it is conditional on stay as they are.
    fn settle_combinations(&mut self) {
        let Kind::Blocks(structure) = &self.kind else { return };
        let structure = Arc::clone(structure);
        let seen = self.trials(&structure);
        let lists: Vec<_> = seen.iter().map(|tables| tables.blocks.as_slice()).collect();
        if self.is_density() {
            if !self.is_distribution() {
                self.given = Given::of(&lists, &self.base);
            }
            return;
        }
        self.classes = Classes::of(&lists);
        if !self.is_density() {
            self.classes = Classes::default();
        }
    }

    /// Distributions at some points.
    fn trials(&self, structure: &Structure) -> Vec<Tables> {
        let mut stream = StreamKey::new(3, Purpose::GENERATED).stream();
        let mut seen = Vec::new();
        for _ in 0..10 * TRIALS {
            let point: Vec<f64> = (0..self.terms.dimension()).map(|_| 4.0 * stream.uniform() - 2.0).collect();
            seen.extend(self.tables(structure, &point).ok());
            if seen.len() == TRIALS {
                break;
            }
        }
        seen
    }

    /// The log likelihood of outcomes, and the sum of the absolute values of its terms.
    pub fn log_density(&self, point: &[f64], numbers: &[f64]) -> (f64, f64) {
        let mut run = self.terms.run(point);
        let found = run.terms(numbers);
        let sum =
            |of: fn(&f64) -> f64| found.as_ref().map_or(f64::NEG_INFINITY, |t| t.values.iter().map(of).sum::<f64>());
        (sum(|x| *x), sum(|x| x.abs()))
    }

    /// Draws all elements that the likelihood looks at.
    pub fn draw(&self, point: &[f64], stream: &mut Stream) -> Result<Vec<f64>, SimulateError> {
        let structure = match &self.kind {
            Kind::Blocks(structure) => structure,
            Kind::Chain(chain) => return Ok(chain.draw(point, stream, self.terms.until)?.0),
        };
        let tables = self.tables(structure, point)?;
        let mut numbers = self.base.clone();
        for (elements, table) in &tables.blocks {
            let (values, log_sum) = match table {
                Table::Listed(list) => counts::draw(list, stream),
                Table::Line(line) => (vec![line.draw(stream)], line.log_integral()),
            };
            if !log_sum.is_finite() {
                let message =
                    "the likelihood has no finite value at any value of the outcome that was tried".to_owned();
                return Err(SimulateError::Rejected(Rejection { message, span: Span::default() }));
            }
            elements.iter().zip(values).for_each(|(e, x)| numbers[*e] = x);
        }
        Ok(numbers)
    }

    /// The logarithm of the likelihood summed or integrated over the outcome.
    pub fn log_normaliser(&self, point: &[f64]) -> Result<Normaliser, SimulateError> {
        let structure = match &self.kind {
            Kind::Blocks(structure) => structure,
            Kind::Chain(chain) => {
                // Other random numbers at each point: what depends on earlier elements is not to look like a constant.
                let salt = point.iter().fold(0_u64, |all, x| all.rotate_left(9) ^ x.to_bits());
                let [a, b] = [salt >> 32, salt & u64::from(u32::MAX)].map(|half| u32::try_from(half).unwrap_or(0));
                let mut stream = StreamKey::new(1, Purpose::GENERATED).dataset(a).chain(b).stream();
                return Ok(Normaliser { log: chain.draw(point, &mut stream, self.terms.until)?.1, rest: 0.0 });
            }
        };
        let tables = self.tables(structure, point)?;
        let of = |table: &Table| match table {
            Table::Listed(list) => counts::log_sum(list),
            Table::Line(line) => line.log_integral(),
        };
        let log = tables.rest + tables.blocks.iter().map(|(_, t)| of(t)).sum::<f64>();
        Ok(Normaliser { log, rest: tables.rest })
    }

    fn tables(&self, structure: &Structure, point: &[f64]) -> Result<Tables, SimulateError> {
        let mut run = self.terms.run(point);
        let mut own = evaluate::Blocks::new(&mut run, structure, &self.base);
        let rest = own.rest;
        let mut blocks = Vec::new();
        blocks.extend(counts::tables(&mut own, &self.domains)?);
        self.classes.share(&mut blocks);
        self.given.keep(&mut blocks, &self.base);
        blocks.extend(line::tables(&mut own, &self.domains)?);
        Ok(Tables { blocks, rest })
    }
}

/// What a likelihood adds up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normaliser {
    pub log: f64,
    /// The part of it that looks at no element of the outcome, such as censored observations.
    pub rest: f64,
}

/// The distributions of all blocks, and the log likelihood that depends on none of them.
struct Tables {
    blocks: Vec<(Vec<usize>, Table)>,
    rest: f64,
}

fn unfit(name: String, why: &str) -> SimulateError {
    SimulateError::NoDensity { name, why: why.to_owned() }
}

/// The declared bounds of all elements of an outcome.
fn bounds(program: &Program, data: &Data, id: VariableId, size: usize) -> Result<Vec<Domain>, SimulateError> {
    let mut ty = &program.variable(id).ty;
    while let Type::Array(element) = ty {
        ty = element;
    }
    let integer = *ty == Type::Int;
    let declared = declared_bounds(program, id);
    let mut calculator = Calculator::knowing(program, data, Limits::default());
    let mut side = |e: Option<&Expr>, none: f64| -> Result<Vec<f64>, SimulateError> {
        let Some(e) = e else { return Ok(vec![none; size]) };
        let value = calculator.expression(e).map_err(|problem| EngineError::one(*problem))?;
        Ok(match value.to_reals() {
            Some(list) if list.len() == size => list,
            Some(list) if list.len() == 1 => vec![list[0]; size],
            _ => vec![none; size],
        })
    };
    let lower = side(declared.lower, f64::NEG_INFINITY)?;
    let upper = side(declared.upper, f64::INFINITY)?;
    Ok(lower.into_iter().zip(upper).map(|(lower, upper)| Domain { integer, lower, upper }).collect())
}
