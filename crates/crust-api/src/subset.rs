//! The data-subset path of a Stan program: observations are added one at a time (BREAD, section 2.2).
//!
//! > log f at place n + a of N = log prior + (1 − a) log p(y₁…yₙ | θ) + a log p(y₁…yₙ₊₁ | θ), 0 ≤ a < 1,
//!
//! The program is bound anew for each n, with the count of observations set to n and every data variable cut to its
//! first n entries along the dimensions of that size. n = 0 is the prior, n = N the posterior.

use crate::error::{Fault, Faults, PathError};
use crate::generative::Generative;
use crate::target::{Evaluation, StanTarget};
use crust_engine::{EngineError, Model};
use crust_infer::anneal::Subset;
use crust_infer::path::{Course, Path};
use crust_infer::target::{Batch, Fatal, Target};
use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::joint::walk::mentions;
use crust_stan::typed::{Expr, ExprKind, Program, SizedKind, SizedType, VariableId};
use crust_stan::types::Type;
use crust_stan::value::{Selector, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bound subsets that are kept at the same time.
const MOST_MODELS: usize = 64;
/// Evaluators that a thread keeps.
const MOST_EVALUATORS: usize = 8;

/// Which data are cut, and how.
#[derive(Clone, Debug)]
pub struct Cut {
    counter: VariableId,
    name: String,
    /// Variables with a dimension of that size, and which of their dimensions it is.
    variables: Vec<(VariableId, Vec<bool>)>,
}

impl Cut {
    /// Along the dimension that an integer of the data block counts.
    pub fn along(program: &Program, name: &str) -> Result<Self, PathError> {
        let data = || program.declared_in(BlockKind::Data);
        let counter = data().find(|&id| program.variable(id).name == name);
        let counter = counter.ok_or_else(|| PathError::NoCounter(name.to_owned()))?;
        if program.variable(counter).ty != Type::Int {
            return Err(PathError::NoInteger(name.to_owned()));
        }
        let mut variables = Vec::new();
        for id in data() {
            let variable = program.variable(id);
            let Some(declared) = &variable.declared else { continue };
            let axes = axes(declared, counter).map_err(|what| PathError::Computed {
                what,
                variable: variable.name.clone(),
                counter: name.to_owned(),
            })?;
            if axes.contains(&true) {
                variables.push((id, axes));
            }
        }
        if variables.is_empty() {
            return Err(PathError::NothingToAdd(name.to_owned()));
        }
        Ok(Self { counter, name: name.to_owned(), variables })
    }

    /// N.
    pub fn observations(&self, data: &Data) -> Result<usize, PathError> {
        let count = data.get(self.counter).and_then(Value::as_int).and_then(|n| usize::try_from(n).ok());
        count.filter(|&n| n > 0).ok_or(PathError::NoObservations)
    }

    /// The first observations.
    fn first(&self, program: &Program, data: &Data, n: usize) -> Result<Data, PathError> {
        let cannot = |id| PathError::Cut { variable: program.variable(id).name.clone(), count: n };
        let count = i32::try_from(n).map_err(|_| cannot(self.counter))?;
        let mut part = data.clone();
        part.set(self.counter, Value::Int(count));
        for (id, axes) in &self.variables {
            let selectors: Vec<Selector> =
                axes.iter().map(|&cut| if cut { Selector::UpTo(count) } else { Selector::All }).collect();
            let Some(whole) = data.get(*id) else { continue };
            let cut = whole.select(&selectors).map_err(|_| cannot(*id))?;
            part.set(*id, cut);
        }
        Ok(part)
    }
}

/// Which dimensions of a declaration are the counter itself. What is computed from it is an error.
fn axes(declared: &SizedType, counter: VariableId) -> Result<Vec<bool>, &'static str> {
    let own =
        |sizes: &[Expr]| -> Result<Vec<bool>, &'static str> { sizes.iter().map(|size| axis(size, counter)).collect() };
    match &declared.kind {
        SizedKind::Plain { sizes, .. } => own(sizes),
        SizedKind::Special { sizes, .. } if own(sizes)?.contains(&true) => Err("a constrained size"),
        SizedKind::Special { .. } => Ok(vec![]),
        SizedKind::Array { sizes, element } => {
            let mut all = own(sizes)?;
            all.extend(axes(element, counter)?);
            Ok(all)
        }
        SizedKind::Tuple(parts) => {
            for part in parts {
                if axes(part, counter)?.contains(&true) {
                    return Err("a part");
                }
            }
            Ok(vec![])
        }
    }
}

