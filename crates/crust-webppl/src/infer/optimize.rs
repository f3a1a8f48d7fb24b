//! Gradient-based optimization of parameters.

use std::collections::BTreeMap;

use super::{Model, Options, ROOT, dream, elbo, eubo, forward, options};
use crate::coerce;
use crate::error::{Run, fail};
use crate::machine::State;
use crate::value::{Text, Value};
use crate::world::{Context, World};

/// Gradients by the place of the parameter in the table.
pub type Gradients = BTreeMap<usize, Vec<f64>>;

/// Adds up gradients.
pub fn accumulate(total: &mut Gradients, more: &Gradients) {
    for (place, g) in more {
        let sum = total.entry(*place).or_insert_with(|| vec![0.0; g.len()]);
        sum.iter_mut().zip(g).for_each(|(s, g)| *s += g);
    }
}

pub fn scale(gradients: &mut Gradients, factor: f64) {
    gradients.values_mut().flatten().for_each(|g| *g *= factor);
}

enum Estimator {
    Elbo(elbo::Elbo),
    Eubo(eubo::Eubo),
    Dream(usize),
}

impl Estimator {
    fn parse(world: &mut World, value: &Value) -> Run<Self> {
        let (name, mut inner) = options::named(value, "ELBO")?;
        let estimator = match &*name {
            "ELBO" => Self::Elbo(elbo::Elbo::new(&mut inner)?),
            "EUBO" => Self::Eubo(eubo::Eubo::new(&mut inner)?),
            "dream" => Self::Dream(inner.count("samples", 1)?),
            _ => return fail(format!("Optimize: {name} is not a valid estimator: ELBO, EUBO, dream")),
        };
        inner.finish(world, "the estimator");
        Ok(estimator)
    }

    /// An estimate of the gradient, and of the objective.
    fn estimate(&mut self, world: &mut World, model: &Model) -> Run<(Gradients, f64)> {
        match self {
            Self::Elbo(elbo) => elbo.estimate(world, model),
            Self::Eubo(eubo) => eubo.estimate(world, model),
            Self::Dream(samples) => dream::estimate(world, model, *samples),
        }
    }
}

/// Descent methods, with what they remember for each parameter.
enum Descent {
    Gradient { size: f64, momentum: f64 },
    Adagrad { size: f64 },
    RmsProp { size: f64, decay: f64 },
    Adam { size: f64, decay: [f64; 2] },
}

struct Optimizer {
    descent: Descent,
    memory: BTreeMap<usize, [Vec<f64>; 2]>,
    steps: BTreeMap<usize, i32>,
}

impl Optimizer {
    fn parse(value: &Value) -> Run<Self> {
        let (name, mut inner) = options::named(value, "adam")?;
        let descent = match &*name {
            "gd" | "sgd" => {
                Descent::Gradient { size: inner.number("stepSize", 0.1)?, momentum: inner.number("mu", 0.0)? }
            }
            "adagrad" => Descent::Adagrad { size: inner.number("stepSize", 0.1)? },
            "rmsprop" => {
                Descent::RmsProp { size: inner.number("stepSize", 0.1)?, decay: inner.number("decayRate", 0.9)? }
            }
            "adam" => Descent::Adam {
                size: inner.number("stepSize", 0.001)?,
                decay: [inner.number("decayRate1", 0.9)?, inner.number("decayRate2", 0.999)?],
            },
            _ => {
                return fail(format!(
                    "Optimize: {name} is not a valid optimization method: gd, adagrad, rmsprop, adam"
                ));
            }
        };
        Ok(Self { descent, memory: BTreeMap::new(), steps: BTreeMap::new() })
    }

    fn update(&mut self, world: &mut World, gradients: &Gradients) {
        for (place, g) in gradients {
            let n = g.len();
            let [m, v] = self.memory.entry(*place).or_insert_with(|| [vec![0.0; n], vec![0.0; n]]);
            let t = self.steps.entry(*place).or_insert(0);
            *t += 1;
            let x = &mut world.params.table[*place].1.data;
            for i in 0..n {
                match self.descent {
                    Descent::Gradient { size, momentum } => {
                        m[i] = momentum * m[i] - size * g[i];
                        x[i] += m[i];
                    }
                    Descent::Adagrad { size } => {
                        v[i] += g[i] * g[i];
                        x[i] -= size * g[i] / (v[i].sqrt() + 1e-8);
                    }
                    Descent::RmsProp { size, decay } => {
                        v[i] = decay * v[i] + (1.0 - decay) * g[i] * g[i];
                        x[i] -= size * g[i] / (v[i].sqrt() + 1e-8);
                    }
                    Descent::Adam { size, decay: [a, b] } => {
                        m[i] = a * m[i] + (1.0 - a) * g[i];
                        v[i] = b * v[i] + (1.0 - b) * g[i] * g[i];
                        let rate = size * (1.0 - b.powi(*t)).sqrt() / (1.0 - a.powi(*t));
                        x[i] -= rate * m[i] / (v[i].sqrt() + 1e-8);
                    }
                }
            }
        }
    }
}

