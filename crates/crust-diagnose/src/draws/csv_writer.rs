//! Writes a chain as `CmdStan` does, draw by draw.

use super::configuration::{Adaptation, Elapsed, InverseMetric, RunConfiguration};
use std::io::{self, Write};

/// A chain's file under construction. Each draw is written whole, so that an interrupted run loses at most the last
/// line.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    out: W,
    columns: [usize; 2],
    line: String,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the configuration and the header: the sampler's columns, then the quantities with their dotted names.
    pub fn new(mut out: W, run: &RunConfiguration, sampler_names: &[String], names: &[String]) -> io::Result<Self> {
        let header: Vec<&str> = sampler_names.iter().chain(names).map(String::as_str).collect();
        if let Some(name) = header.iter().find(|name| name.is_empty() || name.contains([',', '#', '\n', '\r'])) {
            let message = format!("a column cannot have the name {name:?}: it would break the file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        out.write_all(run.comments().as_bytes())?;
        writeln!(out, "{}", header.join(","))?;
        Ok(Self { out, columns: [sampler_names.len(), names.len()], line: String::new() })
    }

    /// Writes what warm-up found. Draws before this are warm-up draws, those after it are not.
    pub fn adaptation(&mut self, adaptation: &Adaptation) -> io::Result<()> {
        let joined = |row: &[f64]| row.iter().map(|&x| number(x)).collect::<Vec<_>>().join(", ");
        writeln!(self.out, "# Adaptation terminated\n# Step size = {}", number(adaptation.step_size))?;
        match &adaptation.inverse_metric {
            InverseMetric::Unit => writeln!(self.out, "# No free parameters for unit metric"),
            InverseMetric::Diagonal(diagonal) => {
                writeln!(self.out, "# Diagonal elements of inverse mass matrix:\n# {}", joined(diagonal))
            }
            InverseMetric::Dense(rows) => {
                writeln!(self.out, "# Elements of inverse mass matrix:")?;
                rows.iter().try_for_each(|row| writeln!(self.out, "# {}", joined(row)))
            }
        }
    }

    /// Writes a draw, which has a value for every column.
    pub fn draw(&mut self, sampler: &[f64], quantities: &[f64]) -> io::Result<()> {
        assert_eq!([sampler.len(), quantities.len()], self.columns, "columns of a draw");
        self.line.clear();
        for (i, &x) in sampler.iter().chain(quantities).enumerate() {
            if i > 0 {
                self.line.push(',');
            }
            self.line.push_str(&number(x));
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())
    }

    /// Hands on to the file what was written so far.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes the times and ends the file.
    pub fn finish(mut self, elapsed: Elapsed) -> io::Result<W> {
        let Elapsed { warmup, sampling } = elapsed;
        writeln!(self.out, "# \n#  Elapsed Time: {} seconds (Warm-up)", seconds(warmup))?;
        writeln!(self.out, "#                {} seconds (Sampling)", seconds(sampling))?;
        writeln!(self.out, "#                {} seconds (Total)\n# ", seconds(warmup + sampling))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The clock is not better than this.
fn seconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// The shortest digits that read back as the same number.
pub(super) fn number(x: f64) -> String {
    const PLAIN: std::ops::Range<f64> = 1e-5..1e16;
    if x.is_nan() {
        "nan".to_owned()
    } else if x == 0.0 || x.is_infinite() || PLAIN.contains(&x.abs()) {
        x.to_string()
    } else {
        format!("{x:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short_and_other_programs_read_them() {
        let cases = [
            (0.1, "0.1"),
            (-0.0, "-0"),
            (1e300, "1e300"),
            (-2.5e-10, "-2.5e-10"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
            (123_456_789.0, "123456789"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn names_that_would_break_the_file_are_refused() {
        for name in ["a,b", "a\nb", "# a", ""] {
            let result = CsvWriter::new(Vec::new(), &RunConfiguration::default(), &[], &[name.to_owned()]);
            assert_eq!(result.expect_err(name).kind(), io::ErrorKind::InvalidInput);
        }
    }

    proptest! {
        #[test]
        fn numbers_read_back_as_they_were(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let back: f64 = number(value).parse().expect("a number");
            prop_assert!(back.to_bits() == bits || (back.is_nan() && value.is_nan()));
        }
    }
}
