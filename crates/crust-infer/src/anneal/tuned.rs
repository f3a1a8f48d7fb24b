//! Kernels for every β between 0 and 1, by interpolation between those that a pilot run has tuned.

use std::sync::Arc;

use pxfm::{f_exp, f_expm1, f_log, f_log1p};

use super::Schedule;
use super::chart::Chart;
use super::scales::Scales;
use super::widths::Frame;
use crate::axes::Axes;
use crate::error::Error;
use crate::kernel::{Kernel, Method};
use crate::metric::Metric;

/// What the pilot found at one β.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Knot {
    pub beta: f64,
    pub step_size: f64,
    /// The diagonal of the inverse metric: the spread of the pilot's chains, squared, in the coordinates of the chart.
    pub variance: Vec<f64>,
    /// The mean acceptance probability with this step size.
    pub accept: f64,
    /// The thermodynamic length of the path from β = 0 to here, in units in which a kernel that forgets at once has its
    /// own.
    pub length: f64,
    /// The numbers of its chart; empty without one.
    #[serde(default)]
    pub frame: Frame,
}

/// A frozen kernel for each β. Both directions use the same, and nothing that a chain does changes it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TunedKernels {
    method: Method,
    jitter: f64,
    /// From β = 0 to β = 1, at least two.
    knots: Vec<Knot>,
    /// What the charts of all β share, if there are any.
    #[serde(default)]
    scales: Option<Scales>,
    /// The axes along which all kernels move, if there are any.
    #[serde(default)]
    axes: Option<Axes>,
}

/// What the charts of all β share.
struct Shared {
    scales: Option<Arc<Scales>>,
    axes: Option<Arc<Axes>>,
}

/// A frozen kernel and the coordinates in which it moves.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stage {
    pub(super) kernel: Kernel,
    pub(super) chart: Option<Chart>,
}

impl TunedKernels {
    /// Knots with β rising from 0 to 1.
    pub fn new(method: Method, jitter: f64, knots: Vec<Knot>) -> Result<Self, Error> {
        let betas: Vec<f64> = knots.iter().map(|knot| knot.beta).collect();
        let setting = |value: String, must_be| Error::Setting { name: "the kernel of a pilot run", value, must_be };
        Schedule::try_from(betas).map_err(|bad| setting(bad.to_string(), "given for β rising from 0 to 1"))?;
        let positive = |x: &f64| *x > 0.0 && x.is_finite();
        for knot in &knots {
            if !(positive(&knot.step_size) && knot.variance.iter().all(positive)) {
                return Err(setting(format!("{knot:?}"), "positive and finite"));
            }
            if knot.variance.len() != knots[0].variance.len() {
                return Err(setting(knot.variance.len().to_string(), "of the same dimension for every β"));
            }
        }
        let rising = knots.windows(2).all(|pair| pair[0].length < pair[1].length && pair[1].length.is_finite());
        if !rising {
            return Err(setting(format!("{:?}", knots.last()), "at a thermodynamic length that rises"));
        }
        if !(0.0..1.0).contains(&jitter) {
            return Err(Error::Setting {
                name: "jitter",
                value: jitter.to_string(),
                must_be: "at least 0 and below 1",
            });
        }
        Ok(Self { method, jitter, knots, scales: None, axes: None })
    }

    /// The same with other knots, which may be for another method.
    pub(super) fn with_knots(&self, method: Method, knots: Vec<Knot>) -> Result<Self, Error> {
        Self::new(method, self.jitter, knots)?.in_charts(self.scales.clone(), self.axes.clone())
    }

    /// Moves in the charts that the knots have the numbers for, or else along axes.
    pub(super) fn in_charts(mut self, scales: Option<Scales>, axes: Option<Axes>) -> Result<Self, Error> {
        let unfit = |knot: &&Knot| scales.as_ref().is_some_and(|scales| !knot.frame.fits(scales));
        if let Some(bad) = self.knots.iter().find(unfit) {
            let value = format!("{:?}", bad.frame);
            return Err(Error::Setting { name: "the chart of a kernel", value, must_be: "finite, for all groups" });
        }
        if let Some(axes) = axes.as_ref().filter(|axes| axes.dimension() != self.dimension()) {
            let value = axes.dimension().to_string();
            return Err(Error::Setting {
                name: "the dimension of a kernel's axes",
                value,
                must_be: "that of the kernel",
            });
        }
        (self.scales, self.axes) = (scales, axes);
        Ok(self)
    }

    /// The groups of coordinates that move relative to their hyperparameters, if there are any.
    pub fn scales(&self) -> Option<&Scales> {
        self.scales.as_ref()
    }

