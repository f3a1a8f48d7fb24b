//! What must hold for any text as data: shared by the fuzz target and by the slice of it that runs in the tests.

use crate::data::{parameter_table, read_data, transformed};
use crust_stan::data::{Limits, Options, write_json};
use crust_stan::front_end::read;
use crust_stan::source::NoIncludes;

/// Small programs with every kind of data, for [`data`].
pub const DATA_PROGRAMS: [&str; 4] = [
    "data { int<lower=0> n; array[n] int<lower=0, upper=3> k; vector[n] x; matrix[n, 2] m; }
     parameters { vector[n] a; simplex[n + 1] s; }",
    "data { int n; int m; array[n, m] real y; array[n] vector<lower=0>[m] v; complex z; complex_matrix[n, m] w; }",
    "data { tuple(int, array[2] real) t; array[2] tuple(real, vector[2]) u; simplex[2] p; ordered[2] o; }",
    "functions { int twice(int n) { return n <= 0 ? 0 : 2 + twice(n - 1); } }
     data { int n; array[twice(n)] real y; corr_matrix[2] c; cholesky_factor_cov[3, 2] l; sum_to_zero_vector[3] q; }
     transformed data { array[n] int idx; for (i in 1:n) idx[i] = i * i % (n - 3); int total = sum(idx[2:]); }
     parameters { array[total] unit_vector[2] d; }",
];

/// Reads any text as data: the first byte picks a program. Nothing may panic; what is read can be written and read
/// again.
pub fn data(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let json = String::from_utf8_lossy(rest);
    let reading = read("data.stan", None, DATA_PROGRAMS[usize::from(*first) % DATA_PROGRAMS.len()], &NoIncludes);
    let limits = Limits { steps: 100_000, numbers: 1 << 16 };
    let options = Options { limits, ..Options::default() };
    let data = match read_data(&reading.typed, &reading.source, &json, &options) {
        Ok(data) => data,
        Err(errors) => {
            assert!(!errors.render(&reading.source, false).is_empty());
            return;
        }
    };
    let written = write_json(&reading.typed, &data);
    let again = read_data(&reading.typed, &reading.source, &written, &options).map(|d| write_json(&reading.typed, &d));
    assert!(again.as_ref().is_ok_and(|a| *a == written), "not read back: {written}");
    if let Ok(data) = transformed(&reading.typed, data, limits) {
        let _ = parameter_table(&reading.typed, &reading.source, &data, limits);
    }
}
