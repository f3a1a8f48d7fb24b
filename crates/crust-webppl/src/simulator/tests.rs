use super::*;
use crate::script::Script;
use crust_math::random::Purpose;

fn simulator(text: &str) -> Simulator {
    let program = Program::compile("test.wppl", text).expect("compiles");
    Simulator::new(&program, &Setup::default()).expect("a model")
}

fn stream(seed: u64) -> Stream {
    StreamKey::new(seed, Purpose::TEST).stream()
}

/// Programs with few executions: fixed and growing traces, choices whose distributions and addresses depend on others,
/// memoised ones, choices that nothing depends on.
const SMALL: &[&str] = &[
    "var model = function() { var a = flip(0.3); observe(Bernoulli({p: a ? 0.9 : 0.2}), true); return a; };",
    "var model = function() {
       var p = uniformDraw([0.2, 0.5, 0.9]);
       var n = flip(p) ? 1 : 2;
       var hidden = repeat(n, function() { return flip(p); });
       map(function(x) { observe(Bernoulli({p: p}), x); }, [true, false]);
       return sum(hidden); };",
    "var grow = function(n) { return n < 3 && flip(0.6) ? 1 + grow(n + 1) : 0; };
     var model = function() { var n = grow(0); observe(Binomial({n: 4, p: 0.2 + 0.2 * n}), 2); return n; };",
    "var model = function() {
       var a = flip(0.5);
       var b = a ? flip(0.2) : uniformDraw([true, false, 3]);
       var c = flip(b === 3 ? 0.9 : 0.4);
       observe(Discrete({ps: [b ? 0.3 : 0.6, c ? 0.5 : 0.1]}), 1);
       return c; };",
    "var model = function() {
       var colour = mem(function(i) { return discrete([0.2, 0.3, 0.5]); });
       var i = flip(0.5) ? 0 : 1;
       observe(Bernoulli({p: 0.1 + 0.2 * colour(i) + 0.1 * colour(0)}), true);
       return i; };",
];

type Key = String;

/// What tells an execution from others.
fn key(execution: &Execution) -> Key {
    let choice = |c: &Choice| format!("{}:{}", c.addr, output::json(&c.value).unwrap_or_default());
    execution.trace.choices.iter().map(choice).collect::<Vec<_>>().join(" ")
}

/// Every execution with its scores.
fn executions(simulator: &mut Simulator) -> Vec<Execution> {
    let mut all = Vec::new();
    let mut script = Some(Script::first());
    while let Some(now) = script {
        simulator.world.script = Some(now);
        let data = simulator.data.clone();
        all.push(simulator.run(data, &mut Prior).expect("runs"));
        script = simulator.world.script.take().and_then(Script::next);
    }
    all
}

/// K(from, ·), by the sum over all paths through the kernel.
fn transitions(simulator: &mut Simulator, from: &Execution, beta: f64, kernel: &TraceKernel) -> BTreeMap<Key, f64> {
    let mut to: BTreeMap<Key, f64> = BTreeMap::new();
    let mut script = Some(Script::first());
    while let Some(now) = script {
        simulator.world.script = Some(now);
        let mut execution = from.clone();
        simulator.step_here(&mut execution, beta, kernel).expect("steps");
        let now = simulator.world.script.take().expect("a script");
        if now.probability > 0.0 {
            // scores that were added up piece by piece are those of the program
            let again = simulator.restore(&execution.snapshot().expect("plain")).expect("runs");
            assert!((again.log_prior() - execution.log_prior()).abs() < 1e-9);
            assert!((again.log_likelihood() - execution.log_likelihood()).abs() < 1e-9);
            assert_eq!(again.value().expect("json"), execution.value().expect("json"));
            *to.entry(key(&execution)).or_default() += now.probability;
        }
        script = now.next();
    }
    to
}

