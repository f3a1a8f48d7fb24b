//! Parameters that several terms weigh together, in ways that no statement draws: contrasts (`append_row(b, -sum(b)) ~
//! normal(0, 1)`), soft constraints (`sum(phi) ~ normal(0, 0.01)`), differences (`x[2:N] - x[1:N - 1] ~ normal(0, s)`),
//! quadratic forms (`target += -0.5 * dot_self(phi[i] - phi[j])`), and types that sum to zero.
//!
//! Whether their joint density is a normal one shows when the program runs; here they are only put together.

use std::collections::BTreeSet;

use super::bounds::is_unbounded;
use super::factors::{Factor, Shape};
use super::split::Role;
use super::{Joint, Prior, Reader};
use crate::ast::BlockKind;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, Program, Stmt, StmtKind, VariableId};

/// Parameters that are drawn at once, given others.
#[derive(Clone, Debug)]
pub struct Linked {
    pub parameters: BTreeSet<VariableId>,
    /// The parameters that their terms look at beside them.
    pub needs: BTreeSet<VariableId>,
    /// The statements that weigh them, in the order of the program.
    pub spans: Vec<Span>,
    /// What is said if they cannot be drawn at once.
    pub problem: Diagnostic,
}

/// A factor that is no draw of one variable, and the parameters that it may be a part of a normal density of.
pub(super) struct Link {
    parameters: BTreeSet<VariableId>,
    problem: Diagnostic,
}

impl Reader<'_> {
    /// The parameters that a factor weighs together, if their density may be normal: those on the left, or all that a
    /// term looks at, as far as they can have every value. Where a term has parameters that nothing else weighs, it is
    /// theirs.
    pub(super) fn link(&self, factor: &Factor, problem: &Diagnostic) -> Option<Link> {
        // What a function `foo_lp` adds is told by its call alone.
        if self.program.functions.iter().any(|f| (f.span.start..f.span.end).contains(&factor.span.start)) {
            return None;
        }
        let depends = &self.split.depends;
        let stated = |id: &VariableId| {
            self.factors
                .iter()
                .any(|f| f.role == Role::Prior && f.draws(*id) && f.draws_whole() && f.shape == Shape::Draw)
        };
        let all = match (factor.shape, &factor.variate) {
            (Shape::NotInvertible | Shape::NoSampler | Shape::OwnDensity, Some(variate)) => depends.parameters(variate),
            (Shape::NoDensity, _) => factor.depends_on.clone(),
            _ => return None,
        };
        let mut parameters: BTreeSet<VariableId> =
            all.into_iter().filter(|id| is_unbounded(self.program, *id)).collect();
        if factor.shape == Shape::NoDensity && parameters.iter().any(|id| !stated(id)) {
            parameters.retain(|id| !stated(id));
        }
        (!parameters.is_empty()).then(|| Link { parameters, problem: problem.clone() })
    }

    /// A parameter whose own statements make a product, or have another normaliser than they say.
    pub(super) fn link_alone(&self, id: VariableId, problem: &Diagnostic) -> Option<Link> {
        is_unbounded(self.program, id).then(|| Link { parameters: BTreeSet::from([id]), problem: problem.clone() })
    }

    /// Puts together what shares parameters.
    pub(super) fn linked(&mut self, links: Vec<Link>) {
        let mut groups: Vec<Link> = Vec::new();
        for mut link in links {
            let (with, apart): (Vec<Link>, Vec<Link>) =
                groups.into_iter().partition(|g| !g.parameters.is_disjoint(&link.parameters));
            groups = apart;
            for group in with {
                link.parameters.extend(group.parameters);
                link.problem = group.problem;
            }
            groups.push(link);
        }
        for Link { parameters, problem } in groups {
            let own = |f: &&Factor| f.role == Role::Prior && self.weighs(f, &parameters);
            let terms: Vec<&Factor> = self.factors.iter().filter(own).collect();
            let sources = terms.iter().flat_map(|f| &f.sources);
            let needs = sources.filter(|id| self.split.depends.is_parameter(**id) && !parameters.contains(id));
            let needs = needs.copied().collect();
            let mut spans: Vec<Span> = terms.iter().map(|f| f.span).collect();
            spans.dedup_by_key(|s| (s.start, s.end));
            self.priors.extend(parameters.iter().map(|id| (*id, Prior::Stated)));
            self.linked.push(Linked { parameters, needs, spans, problem });
        }
    }

    /// Terms of nothing but what a group needs are perhaps its determinant (`target += 0.5 * (N - 1) * log(tau)`), and go
    /// with it. Returns the problems of the others.
    pub(super) fn attach(&mut self, loose: Vec<(Factor, Diagnostic)>) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for (factor, problem) in loose {
            let of =
                |group: &&mut Linked| factor.shape == Shape::NoDensity && factor.depends_on.is_subset(&group.needs);
            match self.linked.iter_mut().find(of) {
                Some(group) => group.spans.push(factor.span),
                None => problems.push(problem),
            }
        }
        problems
    }

    /// Whether a factor of the prior belongs to these parameters: it draws one of them, or weighs some of them without
    /// drawing anything.
    fn weighs(&self, factor: &Factor, parameters: &BTreeSet<VariableId>) -> bool {
        if factor.shape.is_readable() {
            return factor.root.is_some_and(|id| parameters.contains(&id));
        }
        let problem = Diagnostic::error("", "", factor.span);
        self.link(factor, &problem).is_some_and(|link| !link.parameters.is_disjoint(parameters))
    }
}

