//! Particles that are nodes of a [`Memo`]: most of them do what others have done, so that a step is a draw and a look.

use super::{Particle, Population, Smc, choose};
use crate::error::Run;
use crate::infer::memo::{End, Memo, Stop};
use crate::infer::trace::{Scores, Trace};
use crate::value::Value;
use crate::world::World;

#[derive(Clone, Copy)]
struct Light {
    node: u32,
    done: bool,
    log_weight: f64,
    prior: f64,
    factor: f64,
    factors: usize,
}

impl Smc<'_> {
    /// Runs particles with a memo to the end, or as far as it goes. They use the same random numbers as without.
    pub(super) fn quick(&self, world: &mut World, n: usize) -> Run<Population> {
        let before = world.marks();
        // Without guides programs do something else.
        let usual = self.importance == "default";
        let mut memo = if usual { Memo::kept(world) } else { Memo::new(true) };
        if let Some(population) = self.with_memo(world, n, &mut memo)?.filter(|_| !memo.spoiled) {
            if usual {
                memo.keep(world);
            }
            return Ok(population);
        }
        world.stream = before.stream;
        world.printed.truncate(before.printed);
        self.start(world, n)
    }

    fn with_memo(&self, world: &mut World, n: usize, memo: &mut Memo) -> Run<Option<Population>> {
        let node = memo.root(world, self.model)?;
        let mut all = vec![Light { node, done: false, log_weight: 0.0, prior: 0.0, factor: 0.0, factors: 0 }; n];
        for round in 0.. {
            for i in 0..n {
                if all[i].done {
                    continue;
                }
                let stream = world.stream.clone();
                match advance(world, memo, all[i])? {
                    Some(next) => all[i] = next,
                    None if memo.spoiled || round == 0 => return Ok(None),
                    None => {
                        world.stream = stream;
                        return Ok(Some(Population { particles: particles(memo, &all), ahead: i }));
                    }
                }
            }
            if n > 1 {
                let weights: Vec<f64> = all.iter().map(|light| light.log_weight).collect();
                let (chosen, log_weight) = choose(world, &weights)?;
                all = chosen.into_iter().map(|i| Light { log_weight, ..all[i] }).collect();
            }
            if all.iter().all(|light| light.done) {
                break;
            }
        }
        Ok(Some(Population { particles: particles(memo, &all), ahead: 0 }))
    }
}

/// Goes on to the next factor or to the end.
fn advance(world: &mut World, memo: &mut Memo, mut light: Light) -> Run<Option<Light>> {
    loop {
        let value = match &memo.node(light.node).stop {
            Stop::Choice { dist, .. } => dist.sample(&mut world.stream)?,
            _ => Value::Undefined,
        };
        let Some(step) = memo.leg(world, light.node, &value)? else { return Ok(None) };
        let leg = memo.at(step);
        light.prior += leg.score;
        light.factor += leg.factor;
        light.factors += leg.factors;
        light.log_weight += leg.factor;
        let End::Node(node) = leg.end else { return Ok(None) };
        light.node = node;
        match memo.node(node).stop {
            Stop::Choice { .. } => {}
            Stop::Factor => return Ok(Some(light)),
            Stop::Done(_) => return Ok(Some(Light { done: true, ..light })),
        }
    }
}

