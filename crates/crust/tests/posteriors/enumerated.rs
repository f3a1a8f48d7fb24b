//! Posteriors that are sums over the values of discrete unknowns.

use crate::algebra::{Part, log_gamma, mixture};
use crate::posterior;
use serde_json::json;

#[test]
fn change_point() {
    let y = [4_u32, 6, 3, 5, 2, 6, 1, 2, 0, 2, 1, 1, 3, 0];
    let (mut early, mut late, mut year) = (Vec::new(), Vec::new(), Vec::new());
    for s in 1..=y.len() {
        // exponential(½) is gamma(1, ½); the evidence of counts with sum S in n years is ∝ Γ(1 + S)/(½ + n)^(1 + S)
        let gamma = |counts: &[u32]| (1 + counts.iter().sum::<u32>(), 0.5 + counts.len() as f64);
        let evidence = |(shape, rate): (u32, f64)| log_gamma(shape) - f64::from(shape) * rate.ln();
        let (first, second) = (gamma(&y[..s - 1]), gamma(&y[s - 1..]));
        let log_weight = evidence(first) + evidence(second);
        let part = |(shape, rate): (u32, f64)| {
            let mean = f64::from(shape) / rate;
            Part { log_weight, mean, variance: mean / rate }
        };
        early.push(part(first));
        late.push(part(second));
        year.push(Part { log_weight, mean: s as f64, variance: 0.0 });
    }
    let truths = [mixture("early", &early), mixture("late", &late), mixture("s", &year)];
    posterior!("change_point", json!({"T": y.len(), "y": y}), truths);
}

#[test]
fn hidden_markov() {
    let y = [-0.8, 0.3, -1.9, 1.2, 2.4, 0.9, 1.6, -0.4, -1.1, 0.2];
    let centre = [-1.0, 1.0_f64];
    let log_beta = |a: u32, b: u32| log_gamma(a) + log_gamma(b) - log_gamma(a + b);
    let (mut stay, mut in_second) = ([Vec::new(), Vec::new()], Vec::new());
    for path in 0..1_usize << y.len() {
        let state: Vec<usize> = (0..y.len()).map(|t| path >> t & 1).collect();
        let mut log_weight: f64 = y.iter().zip(&state).map(|(y, &k)| -0.5 * (y - centre[k]).powi(2)).sum();
        // beta(3, 2) for staying in each state
        let mut counts = [(3, 2), (3, 2)];
        for pair in state.windows(2) {
            let (same, other) = &mut counts[pair[0]];
            *(if pair[0] == pair[1] { same } else { other }) += 1;
        }
        log_weight += counts.iter().map(|&(a, b)| log_beta(a, b)).sum::<f64>();
        for (parts, (a, b)) in stay.iter_mut().zip(counts) {
            let (a, b) = (f64::from(a), f64::from(b));
            let mean = a / (a + b);
            parts.push(Part { log_weight, mean, variance: mean * (1.0 - mean) / (a + b + 1.0) });
        }
        in_second.push(Part { log_weight, mean: state.iter().sum::<usize>() as f64, variance: 0.0 });
    }
    let truths = [mixture("stay[1]", &stay[0]), mixture("stay[2]", &stay[1]), mixture("in_second", &in_second)];
    posterior!("hidden_markov", json!({"T": y.len(), "y": y, "centre": centre}), truths);
}