    /// The same kernel for every β.
    pub fn constant(kernel: &Kernel, dimension: usize) -> Result<Self, Error> {
        let variance = match &kernel.metric {
            Metric::Unit => vec![1.0; dimension],
            Metric::Diagonal(_) => kernel.metric.inverse().unwrap_or_default().to_vec(),
            Metric::Dense(_) => {
                let must_be = "diagonal for annealing";
                return Err(Error::Setting { name: "the metric", value: "dense".into(), must_be });
            }
        };
        let knot = |beta| Knot {
            beta,
            step_size: kernel.step_size,
            variance: variance.clone(),
            accept: 0.0,
            length: beta,
            frame: Frame::default(),
        };
        Self::new(kernel.method, kernel.jitter, vec![knot(0.0), knot(1.0)])
    }

    pub fn method(&self) -> Method {
        self.method
    }

    pub fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// The thermodynamic length of the whole path, slow kernels counted in. With T steps of equal length the gap of the
    /// sandwich (the Jeffreys bound) is about its square over T.
    pub fn length(&self) -> f64 {
        self.knots[self.knots.len() - 1].length
    }

    pub fn dimension(&self) -> usize {
        self.knots[0].variance.len()
    }

    /// Where β is on a scale that is linear up to the first knot after 0 and logarithmic beyond: along it, posteriors
    /// contract evenly.
    fn place(&self, beta: f64) -> f64 {
        f_log1p(beta / self.knots[1].beta)
    }

    /// The pair of knots around a point of a rising quantity, and how far between them it is, from 0 to 1.
    fn between(&self, x: f64, quantity: impl Fn(&Knot) -> f64) -> (usize, f64) {
        let after = self.knots.partition_point(|knot| quantity(knot) <= x).clamp(1, self.knots.len() - 1);
        let (low, high) = (quantity(&self.knots[after - 1]), quantity(&self.knots[after]));
        (after - 1, ((x - low) / (high - low)).clamp(0.0, 1.0))
    }

    /// The kernel at β with its coordinates.
    pub(super) fn stage(&self, beta: f64) -> Stage {
        self.stage_with(beta, &self.shared())
    }

    /// What the charts share, for many stages.
    fn shared(&self) -> Shared {
        Shared { scales: self.scales.clone().map(Arc::new), axes: self.axes.clone().map(Arc::new) }
    }

    fn stage_with(&self, beta: f64, shared: &Shared) -> Stage {
        let widths = shared.scales.as_ref().map(|scales| {
            let (i, share) = self.between(self.place(beta), |knot| self.place(knot.beta));
            scales.chart(Frame::between(&self.knots[i].frame, &self.knots[i + 1].frame, share))
        });
        let axes = || shared.axes.clone().map(Chart::Axes);
        Stage { kernel: self.at(beta), chart: widths.map(Chart::Widths).or_else(axes) }
    }

    /// The kernel at β, in the coordinates of its chart.
    pub fn at(&self, beta: f64) -> Kernel {
        let (i, share) = self.between(self.place(beta), |knot| self.place(knot.beta));
        let (a, b) = (&self.knots[i], &self.knots[i + 1]);
        let mix = |a: f64, b: f64| f_exp((1.0 - share) * f_log(a) + share * f_log(b));
        let variance = a.variance.iter().zip(&b.variance).map(|(&a, &b)| mix(a, b)).collect();
        // Positive and finite since both ends are.
        let metric = Metric::diagonal(variance).unwrap_or(Metric::Unit);
        // Kernels without any chance stay so.
        let short = if self.jitter > 0.0 { SHORT } else { 0.0 };
        Kernel { method: self.method, step_size: mix(a.step_size, b.step_size), jitter: self.jitter, short, metric }
    }

    /// The β up to which a share of the thermodynamic length lies.
    pub(super) fn beta_at_share(&self, share: f64) -> f64 {
        let (i, part) = self.between(share * self.length(), |knot| knot.length);
        let (low, high) = (self.place(self.knots[i].beta), self.place(self.knots[i + 1].beta));
        (self.knots[1].beta * f_expm1(low + part * (high - low))).clamp(0.0, 1.0)
    }
}

/// A length that is further on by a step. One that is lost beside what is there (of a path that is hopeless) counts as
/// the least that is not.
pub(super) fn further(before: f64, step: f64) -> f64 {
    (before + step).max(before * (1.0 + 4.0 * f64::EPSILON)).max(before + f64::MIN_POSITIVE)
}

/// Kernels for the moves of a schedule. A long schedule has groups of neighbours that share one, so that memory does
/// not grow with T: a rule that knows t only, so both directions agree.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    stages: Vec<Stage>,
    moves: usize,
}

/// The share of short transitions.
const SHORT: f64 = 0.125;

/// The most kernels of a schedule.
const MOST_KERNELS: usize = 512;

