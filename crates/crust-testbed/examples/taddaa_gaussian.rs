//! How often TADDAA's bounds hold and how much they tell, on normal targets with known errors; and what it costs.
//! Behind docs/taddaa.md.
//!
//! `cargo run --release -p crust-testbed --example taddaa_gaussian -- hmc adapted 100 387 40 2 10 30 100`: the kernel,
//! `adapted` or `published`, the number of runs, chains and iterations (0: from the tolerances, from equations 7 and
//! 8), then dimensions. `201-1000` in place of a number are the runs with these seeds, and a last word such as `exact` is
//! the only approximation. Long tables tell on stderr how far they are. Without arguments: how long the paper's problem
//! takes.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table for people")]

use std::ops::RangeInclusive;

use crust_diagnose::taddaa::sizes::{EFFORT, Tolerances, iterations};
use crust_infer::approximate::family::Elliptical;
use crust_infer::improve::Improver;
use crust_testbed::taddaa::{Equicorrelated, Plan, diagnose};

const KERNELS: [(&str, Improver); 4] = [
    ("rwmh", Improver::RandomWalk),
    ("mala", Improver::Mala),
    ("barker", Improver::Barker),
    ("hmc", Improver::Hmc { most_steps: 10 }),
];

fn length(kernel: Improver, d: usize) -> usize {
    match kernel {
        Improver::Hmc { .. } => iterations(d, Some(5), EFFORT),
        _ => iterations(d, None, EFFORT),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, how, numbers @ ..] = &arguments[..] else { return speed() };
    let kernel = KERNELS.iter().find(|(name, _)| name == kernel).ok_or("no such kernel")?.1;
    let [runs, numbers @ ..] = numbers else { return Err("too few numbers".into()) };
    let seeds = match runs.split_once('-') {
        Some((first, last)) => first.parse()?..=last.parse()?,
        None => 1..=runs.parse::<u64>()?,
    };
    let (numbers, only) = match numbers {
        [numbers @ .., only] if only.parse::<usize>().is_err() => (numbers, Some(only.as_str())),
        all => (all, None),
    };
    let numbers: Vec<usize> = numbers.iter().map(|a| a.parse()).collect::<Result<_, _>>()?;
    let [chains, given, dimensions @ ..] = &numbers[..] else { return Err("too few numbers".into()) };
    println!(
        "seeds {seeds:?}, {kernel:?}, {how}; shares of runs or functionals\n d approximation: N, T | a bound above the error \
         | bounds of at least half, for errors above the tolerance | still moving | \
         rho2max above 0.1 | gradients of a chain | CPU s of a run"
    );
    for &d in dimensions {
        let target = Equicorrelated::of_the_paper(d);
        let approximations: [(&str, Elliptical); 4] = [
            ("exact", target.exact()?),
            ("mean field", target.mean_field()),
            ("means + 0.3 sd, sds * 0.7", target.displaced(0.3, 0.7, 1)?),
            ("the same in every second coordinate", target.displaced(0.3, 0.7, 2)?),
        ];
        let chains = if *chains == 0 { Tolerances::default().chains() } else { *chains };
        let iterations = if *given == 0 { length(kernel, d) } else { *given };
        let plan = Plan { kernel, chains, iterations, adapts: how == "adapted" };
        for (name, q) in approximations.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
            table(&target, (name, q), plan, seeds.clone())?;
        }
    }
    Ok(())
}

fn table(
    target: &Equicorrelated,
    (name, q): (&str, &Elliptical),
    plan: Plan,
    seeds: RangeInclusive<u64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut runs = 0;
    let tolerance = Tolerances::default();
    let (mut above, mut half, mut large, mut stuck, mut moving, mut gradients) = (0, 0, 0, 0, 0, 0);
    let mut least = f64::INFINITY;
    let begin = cpu_seconds();
    for seed in seeds {
        let outcome = diagnose(target, q, plan, seed)?;
        runs += 1;
        let pairs = || outcome.found.functionals.iter().zip(&outcome.errors);
        above += usize::from(pairs().any(|(f, e)| f.simultaneous_lower_bound > e + 1e-12));
        stuck += usize::from(outcome.found.rho2_max > 0.1);
        moving += usize::from(outcome.found.still_moving);
        gradients += outcome.gradients;
        for ((f, e), relative) in pairs().zip(&outcome.relative) {
            let limit = if f.name.starts_with("log") { 0.5 * tolerance.log_variance } else { tolerance.mean };
            // Quantiles have wider margins than means (the paper sets none for them): twice the tolerance.
            let limit = if f.name.starts_with('q') { 2.0 * limit } else { limit };
            if *relative > limit + 1e-9 {
                large += 1;
                half += usize::from(f.simultaneous_lower_bound >= 0.5 * e);
                least = least.min(f.simultaneous_lower_bound / e);
            }
        }
        if runs % 50 == 0 {
            eprintln!("{name}: a bound above the error in {above} of {runs} runs");
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    let share = |k: usize, n: usize| if n == 0 { f64::NAN } else { k as f64 / n as f64 };
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    let each = gradients as f64 / (runs * plan.chains) as f64;
    println!(
        "{:4} {name}: {}, {} | {:.3} | {:.4} of {large}, least {least:.2} | {:.3} | {:.3} | {each:.0} | {:.2}",
        target.deviations().len(),
        plan.chains,
        plan.iterations,
        share(above, runs),
        share(half, large),
        share(moving, runs),
        share(stuck, runs),
        (cpu_seconds() - begin) / share(runs, 1),
    );
    Ok(())
}

/// The paper's d = 30 problem with its N and T.
fn speed() -> Result<(), Box<dyn std::error::Error>> {
    println!("d = 30, N = 386, the mean-field approximation: seconds of CPU");
    let target = Equicorrelated::of_the_paper(30);
    let q = target.mean_field();
    for (_, kernel) in KERNELS {
        let before = cpu_seconds();
        let plan = Plan { kernel, chains: 386, iterations: length(kernel, 30), adapts: false };
        let outcome = diagnose(&target, &q, plan, 1)?;
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
