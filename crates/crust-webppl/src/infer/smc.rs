//! Sequential Monte Carlo: particles that stop at each factor, are resampled there, and rejuvenated by Markov kernels.

mod quick;

use std::rc::Rc;

use super::callbacks::Callbacks;
use super::kernel::{Kernel, Scope};
use super::trace::{Scores, Trace};
use super::{Histogram, Model, Options, guide};
use crate::distributions::draw::Picker;
use crate::error::{Run, fail};
use crate::machine::{Effect, State};
use crate::value::{Value, Wrapped};
use crate::world::World;
use crust_math::special::log_sum_exp_slice;

#[derive(Clone)]
struct Particle {
    trace: Trace,
    log_weight: f64,
    /// Nothing if the execution has ended.
    state: Option<State>,
}

struct Smc<'a> {
    model: &'a Model,
    kernel: Kernel,
    rejuvenations: usize,
    keep_choices: bool,
    importance: String,
    hmc: bool,
}

/// `Infer({method: 'SMC'})`
pub fn smc(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let particles = options.count("particles", 100)?;
    let rejuvenations = options.count("rejuvSteps", 0)?;
    let kernel = options.get("rejuvKernel");
    let kernel = Kernel::parse(world, &kernel)?;
    let final_rejuvenation = options.flag("finalRejuv", true);
    let save = options.flag("saveTraces", false);
    let importance = match options.get("importance") {
        Value::Undefined => "default".to_owned(),
        value => crate::coerce::text(&value),
    };
    if !matches!(&*importance, "default" | "ignoreGuide" | "autoGuide") {
        return fail(format!("{importance} is not a valid importance option: default, ignoreGuide, autoGuide"));
    }
    let mut histogram = Histogram::new(options.flag("onlyMAP", false));
    let callbacks = Callbacks::new(options.list("callbacks"));
    for ignored in ["throwOnError", "debug"] {
        options.get(ignored);
    }
    options.finish(world, "SMC");
    if particles == 0 {
        return fail("SMC needs at least one particle");
    }
    world.context.guide_required = importance != "ignoreGuide";
    let hmc = !matches!(kernel, Kernel::Mh(_));
    let keep_choices = rejuvenations > 0 || save;
    let smc = Smc { model, kernel, rejuvenations, keep_choices, importance, hmc };
    let quick = !keep_choices && smc.importance != "autoGuide";
    let ended = if quick { smc.quick(world, particles)? } else { smc.start(world, particles)? };
    let (particles, log_z) = smc.run(world, ended)?;
    let mut saved = Vec::new();
    for mut particle in particles {
        let repeat = if final_rejuvenation { rejuvenations } else { 0 };
        for i in 0..repeat.max(1) {
            if i < repeat {
                smc.kernel.step(world, model, &mut particle.trace, &Scope::default())?;
            }
            let value = particle.trace.value()?;
            let score = particle.trace.scores.total(1.0);
            callbacks.sample(world, &value, Some(score))?;
            histogram.add(value, Some(score));
        }
        if save {
            particle.trace.sync(world, model)?;
            let values = particle.trace.choices.iter().map(|c| (c.addr, c.value.clone())).collect();
            let trace = super::SavedTrace { values, score: particle.trace.scores.total(1.0) };
            saved.push(Value::Wrapped(Rc::new(Wrapped::Trace(trace))));
        }
    }
    callbacks.call(world, "finish", &[])?;
    let dist = histogram.dist(Some(log_z))?;
    if save {
        dist.extra.borrow_mut().push(("traces".into(), Value::array(saved)));
    }
    Ok(Value::Dist(Rc::new(dist)))
}

