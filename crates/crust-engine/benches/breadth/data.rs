//! Data for the programs of the breadth benchmark, from a fixed random stream for each of them.

use crust_math::random::{Purpose, Stream, StreamKey};
use serde_json::{Value, json};

/// Draws what programs need.
struct Draws(Stream);

impl Draws {
    fn normal(&mut self) -> f64 {
        self.0.normal(0.0, 1.0).expect("the scale is positive")
    }

    fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }

    fn positive(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| 0.1 + self.0.exponential(1.0).expect("the rate is positive")).collect()
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Vec<Vec<f64>> {
        (0..rows).map(|_| self.normals(columns)).collect()
    }

    fn int(&mut self, low: i64, high: i64) -> i64 {
        self.0.uniform_integer(low, high).expect("the range is not empty")
    }

    fn ints(&mut self, n: usize, low: i64, high: i64) -> Vec<i64> {
        (0..n).map(|_| self.int(low, high)).collect()
    }

    fn table(&mut self, rows: usize, columns: usize, low: i64, high: i64) -> Vec<Vec<i64>> {
        (0..rows).map(|_| self.ints(columns, low, high)).collect()
    }

    /// A series with some memory.
    fn series(&mut self, n: usize) -> Vec<f64> {
        let mut x = 0.0;
        (0..n)
            .map(|_| {
                x = 0.6 * x + self.normal();
                x
            })
            .collect()
    }
}

/// Evenly spaced numbers.
#[allow(clippy::cast_precision_loss, reason = "few numbers")]
fn grid(n: usize, step: f64) -> Vec<f64> {
    (1..=n).map(|i| i as f64 * step).collect()
}

/// Every combination of `a` and `b`, counted from 1.
fn crossed(a: usize, b: usize) -> (Vec<usize>, Vec<usize>) {
    (0..a * b).map(|k| (k / b + 1, k % b + 1)).unzip()
}

/// The data of a program.
pub fn of(name: &str) -> Value {
    let mut d = Draws(StreamKey::new(18, Purpose(1)).stream());
    regressions(name, &mut d)
        .or_else(|| categories(name, &mut d))
        .or_else(|| series(name, &mut d))
        .or_else(|| fields(name, &mut d))
        .or_else(|| groups(name, &mut d))
        .or_else(|| published(name, &mut d))
        .unwrap_or_else(|| panic!("{name} has no data"))
}

fn regressions(name: &str, d: &mut Draws) -> Option<Value> {
    Some(match name {
        "regression" => json!({"N": 400, "K": 4, "x": d.matrix(400, 4), "y": d.normals(400)}),
        "logistic" => json!({"N": 3000, "K": 6, "x": d.matrix(3000, 6), "y": d.ints(3000, 0, 1)}),
        "long_regression" => json!({"N": 5000, "K": 24, "X": d.matrix(5000, 24), "Y": d.normals(5000)}),
        "growth_curves" => json!({"N": 27, "x": grid(27, 1.0), "y": d.positive(27)}),
        "bnn" => json!({"N": 100, "K": 4, "H": 10, "x": d.matrix(100, 4), "y": d.ints(100, 0, 1)}),
        "splines" => json!({"N": 200, "B": 20, "basis": d.matrix(200, 20), "y": d.normals(200)}),
        "horseshoe" => json!({"N": 200, "D": 50, "x": d.matrix(200, 50), "y": d.ints(200, 0, 1)}),
        "survival" => {
            json!({"N": 300, "K": 3, "G": 30, "t": d.positive(300), "cens": d.ints(300, 0, 1), "x": d.matrix(300, 3),
                             "g": d.ints(300, 1, 30)})
        }
        "negative_binomial" => {
            json!({"N": 400, "J": 10, "y": d.ints(400, 0, 9), "b": d.ints(400, 1, 10), "traps": d.normals(400),
                                      "age": d.normals(400)})
        }
        "mixture" => json!({"N": 1000, "y": d.normals(1000)}),
        "mixture_vectors" => json!({"K": 3, "N": 500, "y": d.normals(500)}),
        _ => return None,
    })
}

