//! Arguments as options of the library.

use super::{
    Annealing, Bdmc, Bench, Bread, Budget, Check, Compare, Density, Evidence, EvidenceMethod, Includes, KernelChoice,
    MethodChoice, MethodOptions, MetricChoice, Program, Reproduce, Sample, ScheduleChoice, Simulate, SimulationChoice,
    Testbed,
};
use crate::terminal;
use crust_api::{Error, Estimator, Generation, Init, Problem, Source, WebPplProblem, render_warning};
use std::path::Path;

impl Includes {
    /// A program that may include others.
    pub fn program(&self, path: &Path) -> Result<Source, Error> {
        Ok(terminal::source(path)?.including(&self.include_path))
    }

    /// A program with its data.
    pub fn problem(&self, model: &Path, data: Option<&Path>) -> Result<Problem, Error> {
        let program = crust_api::Program::read(self.program(model)?)?;
        if let Some(warning) = program.left_out() {
            terminal::complain(&render_warning(program.text(), warning, terminal::look(false)));
        }
        Problem::new(program, data.map(terminal::source).transpose()?)
    }

    pub(super) fn generation(&self, hyper: Option<&[String]>, simulator: Option<&Path>) -> Result<Generation, Error> {
        let simulator = simulator.map(|path| crust_api::Program::read(self.program(path)?)).transpose()?;
        Ok(Generation { hyper: hyper.map(<[String]>::to_vec), simulator, ..Generation::default() })
    }
}

impl Program {
    pub fn problem(&self) -> Result<Problem, Error> {
        self.includes.problem(&self.model, self.data.as_deref())
    }
}

impl Check {
    pub fn options(&self) -> crust_api::CheckOptions {
        crust_api::CheckOptions { pedantic: self.pedantic }
    }
}

impl Density {
    pub fn options(&self) -> crust_api::DensityOptions {
        crust_api::DensityOptions { propto: self.propto, jacobian: !self.no_jacobian }
    }
}

impl Bench {
    pub fn options(&self) -> crust_api::BenchOptions {
        crust_api::BenchOptions { lanes: self.lanes.clone(), seconds: self.seconds, ir: self.ir }
    }
}

impl Sample {
    pub fn options(&self) -> Result<crust_api::SampleOptions, Error> {
        let init = match self.init.parse() {
            Ok(radius) => Init::Radius(radius),
            Err(_) => Init::Values(terminal::source(Path::new(&self.init))?),
        };
        Ok(crust_api::SampleOptions {
            chains: self.chains,
            warmup: self.warmup,
            draws: self.draws,
            init,
            delta: self.delta,
            max_depth: self.max_depth,
            metric: match self.metric {
                MetricChoice::Diag => crust_api::MetricChoice::Diag,
                MetricChoice::Dense => crust_api::MetricChoice::Dense,
                MetricChoice::Unit => crust_api::MetricChoice::Unit,
            },
            thin: self.thin,
            save_warmup: self.save_warmup,
            method: match self.method {
                MethodChoice::Nuts => crust_api::MethodChoice::Nuts,
                MethodChoice::Hmc => crust_api::MethodChoice::Hmc,
            },
            folder: self.out.clone(),
        })
    }
}

impl Simulate {
    pub fn options(&self) -> Result<crust_api::SimulateOptions, Error> {
        Ok(crust_api::SimulateOptions {
            generation: self.includes.generation(self.hyper.as_deref(), self.simulator.as_deref())?,
            fix: self.fix.as_deref().map(terminal::source).transpose()?,
        })
    }
}

impl Annealing {
    pub fn options(&self) -> Result<crust_api::Annealing, Error> {
        Ok(crust_api::Annealing {
            chains: self.chains,
            steps: self.steps.clone(),
            path: self.path.clone(),
            tolerance: self.tolerance,
            max_divergence: self.max_divergence,
            generation: self.includes.generation(self.hyper.as_deref(), self.simulator.as_deref())?,
            folder: self.out.clone(),
        })
    }
}

