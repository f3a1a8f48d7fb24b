//! Several numbers at a time that depend on those of earlier times: hidden Markov models that emit more than one.
//!
//! > p(yₙ | y₁…yₙ₋₁, θ) = p(y₁…yₙ | θ) / p(y₁…yₙ₋₁ | θ)
//!
//! as in [`super::chain`], where yₙ is all that belongs to time n, of one outcome or of many. Given what was before, its
//! numbers are independent, or so within the components of the last sum of the program ([`super::parts`]); or they are
//! integers whose combinations are gone through. Otherwise nothing is drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crust_math::random::Stream;
use crust_stan::data::Data;
use crust_stan::joint::Joint;
use crust_stan::span::Span;
use crust_stan::typed::{Program, VariableId};
use crust_stan::value::Value;

use super::super::noted::TermSums;
use super::super::{SimulateError, values};
use super::evaluate::{Run, Terms, branches, in_time};
use super::line::Landmarks;
use super::parts::{Change, Components, Mixed, Parted, agree, distributions};
use super::prefix::Prefixes;
use super::structure::{MOST_COMBINATIONS, components};
use super::write::Written;
use super::{Domain, counts};
use crate::machine::Rejection;
use crate::model::Model;

/// The likelihoods of all prefixes of outcomes.
pub struct Steps {
    /// The program that says its terms.
    program: Program,
    drawn: Vec<VariableId>,
    cut: Prefixes,
    data: Data,
    /// Data with the numbers of elements in the place of outcomes.
    labels: Data,
    domains: Vec<Domain>,
    base: Vec<f64>,
    times: usize,
    dimension: usize,
    models: Mutex<BTreeMap<usize, Arc<Model>>>,
}

/// How many prefixes stay bound.
const MOST_MODELS: usize = 600;

/// How many sums are tried.
const MOST_SUMS: usize = 8;

/// What was drawn, and the log likelihood summed over all values of it.
type Drawn = (Vec<f64>, f64);

/// How many outcomes are evaluated between looks at the clock.
const AT_ONCE: usize = 256;

impl Steps {
    /// Nothing where the data cannot be cut, or parameters with them.
    pub fn new(joint: &Joint, data: &Data, written: &Written, (base, domains): (&[f64], &[Domain])) -> Option<Self> {
        if written.sizes_vary {
            return None;
        }
        let mut labels = data.clone();
        let mut first = 0;
        for id in &written.drawn {
            let size = data.get(*id).and_then(Value::to_reals)?.len();
            let numbers: Vec<f64> = (first..first + size).map(to_number).collect();
            values::label(&joint.program, &mut labels, *id, &numbers).ok()?;
            first += size;
        }
        let whole = Model::bind(&joint.stated, data, 1).ok()?.dimension();
        for (cut, times) in Prefixes::of_all(&joint.stated, data, &written.drawn) {
            let dimension = |n: usize| Model::bind(&joint.stated, &cut.first(data, n)?, 1).ok().map(|m| m.dimension());
            let fits = [1, times.div_ceil(2)].iter().all(|n| dimension(*n) == Some(whole));
            if fits {
                let (program, drawn) = (written.program.clone(), written.drawn.clone());
                let (data, base, domains) = (data.clone(), base.to_vec(), domains.to_vec());
                let (models, dimension) = (Mutex::default(), whole);
                return Some(Self { program, drawn, cut, data, labels, domains, base, times, dimension, models });
            }
        }
        None
    }

    /// Draws all times in order, and adds up the logarithms of what the likelihood of each adds up to.
    pub fn draw(
        &self,
        point: &[f64],
        stream: &mut Stream,
        until: Option<Instant>,
    ) -> Result<(Vec<f64>, f64), SimulateError> {
        let mut drawn = self.base.clone();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        let (mut log_normaliser, mut before) = (0.0, 0.0);
        let landmarks = Landmarks::of(self.base.clone());
        for n in 1..=self.times {
            in_time(until)?;
            let labels = self.labels(n)?;
            let new: Vec<usize> = (0..labels.len()).filter(|i| !known.contains(&labels[*i])).collect();
            let mut terms = Terms::new(self.model(n)?, labels.len(), false);
            (terms.parts, terms.until) = (true, until);
            let base: Vec<f64> = labels.iter().map(|e| drawn[*e]).collect();
            let domains: Vec<Domain> = labels.iter().map(|e| self.domains[*e]).collect();
            let mut run = terms.run(point);
            let mut step = Step { run: &mut run, base, domains, mixture: None };
            let (values, log_sum) = step.draw(&new, &landmarks, stream)?;
            if !log_sum.is_finite() {
                let message = format!("the likelihood of the first {n} observations is zero wherever it was tried");
                return Err(SimulateError::Rejected(Rejection { message, span: Span::default() }));
            }
            log_normaliser += log_sum - before;
            new.iter().zip(values).for_each(|(i, x)| step.base[*i] = x);
            before = step.run.terms(&step.base).map_or(f64::NEG_INFINITY, |sums| sums.sum());
            new.iter().for_each(|i| drawn[labels[*i]] = step.base[*i]);
            known.extend(labels);
        }
        Ok((drawn, log_normaliser))
    }

