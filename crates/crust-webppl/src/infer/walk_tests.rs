//! Paths against the machine: the same proposals with the same random numbers must come to the same end.

use super::fast;
use super::fast_tests::load;
use super::kernel::Scope;
use super::mh::Mh;
use super::trace::Trace;
use crate::output;

// Every choice weighs something: where ratios are 1 up to rounding, it depends on that whether a random number is used.

/// Recursion, states that are met again, addresses that come back after others have gone, inference inside, memoised
/// functions, hard conditions, results in lists, values that are objects, `globalStore`.
const PROGRAMS: &[&str] = &[
    "var geometric = function(p) { return flip(p) ? 1 + geometric(p) : 1; };
     var model = function() { var n = geometric(0.7); factor(-n / 3); return n; };",
    "var transition = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]];
     var walk = function(t, state) {
       if (t === 12) { return state; }
       var next = discrete(transition[state]);
       observe(Gaussian({mu: next, sigma: 1}), Math.sin(t));
       return walk(t + 1, next); };
     var model = function() { return walk(0, 0); };",
    "var model = function() {
       var a = flip(0.4);
       var b = a ? flip(0.3) : randomInteger(3);
       var c = flip(b === 1 ? 0.2 : 0.9);
       var xs = a || c ? [flip(0.5), uniformDraw(['x', 'y', 'z'])] : [];
       condition(a || b || c);
       factor(0.31 * a + 0.17 * b + 0.43 * c + 0.29 * xs.length);
       factor(xs.length === 0 ? 0 : 0.37 * xs[0] + (xs[1] === 'x' ? 0.19 : xs[1] === 'y' ? 0.53 : 0));
       return [a, b, xs, c]; };",
    "var listener = function(u) { return Infer({method: 'enumerate', model: function() {
         var w = flip(0.5); factor(w === u ? 0 : -1); return w; }}); };
     var model = function() {
       var u = flip(0.6);
       var w = sample(listener(u));
       var f = mem(function(i) { return flip(0.2 + 0.1 * i); });
       factor(0.71 * f(1) - (f(2) && w ? 1.5 : 0.13 * f(2)) + (f(1) === f(3) ? 0.5 : 0) + 0.17 * w + 0.07 * u);
       return {u: u, w: w, f: [f(1), f(3)]}; };",
    "var kinds = [{k: 0}, {k: 1}, {k: 2}];
     var model = function() {
       globalStore.count = 0;
       var zs = map(function(x) {
         var z = categorical({ps: [1, 2, 3], vs: kinds});
         globalStore.count = globalStore.count + z.k;
         observe(Gaussian({mu: z.k, sigma: 1}), x);
         return z.k; }, [0.1, 0.8, 2.3, 1.7]);
       return [globalStore.count, sum(zs)]; };",
    "var expand = function(depth) {
       var kind = discrete([0.5, 0.3, 0.2]);
       factor(0.137 * kind * (1 + depth));
       return kind === 0 || depth > 2 ? ['leaf'] : kind === 1 ? ['up'].concat(expand(depth + 1))
         : expand(depth + 1).concat(expand(depth + 1)); };
     var model = function() { var tree = expand(0); factor(-Math.abs(tree.length - 4)); return tree.join(' '); };",
];

/// Programs that do more than compute: found out, and run by the machine.
const OTHERS: &[&str] = &[
    "var model = function() {
       var a = flip(0.5);
       var m = expectation(Infer({method: 'forward', samples: 3, model: function() { return a + gaussian(0, 1); }}));
       var b = flip(0.5);
       factor(0.37 * a + 0.11 * b);
       return [a, b, m]; };",
    "var model = function() {
       var a = flip(0.5);
       var b = flip(0.5);
       var f = function(u) { return g(u); };
       var g = function(u) { return !u; };
       factor(0.37 * a + 0.11 * b);
       return a || b ? f(a && b) : 'none'; };",
    "var model = function() {
       var n = randomInteger(1000); factor(n / 1e4); var b = flip(n / 1000); factor(b ? 0.3 : 0);
       return b ? n : [n, gaussian(0, 1)]; };",
];

fn compare(text: &str, number: usize) -> u32 {
    let mut walks = 0;
    for (mh, beta) in [(Mh::default(), 1.0), (Mh { drift: 0.5, ..Mh::default() }, 0.4)] {
        let (mut world, model) = load(text, 11);
        let scope = Scope { beta, ..Scope::default() };
        let mut plain = Trace::initialize(&mut world, &model).expect("runs");
        let mut quick = plain.clone();
        for step in 0..600 {
            let stream = world.stream.clone();
            mh.step(&mut world, &mut plain, &scope).expect("steps");
            let after = std::mem::replace(&mut world.stream, stream);
            fast::step(&mh, &mut world, &model, &mut quick, &scope).expect("steps");
            walks += u32::from(quick.fast.is_walk());
            let place = format!("program {number}, step {step}, β = {beta}");
            assert!(world.stream == after, "{place}");
            assert_eq!(plain.info, quick.info, "{place}");
            assert_eq!(plain.choices.len(), quick.len(), "{place}");
            for at in 0..plain.choices.len() {
                let [a, b] = [plain.choice_value(at), quick.choice_value(at)].map(|v| output::json(&v).expect("json"));
                assert_eq!(a, b, "{place}");
            }
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + a.abs());
            assert!(near(plain.scores.prior, quick.scores.prior), "{place}");
            assert!(near(plain.scores.factor, quick.scores.factor), "{place}");
            assert_eq!(plain.scores.factors, quick.scores.factors, "{place}");
            let [a, b] = [&plain, &quick].map(|t| output::json(&t.value().expect("a value")).expect("json"));
            assert_eq!(a, b, "{place}");
        }
        // back to the machine, as for a kernel that needs it
        quick.sync(&mut world, &model).expect("runs");
        let values = |t: &Trace| t.choices.iter().map(|c| (c.addr, output::json(&c.value).ok())).collect::<Vec<_>>();
        assert_eq!(values(&plain), values(&quick));
    }
    walks
}

#[test]
fn paths_do_what_the_program_does() {
    for (number, text) in PROGRAMS.iter().enumerate() {
        let walks = compare(text, number);
        assert!(walks > 1100, "program {number}: {walks} steps along paths");
    }
}

#[test]
fn programs_that_do_more_are_run() {
    for (number, text) in OTHERS.iter().enumerate() {
        let walks = compare(text, number);
        assert!(walks < 600, "program {number}: {walks} steps along paths");
    }
    let (mut world, model) = load("var model = function() { var xs = []; xs.push(flip(0.5)); return xs; };", 1);
    let mut trace = Trace::initialize(&mut world, &model).expect("runs");
    for _ in 0..40 {
        fast::step(&Mh::default(), &mut world, &model, &mut trace, &Scope::default()).expect("steps");
        assert!(!trace.fast.is_walk());
    }
}
