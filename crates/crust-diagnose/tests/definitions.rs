//! The statistics of the summary against their definitions, written down as plainly as possible.

use crust_diagnose::convergence as c;
use crust_diagnose::draws::Draws;
use crust_diagnose::summary::{Row, Summary, SummaryOptions};
use crust_math::random::{Purpose, Stream, StreamKey};
use crust_math::special::inv_Phi;

const QUANTILES: [f64; 4] = [0.0, 0.05, 0.3, 0.95];

fn number(n: usize) -> f64 {
    f64::from(u32::try_from(n).expect("few draws"))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / number(values.len())
}

fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|x| (x - centre).powi(2)).sum();
    if values.len() < 2 { f64::NAN } else { squares / (number(values.len()) - 1.0) }
}

fn quantile(values: &[f64], probability: f64) -> f64 {
    if values.is_empty() || values.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = probability * (number(values.len()) - 1.0);
    let below = (0..values.len()).rfind(|&i| number(i) <= position).expect("a place");
    let (low, high, weight) = (sorted[below], sorted[(below + 1).min(values.len() - 1)], position - number(below));
    if weight <= 0.0 || low.to_bits() == high.to_bits() { low } else { low + weight * (high - low) }
}

fn median(values: &[f64]) -> f64 {
    // not the quantile at 1/2, which rounds otherwise: draws at the same distance must stay so
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 || values.iter().any(|x| x.is_nan()) {
        f64::NAN
    } else {
        f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
    }
}

fn halves(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let half = |chain: &Vec<f64>| {
        let n = chain.len() / 2;
        [chain[..n].to_vec(), chain[chain.len() - n..].to_vec()]
    };
    chains.iter().flat_map(half).collect()
}

fn map(chains: &[Vec<f64>], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.iter().map(|&x| f(x)).collect()).collect()
}

/// Ranks by counting, and their scores.
fn scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let all = chains.concat();
    if all.iter().any(|x| x.is_nan()) {
        return map(chains, |_| f64::NAN);
    }
    map(chains, |x| {
        let below = number(all.iter().filter(|&&other| other < x).count());
        let equal = number(all.iter().filter(|&&other| other <= x).count()) - below;
        inv_Phi((below + f64::midpoint(equal, 1.0) - 0.375) / (number(all.len()) + 0.25))
    })
}

fn varies(chains: &[Vec<f64>]) -> bool {
    let all = chains.concat();
    let (least, greatest) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    all.iter().all(|x| x.is_finite()) && greatest - least > f64::EPSILON * least.abs().max(greatest.abs())
}

fn rhat_basic(chains: &[Vec<f64>]) -> f64 {
    if !varies(chains) {
        return f64::NAN;
    }
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let variances: Vec<f64> = chains.iter().map(|chain| variance(chain)).collect();
    let n = number(chains[0].len());
    ((variance(&means) * n / mean(&variances) + n - 1.0) / n).sqrt()
}

/// posterior's `ess`, with autocovariances by their definition. `None` where a sum of correlations is so near 0 that
/// rounding decides where Geyer's sequence ends.
fn ess(chains: &[Vec<f64>]) -> Option<f64> {
    let n = chains.first().map_or(0, Vec::len);
    if n < 3 || !varies(chains) {
        return Some(f64::NAN);
    }
    let autocovariance = |chain: &Vec<f64>, lag: usize| {
        let centre = mean(chain);
        chain.iter().zip(&chain[lag..]).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>() / number(n)
    };
    let averaged = |lag| mean(&chains.iter().map(|chain| autocovariance(chain, lag)).collect::<Vec<_>>());
    let within = averaged(0) * number(n) / (number(n) - 1.0);
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let total = averaged(0) + if chains.len() > 1 { variance(&means) } else { 0.0 };
    let rho = |lag: usize| if lag == 0 { 1.0 } else { 1.0 - (within - averaged(lag)) / total };
    let mut lag = 0;
    let (mut time, mut bound) = (-1.0, f64::INFINITY);
    loop {
        let sum = rho(lag) + rho(lag + 1);
        if sum.abs() < 1e-12 || (sum < 0.0 && rho(lag).abs() < 1e-12) {
            return None;
        }
        if lag + 5 >= n || sum < 0.0 {
            break;
        }
        bound = bound.min(sum);
        time += 2.0 * bound;
        lag += 2;
    }
    let sum = rho(lag) + rho(lag + 1);
    time = if lag == 0 && sum > 0.0 { 2.0 } else { time + if sum > 0.0 || rho(lag) > 0.0 { rho(lag) } else { 0.0 } };
    let size = number(n * chains.len());
    Some(size / time.max(1.0 / size.log10()))
}

