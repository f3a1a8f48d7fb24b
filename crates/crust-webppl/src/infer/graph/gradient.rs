//! Derivatives along a graph, by one sweep back over its nodes.

use std::rc::Rc;

use super::{Graph, Kind};
use crate::record::Input;
use crate::tape::Tape;
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
            let count = elements(&self.value(leaf));
            match scratch.objects.iter().find(|(node, _)| *node == leaf) {
                Some((_, adjoint)) => out.extend_from_slice(adjoint),
                None if self.objects[leaf as usize].is_undefined() => out.push(scratch.numbers[leaf as usize]),
                None => out.extend(std::iter::repeat_n(0.0, count)),
            }
        }
    }

    /// Through a function of tensors: it is run once more, with derivatives.
    fn back(&self, i: usize, at: usize, scratch: &mut Adjoints) {
        let general = &self.shape.general[at];
        let g = match scratch.objects.iter().position(|(node, _)| *node as usize == i) {
            Some(place) => scratch.objects.swap_remove(place).1,
            None if self.objects[i].is_undefined() && scratch.numbers[i] != 0.0 => vec![scratch.numbers[i]],
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
            if self.objects[*node as usize].is_undefined() {
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

/// Memory of gradients.
#[derive(Clone, Debug, Default)]
pub struct Adjoints {
    numbers: Vec<f64>,
    /// Of tensors.
    objects: Vec<(u32, Vec<f64>)>,
}
