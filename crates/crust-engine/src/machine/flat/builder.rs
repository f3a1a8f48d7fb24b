//! Builds strips: registers are handed out, what is the same is computed once, and in the end every argument learns
//! what becomes of its adjoint.

use std::collections::HashMap;
use std::rc::Rc;

use super::space::Space;
use super::{Fit, Obstacle};
use crate::code::Factor;
use crate::flat::{
    Affine, Argument, Divisor, Into, LogOdds, MOST_KEPT, Normal, Positions, Register, Step, Strip, Uniform,
};
use crate::kernels::arithmetic::Arithmetic;

/// The most registers of a strip: their numbers should stay in the cache.
const MOST_REGISTERS: u16 = 400;

/// A number in each iteration.
#[derive(Clone, Debug)]
pub enum Item {
    Constant(f64),
    Column(Rc<Vec<f64>>),
    Uniform { operand: usize, element: usize },
    Register(Register),
}

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Data.
    Data,
    Uniform,
    Varying,
}

#[derive(Clone)]
pub struct Builder {
    pub space: Space,
    strip: Strip,
    classes: Vec<Class>,
    constants: HashMap<u64, Register>,
    uniforms: HashMap<(usize, usize), Register>,
    columns: Vec<(Rc<Vec<f64>>, Register)>,
    gathers: Vec<(Positions, Register)>,
    inverses: HashMap<Register, Register>,
}

impl Builder {
    pub fn new(space: &Space) -> Self {
        Self {
            space: space.clone(),
            strip: Strip { iterations: space.iterations, ..Strip::default() },
            classes: Vec::new(),
            constants: HashMap::new(),
            uniforms: HashMap::new(),
            columns: Vec::new(),
            gathers: Vec::new(),
            inverses: HashMap::new(),
        }
    }

    fn register(&mut self, class: Class) -> Fit<Register> {
        let register = u16::try_from(self.classes.len()).map_err(|_| Obstacle::Unfit)?;
        if register >= MOST_REGISTERS {
            return Err(Obstacle::Unfit);
        }
        self.classes.push(class);
        Ok(register)
    }

    /// Registers one after the other.
    fn registers(&mut self, n: usize) -> Fit<Register> {
        let first = self.register(Class::Varying)?;
        for _ in 1..n {
            self.register(Class::Varying)?;
        }
        Ok(first)
    }

    pub fn uniform(&mut self, uniform: Uniform) -> Fit<Register> {
        let class = if matches!(uniform, Uniform::Operand { .. }) { Class::Uniform } else { Class::Data };
        let register = self.register(class)?;
        self.strip.uniforms.push((register, uniform));
        Ok(register)
    }

    /// The reciprocal of a register that is the same in all iterations.
    pub fn inverse(&mut self, of: Register) -> Fit<Register> {
        if let Some(&register) = self.inverses.get(&of) {
            return Ok(register);
        }
        let register = self.uniform(Uniform::Inverse(of))?;
        self.inverses.insert(of, register);
        Ok(register)
    }

    /// The register of an item.
    pub fn load(&mut self, item: &Item) -> Fit<Register> {
        match item {
            Item::Constant(x) => {
                if let Some(&register) = self.constants.get(&x.to_bits()) {
                    return Ok(register);
                }
                let register = self.uniform(Uniform::Constant(*x))?;
                self.constants.insert(x.to_bits(), register);
                Ok(register)
            }
            Item::Column(numbers) => {
                let bits = |x: &f64| x.to_bits();
                let same = |known: &Rc<Vec<f64>>| {
                    Rc::ptr_eq(known, numbers) || known.iter().map(bits).eq(numbers.iter().map(bits))
                };
                if let Some((_, register)) = self.columns.iter().find(|(known, _)| same(known)) {
                    return Ok(*register);
                }
                let out = self.register(Class::Data)?;
                self.strip.steps.push(Step::Column { numbers: numbers.to_vec(), out });
                self.columns.push((Rc::clone(numbers), out));
                Ok(out)
            }
            Item::Uniform { operand, element } => {
                if let Some(&register) = self.uniforms.get(&(*operand, *element)) {
                    return Ok(register);
                }
                let register = self.uniform(Uniform::Operand { operand: *operand, element: *element })?;
                self.uniforms.insert((*operand, *element), register);
                Ok(register)
            }
            Item::Register(register) => Ok(*register),
        }
    }

