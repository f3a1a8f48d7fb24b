//! Densities of vectors and matrices against Stan's own numbers: values, values up to a constant, gradients.

use crust_math::density::Terms;
use crust_math::distributions::multivariate::ALL;
use crust_math::functions::{Argument, Cell, Shape, VectorDensity};

/// How a gradient is compared.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Full,
    Symmetric,
    Lower,
}

struct Given {
    kind: Kind,
    varies: bool,
    shape: Shape,
    numbers: Vec<f64>,
}

struct Case {
    name: String,
    arguments: Vec<Given>,
    value: f64,
    propto: f64,
    gradient: Vec<f64>,
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|x| x.parse().expect("a number")).collect()
}

fn shape(text: &str) -> Shape {
    let size = |x: &str| x.parse::<usize>().expect("a size");
    let (mut arrays, mut cell, mut sizes) = (vec![], Cell::Scalar, vec![]);
    for part in text.split(',') {
        match part {
            "s" => cell = Cell::Scalar,
            "v" => cell = Cell::Vector,
            "r" => cell = Cell::RowVector,
            "m" => cell = Cell::Matrix,
            array if array.starts_with('a') => arrays.push(size(&array[1..])),
            other => sizes.push(size(other)),
        }
    }
    Shape::new(&arrays, cell, &sizes)
}

fn given(field: &str) -> Given {
    let mut words = field.splitn(4, ' ');
    let mut word = || words.next().expect("a word");
    let kind = match word() {
        "sym" => Kind::Symmetric,
        "low" => Kind::Lower,
        _ => Kind::Full,
    };
    let varies = word() == "vary";
    let shape = shape(word());
    Given { kind, varies, shape, numbers: numbers(word()) }
}

fn cases() -> Vec<Case> {
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let end = fields.len() - 3;
        let name = fields[0].strip_prefix("case ").expect("a case").to_owned();
        let arguments = fields[1..end].iter().map(|field| given(field)).collect();
        let [value, propto] = [end, end + 1].map(|i| fields[i].parse().expect("a number"));
        Case { name, arguments, value, propto, gradient: numbers(fields[end + 2]) }
    };
    include_str!("golden/multivariate.txt").lines().map(parse).collect()
}

fn density(name: &str) -> &'static dyn VectorDensity {
    *ALL.iter().find(|density| density.name() == name).unwrap_or_else(|| panic!("no {name}"))
}

fn evaluate(case: &Case, terms: Terms) -> (f64, Vec<Vec<f64>>) {
    let density = density(&case.name);
    let arguments: Vec<Argument> =
        case.arguments.iter().map(|a| Argument { numbers: &a.numbers, shape: a.shape }).collect();
    density.check(&arguments).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let shapes: Vec<Shape> = arguments.iter().map(|a| a.shape).collect();
    let mut scratch = vec![f64::NAN; density.scratch(&shapes)];
    let length = |a: &Given| if a.varies { a.numbers.len() } else { 0 };
    // derivatives are added to what is there
    let mut adjoints: Vec<Vec<f64>> = case.arguments.iter().map(|a| vec![1.0; length(a)]).collect();
    let mut slices: Vec<&mut [f64]> = adjoints.iter_mut().map(Vec::as_mut_slice).collect();
    let value = density.log_density(&arguments, terms, 2.0, &mut slices, &mut scratch);
    adjoints.iter_mut().flatten().for_each(|a| *a = (*a - 1.0) / 2.0);
    (value.unwrap_or_else(|error| panic!("{}: {error}", case.name)), adjoints)
}

/// Stan's `wiener` and the derivatives of its `ordered_probit` are good to six digits.
fn tolerance(name: &str, what: &str) -> f64 {
    match (name, what) {
        ("wiener_lpdf", _) => 1e-4,
        ("ordered_probit_lpmf", "derivative") => 3e-6,
        _ => 1e-12,
    }
}

fn close(name: &str, what: &str, ours: f64, stan: f64, scale: f64) {
    let error = (ours - stan).abs() / scale.max(1.0);
    assert!(error < tolerance(name, what), "{name}: {what} {ours}, but Stan has {stan}");
}

#[test]
fn values_are_those_of_stan() {
    for case in cases() {
        let mask = case.arguments.iter().enumerate().map(|(i, a)| u32::from(a.varies) << i).sum();
        close(&case.name, "log density", evaluate(&case, Terms::ALL).0, case.value, case.value.abs());
        close(&case.name, "propto", evaluate(&case, Terms::varying(mask)).0, case.propto, case.propto.abs());
    }
}

#[test]
fn gradients_are_those_of_stan() {
    for case in cases() {
        let (_, adjoints) = evaluate(&case, Terms::ALL);
        let mut rest = case.gradient.as_slice();
        for (argument, ours) in case.arguments.iter().zip(&adjoints).filter(|(a, _)| a.varies) {
            let (stan, later) = rest.split_at(ours.len());
            rest = later;
            let scale = stan.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
            let n = argument.shape.rows();
            for k in 0..ours.len() {
                let across = (k % n) * n + k / n;
                match argument.kind {
                    Kind::Symmetric => {
                        let pair = |x: &[f64]| x[k] + x[across];
                        close(&case.name, "derivative", pair(ours), pair(stan), scale);
                    }
                    Kind::Lower if k % n < k / n => assert!(ours[k] == 0.0, "{}: above the diagonal", case.name),
                    _ => close(&case.name, "derivative", ours[k], stan[k], scale),
                }
            }
        }
        assert!(rest.is_empty());
    }
}

/// Every density but the one that Stan's language lacks has a case.
#[test]
fn all_densities_are_covered() {
    let cases = cases();
    for density in ALL.iter().filter(|d| d.name() != "matrix_normal_prec_lpdf") {
        assert!(cases.iter().any(|case| case.name == density.name()), "{}", density.name());
    }
}
