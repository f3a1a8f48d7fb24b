//! Statements.

use super::calls::candidate_texts;
use super::{Checker, Region, errors, operators};
use crate::ast::{self, AssignOp, BinaryOp, StmtKind as Ast};
use crate::names::Suffix;
use crate::signatures::{self, Resolution};
use crate::span::Span;
use crate::typed::{
    Access, Callee, Expr, ExprKind, Index, LoopOver, MessagePart, Origin, Place, Stmt, StmtKind, Tilde, Truncation,
    VariableId,
};
use crate::types::{Type, promotion_steps};

impl Checker {
    /// A list of statements; `top_level` at the top of a block other than the model.
    pub(super) fn statements(&mut self, statements: &[ast::Stmt], top_level: bool) -> Vec<Stmt> {
        let mut typed = Vec::with_capacity(statements.len());
        for (i, statement) in statements.iter().enumerate() {
            self.statement(statement, top_level, &mut typed);
            if ends_flow(&statement.kind)
                && let Some(next) = statements.get(i + 1)
            {
                self.report(errors::unreachable(next.span, statement.span));
                // One message is enough for all that follows.
                for rest in &statements[i + 1..] {
                    self.statement(rest, top_level, &mut typed);
                }
                break;
            }
        }
        typed
    }

    /// A statement where exactly one stands: the body of a loop or branch.
    fn body(&mut self, statement: &ast::Stmt) -> Stmt {
        let mut typed = Vec::new();
        self.scoped(|c| c.statement(statement, false, &mut typed));
        match <[Stmt; 1]>::try_from(typed) {
            Ok([one]) => one,
            Err(several) => Stmt { kind: StmtKind::Block(several), span: statement.span },
        }
    }

    /// Checks a statement and appends what it says: one declaration may declare several variables.
    fn statement(&mut self, statement: &ast::Stmt, top_level: bool, out: &mut Vec<Stmt>) {
        let span = statement.span;
        let kind = match &statement.kind {
            Ast::Declare(declaration) => {
                self.declaration(declaration, top_level, span, out);
                return;
            }
            Ast::Assign { target, op, value } => self.assign(target, *op, value),
            Ast::Call(call) => self.statement_call(call, span).map(StmtKind::Call),
            Ast::TargetPlus(value) => Some(self.target_plus(value, span)),
            Ast::JacobianPlus(value) => Some(self.jacobian_plus(value, span)),
            Ast::Tilde(tilde) => self.tilde(tilde, span),
            Ast::If { branches, otherwise } => Some(self.if_statement(branches, otherwise.as_deref())),
            Ast::For { variable, over, body } => self.for_statement(variable, over, body),
            Ast::While { condition, body } => {
                let condition = self.condition(condition, "`while`");
                let body = Box::new(self.in_loop(|c| c.body(body)));
                Some(StmtKind::While { condition, body })
            }
            Ast::Break | Ast::Continue => Some(self.jump(&statement.kind, span)),
            Ast::Return(value) => Some(self.return_statement(value.as_ref(), span)),
            Ast::Block(statements) => Some(StmtKind::Block(self.scoped(|c| c.statements(statements, false)))),
            Ast::Profile { name, body } => {
                let body = self.scoped(|c| c.statements(body, false));
                Some(StmtKind::Profile { name: name.clone(), body })
            }
            Ast::Message { kind, parts } => {
                let parts = parts.iter().map(|part| match part {
                    ast::MessagePart::Text(text) => MessagePart::Text(text.clone()),
                    ast::MessagePart::Value(e) => MessagePart::Value(self.expression(e)),
                });
                Some(StmtKind::Message { kind: *kind, parts: parts.collect() })
            }
            Ast::Skip => Some(StmtKind::Skip),
            Ast::Error => None,
        };
        out.extend(kind.map(|kind| Stmt { kind, span }));
    }