impl Smc<'_> {
    /// Particles at the beginning of the program.
    fn start(&self, world: &mut World, n: usize) -> Run<Population> {
        let mut particles = Vec::with_capacity(n);
        for _ in 0..n {
            let state = Some(self.model.start(world)?);
            particles.push(Particle { trace: Trace::empty(), log_weight: 0.0, state });
        }
        Ok(Population { particles, ahead: 0 })
    }

    /// Goes on to the end of all particles.
    fn run(&self, world: &mut World, population: Population) -> Run<(Vec<Particle>, f64)> {
        let Population { mut particles, ahead } = population;
        let mut step = 0;
        if particles.iter().all(|particle| particle.state.is_none()) {
            let log_z = particles[0].log_weight;
            return Ok((particles, log_z));
        }
        loop {
            step += 1;
            let mut active = step == 1 && ahead > 0;
            for particle in particles.iter_mut().skip(if step == 1 { ahead } else { 0 }) {
                if particle.state.is_some() {
                    self.advance(world, particle)?;
                    active |= particle.state.is_some();
                }
            }
            if particles.len() > 1 {
                particles = resample(world, particles)?;
                active = particles.iter().any(|p| p.state.is_some());
            }
            if !active {
                let log_z = particles[0].log_weight;
                return Ok((particles, log_z));
            }
            if self.rejuvenations > 0 {
                for particle in &mut particles {
                    self.rejuvenate(world, particle, step)?;
                }
            }
        }
    }

    /// Moves the choices made so far, all factors up to this step in force.
    fn rejuvenate(&self, world: &mut World, particle: &mut Particle, step: usize) -> Run<()> {
        let scope = Scope { exit: step, ..Scope::default() };
        particle.trace.paused = particle.state.take();
        for _ in 0..self.rejuvenations {
            self.kernel.step(world, self.model, &mut particle.trace, &scope)?;
        }
        particle.state = particle.trace.paused.take();
        Ok(())
    }

    /// Runs a particle to its next factor or to the end.
    fn advance(&self, world: &mut World, particle: &mut Particle) -> Run<()> {
        let Some(mut state) = particle.state.take() else { return Ok(()) };
        let trace = &mut particle.trace;
        loop {
            match state.run(world)? {
                Effect::Sample { dist, options, addr } => {
                    let from = if self.importance == "ignoreGuide" {
                        None
                    } else {
                        let automatic = self.importance == "autoGuide";
                        guide::distribution(world, &mut state, &dist, &options, addr, automatic)?
                    };
                    let (value, score) = match from {
                        Some(from) => {
                            let value = from.sample(&mut world.stream)?;
                            let score = dist.score(&value)?.value();
                            particle.log_weight += score - from.score(&value)?.value();
                            (value, score)
                        }
                        None => {
                            let value = dist.sample(&mut world.stream)?;
                            let score = dist.score(&value)?.value();
                            (value, score)
                        }
                    };
                    if self.keep_choices {
                        trace.push(state.clone(), addr, dist, options, value.clone())?;
                    } else {
                        trace.scores.prior += score;
                    }
                    state.resume(value);
                }
                Effect::Factor { score, result, .. } => {
                    let Scores { factor, factors, .. } = &mut trace.scores;
                    *factor += score.value();
                    *factors += 1;
                    particle.log_weight += score.value();
                    state.resume(result);
                    particle.state = Some(state);
                    return Ok(());
                }
                Effect::Done(value) => {
                    let value = state.result(value);
                    trace.run_value = Some(if self.hmc { value.deep_primal() } else { value });
                    return Ok(());
                }
                _ => state.resume(Value::Undefined),
            }
        }
    }
}

/// Particles, some of which have made their next step already.
struct Population {
    particles: Vec<Particle>,
    ahead: usize,
}

/// Residual resampling (Liu 2008, section 3.4.4): each particle as often as the whole part of its expected number says,
/// the rest by chance. Which particles go on, and the log of their average weight.
fn choose(world: &mut World, weights: &[f64]) -> Run<(Vec<usize>, f64)> {
    let m = weights.len();
    let average = log_sum_exp_slice(weights) - (m as f64).ln();
    if average == f64::NEG_INFINITY || average.is_nan() {
        return fail("all particles have zero weight");
    }
    let mut retained = Vec::with_capacity(m);
    let mut rest = Vec::with_capacity(m);
    for (i, w) in weights.iter().enumerate() {
        let w = (w - average).exp();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of particles")]
        let copies = (w.floor() as usize).min(m - retained.len());
        rest.push((w - copies as f64).max(0.0));
        retained.extend(std::iter::repeat_n(i, copies));
    }
    let picker = Picker::new(rest.into_iter());
    let mut chosen: Vec<usize> = (retained.len()..m).map(|_| picker.pick(&mut world.stream)).collect();
    chosen.extend(retained);
    Ok((chosen, average))
}

fn resample(world: &mut World, particles: Vec<Particle>) -> Run<Vec<Particle>> {
    let m = particles.len();
    let weights: Vec<f64> = particles.iter().map(|p| p.log_weight).collect();
    let (chosen, average) = choose(world, &weights)?;
    // a particle that goes on once is moved, not copied
    let mut left = vec![0_u32; m];
    chosen.iter().for_each(|&i| left[i] += 1);
    let mut particles: Vec<Option<Particle>> = particles.into_iter().map(Some).collect();
    let mut next = Vec::with_capacity(m);
    for i in chosen {
        left[i] -= 1;
        let particle = if left[i] == 0 { particles[i].take() } else { particles[i].clone() };
        next.extend(particle.map(|particle| Particle { log_weight: average, ..particle }));
    }
    Ok(next)
}
