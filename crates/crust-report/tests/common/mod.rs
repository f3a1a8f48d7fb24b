//! Results as real runs give them, made up: weights are Gaussian with the variance c/T, for which all bounds are known.
//!
//! If log w ~ N(Z − v/2, v) forward, then Crooks' relation makes −log w ~ N(Z + v/2, v) in reverse, and the Jeffreys
//! bound is v.

#![allow(clippy::cast_precision_loss, reason = "made-up numbers of chains and steps")]

use crust_diagnose::result::{
    Bdmc, Bread, Calibration, Check, Compare, Dataset, Entry, Fit, ForwardRung, Hyperparameter, KernelAt, Level,
    MeanRung, Reading, RealData, Run, Rung, RungTime, StartCheck, Stated, Timing, Verdict,
};
use std::collections::BTreeMap;

pub struct Stream(u64);

impl Stream {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap()) / 4_294_967_296.0 + 1e-10
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

const CHAINS: usize = 100;
pub const LADDER: [usize; 6] = [10, 30, 100, 300, 1000, 3000];

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn standard_error(values: &[f64]) -> f64 {
    let m = mean(values);
    (values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0) / values.len() as f64).sqrt()
}

fn log_mean_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + (values.iter().map(|v| (v - top).exp()).sum::<f64>() / values.len() as f64).ln()
}

fn quartiles(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|q| sorted[q * (sorted.len() - 1) / 4]).to_vec()
}

pub fn rung(t: usize, log_ml: f64, difficulty: f64, stream: &mut Stream) -> Rung {
    let variance = difficulty / t as f64;
    let mut draw = |sign: f64| log_ml + sign * variance / 2.0 + variance.sqrt() * stream.normal();
    let forward: Vec<f64> = (0..CHAINS).map(|_| draw(-1.0)).collect();
    let reverse: Vec<f64> = (0..CHAINS).map(|_| draw(1.0)).collect();
    let pairs: Vec<f64> = reverse.iter().flat_map(|r| forward.iter().map(move |f| r - f)).collect();
    let negated: Vec<f64> = reverse.iter().map(|r| -r).collect();
    let (lower, upper) = (log_mean_exp(&forward), -log_mean_exp(&negated));
    Rung {
        t,
        log_ml_lower: lower,
        log_ml_upper: upper,
        log_ml_bar: if upper - lower < 20.0 { f64::midpoint(lower, upper) } else { f64::NAN },
        log_ml_bar_se: 0.3 * variance.sqrt() / 10.0,
        jeffreys_bound: mean(&reverse) - mean(&forward),
        jeffreys_se: standard_error(&reverse).hypot(standard_error(&forward)),
        jeffreys_upper: mean(&reverse) - mean(&forward)
            + 1.7 * standard_error(&reverse).hypot(standard_error(&forward)),
        khat_forward: 0.1,
        khat_reverse: 0.2,
        deciding: 20,
        jeffreys_quartiles: quartiles(&pairs),
        kl_forward_bound: upper - mean(&forward),
        kl_forward_se: standard_error(&forward),
        kl_reverse_bound: mean(&reverse) - lower,
        kl_reverse_se: standard_error(&reverse),
        accept_forward: 0.82,
        accept_reverse: 0.81,
        evaluations: (t * 2 * CHAINS * 7) as u64,
        divergences: if t == 10 { 12 } else { 0 },
        rejected: 0,
        forward,
        reverse,
    }
}

pub fn rungs(log_ml: f64, difficulty: f64, seed: u64) -> Vec<Rung> {
    let mut stream = Stream::new(seed);
    LADDER.iter().map(|t| rung(*t, log_ml, difficulty, &mut stream)).collect()
}

fn run(model: &str, data: &str) -> Run {
    let options = [("starts", "1000 steps"), ("replicates", "20")];
    Run {
        version: "0.1.0".to_owned(),
        model: model.to_owned(),
        data: data.to_owned(),
        seed: 1,
        chains: CHAINS,
        steps: LADDER.to_vec(),
        tolerance: 0.1,
        schedule: "sigmoid".to_owned(),
        kernel: "HMC, 8 leapfrog steps".to_owned(),
        dimension: 10,
        options: options.map(|(a, b)| (a.to_owned(), b.to_owned())).into_iter().collect::<BTreeMap<_, _>>(),
    }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|w| (*w).to_owned()).collect()
}

