//! Walks over code.

use super::{Constraint, Declared, Index, Item, Kind, Message, Node, Over, Slot, Step, Stmt, StmtKind};

impl Index {
    /// The expressions in an index.
    pub fn nodes<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        match self {
            Self::All => {}
            Self::Single(a) | Self::Several(a) | Self::From(a) | Self::UpTo(a) => visit(a),
            Self::Between(a, b) => {
                visit(a);
                visit(b);
            }
        }
    }

    fn nodes_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        match self {
            Self::All => {}
            Self::Single(a) | Self::Several(a) | Self::From(a) | Self::UpTo(a) => visit(a),
            Self::Between(a, b) => {
                visit(a);
                visit(b);
            }
        }
    }
}

/// The same walk for expressions that are looked at and for those that are changed.
macro_rules! operands {
    ($kind:expr, $visit:ident, $iter:ident, $nodes:ident) => {
        match $kind {
            Kind::Literal(_) | Kind::Number(_) | Kind::Variable { .. } | Kind::Target => {}
            Kind::Hoisted(_, x)
            | Kind::Part { base: x, .. }
            | Kind::Negate(x)
            | Kind::Not(x)
            | Kind::Whole(x)
            | Kind::Transpose(x)
            | Kind::Unary(_, x)
            | Kind::Sum(x)
            | Kind::LogSumExp(x)
            | Kind::DotSelf(x)
            | Kind::Mean(x) => $visit(x),
            Kind::Index { base, indices } => {
                $visit(base);
                indices.$iter().for_each(|index| index.$nodes($visit));
            }
            Kind::Arithmetic(_, parts)
            | Kind::Compare(_, parts)
            | Kind::IntDivide(parts)
            | Kind::Modulo(parts)
            | Kind::And(parts)
            | Kind::Or(parts)
            | Kind::Product(parts)
            | Kind::Binary(_, parts) => parts.$iter().for_each($visit),
            Kind::Affine(parts) | Kind::Ternary(parts) | Kind::TernaryFunction(_, parts) => {
                parts.$iter().for_each($visit);
            }
            Kind::Array(list)
            | Kind::RowVector(list)
            | Kind::Matrix(list)
            | Kind::Tuple(list)
            | Kind::Structure(_, list)
            | Kind::Vector(_, list)
            | Kind::VectorTuple(_, list)
            | Kind::Random(_, list)
            | Kind::User { arguments: list, .. } => list.$iter().for_each($visit),
            Kind::Density(call) => call.arguments.$iter().for_each($visit),
            Kind::HigherOrder(call) => call.arguments.$iter().for_each($visit),
        }
    };
}

impl Node {
    /// Whether this is an expression that depends on data only, computed once. Integers may depend on parameters all the
    /// same, by comparisons; these are not.
    pub fn is_hoisted(&self) -> bool {
        matches!(self.kind, Kind::Hoisted(..))
    }

    /// Visits the expressions directly below one.
    pub fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        operands!(&self.kind, visit, iter, nodes);
    }

    /// Visits the expressions directly below one, to change them.
    pub fn children_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        operands!(&mut self.kind, visit, iter_mut, nodes_mut);
    }

    /// The expression with another one in the place of a variable.
    #[must_use]
    pub fn with(mut self, slot: Slot, other: &Node) -> Node {
        self.substitute(slot, other);
        self
    }

    fn substitute(&mut self, slot: Slot, other: &Node) {
        if matches!(&self.kind, Kind::Variable { slot: s, .. } if *s == slot) {
            *self = other.clone();
            return;
        }
        self.children_mut(&mut |child| child.substitute(slot, other));
    }

    /// How many expressions there are in one, itself included.
    pub fn size(&self) -> usize {
        let mut n = 1;
        self.children(&mut |child| n += child.size());
        n
    }

    /// How often an expression looks at a variable.
    pub fn uses(&self, slot: Slot) -> usize {
        let mut n = usize::from(matches!(&self.kind, Kind::Variable { slot: s, .. } if *s == slot));
        self.children(&mut |child| n += child.uses(slot));
        n
    }

    /// Whether an expression looks at a variable.
    pub fn reads(&self, slot: Slot) -> bool {
        let mut found = matches!(&self.kind, Kind::Variable { slot: s, .. } if *s == slot);
        self.children(&mut |child| found = found || child.reads(slot));
        found
    }
}

