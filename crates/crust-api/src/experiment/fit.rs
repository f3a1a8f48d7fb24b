//! The fit to real data: NUTS, judged by R-hat and effective sample size, and the mean of its draws.

use super::Settings;
use super::lost::lost;
use super::way::{TURNS, Way, by_curvature, got_further, start_along};
use crate::error::Trouble;
use crate::target::StanTarget;
use crust_diagnose::convergence::{bfmi, ess_bulk, ess_tail, mean, rhat};
use crust_diagnose::result::{Fit, Hyperparameter};
use crust_engine::{ParameterShape, Values};
use crust_infer::axes::{Along, Axes};
use crust_infer::drive::{Control, Driver};
use crust_infer::path::Path;
use crust_infer::sample::{Draw, KernelSource, Observer, Settings as Sampling, Start, sample};
use crust_infer::warmup::Warmup;
use crust_math::random::{Purpose, StreamKey};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Chains of the fit.
pub const CHAINS: u32 = 4;
const WARMUP: usize = 1000;
const DRAWS: usize = 1000;

/// A fit with the mean of its draws on the unconstrained scale.
pub struct Fitted {
    pub fit: Fit,
    pub mean: Vec<f64>,
    pub chains: Vec<Chain>,
}

/// The draws of each chain, one after the other.
struct Draws<'a> {
    chains: Vec<Mutex<Chain>>,
    /// The number of the first.
    first: u32,
    /// When to stop, if there are draws then.
    deadline: Option<Instant>,
    /// How many draws of every chain are enough to stop then, and when to stop whatever there is.
    patience: Option<(usize, Instant)>,
    /// When the run began, and after which time each chain had all of its draws.
    began: Instant,
    done: Mutex<Vec<Duration>>,
    /// How many draws are wanted.
    wanted: usize,
    /// The axes along which chains move, if they are not those of the parameters.
    axes: Option<Arc<Axes>>,
    /// Of the whole run.
    control: &'a Control,
}

#[derive(Clone, Debug, Default)]
pub struct Chain {
    pub points: Vec<Vec<f64>>,
    pub divergences: usize,
    pub energies: Vec<f64>,
    pub log_densities: Vec<f64>,
    /// The log density where the chain is, warm-up included.
    pub last: f64,
}

impl Draws<'_> {
    /// Whether all chains have to stop: none stops alone, so that those with draws wait for those without.
    fn is_over(&self) -> bool {
        let Some(deadline) = self.deadline else { return false };
        let now = Instant::now();
        now >= deadline && !self.patience.is_some_and(|(enough, last)| now < last && self.least() < enough)
    }

    /// Whether a chain that still warms up has taken far longer than others took for everything.
    fn is_left_behind(&self) -> bool {
        /// Times as long, and a second.
        const LONGER: u32 = 3;
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(second) = done.get(1) else { return false };
        self.patience.is_some() && self.began.elapsed() > *second * LONGER + Duration::from_secs(1)
    }

    /// Draws of the chain that has fewest.
    fn least(&self) -> usize {
        let draws = |chain: &Mutex<Chain>| chain.lock().unwrap_or_else(PoisonError::into_inner).points.len();
        self.chains.iter().map(draws).min().unwrap_or(0)
    }
}

impl Observer for Draws<'_> {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        self.control.count_iteration();
        if self.control.is_interrupted() || self.is_over() || (draw.warmup && self.is_left_behind()) {
            return ControlFlow::Break(());
        }
        let chain = &self.chains[(draw.chain - self.first) as usize];
        let mut chain = chain.lock().unwrap_or_else(PoisonError::into_inner);
        chain.last = draw.state.log_density();
        if !draw.warmup {
            let mut point = draw.state.q.clone();
            if let Some(axes) = &self.axes {
                axes.to_parameters(&draw.state.q, &mut point);
            }
            chain.points.push(point);
            chain.divergences += usize::from(draw.statistics.divergent);
            chain.energies.push(draw.statistics.energy);
            chain.log_densities.push(draw.state.log_density());
            if chain.points.len() == self.wanted {
                self.done.lock().unwrap_or_else(PoisonError::into_inner).push(self.began.elapsed());
            }
        }
        ControlFlow::Continue(())
    }
}

