# SPDX-License-Identifier: Apache-2.0
"""Captures made worse, as seeds for fuzzing and for passes without coverage.

A capture is a protobuf message. Its fields' boundaries in the first kilobytes are found
by reading it as one, message within message as far as that makes sense; there it is
truncated, lengths are enlarged, and numbers become the largest and smallest there are,
with the lengths around them put right: times at both ends of an int64 are within what a file
may say. Bits are flipped anywhere. The same seed gives the
same mutants.
"""

import random

HEAD = 4096  # bytes whose boundaries are looked at
DEPTH = 8


def varint(data, at):
    """Value and the place behind it, or None."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
    return None


def encode(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data, at, end, depth=0):
    """(begin of tag, begin of value, end of value, place of a length or None) of the fields
    between two places, those within them after each."""
    while at < end and at < HEAD:
        begin = at
        tag = varint(data, at)
        if not tag or tag[0] >> 3 == 0:
            return
        at, length_at, kind = tag[1], None, tag[0] & 7
        if kind == 0:
            number = varint(data, at)
            if not number:
                return
            stop = number[1]
        elif kind in (1, 5):
            stop = at + (8 if kind == 1 else 4)
        elif kind == 2:
            length = varint(data, at)
            if not length:
                return
            length_at, at = at, length[1]
            stop = at + length[0]
        else:
            return
        if stop > end:
            return
        yield begin, at, stop, length_at
        if kind == 2 and depth < DEPTH and plausible(data, at, stop):
            yield from fields(data, at, stop, depth + 1)
        at = stop


def plausible(data, at, end):
    """Whether the bytes could be a message: their first field fits."""
    tag = varint(data, at)
    if at == end or not tag or not 0 < tag[0] >> 3 < 2048:
        return False
    kind = tag[0] & 7
    if kind == 2:
        length = varint(data, tag[1])
        return bool(length) and length[1] + length[0] <= end
    return kind in (0, 1, 5)


# A change is (name, begin, end, bytes in their place): whole mutants of large captures
# would together take gigabytes.

def truncations(data):
    """Cut at each boundary of a field and in each of their lengths and tags."""
    places = set()
    for begin, value, stop, length_at in fields(data, 0, len(data)):
        places.update((begin, begin + 1, value, stop))
        if length_at is not None:
            places.add(length_at)
    for place in sorted(p for p in places if 0 < p <= HEAD and p < len(data)):
        yield "cut-%d" % place, place, len(data), b""


def enlargements(data):
    """A length made larger than it is: by one, by much, beyond 32 bits, beyond all."""
    for _, value, stop, length_at in fields(data, 0, len(data)):
        if length_at is None:
            continue
        size = stop - value
        for name, length in (("1", size + 1), ("twice", 2 * size + 64), ("31", 2**31 - 1),
                             ("32", 2**32 + size), ("63", 2**63 - 1), ("64", 2**64 - 1)):
            yield "length-%d-%s" % (length_at, name), length_at, value, encode(length)


# As a varint holds them: those beyond 2^63 are negative. A timestamp is multiplied by 1000.
EXTREMES = {"most": 2**63 - 1, "least": 2**63 + 1, "minus-one": 2**64 - 1,
            "ps-most": (2**63 - 1) // 1000, "ps-least": 2**64 - 2**63 // 1000, "128": 128}


def extremes(data):
    """A number made another, and the messages around it as long as they are then."""
    around = []  # (place of the length, begin and end of the message), outermost first
    for begin, value, stop, length_at in fields(data, 0, len(data)):
        while around and around[-1][2] <= begin:
            around.pop()
        if length_at is not None:
            around.append((length_at, value, stop))
        elif data[begin] & 7 == 0:
            for name, number in EXTREMES.items():
                new, end = encode(number), stop
                grown, place = len(new) - (stop - value), value
                for outer_at, outer_value, outer_stop in reversed(around):
                    length = encode(outer_stop - outer_value + grown)
                    new = length + data[outer_value:place] + new
                    grown += len(length) - (outer_value - outer_at)
                    place = outer_at
                yield "number-%d-%s" % (begin, name), place, end, new


def changed(data, change):
    name, begin, end, new = change
    return name, data[:begin] + new + data[end:]


def flipped(data, count, rng):
    for i in range(count):
        copy = bytearray(data)
        for _ in range(1 << rng.randrange(0, 7)):
            # Half of them where the structure is.
            place = rng.randrange(min(len(data), 2 * HEAD) if rng.random() < 0.5 else len(data))
            copy[place] ^= 1 << rng.randrange(8)
        yield "bits-%d" % i, bytes(copy)


def seeds(data, room):
    """Small ones, for a fuzzer that is led by coverage: the head alone and worse."""
    head = data[:room]
    yield "head", head
    for change in truncations(head):
        yield changed(head, change)
    yield from flipped(head, 8, random.Random(1))
    for change in list(enlargements(head))[::5]:
        yield changed(head, change)
    for change in list(extremes(head))[::7]:
        yield changed(head, change)


def mutants(data, seed):
    """Whole ones in an order that never ends, the most telling first."""
    yield "whole", data
    systematic = list(truncations(data)) + list(enlargements(data)) + list(extremes(data))
    rng = random.Random(seed)
    rng.shuffle(systematic)
    flips = flipped(data, 1 << 30, rng)
    for change in systematic:
        yield changed(data, change)
        yield next(flips)
    yield from flips
