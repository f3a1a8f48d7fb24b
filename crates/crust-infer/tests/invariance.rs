//! Every kernel leaves `f_β` invariant: exact draws stay exact draws, and joint draws of parameters and data stay joint
//! draws.

mod common;

use common::{Lanes, NormalGamma, assert_uniform, count, key, run};
use crust_infer::kernel::{Kernel, Length, MAX_ENERGY_ERROR, Method};
use crust_infer::metric::Metric;
use crust_infer::sample::{KernelSource, Settings, Start};

/// Kernels whose step sizes are large enough for errors to matter: about 0.6 to 0.9 of the proposals are accepted.
fn kernels() -> Vec<(&'static str, Kernel)> {
    let diagonal = || Metric::diagonal(vec![0.3, 0.7]).expect("positive");
    let dense = Metric::dense(2, vec![0.3, 0.1, 0.1, 0.7]).expect("positive");
    let nuts = |max_depth| Method::Nuts { max_depth, max_energy_error: MAX_ENERGY_ERROR };
    let hmc = |length| Method::Hmc { length, max_energy_error: MAX_ENERGY_ERROR };
    let kernel = |method, step_size, jitter, metric| Kernel {
        method,
        step_size,
        jitter,
        short: if jitter > 0.0 { 0.3 } else { 0.0 },
        metric,
    };
    vec![
        ("NUTS", kernel(nuts(10), 0.8, 0.0, diagonal())),
        ("NUTS, jittered, dense", kernel(nuts(10), 0.9, 0.5, dense.clone())),
        ("NUTS, shallow", kernel(nuts(2), 0.3, 0.0, Metric::Unit)),
        ("HMC", kernel(hmc(Length::Steps(3)), 0.9, 0.0, diagonal())),
        ("HMC, jittered, dense", kernel(hmc(Length::Time(2.0)), 0.7, 0.9, dense.clone())),
        ("Metropolis", kernel(Method::Metropolis, 1.5, 0.2, diagonal())),
        ("MALA", kernel(Method::Mala, 1.2, 0.2, diagonal())),
        ("Barker", kernel(Method::Barker, 1.5, 0.2, dense.clone())),
    ]
}

fn settings(kernel: Kernel, draws: usize, seed: u64) -> Settings {
    Settings { warmup: 0, draws, kernel: KernelSource::Frozen(kernel), ..Settings::new(key(seed)) }
}

/// Chains that start with exact draws from `f_β`, for five β in the same batch. 80 tests in all: the false-alarm rate
/// is 8·10⁻⁵.
#[test]
fn exact_draws_stay_exact_for_every_beta() {
    const CHAINS: u32 = 20_000;
    const BETAS: [f64; 5] = [0.0, 0.1, 0.5, 1.0, 1.7];
    let model = NormalGamma { y: vec![1.3, 0.4, 2.2, 0.9, 1.1, -0.3] };
    for (name, kernel) in kernels() {
        let beta = |chain: u32| BETAS[chain as usize % BETAS.len()];
        let exact = |chain: u32| model.posterior(beta(chain)).draw(&mut key(1).chain(chain).stream());
        let starts: Vec<Start> = (0..CHAINS).map(|c| Start::at(c, &exact(c)).beta(beta(c))).collect();
        let (keep, _) = run(&Lanes(model.clone()), &settings(kernel, 3, 2), &starts).expect("a run");
        let mut pivots = vec![[vec![], vec![]]; BETAS.len()];
        let mut moved = 0.0;
        for (chain, draws) in (0..CHAINS).zip(keep.chains()) {
            let end = &draws[2].q;
            let [u, v] = model.posterior(beta(chain)).pivots(end);
            let pivots = &mut pivots[chain as usize % BETAS.len()];
            pivots[0].push(u);
            pivots[1].push(v);
            moved += (end[0] - exact(chain)[0]).abs() / f64::from(CHAINS);
        }
        assert!(moved > 0.2, "{name}: the kernel does something: {moved}");
        for (beta, [u, v]) in BETAS.iter().zip(pivots) {
            assert_uniform(&format!("{name}, beta {beta}, mu"), u);
            assert_uniform(&format!("{name}, beta {beta}, tau"), v);
        }
    }
}

