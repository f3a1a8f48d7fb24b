//! Derivatives by finite differences, values against tables, and the edges where Stan's answers are a convention.

mod several;
mod stan;
mod unary;
