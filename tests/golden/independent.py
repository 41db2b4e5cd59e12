# SPDX-License-Identifier: Apache-2.0
"""What a capture says, computed a second time: from its bytes, by the rules of docs/tools and
docs/reference, in the plainest way, without any of the program's code. It is slow and reads
everything into memory; run.py holds the server's answers against it.

    capture = Capture(open(path, "rb").read())
    kernels(capture), host_ops(capture), steps(capture), memory(capture), ...
"""
import bisect
import collections
import re
import struct

DERIVED = range(-559038737, -559038737 + 512)  # ids of derived lines, as 32-bit numbers

# Beginnings of names of host and device planes.
SIDES = ("/host:CPU", "Host CPUs", "/host:tfstreamz", "/host:metadata", "Syscalls", "/host:python-tracer",
         "/host:CUPTI", "/host:__ScopeRangeCallStack__", "/device", "#Chip")


# ---- the file (docs/reference/xplane.md 1 and 2) ----

def fields(data):
    """(number, value) of each field of a message: a number, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & (1 << 64) - 1
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, data[at:at + 8]
            at += 8
        elif tag & 7 == 2:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {tag & 7}")


def signed(n):
    return n - (1 << 64) if n >= 1 << 63 else n


def message(data, **names):
    """The last of each field that is named by number, lists for those in capitals."""
    out = {name: [] if name.isupper() else None for name in names}
    by_number = {number: name for name, number in names.items()}
    for number, value in fields(data):
        name = by_number.get(number)
        if name and name.isupper():
            out[name].append(value)
        elif name:
            out[name] = value
    return out


Meta = collections.namedtuple("Meta", "name display stats")


class Event:
    """begin and offset in picoseconds, by the capture's clock and by its line's."""

    def __init__(self, plane, line, meta, offset, duration, stats):
        self.plane, self.line, self.stats = plane, line, stats
        self.name, self.shown = meta.name, meta.display or meta.name
        self.offset, self.duration = offset, duration
        self.begin = line.at_ns * 1000 + offset
        self.end = self.begin + duration
        self.parent, self.above, self.below = None, [], []
        self.group = self.number("group_id")

    def number(self, name, otherwise=None):
        value = self.stats.get(name)
        return value if isinstance(value, int) else otherwise

    def text(self, name):
        value = self.stats.get(name)
        return value if isinstance(value, str) else ""

    def includes(self, other):
        return self.begin <= other.begin and other.end <= self.end


class Line:
    def __init__(self, plane, data):
        m = message(data, id=1, name=2, at_ns=3, EVENTS=4)
        self.plane = plane
        self.id = signed(m["id"] or 0)
        self.name = (m["name"] or b"").decode()
        self.at_ns = signed(m["at_ns"] or 0)
        self.is_derived = (self.id + (1 << 31)) % (1 << 32) - (1 << 31) in DERIVED
        self.events = []
        for raw in m["EVENTS"]:
            e = message(raw, meta=1, offset=2, duration=3, STATS=4)
            meta = plane.metadata.get(signed(e["meta"] or 0), Meta("", "", {}))
            self.events.append(Event(plane, self, meta, signed(e["offset"] or 0), e["duration"] or 0,
                                     {**meta.stats, **plane.stats_of(e["STATS"])}))
        self.in_file = list(self.events)
        self.events.sort(key=lambda e: (e.offset, -e.duration))


class Plane:
    def __init__(self, data):
        m = message(data, id=1, name=2, LINES=3, EVENT_METADATA=4, STAT_METADATA=5, STATS=6)
        self.id, self.name = m["id"] or 0, (m["name"] or b"").decode()
        self.stat_names = {}
        for entry in m["STAT_METADATA"]:
            pair = message(entry, key=1, value=2)
            name = message(pair["value"] or b"", name=2)["name"] or b""
            self.stat_names[signed(pair["key"] or 0)] = name.decode()
        self.metadata = {}
        for entry in m["EVENT_METADATA"]:
            pair = message(entry, key=1, value=2)
            meta = message(pair["value"] or b"", name=2, display=4, STATS=5)
            self.metadata[signed(pair["key"] or 0)] = Meta(
                (meta["name"] or b"").decode(errors="replace"),
                (meta["display"] or b"").decode(errors="replace"), self.stats_of(meta["STATS"]))
        self.stats = self.stats_of(m["STATS"])
        self.lines = [Line(self, line) for line in m["LINES"]]
        self.is_gpu = self.name.startswith("/device:GPU:")

    def stats_of(self, raw):
        stats = {}
        for data in raw:
            name = None
            for number, value in fields(data):
                if number == 1:
                    name = self.stat_names.get(signed(value), "")
                elif number == 2:
                    stats[name] = struct.unpack("<d", value)[0]
                elif number == 3:
                    stats[name] = value
                elif number == 4:
                    stats[name] = signed(value)
                elif number == 5:
                    stats[name] = value.decode(errors="replace")
                elif number == 6:
                    stats[name] = value
                elif number == 7:
                    stats[name] = self.stat_names.get(value, "")
        return stats

    def recorded(self):
        return [line for line in self.lines if not line.is_derived]


class Capture:
    def __init__(self, data):
        m = message(data, PLANES=1, HOSTNAMES=4)
        self.planes = [Plane(plane) for plane in m["PLANES"]]
        self.hostname = m["HOSTNAMES"][0].decode() if m["HOSTNAMES"] else "localhost"
        self.host = next((p for p in self.planes if p.name == "/host:CPU"), None)
        self.gpus = [p for p in self.planes if p.is_gpu]
        sides = [p for p in self.planes if p.name.startswith(SIDES)]
        self.is_grouped = all("group_id" in p.stat_names.values() for p in sides)
        self.names = {}  # of groups
        self.instructions = instructions(self)
        if not self.is_grouped:
            make_groups(self)


def instructions(capture):
    """Operations by (program, instruction): `name:type`, or "" (docs/reference/hlo_modules.md 1)."""
    found = {}
    for plane in capture.planes:
        for number, meta in plane.metadata.items() if plane.name == "/host:metadata" else ():
            proto = meta.stats.get("Hlo Proto", b"")
            program = meta.stats.get("program_id", number)
            named = re.search(r"\((\d+)\)$", meta.name)
            if named and "program_id" not in meta.stats:
                program = int(named[1])
            module = message(proto, module=1)["module"] or b""
            for computation in message(module, COMPUTATIONS=3)["COMPUTATIONS"]:
                for raw in message(computation, INSTRUCTIONS=2)["INSTRUCTIONS"]:
                    m = message(raw, name=1, metadata=7)
                    op = message(m["metadata"] or b"", type=1, name=2)
                    name, kind = ((op[key] or b"").decode() for key in ("name", "type"))
                    found.setdefault((program % (1 << 64), (m["name"] or b"").decode()),
                                     f"{name}:{kind}" if name else "")
    return found


LOOPS = {"ParallelForOp", "ForeverOp", "ForOp", "WhileOp-EvalCond", "WhileOp-StartBody"}
ABOUT_GROUPS = ("overview_page", "input_pipeline_analyzer", "pod_viewer", "memory_profile")


def not_computed(capture, tool):
    """Why a tool's answer is not computed here, or ""."""
    if any(plane.name.startswith("/device:TPU:") for plane in capture.planes):
        return "TPUs" if tool != "module_list" else ""
    if tool in ABOUT_GROUPS and not capture.is_grouped:
        names = {meta.name for plane in capture.planes for meta in plane.metadata.values()}
        if names & LOOPS:
            return "loops in raw captures"
    return "no GPU" if tool == "kernel_stats" and not capture.gpus else ""


