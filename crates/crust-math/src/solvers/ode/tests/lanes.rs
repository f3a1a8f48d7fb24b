//! Many problems at once get what each gets alone, to the last bit.

use super::*;
use crate::functions::Row;

/// Problems of one system with parameters of their own, each slot evaluated by itself.
struct Slots {
    problems: Vec<Given>,
    taken: [usize; 8],
    wanted: Sensitivities,
}

impl Slots {
    fn column(y: &[Row], l: usize) -> Vec<f64> {
        y.iter().map(|row| row[l]).collect()
    }
}

fn place(rows: &mut [Row], l: usize, numbers: &[f64]) {
    rows.iter_mut().zip(numbers).for_each(|(row, x)| row[l] = *x);
}

impl LaneSystem for Slots {
    fn states(&self) -> usize {
        self.problems[0].states
    }

    fn directions(&self) -> [usize; 2] {
        let Sensitivities { initial_state, parameters } = self.wanted;
        let given = &self.problems[0];
        [if initial_state { given.states } else { 0 }, if parameters { given.theta.len() } else { 0 }]
    }

    fn load(&mut self, slot: usize, problem: usize) {
        self.taken[slot] = problem;
    }

    fn rates(&mut self, _: &Row, _: &[Row], _: &mut [Row]) {
        unreachable!("implicit methods ask for Jacobians")
    }

    fn values(&mut self, t: &Row, y: &[Row], rates: &mut [Row]) {
        for (l, t) in t.iter().enumerate() {
            let mut own = vec![0.0; self.states()];
            self.problems[self.taken[l]].rate(*t, &Self::column(y, l), &mut own).expect("a rate");
            place(rates, l, &own);
        }
    }

    fn jacobian(&mut self, t: &Row, y: &[Row], rates: &mut [Row], by_state: &mut [Row], by_parameter: &mut [Row]) {
        for (l, t) in t.iter().enumerate() {
            let [mut rate, mut state, mut parameter] =
                [self.states(), by_state.len(), by_parameter.len()].map(|n| vec![0.0; n]);
            let given = &mut self.problems[self.taken[l]];
            given.jacobian(*t, &Self::column(y, l), &mut rate, &mut state, &mut parameter).expect("a Jacobian");
            place(rates, l, &rate);
            place(by_state, l, &state);
            place(by_parameter, l, &parameter);
        }
    }
}

/// Where problems differ: the k-th of them is this much off.
fn factor(k: u32) -> f64 {
    1.0 + 0.05 * f64::from(k) * if k.is_multiple_of(2) { 1.0 } else { -0.8 }
}

fn compare(method: Method, rate: Rate, state: &[f64], theta: &[f64], times: &[f64], count: u32) {
    for wanted in [BOTH, Sensitivities::default(), Sensitivities { initial_state: false, parameters: true }] {
        let own = |k: u32, x: &[f64]| x.iter().map(|x| x * factor(k)).collect::<Vec<f64>>();
        let problem = |k: u32| Given::new(rate, state.len(), &own(k, theta));
        let states: Vec<_> = (0..count).map(|k| own(k + 3, state)).collect();
        let spans: Vec<_> =
            states.iter().map(|initial_state| Span { initial_state, initial_time: 0.25, times }).collect();
        let mut slots = Slots { problems: (0..count).map(problem).collect(), taken: [0; 8], wanted };
        let together = solve_lanes(method, &mut slots, &spans, TIGHT);
        let mut done = 0;
        for (k, (together, span)) in (0..count).zip(together.iter().zip(&spans)) {
            let alone = solve(method, &mut problem(k), *span, TIGHT, wanted);
            let Some(together) = together else { continue };
            let alone = alone.expect("what is solved among others is solved alone");
            assert_eq!(alone.coupled.len(), together.coupled.len());
            for (a, b) in alone.coupled.iter().zip(&together.coupled) {
                assert_eq!(a.to_bits(), b.to_bits(), "{method:?}, problem {k}: {a:e} alone, {b:e} among others");
            }
            done += 1;
        }
        assert!(done >= count - 2, "{method:?}: only {done} of {count} were solved together");
    }
}

#[test]
fn multistep_methods_give_lanes_what_they_give_one() {
    let times = [0.3, 1.0, 1.0, 2.2, 2.2001, 9.0];
    for method in [Bdf, Adams] {
        compare(method, lotka_volterra, &[1.5, 0.8], &[0.6, 0.4, 0.9, 0.3], &times, 19);
        compare(method, logistic, &[0.1], &[1.1, 2.5], &times, 3);
        compare(method, driven, &[1.0], &[40.0], &times, 9);
    }
    compare(Bdf, van_der_pol, &[2.0, 0.1], &[50.0], &[1.0, 30.0, 60.0, 90.0], 11);
    compare(Bdf, robertson, &[1.0, 0.0, 0.0], &[], &[0.4, 4.0, 400.0], 10);
}

/// A problem that cannot be solved leaves the others alone.
#[test]
fn a_slot_that_fails_is_left_to_the_solver_for_one() {
    fn root(_: f64, y: &[f64], theta: &[f64]) -> Vec<f64> {
        vec![-theta[0] * y[0].sqrt()]
    }
    let times = [0.5, 1.0];
    let starts = [4.0, -1.0, 9.0];
    let spans: Vec<_> = starts
        .iter()
        .map(|y| Span { initial_state: std::slice::from_ref(y), initial_time: 0.0, times: &times })
        .collect();
    let problem = || Given::new(root, 1, &[1.0]);
    let mut slots = Slots { problems: (0..3).map(|_| problem()).collect(), taken: [0; 8], wanted: BOTH };
    let together = solve_lanes(Bdf, &mut slots, &spans, TIGHT);
    assert!(together[1].is_none());
    for k in [0, 2] {
        // √y falls by t/2.
        let expected = (starts[k].sqrt() - 0.5).powi(2);
        let found = together[k].as_ref().expect("it is solved").state(1)[0];
        assert!((found - expected).abs() < 1e-7, "{found} instead of {expected}");
    }
}
