#!/usr/bin/env python3
"""Takes the MovieLens 100k ratings and writes Stan data beside this script.

    fetch.py              downloads the package recbole 1.2.1 with pip (nothing is installed) and reads the ratings in it
    fetch.py FILE         reads the ratings from a file: ml-100k.inter of recbole, or u.data of GroupLens' own archive

The 50 viewers who rated most and the 50 films that were rated most are kept, as in the BREAD paper. Written are
    ratings.json, ratings-uncentred.json      a list of ratings, for matrix_factorization.stan
    matrix.json, matrix-uncentred.json        viewers x films, for ../paper/matrix_factorization.stan; -1000000 where there is none
Only Python's standard library is used.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
INSIDE = "recbole/dataset_example/ml-100k/ml-100k.inter"
VIEWERS, FILMS, DIMENSIONS = 50, 50, 5
MISSING = -1000000


def download():
    with tempfile.TemporaryDirectory() as folder:
        command = ["pip", "download", "--quiet", "--no-deps", "--dest", folder, "recbole==1.2.1"]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))) as wheel:
            return wheel.read(INSIDE).decode()


def read_ratings(text):
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("user_id")]
    ratings = [(int(viewer), int(film), float(rating)) for viewer, film, rating, _ in rows]
    if len(ratings) != 100_000:
        sys.exit(f"fetch.py: expected 100000 ratings, found {len(ratings)}. Is this MovieLens 100k?")
    return ratings


def most_frequent(items, count):
    """The most frequent items; ties go to the smaller number, so that the result does not depend on the order of rows."""
    counts = collections.Counter(items)
    return sorted(sorted(counts, key=lambda item: (-counts[item], item))[:count])


def write(name, data):
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items()]
    (HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(HERE.name + "/" + name)


def main():
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    ratings = read_ratings(pathlib.Path(sys.argv[1]).read_text() if sys.argv[1:] else download())
    viewers = {v: n for n, v in enumerate(most_frequent([r[0] for r in ratings], VIEWERS), start=1)}
    films = {f: n for n, f in enumerate(most_frequent([r[1] for r in ratings], FILMS), start=1)}
    kept = sorted((viewers[v], films[f], r) for v, f, r in ratings if v in viewers and f in films)
    mean = sum(r for *_, r in kept) / len(kept)
    print(f"{len(kept)} ratings of {VIEWERS} viewers and {FILMS} films, mean {mean:.4f}")
    for suffix, shift in (("", mean), ("-uncentred", 0.0)):
        values = [round(r - shift, 6) for *_, r in kept]
        sizes = {"N": VIEWERS, "D": FILMS, "L": DIMENSIONS}
        places = {"viewer": [v for v, *_ in kept], "film": [f for _, f, _ in kept]}
        write(f"ratings{suffix}.json", {**sizes, "R": len(kept), **places, "rating": values})
        matrix = [[MISSING] * FILMS for _ in range(VIEWERS)]
        for (viewer, film, _), value in zip(kept, values):
            matrix[viewer - 1][film - 1] = value
        write(f"matrix{suffix}.json", {**sizes, "Y": matrix})


if __name__ == "__main__":
    main()
