#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts the lines of a capture into many short ones, as a program of many threads writes them.

usage: cut_lines.py FILE OUT EVENTS

FILE is a plain .xplane.pb; each line of OUT has EVENTS events of one of its lines at most.
"""

import sys

from lengthen import XLINE_EVENTS, XPLANE_LINES, XSPACE_PLANES, encode, fields, nested, varint

XLINE_ID = 1
# Ids of the lines that one is cut into are this far from those of the next one's.
ID_STEP = 1_000_000


def cut(data, most):
    """The lines that one line becomes."""
    head, events, number = [], [], 0
    for field, _, begin, value, end in fields(data):
        if field == XLINE_EVENTS:
            events.append(data[begin:end])
        elif field == XLINE_ID:
            number = varint(data, value)[0]
        else:
            head.append(data[begin:end])
    for i in range(0, max(1, len(events)), most):
        line_id = number if i == 0 else number * ID_STEP + i // most
        yield [encode(XLINE_ID << 3), encode(line_id), *head, *events[i:i + most]]


def cut_lines(source, target, most):
    with open(source, "rb") as file:
        data = file.read()
    with open(target, "wb") as out:
        for field, _, begin, value, end in fields(data):
            if field != XSPACE_PLANES:
                out.write(data[begin:end])
                continue
            plane, parts = data[value:end], []
            for inner, _, first, at, last in fields(plane):
                if inner != XPLANE_LINES:
                    parts.append(plane[first:last])
                    continue
                for line in cut(plane[at:last], most):
                    parts += nested(XPLANE_LINES, line)
            out.writelines(nested(XSPACE_PLANES, [b"".join(parts)]))


if __name__ == "__main__":
    cut_lines(sys.argv[1], sys.argv[2], int(sys.argv[3]))
