//! Least squares: normal log densities whose location is linear in the parameters need no more iterations than
//! parameters.
//!
//! With rows xₙ and numbers yₙ from data, `Σ (yₙ − xₙ·θ)² = Σ (qᵢ − rᵢ·θ)²`, where the rows rᵢ and the numbers qᵢ are
//! those of the triangular factor of the matrix with rows (xₙ, yₙ): an orthogonal matrix changes no length. There is
//! one more of them than there are parameters. Unlike sums of squares and products of the data, the factor loses no
//! digits.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Fit;
use super::builder::{Builder, Item};
use super::space::Space;
use super::statements::Compiler;
use crate::flat::{Affine, Normal, Positions, Register, Step, Strip, Uniform};
use crate::kernels::arithmetic::Arithmetic;

/// The most multiplications that the triangular factor may cost: a few seconds.
const MOST_WORK: usize = 1 << 32;

/// An element of something that the machine computes before the loop.
type Parameter = (usize, usize);

/// A number in each iteration that is linear in parameters.
#[derive(Clone)]
struct Linear {
    constant: Rc<Vec<f64>>,
    coefficients: BTreeMap<Parameter, Rc<Vec<f64>>>,
}

impl Linear {
    fn data(constant: Rc<Vec<f64>>) -> Self {
        Self { constant, coefficients: BTreeMap::new() }
    }

    fn is_data(&self) -> bool {
        self.coefficients.is_empty()
    }

    fn map(&self, f: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let coefficients = self.coefficients.iter().map(|(&p, column)| (p, Rc::new(f(column)))).collect();
        Self { constant: Rc::new(f(&self.constant)), coefficients }
    }

    fn times(&self, factor: &[f64]) -> Self {
        self.map(|column| column.iter().zip(factor).map(|(x, factor)| x * factor).collect())
    }

    fn negated(&self) -> Self {
        self.map(|column| column.iter().map(|x| -x).collect())
    }

    fn plus(mut self, other: &Self) -> Self {
        let sum = |a: &[f64], b: &[f64]| Rc::new(a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<f64>>());
        self.constant = sum(&self.constant, &other.constant);
        for (&parameter, column) in &other.coefficients {
            let all = match self.coefficients.get(&parameter) {
                Some(known) => sum(known, column),
                None => Rc::clone(column),
            };
            self.coefficients.insert(parameter, all);
        }
        self
    }
}

/// What is known about the registers of a strip.
struct Forms {
    iterations: usize,
    forms: BTreeMap<Register, Linear>,
}

impl Forms {
    fn of(strip: &Strip) -> Self {
        let mut all = Self { iterations: strip.iterations, forms: BTreeMap::new() };
        for &(register, uniform) in &strip.uniforms {
            match uniform {
                Uniform::Constant(x) => all.insert(register, Linear::data(all.same(x))),
                Uniform::Operand { operand, element } => {
                    let mut form = Linear::data(all.same(0.0));
                    form.coefficients.insert((operand, element), all.same(1.0));
                    all.insert(register, form);
                }
                Uniform::Inverse(_) | Uniform::Weight(..) | Uniform::Sum => {}
            }
        }
        for step in &strip.steps {
            all.follow(step);
        }
        all
    }

    fn same(&self, x: f64) -> Rc<Vec<f64>> {
        Rc::new(vec![x; self.iterations])
    }

    fn insert(&mut self, register: Register, form: Linear) {
        self.forms.insert(register, form);
    }

    fn affine(&self, affine: &Affine) -> Option<Linear> {
        if affine.divisor.is_some() {
            return None;
        }
        let form = self.forms.get(&affine.x.register)?.times(&self.same(affine.factor));
        match affine.plus {
            None => Some(form),
            Some(plus) => Some(self.forms.get(&plus.register)?.clone().plus(&form)),
        }
    }

