//! One simulated dataset: draws of a method, and where the parameters behind the data lie among them.

use super::SbcMethod;
use super::origin::Origin;
use crate::approximate::{Wanted, fit};
use crate::error::Faults;
use crate::generative::Generative;
use crate::session::Session;
use crust_diagnose::convergence::{ess_bulk, rhat};
use crust_diagnose::number::count;
use crust_diagnose::result::SbcFit;
use crust_engine::{EngineError, SimulateError, Simulator};
use crust_infer::approximate::Error as ApproximateError;
use crust_infer::approximate::evaluate::Evaluations;
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::error::Error as InferError;
use crust_infer::kernel::Densities;
use crust_infer::path::Path;
use crust_infer::sample::{Draw, Observer, Settings, Start, sample};
use crust_math::random::{Purpose, StreamKey};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// Chains of the sampler, their warm-up and draws. Ranks need a hundred draws that are nearly independent.
pub const CHAINS: u32 = 4;
const WARMUP: usize = 500;
const DRAWS: usize = 250;
/// Draws among which the exact one is placed: as many as the effective sample size allows.
const FEWEST: f64 = 9.0;
const MOST: f64 = 99.0;
/// Chains that are further apart have not met.
const MOST_R_HAT: f64 = 1.1;
const MOST_DIVERGENT: f64 = 0.01;
/// The radius of random starting points.
const RADIUS: f64 = 2.0;

/// Numbers that spread ranks over their cells.
const PURPOSE: Purpose = Purpose(Purpose::FIRST_FREE.0 + 0x5bd);

/// What came of a dataset.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Of all quantities.
    pub names: Arc<[String]>,
    /// (rank + U)/(L + 1) of each; none if nothing could be sampled.
    pub places: Vec<f64>,
    /// The chains did not meet.
    pub apart: bool,
    pub divergent: bool,
}

/// Why the whole run ends.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Infer(#[from] InferError),
}

/// Simulates a dataset and judges the method on it.
pub fn run<'a>(
    (loaded, origin): (&'a Generative<'a>, &Origin<'a>),
    simulator: &mut Simulator,
    method: SbcMethod,
    number: usize,
    (session, faults): (&Session<'_>, &Faults),
) -> Result<Trial, Trouble> {
    let dataset = u32::try_from(number).unwrap_or(u32::MAX);
    let key = StreamKey::new(session.seed, Purpose::PRIOR).dataset(dataset);
    let exact = origin.parameters(simulator, number, key)?;
    let data = simulator.draw_data(&exact, key.purpose(Purpose::DATA))?;
    let model = Arc::new(loaded.bind(&data, session.seed)?);
    let target = origin.posterior(loaded, &model, faults);
    let how = Parallelism { threads: NonZero::<usize>::MIN, width: session.lanes };
    let control = session.stop.control();
    let mut driver = Driver::new(target.clone(), how);
    let at = driver.evaluate_points(std::slice::from_ref(&exact), 1.0, false, control)?;
    let own = at.first().map_or([f64::NAN; 2], |at| densities(at.densities));
    let drawn = match method {
        SbcMethod::Nuts => match nuts(&mut driver, key, (WARMUP, DRAWS), control) {
            Ok(drawn) => Some(drawn),
            Err(error @ (InferError::Fatal(_) | InferError::Interrupted)) => return Err(error.into()),
            // Where chains cannot start.
            Err(_) => None,
        },
        SbcMethod::Approximation(choice) => {
            let mut evaluations = Evaluations::new(&target, how, control);
            let seed = session.seed ^ (u64::from(dataset) << 32);
            match fit(&mut evaluations, Wanted { method: choice, radius: RADIUS, seed }) {
                Ok(fitted) => {
                    let key = key.purpose(PURPOSE);
                    let points: Vec<Vec<f64>> =
                        (0..99).map(|k| fitted.approximation.draw(&mut key.chain(k).step(1).stream())).collect();
                    let looked = driver.evaluate_points(&points, 1.0, false, control)?;
                    let densities = looked.iter().map(|at| densities(at.densities)).collect();
                    Some(Drawn { chains: vec![Chain { points, densities }], divergences: 0, independent: true })
                }
                Err(ApproximateError::Fatal(fatal)) => return Err(InferError::from(fatal).into()),
                Err(_) => None,
            }
        }
    };
    let mut names = model.unconstrained_names();
    names.extend(DENSITIES.map(str::to_owned));
    let Some(drawn) = drawn else {
        return Ok(Trial { names: names.into(), places: vec![], apart: false, divergent: false });
    };
    let exact: Vec<f64> = exact.into_iter().chain(own).collect();
    Ok(drawn.judge(&exact, names.into(), key))
}

/// Quantities that all parameters have a part in. A needle beside a hill, which no parameter by itself may show, has
/// another log density.
const DENSITIES: [&str; 2] = ["log likelihood", "log density"];

fn densities(at: Densities) -> [f64; 2] {
    [at.log_likelihood, at.log_density()]
}

/// The draws of a chain with their densities.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    points: Vec<Vec<f64>>,
    densities: Vec<[f64; 2]>,
}

pub struct Drawn {
    chains: Vec<Chain>,
    divergences: usize,
    independent: bool,
}

