//! Annealing of densities on ℝᵈ: chains as walkers, whose evaluations are done in batches.

use crust_math::random::{Stream, StreamKey};

use super::chart::Chart;
use super::tuned::{Stage, Stages, TunedKernels};
use super::{ChainOutcome, Itinerary, Launch, Leg, Schedule, Tally, move_key};
use crate::drive::{Answer, Control, Driver, Walker};
use crate::error::{Error, InitialFailure};
use crate::kernel::{State, Statistics, Stepper};
use crate::method::with_stepper;
use crate::path::{Course, Path};

/// Runs one chain from each start: draws of the path's first distribution forward, exact draws from the posterior in
/// reverse.
pub fn anneal_target<P: Path + Clone + Send>(
    driver: &mut Driver<P>,
    kernels: &TunedKernels,
    schedule: &Schedule,
    starts: &[Vec<f64>],
    run: &Launch<'_>,
) -> Result<Vec<ChainOutcome>, Error> {
    let dimension = driver.dimension();
    check(dimension, kernels, starts)?;
    let way = Way { stages: Stages::new(kernels, schedule), schedule, course: driver.course().clone(), run };
    with_stepper!(kernels.method(), dimension, stepper => {
        let chain = |(start, k): (&Vec<f64>, u32)| Chain::new(start, stepper.clone(), k, &way);
        let mut chains: Vec<Chain<'_, _>> = starts.iter().zip(run.first_chain..).map(chain).collect();
        driver.drive(&mut chains, run.control)?;
        run.control.check()?;
        Ok(chains.into_iter().map(|chain| chain.tally.outcome(chain.mover.state.q)).collect())
    })
}

/// A number of transitions at β = 1 from each start. Chain k, counted from `first_chain`, uses `key.chain(k)`.
///
/// BREAD, section 3.3: from the values that the data were simulated with to an approximate draw of the posterior.
pub fn equilibrate<P: Path + Clone + Send>(
    driver: &mut Driver<P>,
    kernels: &TunedKernels,
    starts: &[Vec<f64>],
    steps: usize,
    (first_chain, key): (u32, StreamKey),
    control: &Control,
) -> Result<Vec<Vec<f64>>, Error> {
    let dimension = driver.dimension();
    check(dimension, kernels, starts)?;
    let stage = kernels.stage(1.0);
    with_stepper!(kernels.method(), dimension, stepper => {
        let mover = |start: &Vec<f64>| Mover::new(start, stage.kernel.method.needs_gradient(), stepper.clone());
        let mut movers: Vec<Mover<_>> = starts.iter().map(mover).collect();
        let walkers = movers.iter_mut().zip(first_chain..);
        let mut walkers: Vec<Repeat<'_, _>> =
            walkers.map(|(mover, k)| Repeat::new(mover, &stage, 1.0, steps, key.chain(k), control)).collect();
        driver.drive(&mut walkers, control)?;
        control.check()?;
        Ok(movers.into_iter().map(|mover| mover.state.q).collect())
    })
}

fn check(dimension: usize, kernels: &TunedKernels, starts: &[Vec<f64>]) -> Result<(), Error> {
    let setting = |name, value: usize, must_be| Err(Error::Setting { name, value: value.to_string(), must_be });
    if dimension == 0 {
        return setting("the number of parameters", 0, "at least 1 to anneal");
    }
    if kernels.dimension() != dimension {
        return setting("the dimension of the tuned kernels", kernels.dimension(), "that of the target");
    }
    match starts.iter().find(|start| start.len() != dimension) {
        Some(start) => setting("the dimension of a starting point", start.len(), "that of the target"),
        None => Ok(()),
    }
}

/// A state and the machine that moves it. The gradient of a state is that of one β, so at each new β it is asked for
/// again.
#[derive(Clone, Debug)]
pub(super) struct Mover<S> {
    pub(super) state: State,
    stepper: S,
    /// The next answer is for the state itself.
    refreshing: bool,
    /// Where the transition is, if it moves in a chart.
    local: Option<Box<Local>>,
}

/// A transition in the coordinates of a chart, seen from outside.
#[derive(Clone, Debug, Default)]
struct Local {
    /// The state in the chart; its log prior includes the Jacobian.
    state: State,
    /// Where it was before the transition.
    start: Vec<f64>,
    /// The parameters at the next evaluation, and the gradient there.
    parameters: Vec<f64>,
    gradient: Vec<f64>,
}

impl Local {
    fn new(state: &State) -> Self {
        let Self { start, parameters, gradient, .. } = Self::default();
        let (n, with_gradient) = (state.q.len(), state.gradient.len());
        let mut local = Self { state: state.clone(), start, parameters, gradient };
        local.start.resize(n, 0.0);
        local.parameters.resize(n, 0.0);
        local.gradient.resize(with_gradient, 0.0);
        local
    }

