//! The terms of the likelihood at given parameters and outcomes, for many blocks at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crust_math::random::{Purpose, StreamKey};

use super::super::score::{Mode, Score};
use super::super::{GENERATED, SimulateError};
use super::line::Along;
use super::structure::Structure;
use crate::evaluator::Evaluator;
use crate::model::Model;

/// The program that says its terms.
#[derive(Clone)]
pub struct Terms {
    model: Arc<Model>,
    size: usize,
    /// Iterations of loops deeper than this are one term.
    pub finest: Option<u32>,
    /// Whether sizes of containers depend on the outcome, so that nothing of one evaluation holds for the next.
    fresh: bool,
    /// When to give up.
    pub until: Option<Instant>,
}

/// Sums of terms by the iteration that they come from.
pub type Sums = BTreeMap<u64, f64>;

impl Terms {
    pub fn new(model: Arc<Model>, size: usize, fresh: bool) -> Self {
        Self { model, size, finest: None, fresh, until: None }
    }

    /// Whether sizes of containers depend on the outcome.
    pub fn begins_anew(&self) -> bool {
        self.fresh
    }

    /// The number of parameters.
    pub fn dimension(&self) -> usize {
        self.model.dimension() - self.size
    }

    pub fn run(&self, point: &[f64]) -> Run {
        Run {
            evaluator: self.model.evaluator(),
            point: point.to_vec(),
            finest: self.finest,
            fresh: self.fresh.then(|| Arc::clone(&self.model)),
            until: self.until,
        }
    }
}

/// An error once the time is over.
pub fn in_time(until: Option<Instant>) -> Result<(), SimulateError> {
    if until.is_some_and(|until| Instant::now() >= until) { Err(SimulateError::Slow) } else { Ok(()) }
}

/// Evaluations at one point.
pub struct Run {
    evaluator: Evaluator,
    point: Vec<f64>,
    finest: Option<u32>,
    /// The model, if every evaluation begins anew.
    fresh: Option<Arc<Model>>,
    pub until: Option<Instant>,
}

impl Run {
    /// The terms of these outcomes; nothing where the program refuses them.
    pub fn terms(&mut self, numbers: &[f64]) -> Option<Sums> {
        let all = [self.point.as_slice(), numbers].concat();
        if let Some(model) = &self.fresh {
            self.evaluator = model.evaluator();
        }
        let mut score = Score::new(Mode::Terms);
        score.terms.finest = self.finest;
        self.evaluator.machine.score = Some(Box::new(score));
        let mut stream = StreamKey::new(0, Purpose::GENERATED).stream();
        // An index that is out of range, or a size that does not fit, refuses the outcome like everything else.
        let Ok(found) = self.evaluator.quantities_from(&all, &mut stream, GENERATED) else { return None };
        let score = self.evaluator.machine.score.take();
        match (found.rejection, score) {
            (None, Some(score)) => Some(score.terms.sums),
            _ => None,
        }
    }
}

impl Along for Blocks<'_> {
    /// One point of each block at a time.
    fn log_densities(&mut self, requests: &[(usize, f64)]) -> Result<Vec<f64>, SimulateError> {
        let mut passes: Vec<Vec<usize>> = Vec::new();
        let mut turns: BTreeMap<usize, usize> = BTreeMap::new();
        for (i, (block, _)) in requests.iter().enumerate() {
            let turn = turns.entry(*block).or_default();
            if passes.len() == *turn {
                passes.push(Vec::new());
            }
            passes[*turn].push(i);
            *turn += 1;
        }
        let mut all = vec![f64::NAN; requests.len()];
        for pass in passes {
            let changes: Vec<(usize, Values)> = pass.iter().map(|i| (requests[*i].0, vec![requests[*i].1])).collect();
            pass.iter().zip(self.evaluate(&changes)?).for_each(|(i, x)| all[*i] = x);
        }
        Ok(all)
    }
}

/// One value for each element of a block.
pub type Values = Vec<f64>;

/// The log likelihoods of all blocks as functions of their values.
pub struct Blocks<'a> {
    run: &'a mut Run,
    pub structure: &'a Structure,
    pub base: &'a [f64],
    /// Which group a term belongs to; those that only show now are added.
    own: BTreeMap<u64, Option<usize>>,
    /// What each group has at the base.
    at_base: Vec<f64>,
    /// Terms that belong to no group.
    pub rest: f64,
}

