//! Systems with exact solutions, stiff systems, derivatives, convergence, and what is refused.

mod lanes;

use super::*;
use Method::{Adams, Bdf, Ckrk, Rk45};

const ALL: [Method; 4] = [Rk45, Ckrk, Bdf, Adams];
const TIGHT: Tolerances = Tolerances { relative: 1e-10, absolute: 1e-10, max_steps: 100_000 };
const BOTH: Sensitivities = Sensitivities { initial_state: true, parameters: true };

/// Robertson's kinetics at 0.4, 40 and 40 000.
const ROBERTSON: [[f64; 3]; 3] = [
    [0.985_172_113_860_988_7, 3.386_395_378_974_875e-5, 0.014_794_022_185_221_484],
    [0.715_827_068_719_413_9, 9.185_534_764_558_688e-6, 0.284_163_745_745_820_8],
    [0.038_983_377_085_650_806, 1.621_768_315_916_972_5e-7, 0.961_016_460_737_518_3],
];
/// Van der Pol's oscillator with μ = 1000 at 500 and 1500.
const VAN_DER_POL: [[f64; 2]; 2] =
    [[1.596_768_951_053_169_7, -0.001_030_391_187_852_060_4], [-1.354_745_919_486_631_6, 0.001_621_788_727_597_508_8]];

type Rate = fn(f64, &[f64], &[f64]) -> Vec<f64>;

/// A system whose derivatives are central differences of order 6 (exact enough for polynomials of low degree).
struct Given {
    rate: Rate,
    states: usize,
    theta: Vec<f64>,
    evaluations: u64,
}

impl Given {
    fn new(rate: Rate, states: usize, theta: &[f64]) -> Self {
        Self { rate, states, theta: theta.to_vec(), evaluations: 0 }
    }
}

/// The derivatives of a function by each element of `at`, column by column.
fn differences(at: &[f64], f: impl Fn(&[f64]) -> Vec<f64>, columns: &mut [f64], rows: usize) {
    for (j, column) in columns.chunks_exact_mut(rows).enumerate() {
        let h = 1e-2 * at[j].abs().max(1e-2);
        let mut derivative = vec![0.0; rows];
        for (k, weight) in [(1.0, 45.0), (2.0, -9.0), (3.0, 1.0)] {
            for sign in [-1.0, 1.0] {
                let mut moved = at.to_vec();
                moved[j] += sign * k * h;
                add_scaled(&mut derivative, sign * weight / (60.0 * h), &f(&moved));
            }
        }
        column.copy_from_slice(&derivative);
    }
}

impl System for Given {
    fn states(&self) -> usize {
        self.states
    }

    fn parameters(&self) -> usize {
        self.theta.len()
    }

    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
        self.evaluations += 1;
        rate.copy_from_slice(&(self.rate)(t, y, &self.theta));
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
        differences(y, |y| (self.rate)(t, y, &self.theta), by_state, self.states);
        if !by_parameter.is_empty() {
            differences(&self.theta, |theta| (self.rate)(t, y, theta), by_parameter, self.states);
        }
        Ok(())
    }
}

fn oscillator(_: f64, y: &[f64], theta: &[f64]) -> Vec<f64> {
    vec![y[1], -theta[0] * theta[0] * y[0]]
}

fn logistic(_: f64, y: &[f64], theta: &[f64]) -> Vec<f64> {
    vec![theta[0] * y[0] * (1.0 - y[0] / theta[1])]
}

fn lotka_volterra(_: f64, y: &[f64], theta: &[f64]) -> Vec<f64> {
    vec![(theta[0] - theta[1] * y[1]) * y[0], (-theta[2] + theta[3] * y[0]) * y[1]]
}

fn driven(t: f64, y: &[f64], theta: &[f64]) -> Vec<f64> {
    vec![-theta[0] * y[0] + t.sin()]
}

fn robertson(_: f64, y: &[f64], _: &[f64]) -> Vec<f64> {
    let (slow, fast, quick) = (0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]);
    vec![-slow + fast, slow - fast - quick, quick]
}

fn van_der_pol(_: f64, y: &[f64], theta: &[f64]) -> Vec<f64> {
    vec![y[1], theta[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]]
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, label: &str) {
    assert_eq!(found.len(), expected.len(), "{label}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{label}: {found:?} instead of {expected:?}");
    }
}

#[test]
fn oscillator_and_its_sensitivities_are_trigonometric() {
    let (omega, a, b) = (1.3_f64, 0.7, -0.4);
    let times = [0.05, 1.0, 1.0, 2.2, 9.0];
    for method in ALL {
        let mut system = Given::new(oscillator, 2, &[omega]);
        let span = Span { initial_state: &[a, b], initial_time: -0.5, times: &times };
        let solution = solve(method, &mut system, span, TIGHT, BOTH).expect("smooth");
        for (i, time) in times.iter().enumerate() {
            let s = time + 0.5;
            let (sin, cos) = (omega * s).sin_cos();
            let label = format!("{method:?} at {time}");
            let state = [a * cos + b / omega * sin, -a * omega * sin + b * cos];
            assert_near(solution.state(i), &state, 2e-8, &label);
            assert_near(solution.by_initial_state(i), &[cos, -omega * sin, sin / omega, cos], 2e-8, &label);
            let by_omega = [
                -a * s * sin - b / (omega * omega) * sin + b * s / omega * cos,
                -a * sin - a * omega * s * cos - b * s * sin,
            ];
            assert_near(solution.by_parameters(i), &by_omega, 1e-7, &label);
        }
    }
}