fn reading() -> Reading {
    let stated = |name: &str, words: &str| Stated { name: name.to_owned(), words: words.to_owned() };
    Reading {
        parameters: vec![
            stated("scale_sq", "scale_sq ~ inv_gamma(1, 1)"),
            stated("alpha", "alpha ~ normal(0, sqrt(scale_sq))"),
            stated("beta", "beta ~ normal(0, sqrt(scale_sq)), 8 values"),
        ],
        outcomes: vec![stated("y", "y ~ bernoulli_logit(alpha + x * beta), 768 values")],
        hyperparameters: words(&["scale_sq"]),
        order: words(&["scale_sq", "alpha", "beta", "y"]),
        notes: words(&["x is a covariate: it stays as it is in simulated data."]),
    }
}

fn kernels() -> Vec<KernelAt> {
    let betas = [0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0];
    let at = |beta: f64| KernelAt {
        beta,
        step_size: 0.9 / (1.0 + 20.0 * beta).sqrt(),
        accept: 0.8 + 0.1 * (beta * 3.0).cos(),
    };
    betas.map(at).to_vec()
}

fn check(failed: bool) -> Check {
    Check {
        name: "order of the bounds".to_owned(),
        p_value: if failed { 1.2e-9 } else { 0.81 },
        level: 1e-4,
        rigorous: true,
        failed,
        sentence: if failed {
            "At T = 1000 the upper bound lies 20.7 nats below the lower one.".to_owned()
        } else {
            "No upper bound lies below a lower one by more than chance allows.".to_owned()
        },
    }
}

fn verdict(level: Level, sentence: &str) -> Verdict {
    Verdict {
        sentence: sentence.to_owned(),
        rests_on: words(&[
            "Both bounds on simulated data: 100 chains in each direction, T up to 3000.",
            "Reverse chains that begin at the generating values after 1000 steps of MCMC; a tenth of the steps gives the same bounds.",
            "Forward curves of real and simulated data that agree: rank 7 of 21.",
        ]),
        does_not_cover: words(&[
            "The samples of NUTS themselves: the bound is for annealed chains that use the same kind of transitions.",
            "Whether the model is true: only that inference behaves on the real data as it does where the model is true.",
        ]),
        level,
    }
}

fn curve(difficulty: f64, stream: &mut Stream) -> Vec<Vec<crust_diagnose::summary::Number>> {
    let quartiles = |t: &usize| {
        let v = difficulty / *t as f64;
        [-1.0, 0.0, 1.0]
            .map(|q| crust_diagnose::summary::Number(-v / 2.0 + 0.67 * q * v.sqrt() + 0.1 * v.sqrt() * stream.normal()))
            .to_vec()
    };
    LADDER[..4].iter().map(quartiles).collect()
}

pub fn bread() -> Bread {
    let mut stream = Stream::new(11);
    let simulated = rungs(-398.27, 130.0, 1);
    let real = rungs(-386.91, 133.0, 2);
    let forward = |r: &Rung| ForwardRung {
        t: r.t,
        forward: r.forward.clone(),
        log_ml_lower: r.log_ml_lower,
        quartiles: quartiles(&r.forward),
        accept_forward: r.accept_forward,
        evaluations: r.evaluations / 2,
        divergences: 0,
        rejected: 0,
    };
    let fewer = rung(1000, -398.27, 130.0, &mut stream);
    let start = rung(1000, -398.27, 130.0, &mut stream);
    let replicates: Vec<f64> = (0..20).map(|_| stream.normal().abs() + 0.3).collect();
    Bread {
        run: run("logistic_regression.stan", "pima.json"),
        reading: reading(),
        fit: Some(Fit {
            chains: 4,
            draws: 1000,
            worst_r_hat: 1.003,
            worst_r_hat_name: "beta[3]".to_owned(),
            least_ess: 1812.0,
            least_ess_name: "scale_sq".to_owned(),
            divergences: 0,
            least_e_bfmi: 0.9,
            hyperparameters: vec![Hyperparameter { name: "scale_sq".to_owned(), value: 0.347_21 }],
            warnings: vec![],
            ..Fit::default()
        }),
        real: RealData { rungs: real.iter().map(forward).collect(), heuristic: None },
        simulated: Dataset { number: 1, rungs: simulated },
        start_check: Some(StartCheck {
            t: 1000,
            steps: 1000,
            fewer_steps: 100,
            reverse: start.reverse,
            reverse_fewer: fewer.reverse,
            difference: 0.013,
            difference_se: 0.051,
            agree: true,
        }),
        calibration: Some(Calibration {
            steps: LADDER[..4].to_vec(),
            chains: 20,
            discrepancy: 1.1,
            rank: 1 + replicates.iter().filter(|r| **r >= 1.1).count(),
            p_value: 0.333,
            replicates,
            real_curve: curve(130.0, &mut stream),
            replicate_curves: (0..20).map(|_| curve(130.0, &mut stream)).collect(),
        }),
        kernels: kernels(),
        violation: false,
        checks: vec![check(false)],
        verdict: verdict(
            Level::Good,
            "On data like these, annealed samples are within 0.05 nats of the posterior at T = 3000 (Jeffreys divergence, in expectation), and the real data behave alike.",
        ),
        partial: false,
        ..Bread::default()
    }
}