fn ess_below(chains: &[Vec<f64>], probability: f64) -> Option<f64> {
    let limit = quantile(&chains.concat(), probability);
    if limit.is_nan() {
        return Some(f64::NAN);
    }
    ess(&halves(&map(chains, |x| f64::from(u8::from(x <= limit)))))
}

/// The statistics of a row by name, without those that rounding decides.
fn plain(chains: &[Vec<f64>]) -> Vec<(&'static str, f64)> {
    let all = chains.concat();
    let (centre, middle) = (mean(&all), median(&all));
    let squares = map(chains, |x| (x - centre).powi(2));
    let (second, fourth) = (mean(&squares.concat()), mean(&map(&squares, |x| x * x).concat()));
    let mcse_sd = |ess: f64| ((fourth - second * second) / ess / second / 4.0).sqrt();
    let folded = map(chains, |x| (x - middle).abs());
    let (bulk, tail) = (rhat_basic(&scores(&halves(chains))), rhat_basic(&scores(&halves(&folded))));
    let tails = ess_below(chains, 0.05).zip(ess_below(chains, 0.95));
    let mut found = vec![
        ("mean", Some(centre)),
        ("sd", Some(variance(&all).sqrt())),
        ("median", Some(middle)),
        ("mad", Some(1.4826 * median(&folded.concat()))),
        ("r_hat", Some(if tail.is_nan() { tail } else { bulk.max(tail) })),
        ("mcse_mean", ess(&halves(chains)).map(|ess| variance(&all).sqrt() / ess.sqrt())),
        ("mcse_sd", ess(&halves(&squares)).map(mcse_sd)),
        ("ess_bulk", ess(&scores(&halves(chains)))),
        ("ess_tail", tails.map(|(a, b)| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) })),
    ];
    found.extend(["q0", "q5", "q30", "q95"].into_iter().zip(QUANTILES.map(|p| Some(quantile(&all, p)))));
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn of_row(row: &Row, name: &str) -> f64 {
    match name {
        "mean" => row.mean,
        "sd" => row.sd,
        "median" => row.median,
        "mad" => row.mad,
        "r_hat" => row.r_hat,
        "mcse_mean" => row.mcse_mean,
        "mcse_sd" => row.mcse_sd,
        "ess_bulk" => row.ess_bulk,
        "ess_tail" => row.ess_tail,
        quantile => row.quantiles[quantile].0,
    }
}

/// A kind of draws: its name, and a draw from the chain's number, the draw's number and the draw before.
type Kind = (&'static str, fn(&mut Stream, usize, usize, f64) -> f64);

const KINDS: [Kind; 16] = [
    ("independent", |stream, _, _, _| stream.standard_normal()),
    ("slow", |stream, _, _, last| 0.95 * last + 0.3 * stream.standard_normal()),
    ("antithetic", |stream, _, _, last| -0.6 * last + stream.standard_normal()),
    ("apart", |stream, chain, _, _| number(chain) + stream.standard_normal()),
    ("with ties", |stream, _, _, last| if stream.uniform() < 0.5 { last } else { stream.standard_normal() }),
    ("whole numbers", |stream, _, _, _| (2.0 * stream.standard_normal()).round()),
    ("zeros of both signs", |stream, _, _, _| if stream.uniform() < 0.5 { -0.0 } else { stream.uniform().round() }),
    ("heavy tails", |stream, _, _, _| (3.0 * stream.standard_normal()).exp()),
    ("far from 0", |stream, _, _, _| 4096.0 + stream.standard_normal()),
    ("constant", |_, _, _, _| 1.5),
    ("a constant chain", |stream, chain, _, _| if chain == 0 { 1.5 } else { stream.standard_normal() }),
    ("some NaN", |stream, _, _, _| if stream.uniform() < 0.03 { f64::NAN } else { stream.standard_normal() }),
    ("NaN in the middle", |stream, _, draw, _| if draw == 50 { f64::NAN } else { stream.standard_normal() }),
    ("some infinite", |stream, _, _, _| 1.0 / (3.0 * stream.standard_normal()).round().abs()),
    (
        "mostly infinite",
        |stream, _, _, _| if stream.uniform() < 0.6 { f64::INFINITY } else { stream.standard_normal() },
    ),
    ("infinite on both sides", |stream, _, _, _| 1.0 / (2.0 * stream.standard_normal()).round()),
];

fn chains(kind: &Kind, chains: usize, draws: usize) -> Vec<Vec<f64>> {
    let seed = number(draws).to_bits();
    let mut stream = StreamKey::new(seed, Purpose::TEST).stream();
    let mut chain = |which| {
        let mut last = stream.standard_normal();
        let step = |draw| {
            last = kind.1(&mut stream, which, draw, last);
            last
        };
        (0..draws).map(step).collect()
    };
    (0..chains).map(&mut chain).collect()
}

/// Each kind of draws, few and many, of even and odd number, with more lags than are summed directly.
fn each_case(check: impl Fn(&str, &[Vec<f64>])) {
    for kind in &KINDS {
        for number in [1, 2, 3, 9] {
            for draws in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 30, 100, 101, 250] {
                check(&format!("{}, {number} × {draws}", kind.0), &chains(kind, number, draws));
            }
        }
    }
}

