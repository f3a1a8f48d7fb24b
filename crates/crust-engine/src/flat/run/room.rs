//! Memory of flat loops.

use std::ops::Range;

use smallvec::SmallVec;

use super::super::steps::Tile;
use super::super::{Argument, GROUP, Step, Strip};
use super::Call;
use crate::density::Pattern;
use crate::machine::{CHUNK, MOST};
use crate::memory::Aligned;

/// How the numbers of a register repeat themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    /// That is not known.
    Unknown,
    /// They do not.
    Never,
    /// All iterations have the same number, for each lane.
    Lanes,
    /// All lanes have the same number, for each iteration.
    Iterations,
}

impl Repeats {
    /// How what is computed from two of them repeats itself.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            _ if self == other => self,
            _ => Self::Unknown,
        }
    }

    /// The same for so many lanes.
    #[inline(always)]
    pub fn pattern(self, lanes: usize) -> Option<Pattern> {
        match self {
            Self::Lanes => Some(Pattern::Period(lanes)),
            Self::Iterations if lanes > 1 => Some(Pattern::Runs { first: lanes, rest: lanes }),
            Self::Never => Some(Pattern::Free),
            Self::Iterations | Self::Unknown => None,
        }
    }
}

/// Memory for registers.
pub struct Room {
    pub(super) registers: Vec<Tile>,
    pub(super) adjoints: Vec<Tile>,
    pub(super) seeds: [Tile; 2],
    /// For each register, then each part of the log density, then each step: sums over the blocks so far.
    pub(super) sums: Vec<[f64; GROUP]>,
    /// Whether sums of products are added together with their log densities.
    pub(super) products: bool,
    /// Whether a lane alone may add to the adjoints of operands when it goes back over a step: no two steps add to the
    /// same, or an iteration may look at what it has assigned.
    pub(super) together: bool,
    pub(super) value: Tile,
    pub(super) partials: [[f64; CHUNK]; MOST],
    /// Operands for some of the lanes, without the others: elements that are far apart would fight for the same places
    /// in the cache.
    pub(super) packed: Aligned,
    pub(super) packed_adjoints: Aligned,
    /// Where each operand begins there.
    pub(super) packed_at: Vec<usize>,
    /// Whether operands are used as such copies.
    pub(super) is_packed: bool,
    /// How registers repeat themselves.
    pub(super) repeats: Vec<Repeats>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            registers: Vec::new(),
            adjoints: Vec::new(),
            seeds: [Tile::ZERO; 2],
            sums: Vec::new(),
            products: false,
            together: false,
            value: Tile::ZERO,
            partials: [[0.0; CHUNK]; MOST],
            packed: Aligned::default(),
            packed_adjoints: Aligned::default(),
            packed_at: Vec::new(),
            is_packed: false,
            repeats: Vec::new(),
        }
    }
}

/// Makes room for the operands of a strip. Some of them may be parts of the same block: those lie in one region, so
/// that adjoints are added up where they belong.
pub(super) fn make_room(call: Call, strip: &Strip, room: &mut Room) {
    room.repeats.clear();
    room.repeats.resize(strip.registers, Repeats::Never);
    for (register, _) in &strip.uniforms {
        room.repeats[usize::from(*register)] = Repeats::Lanes;
    }
    for step in &strip.steps {
        match step {
            Step::Column { out, .. } => room.repeats[usize::from(*out)] = Repeats::Iterations,
            // Groups come again, or lie together.
            Step::Gather { out, .. } => room.repeats[usize::from(*out)] = Repeats::Unknown,
            Step::Arithmetic { a, b, out, .. } => {
                let of = |x: &Argument| room.repeats[usize::from(x.register)];
                room.repeats[usize::from(*out)] = of(a).with(of(b));
            }
            Step::Unary { x, out, .. } => room.repeats[usize::from(*out)] = room.repeats[usize::from(x.register)],
            _ => {}
        }
    }
    room.is_packed = call.lanes > GROUP && !strip.recurrent;
    if !room.is_packed {
        return;
    }
    let span = |operand: usize| {
        let block = call.operands[operand];
        block.start()..block.start() + block.count() * call.lanes
    };
    let mut regions: SmallVec<[Range<usize>; 8]> = SmallVec::new();
    for &operand in &strip.sources {
        let mut own = span(operand);
        regions.retain(|region| {
            let apart = own.end <= region.start || region.end <= own.start;
            if !apart {
                own = own.start.min(region.start)..own.end.max(region.end);
            }
            apart
        });
        regions.push(own);
    }
    room.packed_at.clear();
    room.packed_at.resize(call.operands.len(), 0);
    let mut len = 0;
    for region in &regions {
        for &operand in strip.sources.iter().filter(|&&operand| region.contains(&span(operand).start)) {
            room.packed_at[operand] = len + (span(operand).start - region.start) / call.lanes * GROUP;
        }
        len += region.len() / call.lanes * GROUP;
    }
    if room.packed.len() < len {
        room.packed.resize(len);
        room.packed_adjoints.resize(len);
    }
}
