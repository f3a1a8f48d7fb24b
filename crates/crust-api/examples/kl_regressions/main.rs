//! How often the exact KL of a mean-field fit lies between its bounds, on conjugate regressions. Behind
//! docs/approximate.md.
//!
//! `cargo run --release -p crust-api --example kl_regressions -- 10 20`: the number of regressions, and of datasets of
//! each.
#![allow(clippy::print_stdout, reason = "a table for people")]

mod regression;

use crust_api::{Annealing, ApproximationChoice, BreadOptions, Session, bread_approximation};
use regression::Regression;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<u32> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let (regressions, datasets) = match arguments[..] {
        [regressions, datasets] => (regressions, datasets),
        _ => (10, 20),
    };
    let (mut runs, mut inside, mut below, mut above, mut real, mut averages, mut other) = (0, 0, 0, 0, 0, 0, 0);
    let mut width = 0.0;
    for seed in 1..=regressions {
        let regression = Regression::new(2 + seed as usize % 5, 10 + 5 * seed as usize, 0.8, u64::from(seed));
        let annealing = Annealing { chains: 64, steps: vec![10, 30, 100], ..Annealing::default() };
        let options = BreadOptions { annealing, replicates: datasets, budget: None, ..BreadOptions::default() };
        let session = Session { seed: u64::from(seed), ..Session::default() };
        let method = (ApproximationChoice::Meanfield, 2.0);
        let found = bread_approximation(&regression.problem(), &options, method, &session)?.result;
        let exact = regression.kl_mean_field(2.0);
        for fit in &found.simulated {
            let most = fit.bounds.kl_at_most.unwrap_or(f64::INFINITY);
            runs += 1;
            below += usize::from(exact.q_p < fit.bounds.kl_at_least);
            above += usize::from(exact.q_p > most);
            inside += usize::from(fit.bounds.kl_at_least <= exact.q_p && exact.q_p <= most);
            width += most - fit.bounds.kl_at_least;
        }
        let on_real = found.real.as_ref().map_or(0.0, |fit| fit.bounds.kl_at_least);
        real += usize::from(on_real <= regression.kl_mean_field(1.0).q_p);
        averages += usize::from(found.kl_q_p.at_least <= exact.q_p && exact.q_p <= found.kl_q_p.at_most);
        other += usize::from(found.kl_p_q.at_least <= exact.p_q && exact.p_q <= found.kl_p_q.at_most);
        println!(
            "regression {seed}: T = {}, exact KL(q‖p) {:.3}, bounds {:.3} … {:.3}; exact KL(p‖q) {:.3}, bounds {:.3} … {:.3}; real at least {on_real:.3} of {:.3}",
            found.t,
            exact.q_p,
            found.kl_q_p.at_least,
            found.kl_q_p.at_most,
            exact.p_q,
            found.kl_p_q.at_least,
            found.kl_p_q.at_most,
            regression.kl_mean_field(1.0).q_p
        );
    }
    let mean = width / f64::from(runs);
    println!(
        "{inside} of {runs} runs between the bounds ({below} below, {above} above), mean distance {mean:.3}; averages {averages} of \
         {regressions}, KL(p‖q) {other} of {regressions}, real data {real} of {regressions}"
    );
    Ok(())
}
