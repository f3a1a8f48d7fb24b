//! Statements.

use std::borrow::Cow;

use crust_stan::ast::BinaryOp;
use crust_stan::joint::Role;
use crust_stan::names::Suffix;
use crust_stan::span::Span;
use crust_stan::typed::{self, Access, Callee, Expr, LoopOver, MessagePart, Place, Tilde};
use crust_stan::types::Type;

use super::{Lowering, analysis, library};
use crate::code::{Factor, For, Index, Kind, Message, Node, Over, Slot, Step, Stmt, StmtKind, Truncation, Varies};
use crate::kernels::arithmetic::Arithmetic;
use crate::structure::Structure;

/// The statements of blocks within a block in the place of the blocks: names are variables already, so that braces mean
/// nothing outside of loops, and a container that a braced loop looks at can be computed inside of that loop.
fn opened(list: &[typed::Stmt]) -> Cow<'_, [typed::Stmt]> {
    let inside = |stmt: &typed::Stmt| match &stmt.kind {
        typed::StmtKind::Block(list) | typed::StmtKind::Profile { body: list, .. } => opened(list).into_owned(),
        _ => vec![stmt.clone()],
    };
    let is_closed =
        |stmt: &typed::Stmt| matches!(stmt.kind, typed::StmtKind::Block(_) | typed::StmtKind::Profile { .. });
    if list.iter().any(is_closed) { list.iter().flat_map(inside).collect() } else { list.into() }
}