    fn in_loop<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.loops += 1;
        let result = f(self);
        self.loops -= 1;
        result
    }

    fn if_statement(&mut self, branches: &[ast::Branch], otherwise: Option<&ast::Stmt>) -> StmtKind {
        let mut typed = Vec::with_capacity(branches.len());
        for branch in branches {
            let condition = self.condition(&branch.condition, "`if`");
            typed.push((condition, self.body(&branch.body)));
        }
        let otherwise = otherwise.map(|s| Box::new(self.body(s)));
        StmtKind::If { branches: typed, otherwise }
    }

    fn for_statement(&mut self, name: &ast::Ident, over: &ast::LoopOver, body: &ast::Stmt) -> Option<StmtKind> {
        let (over, ty) = match over {
            ast::LoopOver::Range { lower, upper } => {
                let [lower, upper] = [lower, upper].map(|e| {
                    let e = self.expression(e);
                    if !matches!(e.ty, Type::Int | Type::Unknown) {
                        self.report(errors::loop_bound_type(&e.ty, e.span));
                    }
                    e
                });
                (LoopOver::Range { lower, upper }, Type::Int)
            }
            ast::LoopOver::Each(e) => {
                let e = self.expression(e);
                let ty = match &e.ty {
                    Type::Array(element) => (**element).clone(),
                    Type::Vector | Type::RowVector | Type::Matrix => Type::Real,
                    Type::Unknown => Type::Unknown,
                    other => {
                        self.report(errors::loop_over_type(other, e.span));
                        Type::Unknown
                    }
                };
                (LoopOver::Each(e), ty)
            }
        };
        self.scoped(|c| {
            let variable = c.loop_variable(name, ty);
            let body = Box::new(c.in_loop(|c| c.body(body)));
            Some(StmtKind::For { variable, over, body })
        })
    }

    fn jump(&mut self, kind: &Ast, span: Span) -> StmtKind {
        let (word, kind) = match kind {
            Ast::Break => ("break", StmtKind::Break),
            _ => ("continue", StmtKind::Continue),
        };
        if self.loops == 0 {
            self.report(errors::outside_loop(word, span));
        }
        kind
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        let value = value.map(|e| self.expression(e));
        match (self.returns.clone(), &value) {
            (None, _) => self.report(errors::return_outside_function(span)),
            (Some(super::Returns(None)), Some(e)) => self.report(errors::return_value_in_void(e.span)),
            (Some(super::Returns(Some(ty))), None) => self.report(errors::return_without_value(&ty, span)),
            (Some(super::Returns(Some(ty))), Some(e)) if promotion_steps(&e.ty, &ty).is_none() => {
                self.report(errors::return_type(&ty, &e.ty, e.span));
            }
            _ => {}
        }
        StmtKind::Return(value)
    }

    fn target_plus(&mut self, value: &ast::Expr, span: Span) -> StmtKind {
        if !self.region.allows_target_change() {
            self.report(errors::target_not_allowed("`target +=`", span));
        }
        StmtKind::TargetPlus(self.increment("target", value))
    }

    fn jacobian_plus(&mut self, value: &ast::Expr, span: Span) -> StmtKind {
        if !self.region.allows_jacobian() {
            self.report(errors::jacobian_not_allowed("`jacobian +=`", span));
        }
        StmtKind::JacobianPlus(self.increment("jacobian", value))
    }

    /// Numbers and containers of numbers can be added up.
    fn increment(&mut self, word: &str, value: &ast::Expr) -> Expr {
        let value = self.expression(value);
        if value.ty.has_complex() || matches!(value.ty.array_parts().0, Type::Tuple(_)) {
            self.report(errors::increment_type(word, &value.ty, value.span));
        }
        value
    }

    fn assign(&mut self, target: &ast::Expr, op: AssignOp, value: &ast::Expr) -> Option<StmtKind> {
        let place = self.place(target);
        let value = self.expression(value);
        let place = place?;
        self.check_distinct(&place, target.span);
        self.check_self_index(&place);
        let ty = place_type(&place);
        let op = match op {
            AssignOp::Set => None,
            AssignOp::Compound(op) => Some(op),
        };
        let given = match op {
            None => Some(value.ty.clone()),
            // Element by element makes sense for containers only, although the operator itself takes scalars.
            Some(BinaryOp::EltMultiply | BinaryOp::EltDivide) if ty.is_scalar() => None,
            Some(op) => operators::binary_type(op, &ty, &value.ty),
        };
        match given {
            None => self.report(errors::compound_operands(op, &ty, &value)),
            Some(given) if promotion_steps(&given, &ty).is_none() => {
                self.report(errors::assignment_type(&ty, &given, op, &value, target.span));
            }
            Some(_) => {}
        }
        Some(StmtKind::Assign { target: place, op, value })
    }

    /// No index on the left may read what is being changed.
    fn check_self_index(&mut self, place: &Place) {
        let mut changed = Vec::new();
        collect_keys(place, &mut changed);
        let mut indices = Vec::new();
        collect_indices(place, &mut indices);
        let reads = |id: VariableId| changed.iter().any(|(variable, _)| *variable == id);
        let mut found = None;
        for e in indices {
            any_part(e, &mut |part| {
                if let ExprKind::Variable(id) = part.kind
                    && reads(id)
                {
                    found = Some((id, part.span));
                }
                found.is_some()
            });
        }
        if let Some((id, span)) = found {
            let name = self.program.variable(id).name.clone();
            self.report(errors::self_index(&name, span));
        }
    }

    /// What stands on the left of `=`, with the checks whether it may.
    fn place(&mut self, target: &ast::Expr) -> Option<Place> {
        if let ast::ExprKind::Tuple(parts) = &target.kind {
            let places: Vec<_> = parts.iter().map(|p| self.place(p)).collect();
            return places.into_iter().collect::<Option<_>>().map(Place::Tuple);
        }
        let mut steps = Vec::new();
        let mut base = target;
        let name = loop {
            match &base.kind {
                ast::ExprKind::Variable(name) => break name,
                ast::ExprKind::Index { base: inner, .. } | ast::ExprKind::TuplePart { base: inner, .. } => {
                    steps.push(base);
                    base = inner;
                }
                // The parser lets nothing else through; `target()` is what `lp__` has become.
                _ => {
                    self.report(errors::assignment_to_target(base.span));
                    return None;
                }
            }
        };
        let Some(variable) = self.lookup(name) else {
            self.report_unassignable(name, base.span);
            for step in steps {
                if let ast::ExprKind::Index { indices, .. } = &step.kind {
                    indices.iter().for_each(|i| drop(self.one_index(i)));
                }
            }
            return None;
        };
        self.check_assignable(variable, base.span);
        let mut ty = self.program.variable(variable).ty.clone();
        let mut path = Vec::with_capacity(steps.len());
        let mut multiple = false;
        for step in steps.into_iter().rev() {
            if multiple {
                self.report(errors::nested_multiple_index(target.span));
                return None;
            }
            match &step.kind {
                ast::ExprKind::Index { indices, .. } => {
                    let indices: Vec<_> = indices.iter().map(|i| self.one_index(i)).collect();
                    ty = self.indexed_type(&ty, &indices, step.span);
                    multiple = indices.iter().any(Index::is_multiple);
                    path.push(Access::Index(indices));
                }
                ast::ExprKind::TuplePart { part, .. } => {
                    ty = self.part_type(&ty, *part, step.span);
                    path.push(Access::Part(*part));
                }
                _ => return None,
            }
        }
        Some(Place::Variable { variable, path, ty, span: target.span })
    }

    fn report_unassignable(&mut self, name: &str, span: Span) {
        let problem = if self.is_known_function(name) {
            errors::assignment_to_function(name, span)
        } else {
            let suggestion = crate::suggest::closest(name, self.visible_variables()).map(str::to_owned);
            errors::undeclared_variable(name, suggestion.as_deref(), span)
        };
        self.report(problem);
    }

    /// Data and parameters never change, other variables of a block only in their own block.
    fn check_assignable(&mut self, variable: VariableId, span: Span) {
        let variable = self.program.variable(variable);
        let problem = match variable.origin {
            Origin::Local => None,
            Origin::Argument => Some(errors::assignment_to_argument(&variable.name, span)),
            Origin::Loop => Some(errors::assignment_to_loop_variable(&variable.name, span)),
            Origin::Block(block) => {
                let read_only = matches!(block, ast::BlockKind::Data | ast::BlockKind::Parameters);
                let elsewhere = self.region != Region::Block(block);
                (read_only || elsewhere)
                    .then(|| errors::assignment_to_block(&variable.name, block, span, variable.span))
            }
        };
        self.problems.extend(problem);
    }

    /// The targets of one assignment must not overlap.
    fn check_distinct(&mut self, place: &Place, span: Span) {
        let mut keys: Vec<(VariableId, Vec<u32>)> = Vec::new();
        collect_keys(place, &mut keys);
        for (i, (variable, parts)) in keys.iter().enumerate() {
            let overlaps = |(v, p): &(VariableId, Vec<u32>)| v == variable && p.iter().zip(parts).all(|(a, b)| a == b);
            if keys[..i].iter().any(overlaps) {
                let name = self.program.variable(*variable).name.clone();
                self.report(errors::duplicate_target(&name, span));
                return;
            }
        }
    }

    fn tilde(&mut self, tilde: &ast::Tilde, span: Span) -> Option<StmtKind> {
        if !self.region.allows_target_change() {
            self.report(errors::target_not_allowed("a `~` statement", span));
        }
        let variate = self.expression(&tilde.variate);
        let arguments = self.check_arguments(&tilde.arguments);
        let density = self.density(&tilde.distribution, &variate, &arguments, span);
        let truncation = tilde.truncation.as_ref().map(|t| self.truncation(t, &tilde.distribution, &arguments));
        let density = density?;
        Some(StmtKind::Tilde(Box::new(Tilde { variate, density, arguments, truncation })))
    }

    /// The density that a distribution's name stands for: `name_lpdf` or `name_lpmf`, whichever takes the variate.
    fn density(&mut self, distribution: &ast::Ident, variate: &Expr, arguments: &[Expr], span: Span) -> Option<Callee> {
        let name = distribution.name.as_str();
        if matches!(Suffix::of(name), Suffix::Lpdf | Suffix::Lpmf | Suffix::Lupdf | Suffix::Lupmf) {
            self.report(errors::tilde_with_suffix(distribution));
            return None;
        }
        let forms: Vec<_> = ["_lpdf", "_lpmf"]
            .map(|s| format!("{name}{s}"))
            .into_iter()
            .filter(|f| self.is_known_function(f))
            .collect();
        if forms.is_empty() {
            let problem = self.unknown_distribution(distribution);
            self.report(problem);
            return None;
        }
        if let [form] = forms.as_slice()
            && signatures::is_variadic(form)
        {
            return self.laplace_density(form, distribution, variate, arguments, span);
        }
        let types: Vec<_> = std::iter::once(&variate.ty).chain(arguments.iter().map(|a| &a.ty)).cloned().collect();
        let mut mismatch = None;
        for form in &forms {
            match signatures::resolve_with(form, &self.own_functions(form), &types) {
                Resolution::Match(found) => {
                    let parameters: Vec<_> = found.arguments.iter().map(|a| a.ty.clone()).collect();
                    for (wanted, argument) in found.arguments.iter().zip(std::iter::once(variate).chain(arguments)) {
                        self.require_data(wanted.data_only, argument, form);
                    }
                    let user = self.own_function(form, &parameters).map(Callee::User);
                    return Some(user.unwrap_or_else(|| Callee::Library(form.clone())));
                }
                Resolution::Ambiguous(candidates) => {
                    let all: Vec<_> = std::iter::once(variate).chain(arguments).cloned().collect();
                    self.report(errors::ambiguous_call(distribution, &all, &candidates, span));
                    return None;
                }
                Resolution::Mismatch(found) => {
                    let candidates = candidate_texts(form, &self.own_functions(form));
                    mismatch = mismatch.or(Some((found, candidates)));
                }
                Resolution::UnknownFunction => {}
            }
        }
        if let Some((mismatch, candidates)) = mismatch {
            self.report(errors::tilde_mismatch(distribution, &mismatch, variate, arguments, &candidates, span));
        }
        None
    }

    fn laplace_density(
        &mut self,
        form: &str,
        distribution: &ast::Ident,
        variate: &Expr,
        arguments: &[Expr],
        span: Span,
    ) -> Option<Callee> {
        let all = std::iter::once(variate).chain(arguments).cloned().collect();
        let function = ast::Ident { name: form.to_owned(), span: distribution.span };
        self.laplace_call(form, &function, all, span)?;
        Some(Callee::Library(form.to_owned()))
    }

    fn unknown_distribution(&self, distribution: &ast::Ident) -> crate::diagnostics::Diagnostic {
        let name = distribution.name.as_str();
        let own = self.functions.keys().map(|n| Suffix::split(n));
        let mut names: Vec<&str> = own.filter(|(_, s)| s.is_density()).map(|(stem, _)| stem).collect();
        names.extend(signatures::distributions().map(|n| n as &str));
        if let (stem, Suffix::Cdf | Suffix::Lcdf | Suffix::Lccdf) = Suffix::split(name) {
            return errors::tilde_with_cdf(distribution, stem);
        }
        let suggestion = crate::suggest::closest(name, names);
        errors::unknown_distribution(distribution, self.is_known_function(name), suggestion)
    }

    /// Truncation divides by a difference of distribution functions, which must exist for the type of the bounds.
    fn truncation(
        &mut self,
        truncation: &ast::Truncation,
        distribution: &ast::Ident,
        arguments: &[Expr],
    ) -> Truncation {
        let mut bound = |e: &Option<ast::Expr>| {
            let e = self.expression(e.as_ref()?);
            if !matches!(e.ty, Type::Int | Type::Real | Type::Unknown) {
                self.report(errors::truncation_bound_type(&e.ty, e.span));
                return Some(Expr { ty: Type::Unknown, ..e });
            }
            Some(e)
        };
        let lower = bound(&truncation.lower);
        let upper = bound(&truncation.upper);
        for bound in [&lower, &upper].into_iter().flatten() {
            let types: Vec<_> = std::iter::once(&bound.ty).chain(arguments.iter().map(|a| &a.ty)).cloned().collect();
            let missing = ["_lcdf", "_lccdf"].into_iter().find(|ending| {
                let function = format!("{}{ending}", distribution.name);
                let found = signatures::resolve_with(&function, &self.own_functions(&function), &types);
                !matches!(found, Resolution::Match(_))
            });
            let known = ["_lpdf", "_lpmf"].iter().any(|s| self.is_known_function(&format!("{}{s}", distribution.name)));
            if let Some(ending) = missing.filter(|_| known) {
                let function = format!("{}{ending}", distribution.name);
                let exists = self.is_known_function(&function);
                self.report(errors::truncation_without_cdf(
                    distribution,
                    &function,
                    exists,
                    &bound.ty,
                    truncation.span,
                ));
                break;
            }
        }
        Truncation { lower, upper }
    }
}