impl Annealing {
    /// A `WebPPL` program with its data, if the file is one.
    pub fn webppl(&self, model: &Path, data: Option<&Path>) -> Result<Option<WebPplProblem>, Error> {
        if !WebPplProblem::is_program(model) {
            return match &self.model_name {
                Some(name) => Err(Error::option("model", name, "is for WebPPL programs")),
                None => Ok(None),
            };
        }
        let data = data.map(terminal::source).transpose()?;
        WebPplProblem::read(terminal::source(model)?, data, self.model_name.as_deref()).map(Some)
    }
}

impl From<SimulationChoice> for crust_api::result::Simulation {
    fn from(choice: SimulationChoice) -> Self {
        match choice {
            SimulationChoice::Conditional => Self::Conditional,
            SimulationChoice::Fitted => Self::Fitted,
            SimulationChoice::Prior => Self::Prior,
            SimulationChoice::Nothing => Self::Nothing,
        }
    }
}

impl From<MethodOptions> for crust_api::MethodOptions {
    fn from(options: MethodOptions) -> Self {
        Self { kernel: options.kernel.into(), schedule: options.schedule.into() }
    }
}

impl From<KernelChoice> for crust_api::KernelChoice {
    fn from(choice: KernelChoice) -> Self {
        match choice {
            KernelChoice::Hmc => Self::Hmc,
            KernelChoice::Nuts => Self::Nuts,
            KernelChoice::Rwm => Self::Rwm,
            KernelChoice::Mh => Self::Mh,
        }
    }
}

impl From<ScheduleChoice> for crust_api::ScheduleChoice {
    fn from(choice: ScheduleChoice) -> Self {
        match choice {
            ScheduleChoice::Linear => Self::Linear,
            ScheduleChoice::Sigmoid => Self::Sigmoid,
            ScheduleChoice::Adaptive => Self::Adaptive,
        }
    }
}

impl Bdmc {
    pub fn options(&self) -> Result<crust_api::BdmcOptions, Error> {
        Ok(crust_api::BdmcOptions {
            annealing: self.annealing.options()?,
            method: self.method.into(),
            bennett_error: self.bennett_error,
            datasets: self.datasets,
            start_steps: self.start_steps,
            rank_checks: self.rank_checks,
        })
    }
}

impl Bread {
    pub fn options(&self) -> Result<crust_api::BreadOptions, Error> {
        Ok(crust_api::BreadOptions {
            annealing: self.annealing.options()?,
            method: self.method.into(),
            simulate: self.simulate.map(Into::into),
            start_steps: self.start_steps,
            replicates: self.replicates,
            budget: match self.budget {
                Some(Budget(seconds)) => seconds,
                None if self.annealing.steps.is_empty() => crust_api::BreadOptions::default().budget,
                None => None,
            },
            draws: self.draws.clone(),
            after: None,
        })
    }
}

impl Compare {
    pub fn options(&self) -> Result<crust_api::CompareOptions, Error> {
        Ok(crust_api::CompareOptions {
            annealing: self.annealing.options()?,
            kernels: self.kernel.iter().map(|&kernel| kernel.into()).collect(),
            schedules: self.schedule.iter().map(|&schedule| schedule.into()).collect(),
        })
    }
}

impl Evidence {
    pub fn options(&self) -> crust_api::EvidenceOptions {
        crust_api::EvidenceOptions {
            methods: self.methods.iter().map(|&method| method.into()).collect(),
            tolerance: self.tolerance,
            effort: self.effort,
        }
    }
}

impl From<EvidenceMethod> for Estimator {
    fn from(method: EvidenceMethod) -> Self {
        match method {
            EvidenceMethod::Bridge => Self::Bridge,
            EvidenceMethod::Importance => Self::Importance,
            EvidenceMethod::Smc => Self::Smc,
            EvidenceMethod::Ais => Self::Ais,
            EvidenceMethod::SteppingStone => Self::SteppingStone,
            EvidenceMethod::Thermodynamic => Self::Thermodynamic,
            EvidenceMethod::Nested => Self::Nested,
            EvidenceMethod::LikelihoodWeighting => Self::LikelihoodWeighting,
            EvidenceMethod::HarmonicMean => Self::HarmonicMean,
        }
    }
}

impl Testbed {
    pub fn options(&self) -> crust_api::TestbedOptions {
        crust_api::TestbedOptions {
            quick: self.quick,
            models: self.models.clone(),
            estimators: self.estimators.clone(),
            trials: self.trials,
            folder: self.out.clone(),
        }
    }
}

