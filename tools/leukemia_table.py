#!/usr/bin/env python3
"""The merged leukemia data of Bioconductor's golubEsets as a CSV: one row for each patient, `ALL` (1: acute
lymphoblastic, 0: acute myeloid leukemia), then the expression of each gene.

    leukemia_table.py FOLDER_WITH_Golub_Merge.rda leukemia.csv

Reads R's own format ("RDX2" or "RDX3", XDR), as far as these files use it, so that R is not needed."""

import csv
import lzma
import os
import struct
import sys

# Kinds of items, by R's numbers.
SYMBOL, PAIRS, CLOSURE, ENVIRONMENT, PROMISE, LANGUAGE, CHARS = 1, 2, 3, 4, 5, 6, 9
LOGICAL, INTEGER, REAL, STRINGS, LIST, EXPRESSION, S4 = 10, 13, 14, 16, 19, 20, 25
REFERENCE, NULL, GLOBAL, UNBOUND, MISSING, BASE = 255, 254, 253, 252, 251, 241
NAMESPACE, PACKAGE, EMPTY = 249, 250, 242
NA = -(2**31)
# All of them are cells: something, and the rest.
CELLS = (PAIRS, LANGUAGE, CLOSURE, PROMISE)


class Item:
    """A value with its attributes."""

    def __init__(self, value):
        self.value = value
        self.attributes = {}


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0
        self.known = []

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("the file ends early")
        self.at += n
        return self.data[self.at - n : self.at]

    def integer(self):
        return struct.unpack(">i", self.take(4))[0]

    def length(self):
        n = self.integer()
        if n < 0:
            raise ValueError("a vector that is too long")
        return n

    def remember(self, item):
        self.known.append(item)
        return item

    def item(self):
        flags = self.integer()
        kind, has_attributes, has_tag = flags & 255, bool(flags & 512), bool(flags & 1024)
        if kind in (NULL, UNBOUND, MISSING, GLOBAL, BASE, EMPTY):
            return Item(None)
        if kind == REFERENCE:
            return self.known[(flags >> 8 or self.integer()) - 1]
        if kind == SYMBOL:
            return self.remember(Item(self.item().value))
        if kind in (NAMESPACE, PACKAGE):
            self.integer()
            return self.remember(Item([self.item().value for _ in range(self.length())]))
        if kind == ENVIRONMENT:
            # Locked or not, then: what is around it, its frame, a table of hashes, attributes.
            self.integer()
            found = self.remember(Item(None))
            _, frame, table, _ = (self.item() for _ in range(4))
            buckets = [frame] + [b for b in (table.value or []) if b.value]
            found.value = dict(pair for b in buckets for pair in (b.value or []))
            return found
        if kind in CELLS:
            return self.pairs(has_attributes, has_tag)
        found = Item(self.vector(kind))
        if has_attributes:
            found.attributes = dict(self.item().value)
        return found

    def pairs(self, has_attributes, has_tag):
        """A chain of cells, read in a loop: the rest of a cell is the item that follows it."""
        cells = []
        while True:
            if has_attributes:
                self.item()
            tag = self.item().value if has_tag else None
            cells.append((tag, self.item()))
            begin = self.at
            flags = self.integer()
            if flags & 255 not in CELLS:
                self.at = begin
                self.item()
                return Item(cells)
            has_attributes, has_tag = bool(flags & 512), bool(flags & 1024)

    def vector(self, kind):
        if kind == S4:
            return None
        if kind == CHARS:
            n = self.integer()
            return None if n == -1 else self.take(n).decode("utf-8", "replace")
        n = self.length()
        if kind in (LOGICAL, INTEGER):
            return [None if x == NA else x for x in struct.unpack(f">{n}i", self.take(4 * n))]
        if kind == REAL:
            return list(struct.unpack(f">{n}d", self.take(8 * n)))
        if kind == STRINGS:
            return [self.item().value for _ in range(n)]
        if kind in (LIST, EXPRESSION):
            return [self.item() for _ in range(n)]
        raise ValueError(f"items of kind {kind} are not expected here")


def objects(path):
    """What `load` of R would find in a file."""
    with lzma.open(path) as file:
        data = file.read()
    if data[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
        raise ValueError(f"{path}: not a file of R in the XDR format")
    reader = Reader(data[7:])
    version = reader.integer()
    reader.take(8)
    if version == 3:
        reader.take(reader.length())
    return dict(reader.item().value)


def table(path):
    """Names of genes, then for each patient whether it is ALL, and the expression of all genes."""
    data = objects(path)["Golub_Merge"].attributes
    matrix = data["assayData"].value["exprs"]
    genes, patients = matrix.attributes["dim"].value
    names = matrix.attributes["dimnames"].value[0].value
    frame = data["phenoData"].attributes["data"]
    columns = dict(zip(frame.attributes["names"].value, frame.value))
    kinds = columns["ALL.AML"]
    levels = kinds.attributes["levels"].value
    if sorted(levels) != ["ALL", "AML"] or len(kinds.value) != patients or len(names) != genes:
        raise ValueError(f"{path}: not the leukemia data as they were known")
    for patient, kind in enumerate(kinds.value):
        yield int(levels[kind - 1] == "ALL"), matrix.value[patient * genes : (patient + 1) * genes], names


def main():
    folder, out = sys.argv[1:]
    with open(out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        rows = 0
        for outcome, values, names in table(os.path.join(folder, "Golub_Merge.rda")):
            if rows == 0:
                writer.writerow(["ALL", *names])
            writer.writerow([outcome, *(f"{value:g}" for value in values)])
            rows += 1
    print(f"{out}: {rows} patients", file=sys.stderr)


if __name__ == "__main__":
    main()
