//! `crust compare` for programs of both languages: a Stan program simulates, and WebPPL programs find its data in global
//! variables and its parameters in variables of the same names.

use crust_diagnose::compare::{self, Plan, Way};
use crust_diagnose::experiment::{Densities, Experiment, Group, Moves, Work};
use crust_diagnose::result::{Compare, Entry, KernelAt};
use crust_infer::anneal::TunedKernels;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Snapshot;
use super::experiment::{Origin, Settings, WebPplExperiment};
use super::pilot::Tuned;
use super::problem::WebPplProblem;
use super::protocols::check;
use crate::annealing::{Annealed, identity, journal};
use crate::compare::{CompareOptions, Shared, told_by, ways};
use crate::error::{CompareError, Error, Trouble as StanTrouble};
use crate::experiment::StanExperiment;
use crate::generative::{Generative, Outcomes};
use crate::problem::{Problem, Source};
use crate::session::Session;

/// An experiment in one of the languages.
enum Either<'a> {
    Stan(Box<StanExperiment<'a>>),
    WebPpl(Box<WebPplExperiment<'a>>),
}

#[derive(Clone, Serialize, Deserialize)]
enum Kernels {
    Stan(TunedKernels),
    WebPpl(Tuned),
}

#[derive(Clone, Serialize, Deserialize)]
enum State {
    Stan(Vec<f64>),
    WebPpl(Snapshot),
}

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Stan(#[from] StanTrouble),
    #[error(transparent)]
    WebPpl(#[from] super::problem::Trouble),
    #[error("kernels or states of the other language")]
    Mixed,
}

/// States of a kind.
fn points(states: &[State]) -> Vec<Vec<f64>> {
    states.iter().filter_map(|s| if let State::Stan(p) = s { Some(p.clone()) } else { None }).collect()
}

fn snapshots(states: &[State]) -> Vec<Snapshot> {
    states.iter().filter_map(|s| if let State::WebPpl(p) = s { Some(p.clone()) } else { None }).collect()
}

impl Experiment for Either<'_> {
    type Error = Trouble;
    type Kernels = Kernels;
    type State = State;

    fn interrupted(&self) -> bool {
        match self {
            Self::Stan(own) => own.interrupted(),
            Self::WebPpl(own) => own.interrupted(),
        }
    }

    fn simulate(&mut self, dataset: u32) -> Result<State, Trouble> {
        Ok(match self {
            Self::Stan(own) => State::Stan(own.simulate(dataset)?),
            Self::WebPpl(own) => State::WebPpl(own.simulate(dataset)?),
        })
    }

    fn tune(&mut self, dataset: u32) -> Result<Kernels, Trouble> {
        Ok(match self {
            Self::Stan(own) => Kernels::Stan(own.tune(dataset)?),
            Self::WebPpl(own) => Kernels::WebPpl(own.tune(dataset)?),
        })
    }

    fn table(&self, kernels: &Kernels) -> Vec<KernelAt> {
        match (self, kernels) {
            (Self::Stan(own), Kernels::Stan(kernels)) => own.table(kernels),
            (Self::WebPpl(own), Kernels::WebPpl(kernels)) => own.table(kernels),
            _ => vec![],
        }
    }

    fn forward(&mut self, kernels: &Kernels, group: Group) -> Result<Vec<Work>, Trouble> {
        match (self, kernels) {
            (Self::Stan(own), Kernels::Stan(kernels)) => Ok(own.forward(kernels, group)?),
            (Self::WebPpl(own), Kernels::WebPpl(kernels)) => Ok(own.forward(kernels, group)?),
            _ => Err(Trouble::Mixed),
        }
    }

    fn reverse(&mut self, kernels: &Kernels, group: Group, starts: &[State]) -> Result<Vec<Work>, Trouble> {
        match (self, kernels) {
            (Self::Stan(own), Kernels::Stan(kernels)) => Ok(own.reverse(kernels, group, &points(starts))?),
            (Self::WebPpl(own), Kernels::WebPpl(kernels)) => Ok(own.reverse(kernels, group, &snapshots(starts))?),
            _ => Err(Trouble::Mixed),
        }
    }

    fn equilibrate(
        &mut self,
        kernels: &Kernels,
        dataset: u32,
        starts: &[State],
        steps: usize,
        moves: Moves,
    ) -> Result<Vec<State>, Trouble> {
        match (self, kernels) {
            (Self::Stan(own), Kernels::Stan(kernels)) => {
                let states = own.equilibrate(kernels, dataset, &points(starts), steps, moves)?;
                Ok(states.into_iter().map(State::Stan).collect())
            }
            (Self::WebPpl(own), Kernels::WebPpl(kernels)) => {
                let states = own.equilibrate(kernels, dataset, &snapshots(starts), steps, moves)?;
                Ok(states.into_iter().map(State::WebPpl).collect())
            }
            _ => Err(Trouble::Mixed),
        }
    }

    fn densities(&mut self, dataset: u32, states: &[State]) -> Result<Vec<Densities>, Trouble> {
        match self {
            Self::Stan(own) => Ok(own.densities(dataset, &points(states))?),
            Self::WebPpl(own) => Ok(own.densities(dataset, &snapshots(states))?),
        }
    }

    fn announce(&mut self, what: &str, transitions: usize) {
        match self {
            Self::Stan(own) => own.announce(what, transitions),
            Self::WebPpl(own) => own.announce(what, transitions),
        }
    }
}

/// Compares Stan programs with WebPPL programs on data that a Stan program simulates. It must have all parameters.
pub fn compare_both(
    stan: &[Problem],
    (webppl, model): (&[Source], Option<&str>),
    options: &CompareOptions,
    session: &Session<'_>,
) -> Result<Annealed<Compare>, Error> {
    let annealing = &options.annealing;
    annealing.check()?;
    let mut programs = Vec::new();
    for problem in stan {
        programs.push(Generative::read(problem, &annealing.generation, Outcomes::Simulated, session)?);
    }
    let methods = options.methods();
    let (Some(first), Some(&method)) = (programs.first(), methods.first()) else {
        return Err(CompareError::OneWay.into());
    };
    let plan = Plan { chains: annealing.chains, steps: annealing.ladder().steps, tolerance: annealing.tolerance };
    let told = format!("compare {plan:?} {methods:?} {}", annealing.identity(session.seed));
    let texts = webppl.iter().map(|source| source.read("read the program")).collect::<Result<Vec<String>, Error>>()?;
    let model_name = model.unwrap_or_default();
    let mut inputs = Vec::new();
    programs.iter().for_each(|loaded| inputs.extend(identity(&told, loaded)));
    inputs.extend(texts.iter().map(String::as_str).chain([model_name]));
    let mut journal = journal(annealing.folder.as_deref(), &inputs)?;
    let settings = annealing.settings(method, session);
    let faults = settings.faults.clone();
    let mut shared = Shared::draw(&programs, session.seed)?;
    // WebPPL programs see the whole file, with the simulated outcomes in it
    let mut data = serde_json::from_str(first.problem.json()).unwrap_or(Value::Null);
    match &mut data {
        Value::Object(members) => members.extend(shared.data.clone()),
        other => *other = Value::Object(shared.data.clone()),
    }
    let data = Source::text("the simulated data", data.to_string());
    let read = |source: &Source| WebPplProblem::read(source.clone(), Some(data.clone()), model);
    let bound = webppl.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    let mut all: Vec<Way<Either<'_>>> = ways(options, &programs, &methods, &settings, &shared)?
        .into_iter()
        .map(|way| Way { entry: way.entry, experiment: Either::Stan(Box::new(way.experiment)) })
        .collect();
    for entry in all.iter_mut().map(|way| &mut way.entry).filter(|entry| entry.name.is_empty()) {
        entry.name = first.program().stem();
    }
    for problem in &bound {
        check(problem, annealing, &options.kernels, session)?;
        for &method in &methods {
            let origin = Origin::Given { observed: None, parameters: shared.parameters.clone() };
            let experiment = WebPplExperiment::new(problem, Settings::new(method, session), origin);
            let snapshot = experiment.draw(1)?.0;
            shared.names.retain(|name| snapshot.choices.iter().any(|choice| choice.name == *name));
            let entry = Entry {
                name: format!("{} (WebPPL)", options.way_name(Some(problem.stem()), method)),
                kernel: method.kernel.name().to_owned(),
                schedule: method.schedule.name().to_owned(),
                dimension: snapshot.numbers().len(),
                exact_start: true,
                ..Entry::default()
            };
            all.push(Way { entry, experiment: Either::WebPpl(Box::new(experiment)) });
        }
    }
    let found = compare::compare(&mut all, &plan, &mut journal).map_err(|halt| match halt {
        crust_diagnose::checkpoint::Halt::Interrupted => Error::Interrupted,
        crust_diagnose::checkpoint::Halt::Journal(error) => Error::Journal(error),
        crust_diagnose::checkpoint::Halt::NoRealData => Error::NoRealData,
        crust_diagnose::checkpoint::Halt::Work(Trouble::Stan(trouble)) => first.context(&faults).trouble(trouble),
        crust_diagnose::checkpoint::Halt::Work(Trouble::WebPpl(trouble)) => trouble.into(),
        crust_diagnose::checkpoint::Halt::Work(Trouble::Mixed) => Error::NotSimulated { dataset: 1 },
    })?;
    let dimension = found.entries.first().map_or(0, |entry| entry.dimension);
    let mut run = annealing.run(first.problem, session.seed, dimension);
    let names = programs.iter().map(|loaded| loaded.program().file_name());
    run.model = names.chain(webppl.iter().map(Source::file_name)).collect::<Vec<String>>().join(", ");
    method.tell(&mut run);
    Ok(told_by(found, annealing, (run, shared.names, Vec::new())))
}
