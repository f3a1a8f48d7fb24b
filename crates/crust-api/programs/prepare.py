#!/usr/bin/env python3
"""Makes the data of the examples.

    prepare.py            the tables (*.csv) in this folder become Stan data (*.json)
    prepare.py --fetch    first takes the tables anew from the packages named in each README

The package clients pip, npm and apt-get (Debian, for dpkg-deb and the R data) are only needed with --fetch; packages
are unpacked in a temporary folder and nothing is installed. Only Python's standard library is used.
"""
import bz2
import csv
import gzip
import io
import json
import lzma
import pathlib
import statistics
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
NHEFS = ["sex", "age", "race", "smokeyrs", "qsmk", "wt82_71"]
PIMA = ["pregnancies", "glucose", "blood_pressure", "skin_fold", "insulin", "body_mass_index", "pedigree", "age", "diabetic"]


# ---------------------------------------------------------------- tables to Stan data
def read_table(path):
    with open(path, newline="") as file:
        rows = [row for row in csv.reader(line for line in file if not line.startswith("#"))]
    return rows[0], rows[1:]


def standardise(column):
    """Mean 0 and standard deviation 1 (divisor n - 1), to six decimals."""
    mean, deviation = statistics.fmean(column), statistics.stdev(column)
    return [round((value - mean) / deviation, 6) + 0.0 for value in column]


def transpose(columns):
    return [list(row) for row in zip(*columns)]


def write_json(path, data):
    """One variable a line, and one row of a matrix a line: differences stay readable."""
    def value_text(value):
        if isinstance(value, list) and value and isinstance(value[0], list):
            return "[\n    " + ",\n    ".join(json.dumps(row) for row in value) + "\n  ]"
        return json.dumps(value)

    lines = [f"  {json.dumps(name)}: {value_text(value)}" for name, value in data.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.relative_to(HERE)}: " + ", ".join(f"{k}={v}" for k, v in data.items() if isinstance(v, int)))


def regression(table, integer_outcome):
    names, rows = read_table(table)
    columns = [[float(value) for value in column] for column in zip(*rows)]
    outcome = [int(value) for value in columns[-1]] if integer_outcome else standardise(columns[-1])
    x = transpose([standardise(column) for column in columns[:-1]])
    return {"N": len(rows), "K": len(names) - 1, "x": x, "y": outcome}


def make_data():
    write_json(HERE / "nhefs/nhefs.json", regression(HERE / "nhefs/nhefs.csv", integer_outcome=False))
    write_json(HERE / "pima/pima.json", regression(HERE / "pima/pima.csv", integer_outcome=True))
    _, rows = read_table(HERE / "google/google.csv")
    write_json(HERE / "google/google.json", {"N": len(rows), "y": [float(close) for _, close in rows]})
    _, rows = read_table(HERE / "faithful/faithful.csv")
    y = transpose([standardise([float(value) for value in column]) for column in zip(*rows)])
    write_json(HERE / "faithful/faithful.json", {"N": len(y), "D": 2, "K": 2, "y": y})