impl Stmt {
    /// Visits the statements directly below one.
    pub fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Stmt)) {
        match &self.kind {
            StmtKind::If { branches, otherwise } => {
                branches.iter().flat_map(|(_, body)| body).for_each(&mut *visit);
                otherwise.iter().for_each(visit);
            }
            StmtKind::For(for_loop) => for_loop.body.iter().for_each(visit),
            StmtKind::While { body, .. } | StmtKind::Block(body) | StmtKind::Terms { body, .. } => {
                body.iter().for_each(visit);
            }
            StmtKind::Inlinable { stmt, .. } => visit(stmt),
            _ => {}
        }
    }

    /// Visits the expressions that belong to a statement itself.
    pub fn nodes<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        match &self.kind {
            StmtKind::Declare { declared, initial, .. } => {
                declared.nodes(visit);
                initial.iter().for_each(visit);
            }
            StmtKind::Assign { path, value, .. } => {
                path_nodes(path, visit);
                visit(value);
            }
            StmtKind::AssignTuple { places, value } => {
                places.iter().for_each(|(_, path, _)| path_nodes(path, visit));
                visit(value);
            }
            StmtKind::Target { value, .. } | StmtKind::Jacobian(value) | StmtKind::Call(value) => visit(value),
            StmtKind::Truncate(truncation) => {
                visit(&truncation.variate);
                truncation.lower.iter().chain(&truncation.upper).for_each(&mut *visit);
                visit(&truncation.normaliser);
            }
            StmtKind::If { branches, .. } => branches.iter().for_each(|(condition, _)| visit(condition)),
            StmtKind::For(for_loop) => match &for_loop.over {
                Over::Range(low, high) => {
                    visit(low);
                    visit(high);
                }
                Over::Each(node) => visit(node),
            },
            StmtKind::While { condition, .. } => visit(condition),
            StmtKind::Return(value) => value.iter().for_each(visit),
            StmtKind::Message { parts, .. } => {
                for part in parts {
                    if let Message::Value(node) = part {
                        visit(node);
                    }
                }
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Block(_)
            | StmtKind::Terms { .. }
            | StmtKind::Inlinable { .. } => {}
        }
    }

    /// Puts an expression in the place of a variable. Says whether the statement is of a kind that occurs in simple
    /// loops.
    pub fn substitute(&mut self, slot: Slot, other: &Node) -> bool {
        match &mut self.kind {
            StmtKind::Declare { initial, .. } => initial.iter_mut().for_each(|node| node.substitute(slot, other)),
            StmtKind::Assign { path, value, .. } => {
                for step in path {
                    if let Step::Index(indices) = step {
                        indices.iter_mut().for_each(|index| index.nodes_mut(&mut |node| node.substitute(slot, other)));
                    }
                }
                value.substitute(slot, other);
            }
            StmtKind::Target { value, .. } => value.substitute(slot, other),
            StmtKind::For(inner) => {
                if let Over::Range(low, high) = &mut inner.over {
                    low.substitute(slot, other);
                    high.substitute(slot, other);
                }
                return inner.body.iter_mut().all(|stmt| stmt.substitute(slot, other));
            }
            StmtKind::Block(body) => return body.iter_mut().all(|stmt| stmt.substitute(slot, other)),
            _ => return false,
        }
        true
    }

    /// Whether a statement, or one inside of it, assigns to a variable.
    pub fn assigns(&self, slot: Slot) -> bool {
        let mut found = match &self.kind {
            StmtKind::Assign { slot: s, .. } => *s == slot,
            StmtKind::AssignTuple { places, .. } => places.iter().any(|(s, ..)| *s == slot),
            _ => false,
        };
        self.children(&mut |child| found = found || child.assigns(slot));
        found
    }

    /// Whether a statement, or one inside of it, looks at a variable.
    pub fn reads(&self, slot: Slot) -> bool {
        let mut found = false;
        self.nodes(&mut |node| found = found || node.reads(slot));
        self.children(&mut |child| found = found || child.reads(slot));
        found
    }
}

fn path_nodes<'a>(path: &'a [Step], visit: &mut dyn FnMut(&'a Node)) {
    for step in path {
        if let Step::Index(indices) = step {
            indices.iter().for_each(|index| index.nodes(visit));
        }
    }
}

impl Declared {
    /// Visits the expressions in a declaration: sizes and bounds.
    pub fn nodes<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        self.arrays.iter().for_each(&mut *visit);
        match &self.item {
            Item::Tuple(parts) => parts.iter().for_each(|part| part.nodes(visit)),
            Item::Cell { sizes, constraint, .. } => {
                sizes.iter().for_each(&mut *visit);
                match constraint {
                    Constraint::None | Constraint::Special(_) => {}
                    Constraint::Lower(a) | Constraint::Upper(a) => visit(a),
                    Constraint::LowerUpper(a, b) => {
                        visit(a);
                        visit(b);
                    }
                    Constraint::OffsetMultiplier(a, b) => a.iter().chain(b).for_each(visit),
                }
            }
        }
    }
}
