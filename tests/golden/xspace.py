# SPDX-License-Identifier: Apache-2.0
"""Encodes captures described as JSON, independently of the program's own code.

A capture is {"hostname": TEXT, "planes": [PLANE, ...]}. A plane has "name" and
may have "id", "stats", "lines", "metadata" (by event name: {"display": TEXT,
"stats": ...}), "hlo" (by "module(program id)": a list of [name, opcode, op_name,
op_type] and, for a program of which more is told, of
{"shape": "f32[8,4]", "operands": [PLACE, ...], "source": [FILE, LINE], "number": N} behind
these; the last is then the root) and "hlo_files" (the same: an HloProto's file in this folder). A line has "events": [[name, start in ps, duration in ps, stats], ...]
and may have "id", "name" and "at_ns". Stats are by name; a value is a text, a
number (int64 or double), {"uint": N}, {"ref": TEXT} or {"bytes": LATIN1}.
"""
import os
import struct


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


class Plane:
    def __init__(self, plane):
        self.plane = plane
        self.names = {4: {}, 5: {}}  # by field of the plane: event and stat metadata

    def id(self, field, name):
        return self.names[field].setdefault(name, len(self.names[field]) + 1)

    def stat(self, name, value):
        out = number(1, self.id(5, name))
        if isinstance(value, str):
            return out + block(5, value)
        if isinstance(value, float):
            return out + varint(2 << 3 | 1) + struct.pack("<d", value)
        if isinstance(value, dict) and "uint" in value:
            return out + number(3, value["uint"])
        if isinstance(value, dict) and "ref" in value:
            return out + number(7, self.id(5, value["ref"]))
        if isinstance(value, dict):
            return out + block(6, value["bytes"].encode("latin-1"))
        return out + number(4, value)

    def stats(self, field, stats):
        return b"".join(block(field, self.stat(k, v)) for k, v in (stats or {}).items())

    def line(self, line):
        out = number(1, line.get("id", 1)) + block(2, line.get("name", "line"))
        out += number(3, line.get("at_ns", 0))
        for name, start, duration, *stats in line.get("events", []):
            event = number(1, self.id(4, name)) + number(2, start) + number(3, duration)
            out += block(4, event + self.stats(4, stats[0] if stats else None))
        return out

    def encode(self):
        plane = self.plane
        out = number(1, plane.get("id", 0)) + block(2, plane["name"])
        out += b"".join(block(3, self.line(line)) for line in plane.get("lines", []))
        out += self.stats(6, plane.get("stats"))
        more = {}
        for name, meta in plane.get("metadata", {}).items():
            self.id(4, name)
            more[name] = block(4, meta.get("display", "")) + self.stats(5, meta.get("stats"))
        for name, instructions in plane.get("hlo", {}).items():
            self.id(4, name)
            proto = {"bytes": hlo(name, instructions).decode("latin-1")}
            more[name] = self.stats(5, {"Hlo Proto": proto})
        for name, path in plane.get("hlo_files", {}).items():
            self.id(4, name)
            with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), path), "rb") as f:
                more[name] = self.stats(5, {"Hlo Proto": {"bytes": f.read().decode("latin-1")}})
        for field, names in self.names.items():
            for name, key in names.items():
                value = number(1, key) + block(2, name)
                if field == 4:
                    value += more.get(name, b"")
                out += block(field, number(1, key) + block(2, value))
        return out


TYPES = {"s32": 4, "f32": 11, "bf16": 16}


def shape(text):
    """Of an array whose last dimension lies beside one another."""
    kind, dimensions = text.rstrip("]").split("[")
    sizes = [int(size) for size in dimensions.split(",") if size]
    layout = b"".join(number(1, i) for i in reversed(range(len(sizes))))
    return (number(2, TYPES[kind]) + b"".join(number(3, size) for size in sizes)
            + block(5, layout))


def hlo(name, instructions):
    computation = b""
    whole = any(len(instruction) > 4 for instruction in instructions)
    for place, (instruction, opcode, *op) in enumerate(instructions):
        more = op[2] if len(op) > 2 else {}
        source = more.get("source")
        body = block(1, instruction) + block(2, opcode)
        if whole:
            body += number(35, place + 1)
        if "shape" in more:
            body += block(3, shape(more["shape"]))
        if op:
            body += block(7, block(1, op[1]) + block(2, op[0])
                          + (block(3, source[0]) + number(4, source[1]) if source else b""))
        if "number" in more:
            body += number(9, more["number"])
        body += b"".join(number(36, operand + 1) for operand in more.get("operands", []))
        computation += block(2, body)
    if not whole:
        return block(1, block(1, name.split("(")[0]) + block(3, computation))
    computation += block(1, "main") + number(5, 1) + number(6, len(instructions))
    return block(1, block(1, name.split("(")[0]) + block(2, "main") + block(3, computation)
                 + number(6, 1))


def encode(capture):
    out = b"".join(block(1, Plane(plane).encode()) for plane in capture["planes"])
    return out + block(4, capture.get("hostname", "composed"))
