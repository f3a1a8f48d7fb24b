//! What the printed text looks like.

use super::{check, read_right};
use crate::format::format_functions;
use crate::parser::parse_functions;
use crate::source::Source;

/// Prints statements of a model, and compares with what they should be, given without the block around them.
fn assert_statements(text: &str, expected: &str) {
    assert_program(&format!("model {{\n{text}\n}}"), &format!("model {{\n{expected}}}\n"));
}

fn assert_program(text: &str, expected: &str) {
    let (source, parsed) = read_right(text);
    let out = check(&parsed.program, &parsed.comments, &source, text);
    assert_eq!(out, expected, "\n{out}");
}

#[test]
fn every_statement_on_its_line() {
    assert_statements(
        "x=1;y[1]+=2;foo(a,b);target+=normal_lpdf(y|0,1);jacobian+=x;y~normal(0,1)T[0,];y~normal(0,1)T[,1];\
         y~normal(0,1)T[0,1];for(i in 1:N)x[i]=i;for(v in vs){}while(a<b)break;{continue;;}profile(\"p\"){return;}\
         print(\"a, b\",x);reject(\"no\");return x;(a,b[1])=f();a.1.2=g(y|);",
        "  x = 1;\n  y[1] += 2;\n  foo(a, b);\n  target += normal_lpdf(y | 0, 1);\n  jacobian += x;\n  \
         y ~ normal(0, 1) T[0, ];\n  y ~ normal(0, 1) T[, 1];\n  y ~ normal(0, 1) T[0, 1];\n  \
         for (i in 1:N)\n    x[i] = i;\n  for (v in vs) {\n  }\n  while (a < b)\n    break;\n  {\n    continue;\n    ;\n  }\n  \
         profile(\"p\") {\n    return;\n  }\n  print(\"a, b\", x);\n  reject(\"no\");\n  return x;\n  (a, b[1]) = f();\n  \
         a.1.2 = g(y | );\n",
    );
}

#[test]
fn declarations() {
    assert_program(
        "data{int<lower=0,upper=(a>b)>N;array[N,2]vector<offset=1,multiplier=2>[K]x;tuple(int,array[3]real<lower=-1>)t;\
         cholesky_factor_cov[2,3]L;simplex[K]a,b;}transformed data{real x=1,y;complex_matrix[1,2]m={[1i,2]}[1];}",
        "data {\n  int<lower=0, upper=(a > b)> N;\n  array[N, 2] vector<offset=1, multiplier=2>[K] x;\n  \
         tuple(int, array[3] real<lower=-1>) t;\n  cholesky_factor_cov[2, 3] L;\n  simplex[K] a, b;\n}\n\
         transformed data {\n  real x = 1, y;\n  complex_matrix[1, 2] m = {[1i, 2]}[1];\n}\n",
    );
}

#[test]
fn functions_are_set_apart() {
    assert_program(
        "functions{real f(real x);\nvoid g(data array[,] int y);real f(real x){return x;}\n// about g\n\
         void g(data array[,]int y){}}",
        "functions {\n  real f(real x);\n  void g(data array[,] int y);\n\n  real f(real x) {\n    return x;\n  }\n\n  \
         // about g\n  void g(data array[,] int y) {\n  }\n}\n",
    );
}

#[test]
fn files_of_functions_have_no_block() {
    let print = |text: &str| {
        let (source, _) = Source::from_text("test.stanfunctions", text);
        let parsed = parse_functions(&source);
        assert!(parsed.problems.is_empty());
        format_functions(&parsed.program, &parsed.comments, &source)
    };
    let out = print("// head\n\nreal f(real x){return x;}void g(){} // g\n// end");
    assert_eq!(out, "// head\n\nreal f(real x) {\n  return x;\n}\n\nvoid g() {\n} // g\n// end\n");
    assert_eq!(print(&out), out);
}

#[test]
fn expressions() {
    assert_statements(
        "x=-a^b+(-a)^b-a^-b*!c;x=a?b:c?d:e;x=(a?b:c)?d:e;x=y[:,1:2,3:,:4,];x=y[n+1:N,n+1:];x=(a*b)'*c';x=a<-1;x=--a;\
         x={1,2.,.5,1e3};x=(1,target());x=1 .1;x=a.*b./c%/%d;",
        "  x = -a ^ b + (-a) ^ b - a ^ -b * !c;\n  x = a ? b : c ? d : e;\n  x = (a ? b : c) ? d : e;\n  \
         x = y[:, 1:2, 3:, :4, :];\n  x = y[n + 1 : N, n + 1 :];\n  x = (a * b)' * c';\n  x = a < -1;\n  x = --a;\n  \
         x = {1, 2., .5, 1e3};\n  x = (1, target());\n  x = 1 .1;\n  x = a .* b ./ c %/% d;\n",
    );
}

#[test]
fn empty_lines_are_kept_one_at_a_time() {
    assert_statements("\n\nx = 1;\n\n\n\ny = 2;\n  z = 3;\n\n", "  x = 1;\n\n  y = 2;\n  z = 3;\n");
    assert_program("data {\n}\n\n\nmodel {\n}\n", "data {\n}\n\nmodel {\n}\n");
    assert_program("", "");
}

#[test]
fn else_belongs_to_the_nearest_if() {
    assert_statements(
        "if(a)if(b)x=1;else y=2;if(a){if(b)x=1;}else if(c)y=2;else{z=3;}",
        "  if (a)\n    if (b)\n      x = 1;\n    else\n      y = 2;\n  if (a) {\n    if (b)\n      x = 1;\n  } else if (c)\n    \
         y = 2;\n  else {\n    z = 3;\n  }\n",
    );
}

#[test]
fn long_lines_are_broken() {
    assert_statements(
        "target += log_mix(theta, normal_lpdf(y[n] | mu[1], sigma[1]), normal_lpdf(y[n] | mu[2], sigma[2]));\n\
         eta = alpha + beta_of_the_first_covariate * x[, 1] + beta_of_the_second_covariate * x[, 2] + offset_of_it;\n\
         real a_variable_with_a_long_name_indeed = a_function_with_a_long_name_indeed_and_more_of_it(x);\n\
         x = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000};",
        "  target += log_mix(theta, normal_lpdf(y[n] | mu[1], sigma[1]),
                    normal_lpdf(y[n] | mu[2], sigma[2]));
  eta = alpha + beta_of_the_first_covariate * x[:, 1]
        + beta_of_the_second_covariate * x[:, 2] + offset_of_it;
  real a_variable_with_a_long_name_indeed =
      a_function_with_a_long_name_indeed_and_more_of_it(x);
  x = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000,
       12000, 13000, 14000, 15000};
",
    );
}
