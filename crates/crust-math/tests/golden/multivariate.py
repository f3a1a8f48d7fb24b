#!/usr/bin/env python3
"""Writes multivariate.txt: log densities of vectors and matrices with gradients as Stan itself computes them.

    multivariate.py REALSTAN WORKDIR > multivariate.txt

REALSTAN compiles a Stan program to an executable that prints log densities and gradients. Every case is one branch of a program;
each real argument is a slice of the parameters (marked "vary") or of the data. A line of the result:
    case NAME | KIND vary|data SHAPE numbers | … | log density | log density up to a constant | gradient
KIND says how the gradient of a matrix is to be compared: "sym" as the sum with its transpose, "low" below the diagonal only.
"""
import json, random, subprocess, sys

rng = random.Random(20)
cases = []


def numbers(n, scale=1.0, shift=0.0):
    return [round(shift + scale * rng.uniform(-1, 1), 3) for _ in range(n)]


def real(x):
    return ("full", [], "s", [], [x])


def vector(x, cell="v"):
    return ("full", [], cell, [len(x)], x)


def vectors(rows, cell="v"):
    return ("full", [len(rows)], cell, [len(rows[0])], sum(rows, []))


def matrix(r, c, x=None):
    return ("full", [], "m", [r, c], x or numbers(r * c))


def symmetric(n, weight=1.0):
    a = [numbers(n) for _ in range(n)]
    return ("sym", [], "m", [n, n], [round(weight * (sum(p * q for p, q in zip(a[i], a[j])) + (i == j)), 3) for j in range(n) for i in range(n)])


def lower(n):
    return ("low", [], "m", [n, n], [0.0 if i < j else round(rng.uniform(0.4, 1.6), 3) if i == j else round(rng.uniform(-1, 1), 3) for j in range(n) for i in range(n)])


def correlation(n):
    r = {}
    for i in range(n):
        for j in range(i):
            r[i, j] = r[j, i] = round(rng.uniform(-0.4, 0.4), 3)
    return ("sym", [], "m", [n, n], [r.get((i, j), 1.0) for j in range(n) for i in range(n)])


def integer(n):
    return ("int", [], "s", [], [n])


def integers(x):
    return ("int", [len(x)], "s", [], x)


def case(name, *arguments, masks=None):
    reals = [i for i, a in enumerate(arguments) if a[0] != "int"]
    if masks is None:
        masks = [[i] for i in reals] + ([reals] if len(reals) > 1 else [])
    cases.extend((name, arguments, m) for m in masks)


for n in (1, 3):
    for name, spread in [("multi_normal", symmetric), ("multi_normal_prec", symmetric), ("multi_normal_cholesky", lower)]:
        case(name + "_lpdf", vector(numbers(n)), vector(numbers(n)), spread(n), masks=None if n == 3 else [[0, 1, 2]])
    for name, spread in [("multi_student_t", symmetric), ("multi_student_t_cholesky", lower)]:
        case(name + "_lpdf", vector(numbers(n)), real(2.7), vector(numbers(n)), spread(n), masks=None if n == 3 else [[0, 1, 2, 3]])
for name, spread in [("multi_normal", symmetric), ("multi_normal_prec", symmetric), ("multi_normal_cholesky", lower)]:
    case(name + "_lpdf", vectors([numbers(2) for _ in range(3)]), vector(numbers(2), "r"), spread(2), masks=[[0, 1, 2], [1]])
    case(name + "_lpdf", vectors([numbers(2) for _ in range(2)], "r"), vectors([numbers(2) for _ in range(2)]), spread(2), masks=[[1, 2]])
    case(name + "_lpdf", vector(numbers(2)), vectors([numbers(2) for _ in range(2)]), spread(2), masks=[[0, 1, 2]])
for name, spread in [("multi_student_t", symmetric), ("multi_student_t_cholesky", lower)]:
    case(name + "_lpdf", vectors([numbers(2) for _ in range(3)]), real(7.25), vector(numbers(2), "r"), spread(2), masks=[[0, 1, 2, 3], [2]])
