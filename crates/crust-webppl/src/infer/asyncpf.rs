//! The asynchronous particle cascade (Paige et al. 2014, arXiv:1407.2864).

use super::{Histogram, Model, Options};
use crate::error::{Run, fail};
use crate::machine::{Effect, State};
use crate::value::Value;
use crate::world::World;
use crust_math::special::log_sum_exp;

#[derive(Clone)]
struct Particle {
    state: State,
    log_weight: f64,
    factor: Option<usize>,
    children: usize,
    multiplicity: f64,
}

/// Weights seen at a factor: how many, their running mean, and how many children they were given.
#[derive(Clone, Copy)]
struct Seen {
    count: f64,
    mean: f64,
    children: f64,
}

/// `Infer({method: 'asyncPF', particles, bufferSize})`
pub fn async_pf(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let particles = options.count("particles", 100)?;
    let buffer_size = options.count("bufferSize", particles)?;
    options.finish(world, "AsyncPF");
    if particles == 0 {
        return fail("asyncPF needs at least one particle");
    }
    let mut buffer: Vec<Particle> = Vec::new();
    for _ in 0..buffer_size / 2 {
        buffer.push(start(world, model)?);
    }
    let mut seen: Vec<Seen> = Vec::new();
    let mut histogram = Histogram::new(false);
    let mut last = None;
    let mut exited = 0;
    while exited < particles {
        let i = world.stream.index_below(buffer.len() + 1);
        let mut particle = if i == buffer.len() {
            start(world, model)?
        } else if buffer[i].children > 1 {
            buffer[i].children -= 1;
            Particle { children: 1, ..buffer[i].clone() }
        } else {
            buffer.remove(i)
        };
        match advance(world, &mut particle)? {
            Some(value) => {
                histogram.add(value, None);
                last = particle.factor;
                exited += 1;
            }
            None => {
                if branch(world, &mut particle, &mut seen, particles, buffer.len() < buffer_size) {
                    buffer.push(particle);
                }
            }
        }
    }
    let log_z = last.map_or(0.0, |f| {
        let Seen { mean, children, .. } = seen[f];
        children.ln() - (particles as f64).ln() + mean
    });
    histogram.value(Some(log_z))
}

fn start(world: &mut World, model: &Model) -> Run<Particle> {
    Ok(Particle { state: model.start(world)?, log_weight: 0.0, factor: None, children: 0, multiplicity: 1.0 })
}

/// Runs to the next factor, or to the end and its value.
fn advance(world: &mut World, particle: &mut Particle) -> Run<Option<Value>> {
    let state = &mut particle.state;
    loop {
        match state.run(world)? {
            Effect::Sample { dist, .. } => {
                let value = dist.sample(&mut world.stream)?;
                state.resume(value);
            }
            Effect::Factor { score, result, .. } => {
                particle.log_weight += score.value();
                state.resume(result);
                particle.factor = Some(particle.factor.map_or(0, |f| f + 1));
                return Ok(None);
            }
            Effect::Done(value) => return Ok(Some(state.result(value))),
            _ => state.resume(Value::Undefined),
        }
    }
}

/// Decides how many children a particle has at its factor; whether it goes on.
fn branch(world: &mut World, particle: &mut Particle, seen: &mut Vec<Seen>, k0: usize, room: bool) -> bool {
    let factor = particle.factor.unwrap_or(0);
    let Some(before) = seen.get(factor).copied() else {
        // the first particle at a factor
        seen.push(Seen { count: 1.0, mean: particle.log_weight, children: 1.0 });
        particle.children = 1;
        return true;
    };
    let (w, c) = (particle.log_weight, particle.multiplicity);
    let mean = log_sum_exp(before.count.ln() + before.mean, c.ln() + w) - (before.count + c).ln();
    let log_ratio = w - mean;
    let (children, weight) = if log_ratio < 0.0 {
        if world.stream.uniform().ln() < log_ratio { (1.0, mean) } else { (0.0, f64::NEG_INFINITY) }
    } else {
        let ratio = if log_ratio.is_nan() { 1.0 } else { log_ratio.exp() };
        let few = before.children <= (k0 as f64).min(before.count);
        let n: f64 = if few { ratio.ceil() } else { ratio.floor() };
        (n, w - n.ln())
    };
    seen[factor] = Seen { count: before.count + 1.0, mean, children: before.children + children };
    if children == 0.0 {
        return false;
    }
    particle.log_weight = weight;
    particle.children = 1;
    if room {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of children")]
        {
            particle.children = children as usize;
        }
    } else {
        particle.multiplicity *= children;
    }
    true
}