# ---- names of operations (docs/reference/xplane.md 7) ----

def op_of(text):
    """(name, type) of an operation, or None."""
    if ":" not in text:
        for kind in ("HToD", "DToH", "DToD", "HToH"):
            if text.lower().startswith("memcpy" + kind.lower()):
                return text, "Memcpy" + kind
        return None
    name, kind = text.split(":", 1)
    if name == "Iterator":
        return text, "Dataset"
    if re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*", name) and re.fullmatch("[A-Z_][a-zA-Z0-9_]*", kind):
        return name, kind
    derived = kind or re.sub(r"_\d+$", "", name.split("/")[-1])
    if re.fullmatch(r"[a-z_][a-z0-9_]*(\[.*\])?", derived):
        return name, derived.split("[")[0]
    return None if kind else (name, derived)


# ---- groups of raw captures (docs/reference/preprocess.md B and C) ----

def make_groups(capture):
    """Links events upward and downward, and gives them groups; for what is not followed see
    not_computed()."""
    events = []
    for plane in capture.planes:
        for line in plane.lines:
            open_events = []
            for event in line.events:
                events.append(event)
                if event.stats.get("_a"):
                    continue
                while open_events and not open_events[-1].includes(event):
                    open_events.pop()
                if open_events:
                    link(open_events[-1], event)
                    event.parent = open_events[-1]
                open_events.append(event)
    launches, makers, takers = {}, collections.defaultdict(list), collections.defaultdict(list)
    executors = {}
    for event in events:
        s = event.stats
        if "_pt" in s and "_p" in s:
            makers[s["_pt"], s["_p"]].append(event)
        if "_ct" in s and "_c" in s:
            takers[s["_ct"], s["_c"]].append(event)
        if "correlation_id" in s and event.plane is capture.host and not op_of(event.name):
            launches[s["correlation_id"]] = event
        if event.name == "ExecutorState::Process" and "id" in s and "iter_num" in s:
            executors[s["id"], s["iter_num"]] = event
    for event in events:
        s = event.stats
        if "correlation_id" in s and event.plane is not capture.host and s["correlation_id"] in launches:
            link(launches[s["correlation_id"]], event)
        if event.name.startswith("IteratorGetNext") and (s.get("id"), s.get("iter_num")) in executors:
            link(executors[s["id"], s["iter_num"]], event)
    for key, parents in makers.items():
        if len(parents) < 64 or len(takers[key]) < 64:
            for parent in parents:
                for child in takers[key]:
                    link(parent, child)
    of_data = {e.stats["id"] for e in events
               if e.name.startswith("InstantiatedCapturedFunction::Run") and "id" in e.stats}
    roots = [(e.stats.get("_r", 1), e) for e in events if "_r" in e.stats or e.name == "TraceContext"
             if e.stats.get("id") not in of_data]
    roots.sort(key=lambda pair: (-pair[0], pair[1].begin, -pair[1].duration))
    levels = {id(e): level for level, e in roots}
    count = 0
    for level, root in roots:
        if root.group is not None or any(levels.get(id(e)) == level for e in reach(root, "above")):
            continue
        give_group(root, count)
        above = [root] + reach(root, "above")
        text = next((e.text("graph_type") for e in above if "graph_type" in e.stats), None)
        implicit = root.name in ("FunctionRun", "SessionRun", "RunGraph", "ExecutorState::Process")
        text = text if text is not None else "" if implicit else root.name
        number = next((e.stats[name] for name in ("iter_num", "step_num") for e in above
                       if name in e.stats), count)
        capture.names[count] = f"{text} {number}" if text else str(number)
        if not implicit:
            root.stats["step_name"] = capture.names[count]
        count += 1


