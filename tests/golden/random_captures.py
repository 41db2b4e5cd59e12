# SPDX-License-Identifier: Apache-2.0
"""Captures made up at random, in the form that xspace.py encodes. The same seed gives the same.

Times are small and round, so that events begin and end together, last nothing, and overlap as
those of several threads and streams do.
"""
import random

OPS = ["dense/MatMul:MatMul", "a/b/conv_1:Conv2D", "jit(f)/add:", "Cast:Cast", "user annotation",
       "EagerExecute", "loss-0/Sum:Sum", "IteratorGetNext", "infeed:InfeedEnqueueTuple",
       "MEMCPYHtoD", "MEMCPYHtoH", "FunctionRun"]
INPUT = ["Iterator::Map", "Iterator::Prefetch", "Iterator::Prefetch::TFRecord", "Iterator::Batch::Map",
         "Iterator::Interleave::TextLine", "PrefetchProduce"]
KERNELS = [("volta_h884gemm", "regs:32 static_shared:16 dynamic_shared:1024 grid:8,4,1 block:128,1,1"),
           ("relu_half", "regs:8\ngrid:2,1,1\nblock:64,1,1\nshm:48"), ("add_kernel", "regs:4"),
           ("einsum", "regs:1 bad:1:2 nothing"), ("ncclAllReduceKernel", "regs:96")]
