//! Everything that crust does, as a library: a Stan program and its data in, typed results out.
//!
//! ```text
//! Source ─▶ Program ─┐
//! Source ─▶ data ────┴▶ Problem ─▶ density, sample, evidence ───────────────────┐
//!                          ├─▶ approximate, taddaa ───────────────────────────┤
//!                          └─▶ Generative (joint, simulator) ─▶ simulate        ├─▶ result::Results
//!                                  └─▶ StanExperiment ─▶ bdmc, bread, compare ──┤
//!                                                        testbed, reproduce ────┘
//! ```
//!
//! A [`Problem`] is a program with its data: both are read once, and bound once. Each command is a function of a
//! problem, typed options whose defaults are those of the command line, and a [`Session`]: the seed, the machine, an
//! [`Observer`] that hears of progress, messages and parts of long results, and a [`Stop`] that ends a run from another
//! thread. Nothing in here prints, asks or exits. Errors keep their causes ([`Error`]); [`render`] says them to people,
//! with the place in the program. Results are a family with one form as JSON ([`result::Results`]).
//!
//! ```
//! use crust_api::{Annealing, BreadOptions, Problem, Session, Source, bread};
//!
//! let program = "data { int N; vector[N] y; } parameters { real mu; }
//!     model { mu ~ normal(0, 2); y ~ normal(mu, 1); }";
//! let data = r#"{"N": 5, "y": [1.2, 0.3, 2.1, 0.9, 1.4]}"#;
//! let problem = Problem::read(Source::text("mean.stan", program), Some(Source::text("mean.json", data)))?;
//! let annealing = Annealing { chains: 8, steps: vec![10, 30], ..Annealing::default() };
//! let options = BreadOptions { annealing, replicates: 0, ..BreadOptions::default() };
//! let run = bread(&problem, &options, &Session::default())?;
//! let last = &run.result.simulated.rungs[run.result.simulated.rungs.len() - 1];
//! assert!(last.jeffreys_bound < 1.0, "annealing ends within a nat of the posterior");
//! # Ok::<(), crust_api::Error>(())
//! ```

mod annealing;
mod approximate;
mod bdmc;
mod bench;
mod bread;
mod check;
mod compare;
mod density;
mod error;
mod evidence;
mod experiment;
mod finite;
mod folder;
mod generative;
mod problem;
mod proven;
pub mod reproduce;
mod run;
mod sample;
mod sbc;
mod session;
mod simulate;
mod subset;
mod taddaa;
mod target;
mod testbed;
mod values;
mod webppl;

pub use annealing::{
    Annealed, Annealing, Diagnosis, KernelChoice, MethodOptions, NumberedData, PathChoice, ScheduleChoice,
};
pub use approximate::{ApproximateOptions, ApproximationChoice, approximate};
pub use bdmc::{BdmcOptions, bdmc};
pub use bench::{BenchOptions, bench};
pub use bread::{BreadOptions, bread, bread_approximation};
pub use check::{CheckOptions, CheckOutput, check};
pub use compare::{CompareOptions, compare};
pub use crust_diagnose::checkpoint::FILE as JOURNAL;
pub use crust_diagnose::result;
pub use density::{DensityOptions, density};
pub use error::{
    CandyError, CompareError, Error, EvidenceError, LeukemiaError, Look, PathError, Refusal, ShapeError, SubjectError,
    Suspicion, ValuesError, render, render_warning,
};
pub use evidence::{Estimator, EvidenceOptions, EvidenceOutput, evidence};
pub use folder::claim as claim_folder;
pub use generative::Generation;
pub use problem::{Problem, Program, Source};
pub use run::{RunOptions, RunOutput, run};
pub use sample::{MethodChoice, MetricChoice, SampleOptions, SampleOutput, sample};
pub use sbc::{SbcMethod, SbcOptions, SbcOutput, SbcSimulation, sbc};
pub use session::{Message, Nobody, Observer, Part, Progress, Session, Stop, Unit};
pub use simulate::{SimulateOptions, Simulations, simulate};
pub use taddaa::{ShortKernel, Subject, TaddaaOptions, TaddaaOutput, taddaa};
pub use testbed::{TestbedOptions, TestbedOutput, testbed};
pub use values::Init;
pub use webppl::{WebPplProblem, bdmc_webppl, bread_webppl, check_webppl, compare_both, compare_webppl};