impl Stages {
    pub(super) fn new(kernels: &TunedKernels, schedule: &Schedule) -> Self {
        let moves = schedule.len() - 1;
        let count = moves.min(MOST_KERNELS);
        let group = |k: usize| k * moves / count + 2..(k + 1) * moves / count + 2;
        let shared = kernels.shared();
        let middle = |k: usize| {
            let group = group(k);
            kernels.stage_with(schedule.beta(usize::midpoint(group.start, group.end - 1)), &shared)
        };
        Self { stages: (0..count).map(middle).collect(), moves }
    }

    /// The kernel of move t, from 2 to T.
    pub(super) fn at(&self, t: usize) -> &Stage {
        let count = self.stages.len();
        // The group k with k·moves/count ≤ t − 2 < (k + 1)·moves/count, all rounded down.
        &self.stages[((t - 2) * count + count - 1) / self.moves]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knot(beta: f64, step_size: f64, length: f64) -> Knot {
        let frame = Frame::default();
        Knot { beta, step_size, variance: vec![step_size * 4.0, 1.0], accept: 0.8, length, frame }
    }

    fn kernels() -> TunedKernels {
        let knots = vec![knot(0.0, 2.0, 0.0), knot(1e-4, 1.0, 1.0), knot(1e-2, 0.1, 2.5), knot(1.0, 0.01, 3.0)];
        TunedKernels::new(Method::Metropolis, 0.25, knots).unwrap()
    }

    #[test]
    fn knots_are_met_and_what_is_between_is_monotone() {
        let kernels = kernels();
        for knot in kernels.knots() {
            let kernel = kernels.at(knot.beta);
            assert!((kernel.step_size / knot.step_size - 1.0).abs() < 1e-12);
            assert!((kernel.metric.inverse().unwrap()[0] / knot.variance[0] - 1.0).abs() < 1e-12);
            assert!(kernel.jitter > 0.0 && kernel.method == Method::Metropolis);
            // A schedule by length is at the knot when its length is done.
            let beta = kernels.beta_at_share(knot.length / kernels.length());
            assert!((beta - knot.beta).abs() <= 1e-12 * knot.beta, "{beta} for {}", knot.beta);
        }
        let steps: Vec<f64> = (0..=1000).map(|i| kernels.at(f64::from(i) / 1000.0).step_size).collect();
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]));
        // Halfway on a logarithmic scale (but for the 1 in log1p) the step is the geometric mean.
        assert!((kernels.at(0.1).step_size / (0.1_f64 * 0.01).sqrt() - 1.0).abs() < 0.02);
    }

    #[test]
    fn lengths_rise_whatever_is_added() {
        for (before, step) in [(0.0, 0.0), (0.0, 1e-300), (1e41, 1e3), (1e41, 0.0), (2.0, 1.5)] {
            let after = further(before, step);
            assert!(after > before && after <= (before + step) * (1.0 + 1e-14) + 1e-300, "{before} {step} {after}");
        }
    }

    #[test]
    fn schedules_by_length_have_equal_steps() {
        let kernels = kernels();
        let schedule = Schedule::from_pilot(31, &kernels).unwrap();
        // 30 steps of 0.1: knots are at steps 10, 25 and 30.
        for (t, beta) in [(11, 1e-4), (26, 1e-2), (31, 1.0)] {
            assert!((schedule.beta(t) / beta - 1.0).abs() < 1e-9, "{t}");
        }
    }

    /// Moves of a long schedule share kernels in groups of neighbours, whose β is near their own.
    #[test]
    fn long_schedules_share_kernels() {
        let kernels = kernels();
        for distributions in [2, 3, 14, 513, 514, 700, 1000, 5001] {
            let schedule = Schedule::linear(distributions).unwrap();
            let stages = Stages::new(&kernels, &schedule);
            let moves = distributions - 1;
            let count = moves.min(MOST_KERNELS);
            assert_eq!(stages.stages.len(), count);
            for t in 2..=distributions {
                let group = (0..count).rfind(|k| k * moves / count <= t - 2).unwrap();
                assert_eq!(stages.at(t), &stages.stages[group], "{distributions} {t}");
                if moves <= MOST_KERNELS {
                    assert_eq!(stages.at(t), &kernels.stage(schedule.beta(t)));
                }
            }
        }
    }

    #[test]
    fn frozen_kernels_survive_a_file() {
        let kernels = kernels();
        let copy: TunedKernels = serde_json::from_str(&serde_json::to_string(&kernels).unwrap()).unwrap();
        assert_eq!(copy, kernels);
        let schedule = Schedule::from_pilot(9, &kernels).unwrap();
        let copy: Schedule = serde_json::from_str(&serde_json::to_string(&schedule).unwrap()).unwrap();
        assert_eq!(copy, schedule);
        assert!(serde_json::from_str::<Schedule>("[0, 0.5]").is_err());
    }
}