    pub fn argument(&mut self, item: &Item) -> Fit<Argument> {
        Ok(Argument { register: self.load(item)?, into: Into::Nothing })
    }

    pub fn gather(&mut self, from: Positions) -> Fit<Item> {
        if let Some((_, register)) = self.gathers.iter().find(|(known, _)| *known == from) {
            return Ok(Item::Register(*register));
        }
        if let Some(&first) = from.elements().first()
            && from.elements().iter().all(|&e| e == first)
        {
            return Ok(Item::Uniform { operand: from.operand(), element: first as usize });
        }
        let out = self.register(Class::Varying)?;
        self.gathers.push((from.clone(), out));
        self.strip.steps.push(Step::Gather { from, out });
        Ok(Item::Register(out))
    }

    /// A step with one result.
    pub fn step(&mut self, make: impl FnOnce(Register) -> Step) -> Fit<Item> {
        let out = self.register(Class::Varying)?;
        self.strip.steps.push(make(out));
        Ok(Item::Register(out))
    }

    /// `plus + factor · x / divisor`; divisions and factors in x and a missing sum are joined with it.
    pub fn affine(&mut self, x: &Item, factor: f64, divisor: Option<&Item>, plus: Option<&Item>) -> Fit<Item> {
        let mut affine = Affine { x: self.argument(x)?, factor, divisor: None, plus: None, out: 0 };
        if let Some(known) = self.multiple(x)
            && (known.divisor.is_none() || divisor.is_none())
        {
            affine = Affine { factor: factor * known.factor, ..known };
        }
        if let Some(item) = divisor {
            let by = self.argument(item)?;
            affine.divisor = Some(Divisor { by, inverse: self.inverse(by.register)? });
        }
        affine.plus = plus.map(|item| self.argument(item)).transpose()?;
        self.step(|out| Step::Affine(Affine { out, ..affine }))
    }

    /// A multiple of something, if that is what an item is.
    pub fn multiple(&self, item: &Item) -> Option<Affine> {
        let Item::Register(register) = item else { return None };
        let defines = |step: &&Step| matches!(step, Step::Affine(affine) if affine.out == *register);
        match self.strip.steps.iter().rev().find(defines) {
            Some(Step::Affine(affine)) if affine.plus.is_none() => Some(affine.clone()),
            _ => None,
        }
    }

    /// A step with a result and some more registers behind it.
    pub fn step_with(&mut self, more: usize, make: impl FnOnce(Register, Register) -> Step) -> Fit<Item> {
        let out = self.register(Class::Varying)?;
        let others = self.registers(more)?;
        self.strip.steps.push(make(others, out));
        Ok(Item::Register(out))
    }

    /// Adds normal log densities of y, μ and σ (which is the same in all iterations): so many of them.
    pub fn add_normal(
        &mut self,
        items: &[Item],
        (propto, varying): (bool, u32),
        (factor, count): (Factor, usize),
    ) -> Fit<()> {
        let [y_item, mu, sigma] = items else { return Err(Obstacle::Unfit) };
        let (y, mu, sigma) = (self.argument(y_item)?, self.argument(mu)?, self.load(sigma)?);
        let inverse = self.inverse(sigma)?;
        let weight = self.uniform(Uniform::Weight(inverse, factor))?;
        let squares = self.uniform(Uniform::Sum)?;
        let column = match y_item {
            Item::Column(numbers) => Some(numbers.to_vec()),
            _ => None,
        };
        let normal = Normal { y, column, mu, sigma, inverse, weight, squares, count, factor, propto, varying };
        self.sink(Step::AddNormal(normal));
        Ok(())
    }