impl Lowering<'_> {
    /// The statements of a block, or of a function.
    pub(super) fn statements(&mut self, list: &[typed::Stmt]) -> Vec<Stmt> {
        let plain = self.frame.is_some() || self.data_only;
        let opened = if plain { list.into() } else { opened(list) };
        let out = self.list_of(&opened);
        if plain || self.ordered {
            return out;
        }
        super::inline::mark(super::inline::gather_terms(out, &mut self.code), false)
    }

    fn list_of(&mut self, list: &[typed::Stmt]) -> Vec<Stmt> {
        // Inside of functions the machine runs everything itself, and so it does what is run once.
        let plain = self.frame.is_some() || self.data_only;
        let moved = if plain { list.into() } else { super::sink::into_loops(self.program, list) };
        let mut out = Vec::new();
        for stmt in moved.iter() {
            self.statement(stmt, &mut out);
        }
        if plain { out } else { super::inline::mark(out, true) }
    }

    fn body(&mut self, stmt: &typed::Stmt) -> Vec<Stmt> {
        match &stmt.kind {
            typed::StmtKind::Block(list) => self.list_of(list),
            _ => self.list_of(std::slice::from_ref(stmt)),
        }
    }

    fn loop_body(&mut self, stmt: &typed::Stmt) -> Vec<Stmt> {
        let outer = std::mem::replace(&mut self.in_loop, true);
        let body = self.body(stmt);
        self.in_loop = outer;
        body
    }

    /// A branch that data choose outside of loops is a block of its own; others belong to what they are in.
    fn branch(&mut self, stmt: &typed::Stmt, by_data: bool) -> Vec<Stmt> {
        match &stmt.kind {
            _ if self.in_loop || !by_data => self.body(stmt),
            typed::StmtKind::Block(list) => self.statements(list),
            _ => self.statements(std::slice::from_ref(stmt)),
        }
    }

    fn statement(&mut self, stmt: &typed::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let pure = !self.code.reads_target && analysis::is_pure(stmt);
        let kind = match &stmt.kind {
            typed::StmtKind::Declare { variable, initial } => {
                let info = self.program.variable(*variable);
                let Some(ty) = &info.declared else { return };
                let id = u32::try_from(self.code.declares).expect("few declarations");
                self.code.declares += 1;
                StmtKind::Declare {
                    slot: self.slot(*variable),
                    declared: self.declared(ty),
                    initial: initial.as_ref().map(|e| self.expression(e)),
                    mutable: self.mutable.contains(variable),
                    id,
                }
            }
            typed::StmtKind::Assign { target, op, value } => self.assign(target, *op, value, span),
            typed::StmtKind::Call(call) => {
                let ty = Type::Unknown;
                let expr = Expr { kind: typed::ExprKind::Call(call.clone()), ty, level: typed::Level::Parameter, span };
                StmtKind::Call(self.expression(&expr))
            }
            typed::StmtKind::TargetPlus(e) => return self.target(e, span, pure, out),
            typed::StmtKind::JacobianPlus(e) => StmtKind::Jacobian(self.expression(e)),
            typed::StmtKind::Tilde(tilde) => return self.tilde(tilde, span, out),
            typed::StmtKind::If { branches, otherwise } => {
                let conditions: Vec<Node> = branches.iter().map(|(e, _)| self.condition(e)).collect();
                let by_data = conditions.iter().all(Node::is_hoisted);
                let bodies: Vec<Vec<Stmt>> = branches.iter().map(|(_, s)| self.branch(s, by_data)).collect();
                let otherwise = otherwise.as_ref().map(|s| self.branch(s, by_data)).unwrap_or_default();
                StmtKind::If { branches: conditions.into_iter().zip(bodies).collect(), otherwise }
            }
            typed::StmtKind::For { variable, over, body } => self.for_loop(*variable, over, body),
            typed::StmtKind::While { condition, body } => {
                StmtKind::While { condition: self.expression(condition), body: self.loop_body(body) }
            }
            typed::StmtKind::Break => StmtKind::Break,
            typed::StmtKind::Continue => StmtKind::Continue,
            typed::StmtKind::Return(e) => StmtKind::Return(e.as_ref().map(|e| self.expression(e))),
            typed::StmtKind::Block(list) | typed::StmtKind::Profile { body: list, .. } => {
                // What is in a loop is compiled with the loop: its sizes may differ between iterations.
                StmtKind::Block(if self.in_loop { self.list_of(list) } else { self.statements(list) })
            }
            typed::StmtKind::Message { kind, parts } => {
                let parts = parts.iter().map(|part| match part {
                    MessagePart::Text(text) => Message::Text(text.clone()),
                    MessagePart::Value(e) => Message::Value(self.expression(e)),
                });
                StmtKind::Message { kind: *kind, parts: parts.collect() }
            }
            typed::StmtKind::Skip => return,
        };
        out.push(Stmt { kind, span, pure });
    }

    fn for_loop(&mut self, variable: typed::VariableId, over: &LoopOver, body: &typed::Stmt) -> StmtKind {
        let free = !self.code.reads_target;
        let range = matches!(over, LoopOver::Range { .. });
        let parallel = free && range && analysis::is_parallel(self.program, variable, body);
        let parallel_inside = free && analysis::has_parallel_loop(self.program, body);
        let over = match over {
            LoopOver::Range { lower, upper } => Over::Range(self.expression(lower), self.expression(upper)),
            LoopOver::Each(e) => Over::Each(self.expression(e)),
        };
        let id = u32::try_from(self.code.loops).expect("few loops");
        self.code.loops += 1;
        let body = self.loop_body(body);
        StmtKind::For(Box::new(For {
            slot: self.slot(variable),
            over,
            body,
            parallel,
            parallel_inside,
            inlinable: Vec::new(),
            filled: Vec::new(),
            id,
        }))
    }

    fn steps(&mut self, path: &[Access]) -> Vec<Step> {
        let step = |this: &mut Self, access: &Access| match access {
            Access::Index(indices) => Step::Index(this.indices(indices)),
            Access::Part(part) => Step::Part(*part as usize - 1),
        };
        let mut steps: Vec<Step> = Vec::new();
        for access in path {
            match (steps.last_mut(), step(self, access)) {
                // `x[i][j]` is `x[i, j]`.
                (Some(Step::Index(before)), Step::Index(indices)) if before.iter().all(is_single) => {
                    before.extend(indices);
                }
                (_, next) => steps.push(next),
            }
        }
        steps
    }

    fn place(&mut self, place: &Place) -> Option<(Slot, Vec<Step>, bool)> {
        match place {
            Place::Variable { variable, path, .. } => {
                self.no_complex(*variable);
                Some((self.slot(*variable), self.steps(path), self.mutable.contains(variable)))
            }
            Place::Tuple(_) => None,
        }
    }

    fn assign(&mut self, target: &Place, op: Option<BinaryOp>, value: &Expr, span: Span) -> StmtKind {
        let Place::Variable { variable, path, ty, .. } = target else {
            let Place::Tuple(places) = target else { unreachable!("a place is a variable or a tuple") };
            let mut flat = Vec::new();
            for place in places {
                match self.place(place) {
                    Some(place) => flat.push(place),
                    None => {
                        self.lacking("the engine cannot take nested tuples apart in an assignment", span);
                    }
                }
            }
            return StmtKind::AssignTuple { places: flat, value: self.expression(value) };
        };
        self.no_complex(*variable);
        let (slot, mutable) = (self.slot(*variable), self.mutable.contains(variable));
        let node = self.expression(value);
        let value = match op {
            None => node,
            Some(op) => {
                let old = self.read_place(slot, path, mutable, span);
                let kind = self.operator(op, (ty, old), (&value.ty, node), span);
                let kind = if ty.is_int_like() { self.whole(kind, span) } else { kind };
                Node { kind, span, varies: Varies::Yes }
            }
        };
        StmtKind::Assign { slot, path: self.steps(path), value, mutable }
    }

    fn no_complex(&mut self, variable: typed::VariableId) {
        let variable = self.program.variable(variable);
        if variable.ty.has_complex() {
            self.lacking("the engine has no complex numbers", variable.span);
        }
    }

    /// The value at a place, for a compound assignment.
    fn read_place(&mut self, slot: Slot, path: &[Access], mutable: bool, span: Span) -> Node {
        let mut node = Node { kind: Kind::Variable { slot, mutable }, span, varies: Varies::Yes };
        for step in self.steps(path) {
            let base = Box::new(node);
            let kind = match step {
                Step::Index(indices) => Kind::Index { base, indices },
                Step::Part(part) => Kind::Part { base, part },
            };
            node = Node { kind, span, varies: Varies::Yes };
        }
        node
    }

    /// `target += e`, taken apart where prior and likelihood are added up in it.
    fn target(&mut self, e: &Expr, span: Span, pure: bool, out: &mut Vec<Stmt>) {
        let inside = self.frame.is_some();
        let terms = self.parts().terms(e);
        let first = terms.first().map_or(Role::Likelihood, |t| t.role);
        let parts = self.parts();
        let is_density = |e: &Expr| matches!(&e.kind, typed::ExprKind::Call(call) if parts.is_density(call));
        if inside && terms.iter().all(|t| !t.negative && is_density(t.expr)) {
            // What an argument stands for shows when the function is called.
            for term in terms {
                let value = self.expression(term.expr);
                out.push(Stmt { kind: StmtKind::Target { value, factor: Factor::ByVariate }, span, pure });
            }
            return;
        }
        if inside || terms.iter().all(|t| t.role == first) {
            let factor = if inside { Factor::Likelihood } else { factor(first) };
            out.push(Stmt { kind: StmtKind::Target { value: self.expression(e), factor }, span, pure });
            return;
        }
        for term in terms {
            let node = self.expression(term.expr);
            let varies = node.varies;
            let value = if term.negative { Node { kind: Kind::Negate(Box::new(node)), span, varies } } else { node };
            out.push(Stmt { kind: StmtKind::Target { value, factor: factor(term.role) }, span, pure });
        }
    }

    fn tilde(&mut self, tilde: &Tilde, span: Span, out: &mut Vec<Stmt>) {
        let pure = !self.code.reads_target;
        let factor = if self.frame.is_some() { Factor::ByVariate } else { factor(self.parts().of_tilde(tilde)) };
        let mut arguments = vec![self.expression(&tilde.variate)];
        arguments.extend(self.list(&tilde.arguments));
        let types: Vec<&Type> = std::iter::once(&tilde.variate).chain(&tilde.arguments).map(|e| &e.ty).collect();
        let (kind, place) = match &tilde.density {
            Callee::Library(name) => (self.density(name, (arguments, &types), true, span), span),
            Callee::User(id) => self.user(id.0, arguments, true, span),
        };
        let value = Node { kind, span: place, varies: Varies::Yes };
        out.push(Stmt { kind: StmtKind::Target { value, factor }, span, pure });
        if let Some(truncation) = &tilde.truncation {
            let truncation = self.truncation(tilde, truncation, factor, span);
            out.push(Stmt { kind: StmtKind::Truncate(Box::new(truncation)), span, pure });
        }
    }

    /// `x ~ d(θ) T[a, b]` divides by `P(a ≤ x ≤ b)`: by `F(b) − F(a)`, and for integers by `F(b) − F(a − 1)`. As in
    /// Stan, one such term stands for each variate where no argument is a container, and one in all otherwise.
    fn truncation(&mut self, tilde: &Tilde, bounds: &typed::Truncation, factor: Factor, span: Span) -> Truncation {
        let discrete = tilde.variate.ty.is_int_like();
        let cumulative = |this: &mut Self, ending: &str, bound: Node| -> Node {
            let mut arguments = vec![bound];
            arguments.extend(this.list(&tilde.arguments));
            let kind = match &tilde.density {
                Callee::Library(name) => {
                    let (stem, _) = Suffix::split(name);
                    this.density(&format!("{stem}{ending}"), (arguments, &[]), false, span)
                }
                Callee::User(id) => {
                    let (stem, _) = Suffix::split(&this.program.function(*id).name);
                    let name = format!("{stem}{ending}");
                    match this.program.functions.iter().position(|f| f.name == name) {
                        Some(at) => {
                            let function = u32::try_from(at).expect("few functions");
                            this.called.insert(function);
                            Kind::User { function, arguments, propto: false }
                        }
                        None => this.lacking(format!("there is no `{name}` to truncate with"), span).kind,
                    }
                }
            };
            Node { kind, span, varies: Varies::Yes }
        };
        let below = |this: &mut Self, e: &Expr| {
            let bound = this.expression(e);
            if !discrete {
                return bound;
            }
            let one = this.literal(1.0, span);
            Node { kind: Kind::Arithmetic(Arithmetic::Subtract, Box::new([bound, one])), span, varies: Varies::No }
        };
        let inside = match (&bounds.lower, &bounds.upper) {
            (Some(a), Some(b)) => {
                let low = below(self, a);
                let (high, low) = (self.expression(b), low);
                let (high, low) = (cumulative(self, "_lcdf", high), cumulative(self, "_lcdf", low));
                let kind = match library::binary("log_diff_exp") {
                    Some(function) => Kind::Binary(function, Box::new([high, low])),
                    None => self.lacking("the engine has no `log_diff_exp`", span).kind,
                };
                Node { kind, span, varies: Varies::Yes }
            }
            (Some(a), None) => {
                let low = below(self, a);
                cumulative(self, "_lccdf", low)
            }
            (None, Some(b)) => {
                let high = self.expression(b);
                cumulative(self, "_lcdf", high)
            }
            (None, None) => self.literal(0.0, span),
        };
        let repeated = !tilde.variate.ty.is_scalar() && tilde.arguments.iter().all(|a| a.ty.is_scalar());
        let normaliser = if repeated {
            let variate = self.expression(&tilde.variate);
            let size = Node { kind: Kind::Structure(Structure::Size, vec![variate]), span, varies: Varies::No };
            Node { kind: Kind::Arithmetic(Arithmetic::Multiply, Box::new([inside, size])), span, varies: Varies::Yes }
        } else {
            inside
        };
        Truncation {
            variate: self.expression(&tilde.variate),
            lower: bounds.lower.as_ref().map(|e| self.expression(e)),
            upper: bounds.upper.as_ref().map(|e| self.expression(e)),
            factor,
            normaliser: Node { kind: Kind::Negate(Box::new(normaliser)), span, varies: Varies::Yes },
        }
    }
}

fn factor(role: Role) -> Factor {
    match role {
        Role::Prior => Factor::Prior,
        Role::Likelihood => Factor::Likelihood,
    }
}

/// Whether an index picks one element.
fn is_single(index: &Index) -> bool {
    matches!(index, Index::Single(_))
}
