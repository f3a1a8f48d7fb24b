//! One chain, from its starting point through warm-up to its last draw, as a walker.

use std::ops::ControlFlow;

use crust_math::random::{Purpose, StreamKey};

use crate::drive::{Answer, Control, Walker};
use crate::error::{Error, InitialFailure};
use crate::kernel::{Kernel, State, Statistics, Stepper};
use crate::sample::{Draw, KernelSource, Observer, Settings, Start};
use crate::step_size::StepSizeSearch;
use crate::warmup::{Adaptation, Next};

/// How often a random starting point is drawn, as in Stan.
const TRIES: u32 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Initial,
    Search,
    Transition,
    Done,
}

pub(crate) struct Chain<'a, S> {
    start: &'a Start,
    settings: &'a Settings,
    observer: &'a dyn Observer,
    control: &'a Control,
    phase: Phase,
    state: State,
    kernel: Kernel,
    /// During warm-up only.
    adaptation: Option<Adaptation>,
    stepper: S,
    search: StepSizeSearch,
    /// Complete iterations, those of warm-up included.
    iteration: usize,
    tries: u32,
    /// How many starting points were fine, and the best of them, if there are several to choose from.
    found: u32,
    best: Option<State>,
    bad_gradients: u32,
    divergences: usize,
    evaluations: u64,
}

/// A chain at its end.
#[derive(Clone, Debug)]
pub struct Sampled {
    pub chain: u32,
    /// What warm-up arrived at; if it was interrupted, what it had got to.
    pub kernel: Kernel,
    pub state: State,
    /// Complete iterations of warm-up.
    pub warmup: usize,
    /// Draws after warm-up.
    pub draws: usize,
    /// Divergent transitions after warm-up.
    pub divergences: usize,
    pub evaluations: u64,
}

impl<'a, S: Stepper> Chain<'a, S> {
    pub(crate) fn new(
        dimension: usize,
        stepper: S,
        start: &'a Start,
        settings: &'a Settings,
        observer: &'a dyn Observer,
        control: &'a Control,
    ) -> Self {
        let (adaptation, kernel) = match &settings.kernel {
            KernelSource::Frozen(kernel) => (None, kernel.clone()),
            KernelSource::Warmup(warmup) => {
                let (adaptation, kernel) = Adaptation::new(warmup, dimension, settings.warmup);
                (Some(adaptation), kernel)
            }
        };
        let state = State::at(&vec![0.0; dimension], kernel.method.needs_gradient());
        let mut chain = Self {
            stepper,
            search: StepSizeSearch::new(dimension),
            phase: if settings.warmup + settings.draws == 0 { Phase::Done } else { Phase::Initial },
            start,
            settings,
            observer,
            control,
            state,
            kernel,
            adaptation,
            iteration: 0,
            tries: 0,
            found: 0,
            best: None,
            bad_gradients: 0,
            divergences: 0,
            evaluations: 0,
        };
        chain.draw_initial();
        chain
    }

    pub(crate) fn into_outcome(self) -> Sampled {
        let warmup = self.iteration.min(self.settings.warmup);
        Sampled {
            chain: self.start.chain,
            kernel: self.kernel,
            state: self.state,
            warmup,
            draws: self.iteration - warmup,
            divergences: self.divergences,
            evaluations: self.evaluations,
        }
    }

    /// Transitions and searches take turns: step 2i is the transition of iteration i, step 2i + 1 a search before it.
    fn key(&self, search: bool) -> StreamKey {
        self.settings.key.chain(self.start.chain).step(2 * self.iteration as u64 + u64::from(search))
    }

    fn draw_initial(&mut self) {
        let key = self.settings.key.purpose(Purpose::INITIAL).chain(self.start.chain).step(u64::from(self.tries));
        let mut stream = key.stream();
        for (i, q) in self.state.q.iter_mut().enumerate() {
            // Drawn for given coordinates too: the others do not depend on which are given.
            let random = self.settings.radius * (2.0 * stream.uniform() - 1.0);
            *q = self.start.given.get(i).copied().flatten().unwrap_or(random);
        }
    }

