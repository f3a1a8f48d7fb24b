//! Proofs of readings, and planted mistakes that they find.