fn axis(size: &Expr, counter: VariableId) -> Result<bool, &'static str> {
    match &size.kind {
        ExprKind::Variable(id) => Ok(*id == counter),
        _ if mentions(size, counter) => Err("a size"),
        _ => Ok(false),
    }
}

/// All subsets of one dataset.
pub struct Subsets<'a> {
    loaded: &'a Generative<'a>,
    cut: Cut,
    data: Data,
    observations: usize,
    seed: u64,
    evaluation: Evaluation,
    /// The posterior.
    whole: Arc<Model>,
    /// A point with its log prior, which must be the same for all subsets.
    witness: (Vec<f64>, f64),
    models: Mutex<BTreeMap<usize, Arc<Model>>>,
    /// Where mistakes are left.
    faults: Faults,
}

impl<'a> Subsets<'a> {
    /// `witness` is a draw from the prior. Refuses programs whose parameters or prior depend on the number of
    /// observations.
    pub fn new(
        (loaded, cut): (&'a Generative<'a>, Cut),
        data: Data,
        whole: &Arc<Model>,
        witness: Vec<f64>,
        (seed, evaluation): (u64, Evaluation),
        faults: &Faults,
    ) -> Result<Self, PathError> {
        let observations = cut.observations(&data)?;
        let mut subsets = Self {
            loaded,
            cut,
            data,
            observations,
            seed,
            evaluation,
            whole: Arc::clone(whole),
            witness: (witness, f64::NAN),
            models: Mutex::default(),
            faults: faults.clone(),
        };
        subsets.witness.1 = subsets.log_prior(whole)?;
        for n in [1, observations.div_ceil(2)] {
            subsets.model(n)?;
        }
        Ok(subsets)
    }

    fn target(&self, model: &Arc<Model>) -> StanTarget<'a> {
        StanTarget::path(model, self.loaded.program().text(), self.evaluation).reporting_to(&self.faults)
    }

    /// The log prior of the witness.
    fn log_prior(&self, model: &Arc<Model>) -> Result<f64, EngineError> {
        Ok(self.target(model).log_priors(std::slice::from_ref(&self.witness.0))?[0])
    }

    /// The program with the first n observations.
    fn model(&self, n: usize) -> Result<Arc<Model>, PathError> {
        if n >= self.observations {
            return Ok(Arc::clone(&self.whole));
        }
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(&n) {
            return Ok(Arc::clone(model));
        }
        let counter = self.cut.name.clone();
        let data = self.cut.first(self.loaded.typed(), &self.data, n)?;
        let model = match self.loaded.bind(&data, self.seed) {
            Ok(model) => Arc::new(model),
            Err(error) => return Err(PathError::Bind { counter, count: n, error }),
        };
        let (part, whole) = (model.dimension(), self.whole.dimension());
        if part != whole {
            return Err(PathError::Dimension { counter, count: n, part, whole });
        }
        let (part, whole) = (self.log_prior(&model)?, self.witness.1);
        if (part - whole).abs() > 1e-8 * whole.abs().max(1.0) {
            return Err(PathError::Prior { counter, count: n, part, whole });
        }
        while models.len() >= MOST_MODELS {
            let far = models.keys().copied().max_by_key(|&other| other.abs_diff(n));
            far.and_then(|far| models.remove(&far));
        }
        models.insert(n, Arc::clone(&model));
        Ok(model)
    }
}

/// The path through all subsets as a target of annealing.
pub struct SubsetTarget<'a> {
    subsets: Arc<Subsets<'a>>,
    hyperparameters: Vec<usize>,
    /// By the number of observations.
    evaluators: BTreeMap<usize, StanTarget<'a>>,
    part: Batch,
}

impl<'a> SubsetTarget<'a> {
    pub fn new(subsets: &Arc<Subsets<'a>>, hyperparameters: &[String]) -> Self {
        let target = subsets.target(&subsets.whole).with_hyperparameters(hyperparameters);
        let hyperparameters = Target::hyperparameters(&target);
        Self { subsets: Arc::clone(subsets), hyperparameters, evaluators: BTreeMap::new(), part: Batch::default() }
    }

