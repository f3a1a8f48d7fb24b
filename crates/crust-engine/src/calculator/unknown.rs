//! What cannot be known, and how far it spreads: found in the program's text, before anything is run.

use std::sync::Arc;

use crust_stan::ast::{BinaryOp, BlockKind, MessageKind};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;
use crust_stan::typed::{
    Access, Callee, Expr, ExprKind, Index, LoopOver, MessagePart, Origin, Place, Program, SizedKind, SizedType, Stmt,
    StmtKind, VariableId,
};
use crust_stan::value::Unavailable;

use super::Calculator;
use crate::lower::{analysis, is_elementwise};

type Why = Arc<Unavailable>;

/// A loop may end for a reason that is not known: nothing is known of what it does.
pub struct Lost(Why);

/// Visits the expressions that belong to a statement itself, sizes and bounds of declarations included.
pub fn expressions_of<'a>(program: &'a Program, stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    analysis::own_expressions(stmt, visit);
    if let StmtKind::Declare { variable, .. } = &stmt.kind
        && let Some(declared) = &program.variable(*variable).declared
    {
        sizes_of(declared, visit);
    }
}

fn sizes_of<'a>(declared: &'a SizedType, visit: &mut dyn FnMut(&'a Expr)) {
    match &declared.kind {
        SizedKind::Plain { sizes, .. } | SizedKind::Special { sizes, .. } => sizes.iter().for_each(visit),
        SizedKind::Array { sizes, element } => {
            sizes.iter().for_each(&mut *visit);
            sizes_of(element, visit);
        }
        SizedKind::Tuple(parts) => parts.iter().for_each(|part| sizes_of(part, visit)),
    }
}

/// Whether a statement may leave a loop around it.
fn leaves_loop(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => true,
        StmtKind::For { .. } | StmtKind::While { .. } => false,
        _ => {
            let mut found = false;
            analysis::children(stmt, &mut |child| found = found || leaves_loop(child));
            found
        }
    }
}

fn unknown(reason: impl Into<String>, span: Span) -> Why {
    Arc::new(Unavailable { reason: reason.into(), span: Some(span), shape: None })
}