#[test]
fn logistic_growth_is_exact_with_and_without_sensitivities() {
    let (r, k, y0) = (0.9_f64, 5.0, 0.3);
    let exact = |t: f64, r: f64, k: f64| k / (1.0 + (k / y0 - 1.0) * (-r * t).exp());
    let times = [0.5, 3.0, 20.0];
    for method in ALL {
        for wanted in [Sensitivities::default(), BOTH, Sensitivities { parameters: true, ..Sensitivities::default() }] {
            let mut system = Given::new(logistic, 1, &[r, k]);
            let span = Span { initial_state: &[y0], initial_time: 0.0, times: &times };
            let solution = solve(method, &mut system, span, TIGHT, wanted).expect("smooth");
            assert_eq!(solution.times(), 3);
            for (i, &t) in times.iter().enumerate() {
                assert_near(solution.state(i), &[exact(t, r, k)], 1e-8, &format!("{method:?} at {t}"));
                if wanted.parameters {
                    let mut expected = [0.0; 2];
                    differences(&[r, k], |theta| vec![exact(t, theta[0], theta[1])], &mut expected, 1);
                    assert_near(solution.by_parameters(i), &expected, 1e-7, &format!("{method:?} at {t}"));
                }
                assert_eq!(solution.by_initial_state(i).len(), usize::from(wanted.initial_state));
            }
        }
    }
}

#[test]
fn stiff_systems_take_few_steps_with_bdf() {
    // references: Radau IIA with tolerance 1e-12
    let mut system = Given::new(robertson, 3, &[]);
    let span = Span { initial_state: &[1.0, 0.0, 0.0], initial_time: 0.0, times: &[0.4, 40.0, 4e4] };
    let tolerances = Tolerances { relative: 1e-8, absolute: 1e-12, max_steps: 10_000 };
    let solution = solve(Bdf, &mut system, span, tolerances, Sensitivities::default()).expect("solvable");
    for (i, expected) in ROBERTSON.iter().enumerate() {
        for (found, expected) in solution.state(i).iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 3e-6, "{i}: {found} instead of {expected}");
        }
        assert!((solution.state(i).iter().sum::<f64>() - 1.0).abs() < 1e-11);
    }
    assert!(system.evaluations < 2000, "{}", system.evaluations);

    let mut system = Given::new(van_der_pol, 2, &[1000.0]);
    let span = Span { initial_state: &[2.0, 0.0], initial_time: 0.0, times: &[500.0, 1500.0] };
    let tolerances = Tolerances { relative: 1e-9, absolute: 1e-9, max_steps: 100_000 };
    let solution = solve(Bdf, &mut system, span, tolerances, Sensitivities::default()).expect("solvable");
    assert_near(solution.state(0), &VAN_DER_POL[0], 1e-6, "van der Pol");
    assert_near(solution.state(1), &VAN_DER_POL[1], 1e-4, "van der Pol");
    assert!(system.evaluations < 10_000, "{}", system.evaluations);
}

#[test]
fn pulled_back_adjoints_are_differences_of_tight_solves() {
    let (theta, y0, t0, times) = ([0.6, 0.3, 0.8, 0.25], [3.0, 1.5], 0.1, [1.0, 2.5, 4.0]);
    let weights = [0.3, -1.0, 0.7, 0.2, -0.4, 1.1];
    let objective = |z: &[f64]| {
        let mut system = Given::new(lotka_volterra, 2, &z[..4]);
        let span = Span { initial_state: &z[4..6], initial_time: z[6], times: &z[7..] };
        let tolerances = Tolerances { relative: 1e-12, absolute: 1e-12, max_steps: 100_000 };
        let solution = solve(Rk45, &mut system, span, tolerances, Sensitivities::default()).expect("smooth");
        let states = (0..3).flat_map(|i| solution.state(i).to_vec());
        vec![states.zip(weights).map(|(y, w)| y * w).sum()]
    };
    let at: Vec<f64> = theta.into_iter().chain(y0).chain([t0]).chain(times).collect();
    let mut expected = vec![0.0; at.len()];
    differences(&at, objective, &mut expected, 1);
    for method in ALL {
        let mut system = Given::new(lotka_volterra, 2, &theta);
        let span = Span { initial_state: &y0, initial_time: t0, times: &times };
        let solution = solve(method, &mut system, span, TIGHT, BOTH).expect("smooth");
        let mut found = vec![0.0; at.len()];
        let (parameters, rest) = found.split_at_mut(4);
        let (initial_state, rest) = rest.split_at_mut(2);
        let (initial_time, times) = rest.split_at_mut(1);
        let mut into =
            Adjoints { initial_state, parameters, initial_time: initial_time.first_mut(), times: Some(times) };
        solution.pull_back(&mut system, span, &weights, &mut into).expect("smooth");
        assert_near(&found, &expected, 5e-8, &format!("{method:?}"));
    }
}

