//! Numerical solvers that call a function of the user: differential equations, algebraic equations, integrals.