    /// Evaluates some lanes of a batch with the first n observations, and adds densities and gradients with the weight
    /// of each lane: log prior and log likelihood with the exponent of each lane.
    fn add(&mut self, batch: &mut Batch, lanes: &[Lane], n: usize, of: impl Fn(&Lane) -> Term) -> Result<(), Fatal> {
        if !self.evaluators.contains_key(&n) {
            while self.evaluators.len() >= MOST_EVALUATORS {
                let far = self.evaluators.keys().copied().max_by_key(|&other| other.abs_diff(n));
                far.and_then(|far| self.evaluators.remove(&far));
            }
            let model = self.subsets.model(n).map_err(|error| {
                let counter = self.subsets.cut.name.clone();
                self.subsets.faults.raise(Fault::Path { counter, error })
            })?;
            self.evaluators.insert(n, self.subsets.target(&model));
        }
        let (d, many) = (self.subsets.whole.dimension(), lanes.len());
        self.part.resize(d, many, batch.wants_gradient());
        for (k, lane) in lanes.iter().enumerate() {
            self.part.beta[k] = of(lane).exponent;
            (0..d).for_each(|i| self.part.x[i * many + k] = batch.x[i * batch.lanes + lane.number]);
        }
        let Some(evaluator) = self.evaluators.get_mut(&n) else { return Ok(()) };
        Target::evaluate(evaluator, &mut self.part)?;
        for (k, lane) in lanes.iter().enumerate() {
            let Term { weight, exponent } = of(lane);
            batch.log_prior[lane.number] = self.part.log_prior[k];
            if exponent > 0.0 {
                batch.log_likelihood[lane.number] += weight * exponent * self.part.log_likelihood[k];
            }
            if batch.wants_gradient() {
                let to = batch.gradient.iter_mut().skip(lane.number).step_by(batch.lanes);
                to.zip(self.part.gradient.iter().skip(k).step_by(many)).for_each(|(to, g)| *to += weight * g);
            }
        }
        Ok(())
    }
}

/// A lane of a batch with its place on the path.
#[derive(Clone, Copy)]
struct Lane {
    number: usize,
    at: Subset,
}

/// Weight · (log prior + exponent · log likelihood).
struct Term {
    weight: f64,
    exponent: f64,
}

impl Clone for SubsetTarget<'_> {
    fn clone(&self) -> Self {
        let (subsets, hyperparameters) = (Arc::clone(&self.subsets), self.hyperparameters.clone());
        Self { subsets, hyperparameters, evaluators: BTreeMap::new(), part: Batch::default() }
    }
}

impl Path for SubsetTarget<'_> {
    fn dimension(&self) -> usize {
        self.subsets.whole.dimension()
    }

    fn hyperparameters(&self) -> Vec<usize> {
        self.hyperparameters.clone()
    }

    fn course(&self) -> Course {
        Course::Evaluated
    }

    /// The log likelihood of a place β is what has been added so far, divided by β.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        batch.log_likelihood.fill(0.0);
        batch.gradient.fill(0.0);
        let mut groups: BTreeMap<(usize, bool), Vec<Lane>> = BTreeMap::new();
        for (number, &beta) in batch.beta.iter().enumerate() {
            let at = Subset::at(beta, self.subsets.observations);
            groups.entry((at.whole, at.part > 0.0)).or_default().push(Lane { number, at });
        }
        for ((whole, between), lanes) in groups {
            match (whole, between) {
                // Before the first observation is complete the path is geometric.
                (0, _) => self.add(batch, &lanes, 1, |lane| Term { weight: 1.0, exponent: lane.at.part })?,
                (n, false) => self.add(batch, &lanes, n, |_| Term { weight: 1.0, exponent: 1.0 })?,
                (n, true) => {
                    self.add(batch, &lanes, n, |lane| Term { weight: 1.0 - lane.at.part, exponent: 1.0 })?;
                    self.add(batch, &lanes, n + 1, |lane| Term { weight: lane.at.part, exponent: 1.0 })?;
                }
            }
        }
        for (log_likelihood, &beta) in batch.log_likelihood.iter_mut().zip(&batch.beta) {
            if beta > 0.0 {
                *log_likelihood /= beta;
            }
        }
        Ok(())
    }
}