/// Whether nothing behind the statement can be reached.
fn ends_flow(kind: &Ast) -> bool {
    use ast::MessageKind::{FatalError, Reject};
    matches!(kind, Ast::Return(_) | Ast::Break | Ast::Continue | Ast::Message { kind: Reject | FatalError, .. })
}

fn place_type(place: &Place) -> Type {
    match place {
        Place::Variable { ty, .. } => ty.clone(),
        Place::Tuple(parts) => Type::Tuple(parts.iter().map(place_type).collect()),
    }
}

/// The variables of a place with the tuple parts on the way to them; behind an index everything may overlap.
fn collect_keys(place: &Place, keys: &mut Vec<(VariableId, Vec<u32>)>) {
    match place {
        Place::Tuple(parts) => parts.iter().for_each(|p| collect_keys(p, keys)),
        Place::Variable { variable, path, .. } => {
            let parts = path.iter().map_while(|a| match a {
                Access::Part(part) => Some(*part),
                Access::Index(_) => None,
            });
            keys.push((*variable, parts.collect()));
        }
    }
}

/// The expressions in the indices of a place.
fn collect_indices<'a>(place: &'a Place, found: &mut Vec<&'a Expr>) {
    match place {
        Place::Tuple(parts) => parts.iter().for_each(|p| collect_indices(p, found)),
        Place::Variable { path, .. } => {
            for access in path {
                if let Access::Index(indices) = access {
                    found.extend(indices.iter().flat_map(Index::parts));
                }
            }
        }
    }
}

/// Whether an expression mentions something for which `found` holds; used for sizes.
pub(super) fn any_part(e: &Expr, found: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let mut pending = vec![e];
    while let Some(e) = pending.pop() {
        if found(e) {
            return true;
        }
        match &e.kind {
            ExprKind::Call(call) => pending.extend(&call.arguments),
            ExprKind::Index { base, indices } => {
                pending.push(base);
                pending.extend(indices.iter().flat_map(Index::parts));
            }
            ExprKind::TuplePart { base, .. } => pending.push(base),
            ExprKind::Unary { operand, .. } | ExprKind::Transpose(operand) => pending.push(operand),
            ExprKind::Binary { left, right, .. } => pending.extend([&**left, &**right]),
            ExprKind::Ternary { condition, yes, no } => pending.extend([&**condition, &**yes, &**no]),
            ExprKind::Array(parts) | ExprKind::RowVector(parts) | ExprKind::Tuple(parts) => pending.extend(parts),
            _ => {}
        }
    }
    false
}
