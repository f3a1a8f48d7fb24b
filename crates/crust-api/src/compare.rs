//! `crust compare`: representations of a model, kernels and schedules side by side on the same simulated data.

use crate::annealing::{
    Annealed, Annealing, KernelChoice, MethodOptions, NumberedData, ScheduleChoice, identity, journal, simulated,
};
use crate::error::{CompareError, Error, Trouble};
use crate::experiment::{Origin, Settings, StanExperiment};
use crate::generative::{Generative, Outcomes};
use crate::problem::Problem;
use crate::session::Session;
use crust_diagnose::compare::{self, Findings, Plan, Way};
use crust_diagnose::result::{Compare, Entry, Level, Run};
use crust_engine::Values;
use crust_engine::data::read_data;
use crust_math::random::{Purpose, StreamKey};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, Options, write_json};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Options of `compare`.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    pub annealing: Annealing,
    /// How chains move; several are compared.
    pub kernels: Vec<KernelChoice>,
    /// How the distributions are spaced; several are compared.
    pub schedules: Vec<ScheduleChoice>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            annealing: Annealing::default(),
            kernels: vec![KernelChoice::default()],
            schedules: vec![ScheduleChoice::default()],
        }
    }
}

impl CompareOptions {
    pub(crate) fn methods(&self) -> Vec<MethodOptions> {
        let all = self
            .kernels
            .iter()
            .flat_map(|&kernel| self.schedules.iter().map(move |&schedule| MethodOptions { kernel, schedule }));
        all.collect()
    }

    /// What tells a way from the others: the program, if there are several, the kernel and the schedule.
    pub(crate) fn way_name(&self, program: Option<String>, method: MethodOptions) -> String {
        let mut name: Vec<String> = program.into_iter().collect();
        if self.kernels.len() > 1 {
            name.push(method.kernel.name().to_owned());
        }
        if self.schedules.len() > 1 {
            name.push(method.schedule.name().to_owned());
        }
        name.join(", ")
    }
}

/// Anneals the same simulated data in every way. The problems are representations of the same model with the same data;
/// parameters that are the same are named alike.
pub fn compare(
    problems: &[Problem],
    options: &CompareOptions,
    session: &Session<'_>,
) -> Result<Annealed<Compare>, Error> {
    let annealing = &options.annealing;
    annealing.check()?;
    let mut programs = Vec::new();
    for problem in problems {
        let loaded = Generative::read(problem, &annealing.generation, Outcomes::Simulated, session)?;
        annealing.check_path(&loaded)?;
        programs.push(loaded);
    }
    let methods = options.methods();
    let (Some(first), Some(&method)) = (programs.first(), methods.first()) else {
        return Err(CompareError::OneWay.into());
    };
    if programs.len() * methods.len() < 2 {
        return Err(CompareError::OneWay.into());
    }
    let plan = Plan { chains: annealing.chains, steps: annealing.ladder().steps, tolerance: annealing.tolerance };
    let told = format!("compare {plan:?} {methods:?} {}", annealing.identity(session.seed));
    let mut inputs = Vec::new();
    programs.iter().for_each(|loaded| inputs.extend(identity(&told, loaded)));
    let mut journal = journal(annealing.folder.as_deref(), &inputs)?;
    let settings = annealing.settings(method, session);
    let faults = settings.faults.clone();
    let shared = Shared::draw(&programs, session.seed)?;
    let mut ways = ways(options, &programs, &methods, &settings, &shared)?;
    let found = compare::compare(&mut ways, &plan, &mut journal);
    let found = found.map_err(|halt| first.context(&faults).halt(halt))?;
    let source = ways.iter_mut().find(|way| way.entry.dimension == shared.dimension);
    let source = source.filter(|_| annealing.folder.is_some());
    let kept: Result<Vec<_>, Trouble> = source.map(|way| simulated(&mut way.experiment, 1)).into_iter().collect();
    let simulated = kept.map_err(|trouble| first.context(&faults).trouble(trouble))?;
    let dimension = found.entries.first().map_or(0, |entry| entry.dimension);
    let mut run = annealing.run(first.problem, session.seed, dimension);
    let names = programs.iter().map(|loaded| loaded.program().file_name());
    run.model = names.collect::<Vec<String>>().join(", ");
    method.tell(&mut run);
    Ok(told_by(found, annealing, (run, shared.names, simulated)))
}

/// What was found as the result of a run.
pub(crate) fn told_by(
    found: Findings,
    annealing: &Annealing,
    (run, shared, simulated): (Run, Vec<String>, Vec<NumberedData>),
) -> Annealed<Compare> {
    let worst = found.entries.iter().filter_map(|entry| Some(entry.rungs.last()?.jeffreys_upper)).reduce(f64::max);
    // representations of one model have one marginal likelihood
    let wrong = found.violation || found.verdict.level == Level::Mismatch;
    let diagnosis = annealing.diagnosis(wrong, found.partial, worst);
    let result = Compare {
        run,
        entries: found.entries,
        shared,
        violation: found.violation,
        checks: found.checks,
        verdict: found.verdict,
        partial: found.partial,
    };
    Annealed { result, timing: found.timing, diagnosis, simulated }
}