    pub fn strip(&self) -> &Strip {
        &self.strip
    }

    /// Leaves out steps without a result.
    pub fn retain(&mut self, keep: impl FnMut(&Step) -> bool) {
        self.strip.steps.retain(keep);
    }

    /// Whether anything is added to the log density, or stored.
    pub fn has_effect(&self) -> bool {
        self.strip.steps.iter().any(|step| result(step).is_none())
    }

    /// What a register holds that is the same in all iterations.
    pub fn uniform_item(&self, register: Register) -> Fit<Item> {
        let uniform = self.strip.uniforms.iter().find(|(r, _)| *r == register);
        match uniform {
            Some((_, Uniform::Constant(x))) => Ok(Item::Constant(*x)),
            Some((_, Uniform::Operand { operand, element })) => {
                Ok(Item::Uniform { operand: *operand, element: *element })
            }
            _ => Err(Obstacle::Unfit),
        }
    }

    pub fn sink(&mut self, step: Step) {
        self.strip.steps.push(step);
    }

    /// Joins normal log densities of data with the sums of products that are their locations, and that nobody else
    /// looks at.
    fn join_products(&mut self) {
        let mut uses = vec![0_usize; self.classes.len()];
        for step in &mut self.strip.steps {
            arguments(step, &mut |argument| uses[usize::from(argument.register)] += 1);
        }
        let steps = std::mem::take(&mut self.strip.steps);
        let wanted = |normal: &Normal, register: Register| {
            normal.column.is_some() && normal.mu.register == register && uses[usize::from(register)] == 1
        };
        let joins = |out: Register| steps.iter().any(|s| matches!(s, Step::AddNormal(normal) if wanted(normal, out)));
        let joined: Vec<bool> = steps
            .iter()
            .map(|s| matches!(s, Step::PairDot { lists, out } if lists.inner <= MOST_KEPT && joins(*out)))
            .collect();
        let mut lists = HashMap::new();
        for (step, joined) in steps.into_iter().zip(joined) {
            match step {
                Step::PairDot { lists: own, out } if joined => {
                    lists.insert(out, own);
                }
                Step::AddNormal(normal) => {
                    self.strip.steps.push(match lists.remove(&normal.mu.register) {
                        Some(lists) => Step::AddNormalProducts { lists, normal },
                        None => Step::AddNormal(normal),
                    });
                }
                step => self.strip.steps.push(step),
            }
        }
    }

    /// The strip: on the way back the first contribution to an adjoint sets it, and the others add to it. What adds to
    /// the log density comes first, in the order of the program, then everything else backwards.
    pub fn finish(mut self) -> Strip {
        self.join_products();
        let Self { mut strip, classes, .. } = self;
        let mut touched = vec![false; classes.len()];
        let visit = |argument: &mut Argument, touched: &mut [bool]| {
            let register = usize::from(argument.register);
            argument.into = match classes[register] {
                Class::Data => Into::Nothing,
                Class::Uniform | Class::Varying if touched[register] => Into::Add,
                Class::Uniform | Class::Varying => {
                    touched[register] = true;
                    Into::Set
                }
            };
        };
        for step in strip.steps.iter_mut().filter(|s| s.adds()) {
            arguments(step, &mut |argument| visit(argument, &mut touched));
        }
        let mut dead = vec![false; strip.steps.len()];
        for (step, dead) in strip.steps.iter_mut().zip(&mut dead).rev().filter(|(s, _)| !s.adds()) {
            // Nobody needs it: nothing that was added to the log density or stored has asked for its adjoint.
            *dead = result(step)
                .is_some_and(|out| classes[usize::from(out)] == Class::Varying && !touched[usize::from(out)]);
            if !*dead {
                arguments(step, &mut |argument| visit(argument, &mut touched));
            }
        }
        let mut dead = dead.into_iter();
        strip.steps.retain(|_| !dead.next().unwrap_or(false));
        let mut read = vec![false; classes.len()];
        for step in &mut strip.steps {
            let column = matches!(step, Step::AddNormal(Normal { column: Some(_), .. }));
            let skip =
                if let (Step::AddNormal(normal), true) = (&*step, column) { Some(normal.y.register) } else { None };
            arguments(step, &mut |argument| read[usize::from(argument.register)] |= skip != Some(argument.register));
        }
        strip.steps.retain(|step| !matches!(step, Step::Column { out, .. } if !read[usize::from(*out)]));
        strip.registers = classes.len();
        sum_or_fold(&mut strip, &classes);
        strip.sources = strip.steps.iter().flat_map(Step::adds_to).flatten().collect();
        strip.sources.sort_unstable();
        strip.sources.dedup();
        strip
    }
}

