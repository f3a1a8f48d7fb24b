//! Compiles the statements of a loop: each group of statements with the same iterations becomes a strip.

use std::collections::{HashMap, HashSet};

use super::builder::{Builder, Item};
use super::expressions::{Dependence, Val};
use super::locals::{plain, renewed};
use super::space::Space;
use super::{Fit, Obstacle};
use crate::code::{Factor, Filled, For, Index, Kind, Node, Over, Slot, Step as Path, Stmt, StmtKind, Varies};
use crate::density;
use crate::flat::{Density, Flat, Function, LogOdds, Operand, Step, Stored};
use crate::lower::has_control;
use crate::machine::Machine;

/// Outside of loops the machine is faster with longer vectors.
const MOST_TERMS: usize = 8;

/// A loop that is being compiled.
pub(super) struct Compiler<'a> {
    pub machine: &'a mut Machine,
    pub flat: Flat,
    /// Variables of the loop, with the expressions that they stand for.
    pub definitions: HashMap<Slot, Node>,
    /// Variables of the loop whose elements are assigned one by one, or that get several values one after the other.
    pub locals: HashMap<Slot, Val>,
    /// Those that are known to get several values.
    pub renewed: HashSet<Slot>,
    /// Variables outside of the loop that are used nowhere else.
    pub inlinable: &'a [(Slot, Node)],
    /// Arrays that a loop before has filled for this one.
    pub filled: &'a [Filled],
    pub builder: Builder,
    /// What has been computed in the strip.
    pub known: HashMap<Slot, Val>,
    /// Whether this is no loop: scalar expressions are then computed here, not by the machine.
    pub terms: bool,
    /// Variables that a recurrence assigns to, and may look at.
    pub kept: Vec<Slot>,
}

impl Machine {
    pub(super) fn compile(&mut self, for_loop: &For) -> Fit<Flat> {
        let Over::Range(low, high) = &for_loop.over else { return Err(Obstacle::Unfit) };
        let mut compiler = Compiler {
            inlinable: &for_loop.inlinable,
            filled: &for_loop.filled,
            renewed: renewed(&for_loop.body),
            ..Compiler::new(self, &Space::default())
        };
        for bound in [low, high] {
            if compiler.dependence(bound).runtime {
                return Err(Obstacle::Unfit);
            }
        }
        let (low, high) = (compiler.machine.int(low)?, compiler.machine.int(high)?);
        let space = Space::outermost(for_loop.slot, low, high)?;
        compiler.body(&for_loop.body, &space)?;
        let Compiler { flat, .. } = compiler;
        let mixed = !flat.stored.is_empty() && flat.strips.iter().flat_map(|s| &s.steps).any(Step::adds);
        if mixed || flat.looks_at_inlined() { Err(Obstacle::Unfit) } else { Ok(flat) }
    }
}

impl Machine {
    /// Terms of the log density, as a loop with one iteration.
    pub(super) fn compile_terms(
        &mut self,
        body: &[Stmt],
        (inlinable, filled): (&[(Slot, Node)], &[Filled]),
    ) -> Fit<Flat> {
        let space = Space { iterations: 1, loops: Vec::new() };
        let flat = Flat { terms: true, ..Flat::default() };
        let mut compiler = Compiler { flat, terms: true, inlinable, filled, ..Compiler::new(self, &space) };
        for (at, stmt) in body.iter().enumerate() {
            let StmtKind::Target { value, factor } = &stmt.kind else { return Err(Obstacle::Unfit) };
            let (sizes, builder) = (compiler.sizes(), compiler.builder.clone());
            match compiler.add(value, *factor) {
                Ok(()) => {}
                Err(Obstacle::Unfit) => {
                    compiler.back_to(sizes);
                    compiler.builder = builder;
                    compiler.flat.left.push(at);
                }
                Err(stop) => return Err(stop),
            }
        }
        compiler.close()?;
        let Compiler { flat, .. } = compiler;
        let left = |slot: &Slot| flat.left.iter().any(|&at| body[at].reads(*slot));
        if flat.strips.is_empty() || flat.looks_at_inlined() || flat.inlined.iter().any(left) {
            return Err(Obstacle::Unfit);
        }
        let hard = flat.left.iter().any(|&at| has_control(&self.code, &body[at]));
        Ok(Flat { hard, ..flat })
    }
}