    /// The elements of the first n times, in the order in which the program has them.
    fn labels(&self, n: usize) -> Result<Vec<usize>, SimulateError> {
        let part = self.cut.first(&self.labels, n).ok_or_else(|| Self::unfit(n))?;
        let mut all = Vec::new();
        for id in &self.drawn {
            let numbers = part.get(*id).and_then(Value::to_reals).ok_or_else(|| Self::unfit(n))?;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of elements")]
            all.extend(numbers.into_iter().map(|x| x as usize));
        }
        Ok(all)
    }

    /// The program with the first n observations.
    fn model(&self, n: usize) -> Result<Arc<Model>, SimulateError> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(&n) {
            return Ok(Arc::clone(model));
        }
        let data = self.cut.first(&self.data, n).ok_or_else(|| Self::unfit(n))?;
        let model = Arc::new(Model::bind(&self.program, &data, 1)?);
        if model.dimension() != self.dimension + self.labels(n)?.len() {
            return Err(Self::unfit(n));
        }
        if models.len() < MOST_MODELS {
            models.insert(n, Arc::clone(&model));
        }
        Ok(model)
    }

    fn unfit(n: usize) -> SimulateError {
        let why = format!("the data cannot be cut to {n} observations");
        SimulateError::NoDensity { name: "the outcome".to_owned(), why }
    }
}

#[allow(clippy::cast_precision_loss, reason = "numbers of elements")]
fn to_number(e: usize) -> f64 {
    e as f64
}

/// The likelihood as a function of what belongs to one time.
pub struct Step<'a> {
    pub run: &'a mut Run,
    pub base: Vec<f64>,
    pub domains: Vec<Domain>,
    pub mixture: Option<u64>,
}

