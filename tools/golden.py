#!/usr/bin/env python3
"""Computes the golden numbers of the tests again with real Stan, and compares or rewrites them.

    REALSTAN=/path/to/builder tools/golden.py programs transforms [--write] [--only NAME]

The builder is a command that takes a Stan program and prints the path of an executable with
    EXE density DATA.json POINTS.json [--propto] [--no-jacobian]
which answers {"names": [...], "points": [{"log_density": x, "gradient": [...]}, ...]} (rejected points: null).
The inputs (programs, data, points) are those in the tree; only the numbers are made again.

What comes from elsewhere:
  crust-diagnose/tests/golden/{mcmc,psis}.json     the R packages posterior and loo, ArviZ where they lack a function
  crust-math/src/special/reference                 generate.py there (mpmath, 50 digits)
  crust-math/tests/golden/multivariate.txt         multivariate.py there (mpmath)
  crust-stan/tests/golden/signature-counts.tsv     `signatures` below, with STANC=/path/to/stanc (version 2.39)
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CRATES = Path(__file__).resolve().parent.parent / "crates"
# Solvers take their steps by the last digits of what they are given.
TOLERANCE = 1e-7


def close(a, b):
    if a is None or b is None:
        return a is b
    return a == b or abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


class Stan:
    """Executables by program, built once."""

    def __init__(self):
        self.builder = os.environ.get("REALSTAN") or sys.exit("REALSTAN must name the builder of real Stan")
        self.executables = {}

    def density(self, program, data, points, *flags):
        if program not in self.executables:
            built = subprocess.run([self.builder, str(program)], check=True, capture_output=True, text=True)
            self.executables[program] = built.stdout.strip().splitlines()[-1]
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, "data.json"), Path(folder, "points.json")]
            for file, content in zip(files, (data, points)):
                file.write_text(json.dumps(content, allow_nan=True))
            command = [self.executables[program], "density", *map(str, files), *flags]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)


class Report:
    def __init__(self):
        self.differences = 0

    def compare(self, where, old, new):
        if not close(old, new):
            self.differences += 1
            print(f"{where}: {old} in the tree, {new} now")

    def compare_all(self, where, old, new):
        if len(old) != len(new):
            self.differences += 1
            print(f"{where}: {len(old)} numbers in the tree, {len(new)} now")
        for i, (a, b) in enumerate(zip(old, new)):
            self.compare(f"{where}[{i}]", a, b)


def programs(stan, report, write, only):
    """crust-engine/tests/programs: log densities and gradients of realistic programs."""
    folder = CRATES / "crust-engine/tests/programs"
    golden = json.loads((folder / "golden.json").read_text())
    for name, rows in golden.items():
        if only and only != name:
            continue
        data = json.loads((folder / f"{name}.json").read_text())
        for kind, flags in (("normalised", []), ("propto", ["--propto"])):
            answer = stan.density(folder / f"{name}.stan", data, [row["point"] for row in rows], *flags)
            for row, point in zip(rows, answer["points"]):
                report.compare(f"{name} {kind}", row[kind]["log_density"], point["log_density"])
                report.compare_all(f"{name} {kind} gradient", row[kind]["gradient"], point["gradient"])
                row[kind] = {"log_density": point["log_density"], "gradient": point["gradient"]}
    if write:
        line = lambda rows: "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]"
        text = "{\n" + ",\n".join(f"{json.dumps(name)}: {line(rows)}" for name, rows in golden.items()) + "\n}\n"
        (folder / "golden.json").write_text(text)


def solvers(stan, report, write, only):
    """crust-engine/tests/reference-solvers: programs with differential equations, integrals and roots."""
    folder = CRATES / "crust-engine/tests/reference-solvers"
    for program in sorted(folder.glob("*.stan")):
        name = program.stem
        if only and only != name:
            continue
        data, points = (json.loads((folder / f"{name}{end}.json").read_text()) for end in ("", ".points"))
        file = folder / f"{name}.golden.json"
        old, new = json.loads(file.read_text()), stan.density(program, data, points)
        for a, b in zip(old["points"], new["points"]):
            report.compare(name, a["log_density"], b["log_density"])
            report.compare_all(f"{name} gradient", a["gradient"], b["gradient"])
        if write:
            file.write_text(json.dumps(new) + "\n")


def reference(stan, report, write, only):
    """crust-engine/tests/reference: the programs of BREAD's appendix and their rewrites."""
    folder = CRATES / "crust-engine/tests/reference"
    with open(folder / "density.csv", newline="") as file:
        rows = list(csv.reader(file))
    numbers = lambda field: [float(x) for x in field.split(";")]
    for name in dict.fromkeys(row[0] for row in rows[1:]):
        if only and only != name:
            continue
        mine = [row for row in rows[1:] if row[0] == name]
        data = json.loads((folder / "data" / f"{mine[0][1]}.json").read_text())
        points = [numbers(row[5]) for row in mine]
        for column, flags in ((6, []), (8, ["--propto"]), (10, ["--no-jacobian"])):
            answer = stan.density(folder / "models" / f"{name}.stan", data, points, *flags)
            for row, point in zip(mine, answer["points"]):
                report.compare(f"{name} {flags}", float(row[column]), point["log_density"])
                report.compare_all(f"{name} {flags} gradient", numbers(row[column + 1]), point["gradient"])
                row[column], row[column + 1] = repr(point["log_density"]), ";".join(map(repr, point["gradient"]))
    if write:
        with open(folder / "density.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def transforms(stan, report, write, only):
    """crust-math/tests/golden/transforms.tsv, but for the constrained values, which real Stan's draws show."""
    folder = CRATES / "crust-math/tests/golden"
    lines = (folder / "transforms.tsv").read_text().splitlines()
    table = [line.split("\t") for line in lines if not line.startswith("#")]
    points = [[float(x) for x in row[2:]] for row in table if row[1] == "free"]
    for ending, flags in (("", ["--no-jacobian"]), ("_jacobian", [])):
        answer = stan.density(folder / "transforms.stan", {}, points, *flags)["points"]
        for row in table:
            point = answer[int(row[0])]
            new = {"log_density" + ending: [point["log_density"]], "gradient" + ending: point["gradient"]}.get(row[1])
            if new is not None:
                report.compare_all(f"point {row[0]} {row[1]}", [float(x) for x in row[2:]], new)
                row[2:] = map(repr, new)
    if write:
        head = [line for line in lines if line.startswith("#")]
        (folder / "transforms.tsv").write_text("\n".join(head + ["\t".join(row) for row in table]) + "\n")


def rewrite_table(file, report, write, row_of):
    """A table whose rows are inputs, then numbers that `row_of` makes again."""
    lines = file.read_text().splitlines()
    out = []
    for line in lines:
        if line.startswith("#"):
            out.append(line)
            continue
        fields = line.split("\t")
        new = row_of(fields)
        old = [[float(x) for x in field.split()] for field in fields[len(fields) - len(new) :]]
        for a, b in zip(old, new):
            report.compare_all(f"{file.name}: {fields[0]}", a, b)
        out.append("\t".join(fields[: len(fields) - len(new)] + [" ".join(map(repr, numbers)) for numbers in new]))
    if write:
        file.write_text("\n".join(out) + "\n")


def ode(stan, report, write, only):
    """crust-math/tests/golden/solvers_ode.tsv: the gradient by the weights is the solution."""
    folder = CRATES / "crust-math/tests/golden"

    def row_of(fields):
        system, method, kind, rtol, atol = (float(x) for x in fields[0].split())
        theta, y0, t0, ts = ([float(x) for x in field.split()] for field in fields[1:5])
        n, times = len(y0), len(ts)
        data = {"n": n, "times": times, "system": int(system), "method": int(method), "kind": int(kind)}
        data |= {"rtol": rtol, "atol": atol, "steps": 100000, "theta_data": theta, "y0_data": y0}
        data |= {"t0_data": t0[0], "ts_data": ts}
        weights = [0.1 * (i + 1) for i in range(n * times)]
        answer = stan.density(folder / "solvers_ode.stan", data, [theta + y0 + t0 + ts + weights])
        slopes = answer["points"][0]["gradient"]
        parts, at = [], 0
        for size in (4, n, 1, times, n * times):
            parts.append(slopes[at : at + size])
            at += size
        return [parts[4], *parts[:4]]

    rewrite_table(folder / "solvers_ode.tsv", report, write, row_of)


def roots(stan, report, write, only):
    """crust-math/tests/golden/solvers_roots.tsv: integrals and algebraic equations."""
    folder = CRATES / "crust-math/tests/golden"

    def row_of(fields):
        if len(fields) < 5:
            return []  # Stan rejects
        method, system, a, b, tol, ftol, steps = (float(x) for x in fields[0].split())
        theta, guess = ([float(x) for x in field.split()] for field in fields[1:3])
        n = len(guess)
        data = {"n": n, "system": int(system), "method": int(method), "a": a, "b": b, "tol": tol, "ftol": ftol}
        data |= {"steps": int(steps), "guess": guess}
        weights = [float(i + 1) for i in range(n)]
        ends = [a, b] if method == 4 else [0.0, 0.0]
        answer = stan.density(folder / "solvers_roots.stan", data, [theta + weights + ends])
        slopes = answer["points"][0]["gradient"]
        return [slopes[2 : 2 + n], slopes[:2] + slopes[2 + n :]]

    rewrite_table(folder / "solvers_roots.tsv", report, write, row_of)


def signatures(_stan, report, write, only):
    """crust-stan/tests/golden/signature-counts.tsv: counts and FNV-1a hashes of stanc's signatures."""
    file = CRATES / "crust-stan/tests/golden/signature-counts.tsv"
    stanc = os.environ.get("STANC") or sys.exit("STANC must name the official compiler")
    dump = subprocess.run([stanc, "--dump-stan-math-signatures"], check=True, capture_output=True).stdout
    by_name = {}
    for line in dump.splitlines():
        if b"(" in line:
            by_name.setdefault(line.split(b"(")[0].decode(), []).append(line)
    new = []
    for name, lines in sorted(by_name.items()):
        value = 0xCBF29CE484222325
        for byte in b"".join(line + b"\n" for line in sorted(lines)):
            value = (value ^ byte) * 0x100000001B3 % 2**64
        new.append(f"{name}\t{len(lines)}\t{value:016x}")
    lines = file.read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    for line in set(new) ^ set(lines[len(head) :]):
        report.differences += 1
        print(f"differs: {line}")
    if write:
        file.write_text("\n".join(head + new) + "\n")


TABLES = {f.__name__: f for f in (programs, solvers, reference, transforms, ode, roots, signatures)}


def main(arguments):
    write = "--write" in arguments
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else None
    names = [a for a in arguments if a in TABLES]
    unknown = [a for a in arguments if a not in TABLES and a not in ("--write", "--only", only)]
    if unknown or not names:
        sys.exit(f"{__doc__}\nTables: {', '.join(TABLES)}")
    report = Report()
    stan = None if names == ["signatures"] else Stan()
    for name in names:
        TABLES[name](stan, report, write, only)
    print(f"{report.differences} numbers differ by more than {TOLERANCE:g}")
    return int(report.differences > 0 and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
