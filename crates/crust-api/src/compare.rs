//! `crust compare`: representations of a model, kernels and schedules side by side on the same simulated data.

use crate::arguments::{Common, Compare, MethodOptions};
use crate::bdmc::identity;
use crate::experiment::{Loaded, Origin, Progress, Settings, StanExperiment, load, output};
use crate::{Outcome, terminal};
use crust_diagnose::compare::{self, Plan, Way};
use crust_diagnose::result::{Compare as CompareResult, Entry, Results};
use crust_engine::Values;
use crust_math::random::{Purpose, StreamKey};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, Options, read_data, write_json};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

pub fn run(arguments: &Compare, common: &Common) -> Result<Outcome, String> {
    let annealing = &arguments.annealing;
    annealing.check()?;
    terminal::check_writable(common.json.as_deref())?;
    let mut programs = Vec::new();
    for model in &arguments.models {
        let input = annealing.input(model, arguments.data.as_deref(), false, common.quiet);
        let Some(loaded) = load(&input)? else { return Ok(Outcome::BadInput) };
        annealing.check_path(&loaded)?;
        programs.push(loaded);
    }
    let methods = arguments.methods();
    if programs.len() * methods.len() < 2 {
        return Err(
            "there is only one way to compare: give several programs, or several of --kernel or --schedule".to_owned()
        );
    }
    let plan = Plan { chains: annealing.chains, steps: annealing.ladder().steps, tolerance: annealing.tolerance };
    let options = format!("compare {plan:?} {methods:?} {}", annealing.identity());
    let mut inputs = Vec::new();
    programs.iter().for_each(|loaded| inputs.extend(identity(&options, loaded)));
    let mut journal = output::journal(annealing.out.as_deref(), &inputs)?;
    let settings = annealing.settings(methods[0])?;
    let progress = Progress::new(&settings.control, common.quiet);
    let shared = Shared::draw(&programs, annealing.computing.seed)?;
    let mut ways = ways(arguments, &programs, &methods, &settings, &progress, &shared)?;
    let found = compare::compare(&mut ways, &plan, &mut journal);
    progress.end();
    let found = match found {
        Ok(found) => found,
        Err(halt) => return output::failed(halt, &programs[0]),
    };
    if let Some(folder) = &annealing.out {
        let source = ways.iter_mut().find(|way| way.entry.dimension == shared.dimension);
        source.map_or(Ok(()), |way| output::write_simulated(folder, &mut way.experiment, 1))?;
    }
    let mut run = annealing.run(&arguments.models[0], arguments.data.as_deref(), found.entries[0].dimension);
    let names = arguments.models.iter().filter_map(|model| Some(model.file_name()?.to_string_lossy().into_owned()));
    run.model = names.collect::<Vec<String>>().join(", ");
    methods[0].tell(&mut run);
    let worst = found.entries.iter().filter_map(|entry| Some(entry.rungs.last()?.jeffreys_bound)).reduce(f64::max);
    let outcome = output::outcome(found.violation, found.partial, worst, annealing);
    let results = Results::Compare(CompareResult {
        run,
        entries: found.entries,
        shared: shared.names,
        violation: found.violation,
        checks: found.checks,
        verdict: found.verdict,
        partial: found.partial,
    });
    output::deliver(&results, &found.timing, annealing, common)?;
    Ok(outcome)
}

impl Compare {
    fn methods(&self) -> Vec<MethodOptions> {
        let all = self
            .kernel
            .iter()
            .flat_map(|&kernel| self.schedule.iter().map(move |&schedule| MethodOptions { kernel, schedule }));
        all.collect()
    }
}

