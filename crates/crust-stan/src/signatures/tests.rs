use super::*;

use Type::{Complex, Int, Matrix, Real, RowVector, Tuple, Unknown, Vector};

const GOLDEN: &str = include_str!("../../tests/golden/signature-counts.tsv");

fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The signatures of a function as stanc prints them: without `data` on the arguments of the function itself.
fn printed(name: &str) -> Vec<String> {
    let mut lines: Vec<_> = expand(name)
        .into_iter()
        .map(|mut signature| {
            signature.arguments.iter_mut().for_each(|argument| argument.data_only = false);
            format!("{name}{signature}\n")
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn the_tables_expand_to_the_signatures_of_stanc() {
    let golden: Vec<&str> = GOLDEN.lines().filter(|line| !line.starts_with('#')).collect();
    let ours: Vec<String> = function_names()
        .map(|name| {
            let lines = printed(name);
            format!("{name}\t{}\t{:016x}", lines.len(), fnv1a(&lines.concat()))
        })
        .collect();
    for line in &ours {
        assert!(golden.contains(&line.as_str()), "not in stanc: {line}");
    }
    assert_eq!(ours, golden);
    assert_eq!(function_names().map(|name| expand(name).len()).sum::<usize>(), 23_984);
}

fn returned(name: &str, arguments: &[Type]) -> Type {
    match resolve(name, arguments) {
        Resolution::Match(found) => found.returns.expect("no library function is void"),
        other => panic!("{name}: {other:?}"),
    }
}

fn promoted(name: &str, arguments: &[Type]) -> String {
    match resolve(name, arguments) {
        Resolution::Match(Match { arguments, returns }) => FunctionType { arguments, returns }.to_string(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_signature_resolves_to_itself() {
    for name in function_names() {
        for signature in expand(name) {
            let types: Vec<_> = signature.arguments.iter().map(|argument| argument.ty.clone()).collect();
            let expected = Match { arguments: signature.arguments, returns: signature.returns };
            assert_eq!(resolve(name, &types), Resolution::Match(expected), "{name}");
        }
    }
}

#[test]
fn exact_matches_come_before_promotions() {
    assert_eq!(promoted("add", &[Int, Int]), "(int, int) => int");
    assert_eq!(promoted("add", &[Int, Real]), "(real, real) => real");
    assert_eq!(promoted("add", &[Int, Complex]), "(complex, complex) => complex");
    assert_eq!(promoted("multiply", &[Matrix, Int]), "(matrix, real) => matrix");
    assert_eq!(promoted("multiply", &[Complex, Vector]), "(complex, complex_vector) => complex_vector");
    assert_eq!(promoted("pow", &[Int.in_array(1), Real]), "(array[] int, real) => array[] real");
    assert_eq!(promoted("pow", &[Int.in_array(1), Complex]), "(array[] complex, complex) => array[] complex");
    assert_eq!(promoted("sqrt", &[Int.in_array(7)]), "(array[,,,,,,] int) => array[,,,,,,] real");
    assert_eq!(promoted("normal_lpdf", &[Int.in_array(1), Int, Vector]), "(array[] real, real, vector) => real");
    assert_eq!(promoted("fft", &[Vector]), "(complex_vector) => complex_vector");
    assert_eq!(promoted("max", &[Int.in_array(1)]), "(array[] int) => int");
}

#[test]
fn draws_are_arrays_if_an_argument_is_a_container() {
    assert_eq!(returned("normal_rng", &[Real, Int]), Real);
    assert_eq!(returned("normal_rng", &[Real, RowVector]), Real.in_array(1));
    assert_eq!(returned("poisson_rng", &[Int.in_array(1)]), Int.in_array(1));
    assert_eq!(returned("std_normal_rng", &[]), Real);
    assert_eq!(returned("multi_normal_rng", &[RowVector.in_array(1), Matrix]), Vector.in_array(1));
    assert_eq!(returned("beta_proportion_rng", &[Vector, Int.in_array(1)]), Real.in_array(1));
}

#[test]
fn unnormalised_densities_are_like_normalised_ones() {
    assert_eq!(returned("normal_lupdf", &[Vector, Real, Real]), Real);
    assert_eq!(returned("poisson_lupmf", &[Int, Real]), Real);
    assert!(is_function("wishart_lupdf") && !is_function("poisson_lupdf") && !is_function("normal_lupmf"));
    assert!(is_variadic("laplace_marginal_tol_poisson_log_lupmf"));
}

#[test]
fn names_and_distributions() {
    assert!(is_function("append_array") && is_function("map_rect"));
    assert!(!is_function("reduce_sum") && is_variadic("reduce_sum") && !is_variadic("map_rect"));
    assert!(is_distribution("normal") && is_distribution("poisson_log_glm") && is_distribution("gaussian_dlm_obs"));
    assert!(!is_distribution("hmm_latent") && !is_distribution("normal_lpdf") && !is_distribution("sqrt"));
    assert_eq!(distributions().count(), 72);
    assert!(function_names().is_sorted() && distributions().is_sorted() && VARIADIC.is_sorted());
    assert!(VARIADIC.iter().all(|name| !is_function(name)));
}

#[test]
fn wrong_numbers_of_arguments_list_the_right_ones() {
    let arity =
        |expected: &[usize], found| Resolution::Mismatch(Mismatch::Arity { expected: expected.to_vec(), found });
    assert_eq!(resolve("fma", &[Real, Real]), arity(&[3], 2));
    assert_eq!(resolve("to_matrix", &[]), arity(&[1, 3, 4], 0));
    assert_eq!(resolve("to_complex", &[Real, Real, Real]), arity(&[0, 1, 2], 3));
    assert_eq!(resolve("pi", &[Unknown]), arity(&[0], 1));
}

fn misfit(name: &str, arguments: &[Type]) -> (usize, String) {
    match resolve(name, arguments) {
        Resolution::Mismatch(Mismatch::Argument { index, expected, found }) => {
            assert_eq!(found, arguments[index]);
            (index, expected.join(", "))
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn wrong_arguments_say_what_would_have_fitted() {
    let expect = |name, arguments: &[Type], index, text: &str| {
        assert_eq!(misfit(name, arguments), (index, text.to_owned()), "{name}");
    };
    expect("normal_lpdf", &[Real, Matrix, Real], 1, "real, vector, row_vector, array[] real");
    expect("poisson_lpmf", &[Real, Real], 0, "int, array[] int");
    expect("cholesky_decompose", &[Matrix.in_array(1)], 0, "matrix");
    expect("pow", &[Matrix, Vector], 1, "matrix, real");
    expect("fmax", &[Real.in_array(2), Vector], 1, "array[,] real, real");
    expect("multiply", &[Matrix, RowVector], 1, "real, matrix, vector");
    expect("gp_exp_quad_cov", &[Vector.in_array(1), Real.in_array(1), Real, Real], 1, "array[] vector");
    expect("inv_logit", &[Complex], 0, "real, vector, row_vector, matrix, arrays of these");
    expect("append_array", &[Int.in_array(1), Vector.in_array(1)], 1, "array[] int");
    expect(
        "size",
        &[Tuple(vec![Int]).in_array(1)],
        0,
        "real, complex, vector, row_vector, matrix, complex_vector, complex_row_vector, complex_matrix, \
         arrays of these",
    );
}

#[test]
fn depths_end_where_those_of_stanc_do() {
    assert_eq!(returned("exp", &[Real.in_array(7)]), Real.in_array(7));
    assert_eq!(misfit("exp", &[Real.in_array(8)]).0, 0);
    assert_eq!(returned("fmax", &[Real.in_array(8), Int]), Real.in_array(8));
    assert_eq!(misfit("fmax", &[Vector.in_array(8), Int]).0, 0);
    assert_eq!(returned("head", &[Matrix.in_array(3), Int]), Matrix.in_array(3));
    assert_eq!(misfit("head", &[Matrix.in_array(4), Int]).0, 0);
    assert_eq!(returned("ldexp", &[Matrix.in_array(1), Int.in_array(3)]), Matrix.in_array(1));
}

#[test]
fn unknown_types_fit_everywhere_and_give_what_is_certain() {
    assert_eq!(returned("normal_lpdf", &[Unknown, Unknown, Real]), Real);
    assert_eq!(returned("sqrt", &[Unknown]), Unknown);
    assert_eq!(returned("rows", &[Unknown]), Int);
    assert_eq!(returned("mdivide_left", &[Unknown, Vector]), Vector);
    assert_eq!(returned("num_elements", &[Unknown.in_array(2)]), Int);
    assert_eq!(misfit("normal_lpdf", &[Unknown, Matrix, Real]).0, 1);
    assert_eq!(resolve("no_such_function", &[Unknown]), Resolution::UnknownFunction);
}

fn function(arguments: Vec<ArgumentType>, returns: Type) -> Type {
    Type::Function(Box::new(FunctionType { arguments, returns: Some(returns) }))
}

#[test]
fn functors_fit_without_promotion_and_may_lack_data() {
    let (reals, ints) = (Real.in_array(1), Int.in_array(1));
    let call = |functor: Type| {
        resolve("algebra_solver", &[functor, Vector, Vector, Real.in_array(1), Int.in_array(1), Real, Int, Real])
    };
    let vector = || ArgumentType::plain(Vector);
    let with = |x_r: ArgumentType, x_i: ArgumentType| function(vec![vector(), vector(), x_r, x_i], Vector);
    let plain = with(ArgumentType::plain(reals.clone()), ArgumentType::plain(ints.clone()));
    let Resolution::Match(found) = call(plain) else { panic!("plain arguments can take data") };
    let data: Vec<_> = found.arguments.iter().map(|argument| argument.data_only).collect();
    assert_eq!(data, [false, false, false, true, true, true, true, true]);
    assert_eq!(found.arguments[6].ty, Real);

    let data = with(ArgumentType::data(reals.clone()), ArgumentType::data(ints));
    assert!(matches!(call(data), Resolution::Match(_)));
    let promoting = with(ArgumentType::plain(reals.clone()), ArgumentType::plain(reals));
    assert!(matches!(call(promoting), Resolution::Mismatch(Mismatch::Argument { index: 0, .. })));
    let too_strict = function(vec![ArgumentType::data(Vector), vector()], Vector);
    assert!(matches!(call(too_strict), Resolution::Mismatch(Mismatch::Argument { index: 0, .. })));
    assert!(matches!(call(Real), Resolution::Mismatch(Mismatch::Argument { index: 0, .. })));
    assert!(matches!(call(Unknown), Resolution::Match(_)));
}

fn own(arguments: &[Type], returns: Type) -> FunctionType {
    FunctionType { arguments: arguments.iter().cloned().map(ArgumentType::plain).collect(), returns: Some(returns) }
}

#[test]
fn ties_are_ambiguous() {
    let ambiguous = |name, definitions: &[FunctionType], arguments: &[Type]| {
        let Resolution::Ambiguous(candidates) = resolve_with(name, definitions, arguments) else { panic!("{name}") };
        candidates.into_iter().map(|candidate| candidate.text).collect::<Vec<_>>()
    };
    let definitions = [own(&[Int, Real], Real), own(&[Real, Int], Vector)];
    assert_eq!(ambiguous("f", &definitions, &[Int, Int]), ["(int, real) => real", "(real, int) => vector"]);
    let definitions = [own(&[Int, Complex], Int)];
    assert_eq!(ambiguous("add", &definitions, &[Int, Real]), ["(real, real) => real", "(int, complex) => int"]);
}

#[test]
fn the_library_alone_has_no_ties() {
    let types: Vec<Type> = expand("size")
        .into_iter()
        .map(|signature| signature.arguments[0].ty.clone())
        .filter(|ty| ty.array_parts().1 < 2)
        .collect();
    assert_eq!(types.len(), 18);
    let tied = |name: &str, arguments: &[Type]| matches!(resolve(name, arguments), Resolution::Ambiguous(_));
    for name in function_names() {
        for a in &types {
            assert!(!tied(name, std::slice::from_ref(a)), "{name}({a})");
            for b in &types {
                assert!(!tied(name, &[a.clone(), b.clone()]), "{name}({a}, {b})");
            }
        }
    }
}

#[test]
fn own_definitions_compete_with_the_library() {
    let definitions = [own(&[Tuple(vec![Int, Int]), Int], Int)];
    let call = |arguments: &[Type]| match resolve_with("fmax", &definitions, arguments) {
        Resolution::Match(found) => found.returns,
        other => panic!("{other:?}"),
    };
    assert_eq!(call(&[Tuple(vec![Int, Int]), Int]), Some(Int));
    assert_eq!(call(&[Int, Int]), Some(Real));
    let arity = Mismatch::Arity { expected: vec![2], found: 1 };
    assert_eq!(resolve_with("f", &definitions, &[Int]), Resolution::Mismatch(arity));
}

#[test]
fn candidates_are_short_and_readable() {
    let texts = |name| candidates(name).into_iter().map(|candidate| candidate.text).collect::<Vec<_>>();
    assert_eq!(texts("normal_lpdf"), ["(reals, reals, reals) => real"]);
    assert_eq!(texts("normal_rng"), ["(numbers, numbers) => real or array[] real"]);
    assert_eq!(texts("hypergeometric_rng"), ["(int, int, int) => int"]);
    assert_eq!(texts("col"), ["(matrix, int) => vector", "(complex_matrix, int) => complex_vector"]);
    assert_eq!(
        texts("log2"),
        [
            "() => real",
            "(int) => real; also element by element for arrays",
            "(T) => T where T is real, vector, row_vector or matrix; also element by element for arrays"
        ]
    );
    assert_eq!(
        texts("get_real"),
        ["(T) => S where (T, S) is (complex, real), (complex_vector, vector), (complex_row_vector, row_vector) or \
             (complex_matrix, matrix); also element by element for arrays"]
    );
    assert_eq!(meaning("reals").as_deref(), Some("real, vector, row_vector or array[] real"));
    assert!(meaning("real").is_none() && meaning("REAL").is_none());
    let longest = function_names().map(|name| candidates(name).len()).max();
    assert!(longest.is_some_and(|most| most <= 16), "{longest:?}");
}

/// stanc does not print these in its list, but insists on them.
#[test]
fn data_only_arguments() {
    let data = |name: &str, arguments: &[Type]| match resolve(name, arguments) {
        Resolution::Match(found) => found.arguments.iter().map(|argument| argument.data_only).collect::<Vec<_>>(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(data("to_int", &[Real]), [true]);
    assert_eq!(data("to_int", &[Int]), [false]);
    assert_eq!(data("linspaced_vector", &[Int, Int, Real]), [false, true, true]);
    assert_eq!(data("quantile", &[Vector, Real]), [true, true]);
    assert_eq!(data("hmm_hidden_state_prob", &[Matrix, Matrix, Vector]), [true, true, true]);
    assert_eq!(data("wiener_lpdf", &[Real, Real, Real, Real, Real, Real, Int])[5..], [false, true]);
}
