use crust_math::random::{Purpose, StreamKey};

use super::*;

const D: usize = 3;

/// log f = −Σ x⁴/4 − ½ (x₀ + 2x₁ − x₂)², which is neither normal nor separable.
fn log_density(q: &[f64]) -> f64 {
    let sum = q[0] + 2.0 * q[1] - q[2];
    -q.iter().map(|x| x.powi(4) / 4.0).sum::<f64>() - 0.5 * sum * sum
}

fn gradient(q: &[f64], out: &mut [f64]) {
    let sum = q[0] + 2.0 * q[1] - q[2];
    for (i, slope) in [1.0, 2.0, -1.0].into_iter().enumerate() {
        out[i] = -q[i].powi(3) - sum * slope;
    }
}

fn metrics() -> [Metric; 3] {
    let dense = Metric::dense(D, vec![1.0, 0.3, 0.1, 0.3, 0.5, -0.2, 0.1, -0.2, 2.0]);
    [Metric::Unit, Metric::diagonal(vec![0.5, 2.0, 0.1]).unwrap(), dense.unwrap()]
}

struct Flow {
    arena: Arena,
    at: Phase,
    metric: Metric,
}

impl Flow {
    /// `z` is the position followed by the momentum.
    fn new(metric: &Metric, z: &[f64]) -> Self {
        let mut arena = Arena::new(D);
        let at = Phase::reserve(&mut arena);
        arena.get_mut(at.q).copy_from_slice(&z[..D]);
        arena.get_mut(at.p).copy_from_slice(&z[D..]);
        gradient(&z[..D], arena.get_mut(at.gradient));
        Self { arena, at, metric: metric.clone() }
    }

    fn energy(&mut self) -> f64 {
        self.at.kinetic_energy(&mut self.arena, &self.metric) - log_density(self.arena.get(self.at.q))
    }

    fn run(&mut self, steps: usize, step_size: f64) {
        for _ in 0..steps {
            self.at.begin_step(&mut self.arena, &self.metric, step_size);
            let [q, g] = self.arena.several([self.at.q, self.at.gradient]);
            gradient(q, g);
            let kinetic = self.at.end_step(&mut self.arena, &self.metric, step_size);
            let energy = self.energy();
            assert!((energy + log_density(self.arena.get(self.at.q)) - kinetic).abs() < 1e-12);
        }
    }

    fn z(&self) -> Vec<f64> {
        [self.arena.get(self.at.q), self.arena.get(self.at.p)].concat()
    }
}

fn starts() -> Vec<Vec<f64>> {
    let mut stream = StreamKey::new(1, Purpose::TEST).stream();
    (0..20).map(|_| (0..2 * D).map(|_| stream.standard_normal()).collect()).collect()
}

#[test]
fn leapfrog_is_reversible() {
    for metric in metrics() {
        for start in starts() {
            let mut flow = Flow::new(&metric, &start);
            flow.run(17, 0.1);
            let far = flow.z();
            flow.run(17, -0.1);
            flow.z().iter().zip(&start).for_each(|(a, b)| assert!((a - b).abs() < 1e-11, "{a} for {b}"));
            // With the momentum turned over in place of time.
            let turned: Vec<f64> = far.iter().enumerate().map(|(i, z)| if i < D { *z } else { -z }).collect();
            let mut flow = Flow::new(&metric, &turned);
            flow.run(17, 0.1);
            flow.z()[..D].iter().zip(&start).for_each(|(a, b)| assert!((a - b).abs() < 1e-11));
            assert!(far.iter().zip(&start).any(|(a, b)| (a - b).abs() > 0.1), "it moves");
        }
    }
}

/// The determinant, by elimination with pivots.
fn determinant(mut rows: Vec<Vec<f64>>) -> f64 {
    let n = rows.len();
    let mut product = 1.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
        if pivot != k {
            rows.swap(pivot, k);
            product = -product;
        }
        product *= rows[k][k];
        for i in k + 1..n {
            let factor = rows[i][k] / rows[k][k];
            let pivot = rows[k].clone();
            rows[i].iter_mut().zip(&pivot).skip(k).for_each(|(x, p)| *x -= factor * p);
        }
    }
    product
}

/// The Jacobian by central differences of order 4 has determinant 1.
#[test]
fn leapfrog_preserves_volume() {
    let h = 1e-3;
    for metric in metrics() {
        for start in starts() {
            let image = |i: usize, by: f64| {
                let mut z = start.clone();
                z[i] += by;
                let mut flow = Flow::new(&metric, &z);
                flow.run(5, 0.2);
                flow.z()
            };
            let column = |i| {
                let far = image(i, 2.0 * h).into_iter().zip(image(i, -2.0 * h));
                let near = image(i, h).into_iter().zip(image(i, -h));
                near.zip(far).map(|((a, b), (c, d))| (8.0 * (a - b) - (c - d)) / (12.0 * h)).collect()
            };
            let determinant = determinant((0..2 * D).map(column).collect());
            assert!((determinant - 1.0).abs() < 1e-6, "{determinant}");
        }
    }
}

/// Over the same time, half the step size has a quarter of the energy error.
#[test]
fn leapfrog_is_of_second_order() {
    for metric in metrics() {
        let (mut coarse, mut fine) = (0.0, 0.0);
        for start in starts() {
            let error = |steps, step_size| {
                let mut flow = Flow::new(&metric, &start);
                let before = flow.energy();
                flow.run(steps, step_size);
                (flow.energy() - before).abs()
            };
            coarse += error(20, 0.01);
            fine += error(40, 0.005);
        }
        assert!((3.9..4.1).contains(&(coarse / fine)), "{coarse} {fine}");
    }
}
