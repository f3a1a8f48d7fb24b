//! Markov kernels on traces.

use super::hmc::Hmc;
use super::mh::Mh;
use super::options::Options;
use super::trace::Trace;
use super::{Model, fast, options};
use crate::error::{Run, fail};
use crate::value::Value;
use crate::world::World;

/// What a step of a kernel may do.
#[derive(Clone, Copy)]
pub struct Scope {
    /// Choices before this one stay.
    pub boundary: usize,
    /// The execution stops at this factor; 0 is never.
    pub exit: usize,
    /// The power of factors.
    pub beta: f64,
    /// Whether factors may be −∞.
    pub hard: bool,
}

impl Default for Scope {
    fn default() -> Self {
        Self { boundary: 0, exit: 0, beta: 1.0, hard: true }
    }
}

pub enum Kernel {
    Mh(Mh),
    HmcOnly(Hmc),
    /// HMC for continuous choices, then MH for a discrete one.
    Hmc(Hmc, Mh),
}

impl Kernel {
    pub fn parse(world: &mut World, value: &Value) -> Run<Self> {
        let (name, mut inner) = options::named(value, "MH")?;
        let kernel = match &*name {
            "MH" => {
                let discrete_only = inner.flag("discreteOnly", false);
                inner.flag("permissive", false);
                inner.flag("adRequired", false);
                Self::Mh(Mh { discrete_only, ..Mh::default() })
            }
            "HMC" => Self::Hmc(hmc(&mut inner)?, Mh { discrete_only: true, ..Mh::default() }),
            "HMConly" => Self::HmcOnly(hmc(&mut inner)?),
            _ => {
                return fail(format!(
                    "{name} is not a valid kernel. The following kernels are available: MH, HMC, HMConly"
                ));
            }
        };
        inner.finish(world, "the kernel");
        Ok(kernel)
    }

    pub fn step(&self, world: &mut World, model: &Model, trace: &mut Trace, scope: &Scope) -> Run<()> {
        // a step that runs nothing counts, too: chains of programs without choices must come to their limit
        world.tick()?;
        match self {
            Self::Mh(mh) => fast::step(mh, world, model, trace, scope),
            Self::HmcOnly(hmc) => hmc.step(world, model, trace, scope),
            Self::Hmc(hmc, mh) => {
                hmc.step(world, model, trace, scope)?;
                fast::step(mh, world, model, trace, scope)
            }
        }
    }
}

fn hmc(options: &mut Options) -> Run<Hmc> {
    let steps = options.count("steps", 5)?;
    let size = options.number("stepSize", 0.1)?;
    if steps == 0 {
        return fail("HMC: steps should be positive");
    }
    Ok(Hmc { steps, size })
}