/// How much a fit may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    pub warmup: usize,
    pub draws: usize,
    /// The mean acceptance that warm-up aims at.
    pub delta: f64,
}

impl Effort {
    /// With Stan's acceptance.
    pub const fn new(warmup: usize, draws: usize) -> Self {
        Self { warmup, draws, delta: 0.8 }
    }

    /// What it costs, in units of an iteration. Steps, and with them trajectories' lengths, go with (1 − δ)^½ or so.
    fn cost(self) -> f64 {
        count(self.warmup + self.draws) * ((1.0 - 0.8) / (1.0 - self.delta)).sqrt()
    }
}

/// The share of the budget that the fit may take …
const SHARE: f64 = 0.45;
/// … and that it may take if chains have hardly any draws by then: without a fit there is nothing.
const LONGEST_SHARE: f64 = 0.8;
/// Evaluations of an iteration, on average, where trajectories are not short.
const EVALUATIONS: f64 = 20.0;
/// The fewest draws of a chain that say anything.
pub(super) const FEWEST_DRAWS: usize = 50;

/// The longest fit that is likely to end in its time, from the seconds that an evaluation of all chains takes.
fn affordable(evaluation: f64, seconds: f64) -> Effort {
    let iterations = seconds / (EVALUATIONS * evaluation);
    let efforts = [1000, 500, 250].map(|n| Effort::new(n, n));
    efforts.iter().find(|effort| effort.cost() <= iterations).copied().unwrap_or(Effort::new(150, 150))
}

#[expect(clippy::cast_precision_loss, reason = "iterations are far fewer than 2⁵³")]
fn count(n: usize) -> f64 {
    n as f64
}

/// Draws from the posterior. R-hat and effective sample sizes are those of the unconstrained numbers; being based on
/// ranks they are the same for every scalar parameter on its own scale.
pub fn fit(path: &StanTarget<'_>, names: &[String], settings: &Settings<'_>) -> Result<Fitted, Trouble> {
    let dimension = path.dimension();
    let key = StreamKey::new(settings.seed, Purpose::NUTS);
    let left =
        settings.budget.map(|budget| (SHARE * budget - settings.began.elapsed().as_secs_f64()).max(0.1 * budget));
    let effort = match left {
        Some(left) => affordable(seconds_each(path.clone(), settings)?, left),
        None => Effort::new(WARMUP, DRAWS),
    };
    let deadline = left.map(|left| Instant::now() + Duration::from_secs_f64(left));
    let last = settings.budget.map(|budget| settings.began + Duration::from_secs_f64(LONGEST_SHARE * budget));
    let (mut effort, mut began) = (effort, Instant::now());
    let mut way = Way::first();
    let mut fitted = fit_once(path, names, (&way, key, effort, deadline, last), settings)?;
    for turn in 1..=TURNS {
        let gradients = |points: &[Vec<f64>]| {
            let mut driver = Driver::new(path.clone(), settings.how);
            let found = driver.evaluate_points(points, 1.0, true, &settings.control).ok()?;
            Some(found.into_iter().map(|at| at.gradient).collect())
        };
        let Some(next) = Way::along_ridges(&fitted, turn, || by_curvature(gradients, &fitted.chains)) else { break };
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break;
        }
        let start = Instant::now();
        let again = fit_once(path, names, (&next, key, effort, deadline, None), settings)?;
        if !is_better(&again.fit, &fitted.fit) && !got_further(&again.chains, &fitted.chains) {
            break;
        }
        (fitted, way, began) = (again, next, start);
    }
    while let Some(next) = more(&fitted, effort, dimension) {
        let needed = began.elapsed().mul_f64(next.cost() / effort.cost());
        if deadline.is_some_and(|deadline| Instant::now() + needed > deadline) {
            break;
        }
        (effort, began) = (next, Instant::now());
        let again = fit_once(path, names, (&way, key, effort, deadline, None), settings)?;
        if again.fit.draws < fitted.fit.draws {
            break;
        }
        fitted = again;
    }
    Ok(fitted)
}

