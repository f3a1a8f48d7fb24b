//! Distributions of integers.