/// π(x) K(x, y) = π(y) K(y, x) for all pairs of executions, exactly: the kernel leaves prior × likelihood^β invariant
/// and is its own time reversal.
#[test]
fn kernels_are_reversible() {
    let kernels = [
        TraceKernel::single_site(),
        TraceKernel { pairs: true, ..TraceKernel::single_site() },
        TraceKernel { proposals: 2, ..TraceKernel::single_site() },
    ];
    for (text, kernel) in SMALL.iter().flat_map(|text| kernels.iter().map(move |kernel| (text, kernel))) {
        let mut simulator = simulator(text);
        let all = executions(&mut simulator);
        for beta in [0.0, 0.4, 1.0] {
            let weight = |e: &Execution| e.trace.scores.total(beta).exp();
            let rows: Vec<BTreeMap<Key, f64>> =
                all.iter().map(|from| transitions(&mut simulator, from, beta, kernel)).collect();
            for (x, from) in all.iter().zip(&rows) {
                assert!((from.values().sum::<f64>() - 1.0).abs() < 1e-12);
                for (y, back) in all.iter().zip(&rows) {
                    let there = weight(x) * from.get(&key(y)).copied().unwrap_or(0.0);
                    let and_back = weight(y) * back.get(&key(x)).copied().unwrap_or(0.0);
                    assert!((there - and_back).abs() < 1e-12, "{text}\n{kernel:?} {beta}: {there} {and_back}");
                }
            }
        }
    }
}

/// Geweke's test of simulated data and of random walks: steps at β = 1 after a draw of parameters and data leave the
/// prior as it is. The bound is 4.5 standard errors for each of two moments: false alarms have a rate of 2e-5.
#[test]
fn the_kernel_keeps_the_joint_distribution() {
    let mut simulator = simulator(
        "var model = function() {
           var mu = gaussian(0, 1);
           var scale = flip(0.5) ? gamma(2, 1) : 1;
           repeat(2, function() { observe(Gaussian({mu: mu, sigma: scale})); });
           return mu; };",
    );
    let (n, mut stream) = (20_000, stream(3));
    let kernel = TraceKernel { proposals: 4, drift: 0.7, pairs: true, leap: 0.3 };
    let mut sums = [0.0; 2];
    let moments = |e: &Execution| {
        let numbers = e.snapshot().expect("plain").numbers();
        [numbers[0] * numbers[0], numbers[1]]
    };
    for _ in 0..n {
        let (truth, data) = simulator.simulate(&Numbers::new(), &mut stream).expect("runs");
        simulator.observe(Some(&data));
        let mut e = simulator.restore(&truth.snapshot().expect("plain")).expect("runs");
        let before = moments(&e);
        for _ in 0..3 {
            simulator.step(&mut e, 1.0, &kernel, &mut stream).expect("steps");
        }
        let after = moments(&e);
        sums.iter_mut().zip(after.iter().zip(before)).for_each(|(sum, (a, b))| *sum += a - b);
    }
    // variances of the differences are at most 4 · 2 (a squared normal) and 1 (a truth value)
    for (sum, variance) in sums.iter().zip([8.0, 1.0]) {
        let bound = 4.5 * (variance / f64::from(n)).sqrt();
        assert!((sum / f64::from(n)).abs() < bound, "{sums:?}");
    }
}

#[test]
fn simulated_data_are_kept() {
    let mut simulator = simulator(
        "var model = function() {
           var mu = gaussian(0, 1);
           observe(Gaussian({mu: mu, sigma: 1}), 5);
           observe(DiagCovGaussian({mu: Vector([mu, 0]), sigma: Vector([1, 1])}), Vector([1, 2]));
           return mu; };",
    );
    assert_eq!(simulator.own_data(&mut stream(1)).expect("runs"), [5.0, 1.0, 2.0].map(Plain::Number));
    let (truth, data) = simulator.simulate(&Numbers::new(), &mut stream(1)).expect("runs");
    assert_eq!(data.len(), 3);
    simulator.observe(Some(&data));
    let again = simulator.restore(&truth.snapshot().expect("plain")).expect("runs");
    assert_eq!(again.log_likelihood().to_bits(), truth.log_likelihood().to_bits());
    let named = simulator.assign(&truth.snapshot().expect("plain").by_name()).expect("runs");
    assert_eq!(named.log_prior().to_bits(), truth.log_prior().to_bits());
    assert!(simulator.assign(&Numbers::new()).is_err());
    let fixed = Numbers::from([("mu".to_owned(), vec![7.5])]);
    let (truth, _) = simulator.simulate(&fixed, &mut stream(2)).expect("runs");
    assert_eq!(truth.snapshot().expect("plain").by_name(), fixed);
}