/// Every program with every kernel and schedule.
fn ways<'a>(
    arguments: &Compare,
    programs: &'a [Loaded],
    methods: &[MethodOptions],
    settings: &Settings,
    progress: &Progress,
    shared: &Shared,
) -> Result<Vec<Way<StanExperiment<'a>>>, String> {
    let mut ways = Vec::new();
    for (loaded, model) in programs.iter().zip(&arguments.models) {
        let (data, point) = shared.for_program(loaded, model, arguments.data.as_deref(), settings.seed)?;
        for method in methods {
            let mut name: Vec<String> = Vec::new();
            if programs.len() > 1 {
                name.push(model.file_stem().unwrap_or_default().to_string_lossy().into_owned());
            }
            if arguments.kernel.len() > 1 {
                name.push(method.kernel.name().to_owned());
            }
            if arguments.schedule.len() > 1 {
                name.push(method.schedule.name().to_owned());
            }
            let entry = Entry {
                name: name.join(", "),
                kernel: method.kernel.name().to_owned(),
                schedule: method.schedule.name().to_owned(),
                dimension: point.len(),
                exact_start: true,
                ..Entry::default()
            };
            let settings =
                Settings { method: method.kernel.method(), spacing: method.schedule.spacing(), ..settings.clone() };
            let origin = Origin::Given { data: Box::new(data.clone()), point: point.clone() };
            ways.push(Way { entry, experiment: StanExperiment::new(loaded, settings, origin, progress.clone()) });
        }
    }
    Ok(ways)
}

/// What all programs share: parameters and data that one of them has simulated.
struct Shared {
    parameters: Values,
    /// Of the program that simulated.
    data: Map<String, Value>,
    dimension: usize,
    /// Parameters that all programs have.
    names: Vec<String>,
}

fn parameter_names(loaded: &Loaded) -> BTreeSet<String> {
    let program = loaded.program();
    program.declared_in(BlockKind::Parameters).map(|id| program.variable(id).name.clone()).collect()
}

impl Shared {
    /// Draws with the program whose parameters include those of all others: what it draws is then an exact draw from the posterior
    /// of each, if all state the same model.
    fn draw(programs: &[Loaded], seed: u64) -> Result<Self, String> {
        let names: Vec<BTreeSet<String>> = programs.iter().map(parameter_names).collect();
        let includes_all = |own: &BTreeSet<String>| names.iter().all(|other| other.is_subset(own));
        let source = names.iter().position(includes_all).ok_or(
            "no program has all parameters of the others, so that no exact draw is known for each of them: name parameters that \
             are the same alike, and give one program that has all",
        )?;
        let loaded = &programs[source];
        let mut simulator = loaded.simulator.clone();
        let key = |purpose| StreamKey::new(seed, purpose).dataset(1);
        let text = |e: crust_engine::SimulateError| e.to_string();
        let point = simulator.draw_parameters(None, key(Purpose::PRIOR).chain(u32::MAX)).map_err(text)?;
        let data = simulator.draw_data(&point, key(Purpose::DATA)).map_err(text)?;
        let parameters = simulator.parameters(&point).map_err(text)?;
        let common = names.iter().skip(1).fold(names[0].clone(), |all, other| &all & other);
        let data = object(&write_json(loaded.program(), &data), "the simulated data")?;
        Ok(Self { parameters, data, dimension: point.len(), names: common.into_iter().collect() })
    }

    /// The shared draw as data and parameters of a program. Data that only this program declares come from the file.
    fn for_program(
        &self,
        loaded: &Loaded,
        model: &Path,
        file: Option<&Path>,
        seed: u64,
    ) -> Result<(Data, Vec<f64>), String> {
        let name = file.map_or_else(|| "no data".to_owned(), |path| path.display().to_string());
        let mut all = object(&loaded.texts[1], &name)?;
        all.extend(self.data.clone());
        let json = serde_json::to_string(&all).map_err(|e| e.to_string())?;
        let options = Options { name: "the simulated data", ..Options::default() };
        let reading = &loaded.reading;
        let data = read_data(&reading.typed, &reading.source, &json, &options).map_err(|e| {
            format!("{} cannot take the simulated data:\n{}", model.display(), e.render(&reading.source, false))
        })?;
        let bound = Arc::new(loaded.bind(&data, seed).map_err(|e| e.to_string())?);
        let own = parameter_names(loaded);
        let values: Values = self
            .parameters
            .iter()
            .filter(|(name, _)| own.contains(*name))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        let point = bound.evaluator().unconstrain(&values);
        let point = point.map_err(|e| format!("the parameters of {} differ: {e}", model.display()))?;
        let point: Option<Vec<f64>> = point.into_iter().collect();
        let point = point.ok_or_else(|| format!("{} has a parameter that was not simulated", model.display()))?;
        Ok((data, point))
    }
}

fn object(json: &str, name: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(json) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(format!("{name} must be a JSON object")),
        Err(e) => Err(format!("{name} cannot be read as plain JSON, which a comparison needs: {e}")),
    }
}
