//! What the convergence diagnostics must say of chains whose behaviour is known.

use crust_diagnose::convergence::{
    ess_bulk, ess_local, ess_mad, ess_mean, ess_median, ess_quantile, ess_sd, ess_tail, mcse_mean, mcse_median,
    mcse_quantile, mcse_sd, rhat, rhat_folded, rhat_identity, rhat_split, rhat_z_scale,
};
use crust_math::random::{Purpose, StreamKey};

/// Stationary AR(1) chains with standard normal draws.
fn autoregressive(correlation: f64, chains: u32, draws: usize) -> Vec<Vec<f64>> {
    let innovation = (1.0 - correlation * correlation).sqrt();
    let chain = |number| {
        let mut stream = StreamKey::new(20_261_115, Purpose::PRIOR).chain(number).stream();
        let mut state = stream.standard_normal();
        let step = || {
            state = correlation * state + innovation * stream.standard_normal();
            state
        };
        std::iter::repeat_with(step).take(draws).collect()
    };
    (0..chains).map(chain).collect()
}

type Statistic = fn(&[Vec<f64>]) -> f64;

const ALL: [(&str, Statistic); 17] = [
    ("rhat", |x| rhat(x)),
    ("rhat_split", |x| rhat_split(x)),
    ("rhat_identity", |x| rhat_identity(x)),
    ("rhat_z_scale", |x| rhat_z_scale(x)),
    ("rhat_folded", |x| rhat_folded(x)),
    ("ess_bulk", |x| ess_bulk(x)),
    ("ess_tail", |x| ess_tail(x)),
    ("ess_mean", |x| ess_mean(x)),
    ("ess_sd", |x| ess_sd(x)),
    ("ess_median", |x| ess_median(x)),
    ("ess_mad", |x| ess_mad(x)),
    ("ess_quantile", |x| ess_quantile(x, 0.1)),
    ("ess_local", |x| ess_local(x, 0.1, 0.2)),
    ("mcse_mean", |x| mcse_mean(x)),
    ("mcse_sd", |x| mcse_sd(x)),
    ("mcse_median", |x| mcse_median(x)),
    ("mcse_quantile", |x| mcse_quantile(x, 0.1)),
];

#[test]
fn mixed_chains_converge_and_unmixed_ones_do_not() {
    let mixed = autoregressive(0.0, 4, 1000);
    assert!(rhat(&mixed) < 1.005, "{}", rhat(&mixed));
    let mut shifted = mixed.clone();
    shifted[2].iter_mut().for_each(|x| *x += 1.0);
    assert!(rhat(&shifted) > 1.05 && rhat_split(&shifted) > 1.05);
    // a different scale shows only where distances from the median are looked at
    let mut scaled = mixed.clone();
    scaled[0].iter_mut().for_each(|x| *x *= 4.0);
    assert!(rhat(&scaled) > 1.1 && rhat_split(&scaled) < 1.01 && rhat_z_scale(&scaled) < 1.01);
    // a trend that all chains share shows only where chains are split
    let trend: Vec<Vec<f64>> =
        mixed.iter().map(|chain| chain.iter().zip(0..).map(|(x, i)| x + 0.003 * f64::from(i)).collect()).collect();
    assert!(rhat(&trend) > 1.1 && rhat_identity(&trend) < 1.01);
}

#[test]
fn rank_statistics_do_not_see_monotone_transformations() {
    let draws = autoregressive(0.5, 4, 400);
    let heavy: Vec<Vec<f64>> = draws.iter().map(|chain| chain.iter().map(|x| (5.0 * x).exp()).collect()).collect();
    assert_eq!(ess_bulk(&draws).to_bits(), ess_bulk(&heavy).to_bits());
    assert_eq!(ess_tail(&draws).to_bits(), ess_tail(&heavy).to_bits());
    assert_eq!(rhat_z_scale(&draws).to_bits(), rhat_z_scale(&heavy).to_bits());
}

/// N (1 − ρ)/(1 + ρ) is the effective size of an AR(1) chain for its mean. The estimate of 80 000 draws has a relative
/// standard error below 4%: six of them make a false alarm all but impossible.
#[test]
fn ess_of_autoregressive_chains_is_known() {
    for correlation in [-0.5, 0.0, 0.5, 0.9] {
        let chains = autoregressive(correlation, 8, 10_000);
        let expected = 80_000.0 * (1.0 - correlation) / (1.0 + correlation);
        let ratio = ess_mean(&chains) / expected;
        assert!((ratio - 1.0).abs() < 0.25, "ρ = {correlation}: {ratio}");
    }
}