impl Step<'_> {
    /// Draws some elements; the log likelihood summed over all their values.
    fn draw(&mut self, new: &[usize], landmarks: &Landmarks, stream: &mut Stream) -> Result<Drawn, SimulateError> {
        let count = |e: &usize| {
            let domain = self.domains[*e];
            if domain.integer { domain.upper - domain.lower + 1.0 } else { f64::INFINITY }
        };
        if new.len() > 1 && new.iter().map(count).product::<f64>() <= MOST_COMBINATIONS {
            let list = self.combinations(new)?;
            return Ok(counts::draw(&list, stream));
        }
        let mut sums: Vec<Option<u64>> = self.coupling(new).into_iter().map(Some).collect();
        if sums.is_empty() {
            sums.push(None);
        }
        let free = |e: &usize| {
            let domain = self.domains[*e];
            !domain.integer && domain.lower.is_infinite() && domain.upper.is_infinite()
        };
        let normal = new.len() > 1 && new.iter().all(free);
        for (sum, normal) in sums.iter().flat_map(|sum| [(*sum, false), (*sum, true)]).filter(|(_, n)| !n || normal) {
            self.mixture = sum;
            match self.by_component(new, normal, landmarks, stream) {
                Ok(None) | Err(SimulateError::Endless | SimulateError::NoDensity { .. }) => {}
                Ok(Some(drawn)) => return Ok(drawn),
                Err(error) => return Err(error),
            }
        }
        let why = "numbers of the same time depend on each other, given earlier ones".to_owned();
        Err(SimulateError::NoDensity { name: "the outcome".to_owned(), why })
    }

    /// The same by the components of one sum; nothing where elements depend on each other within them.
    fn by_component(
        &mut self,
        new: &[usize],
        normal: bool,
        landmarks: &Landmarks,
        stream: &mut Stream,
    ) -> Result<Option<Drawn>, SimulateError> {
        let mixed = [Mixed { elements: new.to_vec(), group: 0, mixture: self.mixture, normal }];
        let (base, domains) = (self.base.clone(), self.domains.clone());
        let found = distributions(self, &mixed, (&base, &domains), landmarks)?;
        let Some(distribution) = found.first().filter(|d| d.log_sum().is_finite()) else {
            return Ok(Some((Vec::new(), f64::NEG_INFINITY)));
        };
        let values = distribution.draw(stream);
        let mut numbers = base;
        new.iter().zip(&values).for_each(|(e, x)| numbers[*e] = *x);
        let right = new.len() == 1 || agree(self, &found, &numbers)?;
        Ok(right.then(|| (values, distribution.log_sum())))
    }

    fn combinations(&mut self, new: &[usize]) -> Result<counts::Listed, SimulateError> {
        let all: Vec<Vec<f64>> = (0..).map_while(|i| counts::combination(new, &self.domains, i)).collect();
        let mut list = Vec::new();
        for some in all.chunks(AT_ONCE) {
            in_time(self.run.until)?;
            let outcome = |values: &Vec<f64>| {
                let mut numbers = self.base.clone();
                new.iter().zip(values).for_each(|(e, x)| numbers[*e] = *x);
                numbers
            };
            let found = self.run.many(&some.iter().map(outcome).collect::<Vec<_>>());
            let log = |sums: Option<TermSums>| sums.map(|s| s.sum()).filter(|x| !x.is_nan());
            list.extend(some.iter().cloned().zip(found.into_iter().map(|s| log(s).unwrap_or(f64::NEG_INFINITY))));
        }
        Ok(list)
    }

    /// Sums over components that more than one of these elements change; terms of the target first.
    fn coupling(&mut self, new: &[usize]) -> Vec<u64> {
        let Some(base) = self.run.terms(&self.base) else { return Vec::new() };
        let other = |e: &usize| {
            let (mut numbers, domain) = (self.base.clone(), self.domains[*e]);
            let step = if domain.integer { 1.0 } else { 0.1 * (1.0 + numbers[*e].abs()) };
            numbers[*e] += if numbers[*e] + step <= domain.upper { step } else { -step };
            numbers
        };
        let alone: Vec<TermSums> =
            self.run.many(&new.iter().map(other).collect::<Vec<_>>()).into_iter().flatten().collect();
        let touched = |key: &u64, parts: &Vec<f64>| {
            let same = |other: &Vec<f64>| other.iter().zip(parts).all(|(a, b)| a.total_cmp(b).is_eq());
            alone.iter().filter(|sums| !sums.mixtures.get(key).is_some_and(same)).count()
        };
        let coupling = base.mixtures.iter().filter(|(key, parts)| touched(key, parts) > 1);
        coupling.map(|(key, _)| *key).take(MOST_SUMS).collect()
    }

    fn components(&self, found: Option<TermSums>, count: usize) -> Result<Components, SimulateError> {
        let Some(sums) = found else { return Ok(vec![f64::NEG_INFINITY; count]) };
        let list = match self.mixture {
            Some(key) => components(&sums, key),
            None => vec![sums.sum()],
        };
        let real = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
        if list.len() == count { Ok(list.into_iter().map(real).collect()) } else { Err(branches()) }
    }

    /// How many components there are.
    fn count(&mut self) -> usize {
        let Some((key, base)) = self.mixture.zip(self.run.terms(&self.base)) else { return 1 };
        base.mixtures.get(&key).map_or(1, Vec::len)
    }
}

impl Parted for Step<'_> {
    fn changed(&mut self, changes: &[Change]) -> Result<Vec<Components>, SimulateError> {
        let count = self.count();
        let mut all = Vec::new();
        for some in changes.chunks(AT_ONCE) {
            in_time(self.run.until)?;
            let outcome = |change: &Change| {
                let mut numbers = self.base.clone();
                change.apply(&mut numbers);
                numbers
            };
            let found = self.run.many(&some.iter().map(outcome).collect::<Vec<_>>());
            for sums in found {
                all.push(self.components(sums, count)?);
            }
        }
        Ok(all)
    }

    fn whole(&mut self, numbers: &[f64]) -> Result<Vec<Components>, SimulateError> {
        let count = self.count();
        let found = self.run.terms(numbers);
        Ok(vec![self.components(found, count)?])
    }
}
