//! Continuous distributions of one real number.
