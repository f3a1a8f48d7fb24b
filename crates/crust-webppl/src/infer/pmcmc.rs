//! Particle Markov chain Monte Carlo: conditional particle filters around a retained particle.

use super::{Histogram, Model, Options};
use crate::distributions::draw::Picker;
use crate::error::{Run, fail};
use crate::machine::{Effect, State};
use crate::value::Value;
use crate::world::World;

/// An execution with its states and weights at each factor.
#[derive(Clone)]
struct Particle {
    history: Vec<(State, f64)>,
    value: Option<Value>,
}

/// `Infer({method: 'PMCMC', particles, sweeps})`
pub fn pmcmc(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let particles = options.count("particles", 100)?;
    let sweeps = options.count("sweeps", 1)?;
    options.finish(world, "PMCMC");
    if particles == 0 {
        return fail("PMCMC needs at least one particle");
    }
    let mut histogram = Histogram::new(false);
    let mut retained: Option<Particle> = None;
    for _ in 0..=sweeps {
        let swept = sweep(world, model, particles, retained.as_ref())?;
        if let Some(old) = &retained {
            for p in swept.iter().chain([old]) {
                histogram.add(p.value.clone().unwrap_or(Value::Undefined), None);
            }
        }
        retained = swept.into_iter().next();
    }
    histogram.value(None)
}

fn sweep(world: &mut World, model: &Model, n: usize, retained: Option<&Particle>) -> Run<Vec<Particle>> {
    let mut particles = Vec::with_capacity(n);
    for _ in 0..n {
        particles.push(Particle { history: vec![(model.start(world)?, 0.0)], value: None });
    }
    loop {
        let mut at_factor = 0;
        for particle in &mut particles {
            if particle.value.is_none() {
                at_factor += usize::from(advance(world, particle)?);
            }
        }
        if at_factor == 0 {
            return Ok(particles);
        }
        let step = particles.iter().map(|p| p.history.len()).max().unwrap_or(1);
        let mut pool = particles;
        if let Some(old) = retained.filter(|r| r.history.len() >= step) {
            pool.push(Particle { history: old.history[..step].to_vec(), value: None });
        } else if let Some(old) = retained {
            pool.push(old.clone());
        }
        // executions that have ended have no new weight
        let weight = |p: &Particle| match p.history.get(step - 1) {
            Some((_, w)) => w.exp(),
            None => 1.0,
        };
        let weights: Vec<f64> = pool.iter().map(weight).collect();
        if weights.iter().all(|w| *w == 0.0) {
            return fail("all particles have zero weight");
        }
        let picker = Picker::new(weights.into_iter());
        particles = (0..n).map(|_| pool[picker.pick(&mut world.stream)].clone()).collect();
    }
}

/// Runs to the next factor; whether there was one.
fn advance(world: &mut World, particle: &mut Particle) -> Run<bool> {
    let Some((state, _)) = particle.history.last() else { return fail("a particle has no state") };
    let mut state = state.clone();
    loop {
        match state.run(world)? {
            Effect::Sample { dist, .. } => {
                let value = dist.sample(&mut world.stream)?;
                state.resume(value);
            }
            Effect::Factor { score, result, .. } => {
                state.resume(result);
                particle.history.push((state, score.value()));
                return Ok(true);
            }
            Effect::Done(value) => {
                particle.value = Some(state.result(value));
                return Ok(false);
            }
            _ => state.resume(Value::Undefined),
        }
    }
}
