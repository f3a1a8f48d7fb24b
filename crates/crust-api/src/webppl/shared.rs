//! `crust compare` for WebPPL programs: the same simulated data and the same exact draw for all of them.

use std::collections::BTreeSet;

use crust_diagnose::compare::{self, Plan, Way};
use crust_diagnose::result::{Compare, Entry};
use crust_webppl::simulator::Numbers;

use super::experiment::{Origin, Settings, WebPplExperiment};
use super::problem::{Trouble, WebPplProblem};
use super::protocols::{check, open, run};
use crate::annealing::{Annealed, MethodOptions};
use crate::compare::{CompareOptions, told_by};
use crate::error::{CompareError, Error};
use crate::session::Session;

/// Anneals the same simulated data in every way. The programs are representations of one model: variables that are the
/// same are named alike, and the numbers that are observed come in the same order.
pub fn compare_webppl(
    problems: &[WebPplProblem],
    options: &CompareOptions,
    session: &Session<'_>,
) -> Result<Annealed<Compare>, Error> {
    let annealing = &options.annealing;
    for problem in problems {
        check(problem, annealing, &options.kernels, session)?;
    }
    let methods = options.methods();
    let (Some(first), Some(&method)) = (problems.first(), methods.first()) else {
        return Err(CompareError::OneWay.into());
    };
    if problems.len() * methods.len() < 2 {
        return Err(CompareError::OneWay.into());
    }
    let plan = Plan { chains: annealing.chains, steps: annealing.ladder().steps, tolerance: annealing.tolerance };
    let told = format!("compare {plan:?} {methods:?} {}", annealing.identity(session.seed));
    let mut journal = open(&told, &problems.iter().collect::<Vec<_>>(), annealing.folder.as_deref())?;
    let settings = Settings::new(method, session);
    let (origin, names) = draw(problems, &settings)?;
    let mut ways = Vec::new();
    for problem in problems {
        for &method in &methods {
            ways.push(way(problem, method, options, problems.len() > 1, (&origin, session))?);
        }
    }
    let found = compare::compare(&mut ways, &plan, &mut journal)?;
    let largest = ways.iter().max_by_key(|way| way.entry.dimension).filter(|_| annealing.folder.is_some());
    let simulated = largest.map(|way| way.experiment.simulated(1)).into_iter().collect::<Result<_, Trouble>>()?;
    let mut run = run(first, annealing, session, found.entries.first().map_or(0, |entry| entry.dimension));
    run.model = problems.iter().map(WebPplProblem::file_name).collect::<Vec<String>>().join(", ");
    method.tell(&mut run);
    Ok(told_by(found, annealing, (run, names, simulated)))
}

/// A program with a kernel and a schedule.
fn way<'a>(
    problem: &'a WebPplProblem,
    method: MethodOptions,
    options: &CompareOptions,
    several: bool,
    (origin, session): (&Origin, &Session<'a>),
) -> Result<Way<WebPplExperiment<'a>>, Error> {
    let settings = Settings::new(method, session);
    let experiment = WebPplExperiment::new(problem, settings, origin.clone());
    let dimension = experiment.draw(1)?.0.numbers().len();
    let entry = Entry {
        name: options.way_name(several.then(|| problem.stem()), method),
        kernel: method.kernel.name().to_owned(),
        schedule: method.schedule.name().to_owned(),
        dimension,
        exact_start: true,
        ..Entry::default()
    };
    Ok(Way { entry, experiment })
}

/// Draws with the program whose variables include those of all others: what it draws is then an exact draw from the
/// posterior of each, if all state the same model. Also the variables that all have.
fn draw(problems: &[WebPplProblem], settings: &Settings<'_>) -> Result<(Origin, Vec<String>), Error> {
    let mut all: Vec<(Numbers, Origin)> = Vec::new();
    for problem in problems {
        let (snapshot, observed) = WebPplExperiment::new(problem, settings.clone(), Origin::Own).draw(1)?;
        let parameters = snapshot.by_name();
        all.push((parameters.clone(), Origin::Given { observed, parameters }));
    }
    let names: Vec<BTreeSet<&String>> = all.iter().map(|(numbers, _)| numbers.keys().collect()).collect();
    let includes_all = |own: &BTreeSet<&String>| names.iter().all(|other| other.is_subset(own));
    let source = names.iter().position(includes_all).ok_or(CompareError::NoSource)?;
    let common = names.iter().skip(1).fold(names[0].clone(), |all, other| &all & other);
    Ok((all[source].1.clone(), common.into_iter().cloned().collect()))
}
