//! Nested sampling: live points climb the likelihood while the prior volume above it shrinks at a known rate (BDMC, section 5.3).
//!
//! With K live points, removing the one with the least likelihood shrinks log V by 1/K on average; several are replaced at once, so that they
//! are moved in one batch, and the i-th of them shrinks it by 1/(K − i). The replacements are survivors that random-walk Metropolis moved within
//! the constrained prior: not exact draws of it, so that the estimate is on no known side of the truth.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::{f_exp, f_log, f_log1p};

use super::trail::look;
use super::{Particle, Prior, Run, float};
use crate::drive::{Answer, Control, Walker, drive};
use crate::error::Error;
use crate::metric::cholesky;
use crate::target::Target;
use crate::vector::dot;

/// How nested sampling goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NestedSettings {
    /// K, at least 4.
    pub live: usize,
    /// Metropolis steps of each new point.
    pub steps: usize,
    /// It ends when what the live points may still add is below this share of Ẑ.
    pub remainder: f64,
    /// It ends, unfinished, once the volume is below e to minus this.
    pub most_nats: f64,
}

/// What nested sampling found.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested {
    pub log_z: f64,
    /// √(H/K), with the information H: the uncertainty of the volumes (Skilling 2006).
    pub se: f64,
    /// H, the divergence of the posterior from the prior in nats.
    pub information: f64,
    pub evaluations: u64,
    /// It ended before the likelihood stopped growing faster than the volume shrank.
    pub unfinished: bool,
    /// The share of Metropolis steps that were accepted in the last round.
    pub accept: f64,
}

/// The acceptance rate that steps are scaled for.
const ACCEPT: f64 = 0.3;

/// Runs nested sampling from draws of the prior.
pub fn nested<T: Target + Clone + Send>(
    target: &T,
    prior: &mut Prior<'_>,
    settings: NestedSettings,
    run: &Run<'_>,
) -> Result<Nested, Error> {
    if settings.live < 4 || settings.steps == 0 {
        let (name, value) =
            ("the number of live points and of steps", format!("{} and {}", settings.live, settings.steps));
        return Err(Error::Setting { name, value, must_be: "at least 4 and 1" });
    }
    let key = run.key.purpose(Purpose::PRIOR);
    let number = |k: usize| u32::try_from(k).unwrap_or(u32::MAX);
    let points = (0..settings.live).map(|k| prior(key.chain(number(k)))).collect::<Result<Vec<_>, _>>()?;
    let before = run.control.evaluations();
    let looked = look(target, points, run)?;
    if looked.particles.iter().all(|particle| !particle.log_joint().is_finite()) {
        return Err(Error::NoLikelihood { draws: settings.live, reason: looked.reason });
    }
    let mut climb = Climb::new(looked.particles, target.dimension());
    while climb.goes_on(settings) {
        climb.round(target, settings, run)?;
    }
    Ok(climb.finish(settings, run.control.evaluations() - before))
}

struct Climb {
    /// In rising order of likelihood.
    live: Vec<Particle>,
    log_volume: f64,
    log_z: f64,
    /// Σ of L ΔV log L, over Ẑ.
    mean_log_likelihood: f64,
    /// In units of the live points' spread.
    scale: f64,
    accept: f64,
    rounds: u64,
    stuck: bool,
}

/// log L, −∞ where there is none.
fn height(particle: &Particle) -> f64 {
    if particle.log_joint().is_finite() { particle.log_likelihood } else { f64::NEG_INFINITY }
}

impl Climb {
    fn new(live: Vec<Particle>, dimension: usize) -> Self {
        let mut climb = Self {
            live,
            log_volume: 0.0,
            log_z: f64::NEG_INFINITY,
            mean_log_likelihood: 0.0,
            scale: 2.38 / float(dimension).sqrt(),
            accept: 0.0,
            rounds: 0,
            stuck: false,
        };
        climb.sort();
        climb
    }

    fn sort(&mut self) {
        self.live.sort_by(|a, b| height(a).total_cmp(&height(b)));
    }

    fn goes_on(&self, settings: NestedSettings) -> bool {
        let top = self.live.last().map_or(f64::NEG_INFINITY, height);
        let done = self.log_volume + top < self.log_z + f_log(settings.remainder);
        !done && !self.stuck && -self.log_volume < settings.most_nats
    }

    /// Adds a slice of the prior with a likelihood.
    fn add(&mut self, log_width: f64, log_likelihood: f64) {
        let term = log_width + log_likelihood;
        if term == f64::NEG_INFINITY {
            return;
        }
        let total = log_add(self.log_z, term);
        let old =
            if self.log_z == f64::NEG_INFINITY { 0.0 } else { self.mean_log_likelihood * f_exp(self.log_z - total) };
        self.mean_log_likelihood = old + f_exp(term - total) * log_likelihood;
        self.log_z = total;
    }

    /// Removes an eighth of the live points and replaces them.
    fn round<T: Target + Clone + Send>(
        &mut self,
        target: &T,
        settings: NestedSettings,
        run: &Run<'_>,
    ) -> Result<(), Error> {
        let k = self.live.len();
        let removed = (k / 8).max(1);
        let cut = height(&self.live[removed - 1]);
        let survivors = self.live.partition_point(|particle| height(particle) <= cut);
        // On a plateau nothing is above the cut: what is left has the same likelihood, and the rest of the volume is known.
        if survivors == k {
            self.stuck = true;
            return Ok(());
        }
        for i in 0..removed {
            // V shrinks by the factor e^(−1/(K − i)); the slice that is cut off has the rest.
            let shrink = 1.0 / float(k - i);
            let log_width = self.log_volume + f_log1p(-f_exp(-shrink));
            self.add(log_width, height(&self.live[i]));
            self.log_volume -= shrink;
        }
        let moved = self.replace(target, survivors, removed, cut, settings, run)?;
        self.live[..removed].clone_from_slice(&moved);
        self.sort();
        self.rounds += 1;
        Ok(())
    }