pub fn bdmc() -> Bdmc {
    let datasets: Vec<Dataset> =
        (1..=3).map(|n| Dataset { number: n, rungs: rungs(-120.0 - f64::from(n), 400.0, u64::from(n)) }).collect();
    let mean_rung = |t: usize| {
        let at: Vec<&Rung> = datasets.iter().flat_map(|d| d.rungs.iter().filter(|r| r.t == t)).collect();
        let bounds: Vec<f64> = at.iter().map(|r| r.jeffreys_bound).collect();
        MeanRung {
            t,
            datasets: at.len(),
            jeffreys_bound: mean(&bounds),
            jeffreys_se: standard_error(&bounds),
            kl_forward_bound: mean(&at.iter().map(|r| r.kl_forward_bound).collect::<Vec<_>>()),
            kl_reverse_bound: mean(&at.iter().map(|r| r.kl_reverse_bound).collect::<Vec<_>>()),
        }
    };
    Bdmc {
        run: run("linear_regression.stan", "sizes.json"),
        reading: reading(),
        rungs: datasets[0].rungs.clone(),
        mean: LADDER.iter().map(|t| mean_rung(*t)).collect(),
        datasets,
        kernels: kernels(),
        violation: false,
        checks: vec![check(false)],
        verdict: verdict(
            Level::Poor,
            "Annealed samples may be 0.13 nats from the posterior at T = 3000: more than the 0.1 that was asked for.",
        ),
        partial: false,
    }
}

/// Upper bounds below lower ones, as a wrong simulator gives them.
pub fn violation() -> Bdmc {
    let mut result = bdmc();
    let mut stream = Stream::new(5);
    result.rungs = LADDER.iter().map(|t| rung(*t, -120.0, 130.0, &mut stream)).collect();
    for rung in &mut result.rungs {
        rung.reverse.iter_mut().for_each(|r| *r -= 20.0);
        rung.log_ml_upper -= 20.0;
        rung.jeffreys_bound -= 20.0;
        rung.jeffreys_quartiles.iter_mut().for_each(|q| *q -= 20.0);
    }
    result.mean.clear();
    result.datasets = vec![Dataset { number: 1, rungs: result.rungs.clone() }];
    result.violation = true;
    result.checks = vec![check(true)];
    result.verdict =
        verdict(Level::Violation, "The bounds contradict each other: simulator, density or transitions are wrong.");
    result
}

pub fn compare() -> Compare {
    let entry = |name: &str, difficulty: f64, cost: u64, seed: u64| {
        let mut rungs = rungs(-2100.0, difficulty, seed);
        rungs.iter_mut().for_each(|r| r.evaluations *= cost);
        Entry {
            name: name.to_owned(),
            kernel: "HMC, 8 leapfrog steps".to_owned(),
            schedule: "sigmoid".to_owned(),
            dimension: if cost > 1 { 125 } else { 375 },
            rungs,
            kernels: kernels(),
            exact_start: true,
        }
    };
    Compare {
        run: run("uncollapsed.stan", "sizes.json"),
        entries: vec![entry("uncollapsed.stan", 9000.0, 1, 21), entry("collapsed.stan", 2500.0, 2, 22)],
        shared: words(&["v"]),
        violation: false,
        checks: vec![check(false)],
        verdict: verdict(
            Level::Good,
            "collapsed.stan needs a third of the steps of uncollapsed.stan for the same bound, and the same time.",
        ),
        partial: false,
    }
}

pub fn timing(names: &[&str]) -> Timing {
    let rung = |(n, name): (usize, &&str)| {
        LADDER.map(|t| RungTime {
            name: (*name).to_owned(),
            t,
            forward_seconds: t as f64 * 0.002 * (1.0 + 3.0 * n as f64),
            reverse_seconds: t as f64 * 0.002,
        })
    };
    Timing {
        parts: [("fit", 2.41), ("pilot", 0.62), ("starts", 0.31), ("calibration", 8.2)]
            .map(|(a, b)| (a.to_owned(), b))
            .into_iter()
            .collect(),
        rungs: names.iter().enumerate().flat_map(rung).collect(),
    }
}