/// The same particles as the machine has them.
fn particles(memo: &Memo, all: &[Light]) -> Vec<Particle> {
    let particle = |light: &Light| {
        let node = memo.node(light.node);
        let mut trace = Trace::empty();
        let Light { prior, factor, factors, .. } = *light;
        trace.scores = Scores { prior, factor, factors, observed: 0 };
        let state = match &node.stop {
            Stop::Done(value) => {
                trace.run_value = Some(value.clone());
                None
            }
            _ => Some(node.state.clone()),
        };
        Particle { trace, log_weight: light.log_weight, state }
    };
    all.iter().map(particle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::fast_tests::load;
    use crate::infer::kernel::Kernel;
    use crate::output;

    /// A hidden Markov model; a factor before all choices; executions of different lengths, some without weight; a
    /// continuous choice at the end; values changed in place; a memo that does not pay.
    const PROGRAMS: &[&str] = &[
        "var transition = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]];
         var walk = function(t, state) {
           if (t === 9) { return state; }
           var next = discrete(transition[state]);
           observe(Gaussian({mu: next, sigma: 1}), Math.sin(t));
           return walk(t + 1, next); };
         var model = function() { return walk(0, 0); };",
        "var model = function() {
           factor(-1);
           var go = function(n) { if (flip(0.6)) { factor(-0.1); return go(n + 1); } return n; };
           var n = go(0);
           condition(n !== 2);
           return n; };",
        "var model = function() {
           var a = flip(0.3);
           factor(a ? 0 : -1);
           var b = flip(a ? 0.2 : 0.8);
           factor(b ? -0.5 : 0);
           var x = b ? gaussian(0, 1) : 0;
           observe(Gaussian({mu: x, sigma: 1}), 0.7);
           return [a, b, x]; };",
        "var model = function() {
           var xs = [flip(0.5)];
           factor(xs[0] ? 0 : -1);
           xs.push(flip(0.5));
           factor(xs[1] ? 0 : -1);
           return xs; };",
        "var model = function() {
           var xs = mapN(function(i) { var x = randomInteger(4); factor(-x / 9); return x; }, 30);
           return sum(xs); };",
    ];

    /// What an earlier inference did is used again, but not after something has changed that it looks at.
    #[test]
    fn a_memo_is_kept_while_it_holds() {
        let text = "var weights = [1, 3];
            var other = function(p) { return function() { var a = flip(p); factor(a ? weights[0] : weights[1]); return a; }; };
            var share = function(p) {
              return Math.exp(Infer({method: 'SMC', particles: 4000, model: other(p)}).score(true)); };
            var first = [share(0.5), share(0.5), share(0.9)];
            var more = weights.splice(0, 2, 3, 1);
            first.concat([share(0.5), share(0.9)])";
        let program = crate::Program::compile("kept.wppl", text).expect("compiles");
        let result = crate::run(&program, &crate::Options::default()).expect("runs");
        let list = result.json.split(['[', ']']).nth(1).expect("a list");
        let numbers: Vec<f64> = list.split(',').map(|x| x.trim().parse().expect("a number")).collect();
        assert_eq!(numbers.len(), 5);
        let exact = |p: f64, a: f64, b: f64| p * a.exp() / (p * a.exp() + (1.0 - p) * b.exp());
        let expected = [
            exact(0.5, 1.0, 3.0),
            exact(0.5, 1.0, 3.0),
            exact(0.9, 1.0, 3.0),
            exact(0.5, 3.0, 1.0),
            exact(0.9, 3.0, 1.0),
        ];
        for (found, expected) in numbers.iter().zip(expected) {
            assert!((found - expected).abs() < 0.03, "{numbers:?}");
        }
    }

    #[test]
    fn a_memo_changes_nothing() {
        for (number, text) in PROGRAMS.iter().enumerate() {
            for n in [1, 7, 100] {
                let run = |quick: bool| {
                    let (mut world, model) = load(text, 3);
                    let kernel = Kernel::parse(&mut world, &Value::Undefined).expect("MH");
                    let importance = "default".to_owned();
                    let smc =
                        Smc { model: &model, kernel, rejuvenations: 0, keep_choices: false, importance, hmc: false };
                    let begun = if quick { smc.quick(&mut world, n) } else { smc.start(&mut world, n) };
                    let ended = smc.run(&mut world, begun.expect("runs")).map(|(particles, log_z)| {
                        let one = |p: &Particle| {
                            let value = output::json(&p.trace.run_value.clone().expect("a value")).expect("json");
                            format!("{value} {:.9} {:.9}", p.trace.scores.prior, p.trace.scores.factor)
                        };
                        (particles.iter().map(one).collect::<Vec<_>>(), format!("{log_z:.9}"))
                    });
                    (ended.map_err(|e| e.to_string()), world.stream)
                };
                assert_eq!(run(true), run(false), "program {number}, {n} particles");
            }
        }
    }
}
