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
        }
    }
}

/// Makes room for the operands of a strip.
pub(super) fn make_room(call: Call, strip: &Strip, room: &mut Room) {
    if call.lanes <= GROUP || strip.recurrent {
        return;
    }
    room.packed_at.clear();
    room.packed_at.resize(call.operands.len(), 0);
    let mut len = 0;
    for &operand in &strip.sources {
        room.packed_at[operand] = len;
        len += call.operands[operand].count() * GROUP;
    }
    if room.packed.len() < len {
        room.packed.resize(len);
        room.packed_adjoints.resize(len);
    }
}