#[test]
fn antithetic_chains_are_worth_more_than_independent_draws_up_to_a_bound() {
    let antithetic = autoregressive(-0.5, 4, 1000);
    assert!(ess_mean(&antithetic) > 8000.0, "{}", ess_mean(&antithetic));
    // perfect alternation: the bound N log₁₀ N, as ArviZ has it
    let alternating = vec![[1.0, -1.0].repeat(250); 4];
    assert!((ess_mean(&alternating) - 2000.0 * 2000.0_f64.log10()).abs() < 1e-9);
}

#[test]
fn interval_probabilities_have_the_ess_of_arviz() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden/mcmc.json")).expect("JSON");
    let draws: Vec<Vec<f64>> =
        serde_json::from_value(golden["cases"]["iid_4x500"]["draws"].clone()).expect("chains × draws");
    assert!((ess_local(&draws, 0.1, 0.3) - 1_958.206_027_775_267_8).abs() < 1e-8);
}

#[test]
fn constant_chains_have_no_diagnostics() {
    for (name, statistic) in ALL {
        assert!(statistic(&vec![vec![1.5; 100]; 4]).is_nan(), "{name}");
    }
    // rounding noise on a constant is still a constant, and a small scale is not
    let noise: Vec<Vec<f64>> = vec![[1000.0, 1000.0 + 1e-13].repeat(50); 4];
    assert!(ess_mean(&noise).is_nan());
    let small: Vec<Vec<f64>> =
        autoregressive(0.0, 4, 100).iter().map(|chain| chain.iter().map(|x| 1e-30 * x).collect()).collect();
    assert!(ess_mean(&small) > 200.0);
}

#[test]
fn chains_stuck_at_different_values_have_not_converged() {
    let stuck: Vec<Vec<f64>> = (0..4).map(|chain| vec![f64::from(chain); 100]).collect();
    assert_eq!(rhat_split(&stuck).to_bits(), f64::INFINITY.to_bits());
    assert!(rhat(&stuck) > 1e6, "{}", rhat(&stuck));
    assert!(ess_mean(&stuck) < 10.0, "{}", ess_mean(&stuck));
}

#[test]
fn draws_that_are_not_numbers_have_no_diagnostics_and_infinite_ones_only_ranks() {
    let moments = ["rhat_split", "rhat_identity", "ess_mean", "ess_sd", "mcse_mean", "mcse_sd"];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut chains = autoregressive(0.0, 4, 100);
        chains[1][17] = bad;
        for (name, statistic) in ALL {
            let value = statistic(&chains);
            let exists = bad.is_infinite() && !moments.contains(&name);
            assert_eq!(value.is_finite(), exists, "{name} with {bad}: {value}");
            assert_eq!(value.is_nan(), !exists, "{name} with {bad}: {value}");
        }
    }
}

#[test]
fn short_chains_say_nan_and_never_panic() {
    for chains in 0..4 {
        for draws in 0..14 {
            let short = autoregressive(0.3, chains, draws);
            for (name, statistic) in ALL {
                let value = statistic(&short);
                let fewest = if name == "rhat_identity" { 2 } else { 4 };
                if chains == 0 || draws < fewest {
                    assert!(value.is_nan(), "{name} of {chains} × {draws}: {value}");
                }
            }
            if chains > 0 && draws >= 6 {
                assert!(ess_mean(&short).is_finite(), "{chains} × {draws}");
            }
        }
    }
    // halves of 3 to 5 draws tell nothing of autocorrelation: one in two counts, as in posterior
    let few = autoregressive(0.0, 3, 8);
    assert!((ess_mean(&few) - 12.0).abs() < 1e-12, "{}", ess_mean(&few));
}

#[test]
fn chains_of_different_lengths_are_cut_to_the_shortest() {
    let mut chains = autoregressive(0.5, 4, 300);
    let even = rhat(&chains);
    chains[0].extend([100.0; 50]);
    assert_eq!(rhat(&chains).to_bits(), even.to_bits());
    assert!(mcse_quantile(&chains, 0.5).is_finite());
}
