# SPDX-License-Identifier: Apache-2.0
"""Capturing from a server by another implementation of gRPC (python3-grpcio)."""

import os
import signal
import socket
import subprocess
import threading
from concurrent import futures

import support
from support import Case, captures, run_cli

try:
    import grpc
except ImportError:
    grpc = None


def varint(value):
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(data):
    """Of a message: {number: value}; the last one counts."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            found[tag >> 3] = number()
        else:
            assert tag & 7 == 2, tag
            size = number()
            found[tag >> 3] = data[at:at + size]
            at += size
    assert at == len(data)
    return found


class Service:
    """A profiler server in a few lines."""

    def __init__(self, answer, host="127.0.0.1"):
        self.answer, self.requests, self.metadata = answer, [], None
        self.ended = threading.Event()
        self.asked = threading.Event()
        raw = {"request_deserializer": None, "response_serializer": None}
        handlers = {
            "Profile": grpc.unary_unary_rpc_method_handler(self.profile, **raw),
            "Terminate": grpc.unary_unary_rpc_method_handler(self.terminate, **raw),
        }
        self.server = grpc.server(futures.ThreadPoolExecutor(4),
                                  options=[("grpc.max_send_message_length", -1)])
        self.server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("tensorflow.ProfilerService", handlers),))
        self.address = "%s:%d" % (host, self.server.add_insecure_port(host + ":0"))
        self.server.start()

    def profile(self, request, context):
        self.requests.append(fields(request))
        self.metadata = dict(context.invocation_metadata())
        self.remaining = context.time_remaining()
        self.asked.set()
        return self.answer(self, context)

    def terminate(self, request, context):
        self.terminated = fields(request)[1].decode()
        self.ended.set()
        return b""

    def stop(self):
        self.ended.set()
        self.server.stop(0).wait(support.PATIENCE)


class Grpcio(Case):
    def setUp(self):
        super().setUp()
        if grpc is None:
            self.skipTest("there is no python3-grpcio")

    def service(self, answer, **where):
        service = Service(answer, **where)
        self.addCleanup(service.stop)
        return service

    def capture(self, *services, code=0, args=()):
        done = run_cli("capture", ",".join(s.address for s in services), "-l", self.folder,
                       "-d", "50ms", *args, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_profile(self):
        with open(captures()[0], "rb") as f:
            capture = f.read()
        service = self.service(lambda s, c: field(8, capture))
        run = self.capture(service).stdout.strip()
        (name,) = os.listdir(run)
        with open(os.path.join(run, name), "rb") as f:
            self.assertEqual(f.read(), capture)
        (request,) = service.requests
        options = fields(request[4])
        self.assertEqual((request[1], options[9], options[5], request[9]), (50, 50, 1, 1))
        self.assertEqual(request[6].decode(), os.path.basename(run))
        self.assertEqual(request[7].decode(), service.address)
        # It understood our deadline.
        self.assertGreater(service.remaining, 60)
        self.assertIn("tfprof/", service.metadata["user-agent"])

    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as s:
                s.bind(("::1", 0))
        except OSError:
            self.skipTest("there is no IPv6 here")
        service = self.service(lambda s, c: field(8, b"\x0a\x00"), host="[::1]")
        run = self.capture(service).stdout.strip()
        port = service.address.rpartition(":")[2]
        self.assertEqual(os.listdir(run), ["__1_%s.xplane.pb" % port])
        self.assertEqual(service.requests[0][7].decode(), service.address)

    def test_a_large_one(self):
        service = self.service(lambda s, c: field(8, b"x" * (40 << 20)))
        run = self.capture(service).stdout.strip()
        (name,) = os.listdir(run)
        self.assertEqual(os.path.getsize(os.path.join(run, name)), 40 << 20)

    def test_an_empty_message(self):
        # Neither a profile nor "empty": it saved it on its own disk.
        self.assertIn("own disk", self.capture(self.service(lambda s, c: b""), code=1).stderr)

    def test_errors(self):
        def abort(status, text):
            return lambda s, c: c.abort(status, text)

        for status, text, words in (
                (grpc.StatusCode.INTERNAL, "Another profiling session active.", "already being profiled"),
                (grpc.StatusCode.PERMISSION_DENIED, "größer %", "PERMISSION_DENIED: größer %"),
                (grpc.StatusCode.RESOURCE_EXHAUSTED, "two\nlines", "RESOURCE_EXHAUSTED: two lines"),
                (grpc.StatusCode.UNAVAILABLE, "", "UNAVAILABLE")):
            with self.subTest(status=status):
                service = self.service(abort(status, text))
                self.assertIn(words, self.capture(service, code=1).stderr)

    def test_an_exception(self):
        def fail(service, context):
            raise ValueError("boom")

        self.assertIn("UNKNOWN: Exception calling application: boom",
                      self.capture(self.service(fail), code=1).stderr)

    def test_another_service(self):
        service = self.service(lambda s, c: b"")
        done = run_cli("monitor", service.address, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be monitored", done.stderr)

    def test_retry(self):
        def once(service, context):
            if len(service.requests) == 1:
                context.abort(grpc.StatusCode.UNAVAILABLE, "wait")
            return field(8, b"\x0a\x00")

        service = self.service(once)
        self.capture(service, args=["--retries", "1"])
        self.assertEqual(len(service.requests), 2)

    def test_cancelling(self):
        gone = threading.Event()

        def wait(service, context):
            context.add_callback(gone.set)
            service.ended.wait(30)
            return b""

        service = self.service(wait)
        process = subprocess.Popen([support.CLI, "capture", service.address, "-l", self.folder, "-d", "30s"],
                                   stderr=subprocess.PIPE)
        self.assertTrue(service.asked.wait(support.PATIENCE))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=support.PATIENCE)
        self.assertEqual(process.returncode, 1)
        self.assertTrue(gone.wait(support.PATIENCE))
        self.assertTrue(service.ended.wait(support.PATIENCE))
        self.assertEqual(service.terminated, service.requests[0][6].decode())