    fn replace<T: Target + Clone + Send>(
        &mut self,
        target: &T,
        survivors: usize,
        count: usize,
        cut: f64,
        settings: NestedSettings,
        run: &Run<'_>,
    ) -> Result<Vec<Particle>, Error> {
        let key = StreamKey { step: self.rounds, ..run.key.purpose(Purpose::KERNEL) };
        let root = spread(&self.live[survivors.min(self.live.len() - 2)..], &self.live);
        let above = &self.live[survivors..];
        let walker = |i: u32| {
            let mut stream = key.chain(i).stream();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the number of points")]
            let from = (stream.uniform() * float(above.len())) as usize;
            let state = above[from.min(above.len() - 1)].clone();
            let mut walker = Constrained {
                proposal: state.q.clone(),
                state,
                root: &root,
                scale: self.scale,
                cut,
                stream,
                left: settings.steps,
                accepted: 0,
                control: run.control,
            };
            walker.propose();
            walker
        };
        let mut walkers: Vec<Constrained<'_>> = (0..u32::try_from(count).unwrap_or(u32::MAX)).map(walker).collect();
        drive(target, &mut walkers, run.how, run.control)?;
        run.check_interrupt()?;
        let accepted: usize = walkers.iter().map(|walker| walker.accepted).sum();
        self.accept = float(accepted) / float(count * settings.steps);
        let moved = walkers.into_iter().map(|walker| walker.state).collect();
        // Steps follow the acceptance rate of the round before: what moves a point does not depend on its own path.
        self.scale *= f_exp(self.accept - ACCEPT);
        Ok(moved)
    }

    fn finish(mut self, settings: NestedSettings, evaluations: u64) -> Nested {
        let unfinished = -self.log_volume >= settings.most_nats;
        let log_width = self.log_volume - f_log(float(self.live.len()));
        for particle in std::mem::take(&mut self.live) {
            self.add(log_width, height(&particle));
        }
        let information = (self.mean_log_likelihood - self.log_z).max(0.0);
        let se = (information / float(settings.live)).sqrt();
        Nested { log_z: self.log_z, se, information, evaluations, unfinished, accept: self.accept }
    }
}

fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + f_log1p(f_exp(low - high)) }
}

/// The root of the covariance of points, by rows; only the deviations of `others` if there are too few of them.
fn spread(points: &[Particle], others: &[Particle]) -> Vec<f64> {
    let d = others[0].q.len();
    let points = if points.len() > 2 * d { points } else { others };
    let n = float(points.len());
    let mean: Vec<f64> = (0..d).map(|i| points.iter().map(|p| p.q[i]).sum::<f64>() / n).collect();
    let mut covariance = vec![0.0; d * d];
    for point in points {
        for i in 0..d {
            for j in 0..=i {
                covariance[i * d + j] += (point.q[i] - mean[i]) * (point.q[j] - mean[j]) / n;
            }
        }
    }
    let diagonal = |i: usize| covariance[i * d + i].max(f64::MIN_POSITIVE).sqrt();
    let deviations = (0..d * d).map(|k| if k % (d + 1) == 0 { diagonal(k / (d + 1)) } else { 0.0 });
    let few = points.len() <= 2 * d;
    if few { deviations.collect() } else { cholesky(d, &covariance).unwrap_or_else(|_| deviations.collect()) }
}

/// Random-walk Metropolis on the prior where the likelihood is above a cut.
struct Constrained<'a> {
    state: Particle,
    proposal: Vec<f64>,
    root: &'a [f64],
    scale: f64,
    cut: f64,
    stream: Stream,
    left: usize,
    accepted: usize,
    control: &'a Control,
}

impl Constrained<'_> {
    fn propose(&mut self) {
        let d = self.proposal.len();
        let mut z = vec![0.0; d];
        self.stream.fill_normal(&mut z);
        for i in 0..d {
            self.proposal[i] = self.state.q[i] + self.scale * dot(&self.root[i * d..][..=i], &z[..=i]);
        }
    }
}

impl Walker for Constrained<'_> {
    type Error = Error;

    fn wants_evaluation(&self) -> bool {
        self.left > 0
    }

    fn beta(&self) -> f64 {
        1.0
    }

    fn position(&self) -> &[f64] {
        &self.proposal
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        let (log_prior, log_likelihood) = (answer.log_prior, answer.log_likelihood);
        let proposed = Particle { q: vec![], log_prior, log_likelihood };
        let uniform = self.stream.uniform();
        if height(&proposed) > self.cut && uniform < f_exp((log_prior - self.state.log_prior).min(0.0)) {
            self.state.q.copy_from_slice(&self.proposal);
            (self.state.log_prior, self.state.log_likelihood) = (log_prior, log_likelihood);
            self.accepted += 1;
        }
        self.control.count_iteration();
        self.left -= 1;
        self.propose();
        Ok(())
    }
}