/// `Optimize(model, options)` or `Optimize({model, …})`
pub fn call(world: &mut World, state: &mut State, first: &Value, second: &Value) -> Run<Value> {
    let (function, options) = match first {
        Value::Object(o) => (o.get("model").unwrap_or(Value::Undefined), first),
        f => (f.clone(), second),
    };
    if !function.is_function() {
        return fail("Optimize: a model was not specified");
    }
    let mut options = Options::new(options)?;
    options.get("model");
    let model = Model { function, store: state.store.clone(), addr: ROOT };
    world.nest()?;
    let saved = std::mem::take(&mut world.context);
    let result = optimize(world, &model, &mut options);
    world.context = saved;
    world.nesting -= 1;
    result.map(|()| Value::Undefined)
}

/// The strength of an L2 penalty.
fn weight_decay(value: &Value) -> Run<f64> {
    match value {
        Value::Undefined => Ok(0.0),
        Value::Number(x) => Ok(*x),
        other => {
            let (name, mut inner) = options::named(other, "l2")?;
            if name != "l2" {
                return fail(format!("Optimize: unknown weight decay penalty {name}: choose l2"));
            }
            inner.number("strength", 1.0)
        }
    }
}

fn optimize(world: &mut World, model: &Model, options: &mut Options) -> Run<()> {
    let mut optimizer = Optimizer::parse(&options.get("optMethod"))?;
    let estimator = options.get("estimator");
    let mut estimator = Estimator::parse(world, &estimator)?;
    let steps = options.count("steps", 1)?;
    let decay = weight_decay(&options.get("weightDecay"))?;
    let clip = options.get("clip").as_number().filter(|c| *c > 0.0);
    let [on_step, on_finish] = [options.get("onStep"), options.get("onFinish")];
    for ignored in
        ["verbose", "showGradNorm", "checkGradients", "logProgress", "logProgressFilename", "logProgressThrottle"]
    {
        options.get(ignored);
    }
    options.finish(world, "Optimize");
    let mut history = Vec::with_capacity(steps);
    for step in 0..steps {
        let (mut gradients, objective) = estimator.estimate(world, model)?;
        world.context = Context::default();
        history.push(objective);
        if decay != 0.0 {
            for (place, g) in &mut gradients {
                let x = &world.params.table[*place].1.data;
                g.iter_mut().zip(x).for_each(|(g, x)| *g += decay * x);
            }
        }
        if let Some(clip) = clip {
            let norm = gradients.values().flatten().map(|g| g * g).sum::<f64>().sqrt();
            if norm > clip {
                scale(&mut gradients, clip / norm);
            }
        }
        optimizer.update(world, &gradients);
        if on_step.is_function() {
            let args = vec![Value::Number(step as f64), Value::Number(objective)];
            if coerce::truthy(&world.call_sync(&on_step, args, "callback")?) {
                break;
            }
        }
    }
    if on_finish.is_function() {
        let history = Value::object([(Text::from("history"), Value::numbers(history))]);
        world.call_sync(&on_finish, vec![history], "callback")?;
    }
    Ok(())
}

/// `Infer({method: 'optimize'})`: optimizes, then samples the guide.
pub fn then_sample(world: &mut World, model: &Model, options: &mut Options) -> Run<Value> {
    let mut forward = vec![(Text::from("guide"), Value::Bool(true))];
    for name in ["samples", "onlyMAP", "callbacks"] {
        let value = options.get(name);
        if !value.is_undefined() {
            forward.push((name.into(), value));
        }
    }
    optimize(world, model, options)?;
    world.context = Context::default();
    forward::forward(world, model, &mut Options::new(&Value::object(forward))?)
}