case("multi_gp_lpdf", matrix(2, 3), symmetric(3), vector([0.7, 2.5]))
case("multi_gp_cholesky_lpdf", matrix(2, 3), lower(3), vector([0.7, 2.5]))
for observed in (vector([0.4, 1.1]), symmetric(2)):
    arguments = [matrix(2, 4), matrix(3, 2), matrix(3, 3, numbers(9, 0.6)), observed, symmetric(3, 0.5), vector(numbers(3)), symmetric(3)]
    case("gaussian_dlm_obs_lpdf", *arguments, masks=[list(range(7)), [0], [2, 3]])
simplexes = [[0.2, 0.3, 0.5], [0.7, 0.1, 0.2]]
case("dirichlet_lpdf", vector(simplexes[0]), vector([0.7, 2.5, 1.0]))
case("dirichlet_lpdf", vectors(simplexes), vector([0.7, 2.5, 1.5], "r"), masks=[[0, 1]])
case("dirichlet_lpdf", vectors(simplexes), vectors([[0.7, 2.5, 1.5], [3.0, 1.0, 0.25]]), masks=[[0, 1]])
for n, eta in [(2, 1.7), (3, 0.6), (4, 2.5)]:
    case("lkj_corr_lpdf", correlation(n), real(eta))
    case("lkj_corr_cholesky_lpdf", lower(n), real(eta))
for n in (3, 4):
    case("lkj_corr_lpdf", correlation(n), real(1.0), masks=[[0]])
    case("lkj_corr_cholesky_lpdf", lower(n), real(1.0), masks=[[0]])
for n, nu in [(1, 1.2), (3, 4.7)]:
    case("wishart_lpdf", symmetric(n), real(nu), symmetric(n))
    case("inv_wishart_lpdf", symmetric(n), real(nu), symmetric(n))
    case("wishart_cholesky_lpdf", lower(n), real(nu), lower(n))
    case("inv_wishart_cholesky_lpdf", lower(n), real(nu), lower(n))
case("wishart_lpdf", symmetric(2), real(3.0), symmetric(2), masks=[[0, 2]])
case("categorical_lpmf", integer(2), vector(simplexes[0]))
case("categorical_lpmf", integers([3, 1, 3]), vector(simplexes[1]))
case("categorical_logit_lpmf", integer(2), vector([0.5, -1.0, 2.0]))
case("categorical_logit_lpmf", integers([3, 1, 3, 2]), vector([0.5, -1.0, 2.0]))
cuts = [-0.8, 0.3, 1.7]
for name in ("ordered_logistic_lpmf", "ordered_probit_lpmf"):
    case(name, integer(2), real(0.4), vector(cuts))
    case(name, integers([4, 1, 3]), vector(numbers(3)), vector(cuts), masks=[[1, 2]])
    case(name, integers([2, 4]), vector(numbers(2)), vectors([cuts, [0.1, 0.9, 1.0]]), masks=[[1, 2], [2]])
case("multinomial_lpmf", integers([3, 0, 4]), vector(simplexes[0]))
case("multinomial_logit_lpmf", integers([3, 0, 4]), vector([0.5, -1.0, 2.0]))
case("dirichlet_multinomial_lpmf", integers([3, 0, 4]), vector([0.5, 1.0, 20.0]))
case("categorical_logit_glm_lpmf", integers([3, 1, 3, 2]), matrix(4, 2), vector(numbers(3)), matrix(2, 3))
case("categorical_logit_glm_lpmf", integers([3, 1]), vector(numbers(2), "r"), vector(numbers(3)), matrix(2, 3), masks=[[1, 2, 3]])
case("ordered_logistic_glm_lpmf", integers([3, 1, 4, 2]), matrix(4, 2), vector(numbers(2)), vector(cuts))
case("ordered_logistic_glm_lpmf", integers([3, 1]), vector(numbers(2), "r"), vector(numbers(2)), vector(cuts), masks=[[1, 2, 3]])
rows = [0.5, 0.2, 0.3, 0.1, 0.8, 0.1, 0.25, 0.25, 0.5]
case("hmm_marginal", matrix(3, 4, numbers(12, 2.0, -1.0)), matrix(3, 3, [rows[3 * i + j] for j in range(3) for i in range(3)]), vector(simplexes[0]))
case("hmm_marginal", matrix(3, 1), matrix(3, 3, [rows[3 * i + j] for j in range(3) for i in range(3)]), vector(simplexes[0]), masks=[[0, 2]])
case("wiener_lpdf", vector([0.9, 1.6, 0.45]), real(1.3), real(0.3), real(0.4), vector([0.7, -1.5, 2.0]), masks=[[0, 1, 2, 3, 4], [0]])
case("wiener_lpdf", real(3.5), real(0.8), real(0.2), real(0.6), real(-0.5), masks=[[0, 1, 2, 3, 4]])
case("wiener_lpdf", real(0.9), real(1.3), real(0.3), real(0.4), real(0.7), real(0.9), masks=[[0, 1, 2, 3, 4, 5]])
case("wiener_lpdf", real(0.9), real(1.3), real(0.3), real(0.4), real(0.7), real(0.9), real(0.3), real(0.2), masks=[list(range(8))])