/// Whether a fit says too little.
pub(super) fn is_short(fit: &Fit) -> bool {
    fit.worst_r_hat > ENOUGH.0 || fit.least_ess < ENOUGH.1
}

/// Whether a fit of as many draws is the better one.
fn is_better(fit: &Fit, other: &Fit) -> bool {
    fit.draws >= other.draws && fit.worst_r_hat <= other.worst_r_hat && fit.least_ess >= other.least_ess
}

/// A fit that says too little is made again with more draws, and one with divergences with shorter steps, as long as
/// there is hope and memory.
fn more(fitted: &Fitted, effort: Effort, dimension: usize) -> Option<Effort> {
    /// Times as many draws.
    const FACTOR: usize = 4;
    const MOST_DRAWS: usize = 16 * DRAWS;
    /// Numbers of all chains together.
    const MOST_NUMBERS: usize = 20_000_000;
    const CAREFUL: [f64; 2] = [0.95, 0.99];
    /// Of the draws.
    const FEW_DIVERGENCES: f64 = 0.002;
    let Fitted { fit, .. } = fitted;
    let draws = FACTOR * effort.draws;
    let room = draws <= MOST_DRAWS && draws * dimension * CHAINS as usize <= MOST_NUMBERS;
    let short = is_short(fit);
    let diverges = count(fit.divergences) > FEW_DIVERGENCES * count(fit.chains * fit.draws);
    let delta = CAREFUL.into_iter().find(|delta| diverges && *delta > effort.delta);
    let next = Effort {
        draws: if room && short { draws } else { effort.draws },
        delta: delta.unwrap_or(effort.delta),
        ..effort
    };
    (next != effort && !fit.unfinished).then_some(next)
}

/// R-hat and effective sample size with which a fit is left as it is.
const ENOUGH: (f64, f64) = (1.01, 400.0);

fn fit_once(
    path: &StanTarget<'_>,
    names: &[String],
    (way, key, effort, deadline, last): (&Way, StreamKey, Effort, Option<Instant>, Option<Instant>),
    settings: &Settings<'_>,
) -> Result<Fitted, Trouble> {
    let dimension = path.dimension();
    let patience = last.map(|last| (FEWEST_DRAWS, last));
    let begin = Instant::now();
    let mut chains = draw_within(path.clone(), key, (way, effort), settings, (deadline, patience))?;
    // A fit that is made again has no time beyond the deadline.
    let end = last.or(deadline);
    let anew = if way.axes.is_none() { renew(path, &mut chains, (key, effort, begin, end), settings)? } else { 0 };
    let stuck = without_stuck(&mut chains);
    // chains that were stopped have different lengths
    let least = chains.iter().map(|chain| chain.points.len()).min().unwrap_or(0);
    chains.iter_mut().for_each(|chain| chain.cut(least));
    let mut fitted = summarise(chains, dimension, names);
    (fitted.fit.stuck, fitted.fit.anew) = (stuck, anew);
    fitted.fit.unfinished = least < FEWEST_DRAWS;
    fitted.fit.warmup = effort.warmup;
    fitted.fit.delta = effort.delta;
    Ok(fitted)
}

/// Begins chains anew that are lost, and says how many there were.
fn renew(
    path: &StanTarget<'_>,
    chains: &mut [Chain],
    (key, effort, began, last): (StreamKey, Effort, Instant, Option<Instant>),
    settings: &Settings<'_>,
) -> Result<usize, Trouble> {
    /// Their numbers, beyond those of chains along ridges and below those of scouts.
    const FIRST: u32 = 501;
    const ATTEMPTS: u32 = 2;
    let mut anew = 0;
    for attempt in 0..ATTEMPTS {
        let lost = lost(chains);
        let enough = last.is_none_or(|last| Instant::now() + began.elapsed() / 3 < last);
        if lost.is_empty() || !enough {
            break;
        }
        let starts: Vec<Start> = lost.iter().zip(FIRST + attempt * CHAINS..).map(|(_, k)| Start::random(k)).collect();
        let found = draw_from(path.clone(), key, (&starts, None, effort), settings, last)?;
        anew = anew.max(lost.len());
        lost.into_iter().zip(found).for_each(|(i, chain)| chains[i] = chain);
    }
    Ok(anew)
}

