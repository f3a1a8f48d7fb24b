//! Distributions: what `sample` draws from and `observe` scores with.

pub mod build;
pub mod draw;
pub mod family;
mod multivariate;
mod reparam;
pub mod scalar;
mod support;
pub mod table;

use std::cell::{OnceCell, RefCell};
use std::fmt::Write;
use std::rc::Rc;

pub use build::{from_arguments, from_numbers, from_params};
pub use family::Family;
pub use table::{Samples, Table};

use crate::coerce;
use crate::error::{Run, fail};
use crate::format;
use crate::tape::Num;
use crate::value::{Text, Value};
use crate::world::World;

/// A distribution with its parameters.
pub struct Dist {
    pub family: Family,
    /// The parameters of families of one number.
    pub args: [Num; 2],
    pub parts: Parts,
    /// The object `dist.params`, made when it is asked for.
    params: OnceCell<Value>,
    /// The log of the normalising constant, where inference knows it.
    pub normalization: Option<f64>,
    /// Other members that inference gives to its results.
    pub extra: RefCell<Vec<(Text, Value)>>,
}

/// The parameters of the other families.
pub enum Parts {
    None,
    Delta(Value),
    /// Weights, and their sum.
    Weights(Vec<Num>, Num),
    Table(Rc<Table>),
    Samples(Rc<Samples>),
    Mixture(Vec<Rc<Dist>>, Vec<Num>, Num),
    /// mu, sigma, a, b
    Logit(Box<[Num; 4]>),
    Multinomial(Vec<Num>, usize),
    /// Tensors and numbers in the order of the family's parameters, and the dims of a draw.
    Tensors(Vec<Value>, Vec<usize>),
    /// Data and width.
    Kernel(Vec<Value>, Value),
}

impl Dist {
    pub fn new(family: Family, args: [Num; 2], parts: Parts) -> Self {
        Self { family, args, parts, params: OnceCell::new(), normalization: None, extra: RefCell::default() }
    }

    /// The result of enumeration.
    pub fn marginal(table: Table) -> Self {
        Self::new(Family::Marginal, NONE, Parts::Table(Rc::new(table)))
    }

    /// The result of sampling.
    pub fn samples(samples: Samples) -> Self {
        Self::new(Family::SampleBasedMarginal, NONE, Parts::Samples(Rc::new(samples)))
    }

    pub fn is_continuous(&self) -> bool {
        match &self.parts {
            Parts::Mixture(dists, ..) => dists[0].is_continuous(),
            _ => self.family.is_continuous(),
        }
    }

    /// The dims of a draw, if draws are tensors.
    pub fn draw_dims(&self) -> Option<&[usize]> {
        match &self.parts {
            Parts::Tensors(_, dims) => Some(dims),
            Parts::Mixture(dists, ..) => dists[0].draw_dims(),
            Parts::Kernel(data, _) => match data.first() {
                Some(Value::Tensor(t)) => Some(&t.dims),
                _ => None,
            },
            _ => None,
        }
    }

    /// About the standard deviation of a draw of one number: how long steps should be.
    pub fn spread(&self) -> Option<f64> {
        let [a, b] = [self.args[0].value(), self.args[1].value()];
        let spread = match (&self.parts, self.family) {
            (Parts::None, Family::Gaussian | Family::Cauchy | Family::Laplace) => b,
            (Parts::None, Family::Uniform) => (b - a) / 12.0_f64.sqrt(),
            (Parts::None, Family::Beta) => (a * b / (a + b + 1.0)).sqrt() / (a + b),
            (Parts::None, Family::Gamma) => a.sqrt() * b,
            (Parts::None, Family::Exponential) => 1.0 / a,
            (Parts::None, Family::LogNormal | Family::IspNormal) => b * a.exp(),
            (Parts::Logit(p), _) => 0.25 * p[1].value() * (p[3].value() - p[2].value()),
            _ => return None,
        };
        (spread.is_finite() && spread > 0.0).then_some(spread)
    }

    /// Whether the density has no derivatives that HMC could follow.
    pub fn no_hmc(&self) -> bool {
        matches!(self.family, Family::Dirichlet | Family::LogisticNormal)
    }

    pub fn has_derivatives(&self) -> bool {
        let num = |n: &Num| matches!(n, Num::Ad(_));
        self.args.iter().any(num)
            || match &self.parts {
                Parts::None | Parts::Samples(_) => false,
                Parts::Delta(v) => v.has_derivatives(),
                Parts::Weights(ws, _) => ws.iter().any(num),
                Parts::Multinomial(ws, _) => ws.iter().any(num),
                Parts::Table(t) => t.entries.iter().any(|e| num(&e.prob)),
                Parts::Mixture(ds, ws, _) => ds.iter().any(|d| d.has_derivatives()) || ws.iter().any(num),
                Parts::Logit(a) => a.iter().any(num),
                Parts::Tensors(vs, _) => vs.iter().any(Value::has_derivatives),
                Parts::Kernel(..) => false,
            }
    }

