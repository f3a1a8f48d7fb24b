//! Derivatives along a graph, by one sweep back over its nodes.

use std::rc::Rc;

use super::{Graph, Kind, NUMBER, Params, Update};
use crate::distributions::Family;
use crate::record::Input;
use crate::tape::Tape;
use crate::tensor::Tensor;
use crate::value::Value;

fn elements(value: &Value) -> usize {
    value.as_tensor().map_or(1, |t| t.len())
}

impl Graph {
    /// ∂ (log prior + β · factors) / ∂ choice, element by element, for the sites that are asked for.
    pub fn gradient(&self, beta: f64, sites: &[usize], out: &mut Vec<f64>, scratch: &mut Adjoints) {
        let shape = &*self.shape;
        let n = shape.kinds.len();
        scratch.numbers.clear();
        scratch.numbers.resize(self.numbers.len(), 0.0);
        scratch.objects.clear();
        for &node in &shape.scored {
            let [prior, factor] = shape.terms[node as usize];
            scratch.numbers[node as usize] = f64::from(prior) + beta * f64::from(factor);
        }
        for i in (0..n).rev() {
            match shape.kinds[i] {
                Kind::Leaf => {}
                Kind::Scalar(op) => {
                    let g = scratch.numbers[i];
                    if g == 0.0 {
                        continue;
                    }
                    let [a, b, c] = shape.args[i].map(|j| j as usize);
                    let at = [self.numbers[a], self.numbers[b], self.numbers[c]];
                    let slopes = op.slopes(at, self.numbers[i]);
                    // operands that are constants collect what nobody looks at
                    scratch.numbers[a] += g * slopes[0];
                    scratch.numbers[b] += g * slopes[1];
                    scratch.numbers[c] += g * slopes[2];
                }
                Kind::General(at) => self.back(i, at as usize, scratch),
            }
        }
        out.clear();
        for &site in sites {
            let Some(leaf) = shape.sites[site].leaf else { continue };
            if self.object(leaf).is_none() {
                out.push(scratch.numbers[leaf as usize]);
                continue;
            }
            let count = elements(&self.value(leaf));
            match scratch.objects.iter().find(|(node, _)| *node == leaf) {
                Some((_, adjoint)) => out.extend_from_slice(adjoint),
                None => out.extend(std::iter::repeat_n(0.0, count)),
            }
        }
    }

    /// Through a function of tensors: it is run once more, with derivatives.
    fn back(&self, i: usize, at: usize, scratch: &mut Adjoints) {
        let general = &self.shape.general[at];
        let g = match scratch.objects.iter().position(|(node, _)| *node as usize == i) {
            Some(place) => scratch.objects.swap_remove(place).1,
            None if self.shape.slots[i] == NUMBER && scratch.numbers[i] != 0.0 => vec![scratch.numbers[i]],
            None => return,
        };
        let tape = Rc::new(Tape::default());
        let lift = |input: &Input| match input {
            Input::Value(value) => value.clone(),
            Input::Node(node) => tape.lift(self.value(*node)),
        };
        let inputs: Vec<Value> = general.inputs.iter().map(lift).collect();
        let Ok(Value::Ad(ad)) = (general.function)(&inputs) else { return };
        let adjoints = ad.tape.backward_from(ad.index, g);
        for (input, value) in general.inputs.iter().zip(&inputs) {
            let (Input::Node(node), Value::Ad(ad)) = (input, value) else { continue };
            let count = elements(ad.raw());
            if self.object(*node).is_none() {
                scratch.numbers[*node as usize] += adjoints.get(ad.index, 0);
                continue;
            }
            let place = scratch.objects.iter().position(|(of, _)| of == node).unwrap_or_else(|| {
                scratch.objects.push((*node, vec![0.0; count]));
                scratch.objects.len() - 1
            });
            let sum = &mut scratch.objects[place].1;
            sum.iter_mut().enumerate().for_each(|(e, sum)| *sum += adjoints.get(ad.index, e));
        }
    }
}

impl Graph {
    /// All continuous choices; nothing if one of them is not in the graph, or cannot be moved in small steps.
    pub fn continuous_sites(&self) -> Option<Vec<usize>> {
        let sites = self.shape.sites.iter().enumerate().filter(|(_, site)| site.continuous);
        let moves = |site: &super::Site| match &site.params {
            Params::Scalar(Family::Uniform, params) => params.iter().all(|i| self.is_constant(*i)),
            Params::Scalar(..) => true,
            Params::Tensors(family, ..) => !matches!(family, Family::Dirichlet | Family::LogisticNormal),
            Params::None => false,
        };
        let all: Option<Vec<usize>> = sites.map(|(i, site)| moves(site).then_some(i)).collect();
        all.filter(|sites| !sites.is_empty())
    }

    fn is_constant(&self, place: u32) -> bool {
        place as usize >= self.shape.kinds.len()
    }

    pub(super) fn leaf(&self, site: usize) -> u32 {
        self.shape.sites[site].leaf.unwrap_or(0)
    }

    /// Numbers of choices, one after the other.
    pub fn positions(&self, sites: &[usize]) -> Vec<f64> {
        let numbers = |&site: &usize| match self.value(self.leaf(site)) {
            Value::Tensor(t) => t.data.clone(),
            other => vec![other.as_number().unwrap_or(f64::NAN)],
        };
        sites.iter().flat_map(numbers).collect()
    }

    /// Bounds of each number.
    pub fn bounds(&self, sites: &[usize]) -> Vec<[f64; 2]> {
        let bounds = |&site: &usize| {
            let bounds = self.dist(site).and_then(|dist| dist.bounds()).map(|b| [b[0].value(), b[1].value()]);
            let count = elements(&self.value(self.leaf(site)));
            std::iter::repeat_n(bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]), count)
        };
        sites.iter().flat_map(bounds).collect()
    }

    /// Spreads of choices whose parameters are constants; 1 for others, so that scales do not depend on values.
    pub fn scales(&self, sites: &[usize]) -> Vec<f64> {
        let scale = |&site: &usize| {
            let constant = match &self.shape.sites[site].params {
                Params::Scalar(_, params) => params.iter().all(|i| self.is_constant(*i)),
                _ => false,
            };
            let spread = self.dist(site).filter(|_| constant).and_then(|dist| dist.spread()).unwrap_or(1.0);
            std::iter::repeat_n(spread, elements(&self.value(self.leaf(site))))
        };
        sites.iter().flat_map(scale).collect()
    }

    /// Gives all these choices new numbers, and computes everything again. What was there before is lost.
    pub fn set_all(&mut self, sites: &[usize], numbers: &[f64]) -> Update {
        let shape = self.shape.clone();
        self.begin();
        let mut at = 0;
        for &site in sites {
            let leaf = self.leaf(site);
            let value = match self.value(leaf) {
                Value::Tensor(t) => {
                    at += t.len();
                    Value::tensor(Tensor::new(t.dims.clone(), numbers[at - t.len()..at].to_vec()))
                }
                _ => {
                    at += 1;
                    Value::Number(numbers[at - 1])
                }
            };
            self.place(leaf, value);
            if !self.holds(&shape, leaf) {
                return Update::Broken;
            }
        }
        self.compute_all(&shape)
    }

    /// log prior + β · factors
    pub fn total(&self, beta: f64) -> f64 {
        let [prior, factor] = self.sums;
        if beta == 0.0 { prior } else { prior + beta * factor }
    }
}

/// Memory of gradients.
#[derive(Clone, Debug, Default)]
pub struct Adjoints {
    numbers: Vec<f64>,
    /// Of tensors.
    objects: Vec<(u32, Vec<f64>)>,
}