/// Chains of NUTS, of some iterations of warm-up and draws.
pub fn nuts<P: Path + Clone + Send>(
    driver: &mut Driver<P>,
    key: StreamKey,
    (warmup, draws): (usize, usize),
    control: &Control,
) -> Result<Drawn, InferError> {
    let settings = Settings { warmup, draws, ..Settings::new(key.purpose(Purpose::NUTS)) };
    let starts: Vec<Start> = (0..CHAINS).map(Start::random).collect();
    let recorder = Recorder((0..CHAINS).map(|_| Mutex::default()).collect());
    let outcomes = sample(driver, &settings, &starts, &recorder, control)?;
    let divergences = outcomes.iter().map(|outcome| outcome.divergences).sum();
    let chains: Vec<Chain> =
        recorder.0.into_iter().map(|chain| chain.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let whole = chains.iter().all(|chain| chain.points.len() == draws);
    if whole { Ok(Drawn { chains, divergences, independent: false }) } else { Err(InferError::Interrupted) }
}

struct Recorder(Vec<Mutex<Chain>>);

impl Observer for Recorder {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        if let (false, Some(chain)) = (draw.warmup, self.0.get(draw.chain as usize)) {
            let mut chain = chain.lock().unwrap_or_else(PoisonError::into_inner);
            chain.points.push(draw.state.q.clone());
            chain.densities.push(densities(draw.state.densities));
        }
        ControlFlow::Continue(())
    }
}

impl Drawn {
    /// Chain after chain.
    pub fn points(&self) -> Vec<&Vec<f64>> {
        self.chains.iter().flat_map(|chain| &chain.points).collect()
    }

    /// The worst R-hat and effective sample size of all parameters.
    pub fn fit(&self, names: &[String]) -> SbcFit {
        let mut worst = SbcFit { r_hat: 1.0, ess: f64::INFINITY, ..SbcFit::default() };
        for (j, name) in names.iter().enumerate() {
            let chains: Vec<Vec<f64>> =
                self.chains.iter().map(|chain| chain.points.iter().map(|point| point[j]).collect()).collect();
            let (r_hat, ess) = (rhat(&chains), ess_bulk(&chains));
            if r_hat.is_nan() || r_hat > worst.r_hat {
                (worst.r_hat, worst.name) = (r_hat, name.clone());
            }
            worst.ess = worst.ess.min(ess);
        }
        worst
    }

    fn judge(&self, exact: &[f64], names: Arc<[String]>, key: StreamKey) -> Trial {
        let first = exact.len() - DENSITIES.len();
        let column = |j: usize| -> Vec<Vec<f64>> {
            let of = |chain: &Chain| match j.checked_sub(first) {
                Some(k) => chain.densities.iter().map(|all| all[k]).collect(),
                None => chain.points.iter().map(|point| point[j]).collect(),
            };
            self.chains.iter().map(of).collect()
        };
        let (mut places, mut apart) = (Vec::with_capacity(exact.len()), false);
        for (j, &truth) in exact.iter().enumerate() {
            let chains = column(j);
            let (ess, r_hat) = if self.independent { (MOST, 1.0) } else { (ess_bulk(&chains), rhat(&chains)) };
            // Of the log likelihood only the place is judged: it may be the same everywhere.
            apart |= j < first && (r_hat.is_nan() || r_hat > MOST_R_HAT);
            let u = key.purpose(PURPOSE).chain(u32::try_from(j).unwrap_or(u32::MAX)).stream().uniform();
            places.push(place(truth, &thin(&chains.concat(), ess), u));
        }
        let draws = count(self.chains.iter().map(|chain| chain.points.len()).sum());
        Trial { names, places, apart, divergent: count(self.divergences) > MOST_DIVERGENT * draws }
    }
}

/// So many draws as are nearly independent, evenly spread.
fn thin(draws: &[f64], ess: f64) -> Vec<f64> {
    let wanted = if ess.is_nan() { FEWEST } else { ess.floor().clamp(FEWEST, MOST) }.min(count(draws.len()));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 99")]
    let wanted = wanted as usize;
    (0..wanted).map(|i| draws[(2 * i + 1) * draws.len() / (2 * wanted)]).collect()
}

/// (rank + U)/(L + 1); among draws that are equal the rank is random.
fn place(truth: f64, draws: &[f64], u: f64) -> f64 {
    let below = count(draws.iter().filter(|x| **x < truth).count());
    let equal = count(draws.iter().filter(|x| x.total_cmp(&truth).is_eq()).count());
    (below + u * (equal + 1.0)) / (count(draws.len()) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_spread_over_their_cells() {
        let draws = [1.0, 2.0, 3.0];
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        near(place(0.0, &draws, 0.5), 0.125);
        near(place(2.5, &draws, 0.0), 0.5);
        near(place(2.0, &draws, 0.5), 0.5);
        near(place(9.0, &draws, 1.0), 1.0);
    }

    #[test]
    fn thinned_draws_are_evenly_spread() {
        let draws: Vec<f64> = (0..1000).map(f64::from).collect();
        let thinned = thin(&draws, 20.9);
        assert_eq!(thinned.len(), 20);
        assert!(thinned.windows(2).all(|pair| (pair[1] - pair[0] - 50.0).abs() < 1e-9));
        assert_eq!(thin(&draws, f64::NAN).len(), 9);
        assert_eq!(thin(&draws, 1e9).len(), 99);
    }
}