# ---------------------------------------------------------------- packages to tables
def write_table(path, names, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    print(f"{path.relative_to(HERE)}: {len(rows)} rows")


def number_text(value):
    """The shortest text of a number: whole numbers without a point."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def download(folder, *command):
    before = set(folder.iterdir())
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return (set(folder.iterdir()) - before).pop()


def section(stata, tag):
    start = stata.index(f"<{tag}>".encode()) + len(tag) + 2
    return stata[start:stata.index(f"</{tag}>".encode(), start)]


def read_stata(stata):
    """The numbers of a Stata 118 file (little-endian), column by column; None where a value is missing."""
    layouts = {65526: ("d", 8.98e307), 65527: ("f", 1.7e38), 65528: ("i", 2147483620), 65529: ("h", 32740), 65530: ("b", 100)}
    count = struct.unpack("<H", section(stata, "K"))[0]
    types = struct.unpack(f"<{count}H", section(stata, "variable_types"))
    raw_names = section(stata, "varnames")
    names = [raw_names[129 * i:129 * (i + 1)].split(b"\0")[0].decode() for i in range(count)]
    parts = [layouts[kind][0] if kind in layouts else f"{kind}s" for kind in types]
    columns = {name: [] for name in names}
    start = stata.index(b"<data>") + len(b"<data>")
    rows = struct.unpack("<Q", section(stata, "N"))[0]
    row = struct.Struct("<" + "".join(parts))
    for values in row.iter_unpack(stata[start:start + rows * row.size]):
        for name, kind, value in zip(names, types, values):
            missing = kind not in layouts or value > layouts[kind][1]
            columns[name].append(None if missing else value)
    return columns


def fetch_nhefs(folder):
    archive = download(folder, "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "causaldata==0.1.5")
    with tarfile.open(archive) as tar:
        member = next(m for m in tar if m.name.endswith("/nhefs_complete.dta"))
        columns = read_stata(tar.extractfile(member).read())
    for name in ("sex", "race"):                    # stored as 1 and 2, with the labels "0" and "1" of the codebook
        columns[name] = [value - 1 for value in columns[name]]
    rows = transpose([columns[name] for name in NHEFS])
    assert len(rows) == 1566 and not any(None in row for row in rows), "NHEFS is not what it was"
    write_table(HERE / "nhefs/nhefs.csv", NHEFS, [[number_text(v) for v in row] for row in rows])


def fetch_pima(folder):
    archive = download(folder, "npm", "pack", "--silent", "@liquid-carrot/data.pima-indians-diabetes@1.0.1")
    with tarfile.open(archive) as tar:
        text = tar.extractfile("package/src/index.csv").read().decode()
    rows = list(csv.reader(io.StringIO(text)))[1:]
    assert len(rows) == 768, "the Pima table is not what it was"
    write_table(HERE / "pima/pima.csv", PIMA, rows)


def fetch_google(folder):
    archive = download(folder, "pip", "download", "--quiet", "--no-deps", "bokeh_sampledata==2026.1")
    with zipfile.ZipFile(archive) as wheel:
        text = gzip.decompress(wheel.read("bokeh_sampledata/_data/stocks.csv.gz")).decode()
    rows = [(r["Date"], r["Close"]) for r in csv.DictReader(io.StringIO(text))
            if r["Ticker"] == "GOOG" and "2005-02-07" <= r["Date"] <= "2005-07-07"]
    assert len(rows) == 105, "the prices are not what they were"
    write_table(HERE / "google/google.csv", ["date", "close"], rows)


class Serialised:
    """Reads R's binary serialisation, as far as data frames of numbers and lists of offsets need it."""

    def __init__(self, data):
        self.data, self.at, self.references = data, 2, []
        version = self.integer()
        self.at += 8
        if version == 3:                            # the encoding of the writer
            length = self.integer()
            self.at += length

    def integer(self):
        self.at += 4
        return struct.unpack_from(">i", self.data, self.at - 4)[0]

    def numbers(self, layout):
        count = self.integer()
        size = struct.calcsize(layout)
        self.at += count * size
        return list(struct.unpack_from(f">{count}{layout}", self.data, self.at - count * size))

    def item(self):
        flags = self.integer()
        kind, has_attributes = flags & 255, flags & 512
        if kind in (254, 253, 242, 241):            # NULL and the standard environments
            return None
        if kind == 255:                             # a symbol met before
            return self.references[(flags >> 8) - 1]
        if kind == 1:
            self.references.append(self.item())
            return self.references[-1]
        if kind == 2:                               # a pair list, as attributes are
            pairs = {}
            while flags & 255 == 2:
                if flags & 512:
                    self.item()
                name = self.item() if flags & 1024 else None
                pairs[name] = self.item()
                flags = self.integer()
            return pairs
        if kind == 9:
            length = self.integer()
            self.at += max(length, 0)
            return self.data[self.at - max(length, 0):self.at].decode("latin-1")
        values = self.vector(kind)
        attributes = self.item() if has_attributes else {}
        return dict(zip(attributes["names"], values)) if "names" in attributes else values

    def vector(self, kind):
        if kind in (10, 13):
            return self.numbers("i")
        if kind == 14:
            return self.numbers("d")
        if kind in (16, 19):
            return [self.item() for _ in range(self.integer())]
        raise ValueError(f"R value of kind {kind} is not read here")


def r_dataset(folder, name):
    """One dataset out of R's lazy-load database: an index of places, and compressed values behind them."""
    place, length = Serialised(zlib.decompress((folder / "Rdata.rdx").read_bytes(), 47)).item()["variables"][name]
    block = (folder / "Rdata.rdb").read_bytes()[place:place + length]
    kind, packed = block[4:5], block[5:]
    if kind == b"Z":
        raw = lzma.decompress(packed, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6}])
    elif kind == b"2":
        raw = bz2.decompress(packed)
    else:
        raw = zlib.decompress(block[4:])
    return Serialised(raw).item()


def fetch_faithful(folder):
    archive = download(folder, "apt-get", "download", "r-base-core")
    subprocess.run(["dpkg-deb", "-x", archive, folder / "r"], check=True)
    faithful = r_dataset(folder / "r/usr/lib/R/library/datasets/data", "faithful")
    rows = transpose([faithful["eruptions"], faithful["waiting"]])
    assert len(rows) == 272, "Old Faithful is not what it was"
    write_table(HERE / "faithful/faithful.csv", ["eruptions", "waiting"], [[number_text(v) for v in row] for row in rows])


def main():
    if sys.argv[1:] == ["--fetch"]:
        for fetch in (fetch_nhefs, fetch_pima, fetch_google, fetch_faithful):
            with tempfile.TemporaryDirectory() as folder:
                fetch(pathlib.Path(folder))
    elif sys.argv[1:]:
        sys.exit(__doc__)
    make_data()


if __name__ == "__main__":
    main()