    /// The same distribution without derivatives.
    pub fn primal(&self) -> Self {
        let num = |n: &Num| Num::Plain(n.value());
        let nums = |ns: &[Num]| ns.iter().map(num).collect::<Vec<_>>();
        let parts = match &self.parts {
            Parts::None => Parts::None,
            Parts::Delta(v) => Parts::Delta(v.deep_primal()),
            Parts::Weights(ws, norm) => Parts::Weights(nums(ws), num(norm)),
            Parts::Multinomial(ws, n) => Parts::Multinomial(nums(ws), *n),
            Parts::Table(t) => Parts::Table(Rc::new(t.primal())),
            Parts::Samples(s) => Parts::Samples(s.clone()),
            Parts::Mixture(ds, ws, norm) => {
                Parts::Mixture(ds.iter().map(|d| Rc::new(d.primal())).collect(), nums(ws), num(norm))
            }
            Parts::Logit(a) => Parts::Logit(Box::new([num(&a[0]), num(&a[1]), num(&a[2]), num(&a[3])])),
            Parts::Tensors(vs, dims) => Parts::Tensors(vs.iter().map(Value::deep_primal).collect(), dims.clone()),
            Parts::Kernel(data, width) => Parts::Kernel(data.clone(), width.clone()),
        };
        let args = [num(&self.args[0]), num(&self.args[1])];
        Self { normalization: self.normalization, ..Self::new(self.family, args, parts) }
    }

    /// The object of parameters.
    pub fn params(&self) -> Value {
        self.params.get_or_init(|| self.make_params()).clone()
    }

    pub fn set_params(&self, params: Value) {
        // an object that is set twice is the same object
        let _ = self.params.set(params);
    }

    fn make_params(&self) -> Value {
        let names = self.family.parameters();
        let nums = |ns: &[Num]| Value::array(ns.iter().map(|n| n.clone().into_value()).collect());
        let values: Vec<Value> = match &self.parts {
            Parts::None => self.args.iter().map(|n| n.clone().into_value()).collect(),
            Parts::Delta(v) => vec![v.clone()],
            Parts::Weights(ws, _) => vec![nums(ws)],
            Parts::Multinomial(ws, n) => vec![nums(ws), Value::Number(*n as f64)],
            Parts::Table(t) => match self.family {
                Family::Marginal => vec![t.to_object()],
                _ => vec![t.probabilities(), t.values()],
            },
            Parts::Samples(s) => vec![s.to_array()],
            Parts::Mixture(ds, ws, _) => {
                vec![Value::array(ds.iter().map(|d| Value::Dist(d.clone())).collect()), nums(ws)]
            }
            Parts::Logit(a) => a.iter().map(|n| n.clone().into_value()).collect(),
            Parts::Tensors(vs, dims) => {
                vs.iter().cloned().chain([Value::numbers(dims.iter().map(|d| *d as f64))]).collect()
            }
            Parts::Kernel(data, width) => vec![Value::array(data.clone()), width.clone()],
        };
        Value::object(names.iter().map(|p| Text::from(p.name)).zip(values))
    }

    /// `dist.name`
    pub fn member(self: &Rc<Self>, _world: &mut World, name: &Text) -> Run<Value> {
        let method = || {
            let wrapped = crate::value::Wrapped::Bound {
                receiver: Value::Dist(self.clone()),
                method: name.clone(),
                args: Vec::new(),
                limit: None,
            };
            Value::Wrapped(Rc::new(wrapped))
        };
        Ok(match &**name {
            "params" => self.params(),
            "isContinuous" => Value::Bool(self.is_continuous()),
            "normalizationConstant" => self.normalization.map_or(Value::Undefined, Value::Number),
            "meta" => Value::object([(Text::from("name"), Value::text(self.family.name()))]),
            "samples" => match &self.parts {
                Parts::Samples(s) => s.to_array(),
                _ => Value::Undefined,
            },
            "support" if !self.has_support() => Value::Undefined,
            "sample" | "score" | "support" | "toString" | "toJSON" => method(),
            "MAP" | "entropy" if self.has_support() && !self.is_continuous() => method(),
            "getDist" if matches!(self.parts, Parts::Table(_) | Parts::Samples(_)) => method(),
            other => {
                let extra = self.extra.borrow();
                extra.iter().find(|(k, _)| &**k == other).map_or(Value::Undefined, |(_, v)| v.clone())
            }
        })
    }