/// Every program with every kernel and schedule.
pub(crate) fn ways<'a>(
    options: &CompareOptions,
    programs: &'a [Generative<'a>],
    methods: &[MethodOptions],
    settings: &Settings<'a>,
    shared: &Shared,
) -> Result<Vec<Way<StanExperiment<'a>>>, Error> {
    let mut ways = Vec::new();
    for loaded in programs {
        let (data, point) = shared.for_program(loaded, settings.seed)?;
        for method in methods {
            let entry = Entry {
                name: options.way_name((programs.len() > 1).then(|| loaded.program().stem()), *method),
                kernel: method.kernel.name().to_owned(),
                schedule: method.schedule.name().to_owned(),
                dimension: point.len(),
                exact_start: true,
                ..Entry::default()
            };
            let settings =
                Settings { method: method.kernel.method(), spacing: method.schedule.spacing(), ..settings.clone() };
            let origin = Origin::Given { data: Box::new(data.clone()), point: point.clone() };
            ways.push(Way { entry, experiment: StanExperiment::new(loaded, settings, origin) });
        }
    }
    Ok(ways)
}

/// What all programs share: parameters and data that one of them has simulated.
pub(crate) struct Shared {
    pub parameters: Values,
    /// Of the program that simulated.
    pub data: Map<String, Value>,
    dimension: usize,
    /// Parameters that all programs have.
    pub names: Vec<String>,
}

fn parameter_names(loaded: &Generative<'_>) -> BTreeSet<String> {
    let program = loaded.typed();
    program.declared_in(BlockKind::Parameters).map(|id| program.variable(id).name.clone()).collect()
}

impl Shared {
    /// Draws with the program whose parameters include those of all others: what it draws is then an exact draw from
    /// the posterior of each, if all state the same model.
    pub fn draw(programs: &[Generative<'_>], seed: u64) -> Result<Self, Error> {
        let names: Vec<BTreeSet<String>> = programs.iter().map(parameter_names).collect();
        let includes_all = |own: &BTreeSet<String>| names.iter().all(|other| other.is_subset(own));
        let source = names.iter().position(includes_all).ok_or(CompareError::NoSource)?;
        let loaded = &programs[source];
        let mut simulator = loaded.simulator.clone();
        let key = |purpose| StreamKey::new(seed, purpose).dataset(1);
        let cannot = |error| loaded.program().simulate(error);
        let point = simulator.draw_parameters(None, key(Purpose::PRIOR).chain(u32::MAX)).map_err(cannot)?;
        let data = simulator.draw_data(&point, key(Purpose::DATA)).map_err(cannot)?;
        let parameters = simulator.parameters(&point).map_err(cannot)?;
        let common = names.iter().skip(1).fold(names[0].clone(), |all, other| &all & other);
        let data = object(&write_json(loaded.typed(), &data), "the simulated data")?;
        Ok(Self { parameters, data, dimension: point.len(), names: common.into_iter().collect() })
    }

    /// The shared draw as data and parameters of a program. Data that only this program declares come from the file.
    fn for_program(&self, loaded: &Generative<'_>, seed: u64) -> Result<(Data, Vec<f64>), Error> {
        let program = loaded.program();
        let mut all = object(loaded.problem.json(), loaded.problem.data_name().unwrap_or("no data"))?;
        all.extend(self.data.clone());
        let json = serde_json::to_string(&all)?;
        let options = Options { name: "the simulated data", ..Options::default() };
        let data = read_data(program.typed(), program.text(), &json, &options)
            .map_err(|errors| CompareError::Data { program: program.clone(), errors })?;
        let bound = Arc::new(loaded.bind(&data, seed).map_err(|error| program.engine(error))?);
        let own = parameter_names(loaded);
        let values: Values = self
            .parameters
            .iter()
            .filter(|(name, _)| own.contains(*name))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        let point = bound.evaluator().unconstrain(&values);
        let name = || program.name().to_owned();
        let point = point.map_err(|error| CompareError::Parameters { program: name(), error })?;
        let point: Option<Vec<f64>> = point.into_iter().collect();
        let point = point.ok_or_else(|| CompareError::NotSimulated { program: name() })?;
        Ok((data, point))
    }
}

fn object(json: &str, name: &str) -> Result<Map<String, Value>, CompareError> {
    let name = name.to_owned();
    match serde_json::from_str(json) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(CompareError::NoObject { name }),
        Err(error) => Err(CompareError::NotJson { name, error }),
    }
}