def link(parent, child):
    parent.below.append(child)
    child.above.append(parent)


def reach(event, direction):
    """All events above or below, the nearest first."""
    seen, found, todo = {id(event)}, [], collections.deque([event])
    while todo:
        for other in getattr(todo.popleft(), direction):
            if id(other) not in seen:
                seen.add(id(other))
                found.append(other)
                todo.append(other)
    return found


def give_group(root, group):
    todo = collections.deque([root])
    while todo:
        event = todo.popleft()
        if event.group is None:
            event.group = group
            todo.extend(event.below)


# ---- kernels (docs/tools/kernel_stats.md) ----

TENSOR_KERNELS = """16816 c1688 conv1x1 conv2d_c1_k1 dgrad_1x1_stride_2x2 direct_group
first_layer_wgrad_kernel h1688 h884 hmma i16832 i8816 s884 s1688 xmma_gemm xmma_implicit_gemm
xmma_sparse_conv xmma_sparse_gemm xmma_warp_specialized_implicit_gemm""".split()
TENSOR_ENDS = tuple("""Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D DepthwiseConv2dNative
DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput /MatMul FusedMatMul /CudnnRNN
XlaDot XlaDotV2""".split())
TENSOR_PARTS = "BatchMatMul CudnnRNNV CudnnRNNForward CudnnRNNBackprop".split()