fn categories(name: &str, d: &mut Draws) -> Option<Value> {
    let responses = |d: &mut Draws, i: usize, j: usize, high: i64| {
        let (jj, ii) = crossed(j, i);
        json!({"I": i, "J": j, "N": i * j, "ii": ii, "jj": jj, "y": d.ints(i * j, 0, high)})
    };
    Some(match name {
        "irt_2pl" => responses(d, 20, 100, 1),
        "hier_irt" => responses(d, 20, 150, 1),
        "partial_credit" => {
            let mut data = responses(d, 10, 100, 3);
            data["m"] = json!(3);
            data["pos"] = json!((0..10).map(|i| 3 * i + 1).collect::<Vec<_>>());
            data
        }
        "rating_scale" => json!({"I": 12, "J": 80, "K": 4, "y": d.table(80, 12, 1, 4)}),
        "lda" => json!({"K": 3, "V": 25, "M": 30, "N": 2500, "w": d.ints(2500, 1, 25), "doc": d.ints(2500, 1, 30)}),
        "ordered_logit" => json!({"N": 400, "K": 5, "D": 3, "y": d.ints(400, 1, 5), "x": d.matrix(400, 3)}),
        "dirichlet_multinomial" => json!({"G": 20, "K": 5, "n": d.table(20, 5, 0, 12)}),
        "multinomial_logit" => {
            let x: Vec<Vec<_>> = (0..40).map(|_| (0..8).map(|_| d.matrix(3, 4)).collect()).collect();
            json!({"R": 40, "T": 8, "C": 3, "K": 4, "y": d.table(40, 8, 1, 3), "X": x})
        }
        _ => return None,
    })
}

fn series(name: &str, d: &mut Draws) -> Option<Value> {
    Some(match name {
        "arma" => json!({"T": 200, "y": d.series(200)}),
        "garch" => json!({"T": 200, "y": d.series(200), "sigma1": 0.5}),
        "state_space" => json!({"T": 150, "y": d.series(150)}),
        "stochastic_volatility" => json!({"T": 200, "y": d.normals(200)}),
        "hmm_arrays" => json!({"K": 3, "T": 150, "y": d.series(150)}),
        "iohmm" => json!({"T": 200, "K": 4, "M": 4, "x": d.series(200), "u": d.matrix(200, 4)}),
        "changepoint" => json!({"T": 110, "D": d.ints(110, 0, 6)}),
        "epidemic" => {
            let (m, n) = (4, 80);
            let weights = |scale: f64| -> Vec<f64> {
                grid(n, 1.0).iter().map(|t| (t / scale) * (-t / scale).exp() / scale).collect()
            };
            let switch =
                |at: usize| -> Vec<Vec<f64>> { (0..n).map(|t| vec![if t < at { 0.0 } else { 1.0 }; m]).collect() };
            let f: Vec<Vec<f64>> = weights(9.0).into_iter().map(|w| vec![0.01 * w; m]).collect();
            json!({"M": m, "P": 2, "N0": 6, "N": n, "EpidemicStart": 20, "deaths": d.table(n, m, 0, 20), "f": f, "x1": switch(40),
                   "x2": switch(55), "SI": weights(3.0)})
        }
        "nested_functions" => {
            let reward: Vec<Vec<f64>> =
                (0..20).map(|_| (0..60).map(|_| if d.0.uniform() < 0.6 { 1.0 } else { 0.0 }).collect()).collect();
            json!({"S": 20, "T": 60, "choice": d.table(20, 60, 1, 2), "reward": reward})
        }
        "ode_one_compartment" => json!({"N": 20, "t": grid(20, 0.5), "c": d.positive(20), "c0": [0.5]}),
        "ode_kinetics" => json!({"T": 12, "ts": grid(12, 4.0), "y": d.matrix(12, 3)}),
        "ode_soil" => json!({"N": 25, "ts": grid(25, 1.0), "eCO2": grid(25, 0.2), "totalC": 7.7}),
        _ => return None,
    })
}

