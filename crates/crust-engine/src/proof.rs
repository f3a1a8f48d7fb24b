//! The proof of a reading: what the forward sampler draws has the density that the program states.
//!
//! The reading knows the density of what it draws ([`crate::simulate`]). At draws and at points from elsewhere the
//! program's log density minus that of the reading must be one constant, for the prior and for the likelihood.
//! Simulators that were supplied have no known density; [`bets`] tests them by likelihood ratios.

mod bets;
mod blame;
mod compare;
mod message;
mod normaliser;
mod points;
mod program;

use std::collections::BTreeMap;

use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::Data;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;
use crust_stan::typed::Program;

use crate::model::EngineError;
use crate::simulate::{Integral, Place, Score, ScoredDraw, Scorer, SimulateError, Simulator};
use compare::Observation;
use points::Points;
use program::{Accuracy, Target};

/// Which part of the joint density is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Prior,
    Likelihood,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Self::Prior => "prior",
            Self::Likelihood => "likelihood",
        }
    }
}

/// What was proven, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Proof {
    /// How often the two densities of the prior, and of the likelihood, were compared.
    pub prior: usize,
    pub likelihood: usize,
    /// The largest difference from the constant, relative to what rounding allows.
    pub worst: f64,
    /// The program's log prior minus that of what is drawn: the logarithm of what the prior integrates to, since draws
    /// have a normalised density. None where the reading leaves out a constant that it does not know.
    pub log_prior_integral: Option<f64>,
    /// What statements add to normalise the prior that look at no parameter, and so count as likelihood.
    pub log_normalising: f64,
    /// As for the prior, of the likelihood, which integrates to 1 over the outcomes if it is a density of them.
    pub log_likelihood_integral: Option<f64>,
    /// What the likelihood adds up to over all outcomes, where these are drawn from its values: at how many points that
    /// was computed, and the logarithm.
    pub normaliser: Option<(usize, f64)>,
    /// The wealth of bets against a simulator that was supplied; it is 1 on average if that is right.
    pub wealth: Option<f64>,
}

/// Why a reading is not that of its program.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Misreading {
    /// The two densities differ by more than a constant.
    #[error("{}", message::densities(.0))]
    Density(Box<Difference>),
    /// Draws do not have the density that the same numbers have when they are given.
    #[error(
        "what is drawn is not what the statement is read as: its log density is {drawn} when drawn, and {given} afterwards"
    )]
    Draws { span: Span, drawn: f64, given: f64 },
    /// A normaliser that nobody knows depends on parameters.
    #[error("the statement is drawn under a condition whose probability depends on parameters")]
    Normaliser { span: Span },
    /// The program refuses some of the draws.
    #[error("the program refuses {refused} of {draws} draws from its own prior: {reason}")]
    Cut { span: Span, refused: usize, draws: usize, reason: String },
    /// Terms of parameters that are drawn at once also weigh others.
    #[error("{}", message::weighs(.0))]
    Weighs(Box<Weighs>),
    /// The likelihood is no density of the outcome.
    #[error("{}", message::normaliser(.0))]
    NotNormalised(Box<Normalisers>),
    /// A supplied simulator draws from something else.
    #[error("the simulator does not draw from the {} of the program: {}", part.name(), message::wealth(*wealth))]
    Supplied { part: Part, span: Option<Span>, wealth: f64 },
}

/// What the likelihood adds up to over all values of the outcome, at two points.
#[derive(Clone, Debug)]
pub struct Normalisers {
    pub outcomes: Vec<String>,
    pub span: Option<Span>,
    /// How many numbers the outcome has.
    pub size: usize,
    pub log: [f64; 2],
    /// Values of parameters at the points.
    pub at: [String; 2],
}

/// What the terms of some parameters integrate to over all their values, at two points of the others.
#[derive(Clone, Debug)]
pub struct Weighs {
    pub names: String,
    pub span: Span,
    pub log: [f64; 2],
    /// Values of parameters at the points.
    pub at: [String; 2],
}

/// Two densities that do not agree.
#[derive(Clone, Debug)]
pub struct Difference {
    pub part: Part,
    /// The statement, where it could be found.
    pub span: Option<Span>,
    /// The log density of that statement (or of the whole part) at the point, relative to a reference point.
    pub program: f64,
    pub reading: f64,
    /// Values of parameters at the point.
    pub at: String,
}