/// Adjoints of registers that are the same in all iterations go straight into sums where there is one contribution.
fn sum_or_fold(strip: &mut Strip, classes: &[Class]) {
    let uniform = |argument: &Argument| {
        argument.into != Into::Nothing && classes[usize::from(argument.register)] == Class::Uniform
    };
    let mut counts = vec![0_usize; classes.len()];
    for step in &mut strip.steps {
        // These are rare, and go through registers.
        let divides = match step {
            Step::Unary { .. } | Step::Store { .. } => true,
            Step::Affine(affine) => affine.divisor.is_some(),
            Step::Arithmetic { operator, .. } => *operator == Arithmetic::Divide,
            _ => false,
        };
        let weight = if divides { 2 } else { 1 };
        arguments(step, &mut |a| counts[usize::from(a.register)] += if uniform(a) { weight } else { 0 });
    }
    for step in &mut strip.steps {
        arguments(step, &mut |argument| {
            if uniform(argument) && counts[usize::from(argument.register)] == 1 {
                argument.into = Into::Sum;
            }
        });
    }
    let registers = 0..classes.len();
    strip.folded = registers.filter(|&r| counts[r] > 1).filter_map(|r| Register::try_from(r).ok()).collect();
}

/// The register of the result.
fn result(step: &Step) -> Option<Register> {
    match step {
        Step::Column { out, .. }
        | Step::Gather { out, .. }
        | Step::Arithmetic { out, .. }
        | Step::Affine(Affine { out, .. })
        | Step::SquaredDistance { out, .. }
        | Step::Unary { out, .. }
        | Step::RowDot { out, .. }
        | Step::PairDot { out, .. }
        | Step::LogSumExp { out, .. }
        | Step::Density { out, .. } => Some(*out),
        Step::Add { .. }
        | Step::AddDensity { .. }
        | Step::AddNormal(_)
        | Step::AddNormalProducts { .. }
        | Step::AddLogOdds(_)
        | Step::Store { .. } => None,
    }
}

/// Visits the arguments of a step in the order in which they get their adjoints.
fn arguments(step: &mut Step, visit: &mut impl FnMut(&mut Argument)) {
    match step {
        Step::Column { .. } | Step::Gather { .. } | Step::PairDot { .. } | Step::AddNormalProducts { .. } => {}
        Step::Arithmetic { a, b, .. } => {
            visit(a);
            visit(b);
        }
        Step::Affine(Affine { x, divisor, plus, .. }) => {
            plus.iter_mut().for_each(&mut *visit);
            divisor.iter_mut().for_each(|divisor| visit(&mut divisor.by));
            visit(x);
        }
        Step::SquaredDistance { pairs, .. } => pairs.iter_mut().flatten().for_each(visit),
        Step::Unary { x, .. }
        | Step::Add { x, .. }
        | Step::Store { x, .. }
        | Step::AddLogOdds(LogOdds { x, .. })
        | Step::RowDot { plus: x, .. } => visit(x),
        Step::LogSumExp { xs, .. } => xs.iter_mut().for_each(visit),
        Step::Density { density, .. } | Step::AddDensity { density, .. } => {
            density.arguments.iter_mut().for_each(visit);
        }
        Step::AddNormal(normal) => {
            visit(&mut normal.mu);
            visit(&mut normal.y);
        }
    }
}
