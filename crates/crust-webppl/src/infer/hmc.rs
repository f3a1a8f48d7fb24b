//! Hamiltonian Monte Carlo on the continuous choices of a trace. Choices with bounds are reflected at them.

use std::collections::HashMap;
use std::rc::Rc;

use super::Model;
use super::kernel::Scope;
use super::leap::{Leap, Leapt, leap};
use super::trace::Trace;
use crate::distributions::Dist;
use crate::error::{Run, fail};
use crate::machine::Effect;
use crate::tape::{Num, Tape};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::world::World;

pub struct Hmc {
    pub steps: usize,
    pub size: f64,
}

/// Values of all choices with the gradient of the score.
pub struct Point {
    choices: Vec<Position>,
    places: HashMap<u64, usize>,
    score: f64,
}

#[derive(Clone)]
struct Position {
    addr: u64,
    value: Value,
    /// The derivative for each element; empty for discrete choices.
    gradient: Vec<f64>,
    continuous: bool,
}

fn elements(value: &Value) -> Vec<f64> {
    match value {
        Value::Tensor(t) => t.data.clone(),
        other => vec![other.as_number().unwrap_or(f64::NAN)],
    }
}

fn like(value: &Value, data: Vec<f64>) -> Value {
    match value {
        Value::Tensor(t) => Value::tensor(Tensor::new(t.dims.clone(), data)),
        _ => Value::Number(data[0]),
    }
}

/// Keeps a number inside of its bounds; each reflection turns the momentum.
fn reflect(dist: &Dist, x: &mut [f64], momentum: &mut [f64]) {
    let (Some([low, high]), [x], [p]) = (dist.bounds(), x, momentum) else { return };
    let (low, high) = (low.value(), high.value());
    for _ in 0..1000 {
        if *x < low {
            *x = low + (low - *x);
        } else if *x > high {
            *x = high - (*x - high);
        } else {
            return;
        }
        *p = -*p;
    }
    // a step that is much longer than the interval
    *x = x.clamp(low, high);
}

/// Momenta by address.
type Momenta = HashMap<u64, Vec<f64>>;

/// Runs the program with derivatives. Continuous choices move by `size` times their momentum.
fn evaluate(
    world: &mut World,
    model: &Model,
    from: &Point,
    momenta: &mut Momenta,
    size: f64,
    exit: usize,
) -> Run<Point> {
    let tape = Rc::new(Tape::default());
    let mut state = model.start(world)?;
    let mut score = Num::Plain(0.0);
    let mut factors = 0;
    let mut lifted = Vec::new();
    let mut point = Point { choices: Vec::new(), places: HashMap::new(), score: 0.0 };
    loop {
        match state.run(world)? {
            Effect::Sample { dist, addr, .. } => {
                let Some(old) = from.places.get(&addr).map(|i| &from.choices[*i]) else {
                    return fail("HMC does not support structural continuous variables");
                };
                let continuous = dist.is_continuous();
                let (plain, value) = if continuous {
                    if dist.no_hmc() {
                        return fail(format!("HMC does not yet support the {} distribution", dist.family.name()));
                    }
                    let mut x = elements(&old.value);
                    if let Some(p) = momenta.get_mut(&addr) {
                        x.iter_mut().zip(p.iter()).for_each(|(x, p)| *x += size * p);
                        if size > 0.0 {
                            reflect(&dist, &mut x, p);
                        }
                    }
                    let plain = like(&old.value, x);
                    let value = tape.lift(plain.clone());
                    (plain, value)
                } else {
                    (old.value.clone(), old.value.clone())
                };
                score = score.add(&dist.score(&value)?);
                point.places.insert(addr, point.choices.len());
                point.choices.push(Position { addr, value: plain, gradient: Vec::new(), continuous });
                if let Value::Ad(ad) = &value {
                    lifted.push((point.choices.len() - 1, ad.index));
                }
                state.resume(value);
            }
            Effect::Factor { score: more, result, .. } => {
                score = score.add(&more);
                factors += 1;
                if factors == exit {
                    break;
                }
                state.resume(result);
            }
            Effect::Done(_) => break,
            _ => state.resume(Value::Undefined),
        }
    }
    point.score = score.value();
    let adjoints = match &score {
        Num::Ad(ad) if point.score.is_finite() => Some(ad.tape.backward(ad.index)),
        _ => None,
    };
    for (i, index) in lifted {
        let n = elements(&point.choices[i].value).len();
        let slope = |e: usize| adjoints.as_ref().map_or(0.0, |a| a.get(index, e));
        point.choices[i].gradient = (0..n).map(slope).collect();
    }
    Ok(point)
}