impl Calculator<'_> {
    /// Why the value of an expression is not known, if so.
    pub(super) fn reason(&self, e: &Expr) -> Option<Why> {
        match &e.kind {
            ExprKind::Variable(id) => return self.reason_of(*id, e.span),
            ExprKind::Target => return Some(unknown("`target()` is known in the model only", e.span)),
            ExprKind::Error => return Some(unknown("there is a mistake in the program", e.span)),
            ExprKind::Call(call) => {
                let name = self.name_of(&call.callee);
                if let Some(why) = self.draws(&call.callee, e.span) {
                    return Some(why);
                }
                let of_shape = matches!(name, "size" | "num_elements" | "rows" | "cols" | "dims");
                if let (true, Callee::Library(_), [argument]) = (of_shape, &call.callee, &call.arguments[..]) {
                    return self.shape_reason(argument);
                }
            }
            _ => {}
        }
        let mut found = None;
        analysis::operands(e, &mut |e| found = found.take().or_else(|| self.reason(e)));
        found
    }

    fn name_of<'s>(&'s self, callee: &'s Callee) -> &'s str {
        match callee {
            Callee::Library(name) => name,
            Callee::User(id) => &self.program.function(*id).name,
        }
    }

    /// Why what a function returns is not known, if it draws at random.
    fn draws(&self, callee: &Callee, span: Span) -> Option<Why> {
        let name = self.name_of(callee);
        let is_random = name.ends_with("_rng") && self.stream.is_none();
        is_random.then(|| unknown(format!("`{name}` draws at random"), span))
    }

    fn reason_of(&self, id: VariableId, span: Span) -> Option<Why> {
        if let Some(why) = self.unknown.get(&id) {
            return Some(Arc::clone(why));
        }
        let variable = self.program.variable(id);
        let name = &variable.name;
        match variable.origin {
            Origin::Block(BlockKind::TransformedData) | Origin::Local | Origin::Loop | Origin::Argument => None,
            _ if self.get(id).is_some() => None,
            Origin::Block(BlockKind::Data) => Some(unknown(format!("`{name}` is not in the data"), span)),
            Origin::Block(BlockKind::Parameters) => Some(unknown(format!("`{name}` is a parameter"), span)),
            Origin::Block(kind) => Some(unknown(format!("`{name}` belongs to {}", kind.name()), span)),
        }
    }

    /// Why the shape of an expression is not known, if so. Many operations keep the shape of numbers that are not
    /// known.
    fn shape_reason(&self, e: &Expr) -> Option<Why> {
        match &e.kind {
            ExprKind::Variable(id) if !self.shapeless.contains(id) && self.unknown.contains_key(id) => None,
            ExprKind::Unary { operand, .. } => self.shape_reason(operand),
            ExprKind::Transpose(inner) | ExprKind::TuplePart { base: inner, .. } => self.shape_reason(inner),
            ExprKind::Binary { op, left, right } if keeps_shape(*op) => {
                self.shape_reason(left).or_else(|| self.shape_reason(right))
            }
            ExprKind::Call(call) => match (&call.callee, &call.arguments[..]) {
                (Callee::Library(name), [argument]) if is_elementwise(name) => self.shape_reason(argument),
                _ => self.reason(e),
            },
            _ => self.reason(e),
        }
    }

    /// Whether anything in a statement is not known, or changes what was not known before.
    pub(super) fn is_touched(&mut self, stmt: &Stmt) -> bool {
        let mut found = false;
        analysis::walk(stmt, &mut |s| {
            expressions_of(self.program, s, &mut |e| found = found || self.reason(e).is_some());
            found = found || self.lacks(s).is_some();
            if let StmtKind::Assign { target, op, .. } = &s.kind {
                let whole = op.is_none() && std::ptr::eq(s, stmt);
                found = found
                    || targets_of(target).iter().any(|(id, part)| self.unknown.contains_key(id) && (*part || !whole));
            }
        });
        found || self.desk().pieces.statement(stmt).is_err()
    }

    /// What a run has found lacking in a statement.
    fn lacks(&self, stmt: &Stmt) -> Option<Why> {
        let is_leaf = matches!(
            stmt.kind,
            StmtKind::Assign { .. }
                | StmtKind::Declare { .. }
                | StmtKind::Call(_)
                | StmtKind::For { over: LoopOver::Each(_), .. }
        );
        let at = match &stmt.kind {
            StmtKind::For { over: LoopOver::Each(e), .. } => e.span,
            _ => stmt.span,
        };
        if let StmtKind::Call(call) = &stmt.kind
            && let Some(why) = self.draws(&call.callee, stmt.span)
        {
            return Some(why);
        }
        let inside = |span: &Span| is_leaf && at.start <= span.start && span.end <= at.end;
        self.lacking.iter().find(|(span, _)| inside(span)).map(|(_, why)| Arc::clone(why))
    }

    /// What a statement outside of loops gives a value to as a whole is known again.
    pub(super) fn regain(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, op: None, .. } => {
                for (id, part) in targets_of(target) {
                    if !part {
                        self.unknown.remove(&id);
                        self.shapeless.remove(&id);
                    }
                }
            }
            StmtKind::Declare { variable, .. } => {
                self.unknown.remove(variable);
                self.shapeless.remove(variable);
            }
            _ => {}
        }
    }

    fn lose(&mut self, id: VariableId, why: &Why) {
        self.unknown.entry(id).or_insert_with(|| Arc::new(Unavailable { shape: None, ..(**why).clone() }));
    }

    /// After a statement of which it is not known whether it ran: what it assigns to is not known.
    pub(super) fn lose_assigned(&mut self, stmt: &Stmt, why: &Why) {
        let mut assigned = std::collections::BTreeSet::new();
        analysis::walk(stmt, &mut |s| analysis::assigned_here(s, &mut assigned));
        for id in assigned {
            self.lose(id, why);
        }
    }

    /// What of a statement can be run. What it assigns otherwise is not known from now on.
    pub(super) fn sift(&mut self, stmt: &Stmt, nested: bool) -> Result<Option<Stmt>, Lost> {
        let with = |kind: StmtKind| Ok(Some(Stmt { kind, span: stmt.span }));
        match &stmt.kind {
            StmtKind::Declare { variable, initial } => {
                Ok(self.sift_declaration(stmt, *variable, initial.as_ref(), nested))
            }
            StmtKind::Assign { target, op, value } => {
                let targets = targets_of(target);
                let hidden = |this: &Self, (id, part): &(VariableId, bool)| {
                    if *part || op.is_some() || nested { this.unknown.get(id).cloned() } else { None }
                };
                let why = self.reason(value).or_else(|| self.reason_in(target));
                let why = why.or_else(|| targets.iter().find_map(|target| hidden(self, target)));
                if let Some(why) = why.or_else(|| self.lacking_in(stmt)) {
                    targets.iter().for_each(|(id, _)| self.lose(*id, &why));
                    return Ok(None);
                }
                if !nested {
                    self.regain(stmt);
                }
                Ok(Some(stmt.clone()))
            }
            StmtKind::Block(body) | StmtKind::Profile { body, .. } => {
                let mut kept = Vec::new();
                for stmt in body {
                    kept.extend(self.sift(stmt, nested)?);
                }
                with(StmtKind::Block(kept))
            }
            StmtKind::If { branches, otherwise } => self.sift_branches(stmt, branches, otherwise.as_deref()),
            StmtKind::For { variable, over, body } => {
                let why = match over {
                    LoopOver::Range { lower, upper } => self.obscure(lower).or_else(|| self.obscure(upper)),
                    LoopOver::Each(e) => self.obscure(e).or_else(|| self.lacks(stmt)),
                };
                Ok(self.sift_loop(body, why).map(|body| {
                    let kind = StmtKind::For { variable: *variable, over: over.clone(), body: Box::new(body) };
                    Stmt { kind, span: stmt.span }
                }))
            }
            StmtKind::While { condition, body } => Ok(self.sift_while(condition, body, stmt.span)),
            StmtKind::Message { kind: MessageKind::Print, .. } | StmtKind::Call(_) => {
                let known = self.known_everywhere(stmt) && self.lacking_in(stmt).is_none();
                Ok(known.then(|| stmt.clone()))
            }
            StmtKind::Message { kind, parts } => {
                let told = |part: &MessagePart| match part {
                    MessagePart::Value(e) => self
                        .reason(e)
                        .map_or_else(|| part.clone(), |why| MessagePart::Text(format!("<unknown: {}>", why.reason))),
                    MessagePart::Text(_) => part.clone(),
                };
                with(StmtKind::Message { kind: *kind, parts: parts.iter().map(told).collect() })
            }
            _ => Ok(Some(stmt.clone())),
        }
    }

    fn sift_declaration(
        &mut self,
        stmt: &Stmt,
        variable: VariableId,
        initial: Option<&Expr>,
        nested: bool,
    ) -> Option<Stmt> {
        let mut size = None;
        if let Some(declared) = &self.program.variable(variable).declared {
            sizes_of(declared, &mut |e| size = size.take().or_else(|| self.reason(e)));
        }
        let bare = Stmt { kind: StmtKind::Declare { variable, initial: None }, span: stmt.span };
        if let Some(why) = size.or_else(|| self.lacking_in(&bare)) {
            self.lose(variable, &why);
            self.shapeless.insert(variable);
            return None;
        }
        let Some(why) = initial.and_then(|e| self.reason(e)).or_else(|| self.lacking_in(stmt)) else {
            if !nested {
                self.regain(stmt);
            }
            return Some(stmt.clone());
        };
        self.lose(variable, &why);
        Some(bare)
    }

    fn sift_branches(
        &mut self,
        stmt: &Stmt,
        branches: &[(Expr, Stmt)],
        otherwise: Option<&Stmt>,
    ) -> Result<Option<Stmt>, Lost> {
        let mut kept = Vec::new();
        for (i, (condition, body)) in branches.iter().enumerate() {
            if let Some(why) = self.obscure(condition) {
                let rest: Vec<&Stmt> = branches[i..].iter().map(|(_, body)| body).chain(otherwise).collect();
                rest.iter().for_each(|body| self.lose_assigned(body, &why));
                if rest.iter().any(|body| leaves_loop(body)) {
                    return Err(Lost(why));
                }
                let kind = StmtKind::If { branches: kept, otherwise: None };
                return Ok(Some(Stmt { kind, span: stmt.span }));
            }
            // Which way it goes will be seen: both ways count here, so that nothing is known again after one of them.
            kept.push((condition.clone(), self.sift(body, true)?.unwrap_or_else(|| nothing(body))));
        }
        let otherwise = match otherwise {
            Some(body) => Some(Box::new(self.sift(body, true)?.unwrap_or_else(|| nothing(body)))),
            None => None,
        };
        Ok(Some(Stmt { kind: StmtKind::If { branches: kept, otherwise }, span: stmt.span }))
    }

    fn sift_while(&mut self, condition: &Expr, body: &Stmt, span: Span) -> Option<Stmt> {
        let why = self.obscure(condition);
        let kept = self.sift_loop(body, why)?;
        // Rounds may have made the condition unknown.
        if let Some(why) = self.obscure(condition) {
            self.lose_assigned(body, &why);
            return None;
        }
        Some(Stmt { kind: StmtKind::While { condition: condition.clone(), body: Box::new(kept) }, span })
    }

    /// What of the body of a loop can be run, round after round; nothing where that is not known.
    fn sift_loop(&mut self, body: &Stmt, why: Option<Why>) -> Option<Stmt> {
        if let Some(why) = why {
            self.lose_assigned(body, &why);
            return None;
        }
        loop {
            let before = (self.unknown.len(), self.shapeless.len());
            match self.sift(body, true) {
                Err(Lost(why)) => {
                    self.lose_assigned(body, &why);
                    return None;
                }
                Ok(kept) if before == (self.unknown.len(), self.shapeless.len()) => return kept,
                Ok(_) => {}
            }
        }
    }

    /// Why an expression has no value that could be looked at, if so.
    fn obscure(&mut self, e: &Expr) -> Option<Why> {
        let lacking = |problem: Box<Diagnostic>| unknown(problem.message, e.span);
        self.reason(e).or_else(|| self.desk().pieces.expression(e).err().map(lacking))
    }

    /// What the engine lacks for a statement without others in it.
    fn lacking_in(&mut self, stmt: &Stmt) -> Option<Why> {
        let lacking = |problem: Box<Diagnostic>| unknown(problem.message, stmt.span);
        self.lacks(stmt).or_else(|| self.desk().pieces.statement(stmt).err().map(lacking))
    }

    fn known_everywhere(&self, stmt: &Stmt) -> bool {
        let mut known = true;
        expressions_of(self.program, stmt, &mut |e| known = known && self.reason(e).is_none());
        known
    }

    fn reason_in(&self, place: &Place) -> Option<Why> {
        match place {
            Place::Tuple(places) => places.iter().find_map(|place| self.reason_in(place)),
            Place::Variable { path, .. } => path.iter().find_map(|access| match access {
                Access::Index(indices) => indices.iter().flat_map(Index::parts).find_map(|e| self.reason(e)),
                Access::Part(_) => None,
            }),
        }
    }
}

/// The variables that a place stands for, and whether only a part of each.
fn targets_of(place: &Place) -> Vec<(VariableId, bool)> {
    match place {
        Place::Variable { variable, path, .. } => vec![(*variable, !path.is_empty())],
        Place::Tuple(places) => places.iter().flat_map(targets_of).collect(),
    }
}

fn nothing(stmt: &Stmt) -> Stmt {
    Stmt { kind: StmtKind::Skip, span: stmt.span }
}

/// Whether the result has the shape of the operands.
fn keeps_shape(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::EltMultiply | BinaryOp::EltDivide | BinaryOp::EltPower)
}