    /// `dist.name(args)`
    pub fn method(self: &Rc<Self>, world: &mut World, name: &Text, args: &[Value]) -> Run<Value> {
        match (&**name, args) {
            ("score", [value]) => Ok(self.score(value)?.into_value()),
            ("score", _) => fail(format!(
                "the score method of {} expected 1 argument but received {}",
                self.family.name(),
                args.len()
            )),
            ("sample", _) => self.sample(&mut world.stream),
            ("support", _) => self.support(),
            ("MAP", _) => {
                let (value, score) = self.map_estimate()?;
                Ok(Value::object([(Text::from("val"), value), (Text::from("score"), Value::Number(score))]))
            }
            ("entropy", _) => Ok(self.entropy()?.into_value()),
            ("toString", _) => Ok(Value::text(&self.describe())),
            ("toJSON", _) => match self.to_json() {
                Some(json) => Ok(json),
                None => fail("this distribution has no finite support"),
            },
            ("getDist", _) => match &self.parts {
                Parts::Table(t) => Ok(t.to_object()),
                Parts::Samples(s) => Ok(s.table().to_object()),
                _ => fail("this distribution has no table"),
            },
            _ => fail(format!("distributions have no method '{}'", &**name)),
        }
    }

    /// The most probable value and its score.
    pub fn map_estimate(&self) -> Run<(Value, f64)> {
        let Value::Array(support) = self.support()? else { return fail("MAP needs a finite support") };
        let mut best = (Value::Undefined, f64::NEG_INFINITY);
        for value in support.items().iter() {
            let score = self.score(value)?.value();
            if score > best.1 {
                best = (value.clone(), score);
            }
        }
        Ok(best)
    }

    fn entropy(&self) -> Run<Num> {
        let Value::Array(support) = self.support()? else { return fail("entropy needs a finite support") };
        let mut total = Num::Plain(0.0);
        for value in support.items().iter() {
            let score = self.score(value)?;
            if score.value() > f64::NEG_INFINITY {
                total = total.sub(&score.exp().mul(&score));
            }
        }
        Ok(total)
    }

    /// What `JSON.stringify` prints: probabilities and support of a finite distribution.
    pub fn to_json(&self) -> Option<Value> {
        if self.is_continuous() {
            return None;
        }
        let Ok(Value::Array(support)) = self.support() else { return None };
        let prob = |v: &Value| self.score(v).map_or(f64::NAN, |s| s.value().exp());
        let probs: Vec<f64> = support.items().iter().map(prob).collect();
        Some(Value::object([
            (Text::from("probs"), Value::numbers(probs)),
            (Text::from("support"), Value::Array(support)),
        ]))
    }

    /// What `console.log` prints.
    pub fn describe(&self) -> String {
        let table = match &self.parts {
            Parts::Table(t) if self.family == Family::Marginal => t.clone(),
            Parts::Samples(s) => s.table(),
            _ => return format!("{}({})", self.family.name(), format::inspect(&self.params())),
        };
        let mut rows: Vec<(&Text, f64)> = table.entries.iter().map(|e| (&e.key, e.prob.value())).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut out = String::from("Marginal:");
        for (key, prob) in rows {
            let _ = write!(out, "\n    {} : {}", &**key, format::number(prob));
        }
        out
    }

    /// The log density of a value.
    pub fn score(&self, value: &Value) -> Run<Num> {
        match &self.parts {
            Parts::None | Parts::Logit(_) => self.score_scalar(value),
            Parts::Delta(v) => {
                let same = coerce::identical(&value.primal(), &v.primal());
                Ok(Num::Plain(if same { 0.0 } else { f64::NEG_INFINITY }))
            }
            Parts::Weights(ws, norm) => Ok(match value.as_number() {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
                Some(x) if x >= 0.0 && x.fract() == 0.0 && x < ws.len() as f64 => ws[x as usize].div(norm).ln(),
                _ => Num::Plain(f64::NEG_INFINITY),
            }),
            Parts::Table(t) => Ok(t.score(value)),
            Parts::Samples(s) => Ok(s.table().score(value)),
            Parts::Mixture(dists, ws, norm) => {
                let mut total = Num::Plain(f64::NEG_INFINITY);
                for (d, w) in dists.iter().zip(ws) {
                    total = total.log_add_exp(&w.div(norm).ln().add(&d.score(value)?));
                }
                Ok(total)
            }
            Parts::Multinomial(ps, n) => multivariate::multinomial(ps, *n, value),
            Parts::Tensors(params, dims) => multivariate::score(self.family, params, dims, value),
            Parts::Kernel(data, width) => multivariate::kernel(data, width, value),
        }
    }
}

pub const NONE: [Num; 2] = [Num::Plain(0.0), Num::Plain(0.0)];
