//! Log densities, gradients and constrained values against the numbers of real Stan.

mod common;

use std::sync::Arc;

use common::{agree, bind, evaluate, folder};
use crust_engine::{Include, Model, Terms};
use crust_math::random::{Purpose, StreamKey};

/// A row of a file with quoted fields.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("there is a field").push(c),
        }
    }
    fields
}

fn numbers(field: &str) -> Vec<f64> {
    field.split(';').map(|x| x.parse().expect("a number")).collect()
}

struct Row {
    model: String,
    data: String,
    point: Vec<f64>,
    /// Normalised with Jacobian; without constants with Jacobian; normalised without Jacobian.
    expected: [(f64, Vec<f64>); 3],
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(folder("reference").join("density.csv")).expect("the file is there");
    let row = |line: &str| {
        let f = fields(line);
        let pair = |i: usize| (f[i].parse().expect("a number"), numbers(&f[i + 1]));
        Row { model: f[0].clone(), data: f[1].clone(), point: numbers(&f[5]), expected: [pair(6), pair(8), pair(10)] }
    };
    text.lines().skip(1).map(row).collect()
}

const TERMS: [Terms; 3] = [
    Terms { propto: false, jacobian: true },
    Terms { propto: true, jacobian: true },
    Terms { propto: false, jacobian: false },
];

fn models() -> Vec<String> {
    let mut models: Vec<String> = rows().into_iter().map(|r| r.model).collect();
    models.dedup();
    models
}

/// A model with its data, and what is known of it.
fn known(model: &str) -> (Arc<Model>, Vec<Row>) {
    let rows: Vec<Row> = rows().into_iter().filter(|r| r.model == model).collect();
    let read = |path: &str| std::fs::read_to_string(folder("reference").join(path)).expect("the file is there");
    (bind(&read(&format!("models/{model}.stan")), &read(&format!("data/{}.json", rows[0].data))), rows)
}

/// Compares all points of a model, `lanes` of them at a time.
fn check(model: &str, lanes: usize) {
    let (bound, rows) = known(model);
    let mut evaluator = bound.evaluator();
    for (k, terms) in TERMS.into_iter().enumerate() {
        for chunk in rows.chunks(lanes) {
            let points: Vec<Vec<f64>> = chunk.iter().map(|r| r.point.clone()).collect();
            let found = evaluate(&mut evaluator, &points, None, terms);
            for (l, row) in chunk.iter().enumerate() {
                let (value, gradient) = &row.expected[k];
                let ours = found.log_density(l);
                assert!(agree(ours, *value, 1e-10), "{model} {terms:?}: {ours} is not {value}");
                for (d, (a, b)) in found.gradient[l].iter().zip(gradient).enumerate() {
                    assert!(agree(*a, *b, 1e-8), "{model} {terms:?} gradient {d}: {a} is not {b}");
                }
            }
        }
    }
}

#[test]
fn log_densities_and_gradients_are_those_of_stan() {
    for model in models() {
        for lanes in [25, 1, 3] {
            check(&model, lanes);
        }
    }
}

#[test]
fn constrained_values_are_those_of_stan() {
    let text = std::fs::read_to_string(folder("reference").join("constrained.csv")).expect("the file is there");
    let rows = rows();
    for line in text.lines().skip(1) {
        let f = fields(line);
        let (data, id): (&str, usize) = (&f[0], f[1].parse().expect("a number"));
        let row = rows.iter().filter(|r| r.data == data).nth(id).expect("the point is there");
        let read = |path: &str| std::fs::read_to_string(folder("reference").join(path)).expect("the file is there");
        let model = bind(&read(&format!("models/{}.stan", row.model)), &read(&format!("data/{data}.json")));
        let include = Include { transformed: false, generated: false };
        let key = StreamKey::new(1, Purpose::GENERATED);
        let found = model.evaluator().quantities(&row.point, key, include).expect("it runs");
        let names: Vec<String> = f[3].split(';').map(str::to_owned).collect();
        let ours: Vec<String> =
            model.output_names(include).iter().map(|n| n.replace(['[', ','], ".").replace(']', "")).collect();
        assert_eq!(ours, names);
        for (a, b) in found.numbers.iter().zip(numbers(&f[4])) {
            assert!(agree(*a, b, 1e-12), "{data} {id}: {a} is not {b}");
        }
    }
}

/// Groups of eight lanes have the same digits however many of them run together, in compiled loops and in the
/// machine's.
#[test]
fn groups_do_not_depend_on_how_many_run_together() {
    for model in models() {
        let (bound, rows) = known(&model);
        let scales = (0..24).map(|l| 1.0 - 0.01 * f64::from(l));
        let point = |(row, scale): (&Row, f64)| row.point.iter().map(|x| x * scale).collect();
        let points: Vec<Vec<f64>> = rows.iter().cycle().zip(scales).map(point).collect();
        for flat in [true, false] {
            let [apart, together] = [8, 64].map(|width| {
                let mut evaluator = bound.evaluator().with_width(width).with_flat_loops(flat);
                let found = evaluate(&mut evaluator, &points, None, TERMS[0]);
                let numbers = (0..24).flat_map(|l| found.gradient[l].iter().copied().chain([found.log_density(l)]));
                numbers.map(f64::to_bits).collect::<Vec<u64>>()
            });
            assert_eq!(apart, together, "{model}, compiled: {flat}");
        }
    }
}
