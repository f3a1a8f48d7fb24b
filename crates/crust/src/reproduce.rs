//! `crust reproduce`: the papers' experiments.

mod toy;

use crate::Outcome;
use crate::arguments::{Common, Experiment, Reproduce};

pub fn run(arguments: &Reproduce, common: &Common) -> Result<Outcome, String> {
    match arguments.experiment {
        Experiment::Barrier | Experiment::EasyRandom | Experiment::HardRandom => toy::run(arguments, common),
    }
}