def named_op(event):
    """(name, type) of what a device event ran for, or None."""
    for stat in ("tf_op", "level 0", "annotation"):
        text = event.text(stat)
        text = text.split("#")[0] if stat == "annotation" else text
        if text:
            return op_of(text) or (text, "")
    return None


def instruction_of(capture, event):
    """(instruction, its operation or "") of an event of XLA's, or None where the file has none."""
    name = event.text("hlo_op").split("::")[-1]
    program = event.number("program_id")
    if not name or program is None:
        return None
    op = capture.instructions.get((program % (1 << 64), name))
    return None if op is None else (name, op)


def kernels(capture):
    """Rows of kernel stats, without rank and occupancy."""
    found = collections.defaultdict(list)
    for plane in capture.gpus:
        for event in (e for line in plane.recorded() for e in line.events):
            if not event.text("kernel_details") or event.duration < 1000:
                continue
            details = dict(part.split(":") for part in re.split("[ \n]", event.text("kernel_details"))
                           if part.count(":") == 1)
            op = named_op(event)
            uses = any(part in event.name for part in TENSOR_KERNELS)
            left, arrow, _ = event.text("equation").partition("->")
            eligible = bool(op) and (op[0].endswith(TENSOR_ENDS) or any(x in op[0] for x in TENSOR_PARTS)
                                     or uses or bool(arrow) and left.count(",") == 1)
            name = op[0] if op else ""
            known = instruction_of(capture, event)
            if known:
                name = known[1]
                eligible |= name.endswith(TENSOR_ENDS) or any(part in name for part in TENSOR_PARTS)
            shared = sum(int(details.get(key, 0)) for key in ("static_shared", "dynamic_shared", "shm"))
            found[event.name, int(details.get("regs", 0)), shared, details.get("block", "1,1,1"),
                  details.get("grid", "1,1,1"), eligible, uses, name].append(event.duration // 1000)
    rows = []
    for key, ns in found.items():
        rows.append(dict(zip(("kernel_name", "registers_per_thread", "shmem_bytes", "block_dim", "grid_dim",
                              "is_op_tensor_core_eligible", "is_kernel_using_tensor_core", "op_name"), key),
                         occurrences=len(ns), total_duration_us=sum(ns) / 1000,
                         avg_duration_us=sum(ns) // len(ns) / 1000, min_duration_us=min(ns) / 1000,
                         max_duration_us=max(ns) / 1000))
    return rows


# ---- operations (docs/tools/framework_op_stats.md) ----

class Ops:
    def __init__(self):
        self.rows = {}  # by name: [type, occurrences, time, self time]
        self.idle = self.total = 0
        self.has_idle = False

    def add(self, op, count, time, own):
        row = self.rows.setdefault(op[0], [op[1] or "Unknown", 0, 0, 0])
        row[1] += count
        row[2] += time
        row[3] += own


def host_ops(capture):
    ops = Ops()
    for line in capture.host.recorded() if capture.host else ():
        ops.has_idle = True
        bounds = []
        for number, event in enumerate(line.events):
            if op_of(event.name):
                bounds += [(event.begin, number, True, event), (event.end, number, False, event)]
        bounds.sort(key=lambda bound: bound[0])  # of equal times those of the file's order
        stack, sum_ps = [], 0
        for at, number, is_begin, event in bounds:
            if is_begin:
                stack.append([number, 0])
                continue
            if number not in [entry[0] for entry in stack]:
                stack.clear()
                continue
            while stack[-1][0] != number:
                stack.pop()
            children = stack.pop()[1]
            own = max(0, event.duration - children)
            ops.add(op_of(event.name), 1, event.duration, own)
            sum_ps += own
            if stack:
                stack[-1][1] += event.duration
        if bounds:
            window = max(sum_ps, bounds[-1][0] - bounds[0][0])
            ops.idle += window - sum_ps
            ops.total += window
    return ops


def device_ops(capture):
    """Of GPUs. Their parts are kernels, or instructions where the file has them."""
    ops, parts = Ops(), collections.defaultdict(lambda: [0, 0])
    for plane in capture.gpus:
        events = [e for line in plane.recorded() for e in line.events]
        sum_ps = 0
        for event in events:
            known, op, name = instruction_of(capture, event), named_op(event), event.name
            if known:
                name = known[0]
                op = (op_of(known[1]) or (known[1], "")) if known[1] else (name, "")
            elif not op and event.text("hlo_op"):
                op = event.text("hlo_op").split("::")[-1], ""
            if op:
                part = parts[op, bool(known), event.number("program_id") if known else 0, name]
                part[0] += 1
                part[1] += event.duration
                sum_ps += event.duration
        if events:
            ops.has_idle = True
            window = max(e.offset + e.duration for e in events) - min(e.offset for e in events)
            ops.idle += max(sum_ps, window) - sum_ps
            ops.total += max(sum_ps, window)
    for (op, *_), (count, time) in parts.items():
        ops.add(op, 0, time, time)
        ops.rows[op[0]][1] = max(count, ops.rows[op[0]][1])
    return ops


# ---- steps (docs/reference/op_stats.md 3 and 4) ----

KINDS = ["unknown", "host compute", "compile", "host to host", "host to device", "launch", "collectives",
         "wait", "device to device", "device to host", "32", "16"]
CATEGORIES = {  # as the pod viewer numbers them
    1: ("32", "16"), 2: ("device to device",), 3: ("collectives",), 4: ("host compute",), 5: ("launch",),
    6: ("wait", "host to device"), 7: ("device to host",), 8: ("compile",), 9: ("unknown", "host to host")}


def is_marker(name):
    return name.startswith(("train", "test", "TraceContext")) and "/" not in name


def kind_of_gpu_event(event):
    name = event.name.lower()
    copy = re.match(r"(?:memcpy|copy)[ _]*(htod|h2d|hosttodevice|dtoh|d2h|devicetohost|dtod|d2d|devicetodevice|ptop|p2p)",
                    name) if ":" not in name else None
    if copy:
        return {"h": "host to device", "d": "device to device", "p": "device to device"}[copy[1][0]] \
            if copy[1] not in ("dtoh", "d2h", "devicetohost") else "device to host"
    if name.startswith("nccl"):
        return "collectives"
    shape = event.text("shape")
    half = "half" in shape if shape else "half" in event.name or "fp16" in event.name
    return "16" if half else "32"


def kind_of_host_event(event, has_gpu):
    op = op_of(event.name)
    if op and (op[1].startswith("InfeedEnqueue") or op[1] == "MemcpyHToD"):
        return "host to device"
    if op and op[1] == "MemcpyHToH":
        return "host to host"
    if has_gpu and (event.number("correlation_id", -1) >= 0
                    or event.name.lower().startswith("executorstate::process")):
        return "launch"
    return "wait" if event.name.lower().startswith("iteratorgetnext") else "host compute"


def device_steps(plane, is_grouped):
    """Markers and events of a GPU by group."""
    events = [e for line in plane.recorded() for e in line.events]
    markers = collections.defaultdict(list)
    if is_grouped:
        for line in plane.lines:
            for event in line.events if line.id == -559038737 else ():
                markers[event.group].append((event.begin, event.end))
    else:
        group, current = None, None
        for event in sorted(events, key=lambda e: (e.begin, e.duration)):
            group = event.group = group if event.group is None else event.group
            if group is None:
                continue
            if group != current:
                markers[group].append([event.begin, event.end])
            markers[group][-1][1] = max(markers[group][-1][1], event.end)
            current = group
    spans = collections.defaultdict(list)
    for event in events:
        if event.group is not None and event.number("correlation_id", -1) >= 0:
            spans[event.group].append((event.begin, event.end, kind_of_gpu_event(event)))
    return {group: (markers[group], spans[group]) for group in spans if group in markers}


def sweep(spans):
    """(begin, end, kind) without overlaps, as ToNonOverlappedEvents has them."""
    bounds = []
    for begin, end, kind in spans:
        rank = KINDS.index(kind)
        bounds += [(begin, 1, -rank, rank), (end, 0, -rank, rank)]
    bounds.sort()
    count, now, out = [0] * len(KINDS), 0, []
    for i, (at, is_begin, _, rank) in enumerate(bounds[:-1]):
        count[rank] += 1 if is_begin else -1
        if is_begin:
            now = max(now, rank)
        elif rank == now and count[rank] == 0:
            now = next((r for r in range(rank - 1, -1, -1) if count[r] > 0), 0)
        out.append((at, bounds[i + 1][0], KINDS[now]))
    return out


def steps(capture):
    """[{"number", "name", "duration", "by": {kind: ps}}] of marked steps."""
    has_gpu = bool(capture.gpus)
    device = collections.defaultdict(lambda: ([], []))
    for plane in capture.gpus:
        for group, (markers, spans) in device_steps(plane, capture.is_grouped).items():
            device[group][0].extend(markers)
            device[group][1].extend(spans)
    host, spans_of, names = collections.defaultdict(list), collections.defaultdict(list), {}
    for line in capture.host.lines if capture.host else ():
        named = {}
        for event in line.events:
            if event.group is None or has_gpu and event.group not in device:
                continue
            if is_marker(event.name) or event.text("step_name"):
                host[event.group].append((event.begin, event.end))
            elif not event.name.startswith(("EagerExecute", "EagerLocalExecute", "EagerKernelExecute",
                                            "FunctionRun")):
                spans_of[event.group].append((event.begin, event.end, kind_of_host_event(event, has_gpu)))
            else:
                spans_of[event.group] += []
            if event.text("step_name"):
                named[event.group] = event.text("step_name")
        for group, name in named.items():
            names.setdefault(group, name)
    found = []
    for group in sorted(set(device) | set(host) | set(spans_of)):
        longest = [max(markers, key=lambda m: m[1] - m[0], default=None)
                   for markers in (host[group], device[group][0] if group in device else [])]
        h, d = longest
        span = h if d is None or h and h[0] <= d[0] and d[1] <= h[1] else d
        pieces = sweep(spans_of[group] + (device[group][1] if group in device else []))
        kinds = {kind for _, _, kind in pieces}
        computes = bool(kinds & {"32", "16"}) if has_gpu else "host compute" in kinds
        if span is None or span[1] == span[0] or not computes:
            continue
        by = collections.Counter()
        for begin, end, kind in pieces:
            by[kind] += max(0, min(end, span[1]) - max(begin, span[0]))
        by["unknown"] += span[1] - span[0] - sum(by.values())
        found.append({"number": group, "name": names.get(group) or str(group),
                      "duration": span[1] - span[0], "by": by})
    return found


def categories(step):
    return {number: sum(step["by"][kind] for kind in kinds) for number, kinds in CATEGORIES.items()}


def verdict(found):
    """(bottleneck, kernel launch, all others, collectives) (overview_page.md, "[3] Recommendation")."""
    whole = sum(step["duration"] for step in found)
    if not whole:
        return "unknown", "no", "no", "no"
    share = {n: 100 * sum(categories(step)[n] for step in found) / whole for n in CATEGORIES}

    def much(percent):
        return "high" if percent >= 15 else "moderate" if percent >= 3 else "no"
    others = much(share[9])
    if share[6] >= 20:
        first = "host"
    elif share[6] >= 5:
        first = "both"
    elif share[9] >= 3:
        first, others = "both", "no"
    else:
        first = "device"
    return first, much(share[5]), others, much(share[3])


# ---- input operations (docs/tools/input_pipeline_analyzer.md) ----

FILE_ENDS = tuple("::" + name for name in
                  ("TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord"))
AHEAD = ["::MemoryReader", "::MemoryWriter", "::Interleave", "::Prefetch", "::ParallelMap"]


def input_ops(capture):
    """[(name, category, occurrences, time, self time)]"""
    rows = []
    for name, (kind, count, time, own) in host_ops(capture).rows.items():
        if kind.startswith("InfeedEnqueue") or kind == "MemcpyHToD":
            category = "Enqueue"
        elif kind == "Dataset" and name.endswith(FILE_ENDS):
            ahead = any(part in name for part in AHEAD)
            category = "Advanced file read" if ahead else "Demanded file read"
        elif kind == "Dataset":
            category = "Preprocessing"
        else:
            continue
        rows.append((name, category, count, time, own))
    return rows


# ---- tf.data (docs/tools/tf_data_bottleneck_analysis.md, "How it is computed") ----

GENERATOR = "Iterator::Prefetch::Generator"


def pipelines(capture):
    """[{"root", "calls": [{"duration", "iterators": {id: {...}}, "bottleneck"}]}], calls with the slowest
    first; pipelines that a generator feeds are left out."""
    events = [e for line in (capture.host.recorded() if capture.host else ()) for e in line.events]
    callees, consumed = collections.defaultdict(list), collections.defaultdict(list)
    for line in capture.host.recorded() if capture.host else ():
        stack = []
        for event in line.events:
            if event.stats.get("_a"):
                continue
            while stack and not stack[-1].includes(event):
                stack.pop()
            if stack:
                callees[stack[-1]].append(event)
                consumed[event].append(stack[-1])
            stack.append(event)

    def is_iterator(event):
        return event.name.split(":", 1)[0] == "Iterator"
    made = collections.defaultdict(list)
    for event in events:
        if re.fullmatch("(Prefetch|ParallelInterleave|ParallelMap|MapAndBatch|ParseExample|ParallelBatch)Produce",
                        event.name) and "element_id" in event.stats:
            inner = next((e for e in callees[event] if is_iterator(e)), None)
            if inner and "parent_id" in inner.stats:
                made[inner.stats["parent_id"], event.stats["element_id"]].append(inner)
    for event in events:
        if event.name.endswith("Consume") and "element_id" in event.stats and consumed[event]:
            outer = consumed[event][0]
            if is_iterator(outer) and "id" in outer.stats:
                callees[outer] += made[outer.stats["id"], event.stats["element_id"]]
    about, fed, roots = {}, set(), collections.defaultdict(list)
    for event in sorted((e for e in events if is_iterator(e) and "id" in e.stats),
                        key=lambda e: e.name == GENERATOR):
        is_new = event.stats["id"] not in about
        about.setdefault(event.stats["id"], event)
        if event.name == GENERATOR and is_new:
            fed.add(event.stats.get("parent_id"))
        if len(event.name.split("::")) == 2:
            roots[event.stats["id"]].append(event)
    found = []
    for root, calls in roots.items():
        if root not in fed:
            calls.sort(key=lambda e: -e.duration)
            found.append({"root": about[root].name,
                          "calls": [call_of(event, callees, about, is_iterator) for event in calls]})
    return found


def call_of(root, callees, about, is_iterator):
    blocks, todo = {root: True}, collections.deque([root])
    while todo:
        event = todo.popleft()
        for other in callees[event]:
            if is_iterator(other) and "id" in other.stats:
                waits = blocks[event] and min(event.end, other.end) > max(event.begin, other.begin)
                if other not in blocks or waits and not blocks[other]:
                    blocks[other] = waits
                    todo.append(other)
    rows = {}
    for event, waits in blocks.items():
        row = rows.setdefault(event.stats["id"], {"total": 0, "self": 0, "calls": 0, "waits": False})
        covered, at = 0, event.begin
        for other in sorted((e for e in callees[event] if is_iterator(e)), key=lambda e: e.begin):
            covered += max(0, min(event.end, other.end) - max(at, other.begin))
            at = max(at, other.end)
        row["total"] += event.duration
        row["self"] += event.duration - covered
        row["calls"] += 1
        row["waits"] |= waits
    for number, row in rows.items():
        row["name"], row["parent"] = about[number].name, about[number].stats.get("parent_id", "")
    worst = min((number for number, row in rows.items() if row["waits"] and row["self"] > 0),
                key=lambda number: (-rows[number]["self"], number), default=None)
    return {"duration": root.duration, "iterators": rows, "bottleneck": worst}


# ---- memory (docs/tools/memory_profile.md) ----

def memory(capture):
    """By allocator: counts, peak, and what is in use at the peak."""
    by_id = collections.defaultdict(list)
    for line in capture.host.lines if capture.host else ():
        for event in line.in_file:
            if event.name in ("MemoryAllocation", "MemoryDeallocation"):
                named = [str(value) for stat, value in event.stats.items()
                         if stat in ("index_on_host", "device_ordinal", "allocator_name")]
                by_id[named[-1] if named else ""].append(event)
    return {name: memory_of(events) for name, events in by_id.items()}


def memory_of(events):
    def used(event):
        return event.number("bytes_reserved", 0) + event.number("bytes_allocated", 0)
    peak = max(events, key=lambda e: used(e))
    peak = [e for e in events if used(e) == used(peak)][-1]
    by_time = sorted(events, key=lambda e: e.offset)
    last = -1
    for event in by_time:
        event.step = event.group if event.group is not None else last + 1
        last = event.step if event.group is not None else last
    step = [e for e in by_time if used(e) == used(peak)][-1].step
    alive, heap = {}, peak.number("bytes_allocated", 0)
    for event in by_time[:bisect.bisect_right([e.offset for e in by_time], peak.offset)]:
        if event.step != step:
            continue
        size, address = event.number("allocation_bytes", 0), event.number("addr", 0)
        if event.name == "MemoryAllocation":
            alive[address] = event
            heap -= size
        else:
            known = alive.pop(address, None)
            heap += size if known is not None else 0  # what was there before is not of this step
    rows = collections.Counter((e.text("tf_op"), e.number("allocation_bytes", 0)) for e in alive.values())
    if heap > 0:
        rows["unused preallocated device memory", heap] += 1
    if peak.number("bytes_reserved", 0) > 0:
        rows["stack", peak.number("bytes_reserved", 0)] += 1
    return {"allocations": sum(e.name == "MemoryAllocation" for e in events),
            "deallocations": sum(e.name == "MemoryDeallocation" for e in events),
            "peak_bytes": used(peak), "peak_time_ps": peak.offset, "peak_step": step,
            "lifetime_peak_bytes": events[-1].number("peak_bytes_in_use", 0),
            "capacity_bytes": used(peak) + peak.number("bytes_available", 0), "rows": rows}


# ---- the timeline (docs/reference/trace_events.md 1 to 3) ----

HIDDEN = {"MemoryAllocation", "MemoryDeallocation", "ParallelInterleaveInitializeInput"} | {
    kind + end for kind in ("Prefetch", "ParallelInterleave", "ParallelMap", "MapAndBatch", "ParseExample")
    for end in ("Produce", "Consume")}


def trace_events(capture):
    """How often (plane, row, name, begin in ps, duration in ps) occurs among recorded events."""
    shown = collections.Counter()
    for plane in capture.planes:
        if plane is not capture.host and not plane.is_gpu:
            continue
        for line in plane.recorded():
            for event in line.events:
                if event.name not in HIDDEN:
                    shown[plane.name, line.name, event.text("step_name") or event.shown, event.begin,
                          event.duration] += 1
    return shown


# ---- HLO modules (docs/reference/preprocess.md E) ----

def modules(capture):
    return sorted(meta.name for plane in capture.planes if plane.name == "/host:metadata"
                  for meta in plane.metadata.values() if meta.stats.get("Hlo Proto"))
