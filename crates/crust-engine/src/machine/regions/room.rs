//! Room for lists: to run them, and to make them.

use super::MOST_ROOM;
use crate::ir;
use crate::machine::Machine;
use crate::memory::Block;

/// Room for a region, and what it was last run with.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub numbers: ir::Room,
    pub operands: Vec<Block>,
    pub outputs: Vec<(Block, u32)>,
}

impl Machine {
    /// How much room a trace is given first. Begun again it costs as much as before, room that nobody looks at nothing.
    pub(super) fn trace_room(&self) -> usize {
        self.arena.highest().next_power_of_two().clamp(1 << 16, MOST_ROOM)
    }

    /// The room of a region, with which [`Self::give_room`] is to be called afterwards.
    pub(super) fn take_room(&mut self, planned: usize, index: usize) -> Box<Room> {
        let rooms = &mut self.plans[planned].rooms;
        if rooms.len() <= index {
            rooms.resize_with(index + 1, Option::default);
        }
        rooms[index].take().unwrap_or_default()
    }

    pub(super) fn give_room(&mut self, planned: usize, index: usize, room: Box<Room>) {
        self.plans[planned].rooms[index] = Some(room);
    }
}
