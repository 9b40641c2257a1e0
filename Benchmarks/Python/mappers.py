"""One measurement of one of Python's object mappers: what `clarus-bench mapper-pass` is for the others.

    python mappers.py sqlalchemy|django CASE --rows N --passes N --template FILE --rows-from FILE --folder FOLDER

Works on the table that Clarus made of the entity Item. Prints JSON with the times of the passes, each on a
fresh copy of the template and a new connection, and the checksums of `Checksum.swift`. Making the engine, the
mapping and the first connection is not timed.
"""

import argparse
import importlib
import json
import os
import shutil
import sqlite3
import struct
import sys
import time
import uuid

MASK = (1 << 64) - 1
FIELDS = ["number", "section", "quantity", "priority", "price", "weight", "code", "title", "note", "done"]
COLUMNS = ["ZNUMBER", "ZSECTION", "ZQUANTITY", "ZPRIORITY", "ZPRICE", "ZWEIGHT", "ZCODE", "ZTITLE", "ZNOTE", "ZDONE"]
BATCH = 1000


class Checksum:
    """The same sum as Checksum.swift has when it is not thorough."""

    def __init__(self):
        self.value = 0
        self.rows = 0

    def add(self, item):
        self.rows += 1
        value = self.value + item.number + item.section + item.quantity + item.priority
        value += struct.unpack("<Q", struct.pack("<d", item.price))[0]
        value += struct.unpack("<Q", struct.pack("<d", item.weight))[0]
        for text in (item.code, item.title, item.note):
            data = text.encode()
            value += len(data) * 257 + (data[-1] if data else 0)
        self.value = (value + (0x10001 if item.done else 1)) & MASK


def scattered(rows, count):
    """The numbers that are looked up, as Swift's SplitMix makes them."""
    state = (7 * 0x9E3779B97F4A7C15) & MASK
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        word = state
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        word ^= word >> 31
        numbers.append(((word % rows) * 0x9E3779B1) & 0xFFFFFFFFFF)
    return numbers


def read_samples(path, rows):
    """The values of the first rows, to be inserted again."""
    database = sqlite3.connect(path)
    found = database.execute(f"SELECT {', '.join(COLUMNS)} FROM ZITEM ORDER BY Z_PK LIMIT ?", [rows]).fetchall()
    database.close()
    return [row[:-1] + (bool(row[-1]),) for row in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mapper")
    parser.add_argument("case")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--lookups", type=int, required=True)
    parser.add_argument("--passes", type=int, required=True)
    parser.add_argument("--template", required=True)
    parser.add_argument("--rows-from", required=True)
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    store = os.path.join(options.folder, f"{options.mapper}-{uuid.uuid4()}.sqlite")
    samples = read_samples(options.rows_from, options.rows) if options.case == "insert" else []
    numbers = scattered(options.rows, options.lookups) if options.case == "key" else []
    result = {"seconds": [], "rows": 0, "checksum": 0, "store": store}
    module = importlib.import_module(options.mapper + "_items")
    for turn in range(options.passes):
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(store + suffix):
                os.remove(store + suffix)
        shutil.copyfile(options.template, store)
        mapper = module.open(store)
        checksum = Checksum()
        start = time.perf_counter()
        if options.case == "insert":
            mapper.insert(samples)
        elif options.case == "read":
            for item in mapper.read():
                checksum.add(item)
        elif options.case == "key":
            for number in numbers:
                checksum.add(mapper.look_up(number))
        elif options.case == "update":
            mapper.update()
        elif options.case == "walk":
            for item in mapper.walk(BATCH):
                checksum.add(item)
        else:
            sys.exit(f"no case {options.case}")
        result["seconds"].append(time.perf_counter() - start)
        if turn and (checksum.value, checksum.rows) != (result["checksum"], result["rows"]):
            sys.exit("two passes read different values")
        result["checksum"], result["rows"] = checksum.value, checksum.rows
        mapper.close()
    with open("/proc/self/status") as status:
        peak = [line for line in status if line.startswith("VmHWM:")]
    result["peak"] = int(peak[0].split()[1]) * 1024 if peak else 0
    print(json.dumps(result))


if __name__ == "__main__":
    main()