def expression(argument, source, at):
    kind, arrays, cell, sizes, values = argument
    if kind == "int":
        return "{" + ", ".join(map(str, values)) + "}" if arrays else str(values[0])
    n = 1
    for size in sizes:
        n *= size

    def one(at):
        segment = f"segment({source}, {at + 1}, {n})"
        return {"s": f"{source}[{at + 1}]", "v": segment, "r": segment + "'", "m": f"to_matrix({segment}, {', '.join(map(str, sizes))})"}[cell]

    return "{" + ", ".join(one(at + i * n) for i in range(arrays[0])) + "}" if arrays else one(at)


def branch(index, name, arguments, mask):
    at, parts = 0, []
    for i, a in enumerate(arguments):
        parts.append(expression(a, "x" if i in mask else "d", at))
        if a[0] != "int":
            at += len(a[4])
    name = name.replace("_lpdf", "_lupdf").replace("_lpmf", "_lupmf")
    call = f"{name}({', '.join(parts)})" if name == "hmm_marginal" else f"{name}({parts[0]} | {', '.join(parts[1:])})"
    return f"  if (which == {index}) target += {call};\n"


def flat(arguments):
    return sum((list(map(float, a[4])) for a in arguments if a[0] != "int"), [])


def line(name, arguments, mask, both, gradient):
    fields, at = [f"case {name}"], 0
    wanted = []
    for i, a in enumerate(arguments):
        shape = ",".join([f"a{n}" for n in a[1]] + [a[2]] + [str(n) for n in a[3]])
        fields.append(f"{a[0]} {'vary' if i in mask else 'data'} {shape} " + " ".join(map(repr, a[4])))
        if a[0] != "int":
            wanted += gradient[at : at + len(a[4])] if i in mask else []
            at += len(a[4])
    return " | ".join(fields + [repr(x) for x in both] + [" ".join(map(repr, wanted))])


def main(realstan, work):
    size = max(len(flat(a)) for _, a, _ in cases)
    groups = [cases[i::3] for i in range(3)]
    for g, group in enumerate(groups):
        path = f"{work}/multivariate{g}.stan"
        with open(path, "w") as file:
            file.write(f"data {{ int which; vector[{size}] d; }}\nparameters {{ vector[{size}] x; }}\nmodel {{\n")
            file.writelines(branch(i, *c) for i, c in enumerate(group))
            file.write("}\n")
        program = subprocess.run([realstan, path], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        for i, (name, arguments, mask) in enumerate(group):
            x = flat(arguments)
            x += [0.0] * (size - len(x))
            json.dump({"which": i, "d": x}, open(f"{work}/data.json", "w"))
            json.dump([x], open(f"{work}/points.json", "w"))
            both = []
            for flags in ([], ["--propto"]):
                out = subprocess.run([program, "density", f"{work}/data.json", f"{work}/points.json", *flags], check=True, stdout=subprocess.PIPE, text=True).stdout
                point = json.loads(out)["points"][0]
                both.append(point["log_density"])
            if both[0] is None:
                sys.exit(f"{name} {arguments} {mask}: {point}")
            print(line(name, arguments, mask, both, point["gradient"]))


main(*sys.argv[1:])
