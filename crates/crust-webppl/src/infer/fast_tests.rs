//! Graphs against the machine: the same proposals with the same random numbers must come to the same end.

use super::fast;
use super::graph::record;
use super::hmc::Hmc;
use super::kernel::Scope;
use super::leap::{Leap, Leapt, leap};
use super::mh::Mh;
use super::trace::Trace;
use super::{Model, ROOT};
use crate::machine::{Effect, State};
use crate::output;
use crate::value::Value;
use crate::world::{Limits, World};
use crust_math::random::{Purpose, StreamKey};
use std::rc::Rc;

/// A world with the program loaded, and the function `model`.
pub fn load(text: &str, seed: u64) -> (World, Model) {
    let stream = StreamKey::new(seed, Purpose::TEST).stream();
    let mut world = World::new(stream, Limits::default()).expect("a world");
    let main = world.compile_unit("test.wppl", text).expect("compiles");
    let mut state = State::call(&mut world, &Value::Closure(main), Vec::new(), ROOT, Rc::default()).expect("calls");
    assert!(matches!(state.run(&mut world), Ok(Effect::Done(_))));
    let slot = world.names.slots["model"];
    let function = world.globals[slot as usize].clone();
    (world, Model { function, store: Rc::default(), addr: ROOT })
}

/// Sums and products, branches on numbers, comparisons that are only returned, memoised functions, choices that appear
/// and vanish, hard limits, tensors.
const PROGRAMS: &[&str] = &[
    "var model = function() {
       var u = mapN(function() { return mapN(function() { return gaussian(0, 1); }, 2); }, 3);
       var v = mapN(function() { return mapN(function() { return gaussian(0, 1); }, 2); }, 3);
       mapN(function(i) { mapN(function(j) {
         var mean = sum(map2(function(a, b) { return a * b; }, u[i], v[j]));
         observe(Gaussian({mu: mean, sigma: 1}), Math.sin(i + 2 * j)); }, 3); }, 3);
       return [u[0][0] > 0, v[1]]; };",
    "var model = function() {
       var tau = gamma(2, 1);
       var mu = gaussian(0, 3);
       var theta = map(function(y) { var t = gaussian(mu, tau); observe(Gaussian({mu: t, sigma: 1}), y); return t; },
         [1, 2, 4]);
       return {mean: sum(theta) / 3, sd: Math.sqrt(tau), big: Math.max(theta[0], theta[1]) >= mu}; };",
    "var model = function() {
       var x = gaussian(0, 1);
       var y = x > 0.5 ? gaussian(x, 1) : (x < -1 ? beta(2, 3) : uniform(-1, 1));
       if (x * y > 1) { factor(-y * y); } else { observe(Laplace({location: x, scale: 1 + y * y}), 0.3); }
       return y % 1; };",
    "var model = function() {
       var p = beta(2, 2);
       var n = flip(p) ? 1 : 2;
       var xs = repeat(n, function() { return exponential(1 + p); });
       var f = mem(function(i) { return gaussian(i, 1); });
       observe(Binomial({n: 5, p: p}), 2);
       observe(Gaussian({mu: f(0) + f(n), sigma: sum(xs)}), 1);
       condition(p < 0.9);
       return [n, f(0), _.isNumber(p), 'p is ' + (p > 0.5)]; };",
    "var model = function() {
       var w = sample(DiagCovGaussian({mu: zeros([2, 1]), sigma: ones([2, 1])}));
       var s = logNormal(0, 0.5);
       var X = Matrix([[1, 0], [1, 1], [1, 2]]);
       var cov = T.add(T.mul(idMatrix(3), s), T.dot(X, T.transpose(X)));
       observe(MultivariateGaussian({mu: T.dot(X, w), cov: cov}), Vector([1, 2, 2]));
       observe(Gaussian({mu: T.get(w, 0) * s, sigma: 1}), 0.5);
       return T.toScalars(w); };",
    "var model = function() {
       var probs = mapN(function(i) { return uniform(0, 1); }, 2);
       var z = categorical({ps: [probs[0], 1 - probs[0]], vs: ['a', 'b']});
       observe(Categorical({ps: [probs[1], 1], vs: ['a', 'b']}), z);
       observe(Mixture({dists: [Gaussian({mu: 0, sigma: 1}), Gaussian({mu: probs[0], sigma: 2})],
                        ps: [0.5, 0.5]}), 1);
       return z; };",
];

/// Both ways side by side, at several β, with draws from the prior, random walks and pairs. Not at β = 0, where all
/// ratios are 1 up to rounding, and whether a random number is used depends on it.
#[test]
fn graphs_do_what_the_program_does() {
    let mut handled = 0;
    for (number, text) in PROGRAMS.iter().enumerate() {
        for (mh, beta) in [
            (Mh::default(), 1.0),
            (Mh { drift: 0.5, ..Mh::default() }, 0.4),
            (Mh { pair: true, ..Mh::default() }, 1.0),
            (Mh { drift: 0.3, ..Mh::default() }, 0.1),
        ] {
            let (mut world, model) = load(text, 7);
            let scope = Scope { beta, ..Scope::default() };
            let mut plain = Trace::initialize(&mut world, &model).expect("runs");
            let mut quick = plain.clone();
            for step in 0..400 {
                let stream = world.stream.clone();
                mh.step(&mut world, &mut plain, &scope).expect("steps");
                let after = std::mem::replace(&mut world.stream, stream);
                if quick.fast.graph.is_none() {
                    quick.sync(&mut world, &model).expect("runs");
                    handled += u32::from(quick.make_graph(&mut world, &model).expect("records"));
                }
                fast::step(&mh, &mut world, &model, &mut quick, &scope).expect("steps");
                let place = format!("program {number}, step {step}, β = {beta}, {mh:?}");
                assert!(world.stream == after, "{place}");
                assert_eq!(plain.info, quick.info, "{place}");
                assert_eq!(plain.choices.len(), quick.choices.len(), "{place}");
                for at in 0..plain.choices.len() {
                    let [a, b] =
                        [plain.choice_value(at), quick.choice_value(at)].map(|v| output::json(&v).expect("json"));
                    assert_eq!(a, b, "{place}");
                }
                let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + a.abs());
                assert!(near(plain.scores.prior, quick.scores.prior), "{place}");
                assert!(near(plain.scores.factor, quick.scores.factor), "{place}");
                let [a, b] = [&plain, &quick].map(|t| output::json(&t.value().expect("a value")).expect("json"));
                assert_eq!(a, b, "{place}");
            }
        }
    }
    assert!(handled > 24, "graphs were made {handled} times");
}