fn fields(name: &str, d: &mut Draws) -> Option<Value> {
    Some(match name {
        "gp_small" => json!({"N": 11, "x": grid(11, 1.0), "k": d.ints(11, 0, 60)}),
        "gp_regression" => json!({"N": 40, "x": grid(40, 0.5), "y": d.normals(40)}),
        "bym2" => {
            let side = 15;
            let node = |i: usize, j: usize| i * side + j + 1;
            let (mut node1, mut node2) = (Vec::new(), Vec::new());
            for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
                for (a, b) in [(i + 1, j), (i, j + 1)] {
                    if a < side && b < side {
                        node1.push(node(i, j));
                        node2.push(node(a, b));
                    }
                }
            }
            let n = side * side;
            json!({"N": n, "E": node1.len(), "node1": node1, "node2": node2, "y": d.ints(n, 0, 9), "log_E": d.normals(n), "K": 3,
                   "x": d.matrix(n, 3), "scaling": 0.6})
        }
        _ => return None,
    })
}

fn groups(name: &str, d: &mut Draws) -> Option<Value> {
    Some(match name {
        "eight_schools" => {
            json!({"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]})
        }
        "occupancy" => {
            let y: Vec<Vec<i64>> = (0..150).map(|s| if s % 2 == 0 { vec![0; 5] } else { d.ints(5, 0, 1) }).collect();
            let q: Vec<i64> = y.iter().map(|row| row.iter().sum()).collect();
            json!({"S": 150, "V": 5, "y": y, "q": q, "x": d.normals(150)})
        }
        "ragged" => {
            let s = d.ints(30, 3, 15);
            let n = usize::try_from(s.iter().sum::<i64>()).expect("sizes are positive");
            json!({"G": 30, "N": n, "s": s, "y": d.normals(n), "x": d.normals(n)})
        }
        "capture_recapture" => {
            let (animals, times) = (120, 7);
            let seen = d.table(animals, times, 0, 1);
            let at = |row: &Vec<i64>, back: bool| {
                let found = if back { row.iter().rposition(|&x| x == 1) } else { row.iter().position(|&x| x == 1) };
                found.map_or(0, |t| t + 1)
            };
            let first: Vec<_> = seen.iter().map(|row| at(row, false)).collect();
            let last: Vec<_> = seen.iter().map(|row| at(row, true)).collect();
            json!({"I": animals, "T": times, "X": seen, "first": first, "last": last, "z": d.normals(animals)})
        }
        "correlated_effects" => {
            json!({"N": 300, "J": 30, "L": 2, "jj": d.ints(300, 1, 30), "x": d.matrix(300, 2), "y": d.normals(300)})
        }
        "factor_model" => json!({"N": 30, "D": 6, "K": 2, "y": d.matrix(30, 6)}),
        _ => return None,
    })
}

/// Programs in the style of published ones.
fn published(name: &str, d: &mut Draws) -> Option<Value> {
    let bits = |d: &mut Draws, n| d.ints(n, 0, 1).into_iter().map(|x| if x == 1 { 1.0 } else { 0.0 }).collect();
    Some(match name {
        "radon" => {
            let x: Vec<f64> = bits(d, 919);
            json!({"N": 919, "J": 85, "county": d.ints(919, 1, 85), "u": d.normals(919), "x": x, "y": d.normals(919)})
        }
        "linear_model" => json!({"N": 5000, "K": 24, "X": d.matrix(5000, 24), "Y": d.normals(5000)}),
        "rasch" => json!({"N": 1000, "T": 5, "r": d.table(5, 1000, 0, 1)}),
        "random_slopes" => {
            let (g, _) = crossed(18, 10);
            json!({"N": 180, "Y": d.normals(180), "K": 1, "X": d.matrix(180, 1), "J": 18, "g": g, "Z": d.normals(180)})
        }
        "autoregression" => json!({"K": 5, "T": 200, "y": d.series(200)}),
        "election" => {
            let (black, female): (Vec<f64>, Vec<f64>) = (bits(d, 2000), bits(d, 2000));
            let [a, b, c] = [4, 16, 4].map(|n| d.ints(2000, 1, n));
            json!({"N": 2000, "A": 4, "B": 16, "C": 4, "D": 51, "a_of": a, "b_of": b, "c_of": c,
                   "d_of": d.ints(2000, 1, 51), "black": black, "female": female, "y": d.ints(2000, 0, 1)})
        }
        _ => return None,
    })
}
