//! Numbers that begin on a cache line: a vector register is as long as a line, and a load that straddles two of them
//! costs twice.

use std::ops::{Deref, DerefMut};

/// Numbers in a cache line.
pub const LINE: usize = 8;

#[derive(Debug, Default)]
pub struct Aligned {
    storage: Vec<f64>,
    /// Where the first line begins.
    start: usize,
    len: usize,
}

impl Aligned {
    /// Makes it longer or shorter; what is new is 0.
    pub fn resize(&mut self, len: usize) {
        if self.start + len > self.storage.len() {
            let mut storage = vec![0.0; len + LINE];
            let start = storage.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
            storage[start..start + self.len].copy_from_slice(self);
            *self = Self { storage, start, len };
            return;
        }
        if len > self.len {
            self.storage[self.start + self.len..self.start + len].fill(0.0);
        }
        self.len = len;
    }

    /// Makes it as long, of which only the first numbers are kept: the system hands out zeros that nobody has to write.
    /// Where numbers have to move there is room for twice as many.
    pub fn renew(&mut self, keep: usize, len: usize) {
        if self.start + len <= self.storage.len() {
            self.resize(len);
            return;
        }
        let room = len.max(2 * keep);
        let mut storage = vec![0.0; room + LINE];
        let start = storage.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        storage[start..start + keep].copy_from_slice(&self[..keep]);
        *self = Self { storage, start, len };
    }
}

impl Deref for Aligned {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_on_lines_and_keeps_its_numbers() {
        let mut numbers = Aligned::default();
        for n in [3, 100, 7, 5000] {
            numbers.resize(n);
            numbers[0] = 1.5;
            assert_eq!(numbers.as_ptr() as usize % 64, 0);
        }
        numbers.resize(3);
        numbers[2] = 4.0;
        numbers.renew(2, 5);
        assert_eq!(numbers[..2], [1.5, 0.0]);
        assert_eq!(numbers.len(), 5);
        numbers.renew(2, 20_000);
        assert_eq!(numbers.as_ptr() as usize % 64, 0);
        assert_eq!(numbers[..3], [1.5, 0.0, 0.0]);
        assert_eq!(numbers.len(), 20_000);
        numbers.resize(1);
        numbers.resize(5);
        assert_eq!(*numbers, [1.5, 0.0, 0.0, 0.0, 0.0]);
    }
}