impl<'a> Blocks<'a> {
    pub fn new(run: &'a mut Run, structure: &'a Structure, base: &'a [f64]) -> Self {
        let own = structure.terms.clone();
        let mut all = Self { run, structure, base, own, at_base: Vec::new(), rest: 0.0 };
        let mut at_base = vec![f64::NAN; structure.groups];
        if let Some(found) = all.run.terms(base) {
            let (sums, rest, _) = all.by_group(&found);
            at_base = sums;
            all.rest = rest;
        }
        all.at_base = at_base;
        all
    }

    /// Sums by group (NaN for one without any term), the rest, and whether all terms are known.
    fn by_group(&self, found: &Sums) -> (Vec<f64>, f64, bool) {
        let mut sums = vec![f64::NAN; self.structure.groups];
        let (mut rest, mut known) = (0.0, true);
        for (term, x) in found {
            match self.own.get(term) {
                Some(Some(group)) => {
                    // A number outside of a domain is NaN, and so is what has no term: both have no density.
                    let x = if x.is_nan() { f64::NEG_INFINITY } else { *x };
                    sums[*group] = if sums[*group].is_nan() { x } else { sums[*group] + x };
                }
                Some(None) => rest += x,
                None => known = false,
            }
        }
        (sums, rest, known)
    }

    /// The log likelihood of a block at the base.
    pub fn at_base(&self, block: usize) -> f64 {
        let block = &self.structure.blocks[block];
        let start = self.at_base[block.group];
        let start = if start.is_nan() { f64::NEG_INFINITY } else { start };
        if block.turn == 0 { start } else { 0.0 }
    }

    /// The log likelihoods of blocks with these values, the others being as given. A block that is refused has none.
    pub fn evaluate(&mut self, changes: &[(usize, Values)]) -> Result<Vec<f64>, SimulateError> {
        let turn = |i: usize| self.structure.blocks[changes[i].0].turn;
        if changes.is_empty() || (0..changes.len()).all(|i| turn(i) == turn(0)) {
            return self.together(changes);
        }
        let mut by_turn: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        (0..changes.len()).for_each(|i| by_turn.entry(turn(i)).or_default().push(i));
        let mut all = vec![f64::NAN; changes.len()];
        for list in by_turn.into_values() {
            let some: Vec<(usize, Values)> = list.iter().map(|i| changes[*i].clone()).collect();
            list.iter().zip(self.together(&some)?).for_each(|(i, x)| all[*i] = x);
        }
        Ok(all)
    }

    /// The same for blocks of different groups.
    fn together(&mut self, changes: &[(usize, Values)]) -> Result<Vec<f64>, SimulateError> {
        in_time(self.run.until)?;
        let mut numbers = self.base.to_vec();
        for (block, values) in changes {
            let elements = &self.structure.blocks[*block].elements;
            elements.iter().zip(values).for_each(|(e, x)| numbers[*e] = *x);
        }
        let found = self.run.terms(&numbers);
        if let Some(found) = &found {
            if let [(block, _)] = changes {
                // Terms that were not seen before are this block's.
                let group = self.structure.blocks[*block].group;
                for term in found.keys() {
                    self.own.entry(*term).or_insert(Some(group));
                }
            }
            let (sums, _, known) = self.by_group(found);
            if known {
                let of = |(block, _): &(usize, Values)| {
                    let block = &self.structure.blocks[*block];
                    let sum = sums[block.group];
                    // The group's value at the base is counted once, with its first block.
                    if block.turn == 0 { sum } else { sum - self.at_base[block.group] }
                };
                return Ok(changes.iter().map(of).map(|x| if x.is_nan() { f64::NEG_INFINITY } else { x }).collect());
            }
        }
        // Some block is refused, or has terms of its own: which one shows when they are taken apart.
        match changes {
            [] | [_] => Ok(vec![f64::NEG_INFINITY; changes.len()]),
            _ => {
                let (first, second) = changes.split_at(changes.len() / 2);
                let mut all = self.together(first)?;
                all.extend(self.together(second)?);
                Ok(all)
            }
        }
    }
}