/// Trajectories in the graph and by running the program with derivatives.
#[test]
fn trajectories_are_the_same() {
    let (mut accepted, mut compared) = (0, 0);
    for (number, text) in PROGRAMS.iter().enumerate() {
        let (mut world, model) = load(text, 5);
        let scope = Scope::default();
        let hmc = Hmc { steps: 3, size: 0.05 };
        let mut plain = Trace::initialize(&mut world, &model).expect("runs");
        plain.fast.never_leap();
        let mut quick = plain.clone();
        for step in 0..60 {
            let place = format!("program {number}, step {step}");
            let stream = world.stream.clone();
            // choices that appear on the way are refused; both do so
            let Ok(()) = hmc.step(&mut world, &model, &mut plain, &scope) else { break };
            let after = std::mem::replace(&mut world.stream, stream.clone());
            let how = Leap { steps: hmc.steps, size: hmc.size, scaled: false };
            match leap(&mut world, &model, &mut quick, &scope, how).expect("leaps") {
                Leapt::Impossible => break,
                Leapt::Broken => {
                    world.stream = after;
                    quick = Trace { info: plain.info, ..plain.clone() };
                    continue;
                }
                Leapt::Done => {}
            }
            compared += 1;
            assert!(world.stream == after, "{place}");
            assert_eq!(plain.info, quick.info, "{place}");
            accepted += u32::from(plain.info[0] > 0);
            for at in 0..plain.choices.len() {
                let numbers = |v: Value| match v {
                    Value::Tensor(t) => t.data.clone(),
                    other => vec![crate::coerce::number(&other)],
                };
                for (a, b) in numbers(plain.choice_value(at)).into_iter().zip(numbers(quick.choice_value(at))) {
                    assert!((a - b).abs() < 1e-9 || (a.is_nan() && b.is_nan()), "{place}: {a} {b}");
                }
            }
        }
    }
    assert!(compared > 150 && accepted > 100, "{compared} {accepted}");
}

/// What a recording cannot stand for is not recorded.
#[test]
fn impure_programs_have_no_graph() {
    for body in [
        "Math.random() + x",
        "display(x)",
        "Infer({method: 'enumerate', model: function() { return flip(0.5); }})",
        "cache(function(i) { return i + x; })(1)",
        "Gaussian({mu: x, sigma: 1})",
        "function() { return x; }",
    ] {
        let text = format!("var model = function() {{ var x = gaussian(0, 1); return {body}; }};");
        let (mut world, model) = load(&text, 1);
        let trace = Trace::initialize(&mut world, &model).expect("runs");
        let stream = world.stream.clone();
        assert!(record(&mut world, &model, &trace).expect("no failure").is_none(), "{body}");
        assert!(world.stream == stream && world.printed.len() <= 1);
    }
}

/// Nothing in a factorization decides what the program does, not even a comparison that is returned.
#[test]
fn factorizations_are_changed_in_the_graph_only() {
    let text = include_str!("../../benches/models/factorization_small.wppl");
    let (mut world, model) = load(&text[..text.find("Infer").unwrap_or(text.len())], 1);
    let mut trace = Trace::initialize(&mut world, &model).expect("runs");
    for _ in 0..2000 {
        fast::step(&Mh::default(), &mut world, &model, &mut trace, &Scope::default()).expect("steps");
    }
    assert!(trace.fast.handled() > 1980, "{}", trace.fast.handled());
}

/// Functions of numbers are part of the graph: none of them looks at the number itself.
#[test]
fn functions_of_numbers_leave_no_guards() {
    for function in [
        "Math.exp(x)",
        "Math.sqrt(y)",
        "Math.log(y) + Math.sin(x)",
        "Math.pow(y, 1.5)",
        "Math.pow(x, 2) / y",
        "Math.abs(x) + Math.max(x, y)",
        "1 / (1 + Math.exp(-x))",
        "T.sumreduce(T.mul(Vector([x, y]), 2))",
        "T.get(T.dot(Matrix([[x, 1], [1, y]]), Vector([1, 2])), 0)",
        "-Bernoulli({p: 1 / (1 + Math.exp(x))}).score(true)",
        "-Categorical({ps: [y, 1], vs: [0, 1]}).score(0)",
        "sum([x, y, x * y])",
    ] {
        let text = format!(
            "var model = function() {{ var x = gaussian(0, 1); var y = gamma(2, 1); factor(-({function})); return x; }};"
        );
        let (mut world, model) = load(&text, 1);
        let mut trace = Trace::initialize(&mut world, &model).expect("runs");
        for _ in 0..200 {
            fast::step(&Mh::default(), &mut world, &model, &mut trace, &Scope::default()).expect("steps");
        }
        assert!(trace.fast.handled() > 180, "{function}: {}", trace.fast.handled());
    }
}
