"""Writes the data of the programs in stan/: simulated with fixed seeds, numbers with few digits."""
import json
import math
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent / "stan"


def write(name, make):
    r = random.Random(name)
    with open(FOLDER / f"{name}.json", "w") as out:
        json.dump(make(r), out)
        out.write("\n")


def normals(r, n):
    return [round(r.gauss(0, 1), 3) for _ in range(n)]


def matrix(r, n, k, shared=0.0):
    """Predictors with a common part, so that their correlation is shared²/(1 + shared²)."""
    rows = []
    for _ in range(n):
        common = shared * r.gauss(0, 1)
        rows.append([round(common + r.gauss(0, 1), 3) for _ in range(k)])
    return rows


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def poisson(r, mean):
    limit, k, p = math.exp(-mean), 0, r.random()
    while p > limit:
        p *= r.random()
        k += 1
    return k


def logistic(x):
    return 1 / (1 + math.exp(-x))


def counts_varying(r):
    n, groups = 96, 12
    g, x = [i % groups + 1 for i in range(n)], normals(r, n)
    effect = [0.6 * r.gauss(0, 1) for _ in range(groups)]
    y = [poisson(r, math.exp(0.8 + 0.3 * x[i] + effect[g[i] - 1])) for i in range(n)]
    return {"N": n, "G": groups, "g": g, "x": x, "y": y}


def gamma_times(r):
    n, k, b = 80, 3, [0.5, -0.3, 0.1]
    xs = matrix(r, n, k)
    y = [round(r.gammavariate(3, math.exp(1 + dot(x, b)) / 3) + 0.001, 4) for x in xs]
    return {"N": n, "K": k, "X": xs, "y": y}


def student_lines(r):
    n, k, b = 70, 3, [1.0, -0.5, 0.2]
    xs = matrix(r, n, k)
    noise = [r.gauss(0, 1) / math.sqrt(r.gammavariate(2, 0.5)) for _ in range(n)]
    return {"N": n, "K": k, "X": xs, "y": [round(2 + dot(x, b) + e, 3) for x, e in zip(xs, noise)]}


def grades_ordered(r):
    n, k, b, cut = 100, 3, [0.8, -0.5, 0.0], [-2, -0.5, 0.7, 2.2]
    xs = matrix(r, n, k)
    latent = [dot(x, b) + math.log(1 / r.random() - 1) for x in xs]
    return {"N": n, "K": k, "X": xs, "y": [1 + sum(v > c for c in cut) for v in latent]}


def clutches_beta_binomial(r):
    n = 40
    x, trials = normals(r, n), [r.randint(5, 20) for _ in range(n)]
    y = []
    for i in range(n):
        mu = logistic(-0.4 + 0.6 * x[i])
        p = r.betavariate(8 * mu, 8 * (1 - mu))
        y.append(sum(r.random() < p for _ in range(trials[i])))
    return {"N": n, "x": x, "n": trials, "y": y}


def curve_gaussian_process(r):
    x = [round(i / 4, 3) for i in range(24)]
    return {"N": 24, "x": x, "y": [round(math.sin(1.3 * v) + 0.25 * r.gauss(0, 1), 3) for v in x]}


def series_second_order(r):
    y = [0.0, 0.5]
    while len(y) < 120:
        y.append(0.3 + 0.9 * y[-1] - 0.4 * y[-2] + 0.7 * r.gauss(0, 1))
    return {"N": len(y), "y": [round(v, 3) for v in y]}


def claims_negative_binomial(r):
    n, k, b = 90, 4, [0.4, -0.2, 0.0, 0.3]
    xs = matrix(r, n, k)
    exposure = [round(math.log(r.uniform(0.5, 4)), 3) for _ in range(n)]
    y = [poisson(r, r.gammavariate(2, math.exp(0.5 + dot(x, b) + e) / 2)) for x, e in zip(xs, exposure)]
    return {"N": n, "K": k, "X": xs, "log_exposure": exposure, "y": y}


def outcomes_correlated(r):
    y = []
    for _ in range(40):
        a, b, c = r.gauss(0, 1), r.gauss(0, 1), r.gauss(0, 1)
        y.append([round(1 + a, 3), round(0.8 * (0.6 * a + 0.8 * b), 3), round(-1 + 1.5 * (0.5 * b + 0.85 * c), 3)])
    return {"N": len(y), "y": y}


def items_one_parameter(r):
    people, items = 20, 10
    ability, difficulty = normals(r, people), [1.2 * v for v in normals(r, items)]
    pairs = [(j, i) for j in range(people) for i in range(items)]
    y = [int(r.random() < logistic(0.4 + ability[j] - difficulty[i])) for j, i in pairs]
    person, item = [j + 1 for j, _ in pairs], [i + 1 for _, i in pairs]
    return {"J": people, "I": items, "N": len(pairs), "person": person, "item": item, "y": y}


def survival_weibull(r):
    seen, censored = [], []
    for _ in range(70):
        x = round(r.gauss(0, 1), 3)
        t, end = r.weibullvariate(math.exp(1 + 0.4 * x), 1.4), r.uniform(1, 8)
        (seen if t < end else censored).append((x, round(max(min(t, end), 0.001), 3)))
    return {
        "N": len(seen), "M": len(censored), "x": [x for x, _ in seen], "t": [t for _, t in seen],
        "x_censored": [x for x, _ in censored], "t_censored": [t for _, t in censored],
    }


def horseshoe(r):
    n, k, b = 60, 12, [2.0, 0, 0, -1.0, 0, 0, 0, 0.5, 0, 0, 0, 0]
    xs = matrix(r, n, k)
    return {"N": n, "K": k, "X": xs, "y": [round(1 + dot(x, b) + r.gauss(0, 1), 3) for x in xs]}


def logistic_25(r):
    n, k = 200, 25
    b, xs = [0.5 * v for v in normals(r, k)], matrix(r, n, k, 0.6)
    return {"N": n, "K": k, "X": xs, "y": [int(r.random() < logistic(0.2 + dot(x, b))) for x in xs]}


for make in [
    counts_varying, gamma_times, student_lines, grades_ordered, clutches_beta_binomial, curve_gaussian_process,
    series_second_order, claims_negative_binomial, outcomes_correlated, items_one_parameter, survival_weibull,
    horseshoe, logistic_25,
]:
    write(make.__name__, make)
