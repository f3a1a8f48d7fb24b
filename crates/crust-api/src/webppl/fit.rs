//! The fit of a WebPPL program to its real data: Markov chains at the posterior, and the means of the hyperparameters.

use crust_diagnose::bread::{Fitted, Size};
use crust_diagnose::convergence::{ess_bulk, ess_tail, mean, rhat};
use crust_diagnose::experiment::{Experiment, REAL};
use crust_diagnose::result::{Fit, Hyperparameter};
use crust_infer::anneal::{Direction, Launch, equilibrate_one};
use crust_math::random::Purpose;
use crust_webppl::simulator::{Numbers, Plain};

use super::crew::{Observed, Walker};
use super::experiment::WebPplExperiment;
use super::pilot::Tuned;
use super::problem::Trouble;
use std::time::Instant;

const CHAINS: u32 = 4;
const WARMUP: usize = 1000;
const DRAWS: usize = 500;
/// Steps between two draws.
const APART: usize = 4;
/// How often all that is doubled while chains do not agree.
const DOUBLINGS: u32 = 4;
const MOST_R_HAT: f64 = 1.01;
const LEAST_ESS: f64 = 400.0;

/// A draw: the hyperparameters, and the log density.
type Draw = (Numbers, f64);

impl WebPplExperiment<'_> {
    /// Chains that are so many times longer than the shortest ones.
    fn fit_chains(&self, tuned: &Tuned, longer: usize) -> Result<Vec<Vec<Draw>>, Trouble> {
        let (key, settings) = (self.key(Purpose::FIT, REAL), &self.settings);
        let prior = self.key(Purpose::INITIAL, REAL);
        let chains: Vec<u32> = (1..=CHAINS).collect();
        self.crew_of(REAL)?.work(&chains, 1, |simulator, _, k| {
            let mut state = simulator.prior(&mut prior.chain(k).stream())?;
            for attempt in 1..1000 {
                if state.log_likelihood().is_finite() {
                    break;
                }
                state = simulator.prior(&mut prior.chain(k).step(attempt).stream())?;
            }
            let mut walker = Walker::new(simulator, tuned);
            let mut draws = Vec::with_capacity(DRAWS);
            for draw in 0..=DRAWS {
                let key = key.dataset(u32::try_from(draw).unwrap_or(u32::MAX));
                let (direction, control) = (Direction::Forward, &*settings.control);
                let run = Launch { direction, first_chain: k, key, how: settings.how, control };
                let steps = longer * if draw == 0 { WARMUP } else { APART };
                equilibrate_one(&mut walker, &mut state, steps, k, &run).map_err(|error| walker.trouble(error))?;
                if draw > 0 {
                    let mut numbers = state.snapshot()?.by_name();
                    numbers.retain(|name, _| self.hyperparameters.contains(name));
                    draws.push((numbers, state.log_prior() + state.log_likelihood()));
                }
            }
            Ok(draws)
        })
    }

    /// What observations are, as numbers.
    fn size(observed: &Observed) -> f64 {
        let numbers = observed.iter().flat_map(|values| values.iter()).flat_map(Plain::numbers);
        numbers.map(|x| x * x).sum()
    }
}

/// R-hat and effective sample sizes of a quantity, taken into the fit.
fn judge(fit: &mut Fit, name: &str, chains: &[Vec<f64>]) {
    let (r_hat, ess) = (rhat(chains), ess_bulk(chains).min(ess_tail(chains)));
    if fit.worst_r_hat.is_nan() || r_hat.is_nan() || r_hat > fit.worst_r_hat {
        (fit.worst_r_hat, fit.worst_r_hat_name) = (r_hat, name.to_owned());
    }
    if fit.least_ess.is_nan() || ess.is_nan() || ess < fit.least_ess {
        (fit.least_ess, fit.least_ess_name) = (ess, name.to_owned());
    }
}

/// What chains say about the fit, and the means of the hyperparameters.
fn summary(chains: &[Vec<Draw>]) -> (Fit, Numbers) {
    let mut fit = Fit {
        chains: chains.len(),
        draws: DRAWS,
        worst_r_hat: f64::NAN,
        least_ess: f64::NAN,
        least_e_bfmi: f64::NAN,
        ..Fit::default()
    };
    let logs: Vec<Vec<f64>> = chains.iter().map(|chain| chain.iter().map(|draw| draw.1).collect()).collect();
    judge(&mut fit, "log density", &logs);
    let mut means = Numbers::new();
    let first = chains.first().and_then(|chain| chain.first()).map(|draw| draw.0.clone()).unwrap_or_default();
    for (name, numbers) in &first {
        let count = numbers.len();
        for i in 0..count {
            let of = |draw: &Draw| draw.0.get(name).and_then(|numbers| numbers.get(i)).copied();
            let columns: Vec<Vec<f64>> = chains.iter().map(|chain| chain.iter().filter_map(of).collect()).collect();
            let indexed = if count == 1 { name.clone() } else { format!("{name}[{}]", i + 1) };
            let value = mean(&columns.concat());
            judge(&mut fit, &indexed, &columns);
            means.entry(name.clone()).or_default().push(value);
            fit.hyperparameters.push(Hyperparameter { name: indexed, value });
        }
    }
    if fit.worst_r_hat.is_nan() || fit.worst_r_hat > MOST_R_HAT {
        let (name, value) = (&fit.worst_r_hat_name, fit.worst_r_hat);
        fit.warnings.push(format!("R-hat of {name} is {value:.3}, above {MOST_R_HAT}"));
    }
    if fit.least_ess.is_nan() || fit.least_ess < LEAST_ESS {
        let (name, value) = (&fit.least_ess_name, fit.least_ess);
        fit.warnings.push(format!("the effective sample size of {name} is {value:.0}, below {LEAST_ESS}"));
    }
    (fit, means)
}

impl Fitted for WebPplExperiment<'_> {
    type Hyperparameters = Numbers;

    /// Chains become longer until they agree, as long as there is time: those of single-site steps take theirs where
    /// choices are correlated.
    fn fit(&mut self) -> Result<(Fit, Numbers), Trouble> {
        let tuned = self.tune(REAL)?;
        let mut doubling = 0;
        loop {
            let began = Instant::now();
            let found = summary(&self.fit_chains(&tuned, 1 << doubling)?);
            let late = self.settings.fit_until.is_some_and(|end| Instant::now() + 2 * began.elapsed() > end);
            if found.0.warnings.is_empty() || late || doubling == DOUBLINGS {
                return Ok(found);
            }
            doubling += 1;
        }
    }

    fn fix(&mut self, hyperparameters: &Numbers) {
        self.fixed.clone_from(hyperparameters);
    }

    fn sizes(&mut self, dataset: u32) -> Result<Vec<Size>, Trouble> {
        let key = self.key(Purpose::TEST, REAL);
        let real = Self::once(self.crew(&None), |simulator| Ok(simulator.own_data(&mut key.stream())?))?;
        let (_, simulated) = self.draw(dataset)?;
        let ratio = (Self::size(&simulated) / Self::size(&Some(real.into()))).sqrt();
        Ok(if ratio.is_finite() { vec![Size { name: "observations".to_owned(), ratio }] } else { vec![] })
    }

    fn not_fitted(&self) -> Vec<String> {
        vec![]
    }
}
