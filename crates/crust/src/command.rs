//! One file for each command: arguments in, the library's function, files and words out.

pub mod approximate;
pub mod bdmc;
pub mod bench;
pub mod bread;
pub mod check;
pub mod compare;
pub mod density;
pub mod evidence;
pub mod reproduce;
pub mod run;
pub mod sample;
pub mod sbc;
pub mod simulate;
pub mod taddaa;
pub mod testbed;