#[test]
fn errors_fall_with_the_tolerance() {
    // y' = −λ y + sin t: the error must follow the tolerance over six decades
    let lambda = 0.5_f64;
    let denominator = lambda * lambda + 1.0;
    let exact = |t: f64| (1.0 + 1.0 / denominator) * (-lambda * t).exp() + (lambda * t.sin() - t.cos()) / denominator;
    for method in ALL {
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
            let mut system = Given::new(driven, 1, &[lambda]);
            let span = Span { initial_state: &[1.0], initial_time: 0.0, times: &[3.0, 10.0] };
            let tolerances = Tolerances { relative: tolerance, absolute: tolerance, max_steps: 100_000 };
            let solution = solve(method, &mut system, span, tolerances, Sensitivities::default()).expect("smooth");
            for (i, &t) in span.times.iter().enumerate() {
                let error = (solution.state(i)[0] - exact(t)).abs();
                assert!(error < 100.0 * tolerance, "{method:?}, tolerance {tolerance}: {error}");
            }
        }
    }
}

fn failure(method: Method, rate: Rate, y0: &[f64], times: &[f64], tolerances: Tolerances) -> SolverError {
    let mut system = Given::new(rate, y0.len(), &[1.0, 1.0]);
    let span = Span { initial_state: y0, initial_time: 0.0, times };
    solve(method, &mut system, span, tolerances, Sensitivities::default()).expect_err("not solvable")
}

#[test]
fn bad_arguments_are_refused() {
    for method in ALL {
        let fail = |y0: &[f64], times: &[f64]| failure(method, logistic, y0, times, TIGHT);
        assert!(matches!(fail(&[0.5], &[1.0, 0.5]), SolverError::TimesNotSorted { index: 1 }));
        assert!(matches!(fail(&[0.5], &[0.0, 0.5]), SolverError::NotAfterStart { .. }));
        assert!(matches!(fail(&[f64::NAN], &[1.0]), SolverError::NotFinite("the initial state")));
        assert!(matches!(fail(&[0.5], &[f64::INFINITY]), SolverError::NotFinite("times")));
        assert!(matches!(fail(&[0.5], &[]), SolverError::Empty("times")));
        assert!(matches!(fail(&[], &[1.0]), SolverError::Empty("the initial state")));
        let zero = Tolerances { relative: 0.0, ..TIGHT };
        assert!(matches!(failure(method, logistic, &[0.5], &[1.0], zero), SolverError::NotPositive(_)));
        let zero = Tolerances { max_steps: 0, ..TIGHT };
        assert!(matches!(failure(method, logistic, &[0.5], &[1.0], zero), SolverError::NotPositive(_)));
    }
}

#[test]
fn hopeless_systems_are_given_up() {
    for method in ALL {
        let few = Tolerances { max_steps: 3, ..TIGHT };
        let error = failure(method, oscillator, &[1.0, 0.0], &[100.0], few);
        assert!(matches!(error, SolverError::TooManySteps { .. }), "{method:?}: {error:?}");
        let error = failure(method, |_, _, _| vec![f64::NAN], &[1.0], &[1.0], TIGHT);
        assert!(matches!(error, SolverError::RateNotANumber { .. }), "{method:?}: {error:?}");
        // y' = y² explodes at t = 1
        let error = failure(method, |_, y, _| vec![y[0] * y[0]], &[1.0], &[2.0], TIGHT);
        assert!(error.to_string().contains("time"), "{method:?}: {error:?}");
    }
}

#[test]
fn error_of_the_callback_passes_through() {
    struct Broken;
    impl System for Broken {
        fn states(&self) -> usize {
            1
        }
        fn parameters(&self) -> usize {
            0
        }
        fn rate(&mut self, t: f64, _: &[f64], rate: &mut [f64]) -> Result<(), SolverError> {
            rate[0] = 1.0;
            if t > 0.3 { Err(SolverError::Callback("rejected by the user".into())) } else { Ok(()) }
        }
        fn jacobian(
            &mut self,
            t: f64,
            y: &[f64],
            rate: &mut [f64],
            by_state: &mut [f64],
            _: &mut [f64],
        ) -> Result<(), SolverError> {
            by_state[0] = 0.0;
            self.rate(t, y, rate)
        }
    }
    for method in ALL {
        let span = Span { initial_state: &[1.0], initial_time: 0.0, times: &[1.0] };
        let error = solve(method, &mut Broken, span, TIGHT, Sensitivities::default()).expect_err("it fails");
        assert_eq!(error.to_string(), "rejected by the user");
    }
}