impl Linked {
    /// Whether a statement is among those that weigh the parameters. Several terms may have the place of one statement.
    pub(super) fn is_at(&self, span: Span) -> bool {
        self.spans.iter().any(|s| (s.start, s.end) == (span.start, span.end))
    }
}

impl Joint {
    /// The group of parameters that is drawn at once with this one.
    pub fn linked_with(&self, id: VariableId) -> Option<&Linked> {
        self.linked.iter().find(|l| l.parameters.contains(&id))
    }

    /// Whether a statement of the program with these sources belongs to a group.
    fn is_of(&self, group: &Linked, span: Span, root: Option<VariableId>, e: &[&Expr]) -> bool {
        let touches = || e.iter().any(|e| !self.split.depends.sources(e).is_disjoint(&group.parameters));
        let other = root.is_some_and(|id| self.priors.contains_key(&id) && !group.parameters.contains(&id));
        group.is_at(span) && !other && touches()
    }

    /// Whether a statement weighs parameters that are drawn at once, so that it draws nothing by itself.
    pub fn is_linked(&self, stmt: &Stmt) -> bool {
        self.linked.iter().any(|group| self.is_term_of(group, stmt))
    }

    /// Whether a statement weighs the parameters of this group.
    pub fn is_term_of(&self, group: &Linked, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Tilde(tilde) if self.split.of_tilde(tilde) == Role::Prior => {
                let definitions = super::definitions(&self.program);
                let root = super::root(&super::resolve(&self.program, &definitions, &tilde.variate));
                let all: Vec<&Expr> = std::iter::once(&tilde.variate).chain(&tilde.arguments).collect();
                self.is_of(group, stmt.span, root, &all)
            }
            StmtKind::TargetPlus(e) if self.split.terms(e).iter().all(|t| t.role == Role::Prior) => {
                let parameters = self.split.depends.parameters(e);
                let attached = !parameters.is_empty() && parameters.is_subset(&group.needs);
                self.is_of(group, stmt.span, None, &[e]) || (attached && group.is_at(stmt.span))
            }
            _ => false,
        }
    }

    /// The program with the terms of a group alone.
    pub fn program_of(&self, group: &Linked) -> Program {
        self.reduced(&|stmt| self.is_term_of(group, stmt))
    }

    /// The program without its likelihood.
    pub fn prior_program(&self) -> Program {
        self.reduced(&|stmt| match &stmt.kind {
            StmtKind::Tilde(tilde) => self.split.of_tilde(tilde) == Role::Prior,
            StmtKind::TargetPlus(e) => self.split.terms(e).iter().all(|t| t.role == Role::Prior),
            _ => true,
        })
    }

    /// The program without densities: what is left are transformed parameters, their constraints, and what the program
    /// rejects.
    pub fn guards(&self) -> Program {
        self.reduced(&|stmt| matches!(stmt.kind, StmtKind::Message { .. }))
    }

    /// The program with some of its terms and messages.
    fn reduced(&self, keep: &dyn Fn(&Stmt) -> bool) -> Program {
        fn reduce(stmt: &mut Stmt, keep: &dyn Fn(&Stmt) -> bool) {
            if matches!(stmt.kind, StmtKind::Tilde(_) | StmtKind::TargetPlus(_) | StmtKind::Message { .. })
                && !keep(stmt)
            {
                stmt.kind = StmtKind::Skip;
                return;
            }
            match &mut stmt.kind {
                StmtKind::If { branches, otherwise } => {
                    branches.iter_mut().for_each(|(_, s)| reduce(s, keep));
                    otherwise.iter_mut().for_each(|s| reduce(s, keep));
                }
                StmtKind::For { body, .. } | StmtKind::While { body, .. } => reduce(body, keep),
                StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => {
                    list.iter_mut().for_each(|s| reduce(s, keep));
                }
                _ => {}
            }
        }
        let mut program = self.program.clone();
        for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
            if let Some(block) = &mut program.blocks[kind as usize] {
                block.statements.iter_mut().for_each(|s| reduce(s, keep));
            }
        }
        program.blocks[BlockKind::GeneratedQuantities as usize] = None;
        program
    }
}
