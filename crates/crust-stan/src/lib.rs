//! The Stan language: from program text to a typed program, with everything there is to say about mistakes.
pub mod ast;
pub mod diagnostics;
pub mod lexer;
pub mod parser;
pub mod signatures;
pub mod source;
pub mod span;
pub mod suggest;
pub mod token;
pub mod types;