    /// Elements of parameters: with too many of them, a matrix without zeros would be slower.
    fn gathered(&self, from: &Positions) -> Option<Linear> {
        let mut distinct = from.elements().to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len().pow(2) > self.iterations {
            return None;
        }
        let mut form = Linear::data(self.same(0.0));
        for e in distinct {
            let column = from.elements().iter().map(|&element| if element == e { 1.0 } else { 0.0 }).collect();
            form.coefficients.insert((from.operand(), e as usize), Rc::new(column));
        }
        Some(form)
    }

    /// Finds the form of a step's result, if it is linear.
    fn follow(&mut self, step: &Step) {
        let found = match step {
            Step::Column { numbers, out } => Some((*out, Linear::data(Rc::new(numbers.clone())))),
            Step::Gather { from, out } => self.gathered(from).map(|form| (*out, form)),
            Step::Affine(affine) => self.affine(affine).map(|form| (affine.out, form)),
            Step::Arithmetic { operator, a, b, out } => {
                match (self.forms.get(&a.register), self.forms.get(&b.register), operator) {
                    (Some(a), Some(b), Arithmetic::Add) => Some((*out, a.clone().plus(b))),
                    (Some(a), Some(b), Arithmetic::Subtract) => Some((*out, a.clone().plus(&b.negated()))),
                    (Some(a), Some(b), Arithmetic::Multiply) if a.is_data() => Some((*out, b.times(&a.constant))),
                    (Some(a), Some(b), Arithmetic::Multiply) if b.is_data() => Some((*out, a.times(&b.constant))),
                    _ => None,
                }
            }
            Step::RowDot { rows, inner, operand, plus, out } => self.forms.get(&plus.register).map(|plus| {
                let mut form = Linear::data(self.same(0.0));
                for (k, column) in (0..*inner).zip(rows.chunks_exact(self.iterations)) {
                    form.coefficients.insert((*operand, k), Rc::new(column.to_vec()));
                }
                (*out, plus.clone().plus(&form))
            }),
            _ => None,
        };
        if let Some((register, form)) = found {
            self.insert(register, form);
        }
    }
}

impl Compiler<'_> {
    /// Takes the normal log densities out of a strip that need fewer iterations, and gives them a strip of their own.
    pub(super) fn reduce_squares(&mut self, builder: &mut Builder) -> Fit<()> {
        let has_normal = builder.strip().steps.iter().any(|step| matches!(step, Step::AddNormal(_)));
        if !has_normal || builder.space.iterations < 4 {
            return Ok(());
        }
        let forms = Forms::of(builder.strip());
        let mut found = Vec::new();
        builder.retain(|step| {
            let Step::AddNormal(normal) = step else { return true };
            let reduced = reduce(normal, &forms);
            let keep = reduced.is_none();
            found.extend(reduced.map(|reduced| (normal.clone(), reduced)));
            keep
        });
        for (normal, reduced) in found {
            let sigma = builder.uniform_item(normal.sigma)?;
            let strip = self.squares_strip(&normal, sigma, &reduced)?;
            self.flat.strips.push(strip);
        }
        Ok(())
    }

    /// The strip for `Σ (qᵢ − rᵢ·θ)²`.
    fn squares_strip(&mut self, normal: &Normal, sigma: Item, reduced: &Reduced) -> Fit<Strip> {
        let n = reduced.parameters.len() + 1;
        let mut builder = Builder::new(&Space { iterations: n, loops: Vec::new() });
        let mut location = Item::Constant(0.0);
        let mut rest = &reduced.parameters[..];
        let mut columns = reduced.columns.chunks_exact(n);
        while let Some(&(operand, _)) = rest.first() {
            let own = rest.iter().take_while(|(o, _)| *o == operand).count();
            let (parameters, others) = rest.split_at(own);
            rest = others;
            let inner = self.flat.operands[operand].shape.len();
            let plus = builder.argument(&location)?;
            let mut rows = vec![0.0; inner * n];
            for (&(_, element), column) in parameters.iter().zip(&mut columns) {
                rows[element * n..(element + 1) * n].copy_from_slice(column);
            }
            location = builder.step(|out| Step::RowDot { rows, inner, operand, plus, out })?;
        }
        let y = columns.next().unwrap_or_default().to_vec();
        let items = [Item::Column(Rc::new(y)), location, sigma];
        builder.add_normal(&items, (normal.propto, normal.varying), (normal.factor, normal.count))?;
        Ok(builder.finish())
    }
}