/// Why there is no proof.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProveError {
    #[error(transparent)]
    Misreading(#[from] Misreading),
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Misreading {
    /// The error with its statement, for people.
    pub fn diagnostic(&self) -> Diagnostic {
        message::diagnostic(self)
    }
}

/// What the proof is given beside program and simulator.
#[derive(Clone, Copy, Debug)]
pub struct ProveOptions<'a> {
    pub seed: u64,
    /// Unconstrained points from elsewhere, such as those of short NUTS runs. A reading of the likelihood alone has no
    /// other points that are like the posterior.
    pub points: &'a [Vec<f64>],
    /// Whether data are going to be simulated. Otherwise the prior is proven alone, with the given data.
    pub likelihood: bool,
    /// By how many nats the densities may differ at the given points, all of which are looked at and no others; 0 for a
    /// proof at many points. For outcomes whose declared bounds cut off next to nothing where the posterior is.
    pub slack: f64,
}

impl Default for ProveOptions<'_> {
    fn default() -> Self {
        Self { seed: 1, points: &[], likelihood: true, slack: 0.0 }
    }
}

/// How many draws from the prior are bet on.
const PRIOR_BETS: u32 = 60;

/// Random numbers of the proof.
pub(crate) const PURPOSE: Purpose = Purpose(Purpose::FIRST_FREE.0 - 1);

/// Proves that `simulator` draws from the distribution that `program` states.
///
/// # Errors
/// [`ProveError::Misreading`] names the statement that is read wrongly.
pub fn prove(program: &Program, simulator: &Simulator, options: &ProveOptions<'_>) -> Result<Proof, ProveError> {
    let program = &program::with_jacobians(program);
    let accuracy = Accuracy { slack: options.slack, ..program::accuracy(program) };
    let mut prover = Prover {
        program,
        accuracy,
        simulator: simulator.clone(),
        options: *options,
        scorer: Scorer::default(),
        proof: Proof::default(),
        cut: false,
    };
    prover.run()?;
    Ok(prover.proof)
}

/// Whether the program solves equations: where solutions are close to zero, or parameters far from sensible, two
/// evaluations of them differ.
pub fn solves_equations(program: &Program) -> bool {
    program::accuracy(program).solves
}

struct Prover<'a> {
    program: &'a Program,
    simulator: Simulator,
    options: ProveOptions<'a>,
    scorer: Scorer,
    accuracy: Accuracy,
    proof: Proof,
    /// Whether the program refuses draws, so that nobody knows what is left of its prior.
    cut: bool,
}

/// A data set with the number of the draw that it was drawn from; none for given data.
struct DataSet {
    data: Data,
    from: Option<usize>,
}

