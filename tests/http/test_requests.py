# SPDX-License-Identifier: Apache-2.0
"""Requests as bytes: one that two programs could read differently is refused, once, and the
bytes after it are not read."""

import shutil
import socket
import ssl
import unittest

import support
from support import Case, SharedServerCase

HOST = b"Host: localhost\r\n"
NEXT = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
JSON = b"Content-Type: application/json\r\n"


def get(fields=b"", target=b"/version", method=b"GET", version=b"HTTP/1.1", host=HOST, body=b""):
    return method + b" " + target + b" " + version + b"\r\n" + host + fields + b"\r\n" + body


def post(fields, body, version=b"HTTP/1.1"):
    return get(JSON + fields, b"/capture_cancel", b"POST", version, body=body)


# What is refused: name, bytes, statuses that are right.
REFUSED = [
    # Bodies whose length is told twice, or otherwise than by one number.
    ("length and encoding", post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"), 400),
    ("encoding and length", post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n"), 400),
    ("a GET with both", get(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", body=b"0\r\n\r\n"), 400),
    ("two lengths", post(b"Content-Length: 3\r\nContent-Length: 5\r\n", b"{}   "), 400),
    ("two equal lengths", post(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}"), 400),
    ("two lengths in a GET", get(b"Content-Length: 0\r\nContent-Length: 44\r\n"), 400),
    ("a list of lengths", post(b"Content-Length: 2, 2\r\n", b"{}"), 400),
    ("a length below zero", post(b"Content-Length: -2\r\n", b"{}"), 400),
    ("a length with a plus", post(b"Content-Length: +2\r\n", b"{}"), 400),
    ("a hexadecimal length", post(b"Content-Length: 0x2\r\n", b"{}"), 400),
    ("a length with a point", post(b"Content-Length: 2.0\r\n", b"{}"), 400),
    ("a length with a blank in it", post(b"Content-Length: 2 2\r\n", b"{}"), 400),
    ("a length in words", post(b"Content-Length: two\r\n", b"{}"), 400),
    ("no length at all", post(b"Content-Length:\r\n", b"{}"), 400),
    ("a length in quotes", post(b'Content-Length: "2"\r\n', b"{}"), 400),
    ("a huge length", post(b"Content-Length: 99999999999999999999\r\n", b"{}"), 413),
    ("2^63", post(b"Content-Length: 9223372036854775808\r\n", b"{}"), 413),
    ("2^64 + 2", post(b"Content-Length: 18446744073709551618\r\n", b"{}"), 413),
    ("a huge length of a GET", get(b"Content-Length: 99999999999999999999\r\n"), 413),
    ("a length of a thousand digits", get(b"Content-Length: " + b"1" * 1000 + b"\r\n"), 413),
    ("another encoding", post(b"Transfer-Encoding: gzip\r\n", b"x"), 400),
    ("identity", post(b"Transfer-Encoding: identity\r\n", b"{}"), 400),
    ("two encodings", post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"), 400),
    ("chunked before another", post(b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n"), 400),
    ("chunked twice", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"), 400),
    ("chunked and identity", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"0\r\n\r\n"), 400),
    ("xchunked", post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n"), 400),
    ("chunked in quotes", post(b'Transfer-Encoding: "chunked"\r\n', b"0\r\n\r\n"), 400),
    ("chunked with a vertical tab", post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n"), 400),
    ("chunked with a parameter", post(b"Transfer-Encoding: chunked;q=1\r\n", b"0\r\n\r\n"), 400),
    ("no encoding", post(b"Transfer-Encoding:\r\n", b"0\r\n\r\n"), 400),
    ("chunks in HTTP/1.0", post(b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n", b"HTTP/1.0"), 400),
    # Chunks.
    ("a size that is none", post(b"Transfer-Encoding: chunked\r\n", b"x\r\n{}\r\n0\r\n\r\n"), 400),
    ("a size below zero", post(b"Transfer-Encoding: chunked\r\n", b"-2\r\n{}\r\n0\r\n\r\n"), 400),
    ("a size with a plus", post(b"Transfer-Encoding: chunked\r\n", b"+2\r\n{}\r\n0\r\n\r\n"), 400),
    ("a size with 0x", post(b"Transfer-Encoding: chunked\r\n", b"0x2\r\n{}\r\n0\r\n\r\n"), 400),
    ("a size before a blank", post(b"Transfer-Encoding: chunked\r\n", b"2 \r\n{}\r\n0\r\n\r\n"), 400),
    ("a size after a blank", post(b"Transfer-Encoding: chunked\r\n", b" 2\r\n{}\r\n0\r\n\r\n"), 400),
    ("an empty size", post(b"Transfer-Encoding: chunked\r\n", b"\r\n{}\r\n0\r\n\r\n"), 400),
    ("a huge chunk", post(b"Transfer-Encoding: chunked\r\n", b"fffffffffffffffff\r\n{}"), 413),
    ("2^64 + 2 as a size", post(b"Transfer-Encoding: chunked\r\n", b"10000000000000002\r\n{}\r\n0\r\n\r\n"), 413),
    ("a chunk that is too long", post(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}x\r\n0\r\n\r\n"), 400),
    ("a chunk without its end", post(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}0\r\n\r\n"), 400),
    ("a size before a bare line feed", post(b"Transfer-Encoding: chunked\r\n", b"2\n{}\r\n0\r\n\r\n"), 400),
    ("a chunk before a bare line feed", post(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}\n0\r\n\r\n"), 400),
    ("an end with a bare line feed", post(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\n"), 400),
    ("a carriage return in an extension", post(b"Transfer-Encoding: chunked\r\n", b"2;a\rb\r\n{}\r\n0\r\n\r\n"), 400),
    ("a line feed in an extension", post(b"Transfer-Encoding: chunked\r\n", b"2;a\n{}\r\n0\r\n\r\n"), 400),
    ("a zero byte in an extension", post(b"Transfer-Encoding: chunked\r\n", b"2;\0\r\n{}\r\n0\r\n\r\n"), 400),
    ("an extension without an end", post(b"Transfer-Encoding: chunked\r\n", b"2;" + b"a" * 5000), 400),
    ("a trailer that is none", post(b"Transfer-Encoding: chunked\r\n", b"0\r\nGET / HTTP/1.1\r\n\r\n"), 400),
    ("a folded trailer", post(b"Transfer-Encoding: chunked\r\n", b"0\r\nA: b\r\n c\r\n\r\n"), 400),
    ("a trailer with a blank", post(b"Transfer-Encoding: chunked\r\n", b"0\r\nA : b\r\n\r\n"), 400),
    ("a trailer that is too long", post(b"Transfer-Encoding: chunked\r\n", b"0\r\n" + b"A: b\r\n" * 8000 + b"\r\n"), 431),
    # Host.
    ("no Host", get(host=b""), 400),
    ("two Hosts", get(b"Host: localhost\r\n"), 400),
    ("two different Hosts", get(b"Host: example.org\r\n"), 400),
    ("an empty Host", get(host=b"Host:\r\n"), 400),
    ("a Host of blanks", get(host=b"Host:   \r\n"), 400),
    ("a Host with a zero byte", get(host=b"Host: localhost\0\r\n"), 400),
    ("a Host with a zero byte and more", get(host=b"Host: localhost\0.example.org\r\n"), 400),
    ("a Host with a zero byte and bare ends", get(host=b"Host: localhost\0a\n\n"), 400),
    ("a Host with #", get(host=b"Host: localhost#.example.org\r\n"), 400),
    ("a Host with /", get(host=b"Host: localhost/.example.org\r\n"), 400),
    ("a Host with ?", get(host=b"Host: localhost?x\r\n"), 400),
    ("a Host with a tab", get(host=b"Host: localhost\tx\r\n"), 400),
    ("a Host with a blank", get(host=b"Host: localhost example.org\r\n"), 400),
    ("a Host with a comma", get(host=b"Host: localhost,example.org\r\n"), 400),
    ("a Host with a user", get(host=b"Host: me@localhost\r\n"), 400),
    ("a Host with a backslash", get(host=b"Host: localhost\\x\r\n"), 400),
    ("a Host with a percent sign", get(host=b"Host: localhost%00\r\n"), 400),
    ("a Host beyond ASCII", get(host=b"Host: local\xc3\xb6\r\n"), 400),
    ("a Host with a scheme", get(host=b"Host: http://localhost\r\n"), 400),
    ("a port in letters", get(host=b"Host: localhost:http\r\n"), 400),
    ("a port too many", get(host=b"Host: localhost:80:80\r\n"), 400),
    ("a port too high", get(host=b"Host: localhost:65536\r\n"), 400),
    ("half a bracket", get(host=b"Host: [::1\r\n"), 400),
    ("brackets around a name", get(host=b"Host: [localhost]\r\n"), 400),
    ("a name behind brackets", get(host=b"Host: [::1]localhost\r\n"), 400),
    ("a port only", get(host=b"Host: :80\r\n"), 400),
    ("a long Host", get(host=b"Host: " + b"a" * 300 + b"\r\n"), 400),
    # Fields.
    ("a blank before the colon", get(b"Content-Length : 5\r\n"), 400),
    ("a tab before the colon", get(b"Content-Length\t: 5\r\n"), 400),
    ("a blank before Host's colon", get(host=b"Host : localhost\r\n"), 400),
    ("a line without a colon", get(b"nonsense\r\n"), 400),
    ("no name", get(b": value\r\n"), 400),
    ("a name with a blank", get(b"Transfer Encoding: chunked\r\n"), 400),
    ("a name with brackets", get(b"A(b): c\r\n"), 400),
    ("a name with a zero byte", get(b"Trans\0fer-Encoding: chunked\r\n"), 400),
    ("a name beyond ASCII", get(b"N\xc3\xa4me: x\r\n"), 400),
    ("a zero byte in a value", get(b"X: a\0b\r\n"), 400),
    ("a zero byte at a value's end", get(b"X: a\0\n"), 400),
    ("a backspace in a value", get(b"X: a\x08b\r\n"), 400),
    ("a delete in a value", get(b"X: a\x7fb\r\n"), 400),
    ("a folded value", get(b"X: a\r\n b\r\n"), 400),
    ("a value folded with a tab", get(b"X: a\r\n\tb\r\n"), 400),
    ("a folded length", post(b"Content-Length:\r\n 2\r\n", b"{}"), 400),
    ("a fold in place of the first field", get(host=b" x\r\nHost: localhost\r\n"), 400),
    ("a bare line feed", b"GET /version HTTP/1.1\nHost: localhost\n\n", 400),
    ("a bare line feed after a field", get(b"X: a\n"), 400),
    ("a bare line feed in place of the empty line", b"GET /version HTTP/1.1\r\nHost: localhost\r\n\n", 400),
    ("a bare carriage return", get(b"X: a\rb\r\n"), 400),
    ("carriage returns only", b"GET /version HTTP/1.1\rHost: localhost\r\r", 400),
    ("two carriage returns", b"GET /version HTTP/1.1\r\r\nHost: localhost\r\n\r\n", 400),
    ("line feed and carriage return", b"GET /version HTTP/1.1\n\rHost: localhost\n\r\n\r", 400),
    ("two types of a body", post(b"Content-Type: text/plain\r\nContent-Length: 2\r\n", b"{}"), 400),
    ("two origins", get(b"Origin: http://a.example\r\nOrigin: http://localhost\r\n"), 400),
    ("two authorizations", get(b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400),
    ("two sites", get(b"Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n"), 400),
    ("another expectation", get(b"Expect: 200-ok\r\n"), 417),
    ("a field without an end", get(b"X: " + b"a" * 60000 + b"\r\n"), 431),
    ("many fields", get(b"X: a\r\n" * 20000), 431),
    ("a hundred and one fields", get(b"X: a\r\n" * 101), 431),
    ("a long name", get(b"X" * 60000 + b": a\r\n"), 431),
    ("a long Cookie", get(b"Cookie: " + b"a=b;" * 15000 + b"\r\n"), 431),
    # The first line.
    ("HTTP/0.9", b"GET /version\r\n", 400),
    ("a method alone", b"GET\r\n\r\n", 400),
    ("no address", b"GET HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("an empty address", b"GET  HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("two blanks", b"GET  /version HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("two blanks before the version", b"GET /version  HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("a blank at the end", b"GET /version HTTP/1.1 \r\n" + HOST + b"\r\n", 400),
    ("a blank at the beginning", b" GET /version HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("tabs", b"GET\t/version\tHTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("a tab in the address", b"GET /ver\tsion HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    ("a blank in the address", get(target=b"/ver sion"), 400),
    ("a zero byte in the address", get(target=b"/version\0x"), 400),
    ("a zero byte as an escape", get(target=b"/version?x=%00"), 400),
    ("half an escape", get(target=b"/version?x=%4"), 400),
    ("an escape that is none", get(target=b"/version?x=%zz"), 400),
    ("an escape that is no UTF-8", get(target=b"/version?x=%ff"), 400),
    ("bytes that are no UTF-8", get(target=b"/version?x=\xff"), 400),
    ("a fragment", get(target=b"/version#x"), 400),
    ("a relative address", get(target=b"version"), 400),
    ("a question mark alone", get(target=b"?run=x"), 400),
    ("a star with GET", get(target=b"*"), 400),
    ("an authority with GET", get(target=b"localhost:80"), 400),
    ("another scheme", get(target=b"ftp://localhost/version"), 400),
    ("a file", get(target=b"file:///etc/passwd"), 400),
    ("a scheme without an authority", get(target=b"http:///version"), 400),
    ("a user in an address", get(target=b"http://me@localhost/version"), 400),
    ("a scheme with one slash", get(target=b"http:/localhost/version"), 400),
    ("an absolute address without Host", get(target=b"http://localhost/version", host=b""), 400),
    ("a method with brackets", get(method=b"G(T"), 400),
    ("a long method", get(method=b"G" * 40), 400),
    ("no version's number", get(version=b"HTTP/"), 400),
    ("a version in small letters", get(version=b"http/1.1"), 400),
    ("half a version", get(version=b"HTTP/1"), 400),
    ("a long version", get(version=b"HTTP/1.1x"), 400),
    ("a version of two digits", get(version=b"HTTP/1.10"), 400),
    ("another protocol", get(version=b"RTSP/1.0"), 400),
    ("HTTP/2's preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("HTTP/2.0", get(version=b"HTTP/2.0"), 505),
    ("HTTP/3.0", get(version=b"HTTP/3.0"), 505),
    ("HTTP/0.9 by name", get(version=b"HTTP/0.9"), 505),
    ("HTTP/9.9", get(version=b"HTTP/9.9"), 505),
    ("a long address", get(target=b"/version?" + b"a" * 9000), 400),
    ("a longer address", get(target=b"/version?" + b"a" * 60000), 414),
    ("a thousand parameters", get(target=b"/version?" + b"&" * 1000), 414),
    ("a line without an end", b"A" * 60000, 414),
    ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    ("SSH", b"SSH-2.0-OpenSSH_9.2\r\n", 400),
    ("many empty lines", b"\r\n" * 10 + get(), 400),
    ("a proxy's line", b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + get(), 400),
    ("zero bytes", b"\0" * 100, 400),
]

# Requests that are answered, and so are those that follow them.
TAKEN = [
    ("plain", get(), 200),
    ("HEAD", get(method=b"HEAD"), 200),
    ("an empty line before it", b"\r\n" + get(), 200),
    ("a port", get(host=b"Host: localhost:6006\r\n"), 200),
    ("the highest port", get(host=b"Host: localhost:65535\r\n"), 200),
    ("an address", get(host=b"Host: 127.0.0.1\r\n"), 200),
    ("an address in brackets", get(host=b"Host: [::1]:80\r\n"), 200),
    ("a dot at the end", get(host=b"Host: localhost.\r\n"), 200),
    ("Host last", get(host=b"X: y\r\nHost: localhost\r\n"), 200),
    ("small letters", get(host=b"host: localhost\r\n"), 200),
    ("no blank after the colon", get(b"X:y\r\n", host=b"Host:localhost\r\n"), 200),
    ("blanks around a value", get(host=b"Host: \t localhost \t \r\n"), 200),
    ("an empty value", get(b"X:\r\n"), 200),
    ("values beyond ASCII", get(b"X: gr\xc3\xb6\xc3\x9fe\r\n"), 200),
    ("a hundred fields", get(b"X: a\r\n" * 99), 200),
    ("a field of 30 kB", get(b"X: " + b"a" * 30000 + b"\r\n"), 200),
    ("a Cookie of 30 kB", get(b"Cookie: " + b"a=b;" * 7500 + b"\r\n"), 200),
    ("names twice", get(b"Accept: a\r\nAccept: b\r\nX: 1\r\nX: 2\r\n"), 200),
    ("our own name for cookies", get(b"Tfprof-Cookie: a=b\r\n"), 200),
    ("an absolute address", get(target=b"http://localhost/version"), 200),
    ("an absolute address with a port", get(target=b"http://127.0.0.1:80/version"), 200),
    ("its Host does not count", get(target=b"http://localhost/version", host=b"Host: evil.example\r\n"), 200),
    ("an absolute address in capitals", get(target=b"HTTP://LOCALHOST/version"), 200),
    ("an absolute address of the page", get(target=b"http://localhost"), (200, 404)),
    ("an absolute address with parameters only", get(target=b"http://localhost?x=y"), (200, 404)),
    ("a later HTTP/1", get(version=b"HTTP/1.2"), 200),
    ("a body of a GET", get(b"Content-Length: 5\r\n", body=b"hello"), 200),
    ("a body that is a request", get(b"Content-Length: %d\r\n" % len(NEXT), body=NEXT), 200),
    ("an empty body", get(b"Content-Length: 0\r\n"), 200),
    ("a length with zeros in front", get(b"Content-Length: 0005\r\n", body=b"hello"), 200),
    ("chunks of a GET", get(b"Transfer-Encoding: chunked\r\n", body=b"5\r\nhello\r\n0\r\n\r\n"), 200),
    ("no chunks", get(b"Transfer-Encoding: chunked\r\n", body=b"0\r\n\r\n"), 200),
    ("a chunk that is a request", get(b"Transfer-Encoding: chunked\r\n",
                                      body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(NEXT), NEXT)), 200),
    ("Chunked", get(b"transfer-encoding: Chunked\r\n", body=b"0005;a=b;c\r\nhello\r\n000\r\nA: b\r\n\r\n"), 200),
    ("many chunks", get(b"Transfer-Encoding: chunked\r\n", body=b"1\r\nx\r\n" * 5000 + b"0\r\n\r\n"), 200),
    ("an address that does not exist", get(target=b"/nothing"), 404),
    ("escapes", get(target=b"/%76ersion"), 200),
    ("UTF-8 in the address", get(target="/version?run=größe".encode()), 200),
    ("a bracket in the address", get(target=b"/version?x=[a|b^c]"), 200),
    ("an upgrade", get(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n"), 200),
    ("a web socket", get(b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"), 200),
    ("an expectation without a body", get(b"Expect: 100-continue\r\n"), 200),
    ("a range", get(b"Range: bytes=0-1\r\n"), 200),
]

# Answered, and the connection is closed: the next request is not.
LAST = [
    ("asks to close", get(b"Connection: close\r\n"), 200),
    ("asks to close in a list", get(b"Connection: x, close\r\n"), 200),
    ("HTTP/1.0", get(version=b"HTTP/1.0"), 200),
    ("HTTP/1.0 without Host", get(version=b"HTTP/1.0", host=b""), 200),
    ("HTTP/1.0 with an absolute address", get(version=b"HTTP/1.0", target=b"http://localhost/version", host=b""), 200),
    ("HTTP/1.0 that would change something", post(b"Content-Length: 2\r\n", b"{}", b"HTTP/1.0").replace(HOST, b""), 403),
    ("an absolute address of somebody else", get(target=b"http://evil.example/version"), 403),
    ("a foreign Host", get(host=b"Host: evil.example\r\n"), 403),
    ("CONNECT", get(method=b"CONNECT", target=b"localhost:80"), 405),
    ("CONNECT of a path", get(method=b"CONNECT", target=b"/version"), 405),
    ("no JSON", post(b"Content-Length: 1\r\n", b"{"), 400),
]

# Methods of others, with what is allowed.
METHODS = [b"OPTIONS", b"TRACE", b"PUT", b"DELETE", b"PATCH", b"PROPFIND", b"get", b"Get", b"GETT",
           b"BREW", b"POST"]


def split(data, methods):
    """Responses one after the other: (status, headers, body); fails when one is malformed."""
    answers = []
    while data:
        head, end, data = data.partition(b"\r\n\r\n")
        assert end, "a head without an end: %r" % head[:200]
        first, *lines = head.split(b"\r\n")
        version, status, reason = first.split(b" ", 2)
        assert version in (b"HTTP/1.1", b"HTTP/1.0") and len(status) == 3 and reason, first
        headers = {}
        for line in lines:
            name, colon, value = line.partition(b": ")
            assert colon and name.lower() not in headers, line
            headers[name.lower()] = value
        if status == b"100":
            assert not headers
            continue
        method = methods[len(answers)] if len(answers) < len(methods) else b"GET"
        size = 0 if method == b"HEAD" else int(headers[b"content-length"])
        assert len(data) >= size, "a body that is cut"
        answers.append((int(status), headers, data[:size]))
        data = data[size:]
    return answers


class Requests(SharedServerCase):
    def connect(self):
        return socket.create_connection((self.server.host, self.server.port), timeout=support.PATIENCE)

    def talk(self, pieces, half=False):
        """All that comes back until the server closes."""
        data = b""
        with self.connect() as s:
            try:
                for piece in pieces:
                    s.sendall(piece)
                if half:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it was told to go already
            try:
                while got := s.recv(65536):
                    data += got
            except ConnectionError:
                pass
        return data

    def ask(self, request, **how):
        return split(self.talk([request], **how), [request.lstrip().split(b" ")[0]])

    def test_there_are_enough(self):
        self.assertGreater(len(REFUSED) + len(TAKEN) + len(LAST) + len(METHODS), 200)
        names = [shape[0] for shape in REFUSED + TAKEN + LAST]
        self.assertEqual(len(names), len(set(names)))

    def test_what_is_refused(self):
        for name, request, status in REFUSED:
            with self.subTest(name=name):
                answers = self.ask(request + NEXT)
                self.assertEqual([a[0] for a in answers], [status])
                self.assertEqual(answers[0][1][b"connection"].lower(), b"close")
                self.assertEqual(answers[0][1][b"x-content-type-options"], b"nosniff")
                self.assertIn(b'"error"', answers[0][2])

    def test_what_is_taken(self):
        for name, request, status in TAKEN:
            with self.subTest(name=name):
                first, second = self.ask(request + NEXT)
                self.assertIn(first[0], status if isinstance(status, tuple) else (status,))
                self.assertEqual((second[0], second[2]), (200, b"ok"))

    def test_what_is_last(self):
        for name, request, status in LAST:
            with self.subTest(name=name):
                answer, = self.ask(request + NEXT)
                self.assertEqual(answer[0], status)
                self.assertEqual(answer[1][b"connection"].lower(), b"close")

    def test_methods(self):
        for method in METHODS:
            for target in (b"/version", b"*") if method == b"OPTIONS" else (b"/version",):
                with self.subTest(method=method, target=target):
                    answer, = self.ask(get(method=method, target=target) + NEXT)
                    self.assertEqual((answer[0], answer[1][b"allow"]), (405, b"GET, HEAD"))
                    self.assertEqual(answer[1][b"connection"].lower(), b"close")

    def test_the_same_byte_by_byte(self):
        """However the network cuts it."""
        for name, request, status in (REFUSED + TAKEN)[::7]:
            if len(request) > 1000:
                continue
            with self.subTest(name=name):
                at_once = self.ask(request + NEXT)
                whole = request + NEXT
                pieces = [whole[i:i + 1] for i in range(len(whole))]
                slowly = split(self.talk(pieces), [request.lstrip().split(b" ")[0]])
                self.assertEqual([a[0] for a in slowly], [a[0] for a in at_once])

    def test_a_good_one_before_a_bad_one_is_answered(self):
        answers = self.ask(get() * 5 + get(host=b"") + NEXT)
        self.assertEqual([a[0] for a in answers], [200] * 5 + [400])

    def test_many_in_one_piece(self):
        answers = self.ask(get(b"X: " + b"a" * 3000 + b"\r\n") * 50 + NEXT)
        self.assertEqual([a[0] for a in answers], [200] * 51)

    def test_a_body_that_is_expected(self):
        """100 comes first, and the answer once."""
        with self.connect() as s:
            s.sendall(post(b"Content-Length: 9\r\nExpect: 100-continue\r\nConnection: close\r\n", b""))
            self.assertEqual(s.recv(1000).split(b"\r\n")[0], b"HTTP/1.1 100 Continue")
            s.sendall(b'{"id": 9}')
            data = b""
            while got := s.recv(65536):
                data += got
        self.assertEqual([a[0] for a in split(data, [b"POST"])], [404])

    def test_a_client_that_half_closes_is_answered(self):
        for count in (1, 3):
            answers = self.ask(get() * count, half=True)
            self.assertEqual([a[0] for a in answers], [200] * count)
        for target in (b"/runs", b"/data?run=train/many&tag=kernel_stats", b"/nothing"):
            with self.subTest(target=target):
                answers = self.ask(get(target=target), half=True)
                self.assertEqual([a[0] for a in answers], [404 if target == b"/nothing" else 200])

    def test_half_a_request_is_none(self):
        whole = post(b"Content-Length: 2\r\n", b"{}")
        for size in range(0, len(whole), 5):
            self.assertEqual(self.talk([whole[:size]], half=True), b"")

    def test_endless_ones_end(self):
        for beginning in (b"GET /", get()[:-2] + b"X: ", get()[:-2], get(host=b"")):
            piece = b"X: y\r\n" * 1000 if beginning == get()[:-2] else b"x" * 6000
            self.assertIn([a[0] for a in split(self.talk([beginning] + [piece] * 100), [])],
                          ([414], [431], [400]))
        self.assertEqual(self.get("/healthz").status, 200)


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make certificates with")
class Encrypted(Case):
    def test_the_same_with_tls(self):
        cert, key = support.certificate(self.path("one"))
        self.put_run("plugins/profile/r")
        server = self.serve("--tls-cert", cert, "--tls-key", key, self.folder)
        context = ssl.create_default_context(cafile=cert)
        context.check_hostname = False

        def ask(request):
            data = b""
            with context.wrap_socket(socket.create_connection((server.host, server.port),
                                                              timeout=support.PATIENCE)) as s:
                s.sendall(request)
                try:
                    while got := s.recv(65536):
                        data += got
                except (ConnectionError, ssl.SSLEOFError):
                    pass
            return split(data, [request.lstrip().split(b" ")[0]])

        for name, request, status in REFUSED[::5]:
            with self.subTest(name=name):
                self.assertEqual([a[0] for a in ask(request + NEXT)], [status])
        for name, request, status in TAKEN[::5]:
            with self.subTest(name=name):
                first, second = ask(request + NEXT)
                self.assertIn(first[0], status if isinstance(status, tuple) else (status,))
                self.assertEqual(second[2], b"ok")
