//! Differential equations against real Stan 2.39: `golden/solvers_ode.stan` with all solvers, values and gradients.

use crust_math::solvers::SolverError;
use crust_math::solvers::ode::{Adjoints, Method, Sensitivities, Span, System, Tolerances, solve};

const GOLDEN: &str = include_str!("golden/solvers_ode.tsv");

/// The systems of the Stan program by their numbers there.
struct Model {
    kind: usize,
    theta: [f64; 4],
}

impl System for Model {
    fn states(&self) -> usize {
        if self.kind < 3 { 2 } else { 3 }
    }

    fn parameters(&self) -> usize {
        4
    }

    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        let [a, b, c, d] = self.theta;
        match self.kind {
            1 => rate.copy_from_slice(&[(a - b * y[1]) * y[0], (-c + d * y[0]) * y[1]]),
            2 => rate.copy_from_slice(&[-a * y[0], a * y[0] - b * y[1] / (c + y[1]) - d * y[1] * f64::exp(-0.1 * t)]),
            3 => {
                let infection = a * (1.0 + c * t.cos()) * y[0] * y[1];
                rate.copy_from_slice(&[-infection + d * y[2], infection - b * y[1], b * y[1] - d * y[2]]);
            }
            _ => {
                let (slow, fast, quick) = (a * y[0], b * y[1] * y[2], c * d * y[1] * y[1]);
                rate.copy_from_slice(&[-slow + fast, slow - fast - quick, quick]);
            }
        }
        Ok(())
    }

    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        rate: &mut [f64],
        by_state: &mut [f64],
        by_parameter: &mut [f64],
    ) -> Result<(), SolverError> {
        self.rate(t, y, rate)?;
        let [a, b, c, d] = self.theta;
        let (state, parameter) = match self.kind {
            1 => (
                vec![a - b * y[1], d * y[1], -b * y[0], -c + d * y[0]],
                vec![y[0], 0.0, -y[0] * y[1], 0.0, 0.0, -y[1], 0.0, y[0] * y[1]],
            ),
            2 => {
                let (decay, sum) = (f64::exp(-0.1 * t), c + y[1]);
                (
                    vec![-a, a, 0.0, -b * c / (sum * sum) - d * decay],
                    vec![-y[0], y[0], 0.0, -y[1] / sum, 0.0, b * y[1] / (sum * sum), 0.0, -y[1] * decay],
                )
            }
            3 => {
                let season = 1.0 + c * t.cos();
                let (s, i) = (a * season * y[0], a * season * y[1]);
                let (contact, wave) = (season * y[0] * y[1], a * t.cos() * y[0] * y[1]);
                (
                    vec![-i, i, 0.0, -s, s - b, b, d, 0.0, -d],
                    vec![-contact, contact, 0.0, 0.0, -y[1], y[1], -wave, wave, 0.0, y[2], 0.0, -y[2]],
                )
            }
            _ => {
                let (quick, square) = (2.0 * c * d * y[1], y[1] * y[1]);
                let product = y[1] * y[2];
                (
                    vec![-a, a, 0.0, b * y[2], -b * y[2] - quick, quick, b * y[1], -b * y[1], 0.0],
                    vec![
                        -y[0],
                        y[0],
                        0.0,
                        product,
                        -product,
                        0.0,
                        0.0,
                        -d * square,
                        d * square,
                        0.0,
                        -c * square,
                        c * square,
                    ],
                )
            }
        };
        by_state.copy_from_slice(&state);
        if !by_parameter.is_empty() {
            by_parameter.copy_from_slice(&parameter);
        }
        Ok(())
    }
}

fn numbers(field: &str) -> Vec<f64> {
    field.split(' ').map(|word| word.parse().expect("a number")).collect()
}

/// The largest difference in units of the largest expected element.
fn distance(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let worst = found.iter().zip(expected).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    if size == 0.0 { worst } else { worst / size }
}

struct Case {
    method: Method,
    tolerance: f64,
    label: String,
    values: f64,
    gradients: f64,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers of a file of our own")]
fn compare(line: &str) -> Case {
    let fields: Vec<Vec<f64>> = line.split('\t').map(numbers).collect();
    let [system, method, kind] = [fields[0][0] as usize, fields[0][1] as usize, fields[0][2] as usize];
    let method = [Method::Rk45, Method::Ckrk, Method::Bdf, Method::Adams][method - 1];
    let tolerances = Tolerances { relative: fields[0][3], absolute: fields[0][4], max_steps: 1_000_000 };
    let mut model = Model { kind: system, theta: [fields[1][0], fields[1][1], fields[1][2], fields[1][3]] };
    let span = Span { initial_state: &fields[2], initial_time: fields[3][0], times: &fields[4] };
    let wanted = Sensitivities { initial_state: kind >= 2, parameters: (1..=3).contains(&kind) };
    let solution = solve(method, &mut model, span, tolerances, wanted).expect("solvable");
    let found: Vec<f64> = (0..solution.times()).flat_map(|i| solution.state(i).to_vec()).collect();
    let weights: Vec<f64> = (1..=found.len()).map(|i| 0.1 * f64::from(u32::try_from(i).expect("few"))).collect();
    let (mut y0, mut theta) = (vec![0.0; fields[2].len()], vec![0.0; 4]);
    let (mut t0, mut ts) = (0.0, vec![0.0; span.times.len()]);
    let mut into = Adjoints {
        initial_state: &mut y0,
        parameters: &mut theta,
        initial_time: (kind == 3).then_some(&mut t0),
        times: (kind == 3).then_some(&mut ts),
    };
    solution.pull_back(&mut model, span, &weights, &mut into).expect("the rates exist");
    let gradients = [distance(&theta, &fields[6]), distance(&y0, &fields[7])];
    let by_time = [distance(&[t0], &fields[8]), distance(&ts, &fields[9])];
    Case {
        method,
        tolerance: tolerances.relative,
        label: format!("{method:?}, system {system}, kind {kind}, tolerance {}", fields[0][3]),
        values: distance(&found, &fields[5]),
        gradients: gradients.into_iter().chain(by_time).fold(0.0, f64::max),
    }
}

#[test]
fn all_solvers_take_the_steps_of_stan() {
    for line in GOLDEN.lines().filter(|line| !line.starts_with('#')) {
        let case = compare(line);
        // The implicit methods' step control amplifies rounding errors up to the tolerance: with another libm than
        // Stan's the last digits may differ.
        let limit = match case.method {
            Method::Rk45 | Method::Ckrk => 1e-11,
            _ if cfg!(all(target_os = "linux", target_env = "gnu")) => 1e-9,
            Method::Bdf | Method::Adams => 10.0 * case.tolerance,
        };
        assert!(
            case.values < limit && case.gradients < 10.0 * limit,
            "{}: values {:e}, gradients {:e}",
            case.label,
            case.values,
            case.gradients
        );
    }
}