#[test]
fn rows_are_their_definitions() {
    let compared = std::cell::Cell::new(0);
    each_case(|case, chains| {
        let row = Row::new("x", chains, &QUANTILES);
        for (name, plain) in plain(chains) {
            let ours = of_row(&row, name);
            let exact = ["median", "mad", "q0", "q5", "q30", "q95"].contains(&name);
            // chains that stand still have a variance of rounding errors within them
            let unbounded = name == "r_hat" && plain > 1e6 && ours > 1e6;
            let error = if exact { 0.0 } else { 1e-9 * plain.abs() + 1e-13 };
            let same = ours.to_bits() == plain.to_bits() || (ours.is_nan() && plain.is_nan());
            assert!(same || unbounded || (ours - plain).abs() <= error, "{case}, {name}: {ours} and not {plain}");
            compared.set(compared.get() + 1);
        }
    });
    // rounding decides hardly ever
    let all = 16 * 4 * 16 * 13;
    assert!(compared.get() > all * 95 / 100, "{} of {all}", compared.get());
}

#[test]
fn rows_have_the_numbers_of_the_functions() {
    each_case(|case, chains| {
        let row = Row::new("x", chains, &QUANTILES);
        let all = chains.concat();
        let numbers = [
            ("mean", c::mean(&all)),
            ("mcse_mean", c::mcse_mean(chains)),
            ("sd", c::sd(&all)),
            ("mcse_sd", c::mcse_sd(chains)),
            ("median", c::median(&all)),
            ("mad", c::mad(&all)),
            ("ess_bulk", c::ess_bulk(chains)),
            ("ess_tail", c::ess_tail(chains)),
            ("r_hat", c::rhat(chains)),
            ("q5", c::quantile(&all, 0.05)),
        ];
        for (name, theirs) in numbers {
            let ours = of_row(&row, name);
            let same = ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan());
            assert!(same, "{case}, {name}: {ours} and not {theirs}");
        }
    });
}

/// Memory that one quantity after the other uses must not carry anything over.
#[test]
fn rows_do_not_depend_on_the_quantities_before_them() {
    for draws in [5, 100, 101] {
        let columns: Vec<Vec<Vec<f64>>> =
            KINDS.iter().chain(KINDS.iter().rev()).map(|kind| chains(kind, 3, draws)).collect();
        let names = (1..=columns.len()).map(|i| format!("x.{i}")).collect();
        let mut run = Draws::new(vec![], names, 3);
        for (quantity, column) in columns.iter().enumerate() {
            for (chain, values) in run.chains.iter_mut().zip(column) {
                chain.sampling.quantities[quantity].clone_from(values);
            }
        }
        let summary = Summary::new(&run, &SummaryOptions { quantiles: QUANTILES.to_vec(), max_depth: None });
        for (row, (column, name)) in summary.rows.iter().zip(columns.iter().zip(&run.names)) {
            let alone = Row::new(name, column, &QUANTILES);
            let text = |row: &Row| serde_json::to_string(row).expect("JSON");
            assert_eq!(text(row), text(&alone));
        }
    }
}
