//! Estimators run over *all* their random choices: what theory says of expectations holds as an identity of sums.
//!
//! The model follows a script in place of random numbers and multiplies up the probability of what it does. Simulation
//! cannot tell a wrong place or direction of a kernel from noise where both are nearly right; sums can.

use std::sync::{Arc, Mutex, MutexGuard};

use super::urn::Urn;
use super::*;
use crate::model::{Proposal, Sequential, Transition};
use crust_infer::anneal::{Direction, Moved, System};
use crust_math::random::{Purpose, Stream};

/// One choice at each place where a random number would be drawn; all such lists are gone through in order.
#[derive(Debug, Default)]
struct Script {
    /// What was chosen, of how many.
    choices: Vec<(usize, usize)>,
    /// How many choices have been made in this run, with their probability.
    made: usize,
    probability: f64,
    steps_back: usize,
}

impl Script {
    fn choose(&mut self, log_weights: &[f64]) -> usize {
        if self.made == self.choices.len() {
            self.choices.push((0, log_weights.len()));
        }
        let chosen = self.choices[self.made].0;
        self.made += 1;
        let total: f64 = log_weights.iter().map(|l| l.exp()).sum();
        self.probability *= log_weights[chosen].exp() / total;
        chosen
    }

    fn begin(&mut self) {
        (self.made, self.probability, self.steps_back) = (0, 1.0, 0);
    }

