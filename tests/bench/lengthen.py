#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a real capture long: every line's events are repeated with shifted times.

usage: lengthen.py FILE OUT BYTES

FILE is a plain .xplane.pb; OUT is about BYTES long. Everything but the offsets of
events is as in FILE, so ids that link events (flows, runs) come again too.
"""

import sys

XSPACE_PLANES, XPLANE_LINES, XLINE_EVENTS = 1, 3, 4
XEVENT_OFFSET, XEVENT_DURATION = 2, 3


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


ONE = [bytes((i,)) for i in range(128)]


def encode(value):
    if value < 128:
        return ONE[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    """(field, wire type, where the field begins, where its value begins, where it ends)"""
    at = 0
    while at < len(data):
        begin = at
        key, at = varint(data, at)
        kind = key & 7
        value = at
        if kind == 0:
            _, at = varint(data, at)
        elif kind == 1:
            at += 8
        elif kind == 2:
            size, value = varint(data, at)
            at = value + size
        elif kind == 5:
            at += 4
        else:
            raise ValueError(f"wire type {kind} at byte {at}")
        yield key >> 3, kind, begin, value, at


def nested(field, parts):
    size = sum(len(part) for part in parts)
    return [encode(field << 3 | 2), encode(size), *parts]


def offset_of(event):
    """(bytes before the offset, offset, bytes after it, duration)"""
    before, after, offset, duration = event, b"", 0, 0
    for field, _, begin, value, end in fields(event):
        if field == XEVENT_OFFSET:
            before, after, offset = event[:begin], event[end:], varint(event, value)[0]
        elif field == XEVENT_DURATION:
            duration = varint(event, value)[0]
    return before, offset, after, duration


# Two bytes of a varint at once, both with a next one after them: most of the time goes here.
PAIRS = [bytes((i & 127 | 128, i >> 7 | 128)) for i in range(1 << 14)]


def line(data, times, period_ps):
    out, events = bytearray(), []
    key = encode(XEVENT_OFFSET << 3)
    for field, _, begin, value, end in fields(data):
        if field == XLINE_EVENTS:
            before, offset, after, _ = offset_of(data[value:end])
            before += key
            events.append((before, offset, after, len(before) + len(after)))
        else:
            out += data[begin:end]
    tag = encode(XLINE_EVENTS << 3 | 2)
    for i in range(times):
        shift = i * period_ps
        for before, offset, after, size in events:
            left, number = offset + shift, b""
            while left > 16383:
                number += PAIRS[left & 16383]
                left >>= 14
            number += encode(left)
            out += tag
            out += encode(size + len(number))
            out += before
            out += number
            out += after
    return out


def all_events(data):
    """(the bytes of an event, its parts), over all lines"""
    for field, _, _, value, stop in fields(data):
        if field != XSPACE_PLANES:
            continue
        plane = data[value:stop]
        for inner, _, _, at, last in fields(plane):
            if inner == XPLANE_LINES:
                body = plane[at:last]
                for f, _, _, v, e in fields(body):
                    if f == XLINE_EVENTS:
                        yield body[v:e], offset_of(body[v:e])


def repetitions(data, size, period_ps):
    """How often the events make about so many bytes: later offsets are longer."""
    events = [(len(event), parts[1]) for event, parts in all_events(data)]
    once = sum(length for length, _ in events)
    middle = size // max(1, once) // 2 * period_ps
    grown = sum(len(encode(offset + middle)) - len(encode(offset)) for _, offset in events)
    around = len(data) - once  # tags, lengths and all that is not repeated
    tags = sum(1 + len(encode(length)) for length, _ in events)
    return max(1, round((size - around + tags) / max(1, once + grown + tags)))


def lengthen(source, target, size):
    with open(source, "rb") as file:
        data = file.read()
    # From the first to the last moment of a line, over all lines, and a little more.
    period_ps = max(offset + length for _, (_, offset, _, length) in all_events(data)) + 1_000_000
    times = repetitions(data, size, period_ps)
    with open(target, "wb") as out:
        for field, _, begin, value, end in fields(data):
            if field != XSPACE_PLANES:
                out.write(data[begin:end])
                continue
            plane, parts = data[value:end], []
            for inner, _, first, at, last in fields(plane):
                if inner == XPLANE_LINES:
                    parts += nested(XPLANE_LINES, [line(plane[at:last], times, period_ps)])
                else:
                    parts.append(plane[first:last])
            out.writelines(nested(XSPACE_PLANES, [b"".join(parts)]))


if __name__ == "__main__":
    lengthen(sys.argv[1], sys.argv[2], int(sys.argv[3]))