#[test]
fn models_are_found() {
    let describe = |text: &str, model: Option<&str>| {
        let program = Program::compile_with("t.wppl", text, vec![("y".into(), "[1, 2]".into())]).expect("compiles");
        let setup = Setup { model: model.map(str::to_owned), ..Setup::default() };
        let mut simulator = Simulator::new(&program, &setup).map_err(|e| e.failure.to_string())?;
        let found = simulator.describe(&mut stream(1)).map_err(|e| e.failure.to_string())?;
        Ok::<_, String>(found)
    };
    let names = |d: &Description| d.choices.iter().map(|g| g.name.clone()).collect::<Vec<_>>();
    let one = "Infer({method: 'MCMC', samples: 1e9, model: function() { var a = flip() ? 1 : 2; observe(Poisson({mu: 1}), y[0]); }})";
    let found = describe(one, None).expect("found");
    assert_eq!(
        (names(&found), found.observations[0].words("value")),
        (vec!["a".to_owned()], "Poisson, 1 value".into())
    );
    let named = "var other = function() { var z = map(function(i) { return gaussian(0, 1); }, [1, 2]); factor(z[0]); };
        var helper = Infer({method: 'enumerate', model: function() { return flip(0.5); }});
        var model = function() { var b = sample(helper); }; Infer({model: other})";
    assert_eq!(names(&describe(named, None).expect("found")), ["b"]);
    let other = describe(named, Some("other")).expect("found");
    assert_eq!((other.choices[0].words("choice"), other.factors), ("Gaussian, 2 choices".to_owned(), 1));
    assert!(describe(named, Some("nothing")).is_err_and(|e| e.contains("no function named 'nothing'")));
    assert!(describe("Infer({model: flip}); Infer({model: flip})", None).is_err_and(|e| e.contains("--model")));
}

#[test]
fn factors_are_refused_where_data_are_simulated() {
    let mut simulator = simulator("var model = function() { var a = flip(); factor(a ? 1 : 0); return a; };");
    let error = simulator.simulate(&Numbers::new(), &mut stream(1)).map(|_| ()).expect_err("refused");
    assert!(error.to_string().contains("do not generate data") && error.place.is_some_and(|p| p.line == 1));
    assert!(simulator.prior(&mut stream(1)).is_ok());
}

/// log w of a chain forward, −log w of one in reverse, over T equal steps of β.
fn anneal(simulator: &mut Simulator, start: &Execution, forward: bool, stream: &mut Stream) -> f64 {
    const T: u32 = 12;
    let beta = |t: u32| f64::from(t) / f64::from(T);
    let (mut e, mut sum) = (start.clone(), 0.0);
    for i in 0..T {
        let (from, to) = if forward { (i, i + 1) } else { (T - i, T - i - 1) };
        sum += (beta(to) - beta(from)) * e.log_likelihood();
        let kernel = TraceKernel { proposals: 2, drift: 0.05, pairs: false, leap: 0.0 };
        simulator.step(&mut e, beta(to), &kernel, stream).expect("steps");
    }
    if forward { sum } else { -sum }
}

/// The mean gap between reverse and forward estimates of 200 simulated datasets, and its standard error.
fn gap(text: &str) -> (f64, f64) {
    let (mut simulator, mut stream) = (simulator(text), stream(11));
    let gaps: Vec<f64> = (0..200)
        .map(|_| {
            let (truth, data) = simulator.simulate(&Numbers::new(), &mut stream).expect("runs");
            simulator.observe(Some(&data));
            let truth = simulator.restore(&truth.snapshot().expect("plain")).expect("runs");
            let prior = simulator.prior(&mut stream).expect("runs");
            anneal(&mut simulator, &truth, false, &mut stream) - anneal(&mut simulator, &prior, true, &mut stream)
        })
        .collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    (mean, (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt())
}

/// BREAD, section 5.3: a wrong sampler of multivariate normal vectors was found by reverse estimates below forward
/// ones. With the right sampler the gap is positive, with a wrong one (of the mean's sign) far below 0.
#[test]
fn a_wrong_sampler_is_seen() {
    let text = "var model = function() {
        var mu = repeat(3, function() { return gaussian(0, 10); });
        observe(MultivariateGaussian({mu: Vector(mu), cov: T.mul(idMatrix(3), 9)}), zeros([3, 1])); };";
    let (right, se) = gap(text);
    assert!(right > -se, "right: {right} ± {se}");
    crate::distributions::draw::WRONG.set(true);
    let (wrong, se) = gap(text);
    crate::distributions::draw::WRONG.set(false);
    assert!(wrong < -5.0 * se, "wrong: {wrong} ± {se}");
}
