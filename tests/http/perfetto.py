# SPDX-License-Identifier: Apache-2.0
"""Reads Perfetto's traces, independently of the program that writes them.

Field numbers are from Perfetto's public definitions (google/perfetto, protos/perfetto/trace):
trace.proto, trace_packet.proto, track_event/track_descriptor.proto, process_descriptor.proto,
thread_descriptor.proto, track_event.proto, debug_annotation.proto,
interned_data/interned_data.proto.
"""
import collections
import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4
INCREMENTAL_STATE_CLEARED, NEEDS_INCREMENTAL_STATE = 1, 2


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """(field, wire type, value) of a message; raises when it is none."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == FIXED64:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == BYTES:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field is cut off"
        else:
            raise AssertionError("wire type %d" % wire)
        yield key >> 3, wire, value


def message(data, known):
    """A message as lists of values by name; known: {field: (name, wire type)}."""
    out = collections.defaultdict(list)
    for field, wire, value in fields(data):
        assert field in known, "field %d is not expected here" % field
        name, expected = known[field]
        assert wire == expected, "field %d has wire type %d" % (field, wire)
        out[name].append(value)
    return out


PACKET = {8: ("timestamp", VARINT), 10: ("trusted_packet_sequence_id", VARINT),
          11: ("track_event", BYTES), 12: ("interned_data", BYTES),
          13: ("sequence_flags", VARINT), 60: ("track_descriptor", BYTES)}
DESCRIPTOR = {1: ("uuid", VARINT), 2: ("name", BYTES), 3: ("process", BYTES),
              4: ("thread", BYTES), 5: ("parent_uuid", VARINT), 8: ("counter", BYTES)}
PROCESS = {1: ("pid", VARINT), 6: ("process_name", BYTES)}
THREAD = {1: ("pid", VARINT), 2: ("tid", VARINT), 5: ("thread_name", BYTES)}
EVENT = {4: ("debug_annotations", BYTES), 9: ("type", VARINT), 10: ("name_iid", VARINT),
         11: ("track_uuid", VARINT), 23: ("name", BYTES), 30: ("counter_value", VARINT),
         44: ("double_counter_value", FIXED64), 47: ("flow_ids", FIXED64),
         48: ("terminating_flow_ids", FIXED64)}
ANNOTATION = {1: ("name_iid", VARINT), 3: ("uint_value", VARINT), 4: ("int_value", VARINT),
              5: ("double_value", FIXED64), 6: ("string_value", BYTES)}
INTERNED = {2: ("event_names", BYTES), 3: ("debug_annotation_names", BYTES)}
INTERNED_NAME = {1: ("iid", VARINT), 2: ("name", BYTES)}


class Track:
    def __init__(self, name, parent, is_counter):
        self.name, self.parent, self.is_counter = name, parent, is_counter
        self.events = []


class Trace:
    """processes: {uuid: (pid, name)}; tracks: {uuid: Track}; slices: (process, track, name,
    begin, end, args); counters: (process, track, time, value); flows: {id: [(direction, slice)]}."""

    def __init__(self, data):
        self.processes, self.tracks, self.tids = {}, {}, []
        self.slices, self.counters = [], []
        self.flows = collections.defaultdict(list)
        names = {}  # by (sequence, what, iid)
        sequences = set()
        packets = list(fields(data))
        assert all(field == 1 and wire == BYTES for field, wire, _ in packets)
        for _, _, packet in packets:
            p = message(packet, PACKET)
            (sequence,), (flags,) = p["trusted_packet_sequence_id"], p["sequence_flags"]
            assert sequence > 0
            first = sequence not in sequences
            sequences.add(sequence)
            assert bool(flags & INCREMENTAL_STATE_CLEARED) == first
            assert flags & NEEDS_INCREMENTAL_STATE
            for interned in p["interned_data"]:
                for what, entries in message(interned, INTERNED).items():
                    for entry in entries:
                        e = message(entry, INTERNED_NAME)
                        key = (sequence, what, e["iid"][0])
                        assert e["iid"][0] > 0 and key not in names
                        names[key] = e["name"][0].decode()
            for descriptor in p["track_descriptor"]:
                self.declare(message(descriptor, DESCRIPTOR))
            for event in p["track_event"]:
                e = message(event, EVENT)
                args = {}
                for annotation in e["debug_annotations"]:
                    a = message(annotation, ANNOTATION)
                    args[names[(sequence, "debug_annotation_names", a["name_iid"][0])]] = value(a)
                name = None
                if e["name_iid"]:
                    name = names[(sequence, "event_names", e["name_iid"][0])]
                elif e["name"]:
                    name = e["name"][0].decode()
                self.tracks[e["track_uuid"][0]].events.append((p["timestamp"][0], e, name, args))
        for track in self.tracks.values():
            self.replay(track)

    def declare(self, d):
        (uuid,) = d["uuid"]
        assert uuid and uuid not in self.processes and uuid not in self.tracks
        if d["process"]:
            p = message(d["process"][0], PROCESS)
            self.processes[uuid] = (p["pid"][0], p["process_name"][0].decode())
            return
        assert d["parent_uuid"][0] in self.processes
        if d["thread"]:
            t = message(d["thread"][0], THREAD)
            assert t["pid"][0] == self.processes[d["parent_uuid"][0]][0]
            assert 0 < t["tid"][0] < 1 << 31
            self.tids.append(t["tid"][0])
            name = t["thread_name"][0].decode()
        else:
            name = d["name"][0].decode()
        self.tracks[uuid] = Track(name, d["parent_uuid"][0], bool(d["counter"]))

    def replay(self, track):
        """As a reader does: by time, in the file's order where times are equal."""
        process, opened = self.processes[track.parent][1], []
        for time, e, name, args in sorted(track.events, key=lambda event: event[0]):
            kind = e["type"][0]
            assert (kind == COUNTER) == track.is_counter
            if kind == COUNTER:
                self.counters.append((process, track.name, time, value(e)))
                continue
            if kind == SLICE_END:
                begin, begun, its_args = opened.pop()
                self.slices.append((process, track.name, begun, begin, time, its_args))
                continue
            assert name is not None
            for direction in ("flow_ids", "terminating_flow_ids"):
                for flow in e[direction]:
                    self.flows[flow].append((direction, name, time))
            if kind == SLICE_BEGIN:
                opened.append((time, name, args))
            else:
                assert kind == INSTANT
                self.slices.append((process, track.name, name, time, time, args))
        assert not opened, "%d slices of %s do not end" % (len(opened), track.name)


def value(m):
    for name in ("int_value", "counter_value"):
        if m[name]:
            return signed(m[name][0])
    for name in ("double_value", "double_counter_value"):
        if m[name]:
            return struct.unpack("<d", struct.pack("<Q", m[name][0]))[0]
    if m["string_value"]:
        return m["string_value"][0].decode()
    return m["uint_value"][0]
