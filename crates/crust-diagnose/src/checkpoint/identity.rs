//! What results depend on: the inputs, the build of crust, and the processor.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the results of a run depend on, as three hashes or names that are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// A hash of the program, the data and the options.
    inputs: String,
    /// A hash of the sources that crust was built from.
    build: String,
    /// The processor's features that change digits.
    processor: String,
}

/// A part of an identity that is not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    Inputs,
    Build,
    Processor,
}

/// What is not the same, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differences(pub Vec<Difference>);

impl Identity {
    /// Of a run of this build on this processor. `inputs` is everything else that the results depend on.
    pub fn of(inputs: &[&str]) -> Self {
        let processor = crust_math::lanes::digits_of_processor();
        Self { inputs: hash(inputs), build: env!("CRUST_BUILD").to_owned(), processor }
    }

    /// A header that this build cannot read is of another build.
    pub(super) fn differences(&self, other: Option<&Self>) -> Differences {
        let Some(other) = other else { return Differences(vec![Difference::Build]) };
        let parts = [
            (Difference::Inputs, &self.inputs, &other.inputs),
            (Difference::Build, &self.build, &other.build),
            (Difference::Processor, &self.processor, &other.processor),
        ];
        Differences(parts.into_iter().filter(|(_, a, b)| a != b).map(|(difference, ..)| difference).collect())
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |difference: &Difference| match difference {
            Difference::Inputs => "another program, data or options",
            Difference::Build => "made by another build of crust",
            Difference::Processor => "made on a processor with other vector instructions",
        };
        f.write_str(&self.0.iter().map(words).collect::<Vec<_>>().join("; "))
    }
}

/// FNV-1a with 128 bits over the texts and their lengths: two runs that a person has do not meet by chance.
fn hash(inputs: &[&str]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut state = OFFSET;
    let mut take = |bytes: &[u8]| bytes.iter().for_each(|&b| state = (state ^ u128::from(b)).wrapping_mul(PRIME));
    for input in inputs {
        take(&(input.len() as u64).to_le_bytes());
        take(input.as_bytes());
    }
    format!("{state:032x}")
}
