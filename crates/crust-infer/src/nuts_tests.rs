use crust_math::random::{Purpose, StreamKey};

use super::*;
use crate::kernel::{Densities, Method, Transition};
use crate::metric::Metric;

/// A density with its gradient.
type Density = fn(&[f64]) -> (f64, Vec<f64>);

/// A correlated, badly scaled normal density: −½ |R x|² for a bidiagonal R.
fn normal(q: &[f64]) -> (f64, Vec<f64>) {
    let scale = |i: usize| [0.1, 1.0, 5.0, 0.3][i % 4];
    let z: Vec<f64> = (0..q.len()).map(|i| q[i] / scale(i) - if i > 0 { 0.8 * q[i - 1] } else { 0.0 }).collect();
    let next = |i: usize| z.get(i + 1).map_or(0.0, |z| 0.8 * z);
    (-0.5 * z.iter().map(|z| z * z).sum::<f64>(), (0..q.len()).map(|i| next(i) - z[i] / scale(i)).collect())
}

/// Neal's funnel: the scale of the others is exp(q₀/2).
fn funnel(q: &[f64]) -> (f64, Vec<f64>) {
    let (v, x) = (q[0], &q[1..]);
    let squares = x.iter().map(|x| x * x).sum::<f64>() * (-v).exp();
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let n = x.len() as f64;
    let mut gradient = vec![-v / 9.0 - 0.5 * n + 0.5 * squares];
    gradient.extend(x.iter().map(|x| -x * (-v).exp()));
    (-v * v / 18.0 - 0.5 * n * v - 0.5 * squares, gradient)
}

/// Normal, but only where the first coordinate is positive.
fn half(q: &[f64]) -> (f64, Vec<f64>) {
    let log = if q[0] > 0.0 { -0.5 * q.iter().map(|x| x * x).sum::<f64>() } else { f64::NEG_INFINITY };
    (log, q.iter().map(|x| -x).collect())
}

#[derive(Clone)]
struct Point {
    q: Vec<f64>,
    p: Vec<f64>,
    energy: f64,
}

/// A tree that remembers all of its momenta, in the order of integration.
struct Reference {
    momenta: Vec<Vec<f64>>,
    last: Point,
    proposal: Point,
    log_weight: f64,
}

/// The algorithm as the papers state it, by recursion, with sums over all points of a tree.
struct Recursion<'a> {
    density: Density,
    kernel: &'a Kernel,
    stream: Stream,
    step: f64,
    initial_energy: f64,
    sum_accept: f64,
    points: u32,
    divergent: bool,
}

impl Recursion<'_> {
    fn velocity(&self, p: &[f64]) -> Vec<f64> {
        let mut velocity = vec![0.0; p.len()];
        self.kernel.metric.velocity(p, &mut velocity);
        velocity
    }

    fn energy(&self, q: &[f64], p: &[f64]) -> f64 {
        0.5 * self.velocity(p).iter().zip(p).map(|(v, p)| v * p).sum::<f64>() - (self.density)(q).0
    }

    fn leapfrog(&self, from: &Point, sign: f64) -> Point {
        let step = sign * self.step;
        let kick = |q: &[f64], p: &[f64]| -> Vec<f64> {
            (self.density)(q).1.iter().zip(p).map(|(g, p)| p + 0.5 * step * g).collect()
        };
        let p = kick(&from.q, &from.p);
        let q: Vec<f64> = from.q.iter().zip(self.velocity(&p)).map(|(q, v)| q + step * v).collect();
        let p = kick(&q, &p);
        let energy = self.energy(&q, &p);
        Point { q, p, energy: if energy.is_nan() { f64::INFINITY } else { energy } }
    }

    fn no_turn(&self, momenta: &[Vec<f64>]) -> bool {
        let rho = |i| momenta.iter().map(|p| p[i]).sum::<f64>();
        let along = |p: &[f64]| self.velocity(p).iter().enumerate().map(|(i, v)| v * rho(i)).sum::<f64>() > 0.0;
        along(&momenta[0]) && along(&momenta[momenta.len() - 1])
    }

    /// Whether two halves and their seam do not turn.
    fn persists(&self, momenta: &[Vec<f64>], half: usize) -> bool {
        self.no_turn(momenta) && self.no_turn(&momenta[..=half]) && self.no_turn(&momenta[half - 1..])
    }

    fn build(&mut self, from: &Point, depth: u32, sign: f64) -> Option<Reference> {
        if depth == 0 {
            let point = self.leapfrog(from, sign);
            self.points += 1;
            self.sum_accept += (self.initial_energy - point.energy).exp().min(1.0);
            self.divergent = point.energy - self.initial_energy > 1000.0;
            let log_weight = self.initial_energy - point.energy;
            let tree = Reference { momenta: vec![point.p.clone()], last: point.clone(), proposal: point, log_weight };
            return (!self.divergent).then_some(tree);
        }
        let first = self.build(from, depth - 1, sign)?;
        let last = self.build(&first.last, depth - 1, sign)?;
        let log_weight = (first.log_weight.exp() + last.log_weight.exp()).ln();
        let take_last = self.stream.uniform() < (last.log_weight - log_weight).exp();
        let half = first.momenta.len();
        let momenta = [first.momenta, last.momenta].concat();
        let proposal = if take_last { last.proposal } else { first.proposal };
        self.persists(&momenta, half).then_some(Reference { momenta, last: last.last, proposal, log_weight })
    }

    fn transition(&mut self, q: &[f64], max_depth: u32) -> (Vec<f64>, Statistics) {
        let mut p = vec![0.0; q.len()];
        self.step = self.kernel.draw_step_size(&mut self.stream);
        self.kernel.metric.draw_momentum(&mut p, &mut self.stream);
        self.initial_energy = self.energy(q, &p);
        let start = Point { q: q.to_vec(), p: p.clone(), energy: self.initial_energy };
        let (mut ends, mut sample, mut momenta) = ([start.clone(), start.clone()], start, vec![p]);
        let (mut weight, mut depth) = (1.0, 0);
        while depth < max_depth {
            let forward = self.stream.uniform() > 0.5;
            let from = ends[usize::from(forward)].clone();
            let Some(new) = self.build(&from, depth, if forward { 1.0 } else { -1.0 }) else { break };
            depth += 1;
            if self.stream.uniform() < new.log_weight.exp() / weight {
                sample = new.proposal;
            }
            weight += new.log_weight.exp();
            ends[usize::from(forward)] = new.last;
            // In the order of time, or against it: the criterion does not care.
            if !forward {
                momenta.reverse();
            }
            let half = momenta.len();
            momenta.extend(new.momenta);
            let persists = self.persists(&momenta, half);
            if !forward {
                momenta.reverse();
            }
            if !persists {
                break;
            }
        }
        let statistics = Statistics {
            accept_stat: self.sum_accept / f64::from(self.points),
            step_size: self.step,
            tree_depth: depth,
            leapfrog_steps: self.points,
            divergent: self.divergent,
            energy: sample.energy,
        };
        (sample.q, statistics)
    }
}