impl Prover<'_> {
    fn key(&self, purpose: u32) -> StreamKey {
        StreamKey::new(self.options.seed, PURPOSE).chain(purpose)
    }

    fn run(&mut self) -> Result<(), ProveError> {
        let work = points::Work::of(&self.simulator);
        let alone = self.simulator.joint().likelihood_only;
        let own: Vec<Vec<f64>> = if alone {
            let dimension = self.simulator.dimension();
            points::starts(self.options.points, dimension, work.draws as usize, &mut self.key(0).stream())
        } else {
            let draws = self.draws(work.draws)?;
            for draw in &draws {
                compare::drawn(&draw.drawn, &draw.given)?;
            }
            self.check_integrals(&draws)?;
            draws.into_iter().map(|d| d.point).collect()
        };
        let sets = self.data_sets(&own, work.sets)?;
        let points = if self.options.slack > 0.0 {
            Points::exactly(own, self.options.points)
        } else {
            Points::around(own, self.options.points, &mut self.key(2).stream())
        };
        if !alone {
            self.check_cuts(&sets)?;
        }
        let mut targets = Vec::new();
        for set in &sets {
            targets.push(Target::new(self.program, &set.data)?);
        }
        if !alone {
            self.check_prior(&points, &sets, &mut targets)?;
            self.proof.log_normalising = self.normalising(&points, &sets)?;
        }
        if !self.options.likelihood {
            return Ok(());
        }
        let mut supplied = self.simulator.is_supplied();
        if !supplied && !self.simulator.joint().outcomes.is_empty() {
            supplied = self.check_likelihood(&points, &sets, &mut targets, work.pairs)?;
        }
        self.check_normaliser(&points)?;
        if supplied { self.bet(Part::Likelihood, work.bets, None, &points) } else { Ok(()) }
    }

    /// Draws from the prior. Where it is very wide some fail, or nearly all: then more are tried.
    fn draws(&mut self, number: u32) -> Result<Vec<ScoredDraw>, ProveError> {
        /// Draws that are enough where they are rare.
        const FEW: usize = 5;
        const MOST_TRIES: u32 = 2000;
        let mut draws = Vec::new();
        let mut trouble = None;
        for i in 0..MOST_TRIES {
            if i >= number && draws.len() >= FEW.min(number as usize) {
                break;
            }
            let key = self.key(0).dataset(i);
            match self.simulator.scored_parameters(&mut self.scorer, key) {
                Ok(draw) => draws.push(draw),
                Err(error @ (SimulateError::Rejected(_) | SimulateError::Unconstrain(_))) => trouble = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        match trouble {
            Some(error) if draws.is_empty() => Err(error.into()),
            _ => Ok(draws),
        }
    }

    /// What the terms of parameters that are drawn at once integrate to is a constant: otherwise the prior of others is
    /// not the one that their own statements name.
    fn check_integrals(&mut self, draws: &[ScoredDraw]) -> Result<(), ProveError> {
        let mut first: BTreeMap<Place, (usize, Integral)> = BTreeMap::new();
        for (i, draw) in draws.iter().enumerate() {
            for found in self.simulator.linked_integrals(&draw.point) {
                let (at, known) = first.entry(found.place).or_insert_with(|| (i, found.clone()));
                let noise = found.noise + known.noise;
                let tolerance = self.accuracy.relative * (1.0 + found.log.abs() + known.log.abs()) + noise;
                if (found.log - known.log).abs() <= tolerance || noise > self.accuracy.blunt {
                    continue;
                }
                let (log, points) = ([known.log, found.log], [*at, i]);
                let at = points.map(|i| self.describe(&draws[i].point));
                let (names, span) = (found.names, compare::span(found.place));
                return Err(Misreading::Weighs(Box::new(Weighs { names, span, log, at })).into());
            }
        }
        Ok(())
    }

    /// Data drawn given the first draws, and the given data where they are complete.
    fn data_sets(&mut self, draws: &[Vec<f64>], number: usize) -> Result<Vec<DataSet>, ProveError> {
        let mut sets = Vec::new();
        let (mut trouble, mut impossible) = (None, Vec::new());
        let number = if self.options.likelihood { number } else { 0 };
        for (i, point) in draws.iter().enumerate() {
            if sets.len() == number {
                break;
            }
            let number = u32::try_from(i).unwrap_or(u32::MAX);
            match self.simulator.scored_data(point, self.key(1).dataset(number)) {
                Ok((data, drawn)) => {
                    if !self.simulator.is_supplied() {
                        let given = self.simulator.score_data(&mut self.scorer, point, &data);
                        if let Ok(given) = &given {
                            compare::drawn(&drawn, given)?;
                        }
                        let density = given.map_or(f64::NEG_INFINITY, |given| given.total().density);
                        if density == f64::NEG_INFINITY && !self.is_rounded(&data) {
                            impossible.push(drawn);
                        }
                    }
                    sets.push(DataSet { data, from: Some(i) });
                }
                Err(error @ (SimulateError::Rejected(_) | SimulateError::Endless)) => trouble = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        // A solver may fail at any one point.
        if 2 * impossible.len() > sets.len() && !self.accuracy.solves {
            return Err(compare::impossible(&impossible).into());
        }
        if let Some(error) = trouble.filter(|_| sets.is_empty()) {
            return Err(error.into());
        }
        if self.simulator.is_complete() && (sets.is_empty() || !self.simulator.joint().outcomes.is_empty()) {
            sets.push(DataSet { data: self.simulator.data().clone(), from: None });
        }
        Ok(sets)
    }

    /// Whether an outcome is where numbers end: its density may be zero there by rounding alone.
    fn is_rounded(&self, data: &Data) -> bool {
        let outcomes = self.simulator.outcomes().iter().filter_map(|(id, _)| data.get(*id)?.to_reals());
        outcomes.flatten().any(|y| y == 0.0 || !y.is_finite())
    }

    fn check_prior(&mut self, points: &Points, sets: &[DataSet], targets: &mut [Target]) -> Result<(), ProveError> {
        let scores: Vec<Result<Score, SimulateError>> =
            points.all.iter().map(|p| self.simulator.score_parameters(&mut self.scorer, p)).collect();
        // What refuses a point is perhaps the likelihood, which says nothing about the prior.
        let alone = match sets.first() {
            Some(set) => {
                Target::new(&program::prior_only(self.program), &set.data)?.evaluate(&points.all, Part::Prior)?
            }
            None => Vec::new(),
        };
        let mut all = Vec::new();
        for (target, number) in targets.iter_mut().zip(0..) {
            // The prior is one and the same whatever the data are: a few points are enough behind the first data set.
            let some = if number == 0 { points.all.len() } else { points.all.len().min(4) };
            let values = target.evaluate(&points.all[..some], Part::Prior)?;
            for (at, value) in values.into_iter().enumerate() {
                let own = at < points.own;
                let mut seen = Observation::new(&value, &scores[at], (at, number), own, self.accuracy).of_prior();
                let by_prior = alone.get(at).is_some_and(|v| v.rejection.is_some());
                seen.refused |= value.rejection.is_some() && !by_prior;
                all.push(seen);
            }
        }
        self.proof.prior = all.iter().filter(|o| o.is_sharp()).count();
        self.settle(Part::Prior, &all, points, sets)?;
        // The densities of statements are proven; bets also find draws that do not have them.
        self.bet(Part::Prior, PRIOR_BETS, targets.first_mut(), points)
    }

    /// The constants that together are what the prior lacks to integrate to 1, if there are such.
    fn normalising(&self, points: &Points, sets: &[DataSet]) -> Result<f64, ProveError> {
        /// Of more statements not all combinations are looked at.
        const MOST: usize = 12;
        let Some(log) = self.proof.log_prior_integral.filter(|log| log.abs() > 1e-9) else { return Ok(0.0) };
        let (Some(set), Some(point)) = (sets.last(), points.all.first()) else { return Ok(0.0) };
        let mut sums = vec![0.0];
        for program in program::constants(self.program).iter().take(MOST) {
            let value = Target::new(program, &set.data)?.evaluate(std::slice::from_ref(point), Part::Likelihood)?;
            let constant = value.first().map_or(0.0, |value| value.log_density);
            let with: Vec<f64> = sums.iter().map(|sum| sum + constant).collect();
            sums.extend(with);
        }
        let found = sums.into_iter().find(|sum| (log + sum).abs() < 1e-9 * (1.0 + log.abs()));
        Ok(found.unwrap_or(0.0))
    }

    /// Whether some statement is drawn by a function of the program's own.
    fn check_likelihood(
        &mut self,
        points: &Points,
        sets: &[DataSet],
        targets: &mut [Target],
        pairs: usize,
    ) -> Result<bool, ProveError> {
        let mut all = Vec::new();
        let each = (pairs / sets.len().max(1)).max(2);
        for (number, (set, target)) in sets.iter().zip(targets.iter_mut()).enumerate() {
            let chosen = points.choose(set.from, each, number);
            let list: Vec<Vec<f64>> = chosen.iter().map(|&i| points.all[i].clone()).collect();
            let values = target.evaluate(&list, Part::Likelihood)?;
            for (value, at) in values.into_iter().zip(chosen) {
                let score = self.simulator.score_data(&mut self.scorer, &points.all[at], &set.data);
                all.push(Observation::new(&value, &score, (at, number), set.from == Some(at), self.accuracy));
            }
        }
        self.proof.likelihood = all.iter().filter(|o| o.is_sharp()).count();
        let supplied = all.iter().any(|o| o.supplied);
        self.settle(Part::Likelihood, &all, points, sets)?;
        if supplied {
            // Functions of the program's own are taken at their word.
            self.proof.log_likelihood_integral = None;
        }
        Ok(supplied)
    }

    /// Compares, and names the statement where the densities differ.
    fn settle(&mut self, part: Part, all: &[Observation], points: &Points, sets: &[DataSet]) -> Result<(), ProveError> {
        match compare::constant(all, self.accuracy)? {
            Ok(constant) => {
                self.proof.worst = self.proof.worst.max(constant.worst);
                match part {
                    Part::Prior => {
                        let known = constant.known.filter(|_| !self.cut && !self.simulator.is_cut());
                        self.proof.log_prior_integral = known;
                    }
                    Part::Likelihood => self.proof.log_likelihood_integral = constant.known,
                }
                Ok(())
            }
            Err(pair) => Err(self.blame(part, &pair, points, sets)?.into()),
        }
    }
}