/// The triangular factor of parameters and outcome.
struct Reduced {
    parameters: Vec<Parameter>,
    /// Column by column, the outcome last.
    columns: Vec<f64>,
}

/// The same sum of squares with fewer terms, if that pays.
fn reduce(normal: &Normal, forms: &Forms) -> Option<Reduced> {
    let (y, mu) = (forms.forms.get(&normal.y.register)?, forms.forms.get(&normal.mu.register)?);
    let residual = y.clone().plus(&mu.negated());
    let parameters: Vec<Parameter> = residual.coefficients.keys().copied().collect();
    let (n, width) = (forms.iterations, parameters.len() + 1);
    let columns = || residual.coefficients.values().chain([&residual.constant]);
    let entries: usize = columns().map(|column| column.iter().filter(|x| **x != 0.0).count()).sum();
    let finite = columns().all(|column| column.iter().all(|x| x.is_finite()));
    if !finite || 2 * width * width > entries || n.saturating_mul(width * width) > MOST_WORK {
        return None;
    }
    // The residual is y − μ: what parameters have in it is −μ's.
    let mut matrix = Vec::with_capacity(n * width);
    for column in residual.coefficients.values() {
        matrix.extend(column.iter().map(|x| -x));
    }
    matrix.extend_from_slice(&residual.constant);
    Some(Reduced { parameters, columns: triangular_factor(matrix, n, width) })
}

/// R of A = Q R, where A has `n` rows and `width` ≤ `n` columns, by reflections; both column by column.
fn triangular_factor(mut matrix: Vec<f64>, n: usize, width: usize) -> Vec<f64> {
    let mut factor = vec![0.0; width * width];
    for j in 0..width {
        let (done, rest) = matrix.split_at_mut((j + 1) * n);
        let column = &mut done[j * n..];
        factor[j * width..j * width + j].copy_from_slice(&column[..j]);
        let axis = &mut column[j..];
        let largest = axis.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if largest == 0.0 {
            continue;
        }
        let length = largest * axis.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt();
        // The reflection takes the column to a multiple of the first unit vector; this sign cancels no digits.
        let to = -length.copysign(axis[0]);
        axis[0] -= to;
        factor[j * width + j] = to;
        let squared = -to * axis[0];
        for other in rest.chunks_exact_mut(n) {
            let other = &mut other[j..];
            let product: f64 = axis.iter().zip(&*other).map(|(a, b)| a * b).sum();
            let by = product / squared;
            for (b, a) in other.iter_mut().zip(&*axis) {
                *b -= by * a;
            }
        }
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::triangular_factor;

    #[test]
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn the_factor_keeps_all_products_of_columns() {
        for (n, width) in [(4, 4), (9, 3), (50, 6)] {
            let a: Vec<f64> = (0..n * width).map(|i| ((i * 7919 + 13) % 101) as f64 - 50.0).collect();
            let r = triangular_factor(a.clone(), n, width);
            for i in 0..width {
                for j in 0..width {
                    let product =
                        |m: &[f64], len: usize| -> f64 { (0..len).map(|k| m[i * len + k] * m[j * len + k]).sum() };
                    let (expected, found) = (product(&a, n), product(&r, width));
                    assert!((expected - found).abs() < 1e-9 * (1.0 + expected.abs()), "{n} {width} {i} {j}");
                    assert!(i <= j || r[j * width + i] == 0.0, "triangular");
                }
            }
        }
    }

    #[test]
    fn dependent_columns_have_a_factor() {
        let a = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.0, 0.0, 0.0];
        let r = triangular_factor(a, 3, 3);
        let length = 14.0_f64.sqrt();
        assert!((r[0] + length).abs() < 1e-14 && (r[3] + 2.0 * length).abs() < 1e-14, "{r:?}");
        assert!(r[4].abs() < 1e-14 && r[6..].iter().all(|x| *x == 0.0), "{r:?}");
    }
}