/// Geweke, "Getting it right" (2004), in the form that starts anew each time: parameters from the prior, data given
/// them, some transitions given the data. The parameters are still a draw from the prior, and jointly with the data. 24
/// tests: the false-alarm rate is 2.4·10⁻⁵.
#[test]
fn joint_draws_stay_joint_draws() {
    const REPLICATES: u32 = 4000;
    for (name, kernel) in kernels() {
        let mut pivots = [vec![], vec![], vec![]];
        let settings = settings(kernel, 3, 4);
        for replicate in 0..REPLICATES {
            let mut stream = key(3).chain(replicate).stream();
            let before = NormalGamma::prior(&mut stream);
            let model = NormalGamma::simulate(before, 5, &mut stream);
            let starts = [Start::at(replicate, &before)];
            let (_, outcomes) = run(&Lanes(model.clone()), &settings, &starts).expect("a run");
            let after = &outcomes[0].state.q;
            let [u, v] = NormalGamma { y: vec![] }.posterior(1.0).pivots(after);
            let squares: f64 = model.y.iter().map(|y| (y - after[0]).powi(2)).sum();
            pivots[0].push(u);
            pivots[1].push(v);
            // τ Σ (y − μ)² is χ² with 5 degrees of freedom.
            pivots[2].push(crust_math::special::gamma_p(2.5, 0.5 * after[1].exp() * squares));
        }
        for (part, u) in ["mu", "tau", "data"].iter().zip(pivots) {
            assert_uniform(&format!("{name}, {part}"), u);
        }
    }
}

/// Gandy and Scott, "Unit testing for MCMC and other Monte Carlo methods" (2020): the exact draw is put at a random
/// place of a stretch of the chain, which goes on from it in both directions (the kernels are reversible). Then its
/// rank among all points of the stretch is uniform, however slowly the chain mixes. χ² with 7 degrees of freedom
/// exceeds 46.0 with probability 9·10⁻⁸; 16 tests: the false-alarm rate is 1.5·10⁻⁶.
#[test]
fn ranks_are_uniform() {
    const REPLICATES: u32 = 3000;
    const LENGTH: usize = 8;
    for (name, kernel) in kernels() {
        let mut counts = [[0_u32; LENGTH]; 2];
        let settings = settings(kernel, LENGTH - 1, 6);
        for replicate in 0..REPLICATES {
            let mut stream = key(5).chain(replicate).stream();
            let exact = NormalGamma::prior(&mut stream);
            let model = NormalGamma::simulate(exact, 5, &mut stream);
            let place = usize::try_from(stream.below(LENGTH as u64)).expect("small");
            let starts = [Start::at(2 * replicate, &exact), Start::at(2 * replicate + 1, &exact)];
            let (keep, _) = run(&Lanes(model), &settings, &starts).expect("a run");
            let chains = keep.chains();
            let stretch: Vec<_> = chains[0][..place].iter().chain(&chains[1][..LENGTH - 1 - place]).collect();
            for (i, counts) in counts.iter_mut().enumerate() {
                // After a rejection there are ties: the exact draw takes a uniform place among its equals.
                let lower = stretch.iter().filter(|kept| kept.q[i] < exact[i]).count();
                let equal = stretch.iter().filter(|kept| kept.q[i].to_bits() == exact[i].to_bits()).count();
                let among = usize::try_from(stream.below(equal as u64 + 1)).expect("small");
                counts[lower + among] += 1;
            }
        }
        for (part, counts) in ["mu", "tau"].iter().zip(counts) {
            let expected = f64::from(REPLICATES) / count(LENGTH);
            let statistic: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
            assert!(statistic < 46.0, "{name}, {part}: chi-square {statistic}: {counts:?}");
        }
    }
}
