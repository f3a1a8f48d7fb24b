//! Guides: what inference draws from instead of the prior, given by the program or made for a distribution.

use std::rc::Rc;

use super::params;
use crate::algebra::{self, Binary, Unary};
use crate::coerce;
use crate::distributions::family::Kind;
use crate::distributions::{self, Dist, Family, Parts};
use crate::error::{Run, fail};
use crate::machine::State;
use crate::machine::frame::mix;
use crate::object::Object;
use crate::tape::Num;
use crate::value::{Text, Value};
use crate::world::World;

/// Distinguishes the addresses inside of guides.
const GUIDE: u64 = 0x67_7569_6465;

/// Runs a guide, which must not sample or factor.
pub fn run_thunk(world: &mut World, store: &mut Rc<Object>, thunk: &Value, addr: u64) -> Run<Value> {
    if !thunk.is_function() {
        return fail("the guide is expected to be a function");
    }
    world.call_sync_in(thunk, Vec::new(), "the guide", mix(addr, GUIDE), store)
}

/// The guide of a choice: the program's, or with `automatic` one that is made for the distribution.
pub fn distribution(
    world: &mut World,
    state: &mut State,
    dist: &Rc<Dist>,
    options: &Value,
    addr: u64,
    automatic: bool,
) -> Run<Option<Rc<Dist>>> {
    let option = |name: &str| match options {
        Value::Object(o) => o.get(name).filter(coerce::truthy),
        _ => None,
    };
    if let Some(thunk) = option("guide") {
        let mut store = state.store.clone();
        let value = run_thunk(world, &mut store, &thunk, addr)?;
        state.store = store;
        return match value {
            Value::Dist(d) => Ok(Some(d)),
            _ => fail("the guide did not return a distribution"),
        };
    }
    if automatic && option("noAutoGuide").is_none() {
        return Ok(Some(Rc::new(independent(world, dist, addr)?)));
    }
    Ok(None)
}

/// Maps numbers to an interval.
fn squish(x: &Value, low: f64, high: f64) -> Run<Value> {
    let softplus = || Unary::Log.apply(&Binary::Add.apply(&Unary::Exp.apply(x)?, &Value::Number(1.0))?);
    match (low.is_finite(), high.is_finite()) {
        (false, false) => Ok(x.clone()),
        (false, true) => Binary::Sub.apply(&Value::Number(high), &softplus()?),
        (true, false) => Binary::Add.apply(&softplus()?, &Value::Number(low)),
        (true, true) => {
            let y = Binary::Mul.apply(&Unary::Sigmoid.apply(x)?, &Value::Number(high - low))?;
            Binary::Add.apply(&y, &Value::Number(low))
        }
    }
}

struct Maker<'a> {
    world: &'a mut World,
    base: String,
}

impl Maker<'_> {
    /// A parameter of the guide, in an interval.
    fn param(&mut self, name: &str, dims: &[usize], low: f64, high: f64) -> Run<Value> {
        let value = params::fetch_or_create(self.world, &format!("{}{name}", self.base), dims)?;
        let value = squish(&value, low, high)?;
        if dims == [1] { algebra::get(&value, 0) } else { Ok(value) }
    }

    fn location_scale(&mut self, family: Family, dims: &[usize], more: Vec<(Text, Value)>) -> Run<Dist> {
        let mut fields = vec![
            (Text::from("mu"), self.param("mu", dims, f64::NEG_INFINITY, f64::INFINITY)?),
            (Text::from("sigma"), self.param("sigma", dims, 0.0, f64::INFINITY)?),
        ];
        fields.extend(more);
        distributions::from_params(family, &[Value::object(fields)])
    }

    fn discrete(&mut self, n: usize) -> Run<Dist> {
        let name = format!("{}ps", self.base);
        let x = params::fetch_or_create(self.world, &name, &[n.saturating_sub(1), 1])?;
        let ps = distributions::draw::squish(&x)?;
        distributions::from_params(Family::Discrete, &[Value::object([(Text::from("ps"), ps)])])
    }
}

/// A guide of independent parameters for a distribution.
fn independent(world: &mut World, dist: &Dist, addr: u64) -> Run<Dist> {
    world.warn("Using the default guide distribution for one or more choices.");
    let base = format!("{addr:016x}$mf${}$", dist.family.name());
    let mut maker = Maker { world, base };
    let tensor_dims = |dist: &Dist| match &dist.parts {
        Parts::Tensors(_, dims) => dims.clone(),
        _ => vec![1],
    };
    let number = |i: usize| dist.args[i].value();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked when it was made")]
    match dist.family {
        Family::Dirichlet => {
            let d = tensor_dims(dist)[0] - 1;
            maker.location_scale(Family::LogisticNormal, &[d, 1], Vec::new())
        }
        Family::TensorGaussian => maker.location_scale(Family::DiagCovGaussian, &tensor_dims(dist), Vec::new()),
        Family::Uniform => {
            let [a, b] = dist.args.clone().map(Num::into_value);
            maker.location_scale(Family::LogitNormal, &[1], vec![("a".into(), a), ("b".into(), b)])
        }
        Family::Beta => {
            let unit = vec![("a".into(), Value::Number(0.0)), ("b".into(), Value::Number(1.0))];
            maker.location_scale(Family::LogitNormal, &[1], unit)
        }
        Family::Gamma => maker.location_scale(Family::IspNormal, &[1], Vec::new()),
        Family::Discrete => match &dist.parts {
            Parts::Weights(ws, _) => maker.discrete(ws.len()),
            _ => fail("a discrete distribution without weights"),
        },
        Family::RandomInteger => maker.discrete(number(0) as usize),
        Family::Binomial => maker.discrete(number(1) as usize + 1),
        Family::MultivariateGaussian
        | Family::Mixture
        | Family::Marginal
        | Family::SampleBasedMarginal
        | Family::Kde
        | Family::ImproperUniform => {
            fail(format!("cannot automatically generate a guide for a {} distribution", dist.family.name()))
        }
        family => same_family(&mut maker, family, dist),
    }
}

/// A guide of the same family, with parameters of the same shapes.
fn same_family(maker: &mut Maker<'_>, family: Family, dist: &Dist) -> Run<Dist> {
    let params = dist.params();
    let target = |name: &str| match &params {
        Value::Object(o) => o.get(name).unwrap_or(Value::Undefined),
        _ => Value::Undefined,
    };
    let mut fields = Vec::new();
    for p in family.parameters() {
        let value = target(p.name);
        let dims = value.as_tensor().map_or_else(|| vec![1], |t| t.dims.clone());
        let made = match p.kind {
            Kind::Real { low, high, .. } => maker.param(p.name, &[1], low, high)?,
            Kind::Vector { low, high } | Kind::Tensor { low, high } => maker.param(p.name, &dims, low, high)?,
            Kind::Weights => {
                let n = match &value {
                    Value::Array(a) => a.items().len(),
                    v => v.as_tensor().map_or(0, |t| t.len()),
                };
                maker.param(p.name, &[n, 1], 0.0, f64::INFINITY)?
            }
            Kind::Int(_) | Kind::Dims | Kind::Array => value,
            _ => {
                return fail(format!(
                    "cannot generate a guide parameter of type \"{}\" for {}",
                    p.kind.describe(),
                    family.name()
                ));
            }
        };
        fields.push((Text::from(p.name), made));
    }
    distributions::from_params(family, &[Value::object(fields)])
}
