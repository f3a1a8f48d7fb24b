use super::*;
use crate::kernel::Method;
use crate::metric::Metric;

/// v ~ N(0, 3), x ~ N(0, exp(v/2)): no step size serves all v.
fn funnel(q: &[f64]) -> (f64, [f64; 2]) {
    let (v, x) = (q[0], q[1]);
    let square = x * x * (-v).exp();
    (-v * v / 18.0 - 0.5 * v - 0.5 * square, [-v / 9.0 - 0.5 + 0.5 * square, -x * (-v).exp()])
}

fn state_at(q: &[f64]) -> State {
    let (log_prior, gradient) = funnel(q);
    State { q: q.to_vec(), gradient: gradient.to_vec(), densities: Densities { log_prior, ..Densities::default() } }
}

/// Pairs of an exact draw and what a transition makes of it, with the statistics.
fn pairs(short: f64, number: u64) -> Vec<(State, State, Statistics)> {
    let method = Method::Hmc { length: Length::Steps(4), max_energy_error: 1000.0 };
    let kernel = Kernel { method, step_size: 0.8, jitter: 0.3, short, metric: Metric::Unit };
    let mut hmc = Hmc::new(2, Length::Steps(4), 1000.0);
    let draw = |step: u64| {
        let mut stream = StreamKey::new(3, Purpose::TEST).step(step).stream();
        let v = 3.0 * stream.standard_normal();
        state_at(&[v, (0.5 * v).exp() * stream.standard_normal()])
    };
    let go = |step: u64| {
        let before = draw(step);
        hmc.begin(&kernel, &before, StreamKey::new(4, Purpose::TEST).step(step).stream());
        let statistics = loop {
            let (log_prior, gradient) = funnel(hmc.position());
            hmc.gradient_mut().copy_from_slice(&gradient);
            if let Some(statistics) = hmc.advance(&kernel, Densities { log_prior, ..Densities::default() }) {
                break statistics;
            }
        };
        let mut after = before.clone();
        hmc.finish(&mut after);
        (before, after, statistics)
    };
    (0..number).map(go).collect()
}

/// The mean in standard errors.
fn z(values: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    mean / (variance / n).sqrt()
}

/// What is drawn from the target stays so, and goes as often from anywhere to anywhere as back.
#[test]
fn trying_again_is_reversible() {
    let all = pairs(0.125, 400_000);
    let places: [fn(&[f64]) -> bool; 6] = [
        |q| q[0] < -3.0,
        |q| q[0] < -5.0,
        |q| q[0] < -7.0,
        |q| q[0] < -3.0 && q[1] * q[1] > q[0].exp(),
        |q| q[1].abs() < 0.05,
        |q| q[0] > 0.0 && q[0] < 2.0,
    ];
    let mark = |yes: bool| f64::from(u8::from(yes));
    for (i, a) in places.iter().enumerate() {
        let change: Vec<f64> = all.iter().map(|(x, y, _)| mark(a(&y.q)) - mark(a(&x.q))).collect();
        assert!(z(&change).abs() < 4.0, "{i}: {}", z(&change));
        for (j, b) in places.iter().enumerate().take(i) {
            let flow = |x: &State, y: &State| mark(a(&x.q) && b(&y.q)) - mark(b(&x.q) && a(&y.q));
            let flows: Vec<f64> = all.iter().map(|(x, y, _)| flow(x, y)).collect();
            assert!(flows.iter().all(|f| *f == 0.0) || z(&flows).abs() < 4.0, "{i} {j}: {}", z(&flows));
        }
    }
}

/// In the neck of the funnel most transitions with steps of one length are rejected.
#[test]
fn trying_again_gets_out_of_the_neck() {
    let moved = |short: f64| {
        let all = pairs(short, 40_000);
        let neck: Vec<_> = all.iter().filter(|(x, ..)| x.q[0] < -4.0).collect();
        let moves = neck.iter().filter(|(x, y, _)| x.q != y.q).count();
        let cost: u32 = all.iter().map(|(.., s)| s.leapfrog_steps).sum();
        (moves * 100 / neck.len(), cost / 40_000)
    };
    let (once, again) = (moved(0.0), moved(f64::MIN_POSITIVE));
    assert!(once.0 < 5 && again.0 > 25 && again.1 < 3 * once.1, "{once:?} {again:?}");
}

/// The state that is handed back is where its density and gradient belong.
#[test]
fn the_end_has_its_own_gradient() {
    for (_, after, _) in pairs(0.125, 2000) {
        assert_eq!(after, state_at(&after.q));
    }
}

/// What came of a second attempt from a position with a momentum.
struct Second {
    /// log of the flow: e^(−energy) (1 − α(x)) and the probability with which y is accepted.
    log_flow: f64,
    /// y with its momentum turned round.
    end: ([f64; 2], [f64; 2]),
}