    fn check_initial(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        self.tries += 1;
        let has_density = self.state.log_density().is_finite();
        let fine = has_density && self.state.gradient.iter().all(|g| g.is_finite());
        let given = self.start.given.len() == self.state.q.len() && self.start.given.iter().all(Option::is_some);
        let fixed = given || self.settings.radius == 0.0;
        if fine && !fixed {
            self.found += 1;
            if self.best.as_ref().is_none_or(|best| self.state.log_density() > best.log_density()) {
                self.best = Some(self.state.clone());
            }
        }
        let looks_on = !fixed && self.found < self.settings.candidates && self.tries < TRIES;
        if self.best.is_some() || fine {
            if looks_on {
                self.draw_initial();
                return Ok(());
            }
            if let Some(best) = self.best.take() {
                self.state = best;
            }
            match self.adaptation.as_ref().map(Adaptation::first) {
                Some(Next::Search) => self.begin_search(),
                _ => self.go_on(),
            }
            return Ok(());
        }
        self.bad_gradients += u32::from(has_density);
        if fixed || self.tries == TRIES {
            let (tries, bad_gradients, reason) = (self.tries, self.bad_gradients, answer.rejection());
            let failure = InitialFailure { given, tries, bad_gradients, reason };
            return Err(Error::Initial { chain: self.start.chain, failure });
        }
        self.draw_initial();
        Ok(())
    }

    fn begin_search(&mut self) {
        self.phase = Phase::Search;
        let (step_size, stream) = (self.kernel.step_size, self.key(true).stream());
        self.search.begin(step_size, &self.kernel.metric, &self.state, stream);
    }

    /// The next transition, unless that was all.
    fn go_on(&mut self) {
        if self.iteration == self.settings.warmup {
            if let Some(adaptation) = self.adaptation.take() {
                adaptation.freeze(&mut self.kernel);
            }
            let flow = self.observer.warmed_up(self.start.chain, &self.kernel);
            self.obey(flow);
        }
        if self.iteration == self.settings.warmup + self.settings.draws {
            self.phase = Phase::Done;
            return;
        }
        self.phase = Phase::Transition;
        let stream = self.key(false).stream();
        self.stepper.begin(&self.kernel, &self.state, stream);
    }

    fn obey(&self, flow: ControlFlow<()>) {
        if flow.is_break() {
            self.control.interrupt();
        }
    }

    fn complete(&mut self, statistics: Statistics) -> Result<(), Error> {
        self.stepper.finish(&mut self.state);
        let iteration = self.iteration;
        let warmup = iteration < self.settings.warmup;
        self.divergences += usize::from(statistics.divergent && !warmup);
        self.iteration += 1;
        self.control.count_iteration();
        let (chain, beta) = (self.start.chain, self.start.beta);
        let flow = self.observer.draw(&Draw { chain, iteration, warmup, beta, state: &self.state, statistics });
        self.obey(flow);
        let next = match &mut self.adaptation {
            None => Next::Transition,
            Some(adaptation) => adaptation
                .learn(&mut self.kernel, iteration, &self.state, &statistics)
                .map_err(|failure| Error::Metric { chain, iteration: iteration + 1, failure })?,
        };
        match next {
            Next::Search => self.begin_search(),
            Next::Transition => self.go_on(),
        }
        Ok(())
    }
}

impl<S: Stepper> Walker for Chain<'_, S> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        self.phase != Phase::Done
    }

    fn beta(&self) -> f64 {
        self.start.beta
    }

    fn position(&self) -> &[f64] {
        match self.phase {
            Phase::Search => self.search.position(),
            Phase::Transition => self.stepper.position(),
            Phase::Initial | Phase::Done => &self.state.q,
        }
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        match self.phase {
            Phase::Search => self.search.gradient_mut(),
            Phase::Transition => self.stepper.gradient_mut(),
            Phase::Initial | Phase::Done => &mut self.state.gradient,
        }
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        self.evaluations += 1;
        match self.phase {
            Phase::Done => Ok(()),
            Phase::Initial => {
                self.state.densities = answer.densities();
                self.check_initial(answer)
            }
            Phase::Search => {
                let found = self.search.advance(&self.kernel.metric, &self.state, answer.densities());
                let found = found.map_err(|failure| Error::StepSize { chain: self.start.chain, failure })?;
                if let Some(step_size) = found {
                    self.kernel.step_size = step_size;
                    if let (Some(adaptation), true) = (&mut self.adaptation, self.iteration > 0) {
                        adaptation.restart(step_size);
                    }
                    self.go_on();
                }
                Ok(())
            }
            Phase::Transition => match self.stepper.advance(&self.kernel, answer.densities()) {
                Some(statistics) => self.complete(statistics),
                None => Ok(()),
            },
        }
    }
}
