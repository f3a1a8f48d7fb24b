//! Runs chains: starting points, warm-up, draws, and a look at each draw as soon as it is there.

use std::ops::ControlFlow;

use crust_math::random::StreamKey;

use crate::chain::Chain;
pub use crate::chain::Sampled;
use crate::drive::{Control, Driver};
use crate::error::Error;
use crate::kernel::{Kernel, State, Statistics};
use crate::method::with_stepper;
use crate::path::Path;
use crate::warmup::{Warmup, check_kernel};

/// What all chains of a run share.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Seed, purpose and dataset of all random numbers. Chain and step are filled in, so that draws depend on nothing
    /// else.
    pub key: StreamKey,
    /// Iterations of warm-up. With a frozen kernel these are burn-in.
    pub warmup: usize,
    pub draws: usize,
    pub kernel: KernelSource,
    /// Random starting points are uniform between −`radius` and `radius`; 2 in Stan.
    pub radius: f64,
    /// Of so many random starting points a chain takes the one with the largest density; 1 in Stan. Where a density falls
    /// with the exponential of an exponential, one start in twenty is so far down that a chain is not back after warm-up.
    pub candidates: u32,
}

/// The candidates of fits that nobody looks at while they run: chains still begin far from each other.
pub const SEVERAL: u32 = 8;

impl Settings {
    /// Stan's defaults.
    pub fn new(key: StreamKey) -> Self {
        Self {
            key,
            warmup: 1000,
            draws: 1000,
            kernel: KernelSource::Warmup(Warmup::default()),
            radius: 2.0,
            candidates: 1,
        }
    }
}

/// Where the kernel comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelSource {
    /// Adapted during warm-up, then frozen.
    Warmup(Warmup),
    /// Frozen from the start.
    Frozen(Kernel),
}

/// What each chain has for itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The number of the chain in the keys of random streams.
    pub chain: u32,
    /// The chain's target is `f_β`.
    pub beta: f64,
    /// Coordinates that are not random. Missing ones are `None`; none at all is an empty vector.
    pub given: Vec<Option<f64>>,
}

impl Start {
    /// Random starting point, β = 1.
    pub fn random(chain: u32) -> Self {
        Self { chain, beta: 1.0, given: vec![] }
    }

    /// A given starting point, β = 1.
    pub fn at(chain: u32, q: &[f64]) -> Self {
        Self { given: q.iter().copied().map(Some).collect(), ..Self::random(chain) }
    }

    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        Self { beta, ..self }
    }
}

/// One draw of one chain.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    pub chain: u32,
    /// From 0, warm-up included.
    pub iteration: usize,
    pub warmup: bool,
    pub beta: f64,
    pub state: &'a State,
    pub statistics: Statistics,
}

impl Draw<'_> {
    /// log `f_β`: Stan's `lp__`.
    pub fn log_density(&self) -> f64 {
        self.state.log_density()
    }
}

/// Sees draws as they come: those of one chain in order, those of different chains in any order and from several
/// threads. `Break` ends the run as [`Control::interrupt`] does.
pub trait Observer: Sync {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()>;

    /// A chain has its kernel and begins with the draws that count.
    fn warmed_up(&self, _chain: u32, _kernel: &Kernel) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs one chain for each start. After an interruption the outcomes say how far each chain got.
pub fn sample<P: Path + Clone + Send>(
    driver: &mut Driver<P>,
    settings: &Settings,
    starts: &[Start],
    observer: &dyn Observer,
    control: &Control,
) -> Result<Vec<Sampled>, Error> {
    let dimension = driver.dimension();
    check(settings, starts, dimension)?;
    let method = match &settings.kernel {
        KernelSource::Warmup(warmup) => warmup.method,
        KernelSource::Frozen(kernel) => kernel.method,
    };
    with_stepper!(method, dimension, stepper => {
        let chain = |start| Chain::new(dimension, stepper.clone(), start, settings, observer, control);
        let mut chains: Vec<Chain<'_, _>> = starts.iter().map(chain).collect();
        driver.drive(&mut chains, control)?;
        Ok(chains.into_iter().map(Chain::into_outcome).collect())
    })
}

fn check(settings: &Settings, starts: &[Start], dimension: usize) -> Result<(), Error> {
    let setting = |name, value: String, must_be| Err(Error::Setting { name, value, must_be });
    if dimension == 0 {
        return setting("the number of parameters", "0".into(), "at least 1 to sample");
    }
    match &settings.kernel {
        KernelSource::Warmup(warmup) => warmup.check()?,
        KernelSource::Frozen(kernel) => check_kernel(kernel, dimension)?,
    }
    if !(settings.radius >= 0.0 && settings.radius.is_finite()) {
        return setting("the radius of initial values", settings.radius.to_string(), "finite and not negative");
    }
    for start in starts {
        if !start.beta.is_finite() {
            return setting("beta", start.beta.to_string(), "finite");
        }
        if !(start.given.is_empty() || start.given.len() == dimension) {
            let value = start.given.len().to_string();
            return setting("the number of initial values", value, "the number of unconstrained parameters");
        }
    }
    Ok(())
}