/// Follows one transition, and takes from it what does not depend on its random numbers.
fn second_attempt(q: [f64; 2], p: [f64; 2]) -> Option<Second> {
    let method = Method::Hmc { length: Length::Steps(4), max_energy_error: 1000.0 };
    let kernel = Kernel { method, step_size: 0.8, jitter: 0.0, short: f64::MIN_POSITIVE, metric: Metric::Unit };
    let mut hmc = Hmc::new(2, Length::Steps(4), 1000.0);
    let state = state_at(&q);
    hmc.begin(&kernel, &state, StreamKey::new(5, Purpose::TEST).stream());
    let (current, [_, start, _]) = (hmc.current, hmc.start);
    hmc.arena.get_mut(current.q).copy_from_slice(&q);
    hmc.arena.get_mut(current.gradient).copy_from_slice(&state.gradient);
    hmc.arena.get_mut(current.p).copy_from_slice(&p);
    hmc.arena.get_mut(start).copy_from_slice(&p);
    hmc.initial_energy = current.kinetic_energy(&mut hmc.arena, &kernel.metric) - state.log_density();
    hmc.set_out(&kernel, Attempt::First);
    let mut log_u = 0.0;
    loop {
        let (log_prior, gradient) = funnel(hmc.position());
        hmc.gradient_mut().copy_from_slice(&gradient);
        let before = hmc.attempt;
        let uniform = hmc.stream.clone().uniform();
        let done = hmc.advance(&kernel, Densities { log_prior, ..Densities::default() });
        if before == Attempt::Second && hmc.attempt == Attempt::Ghost {
            log_u = uniform.ln();
        }
        if done.is_some() {
            break;
        }
    }
    if hmc.attempt != Attempt::Ghost {
        return None;
    }
    // α(y) by hand: another transition's first attempt, from y.
    let retried: Vec<f64> = hmc.arena.get(hmc.retried.0).to_vec();
    let (y, turned) = ([retried[0], retried[1]], turned_round(&hmc, &kernel, (q, p)));
    let alpha = first_attempt(y, turned);
    let ratio = (-alpha).ln_1p() - (hmc.threshold - log_u);
    let accepted = if alpha < HOPELESS { ratio.min(0.0) } else { f64::NEG_INFINITY };
    let log_flow = -hmc.initial_energy + (-hmc.accept).ln_1p() + accepted;
    Some(Second { log_flow, end: (y, turned) })
}

/// By the leapfrog scheme as it is written in books: the end and its momentum.
fn leapfrog(mut q: [f64; 2], mut p: [f64; 2], step: f64, steps: u32) -> ([f64; 2], [f64; 2]) {
    for _ in 0..steps {
        for half in 0..2 {
            let gradient = funnel(&q).1;
            (0..2).for_each(|i| p[i] += 0.5 * step * gradient[i]);
            if half == 0 {
                (0..2).for_each(|i| q[i] += step * p[i]);
            }
        }
    }
    (q, p)
}

fn turned_round(hmc: &Hmc, kernel: &Kernel, (q, p): ([f64; 2], [f64; 2])) -> [f64; 2] {
    let steps = MORE_STEPS * hmc.length.steps(kernel.step_size);
    leapfrog(q, p, kernel.step_size / SHORTER, steps).1.map(|p| -p)
}

fn energy(q: [f64; 2], p: [f64; 2]) -> f64 {
    0.5 * (p[0] * p[0] + p[1] * p[1]) - funnel(&q).0
}

/// α.
fn first_attempt(q: [f64; 2], p: [f64; 2]) -> f64 {
    let (end, momentum) = leapfrog(q, p, 0.8, 4);
    let excess = energy(end, momentum) - energy(q, p);
    if excess.is_finite() { (-excess).exp().min(1.0) } else { 0.0 }
}

/// The flow from x to y is that from y to x, for each pair, to rounding.
#[test]
fn flows_of_second_attempts_are_the_same_both_ways() {
    let mut seen = (0, 0);
    for k in 0..4000 {
        let mut stream = StreamKey::new(6, Purpose::TEST).step(k).stream();
        let v = -4.0 + 2.0 * stream.standard_normal();
        let q = [v, (0.5 * v).exp() * stream.standard_normal()];
        let p = [stream.standard_normal(), stream.standard_normal()];
        let Some(there) = second_attempt(q, p) else { continue };
        if there.log_flow == f64::NEG_INFINITY {
            continue;
        }
        // Where one of both is refused by chance there is no ghost, and nothing to compare.
        let Some(back) = second_attempt(there.end.0, there.end.1) else { continue };
        let returned = (0..2).all(|i| (back.end.0[i] - q[i]).abs() < 1e-6 * (1.0 + q[i].abs()));
        assert!(returned, "{q:?} {:?}", back.end);
        assert!((there.log_flow - back.log_flow).abs() < 1e-6, "{k}: {} {}", there.log_flow, back.log_flow);
        seen.0 += 1;
        seen.1 += u32::from(first_attempt(q, p) > 1e-4 || first_attempt(there.end.0, there.end.1) > 1e-4);
    }
    assert!(seen.0 > 200 && seen.1 > 20, "{seen:?}");
}
