//! `crust reproduce`: the papers' experiments.

mod real;
mod table1;
mod toy;

use crate::Outcome;
use crate::arguments::{Common, Experiment, Reproduce};
use toy::Toy;

pub fn run(arguments: &Reproduce, common: &Common) -> Result<Outcome, String> {
    match arguments.experiment {
        Experiment::Barrier => toy::run(Toy::Barrier, arguments, common),
        Experiment::EasyRandom => toy::run(Toy::EasyRandom, arguments, common),
        Experiment::HardRandom => toy::run(Toy::HardRandom, arguments, common),
        Experiment::Table1 => table1::run(arguments, common),
        Experiment::BreadReal | Experiment::Representations => real::run(arguments, common),
    }
}