impl<'a> Compiler<'a> {
    /// Nothing is known yet.
    pub(super) fn new(machine: &'a mut Machine, space: &Space) -> Self {
        Self {
            machine,
            flat: Flat::default(),
            definitions: HashMap::new(),
            locals: HashMap::new(),
            renewed: HashSet::new(),
            inlinable: &[],
            filled: &[],
            builder: Builder::new(space),
            known: HashMap::new(),
            terms: false,
            kept: Vec::new(),
        }
    }
}

impl Compiler<'_> {
    /// Begins a strip for these iterations.
    pub(super) fn open(&mut self, space: &Space) {
        self.builder = Builder::new(space);
        self.known.clear();
    }

    pub(super) fn close(&mut self) -> Fit<()> {
        let mut builder = std::mem::replace(&mut self.builder, Builder::new(&Space::default()));
        self.known.clear();
        self.reduce_squares(&mut builder)?;
        if builder.space.iterations > 0 && builder.has_effect() {
            self.flat.strips.push(builder.finish());
        }
        Ok(())
    }

    fn body(&mut self, list: &[Stmt], space: &Space) -> Fit<()> {
        if space.iterations == 0 {
            return Ok(());
        }
        self.open(space);
        let outer = std::mem::take(&mut self.locals);
        let mut declared: HashSet<Slot> = HashSet::new();
        for stmt in list {
            if self.locals.is_empty()
                && let StmtKind::Target { value: Node { kind: Kind::Density(call), .. }, factor } = &stmt.kind
                && let Some(vectors) = self.long_vectors(call, space)?
            {
                self.close()?;
                self.along(&vectors, space, (call.propto, *factor))?;
                self.open(space);
                continue;
            }
            match &stmt.kind {
                StmtKind::If { branches, otherwise } if self.locals.is_empty() => {
                    self.close()?;
                    self.branches(branches, otherwise, space)?;
                    self.open(space);
                }
                StmtKind::For(inner) if !self.fills_locals(inner) => {
                    // What has been computed here would be lost in there.
                    if inner.body.iter().any(|stmt| self.locals.keys().any(|slot| stmt.reads(*slot))) {
                        return Err(Obstacle::Unfit);
                    }
                    let locals = std::mem::take(&mut self.locals);
                    if !locals.is_empty() {
                        return Err(Obstacle::Unfit);
                    }
                    self.close()?;
                    self.inner(inner, space)?;
                    self.open(space);
                }
                StmtKind::Block(body) if self.locals.is_empty() => {
                    self.close()?;
                    self.body(body, space)?;
                    self.open(space);
                }
                _ => self.simple(stmt, &mut declared)?,
            }
        }
        self.close()?;
        self.locals = outer;
        Ok(())
    }

    /// A statement that stays in the strip.
    pub(super) fn simple(&mut self, stmt: &Stmt, declared: &mut HashSet<Slot>) -> Fit<()> {
        match &stmt.kind {
            StmtKind::Target { value, factor } => self.add(value, *factor),
            StmtKind::Declare { slot, declared: ty, initial, mutable, .. } => {
                plain(ty)?;
                declared.insert(*slot);
                match initial {
                    _ if *mutable || self.renewed.contains(slot) => self.container(*slot, ty, initial.as_ref()),
                    Some(node) => self.define(*slot, node),
                    None => Ok(()),
                }
            }
            StmtKind::Assign { slot, path, value, .. } if path.is_empty() && declared.contains(slot) => {
                if self.locals.contains_key(slot) { self.renew(*slot, value) } else { self.define(*slot, value) }
            }
            StmtKind::Assign { slot, path, value, .. } if self.locals.contains_key(slot) => {
                self.set_element(*slot, path, value)
            }
            StmtKind::Assign { slot, path, value, .. } => self.store(*slot, path, value),
            StmtKind::For(inner) => self.unroll(inner, declared),
            StmtKind::Block(body) => body.iter().try_for_each(|stmt| self.simple(stmt, declared)),
            _ => Err(Obstacle::Unfit),
        }
    }

    /// A variable of the loop. Its value is computed now: containers that it looks at may change.
    fn define(&mut self, slot: Slot, node: &Node) -> Fit<()> {
        let Dependence { space, runtime } = self.dependence(node);
        if space && runtime {
            let val = self.value(node)?;
            self.known.insert(slot, val);
        }
        let known = self.definitions.insert(slot, node.clone());
        // A variable that is assigned twice may have been looked at in between, by something that is computed later.
        if known.is_some() && !(space && runtime) { Err(Obstacle::Unfit) } else { Ok(()) }
    }

    fn branches(&mut self, branches: &[(Node, Vec<Stmt>)], otherwise: &[Stmt], space: &Space) -> Fit<()> {
        let mut rest = space.clone();
        for (condition, body) in branches {
            if rest.iterations == 0 {
                return Ok(());
            }
            self.open(&rest);
            if self.dependence(condition).runtime {
                return Err(Obstacle::Unfit);
            }
            let condition = &self.resolved(condition);
            let truth = self.machine.columns(condition, &rest)?;
            let [truth] = &truth.elements[..] else { return Err(Obstacle::Unfit) };
            let taken: Vec<bool> = truth.iter().map(|&x| x != 0.0).collect();
            let left: Vec<bool> = taken.iter().map(|taken| !taken).collect();
            self.body(body, &rest.filtered(&taken))?;
            rest = rest.filtered(&left);
        }
        self.body(otherwise, &rest)
    }

    fn inner(&mut self, inner: &For, space: &Space) -> Fit<()> {
        let bounds = self.bounds(&inner.over, space)?;
        let space = space.inside(inner.slot, &bounds[0], &bounds[1])?;
        self.body(&inner.body, &space)
    }

    /// The bounds of a loop in each iteration of those around it.
    #[allow(clippy::cast_possible_truncation, reason = "Stan's int has 32 bits")]
    pub(super) fn bounds(&mut self, over: &Over, space: &Space) -> Fit<[Vec<i64>; 2]> {
        let Over::Range(low, high) = over else { return Err(Obstacle::Unfit) };
        self.open(space);
        let mut bound = |node: &Node| {
            if self.dependence(node).runtime {
                return Err(Obstacle::Unfit);
            }
            let node = &self.resolved(node);
            let columns = self.machine.columns(node, space)?;
            let [column] = &columns.elements[..] else { return Err(Obstacle::Unfit) };
            Ok(column.iter().map(|&x| x as i64).collect::<Vec<_>>())
        };
        Ok([bound(low)?, bound(high)?])
    }

    /// `target += value`
    pub(super) fn add(&mut self, value: &Node, factor: Factor) -> Fit<()> {
        if factor == Factor::ByVariate {
            return Err(Obstacle::Unfit);
        }
        if let Kind::Density(call) = &value.kind {
            if self.terms {
                let sizes = self.sizes();
                match self.vector_density(call, factor) {
                    Err(Obstacle::Unfit) => self.back_to(sizes),
                    other => return other,
                }
            }
            let terms = self.densities(call)?;
            if self.terms && terms.len() > MOST_TERMS {
                return Err(Obstacle::Unfit);
            }
            for (function, arguments) in terms {
                self.add_density(function, &arguments, (call.propto, self.varying(&call.arguments)), factor)?;
            }
            return Ok(());
        }
        if self.terms && self.add_sums(value, factor)? {
            return Ok(());
        }
        let item = self.scalar(value)?;
        let x = self.builder.argument(&item)?;
        self.builder.sink(Step::Add { x, factor });
        Ok(())
    }

    /// How much there is of what may have to be taken back.
    fn sizes(&self) -> [usize; 3] {
        let Flat { operands, inlined, strips, .. } = &self.flat;
        [operands.len(), inlined.len(), strips.len()]
    }

    fn back_to(&mut self, [operands, inlined, strips]: [usize; 3]) {
        self.flat.operands.truncate(operands);
        self.flat.inlined.truncate(inlined);
        self.flat.strips.truncate(strips);
    }

    /// Which arguments count as depending on parameters.
    pub(super) fn varying(&self, arguments: &[Node]) -> u32 {
        let varying = arguments.iter().enumerate().filter(|(_, a)| self.machine.counts_as_varying(a));
        varying.fold(0, |mask, (k, _)| mask | 1 << k)
    }

    pub(super) fn add_density(
        &mut self,
        function: Function,
        items: &[Item],
        (propto, varying): (bool, u32),
        factor: Factor,
    ) -> Fit<()> {
        let builder = &mut self.builder;
        if let Function::Density(scalar) = &function
            && density::Scalar::is_normal_density(scalar)
            && matches!(items[2], Item::Constant(_) | Item::Uniform { .. })
        {
            let count = builder.space.iterations;
            return builder.add_normal(items, (propto, varying), (factor, count));
        }
        if let Some(odds) = log_odds(&function, items, builder, (varying, factor))? {
            builder.sink(Step::AddLogOdds(odds));
            return Ok(());
        }
        let arguments = items.iter().map(|item| builder.argument(item)).collect::<Fit<_>>()?;
        builder.sink(Step::AddDensity { density: Density { function, arguments, propto, varying }, factor });
        Ok(())
    }

    /// Assigns to elements of a variable outside of the loop.
    fn store(&mut self, slot: Slot, path: &[Path], value: &Node) -> Fit<()> {
        let [Path::Index(indices)] = path else { return Err(Obstacle::Unfit) };
        if !indices.iter().all(|i| matches!(i, Index::Single(_))) {
            return Err(Obstacle::Unfit);
        }
        let crate::machine::Value::Numbers(view) = self.machine.variable(slot).value else {
            return Err(Obstacle::Unfit);
        };
        let picked = self.pick(&view.shape, indices)?;
        if picked.kept.is_some() {
            return Err(Obstacle::Unfit);
        }
        if !self.kept.contains(&slot) {
            // Iterations run side by side: no element may be assigned twice, and none looked at.
            let mut seen: HashSet<u32> = HashSet::new();
            let fresh = picked.first.iter().all(|&e| seen.insert(e)) && self.flat.stored.is_empty();
            if !fresh || self.reads(value, slot) {
                return Err(Obstacle::Unfit);
            }
        }
        let item = self.scalar(value)?;
        let x = self.builder.argument(&item)?;
        let stored = self.stored(slot, value.span)?;
        stored.elements.extend(&picked.first);
        let operand = stored.operand;
        self.builder.sink(Step::Store { x, operand, elements: picked.first });
        Ok(())
    }

    /// A variable that is assigned to, as an operand.
    pub(super) fn stored(&mut self, slot: Slot, span: crust_stan::span::Span) -> Fit<&mut Stored> {
        use crate::machine::Value;
        let Value::Numbers(view) = self.machine.variable(slot).value else { return Err(Obstacle::Unfit) };
        let known = self.flat.stored.iter().position(|stored| stored.slot == slot);
        let at = known.unwrap_or_else(|| {
            let operand = self.flat.operands.len();
            let node = Node { kind: Kind::Variable { slot, mutable: true }, span, varies: Varies::Yes };
            self.flat.operands.push(Operand { node, shape: view.shape });
            self.flat.stored.push(Stored { slot, operand, elements: Vec::new() });
            self.flat.stored.len() - 1
        });
        Ok(&mut self.flat.stored[at])
    }

    /// Whether an expression looks at a variable.
    fn reads(&self, node: &Node, slot: Slot) -> bool {
        let mut found = matches!(&node.kind, Kind::Variable { slot: s, .. } if *s == slot);
        if let Kind::Variable { slot: s, .. } = &node.kind
            && let Some(definition) = self.definitions.get(s)
        {
            found = found || self.reads(definition, slot);
        }
        node.children(&mut |child| found = found || self.reads(child, slot));
        found
    }
}

/// Bernoulli log densities of data with log odds that depend on parameters: then nothing is dropped of them.
fn log_odds(
    function: &Function,
    items: &[Item],
    builder: &mut Builder,
    (varying, factor): (u32, Factor),
) -> Fit<Option<LogOdds>> {
    let (Function::Density(scalar) | Function::LogOdds(scalar)) = function else { return Ok(None) };
    let [Item::Column(outcomes), x @ (Item::Register(_) | Item::Uniform { .. })] = items else { return Ok(None) };
    let bits = outcomes.iter().all(|y| [0.0_f64, 1.0].map(f64::to_bits).contains(&y.to_bits()));
    if scalar.name != "bernoulli_logit" || !scalar.is_probability() || !bits || varying & 0b10 == 0 {
        return Ok(None);
    }
    let signs = outcomes.iter().map(|y| 2.0 * y - 1.0).collect();
    let detour = matches!(function, Function::LogOdds(_));
    Ok(Some(LogOdds { signs, x: builder.argument(x)?, detour, factor }))
}