COPIES = ["MemcpyH2D", "MemcpyD2H", "Memcpy DtoD (Device -> Device)", "Memset", "MEMCPYHtoD"]
DEVICE_OPS = ["dense/MatMul:MatMul", "dense/BiasAdd:BiasAdd", "m/Einsum:Einsum", "XlaModule:", "odd name"]
US = 1000000


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.grouped = seed % 3 == 2
        self.correlation = 0
        self.launches = []  # (correlation id, time, group)

    def stats(self, group=None, **more):
        if self.grouped and group is not None:
            more["group_id"] = group if self.random.random() < 0.5 else {"uint": group}
        return {name: value for name, value in more.items() if value is not None}

    def nested(self, names, begin, end, depth, group, gpus):
        """Events between two times, each within the one around it."""
        events, at = [], begin
        while at < end and len(events) < 12:
            at += self.random.choice((0, 0, 1, 2)) * US
            if at > end:
                break
            stop = min(end, at + self.random.choice((0, 1, 1, 3, 6)) * US)
            name = self.random.choice(names)
            more = {}
            if name == "EagerExecute":
                more = {"is_func": self.random.choice((0, 1))}
            if gpus and self.random.random() < 0.25:
                self.correlation += 1
                more = {"correlation_id": self.correlation}
                name = "cuLaunchKernel"
                self.launches.append((self.correlation, stop, group))
            events.append([name, at, stop - at, self.stats(group, **more)])
            if depth and stop > at:
                events += self.nested(names, at, stop, depth - 1, group, gpus)
            at = stop if stop > at else at + US
        return events

    def pipeline(self, first, begin, calls):
        """A tf.data pipeline on a thread and on two that work ahead: its calls, and the others."""
        r, called, ahead = self.random, [], [[], []]
        root, prefetch, mapped, source = range(first, first + 4)
        at, made = begin, [begin, begin]
        for element in range(calls):
            for thread in range(2):
                if r.random() < 0.7:  # the next element may be made by either, or by both
                    made[thread] += r.choice((0, 1, 30)) * US
                    length = r.choice((1, 4, 40)) * US
                    inner = r.randrange(0, length + 1, US)
                    ahead[thread] += [
                        ["PrefetchProduce", made[thread], length, {"element_id": element}],
                        ["Iterator::Model::Prefetch::Map", made[thread], length, {"id": mapped, "parent_id": prefetch}],
                        ["Iterator::Model::Prefetch::Map::TFRecord", made[thread], inner,
                         {"id": source, "parent_id": mapped}]]
                    made[thread] += length
            length = r.choice((2, 20, 50, 60)) * US
            called += [["Iterator::Model", at, length, {"id": root}],
                       ["Iterator::Model::Prefetch", at, length - US, {"id": prefetch, "parent_id": root}],
                       ["PrefetchConsume", at + US // 2, 0, {"element_id": element}]]
            at += length + r.choice((0, 2)) * US
        return called, ahead

    def memory(self, begin, end, group, live):
        """Allocations and deallocations of two allocators, whose figures are right."""
        events = []
        for _ in range(self.random.randrange(8)):
            name = self.random.choice(("GPU_0_bfc", "gpu_host_bfc"))
            mine = live.setdefault(name, {})
            peak = live.setdefault(name + " peak", [0])
            if mine and self.random.random() < 0.4:
                address = self.random.choice(sorted(mine))
                size, kind, op = mine.pop(address), "MemoryDeallocation", None
            else:
                address, size = self.random.randrange(1, 40) << 8, self.random.choice((256, 512, 4096))
                if address in mine:
                    continue
                mine[address] = size
                kind, op = "MemoryAllocation", {"ref": self.random.choice(("x/Add", "x/MatMul", "y"))}
            heap = sum(mine.values()) + 1024
            peak[0] = max(peak[0], heap)
            events.append([kind, self.random.randrange(begin, end, US // 2), 0, self.stats(
                group, allocator_name={"ref": name}, bytes_reserved=64, bytes_allocated=heap,
                bytes_available=1 << 20, peak_bytes_in_use=peak[0] + 7, requested_bytes=size - 6,
                allocation_bytes=size, addr=address, tf_op=op, region_type={"ref": "output"},
                data_type=1, shape={"ref": "[4]"}, fragmentation=0.25)])
        return events

    def stream(self, number, marks):
        """Kernels and copies of a GPU's stream, one after the other, some of launches."""
        events, at = [], 0
        for correlation, time, group in sorted(marks, key=lambda mark: mark[1]):
            at = max(at, time + self.random.choice((0, 1, 2)) * US)
            length = self.random.choice((0, 900, 1000, US, US + 500, 4 * US))
            more = {"correlation_id": correlation}
            if self.random.random() < 0.3:
                name = self.random.choice(COPIES)
                more["memcpy_details"] = "kind_src:Pinned kind_dst:Device size:8 dest:0 async:1"
            else:
                name, more["kernel_details"] = self.random.choice(KERNELS)
                if self.random.random() < 0.8:
                    stat = "level 0" if self.grouped else "tf_op"
                    more[stat] = {"ref": self.random.choice(DEVICE_OPS)}
                if name == "einsum":
                    more["equation"] = self.random.choice(("ab,bc->ac", "ab->ba"))
                if self.random.random() < 0.3:  # of a program of XLA's, which the file may not have
                    more["hlo_op"] = {"ref": self.random.choice(("add.1", "while.3::dot.2", "gone.9"))}
                    more["program_id"] = self.random.choice((7, {"uint": 8}, 9))
                if self.random.random() < 0.2:
                    more["shape"] = self.random.choice(("float32[4]", "half[4]"))
            events.append([name, at, length, self.stats(group, **more)])
            at += length
        return {"id": 10 + number, "name": f"Stream #{10 + number}", "events": events}

    def capture(self, hostname, gpus):
        r = self.random
        main, second, data, allocations, live, at, markers = [], [], [], [], {}, 2 * US, []
        for step in range(r.randrange(1, 6)):
            length = r.choice((10, 20, 31)) * US
            first = len(self.launches)
            if r.random() < 0.9:  # else what follows belongs to no step
                name = r.choice(("train", "TraceContext", "my_step"))
                marked = {"step_name": {"ref": f"{name} {step}"}} if self.grouped else {"_r": 1, "step_num": step}
                main.append([name, at, length, self.stats(step, **marked)])
                # In raw captures a function on another thread belongs to the step that calls it.
                if r.random() < 0.7:
                    call = {} if self.grouped else {"_pt": 1, "_p": step}
                    main.append(["FunctionRun", at, 2 * US, self.stats(step, **call)])
                    taken = {} if self.grouped else {"_ct": 1, "_c": step}
                    second.append(["ExecutorState::Process", at + US, length, self.stats(step, **taken)])
                    second += self.nested(OPS, at + US, at + US + length, 2, step, gpus)
                group = step
            else:
                group = None
            main += self.nested(OPS, at + 2 * US, at + length, 2, group, gpus)
            allocations += self.memory(at, at + length, group, live)
            data += self.nested(INPUT, at, at + length, 2, None, 0)
            markers.append((group, self.launches[first:]))
            at += length + r.choice((0, 3)) * US
        host = [{"id": 1, "name": "main", "events": main}, {"id": 2, "name": "pool", "events": second},
                {"id": 3, "name": "input", "events": data}, {"id": 4, "name": "alloc", "events": allocations}]
        for number in range(r.randrange(3)):
            called, ahead = self.pipeline(10 * number + 1, 3 * US, r.randrange(1, 5))
            for events in (called, *ahead):
                host.append({"id": 5 + len(host), "name": f"data {len(host)}", "events": events})
        planes = [{"name": "/host:CPU", "lines": host}]
        for gpu in range(gpus):
            streams = [[], []]
            for mark in self.launches:
                if r.random() < 0.9 and mark[0] % gpus == gpu:
                    streams[r.randrange(2)].append(mark)
            lines = [self.stream(n, marks) for n, marks in enumerate(streams)]
            if self.grouped:
                lines.append(self.steps_line(lines))
            planes.append({"name": f"/device:GPU:{gpu}", "id": gpu, "lines": lines, "stats": {
                "device_vendor": "Nvidia", "compute_cap_major": 7, "compute_cap_minor": 0,
                "clock_rate": 1530000, "core_count": 80, "memory_bandwidth": {"uint": 900 * 10 ** 9}}})
        planes.append({"name": "/host:metadata", "hlo": {
            f"jit_{name}({number})": [["add.1", "add"], ["dot.2", "dot", "jit(f)/dot_general", "dot_general"]]
            for number, name in ((7, "f"), (8, "g")) if r.random() < 0.7}})
        for plane in planes if self.grouped else ():  # a plane that knows the name is grouped
            plane["stats"] = {**plane.get("stats", {}), "group_id": 0}
        return {"hostname": hostname, "planes": planes}

    @staticmethod
    def steps_line(lines):
        """What profilers that group write: how long a device worked for each group."""
        spans = {}
        for name, begin, length, stats in (event for line in lines for event in line["events"]):
            group = stats.get("group_id")
            if group is not None:
                group = group["uint"] if isinstance(group, dict) else group
                low, high = spans.get(group, (begin, begin + length))
                spans[group] = min(low, begin), max(high, begin + length)
        return {"id": -559038737, "name": "Steps", "events": [
            [str(group), low, high - low, {"group_id": group}] for group, (low, high) in sorted(spans.items())]}


def capture(seed, hostname="h"):
    return Maker(seed).capture(hostname, gpus=(0, 1, 2)[seed % 4 % 3])
