//! One walk over all distributions for each property.

mod edges;
mod reference;
mod walk;

use super::table::{Distribution, TABLE};
use crate::density::{DomainError, Terms};

/// What mpmath says about one point.
struct Reference {
    name: &'static str,
    n: &'static [i64],
    x: &'static [f64],
    value: f64,
    d: &'static [f64],
    tails: Option<[Tail; 2]>,
}

/// The log of a tail and its partials for the real arguments.
struct Tail {
    value: f64,
    d: &'static [f64],
}

fn find(name: &str) -> &'static Distribution {
    TABLE.iter().find(|d| d.name == name).expect("a name of the table")
}

/// The value and the partials for the real arguments.
type Point = (f64, Vec<f64>);

fn lpmf(distribution: &Distribution, n: &[i64], x: &[f64], terms: Terms) -> Result<Point, DomainError> {
    let mut d = vec![f64::NAN; x.len()];
    let value = (distribution.lpmf)(n, x, terms, &mut d)?;
    Ok((value, d))
}

fn cumulative(f: super::table::Cdf, n: &[i64], x: &[f64]) -> Point {
    let mut d = vec![f64::NAN; x.len()];
    let value = f(n, x, &mut d).expect("arguments in the domain");
    (value, d)
}

#[track_caller]
fn close(what: &str, value: f64, expected: f64, relative: f64, absolute: f64) {
    let ok = value.to_bits() == expected.to_bits()
        || (value - expected).abs() <= absolute + relative * expected.abs()
        || (value.is_infinite() && value.total_cmp(&expected).is_eq());
    assert!(ok, "{what}: {value} instead of {expected}, off by {:e}", (value - expected).abs());
}

/// Relative errors: values and logs of tails 1e-12 (or 1e-15 absolute, where they are near 0), partials 1e-11, those of
/// tails 1e-9.
#[test]
fn discrete_references() {
    for r in reference::REFERENCES {
        let what = format!("{} {:?} {:?}", r.name, r.n, r.x);
        let distribution = find(r.name);
        let (value, d) = lpmf(distribution, r.n, r.x, Terms::ALL).expect("in the domain");
        close(&what, value, r.value, 1e-12, 1e-15);
        // differences of ψ for huge α and N: an ulp of each
        let absolute = if r.name == "dirichlet_multinomial" { 1e-18 } else { 1e-300 };
        for (d, expected) in d.iter().zip(r.d) {
            close(&format!("{what} partial"), *d, *expected, 1e-11, absolute);
        }
        let (Some(tails), Some(c)) = (&r.tails, distribution.cumulative) else { continue };
        for (side, (f, tail)) in ["lcdf", "lccdf"].iter().zip([c.lcdf, c.lccdf].iter().zip(tails)) {
            let (value, d) = cumulative(*f, r.n, r.x);
            close(&format!("{what} {side}"), value, tail.value, 1e-12, 1e-15);
            for (d, expected) in d.iter().zip(tail.d) {
                close(&format!("{what} {side} partial"), *d, *expected, 1e-9, 1e-300);
            }
        }
        let (value, d) = cumulative(c.cdf, r.n, r.x);
        close(&format!("{what} cdf"), value, tails[0].value.exp(), 1e-11, 0.0);
        for (d, slope) in d.iter().zip(tails[0].d) {
            close(&format!("{what} cdf partial"), *d, slope * tails[0].value.exp(), 1e-9, 1e-300);
        }
    }
}

/// No distribution without its references.
#[test]
fn discrete_references_are_complete() {
    for d in TABLE {
        assert!(reference::REFERENCES.iter().filter(|r| r.name == d.name).count() >= 5, "{}", d.name);
    }
}
