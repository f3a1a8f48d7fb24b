//! Places in the program text.

use std::ops::Range;

/// A half-open range of bytes in the *expanded* program text, that is the text after `#include` has been resolved;
/// [`crate::source::Source`] says which file and line that is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |n| u32::try_from(n).unwrap_or(u32::MAX);
        Self { start: narrow(start), end: narrow(end) }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span just behind this one: where something is missing.
    #[must_use]
    pub fn after(self) -> Self {
        Self { start: self.end, end: self.end }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Spans take no part in comparisons: two programs are the same tree wherever their words stand.
impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Span {}
