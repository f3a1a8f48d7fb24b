//! How often TADDAA's bounds hold and how much they tell, on normal targets with known errors; and what it costs.
//! Behind docs/taddaa.md.
//!
//! `cargo run --release -p crust-testbed --example taddaa_gaussian -- 100 0 2 10 30 100`: the number of runs, the
//! number of chains (0: from the tolerances), then dimensions.
#![allow(clippy::print_stdout, reason = "a table for people")]

use std::time::Instant;

use crust_diagnose::taddaa::Level;
use crust_diagnose::taddaa::sizes::{EFFORT, Tolerances, iterations};
use crust_infer::approximate::family::Elliptical;
use crust_infer::improve::Improver;
use crust_testbed::taddaa::{Equicorrelated, KINDS, diagnose};

const KERNELS: [Improver; 4] =
    [Improver::RandomWalk, Improver::Mala, Improver::Barker, Improver::Hmc { most_steps: 10 }];

fn length(kernel: Improver, d: usize) -> usize {
    match kernel {
        Improver::Hmc { .. } => iterations(d, Some(5), EFFORT),
        _ => iterations(d, None, EFFORT),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let (runs, given, dimensions) = match &arguments[..] {
        [runs, chains, dimensions @ ..] => (*runs, *chains, dimensions),
        _ => (20, 0, &[2, 10, 30][..]),
    };
    speed()?;
    println!(
        "\n{runs} runs; shares of runs or functionals\n d kernel approximation: N, T | a bound above the error | an alarm | bounds of at least half, for errors above the tolerance | rho2max above 0.1 | s"
    );
    for &d in dimensions {
        let target = Equicorrelated::of_the_paper(d);
        let approximations: [(&str, Elliptical); 4] = [
            ("exact", target.exact()?),
            ("mean field", target.mean_field()),
            ("means + 0.3 sd, sds * 0.7", target.displaced(0.3, 0.7, 1)?),
            ("the same in every second coordinate", target.displaced(0.3, 0.7, 2)?),
        ];
        let wanted = Tolerances::default().for_all(KINDS.len() * d).chains();
        let chains = if given == 0 { wanted } else { given };
        for (name, q) in &approximations {
            table(&target, name, q, chains, runs, d)?;
        }
    }
    Ok(())
}

fn table(
    target: &Equicorrelated,
    name: &str,
    q: &Elliptical,
    chains: usize,
    runs: usize,
    d: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let tolerance = Tolerances::default();
    let kernel = Improver::Barker;
    let sizes = (chains, length(kernel, d));
    let (mut above, mut alarms, mut half, mut large, mut stuck) = (0, 0, 0, 0, 0);
    let begin = Instant::now();
    for seed in 0..runs {
        let outcome = diagnose(target, q, kernel, sizes, seed as u64 + 1)?;
        let pairs = || outcome.found.functionals.iter().zip(&outcome.errors);
        above += usize::from(pairs().any(|(f, e)| f.simultaneous_lower_bound > e + 1e-12));
        alarms += usize::from(outcome.found.verdict.level == Level::Bad);
        stuck += usize::from(outcome.found.rho2_max > 0.1);
        for ((f, e), relative) in pairs().zip(&outcome.relative) {
            let limit = if f.name.starts_with("log") { 0.5 * tolerance.log_variance } else { tolerance.mean };
            // Quantiles have wider margins than means (the paper sets none for them): twice the tolerance.
            let limit = if f.name.starts_with('q') { 2.0 * limit } else { limit };
            if *relative > limit + 1e-9 {
                large += 1;
                half += usize::from(f.simultaneous_lower_bound >= 0.5 * e);
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    let share = |k: usize, n: usize| if n == 0 { f64::NAN } else { k as f64 / n as f64 };
    println!(
        "{d:4} {kernel:?} {name}: {}, {} | {:.3} | {:.3} | {:.4} of {large} | {:.3} | {:.1}",
        sizes.0,
        sizes.1,
        share(above, runs),
        share(alarms, runs),
        share(half, large),
        share(stuck, runs),
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The paper's d = 30 problem with its N and T.
fn speed() -> Result<(), Box<dyn std::error::Error>> {
    println!("d = 30, N = 386, the mean-field approximation: seconds of CPU");
    let target = Equicorrelated::of_the_paper(30);
    let q = target.mean_field();
    for kernel in KERNELS {
        let before = cpu_seconds();
        let outcome = diagnose(&target, &q, kernel, (386, length(kernel, 30)), 1)?;
        let seconds = cpu_seconds() - before;
        let first = &outcome.found.functionals[1];
        println!(
            "{kernel:?}: {seconds:.3} s, T = {}, rho2max {:.3}, bound on the log variance of x[1] {:.3} (error {:.3}): {}",
            outcome.found.iterations,
            outcome.found.rho2_max,
            first.simultaneous_lower_bound,
            outcome.errors[1],
            outcome.found.verdict.sentence
        );
    }
    Ok(())
}

/// Of this process, user time; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system ticks of 10 ms are the 14th and 15th field; the name before may have blanks but ends with the
    // last bracket.
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    fields.split(' ').skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / 100.0
}