/// Takes out chains that hardly have a draw where others have, and says how many there were: without them there is
/// something to say, if nothing good.
fn without_stuck(chains: &mut Vec<Chain>) -> usize {
    let stuck = |chain: &Chain| chain.points.len() < FEWEST_DRAWS;
    let lost = chains.iter().filter(|chain| stuck(chain)).count();
    if lost == 0 || lost + 2 > chains.len() {
        return 0;
    }
    chains.retain(|chain| !stuck(chain));
    lost
}

/// How long an evaluation of all chains takes: the least of some, since evaluators learn in the first few, and since other
/// work on the machine may come between.
fn seconds_each(path: StanTarget<'_>, settings: &Settings<'_>) -> Result<f64, Trouble> {
    const TIMES: u32 = 6;
    let points = vec![vec![0.1; path.dimension()]; CHAINS as usize];
    let mut driver = Driver::new(path, settings.how);
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let begin = Instant::now();
        driver.evaluate_points(&points, 1.0, true, &settings.control)?;
        least = least.min(begin.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// The draws of NUTS chains after their warm-up.
pub fn draw(
    path: StanTarget<'_>,
    key: StreamKey,
    effort: Effort,
    settings: &Settings<'_>,
) -> Result<Vec<Chain>, Trouble> {
    draw_within(path, key, (&Way::first(), effort), settings, (None, None))
}

/// When to stop: see [`Draws`].
type Limits = (Option<Instant>, Option<(usize, Instant)>);

/// The same from given starts, whose numbers follow each other, and along axes if there are any.
pub fn draw_from(
    path: StanTarget<'_>,
    key: StreamKey,
    (starts, axes, effort): (&[Start], Option<&Arc<Axes>>, Effort),
    settings: &Settings<'_>,
    deadline: Option<Instant>,
) -> Result<Vec<Chain>, Trouble> {
    let along = |start: &Start| axes.map_or_else(|| start.clone(), |axes| start_along(axes, start));
    let way = Way { starts: starts.iter().map(along).collect(), axes: axes.cloned(), candidates: 1 };
    draw_within(path, key, (&way, effort), settings, (deadline, None))
}

fn draw_within(
    path: StanTarget<'_>,
    key: StreamKey,
    (Way { starts, axes, candidates }, Effort { warmup, draws, delta }): (&Way, Effort),
    settings: &Settings<'_>,
    (deadline, patience): Limits,
) -> Result<Vec<Chain>, Trouble> {
    let mut adapting = Warmup::default();
    adapting.averaging.delta = delta;
    let sampling = Sampling {
        warmup,
        draws,
        kernel: KernelSource::Warmup(adapting),
        candidates: *candidates,
        ..Sampling::new(key)
    };
    let chains = starts.iter().map(|_| Mutex::default()).collect();
    let first = starts.first().map_or(1, |start| start.chain);
    let (began, done) = (Instant::now(), Mutex::default());
    let (wanted, axes) = (draws, axes.clone());
    let draws = Draws { chains, first, deadline, patience, began, done, wanted, axes, control: &settings.control };
    let hard = patience.map(|(_, last)| last).filter(|last| Some(*last) > deadline).or(deadline);
    // A transition may be a thousand evaluations, each of which may take a second.
    let control = Control::part_of(&settings.control, hard);
    match &draws.axes {
        None => sample(&mut Driver::new(path, settings.how), &sampling, starts, &draws, &control)?,
        Some(axes) => {
            let along = Along::new(path, Arc::clone(axes));
            sample(&mut Driver::new(along, settings.how), &sampling, starts, &draws, &control)?
        }
    };
    settings.control.check()?;
    let chain = |chain: Mutex<Chain>| chain.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(draws.chains.into_iter().map(chain).collect())
}

impl Chain {
    /// Keeps the first draws.
    pub fn cut(&mut self, length: usize) {
        self.points.truncate(length);
        self.energies.truncate(length);
        self.log_densities.truncate(length);
    }
}

pub(super) fn summarise(chains: Vec<Chain>, dimension: usize, names: &[String]) -> Fitted {
    let column = |i: usize| -> Vec<Vec<f64>> {
        chains.iter().map(|chain| chain.points.iter().map(|point| point[i]).collect()).collect()
    };
    let mut fit = Fit {
        chains: chains.len(),
        draws: chains.iter().map(|chain| chain.points.len()).min().unwrap_or(0),
        worst_r_hat: f64::NAN,
        least_ess: f64::NAN,
        divergences: chains.iter().map(|chain| chain.divergences).sum(),
        least_e_bfmi: least_e_bfmi(&chains),
        ..Fit::default()
    };
    for i in 0..dimension {
        let column = column(i);
        let name = names.get(i).cloned().unwrap_or_default();
        let (r_hat, ess) = (rhat(&column), ess_bulk(&column).min(ess_tail(&column)));
        if fit.worst_r_hat.is_nan() || r_hat.is_nan() || r_hat > fit.worst_r_hat {
            (fit.worst_r_hat, fit.worst_r_hat_name) = (r_hat, name.clone());
        }
        if fit.least_ess.is_nan() || ess.is_nan() || ess < fit.least_ess {
            (fit.least_ess, fit.least_ess_name) = (ess, name);
        }
    }
    fit.warnings = warnings(&fit);
    // The mean over chains that are in different places is in none of them: the most probable place then.
    let agree = fit.worst_r_hat < APART;
    let best = |a: &&Chain, b: &&Chain| mean(&a.log_densities).total_cmp(&mean(&b.log_densities));
    let taken: Vec<&Chain> =
        if agree { chains.iter().collect() } else { chains.iter().max_by(best).into_iter().collect() };
    let mean_of = |i: usize| mean(&taken.iter().flat_map(|chain| &chain.points).map(|x| x[i]).collect::<Vec<f64>>());
    Fitted { mean: (0..dimension).map(mean_of).collect(), fit, chains }
}

/// R-hat beyond which chains are in different places.
const APART: f64 = 1.05;

fn least_e_bfmi(chains: &[Chain]) -> f64 {
    let energies: Vec<&[f64]> = chains.iter().map(|chain| chain.energies.as_slice()).collect();
    bfmi(&energies).into_iter().fold(f64::INFINITY, f64::min)
}

/// The limits that `crust sample` uses, too.
fn warnings(fit: &Fit) -> Vec<String> {
    let (most_r_hat, least_ess) = ENOUGH;
    let mut list = Vec::new();
    if fit.draws < FEWEST_DRAWS {
        return vec![format!("{} draws of each chain are too few to be judged", fit.draws)];
    }
    if fit.worst_r_hat.is_nan() {
        list.push(format!("R-hat of {} does not exist: its draws do not vary", fit.worst_r_hat_name));
    }
    if fit.worst_r_hat > most_r_hat {
        list.push(format!("R-hat of {} is {:.3}, above {most_r_hat}", fit.worst_r_hat_name, fit.worst_r_hat));
    }
    if fit.least_ess < least_ess {
        list.push(format!(
            "the effective sample size of {} is {:.0}, below {least_ess}",
            fit.least_ess_name, fit.least_ess
        ));
    }
    if fit.divergences > 0 {
        list.push(format!("{} divergent transitions", fit.divergences));
    }
    list
}

/// Hyperparameters with their indices, a row for each number. Values lie with the last index fastest.
pub fn table(values: &Values, shapes: &[ParameterShape]) -> Vec<Hyperparameter> {
    let rows = values.iter().flat_map(|(name, numbers)| {
        let shape = shapes.iter().find(|shape| shape.name == *name);
        let sizes = shape.and_then(|shape| shape.sizes.as_deref()).unwrap_or_default();
        numbers.iter().enumerate().map(move |(at, &value)| Hyperparameter { name: indexed(name, sizes, at), value })
    });
    rows.collect()
}

/// `Sigma[2,1]`: the name of a number of a container.
fn indexed(name: &str, sizes: &[usize], mut at: usize) -> String {
    if sizes.is_empty() {
        return name.to_owned();
    }
    let mut indices: Vec<String> = Vec::with_capacity(sizes.len());
    for &size in sizes.iter().rev() {
        indices.push((at % size.max(1) + 1).to_string());
        at /= size.max(1);
    }
    indices.reverse();
    format!("{name}[{}]", indices.join(","))
}

#[cfg(test)]
mod tests {
    use super::{Chain, Draws, Effort, Fitted, indexed, more, without_stuck};
    use crust_diagnose::result::Fit;
    use crust_infer::drive::Control;
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    #[test]
    fn fits_are_made_again_with_more_draws_or_shorter_steps() {
        let after = |worst_r_hat: f64, least_ess: f64, divergences: usize, effort: Effort| {
            let fit = Fit { chains: 4, draws: 1000, worst_r_hat, least_ess, divergences, ..Fit::default() };
            more(&Fitted { fit, mean: Vec::new(), chains: Vec::new() }, effort, 3)
        };
        let first = Effort::new(1000, 1000);
        assert_eq!(after(1.0, 1000.0, 0, first), None);
        assert_eq!(after(1.0, 1000.0, 8, first), None, "0.2 % are few");
        assert_eq!(after(1.0, 1000.0, 9, first), Some(Effort { delta: 0.95, ..first }));
        assert_eq!(after(1.1, 1000.0, 0, first), Some(Effort { draws: 4000, ..first }));
        assert_eq!(after(1.0, 100.0, 9, first), Some(Effort { draws: 4000, delta: 0.95, ..first }));
        let last = Effort { draws: 16_000, delta: 0.99, ..first };
        assert_eq!(after(1.1, 100.0, 900, last), None, "there is no more to be done");
        assert!(Effort { delta: 0.95, ..first }.cost() > 1.9 * first.cost());
    }

    fn chain(draws: usize) -> Chain {
        Chain { points: vec![vec![0.0]; draws], ..Chain::default() }
    }

    /// At the deadline chains with draws go on as long as one has none, until the last moment: to stop one is to stop all.
    #[test]
    fn chains_without_draws_get_more_time() {
        let (now, hour) = (Instant::now(), Duration::from_hours(1));
        let control = Control::default();
        let over = |deadline: Option<Instant>, last: Option<Instant>, draws: usize| {
            let patience = last.map(|last| (50, last));
            let chains = [chain(1000), chain(draws)].map(Mutex::new).into();
            let (began, done) = (now, Mutex::default());
            Draws { chains, first: 1, deadline, patience, began, done, wanted: 1000, axes: None, control: &control }
                .is_over()
        };
        assert!(!over(None, None, 0) && !over(Some(now + hour), None, 1000));
        assert!(over(Some(now), None, 0), "the end is the end");
        assert!(!over(Some(now), Some(now + hour), 49), "one is without draws");
        assert!(over(Some(now), Some(now + hour), 50), "there are draws enough");
        assert!(over(Some(now), Some(now), 0), "there is no more time");
    }

    #[test]
    fn chains_that_are_stuck_are_left_out_where_two_others_are_not() {
        let left = |draws: &[usize]| {
            let mut chains: Vec<Chain> = draws.iter().map(|&draws| chain(draws)).collect();
            let lost = without_stuck(&mut chains);
            (lost, chains.iter().map(|chain| chain.points.len()).collect::<Vec<usize>>())
        };
        assert_eq!(left(&[1000, 0, 800, 49]), (2, vec![1000, 800]));
        assert_eq!(left(&[1000, 0, 10, 49]), (0, vec![1000, 0, 10, 49]));
        assert_eq!(left(&[50, 60]), (0, vec![50, 60]));
    }

    #[test]
    fn the_last_index_is_the_fastest() {
        let names: Vec<String> = (0..6).map(|at| indexed("S", &[2, 3], at)).collect();
        assert_eq!(names, ["S[1,1]", "S[1,2]", "S[1,3]", "S[2,1]", "S[2,2]", "S[2,3]"]);
        assert_eq!(indexed("s", &[], 0), "s");
    }
}
