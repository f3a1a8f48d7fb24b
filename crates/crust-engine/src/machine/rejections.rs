//! Which lanes were rejected, and why.

use std::ops::Deref;

use crust_stan::span::Span;

/// Why a lane was rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub message: String,
    pub span: Span,
}

/// A place for the rejection of each lane. Nearly always all are empty, and then there is nothing to do for the next
/// evaluation.
#[derive(Clone, Debug, Default)]
pub struct Rejections {
    by_lane: Vec<Option<Rejection>>,
    any: bool,
}

impl Rejections {
    /// None, for one lane.
    pub fn one() -> Self {
        Self { by_lane: vec![None], any: false }
    }

    /// None, for so many lanes.
    pub fn reset(&mut self, lanes: usize) {
        if self.any || self.by_lane.len() != lanes {
            self.by_lane.clear();
            self.by_lane.resize(lanes, None);
            self.any = false;
        }
    }

    pub fn any(&self) -> bool {
        self.any
    }

    /// The first reason counts.
    pub fn add(&mut self, lane: usize, rejection: impl FnOnce() -> Rejection) {
        self.by_lane[lane].get_or_insert_with(rejection);
        self.any = true;
    }

    pub fn set(&mut self, lane: usize, rejection: Option<Rejection>) {
        self.any |= rejection.is_some();
        self.by_lane[lane] = rejection;
    }

    pub fn take(&mut self, lane: usize) -> Option<Rejection> {
        self.by_lane[lane].take()
    }
}

impl Deref for Rejections {
    type Target = [Option<Rejection>];

    fn deref(&self) -> &Self::Target {
        &self.by_lane
    }
}