impl Reproduce {
    /// Of the experiments with Stan programs; `name` is that of the folder unless the user says otherwise.
    pub fn real_data_options(&self, name: &str) -> Result<crust_api::reproduce::RealDataOptions, Error> {
        let standard = crust_api::reproduce::RealDataOptions::default();
        Ok(crust_api::reproduce::RealDataOptions {
            largest: self.largest,
            chains: self.chains.unwrap_or(standard.chains),
            models: self.models.clone(),
            movielens: self.movielens.as_deref().map(terminal::source).transpose()?,
            folder: self.out.clone().unwrap_or_else(|| format!("crust-{name}").into()),
        })
    }

    pub fn taddaa_options(&self) -> Result<crust_api::reproduce::TaddaaExperimentOptions, Error> {
        Ok(crust_api::reproduce::TaddaaExperimentOptions {
            data: self.data.as_deref().map(terminal::source).transpose()?,
            ..crust_api::reproduce::TaddaaExperimentOptions::default()
        })
    }

    pub fn table1_options(&self) -> crust_api::reproduce::Table1Options {
        let standard = crust_api::reproduce::Table1Options::default();
        crust_api::reproduce::Table1Options {
            largest: self.largest,
            chains: self.chains.map_or(standard.chains, |chains| u32::try_from(chains).unwrap_or(u32::MAX)),
            datasets: self.datasets.map_or(standard.datasets, std::num::NonZero::get),
            folder: self.out.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, Command};
    use clap::Parser;

    /// The defaults of the library are those of the command line.
    #[test]
    fn the_library_has_the_same_defaults() {
        let parse =
            |words: &[&str]| Arguments::try_parse_from([&["crust"], words].concat()).expect("arguments").command;
        let same = |a: &dyn std::fmt::Debug, b: &dyn std::fmt::Debug| assert_eq!(format!("{a:?}"), format!("{b:?}"));
        let Command::Bread(bread) = parse(&["bread", "a.stan", "a.json"]) else { panic!("bread") };
        same(&bread.options().expect("options"), &crust_api::BreadOptions::default());
        let Command::Bdmc(bdmc) = parse(&["bdmc", "a.stan"]) else { panic!("bdmc") };
        same(&bdmc.options().expect("options"), &crust_api::BdmcOptions::default());
        let Command::Compare(compare) = parse(&["compare", "a.stan", "b.stan"]) else { panic!("compare") };
        same(&compare.options().expect("options"), &crust_api::CompareOptions::default());
        let Command::Sample(sample) = parse(&["sample", "a.stan"]) else { panic!("sample") };
        same(&sample.options().expect("options"), &crust_api::SampleOptions::default());
        let Command::Simulate(simulate) = parse(&["simulate", "a.stan"]) else { panic!("simulate") };
        same(&simulate.options().expect("options"), &crust_api::SimulateOptions::default());
        let Command::Evidence(evidence) = parse(&["evidence", "a.stan"]) else { panic!("evidence") };
        same(&evidence.options(), &crust_api::EvidenceOptions::default());
        let Command::Testbed(testbed) = parse(&["testbed"]) else { panic!("testbed") };
        same(&testbed.options(), &crust_api::TestbedOptions::default());
        let Command::Density(density) = parse(&["density", "a.stan", "--at", "x"]) else { panic!("density") };
        same(&density.options(), &crust_api::DensityOptions::default());
        let Command::Bench(bench) = parse(&["bench", "a.stan"]) else { panic!("bench") };
        same(&bench.options(), &crust_api::BenchOptions::default());
        let Command::Reproduce(reproduce) = parse(&["reproduce", "table1"]) else { panic!("reproduce") };
        same(&reproduce.table1_options(), &crust_api::reproduce::Table1Options::default());
        let real = crust_api::reproduce::RealDataOptions::default();
        same(&reproduce.real_data_options("bread-real").expect("options"), &real);
        let taddaa = crust_api::reproduce::TaddaaExperimentOptions::default();
        same(&reproduce.taddaa_options().expect("options"), &taddaa);
        assert_eq!(reproduce.largest, crust_api::reproduce::ToyOptions::default().largest);
    }
}
