//! Memory of flat loops.

use super::super::steps::Tile;
use super::super::{GROUP, Strip};
use super::Call;
use crate::machine::{CHUNK, MOST};
use crate::memory::Aligned;

/// Memory for registers.
pub struct Room {
    pub(super) registers: Vec<Tile>,
    pub(super) adjoints: Vec<Tile>,
    pub(super) totals: [Tile; 2],
    pub(super) seeds: [Tile; 2],
    pub(super) value: Tile,
    pub(super) partials: [[f64; CHUNK]; MOST],
    /// Operands for some of the lanes, without the others: elements that are far apart would fight for the same places in the cache.
    pub(super) packed: Aligned,
    pub(super) packed_adjoints: Aligned,
    /// Where each operand begins there.
    pub(super) packed_at: Vec<usize>,
    /// Whether operands are used as such copies.
    pub(super) is_packed: bool,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            registers: Vec::new(),
            adjoints: Vec::new(),
            totals: [Tile::ZERO; 2],
            seeds: [Tile::ZERO; 2],
            value: Tile::ZERO,
            partials: [[0.0; CHUNK]; MOST],
            packed: Aligned::default(),
            packed_adjoints: Aligned::default(),
            packed_at: Vec::new(),
            is_packed: false,
        }
    }
}

/// Makes room for the operands of a strip. Operands may be the same block, whose adjoints are then added up at one place; where they are different parts of one
/// they are used where they are.
pub(super) fn make_room(call: Call, strip: &Strip, room: &mut Room) {
    room.is_packed = call.lanes > GROUP && !strip.recurrent;
    if !room.is_packed {
        return;
    }
    room.packed_at.clear();
    room.packed_at.resize(call.operands.len(), 0);
    let mut len = 0;
    for (k, &operand) in strip.sources.iter().enumerate() {
        let block = call.operands[operand];
        let other = |o: &&usize| {
            let o = call.operands[**o];
            o.start() < block.start() + block.count() * call.lanes && block.start() < o.start() + o.count() * call.lanes
        };
        if let Some(&other) = strip.sources[..k].iter().find(other) {
            let same = call.operands[other];
            room.is_packed &= (same.start(), same.count()) == (block.start(), block.count());
            room.packed_at[operand] = room.packed_at[other];
            continue;
        }
        room.packed_at[operand] = len;
        len += block.count() * GROUP;
    }
    if room.packed.len() < len {
        room.packed.resize(len);
        room.packed_adjoints.resize(len);
    }
}
