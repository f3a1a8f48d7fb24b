//! Every decomposition against `faer` at all small sizes and a few large ones, and the same digits on every instruction
//! set.

mod limits;
mod oracle;
