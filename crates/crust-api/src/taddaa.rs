//! `crust taddaa`: lower bounds on the errors of an approximation or of draws, from many short chains.

mod draws;
mod functionals;
mod normaliser;
mod rounding;
mod start;

use crate::annealing::{ACCEPTABLE, Diagnosis};
use crate::approximate::{ApproximationChoice, bind, bounds, check_radius, with_evaluations};
use crate::error::Error;
use crate::problem::{Problem, Source};
use crate::session::{Session, Unit};
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::result::Taddaa;
use crust_diagnose::taddaa::sizes::{EFFORT, Tolerances, iterations};
use crust_diagnose::taddaa::{ALPHA, Level, MOST_CORRELATION};
use crust_infer::improve::{self, Improvement, Improver};
use crust_math::random::{Purpose, StreamKey};
pub(crate) use draws::Given;
use functionals::Functionals;
use start::Start;
use std::num::NonZero;
use std::path::PathBuf;

/// What is judged.
#[derive(Clone, Debug)]
pub enum Subject {
    /// An approximation that is fitted first.
    Fit(ApproximationChoice),
    /// Files with draws as `CmdStan` writes them, or with the names of the parameters as columns.
    Draws(Vec<PathBuf>),
    /// An approximation as `approximate` writes it: mean and covariance, or mean and sd.
    Approximation(Source),
}

impl Subject {
    /// For the heading of a report.
    fn in_words(&self) -> String {
        match self {
            Self::Fit(method) => format!("a {} fit", method.name()),
            Self::Approximation(source) => format!("the approximation in {}", source.file_name()),
            Self::Draws(files) => {
                let names = files.iter().map(|file| file.file_name().unwrap_or(file.as_os_str()).to_string_lossy());
                format!("the draws in {}", names.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// How short chains move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShortKernel {
    /// Random-walk Metropolis.
    Rwmh,
    /// The Metropolis-adjusted Langevin algorithm.
    Mala,
    /// Barker's proposal, which the paper recommends.
    Barker,
    /// Hamiltonian Monte Carlo, which tells most for its time where chains adapt.
    #[default]
    Hmc,
}

/// How often the chains are looked at on their way.
const LOOKS: usize = 16;
/// The most leapfrog steps of `hmc`.
const STEPS: u32 = 10;
/// T of `hmc` that adapts. Trajectories have as many steps as they need, so that gradients grow with d^(1/4) as in
/// equation 8.
const ADAPTED: usize = 60;
/// The most states of a chain that are looked at.
const STATES: usize = 32;
/// How often chains go twice as far as before, as long as they need.
const DOUBLINGS: usize = 2;
/// More chains than this are a mistake, not a wish.
const MOST_CHAINS: usize = 1_000_000;

impl ShortKernel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Rwmh => "rwmh",
            Self::Mala => "mala",
            Self::Barker => "barker",
            Self::Hmc => "hmc",
        }
    }

    fn kernel(self) -> Improver {
        match self {
            Self::Rwmh => Improver::RandomWalk,
            Self::Mala => Improver::Mala,
            Self::Barker => Improver::Barker,
            Self::Hmc => Improver::Hmc { most_steps: STEPS },
        }
    }

    /// T.
    fn length(self, dimension: usize, published: bool) -> usize {
        if self == Self::Hmc && !published { ADAPTED } else { self.iterations(dimension) }
    }

    /// T of equations 7 and 8.
    pub(crate) fn iterations(self, dimension: usize) -> usize {
        iterations(dimension, (self == Self::Hmc).then_some(STEPS as usize / 2), EFFORT)
    }
}

/// Options of `taddaa`.
#[derive(Clone, Debug)]
pub struct TaddaaOptions {
    pub subject: Subject,
    /// Such as `mean(x[1])` or `P(x > 0)`; if empty, the mean, the log variance and the 5, 50 and 95 % quantiles of
    /// every parameter.
    pub functionals: Vec<String>,
    pub kernel: ShortKernel,
    /// In place of equation 6.
    pub chains: Option<usize>,
    /// In place of T by the kernel and the dimension, which grows where chains need it.
    pub iterations: Option<NonZero<usize>>,
    /// The paper's algorithm to the letter: the covariance of the approximation preconditions all chains throughout, T
    /// is that of equations 7 and 8, and only the ends count. Otherwise halves of the chains learn from each other, and
    /// the second half of the iterations counts.
    pub published: bool,
    /// What error of a mean is worth noticing, in standard deviations.
    pub tolerance_mean: f64,
    /// What error of a log variance is worth noticing.
    pub tolerance_variance: f64,
    /// Starting points of fits are uniform within ± this on the unconstrained scale.
    pub radius: f64,
    /// Whether the way of the worst functionals is wanted, which costs evaluations of all quantities.
    pub drift: bool,
    /// Whether KL(q‖p) is bounded by annealing, which takes about as long as the chains.
    pub divergence: bool,
}

impl Default for TaddaaOptions {
    fn default() -> Self {
        let tolerances = Tolerances::default();
        Self {
            subject: Subject::Fit(ApproximationChoice::Meanfield),
            functionals: Vec::new(),
            kernel: ShortKernel::default(),
            chains: None,
            iterations: None,
            published: false,
            tolerance_mean: tolerances.mean,
            tolerance_variance: tolerances.log_variance,
            radius: 2.0,
            drift: false,
            divergence: true,
        }
    }
}

impl TaddaaOptions {
    fn tolerances(&self) -> Tolerances {
        Tolerances { mean: self.tolerance_mean, log_variance: self.tolerance_variance, alpha: ALPHA }
    }