    /// The next list, if there is one.
    fn advance(&mut self) -> bool {
        while let Some((chosen, options)) = self.choices.pop() {
            if chosen + 1 < options {
                self.choices.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}

/// An urn whose draws are those of a script.
#[derive(Clone)]
struct Scripted {
    urn: Urn,
    script: Arc<Mutex<Script>>,
}

impl Scripted {
    /// A table that makes the order of a scan matter.
    fn new(cases: usize) -> Self {
        let table = [vec![0.9, -1.1], vec![-0.4, 0.8], vec![1.3, 0.1]];
        Self { urn: Urn { table: table[..cases].to_vec(), alpha: 0.4 }, script: Arc::default() }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }

    fn sweep(&self, z: &mut [usize], beta: f64, direction: Direction) {
        for turn in 0..z.len() {
            let i = if direction == Direction::Forward { turn } else { z.len() - 1 - turn };
            z[i] = self.script().choose(&self.urn.conditional(z, i, beta));
        }
    }

    /// The sum over all scripts of probability · f(estimate), with one key.
    fn expectation<E: Estimator<Self>>(
        &self,
        estimator: &E,
        exact: Option<&Vec<usize>>,
        key: StreamKey,
        f: impl Fn(f64) -> f64,
    ) -> f64 {
        let control = Control::default();
        let problem = Problem { model: self, exact, control: &control };
        let (mut sum, mut total) = (0.0, 0.0);
        loop {
            self.script().begin();
            let estimate = estimator.estimate(&problem, key).unwrap();
            let probability = self.script().probability;
            sum += probability * f(estimate);
            total += probability;
            if !self.script().advance() {
                assert!((total - 1.0).abs() < 1e-12, "probabilities add up to {total}");
                return sum;
            }
        }
    }

    /// The expectation of f(p̂ / p(Y)).
    fn forward<E: Estimator<Self>>(&mut self, estimator: &E, f: impl Fn(f64) -> f64) -> f64 {
        let log_evidence = self.urn.log_evidence();
        self.expectation(estimator, None, key(0), |e| f((e - log_evidence).exp()))
    }

    /// The same over exact starts and all paths from them.
    fn reverse<E: Estimator<Self>>(&mut self, estimator: &E, f: impl Fn(f64) -> f64) -> f64 {
        let log_evidence = self.urn.log_evidence();
        let mut sum = 0.0;
        for state in self.urn.states() {
            let posterior = (self.urn.log_joint(&state, 1.0).unwrap() - log_evidence).exp();
            sum += posterior * self.expectation(estimator, Some(&state), key(0), |e| f((e - log_evidence).exp()));
        }
        sum
    }

    /// What holds of a forward estimator and its mirror image. With r = p̂/p(Y), E[r] = 1 forwards and E[1/r] = 1 in
    /// reverse, which any kernels give that leave their distributions invariant. That one is the *reversal* of the
    /// other shows in E[r h(r)] forwards = E[h(r)] in reverse for every h (the ratio of path probabilities, Eqs. 11–13
    /// and 27), for one chain.
    fn are_mirror_images<F: Estimator<Self>, R: Estimator<Self>>(&mut self, forward: &F, reverse: &R, single: bool) {
        let name = reverse.name();
        let is_one = |x: f64, what: &str| assert!((x - 1.0).abs() < 1e-12, "{name}: {what} is {x}");
        is_one(self.forward(forward, |r| r), "E[r]");
        is_one(self.reverse(reverse, f64::recip), "E[1/r]");
        if single {
            for h in [f64::ln_1p as fn(f64) -> f64, f64::sqrt, |r| r * r] {
                let (there, back) = (self.forward(forward, |r| r * h(r)), self.reverse(reverse, h));
                is_one(there / back, "E[r h(r)]/E[h(r)]");
            }
        }
    }
}

impl System for Scripted {
    type State = Vec<usize>;

    fn draw_initial(&mut self, _: &mut Stream) -> Result<Vec<usize>, Fatal> {
        let mut z = vec![];
        for _ in 0..self.urn.cases() {
            let logs = self.urn.log_shares(&z);
            z.push(self.script().choose(&logs));
        }
        Ok(z)
    }

    fn log_ratio(&mut self, z: &Vec<usize>, from: f64, to: f64) -> Result<f64, Fatal> {
        self.urn.log_ratio(z, from, to)
    }

    fn step(&mut self, z: &mut Vec<usize>, beta: f64, _: &mut Stream) -> Result<Moved, Fatal> {
        self.sweep(z, beta, Direction::Forward);
        Ok(Moved { accept: 1.0, evaluations: 1 })
    }

    fn step_reversed(&mut self, z: &mut Vec<usize>, beta: f64, _: &mut Stream) -> Result<Moved, Fatal> {
        self.sweep(z, beta, Direction::Reverse);
        self.script().steps_back += 1;
        Ok(Moved { accept: 1.0, evaluations: 1 })
    }
}

impl Model for Scripted {
    fn log_joint(&mut self, z: &Vec<usize>, beta: f64) -> Result<f64, Fatal> {
        self.urn.log_joint(z, beta)
    }

    fn cases(&self) -> usize {
        self.urn.cases()
    }
}

impl Transition for Scripted {
    fn log_transition(
        &mut self,
        from: &Vec<usize>,
        to: &Vec<usize>,
        beta: f64,
        direction: Direction,
    ) -> Result<f64, Fatal> {
        self.urn.log_transition(from, to, beta, direction)
    }
}

impl Sequential for Scripted {
    type Particle = Vec<usize>;

    fn begin(&mut self, _: &mut Stream) -> Result<Vec<usize>, Fatal> {
        Ok(vec![])
    }

    fn extend(&mut self, z: &mut Vec<usize>, proposal: Proposal, _: &mut Stream) -> Result<f64, Fatal> {
        let logs = self.urn.log_proposal(z, proposal);
        z.push(self.script().choose(&logs));
        self.urn.retract(&mut z.clone(), proposal)
    }

    fn retract(&mut self, z: &mut Vec<usize>, proposal: Proposal) -> Result<f64, Fatal> {
        self.urn.retract(z, proposal)
    }

    fn refresh(&mut self, z: &mut Vec<usize>, _: &mut Stream) -> Result<(), Fatal> {
        self.sweep(z, 1.0, Direction::Forward);
        Ok(())
    }

    fn refresh_reversed(&mut self, z: &mut Vec<usize>, _: &mut Stream) -> Result<(), Fatal> {
        self.sweep(z, 1.0, Direction::Reverse);
        Ok(())
    }

    fn particle(&mut self, z: &Vec<usize>) -> Result<Vec<usize>, Fatal> {
        Ok(z.clone())
    }
}

fn key(dataset: u32) -> StreamKey {
    StreamKey::new(20, Purpose::TEST).dataset(dataset)
}

/// Murray and Salakhutdinov (2009): unbiased on average over places for x\*, and at no single place.
#[test]
fn the_cms_estimator_is_unbiased_over_all_places_and_paths() {
    const PLACES: usize = 3;
    let mut model = Scripted::new(2);
    let log_evidence = model.urn.log_evidence();
    let estimator = ChibMurraySalakhutdinov { transitions: PLACES, pilot: 2 };
    // The place is the one choice that comes from the stream; it shows in how often the chain goes back.
    let mut expectations = [None; PLACES];
    let mut seen = [0; PLACES];
    let place = |model: &Scripted, key: StreamKey| {
        let control = Control::default();
        model.script().begin();
        estimator.estimate(&Problem { model, exact: None, control: &control }, key).unwrap();
        let place = model.script().steps_back - 1;
        *model.script() = Script::default();
        place
    };
    for dataset in 0..600 {
        let place = place(&model, key(dataset));
        seen[place] += 1;
        expectations[place]
            .get_or_insert_with(|| model.expectation(&estimator, None, key(dataset), |e| (e - log_evidence).exp()));
    }
    // 200 each, with a standard deviation of 11.5: five of them, a false alarm in 10⁶.
    assert!(seen.iter().all(|n| (142..=258).contains(n)), "places are not drawn uniformly: {seen:?}");
    let expectations = expectations.map(|e| e.expect("every place was seen"));
    assert!((mean(&expectations) - 1.0).abs() < 1e-12, "{expectations:?}");
    assert!(expectations.iter().all(|e| (e - 1.0).abs() > 1e-3), "the place would not matter: {expectations:?}");
}

/// Algorithms 2 and 3 with a scan that is not reversible.
#[test]
fn particle_learning_and_its_mirror_image_are_unbiased_over_all_paths() {
    for proposal in [Proposal::Prior, Proposal::Posterior] {
        for (cases, particles, transitions) in [(3, 1, 0), (3, 1, 1), (2, 1, 2), (2, 2, 1)] {
            // Never resampled, since that would draw from the stream.
            let (threshold, resampling) = (0.0, Resampling::Systematic);
            let smc = Smc { particles, transitions, proposal, threshold, resampling };
            let shme = Shme { particles, transitions, proposal, threshold, resampling };
            Scripted::new(cases).are_mirror_images(&smc, &shme, particles == 1);
        }
    }
}

#[test]
fn annealing_and_the_harmonic_mean_are_unbiased_over_all_paths() {
    let mut model = Scripted::new(2);
    let (ais, reverse) = (Ais { distributions: 4, chains: 1 }, ReverseAis { distributions: 4, chains: 1 });
    model.are_mirror_images(&ais, &reverse, true);
    for draws in [1, 3] {
        let expectation = model.reverse(&HarmonicMean { draws }, f64::recip);
        assert!((expectation - 1.0).abs() < 1e-12, "{draws}: {expectation}");
    }
}
