//! Warm-up: makes a frozen kernel from what a chain does. The only part that adapts.

use pxfm::f_log;

use crate::covariance::Welford;
use crate::error::Error;
use crate::first_metric::FirstMetric;
use crate::kernel::{Kernel, Method, State, Statistics};
use crate::metric::{Metric, MetricKind, NotPositive};
use crate::step_size::{Averaging, DualAveraging, StepSizeSearch};
use crate::windows::{WindowSizes, Windows};

/// How warm-up goes. The defaults are Stan's, but chains with long first trajectories get a first metric early.
#[derive(Clone, Debug, PartialEq)]
pub struct Warmup {
    pub method: Method,
    pub metric: MetricKind,
    /// What the search for the first step size starts with; for Metropolis, in units of 2.38/√d.
    pub step_size: f64,
    pub jitter: f64,
    pub averaging: Averaging,
    pub windows: WindowSizes,
}

impl Warmup {
    /// The defaults for a method.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            metric: MetricKind::default(),
            step_size: 1.0,
            jitter: 0.0,
            averaging: Averaging { delta: method.accept_wanted(), ..Averaging::default() },
            windows: WindowSizes::default(),
        }
    }

    /// Whether all numbers make sense.
    pub fn check(&self) -> Result<(), Error> {
        let Averaging { delta, gamma, t0, kappa } = self.averaging;
        let positive = |name, x: f64| check(name, x, x > 0.0 && x.is_finite(), "positive and finite");
        check("delta", delta, delta > 0.0 && delta < 1.0, "between 0 and 1")?;
        positive("gamma", gamma)?;
        positive("t0", t0)?;
        positive("kappa", kappa)?;
        positive("step size", self.step_size)?;
        check("jitter", self.jitter, (0.0..1.0).contains(&self.jitter), "at least 0 and below 1")
    }
}

impl Default for Warmup {
    fn default() -> Self {
        Self::new(Method::default())
    }
}

fn check(name: &'static str, value: f64, holds: bool, must_be: &'static str) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::Setting { name, value: value.to_string(), must_be }) }
}

/// Whether a frozen kernel fits a dimension and makes sense.
pub(crate) fn check_kernel(kernel: &Kernel, dimension: usize) -> Result<(), Error> {
    check(
        "step size",
        kernel.step_size,
        kernel.step_size > 0.0 && kernel.step_size.is_finite(),
        "positive and finite",
    )?;
    check("jitter", kernel.jitter, (0.0..1.0).contains(&kernel.jitter), "at least 0 and below 1")?;
    match kernel.metric.dimension() {
        Some(other) if other != dimension => Err(Error::Setting {
            name: "the dimension of the metric",
            value: other.to_string(),
            must_be: "that of the target",
        }),
        _ => Ok(()),
    }
}

/// The state of warm-up of one chain.
#[derive(Clone, Debug)]
pub(crate) struct Adaptation {
    averaging: DualAveraging,
    windows: Windows,
    /// Only where there are gradients.
    first_metric: Option<FirstMetric>,
    estimate: Welford,
    /// The variances of the first metric: their proportions are right, whatever unit a parameter has. Shrinking towards
    /// ones in their place would forget them, and chains on a narrow ridge would hardly move.
    known: Option<Vec<f64>>,
    searches: bool,
    default_step: f64,
}

/// What a chain has to do after an iteration of warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Transition,
    Search,
}

impl Adaptation {
    /// The kernel that warm-up starts with, and what will adapt it.
    pub(crate) fn new(settings: &Warmup, dimension: usize, iterations: usize) -> (Self, Kernel) {
        let searches = settings.method.needs_gradient();
        let unit = if searches { 1.0 } else { settings.method.first_step(dimension) };
        let step_size = settings.step_size * unit;
        // Stan's first μ comes from the step size before the search. Only gradients make it worth while to be bold.
        let mu = f_log(if searches { 10.0 * step_size } else { step_size });
        let adaptation = Self {
            averaging: DualAveraging::new(settings.averaging, mu),
            windows: Windows::new(iterations, settings.windows),
            first_metric: searches.then(|| FirstMetric::new(settings.metric, dimension)),
            estimate: Welford::new(settings.metric, dimension),
            known: None,
            searches,
            default_step: step_size,
        };
        let metric = Metric::initial(settings.metric, dimension);
        (adaptation, Kernel { method: settings.method, step_size, jitter: settings.jitter, short: 0.0, metric })
    }

    /// What the chain has to do first.
    pub(crate) fn first(&self) -> Next {
        if self.searches { Next::Search } else { Next::Transition }
    }

    /// Takes in the draw of an iteration.
    pub(crate) fn learn(
        &mut self,
        kernel: &mut Kernel,
        iteration: usize,
        state: &State,
        statistics: &Statistics,
    ) -> Result<Next, NotPositive> {
        kernel.step_size = self.averaging.learn(statistics.accept_stat);
        let mut replaced = false;
        if self.windows.contains(iteration) {
            self.estimate.add(&state.q);
        } else if let Some(first) = &mut self.first_metric
            && self.windows.is_before(iteration)
            && let Some(metric) = first.learn(state, statistics)
        {
            self.known = metric.variances();
            kernel.metric = metric;
            replaced = true;
        }
        if self.windows.ends_at(iteration) {
            if let Some(metric) = self.estimate.metric(self.known.as_deref()) {
                kernel.metric = metric?;
            }
            self.estimate.restart();
            replaced = true;
        }
        if !replaced {
            return Ok(Next::Transition);
        }
        if self.searches && StepSizeSearch::is_sensible(kernel.step_size) {
            return Ok(Next::Search);
        }
        if !self.searches {
            kernel.step_size = self.default_step;
            self.averaging.restart(f_log(self.default_step));
        }
        Ok(Next::Transition)
    }

    /// Takes in the result of a search after the metric has changed.
    pub(crate) fn restart(&mut self, step_size: f64) {
        self.averaging.restart(f_log(10.0 * step_size));
    }

    /// The end of warm-up.
    pub(crate) fn freeze(self, kernel: &mut Kernel) {
        if let Some(average) = self.averaging.average() {
            kernel.step_size = average;
        }
    }
}
