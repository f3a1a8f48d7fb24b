//! The terms of the likelihood at given parameters and outcomes, for many blocks at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::super::SimulateError;
use super::super::noted::TermSums;
use super::lanes::Together;
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
            keys: Arc::default(),
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
    /// Those of the last evaluation.
    keys: Arc<Vec<u64>>,
    pub until: Option<Instant>,
}

impl Run {
    /// The terms of these outcomes; nothing where the program refuses them.
    pub fn terms(&mut self, numbers: &[f64]) -> Option<TermSums> {
        self.many(&[numbers.to_vec()]).pop().flatten()
    }

    /// The same for many outcomes.
    pub fn many(&mut self, outcomes: &[Vec<f64>]) -> Vec<Option<TermSums>> {
        let Self { evaluator, point, finest, fresh, keys, .. } = self;
        let Some(model) = fresh else {
            return Together { evaluator, point, outcomes, finest: *finest, keys }.terms();
        };
        let mut all = Vec::new();
        for one in outcomes.chunks(1) {
            *evaluator = model.evaluator();
            all.extend(Together { evaluator, point, outcomes: one, finest: *finest, keys }.terms());
        }
        all
    }
}

impl Along for Blocks<'_> {
    /// One point of each block at a time, and many times at once.
    fn log_densities(&mut self, requests: &[(usize, f64)]) -> Result<Vec<f64>, SimulateError> {
        let changes: Vec<(usize, Values)> = requests.iter().map(|(block, x)| (*block, vec![*x])).collect();
        self.evaluate(&changes)
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
    places: Vec<(Arc<Vec<u64>>, Places)>,
}

/// Where a term belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Group(usize),
    Rest,
    Unknown,
}

type Places = Arc<Vec<Place>>;

/// How many outcomes are evaluated between looks at the clock.
const AT_ONCE: usize = 256;

/// For how many sets of terms it is remembered where they belong.
const MOST_PLACES: usize = 64;

impl<'a> Blocks<'a> {
    pub fn new(run: &'a mut Run, structure: &'a Structure, base: &'a [f64]) -> Self {
        let own = structure.terms.clone();
        let mut all = Self { run, structure, base, own, at_base: Vec::new(), rest: 0.0, places: Vec::new() };
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
    fn by_group(&mut self, found: &TermSums) -> (Vec<f64>, f64, bool) {
        let mut sums = vec![f64::NAN; self.structure.groups];
        let (mut rest, mut known) = (0.0, true);
        for (place, x) in self.places_of(&found.keys).iter().zip(&found.values) {
            match place {
                Place::Group(group) => {
                    // A number outside of a domain is NaN, and so is what has no term: both have no density.
                    let x = if x.is_nan() { f64::NEG_INFINITY } else { *x };
                    sums[*group] = if sums[*group].is_nan() { x } else { sums[*group] + x };
                }
                Place::Rest => rest += x,
                Place::Unknown => known = false,
            }
        }
        (sums, rest, known)
    }

    /// Where terms belong. Most outcomes have the same terms, so that it is looked up once.
    fn places_of(&mut self, keys: &Arc<Vec<u64>>) -> Places {
        if let Some((_, places)) = self.places.iter().find(|(known, _)| Arc::ptr_eq(known, keys)) {
            return Arc::clone(places);
        }
        let place = |key: &u64| match self.own.get(key) {
            Some(Some(group)) => Place::Group(*group),
            Some(None) => Place::Rest,
            None => Place::Unknown,
        };
        let places: Places = Arc::new(keys.iter().map(place).collect());
        if self.places.len() >= MOST_PLACES {
            self.places.clear();
        }
        self.places.push((Arc::clone(keys), Arc::clone(&places)));
        places
    }

    /// The log likelihood of a block at the base.
    pub fn at_base(&self, block: usize) -> f64 {
        let block = &self.structure.blocks[block];
        let start = self.at_base[block.group];
        let start = if start.is_nan() { f64::NEG_INFINITY } else { start };
        if block.turn == 0 { start } else { 0.0 }
    }

    /// The log likelihoods of blocks with these values, the others being as given. A block that is refused has none.
    /// Blocks of different groups are changed together, those of one group in different outcomes.
    pub fn evaluate(&mut self, changes: &[(usize, Values)]) -> Result<Vec<f64>, SimulateError> {
        let mut outcomes: Vec<Vec<usize>> = Vec::new();
        let mut turns: Vec<usize> = vec![0; self.structure.groups];
        for (i, (block, _)) in changes.iter().enumerate() {
            let turn = &mut turns[self.structure.blocks[*block].group];
            if outcomes.len() == *turn {
                outcomes.push(Vec::new());
            }
            outcomes[*turn].push(i);
            *turn += 1;
        }
        let mut all = vec![f64::NEG_INFINITY; changes.len()];
        for some in outcomes.chunks(AT_ONCE) {
            self.together(changes, some, &mut all)?;
        }
        Ok(all)
    }

    /// The same for outcomes in which at most one block of each group is changed.
    fn together(
        &mut self,
        changes: &[(usize, Values)],
        outcomes: &[Vec<usize>],
        all: &mut [f64],
    ) -> Result<(), SimulateError> {
        in_time(self.run.until)?;
        let numbers: Vec<Vec<f64>> = outcomes.iter().map(|some| self.numbers(changes, some)).collect();
        let found = self.run.many(&numbers);
        let mut apart = Vec::new();
        for (some, found) in outcomes.iter().zip(&found) {
            if let (Some(found), [only]) = (found, some.as_slice()) {
                // Terms that were not seen before are this block's.
                self.learn(found, self.structure.blocks[changes[*only].0].group);
            }
            let known = found.as_ref().map(|found| self.by_group(found)).filter(|(_, _, known)| *known);
            match known {
                Some((sums, ..)) => {
                    for i in some {
                        let block = &self.structure.blocks[changes[*i].0];
                        let sum = sums[block.group];
                        // The group's value at the base is counted once, with its first block.
                        let x = if block.turn == 0 { sum } else { sum - self.at_base[block.group] };
                        all[*i] = if x.is_nan() { f64::NEG_INFINITY } else { x };
                    }
                }
                // Some block is refused, or has terms of its own: which one shows when they are taken apart.
                None if some.len() > 1 => {
                    let (first, second) = some.split_at(some.len() / 2);
                    apart.extend([first.to_vec(), second.to_vec()]);
                }
                None => {}
            }
        }
        for some in apart.chunks(AT_ONCE) {
            self.together(changes, some, all)?;
        }
        Ok(())
    }

    /// The given outcome with some changes.
    fn numbers(&self, changes: &[(usize, Values)], some: &[usize]) -> Vec<f64> {
        let mut numbers = self.base.to_vec();
        for i in some {
            let (block, values) = &changes[*i];
            let elements = &self.structure.blocks[*block].elements;
            elements.iter().zip(values).for_each(|(e, x)| numbers[*e] = *x);
        }
        numbers
    }

    fn learn(&mut self, found: &TermSums, group: usize) {
        let mut new = false;
        for term in found.keys.iter() {
            self.own.entry(*term).or_insert_with(|| {
                new = true;
                Some(group)
            });
        }
        if new {
            self.places.clear();
        }
    }
}
