//! Functions of the program that are one expression, in the place of their calls: what they compute is then open to
//! everything that is done with expressions.

use crate::code::{Function, Kind, Node, Slot, StmtKind, Varies};

/// Longer expressions stay functions.
const MOST_NODES: usize = 200;

/// The expression that a call stands for. Arguments that are more than variables must be used once, whatever else
/// happens: they are neither computed twice, nor left out with what may be wrong in them.
pub fn unfolded(function: &Function, arguments: &[Node], propto: bool) -> Option<Node> {
    let [only] = &function.body[..] else { return None };
    let StmtKind::Return(Some(value)) = &only.kind else { return None };
    let fits = |(k, argument): (u32, &Node)| {
        let slot = Slot::Local(k);
        match argument.kind {
            Kind::Variable { .. } | Kind::Literal(_) | Kind::Number(_) => true,
            // Computed once.
            Kind::Hoisted(..) => is_needed(value, slot),
            _ => value.uses(slot) == 1 && is_needed(value, slot),
        }
    };
    if value.size() > MOST_NODES || !is_plain(value) || !(0..).zip(arguments).all(fits) {
        return None;
    }
    let mut value = value.clone();
    fill(&mut value, arguments, propto);
    Some(value)
}

/// Whether an expression looks at a variable whichever way its conditions go.
fn is_needed(node: &Node, slot: Slot) -> bool {
    match &node.kind {
        Kind::Variable { slot: s, .. } => *s == slot,
        Kind::Ternary(parts) => is_needed(&parts[0], slot),
        Kind::And(parts) | Kind::Or(parts) => is_needed(&parts[0], slot),
        _ => {
            let mut found = false;
            node.children(&mut |child| found = found || is_needed(child, slot));
            found
        }
    }
}

/// Whether an expression has a value and does nothing else.
fn is_plain(node: &Node) -> bool {
    let mut plain = !matches!(node.kind, Kind::Random(..) | Kind::Target | Kind::HigherOrder(_) | Kind::User { .. });
    node.children(&mut |child| plain = plain && is_plain(child));
    plain
}

/// Puts arguments in their places. What varied with them varies as they do; constants are dropped where the caller
/// lets that happen.
fn fill(node: &mut Node, arguments: &[Node], propto: bool) {
    if let Kind::Variable { slot: Slot::Local(k), .. } = node.kind
        && let Some(argument) = arguments.get(k as usize)
    {
        *node = argument.clone();
        return;
    }
    if let Varies::WithArguments(mask) = node.varies {
        let varies = (0..64).zip(arguments).any(|(k, a)| mask >> k & 1 == 1 && a.varies != Varies::No);
        node.varies = if varies { Varies::Yes } else { Varies::No };
    }
    if let Kind::Density(call) = &mut node.kind {
        call.propto &= propto;
    }
    node.children_mut(&mut |child| fill(child, arguments, propto));
}