    /// N of equation 6, unless it is given.
    fn number_of_chains(&self) -> Result<usize, Error> {
        let positive = |name, x: f64| {
            let fine = x.is_finite() && x > 0.0;
            if fine { Ok(()) } else { Err(Error::option(name, x, "must be positive")) }
        };
        positive("tolerance-mean", self.tolerance_mean)?;
        positive("tolerance-variance", self.tolerance_variance)?;
        let between = format!("must be between 2 and {MOST_CHAINS}");
        if let Some(chains) = self.chains {
            let fine = (2..=MOST_CHAINS).contains(&chains);
            return if fine { Ok(chains) } else { Err(Error::option("chains", chains, between)) };
        }
        let chains = self.tolerances().chains();
        if chains <= MOST_CHAINS {
            return Ok(chains);
        }
        let (name, least) = if self.tolerance_mean < self.tolerance_variance {
            ("tolerance-mean", self.tolerance_mean)
        } else {
            ("tolerance-variance", self.tolerance_variance)
        };
        Err(Error::option(name, least, format!("needs {chains} chains; at most {MOST_CHAINS} are run")))
    }
}

/// After which iterations positions are kept: some on the whole way for a report, and those whose states count.
fn times_to_keep(done: usize, until: usize, looks: usize, published: bool) -> Vec<usize> {
    let mut keep: Vec<usize> = (1..looks).map(|k| k * until / looks).filter(|&t| t > done).collect();
    if !published {
        let half = until - until / 2;
        let states = half.min(STATES);
        keep.extend((1..=states).map(|k| until / 2 + k * half / states));
    }
    keep.sort_unstable();
    keep.dedup();
    keep.retain(|&t| t > 0);
    keep
}

/// A diagnosis, and what it says as an exit code does.
#[derive(Clone, Debug)]
pub struct TaddaaOutput {
    pub result: Taddaa,
    pub diagnosis: Diagnosis,
}

/// Judges an approximation, or draws. Chains that were stopped are judged as far as they are.
pub fn taddaa(problem: &Problem, options: &TaddaaOptions, session: &Session<'_>) -> Result<TaddaaOutput, Error> {
    check_radius(options.radius)?;
    let wanted = options.number_of_chains()?;
    let model = bind(problem, session)?;
    let functionals = Functionals::new(&options.functionals, problem, &model, session.seed)?;
    with_evaluations(problem, &model, session, |evaluations| {
        let start = Start::of(options, wanted, &functionals, evaluations)?;
        session.begin("Short chains", 0, Unit::Transitions);
        let mut until = options
            .iterations
            .map_or_else(|| options.kernel.length(model.dimension(), options.published), NonZero::get);
        let settings = improve::Settings {
            key: StreamKey::new(session.seed, Purpose::KERNEL),
            kernel: options.kernel.kernel(),
            iterations: until,
            keep: Vec::new(),
            adapts: !options.published,
        };
        let mut way = Improvement::new(evaluations, start.points.clone(), &start.frame, &settings)?;
        let mut doublings = if options.published || options.iterations.is_some() { 0 } else { DOUBLINGS };
        let (mut found, partial) = loop {
            let (done, looks) = (way.chains().acceptance.len(), if options.drift { LOOKS } else { 0 });
            let partial = !way.advance(evaluations, until, &times_to_keep(done, until, looks, options.published))?;
            let chains = way.chains();
            let from = if options.published { until } else { chains.acceptance.len() / 2 + 1 };
            let first = chains.times.partition_point(|&t| t < from).min(chains.last());
            let found = functionals.judge(&start, (chains, first..=chains.last()), options.tolerances())?;
            let fine = !found.still_moving && found.rho2_max <= MOST_CORRELATION;
            if partial || fine || doublings == 0 {
                break (found, partial);
            }
            (until, doublings) = (2 * until, doublings - 1);
        };
        let chains = way.into_chains();
        let drift = if options.drift { functionals.drift(&found, &chains)? } else { vec![] };
        let mut notes = start.notes;
        if !options.published && found.still_moving {
            notes.push(
                "functionals still moved at the end of the chains: bounds need that errors only shrink, which is likely \
                 only where they stand still"
                    .to_owned(),
            );
        }
        notes.extend(constant(&found.constant));
        let bounds = start.elbo.as_ref().map(|elbo| {
            let mut forward = Vec::new();
            if options.divergence && !partial {
                session.begin("Annealing", 0, Unit::Transitions);
                let target = StanTarget::path(&model, problem.program().text(), Evaluation::of_many(&model));
                let (how, control) = (session.parallelism(), session.stop.control());
                match normaliser::log_weights(target, &chains.positions[chains.last()], session.seed, how, control) {
                    Ok(found) => forward = found,
                    Err(trouble) => notes.push(format!("there is no bound on log Z by annealing: {trouble}")),
                }
            }
            bounds(elbo, &forward, &[])
        });
        start.doubt.iter().for_each(|why| found.verdict.doubt(why));
        if let Some(bounds) = &bounds {
            found.verdict.heed_divergence(bounds.kl_at_least, ACCEPTABLE);
        }
        let diagnosis = match found.verdict.level {
            _ if partial => Diagnosis::Partial,
            Level::Good => Diagnosis::Fine,
            Level::Bad | Level::Unknown => Diagnosis::Bad,
        };
        let result = Taddaa {
            model: problem.program().file_name(),
            data: problem.data_file_name().unwrap_or_default(),
            subject: options.subject.in_words(),
            found,
            k_hat: start.k_hat,
            bounds,
            kernel: options.kernel.name().to_owned(),
            gradients: evaluations.count(),
            acceptance: chains.acceptance,
            notes,
            partial,
            drift,
        };
        Ok(TaddaaOutput { result, diagnosis })
    })
}

/// Says what was not judged since it does not vary. Factors of large matrices have many zeros.
fn constant(functionals: &[String]) -> Option<String> {
    const NAMED: usize = 3;
    let (named, more) = functionals.split_at(functionals.len().min(NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    (!named.is_empty()).then(|| format!("not judged, since it does not vary: {}{more}", named.join(", ")))
}