fn kick(point: &Point, momenta: &mut Momenta, size: f64) {
    for c in &point.choices {
        if let Some(p) = momenta.get_mut(&c.addr) {
            p.iter_mut().zip(&c.gradient).for_each(|(p, g)| *p += size * g);
        }
    }
}

fn kinetic(momenta: &Momenta, order: &[u64]) -> f64 {
    order.iter().filter_map(|a| momenta.get(a)).flatten().map(|p| 0.5 * p * p).sum()
}

impl Hmc {
    pub fn step(&self, world: &mut World, model: &Model, trace: &mut Trace, scope: &Scope) -> Run<()> {
        // the same trajectory, where a graph stands for it
        if scope.exit == 0 && trace.fast.may_leap() {
            let stream = world.stream.clone();
            let how = Leap { steps: self.steps, size: self.size, scaled: false };
            match leap(world, model, trace, scope, how)? {
                Leapt::Done => return Ok(()),
                Leapt::Impossible => trace.fast.never_leap(),
                Leapt::Broken => {}
            }
            world.stream = stream;
        }
        trace.sync(world, model)?;
        let order: Vec<u64> = trace.choices.iter().filter(|c| c.dist.is_continuous()).map(|c| c.addr).collect();
        if order.is_empty() {
            return Ok(());
        }
        trace.info[1] += 1;
        let start = match &trace.gradient {
            Some(point) => point.clone(),
            None => {
                let position = |c: &super::trace::Choice| Position {
                    addr: c.addr,
                    value: c.value.clone(),
                    gradient: Vec::new(),
                    continuous: c.dist.is_continuous(),
                };
                let choices: Vec<Position> = trace.choices.iter().map(position).collect();
                let places = choices.iter().enumerate().map(|(i, c)| (c.addr, i)).collect();
                let here = Point { choices, places, score: 0.0 };
                Rc::new(evaluate(world, model, &here, &mut Momenta::new(), 0.0, scope.exit)?)
            }
        };
        let mut momenta = Momenta::new();
        for c in start.choices.iter().filter(|c| c.continuous) {
            let n = elements(&c.value).len();
            momenta.insert(c.addr, (0..n).map(|_| world.stream.standard_normal()).collect());
        }
        let old = start.score - kinetic(&momenta, &order);
        kick(&start, &mut momenta, 0.5 * self.size);
        let mut point = start.clone();
        for i in 0..self.steps {
            point = Rc::new(evaluate(world, model, &point, &mut momenta, self.size, scope.exit)?);
            let last = i + 1 == self.steps;
            kick(&point, &mut momenta, if last { 0.5 * self.size } else { self.size });
        }
        let new = point.score - kinetic(&momenta, &order);
        let log_ratio = new - old;
        if log_ratio.is_nan() || (log_ratio < 0.0 && world.stream.uniform().ln() >= log_ratio) {
            trace.gradient = Some(start);
            return Ok(());
        }
        // the same values again, without derivatives, so that other kernels can go on from here
        let mut values = trace.choices.clone();
        for c in &mut values {
            if let Some(i) = point.places.get(&c.addr) {
                c.value = point.choices[*i].value.clone();
            }
        }
        let (mut next, ended) = Trace::replay(world, model, &values, scope.exit)?;
        if ended.is_possible() {
            next.info = [trace.info[0] + 1, trace.info[1]];
            next.gradient = Some(point);
            next.changes = trace.changes + 1;
            next.fast = trace.fast.forget();
            *trace = next;
        }
        Ok(())
    }
}
