use crate::{case, key};
#[test]
fn debug() {
    for (t, d) in [
        ("data { int N; array[N] int y; } parameters { real<lower=0> l; } model { l ~ gamma(2, 2); y ~ poisson(l); }", r#"{"N": 3, "y": [1, 2, 3]}"#),
        ("data { int N; array[N] int y; } parameters { real<lower=0> l; } model { l ~ gamma(2, 2); y ~ poisson(l); }", r#"{"N": 3}"#),
        ("data { int N; array[N] int y; } parameters { real<lower=0> l; } model { l ~ gamma(2, 2); for (n in 1:N) y[n] ~ poisson(l); }", r#"{"N": 3, "y": [1, 2, 3]}"#),
        ("data { int N; array[N] real y; } parameters { real<lower=0> l; } model { l ~ gamma(2, 2); y ~ normal(l, 1); }", r#"{"N": 3, "y": [1, 2, 3]}"#),
        ("data { int N; array[N] vector[2] y; } parameters { real<lower=0> l; } model { l ~ gamma(2, 2); y ~ multi_normal(rep_vector(l, 2), identity_matrix(2)); }", r#"{"N": 2, "y": [[1, 2], [3, 4]]}"#),
    ] {
        let mut c = case(t, d);
        let p = c.simulator.draw_parameters(None, key(0)).expect("p");
        eprintln!("{t} {d}: {:?}", c.simulator.draw_data(&p, key(0)).map(|d| c.numbers(&d, "y")));
    }
    let text = std::fs::read_to_string("tests/programs/meta_analysis.stan").unwrap();
    let json = std::fs::read_to_string("tests/programs/meta_analysis.json").unwrap();
    eprintln!("{text}");
    let mut c = case(&text, &json);
    let p = c.simulator.draw_parameters(None, key(0)).expect("p");
    eprintln!("{:?}", c.simulator.draw_data(&p, key(0)).map(|_| ()));
}