    /// The state in the coordinates of a chart.
    fn enter(&mut self, chart: &Chart, state: &State) {
        chart.to_coordinates(&state.q, &mut self.start);
        self.state.q.copy_from_slice(&self.start);
        if !state.gradient.is_empty() {
            chart.pull_back(&state.q, &state.gradient, &mut self.state.gradient);
        }
        self.state.densities = state.densities;
        self.state.densities.log_prior += chart.log_jacobian(&state.q);
    }

    /// The state in the coordinates of everyone. One that has not moved stays what it was to the last bit.
    fn leave(&mut self, chart: &Chart, state: &mut State) {
        if self.state.q == self.start {
            return;
        }
        chart.to_parameters(&self.state.q, &mut state.q);
        if !state.gradient.is_empty() {
            chart.push_forward(&state.q, &self.state.gradient, &mut state.gradient);
        }
        state.densities = self.state.densities;
        state.densities.log_prior -= chart.log_jacobian(&state.q);
    }
}

impl<S: Stepper> Mover<S> {
    pub(super) fn new(start: &[f64], with_gradient: bool, stepper: S) -> Self {
        Self { state: State::at(start, with_gradient), stepper, refreshing: true, local: None }
    }

    /// Asks for the densities, and the gradient, of the state.
    pub(super) fn refresh(&mut self) {
        self.refreshing = true;
    }

    pub(super) fn begin(&mut self, stage: &Stage, stream: Stream) {
        match &stage.chart {
            None => {
                self.local = None;
                self.stepper.begin(&stage.kernel, &self.state, stream);
            }
            Some(chart) => {
                let local = self.local.get_or_insert_with(|| Box::new(Local::new(&self.state)));
                local.enter(chart, &self.state);
                self.stepper.begin(&stage.kernel, &local.state, stream);
                chart.to_parameters(self.stepper.position(), &mut local.parameters);
            }
        }
    }

    pub(super) fn position(&self) -> &[f64] {
        match &self.local {
            _ if self.refreshing => &self.state.q,
            Some(local) => &local.parameters,
            None => self.stepper.position(),
        }
    }

    pub(super) fn gradient_mut(&mut self) -> &mut [f64] {
        match &mut self.local {
            _ if self.refreshing => &mut self.state.gradient,
            Some(local) => &mut local.gradient,
            None => self.stepper.gradient_mut(),
        }
    }

    /// What an answer brings.
    pub(super) fn advance(&mut self, stage: &Stage, answer: &Answer<'_>) -> Progress {
        let mut found = answer.densities();
        if self.refreshing {
            self.refreshing = false;
            self.state.densities = found;
            return Progress::Refreshed;
        }
        let Some((chart, local)) = stage.chart.as_ref().zip(self.local.as_mut()) else {
            return match self.stepper.advance(&stage.kernel, found) {
                None => Progress::UnderWay,
                Some(statistics) => {
                    self.stepper.finish(&mut self.state);
                    Progress::Moved(statistics)
                }
            };
        };
        if !local.gradient.is_empty() {
            chart.pull_back(&local.parameters, &local.gradient, self.stepper.gradient_mut());
        }
        found.log_prior += chart.log_jacobian(&local.parameters);
        match self.stepper.advance(&stage.kernel, found) {
            None => {
                chart.to_parameters(self.stepper.position(), &mut local.parameters);
                Progress::UnderWay
            }
            Some(statistics) => {
                self.stepper.finish(&mut local.state);
                local.leave(chart, &mut self.state);
                Progress::Moved(statistics)
            }
        }
    }
}

pub(super) enum Progress {
    /// The densities of the state are known.
    Refreshed,
    UnderWay,
    Moved(Statistics),
}

/// What the chains of a run go along.
struct Way<'a> {
    stages: Stages,
    schedule: &'a Schedule,
    course: Course,
    run: &'a Launch<'a>,
}

/// A chain of annealed importance sampling.
struct Chain<'a, S> {
    mover: Mover<S>,
    way: &'a Way<'a>,
    number: u32,
    itinerary: Itinerary,
    /// The distribution of the next evaluation.
    t: usize,
    /// log f of the distribution that a weighing comes from, while that of the other is asked for.
    weighed_from: Option<f64>,
    tally: Tally,
    done: bool,
}

impl<'a, S: Stepper> Chain<'a, S> {
    fn new(start: &[f64], stepper: S, number: u32, way: &'a Way<'a>) -> Self {
        let itinerary = Itinerary::new(way.run.direction, way.schedule.len());
        let mover = Mover::new(start, way.stages.at(2).kernel.method.needs_gradient(), stepper);
        let mut chain =
            Self { mover, way, number, itinerary, t: 2, weighed_from: None, tally: Tally::default(), done: false };
        chain.t = chain.first_evaluation().unwrap_or(2);
        chain
    }

    /// Where a chain is evaluated first. Where densities are known all along the path, the weights do not mind, and the
    /// first move needs its gradient.
    fn first_evaluation(&self) -> Option<usize> {
        self.itinerary.clone().find_map(|leg| match leg {
            Leg::Move { t } | Leg::MoveReversed { t } => Some(t),
            Leg::Weigh { from, .. } => (!self.way.course.is_known()).then_some(from),
        })
    }