fn state_at(density: Density, q: Vec<f64>) -> State {
    let (log_prior, gradient) = density(&q);
    State { q, gradient, densities: at(log_prior) }
}

fn at(log_prior: f64) -> Densities {
    Densities { log_prior, ..Densities::default() }
}

/// Runs both for some transitions with the same random numbers; returns the statistics.
fn compare(density: Density, kernel: &Kernel, start: &[f64], transitions: u64) -> Vec<Statistics> {
    let Method::Nuts { max_depth, .. } = kernel.method else { panic!("NUTS only") };
    let mut state = state_at(density, start.to_vec());
    let mut transition = Transition::new(kernel.method, start.len());
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{a} {b}");
    let mut all = vec![];
    for step in 0..transitions {
        let stream = StreamKey::new(5, Purpose::TEST).step(step).stream();
        transition.begin(kernel, &state, stream.clone());
        let found = loop {
            let (log_density, gradient) = density(transition.position());
            transition.gradient_mut().copy_from_slice(&gradient);
            if let Some(statistics) = transition.advance(kernel, at(log_density)) {
                break statistics;
            }
        };
        let mut recursion = Recursion {
            density,
            kernel,
            stream,
            step: 0.0,
            initial_energy: 0.0,
            sum_accept: 0.0,
            points: 0,
            divergent: false,
        };
        let (q, expected) = recursion.transition(&state.q, max_depth);
        transition.finish(&mut state);
        assert_eq!(
            (found.tree_depth, found.leapfrog_steps, found.divergent),
            (expected.tree_depth, expected.leapfrog_steps, expected.divergent)
        );
        close(found.accept_stat, expected.accept_stat);
        close(found.step_size, expected.step_size);
        close(found.energy, expected.energy);
        state.q.iter().zip(&q).for_each(|(a, b)| close(*a, *b));
        let (log_density, gradient) = density(&state.q);
        close(state.log_density(), log_density);
        state.gradient.iter().zip(&gradient).for_each(|(a, b)| close(*a, *b));
        all.push(found);
    }
    all
}

fn kernel(step_size: f64, jitter: f64, max_depth: u32, metric: Metric) -> Kernel {
    Kernel { method: Method::Nuts { max_depth, max_energy_error: 1000.0 }, step_size, jitter, short: 0.0, metric }
}

#[test]
fn trajectories_are_those_of_the_recursion() {
    let dense = Metric::dense(2, vec![0.01, 0.05, 0.05, 1.0]).unwrap();
    for metric in [Metric::Unit, Metric::diagonal(vec![0.02, 0.7]).unwrap(), dense] {
        let all = compare(normal, &kernel(0.11, 0.3, 10, metric), &[0.1, -0.2], 300);
        assert!(all.iter().any(|s| s.tree_depth >= 3) && all.iter().all(|s| !s.divergent));
    }
    let all = compare(normal, &kernel(0.12, 0.0, 10, Metric::Unit), &[0.1; 11], 150);
    // Trees stop for turning inside of a subtree too: then the number of leaves is not one below a power of 2.
    assert!(all.iter().any(|s| !(s.leapfrog_steps + 1).is_power_of_two()));
    assert!(all.iter().any(|s| s.tree_depth >= 5));
}

#[test]
fn full_depth_is_that_of_the_recursion() {
    for max_depth in [1, 2, 5] {
        let all = compare(normal, &kernel(0.01, 0.0, max_depth, Metric::Unit), &[0.1; 5], 100);
        let full = all.iter().filter(|s| s.tree_depth == max_depth && s.leapfrog_steps == (1 << max_depth) - 1);
        assert!(full.count() > 90);
    }
}

#[test]
fn divergences_are_those_of_the_recursion() {
    let mut start = vec![1.0];
    start.extend([0.1, -0.2, 0.05, 0.0, 0.3]);
    let all = compare(funnel, &kernel(0.9, 0.0, 8, Metric::Unit), &start, 300);
    let divergent = all.iter().filter(|s| s.divergent).count();
    assert!((3..290).contains(&divergent), "{divergent}");
    let all = compare(half, &kernel(0.4, 0.0, 8, Metric::Unit), &[0.3, 1.0], 300);
    let divergent = all.iter().filter(|s| s.divergent).count();
    assert!((3..290).contains(&divergent), "{divergent}");
}