    /// Goes along the itinerary until an evaluation is needed. The densities of the state are known; whether its
    /// gradient is that of the next move is `fresh`.
    fn go_on(&mut self, fresh: bool) {
        // A state without density cannot be weighed: 0/0, or a ratio of infinities.
        if fresh && !self.mover.state.densities.log_prior.is_finite() {
            self.tally.reject();
        }
        while !self.tally.rejected {
            let before = self.itinerary.clone();
            match self.itinerary.next() {
                Some(Leg::Weigh { from, to }) => {
                    let (low, high) = (self.way.schedule.beta(from), self.way.schedule.beta(to));
                    let Some(ratio) = self.way.course.log_ratio(self.mover.state.densities.log_likelihood, low, high)
                    else {
                        // The next move is at the other end, so that the evaluation is not one more.
                        self.weighed_from = Some(self.mover.state.log_density());
                        self.t = to;
                        self.mover.refresh();
                        return;
                    };
                    self.tally.weigh(ratio);
                }
                // The kernels are reversible: each is its own reversal.
                Some(Leg::Move { t } | Leg::MoveReversed { t }) => {
                    self.t = t;
                    if !fresh && self.way.stages.at(t).kernel.method.needs_gradient() {
                        self.itinerary = before;
                        self.mover.refresh();
                        return;
                    }
                    return self.begin_move(t);
                }
                None => break,
            }
        }
        self.done = true;
    }

    fn begin_move(&mut self, t: usize) {
        if self.way.course.is_known() {
            // Without a gradient the state was last evaluated for another β.
            let densities = &mut self.mover.state.densities;
            densities.tilt = self.way.course.tilt(densities.log_likelihood, self.way.schedule.beta(t));
        }
        if !self.mover.state.log_density().is_finite() {
            self.tally.reject();
            self.done = true;
            return;
        }
        let stream = move_key(self.way.run.key, self.number, self.way.schedule.len(), t).stream();
        self.mover.begin(self.way.stages.at(t), stream);
    }
}

impl<S: Stepper> Walker for Chain<'_, S> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        !self.done
    }

    fn beta(&self) -> f64 {
        self.way.schedule.beta(self.t)
    }

    fn position(&self) -> &[f64] {
        self.mover.position()
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        self.mover.gradient_mut()
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        self.tally.evaluations += 1;
        // No kernel moves at distribution 1.
        match self.mover.advance(self.way.stages.at(self.t.max(2)), answer) {
            Progress::UnderWay => {}
            Progress::Refreshed => {
                if let Some(from) = self.weighed_from.take() {
                    self.tally.weigh(self.mover.state.log_density() - from);
                }
                self.go_on(true);
            }
            Progress::Moved(statistics) => {
                self.tally.moved(statistics.accept_stat);
                self.tally.divergences += u64::from(statistics.divergent);
                self.way.run.control.count_iteration();
                self.go_on(false);
            }
        }
        Ok(())
    }
}

/// A number of transitions at one β. Transition i uses step i of the key, counted from the key's own.
pub(super) struct Repeat<'a, S> {
    mover: &'a mut Mover<S>,
    stage: &'a Stage,
    beta: f64,
    key: StreamKey,
    control: &'a Control,
    done: usize,
    steps: usize,
    /// Summed over transitions.
    pub(super) accept: f64,
}

impl<'a, S: Stepper> Repeat<'a, S> {
    pub(super) fn new(
        mover: &'a mut Mover<S>,
        stage: &'a Stage,
        beta: f64,
        steps: usize,
        key: StreamKey,
        control: &'a Control,
    ) -> Self {
        let mut repeat = Self { mover, stage, beta, key, control, done: 0, steps, accept: 0.0 };
        if !repeat.mover.refreshing {
            repeat.begin();
        }
        repeat
    }

    fn begin(&mut self) {
        if self.done < self.steps {
            let key = self.key.step(self.key.step + self.done as u64);
            self.mover.begin(self.stage, key.stream());
        }
    }
}

impl<S: Stepper> Walker for Repeat<'_, S> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        self.done < self.steps
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn position(&self) -> &[f64] {
        self.mover.position()
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        self.mover.gradient_mut()
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        match self.mover.advance(self.stage, answer) {
            Progress::UnderWay => return Ok(()),
            Progress::Refreshed => {
                if !self.mover.state.log_density().is_finite() {
                    let failure =
                        InitialFailure { given: true, tries: 1, bad_gradients: 0, reason: answer.rejection() };
                    return Err(Error::Initial { chain: self.key.chain, failure });
                }
            }
            Progress::Moved(statistics) => {
                self.accept += statistics.accept_stat;
                self.done += 1;
                self.control.count_iteration();
            }
        }
        self.begin();
        Ok(())
    }
}
