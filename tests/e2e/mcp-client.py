"""A client of `poet mcp`: starts it, sends requests, and checks that each line of its output is a message."""
import json
import os
import select
import subprocess
import sys
import time

PATIENCE_S = 300


class Client:
    def __init__(self, *options):
        self.process = subprocess.Popen(["poet", "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.buffer = b""
        self.last = 0

    def send_bytes(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method, params=None, number=None):
        message = {"jsonrpc": "2.0", "method": method}
        if number is not None:
            message["id"] = number
        if params is not None:
            message["params"] = params
        self.send_bytes(json.dumps(message).encode())

    def receive(self):
        """The next message; fails if there is none for PATIENCE_S."""
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            got = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not got:
                raise EOFError("no answer")
            self.buffer += got
        line, self.buffer = self.buffer.split(b"\n", 1)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0" and ("result" in message) != ("error" in message), message
        return message

    def request(self, method, params=None):
        self.last += 1
        self.send(method, params, self.last)
        answer = self.receive()
        assert answer["id"] == self.last, answer
        return answer

    def call(self, tool, **arguments):
        """The texts of the answer of a tool; the last one is its certainty."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result")
        assert result is not None, answer
        assert not result["isError"], result
        return [part["text"] for part in result["content"]]

    def start(self):
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = self.request("initialize", params)
        self.send("notifications/initialized")
        return answer["result"]

    def stop(self):
        """Closes its input; returns its exit status."""
        self.process.stdin.close()
        assert not self.process.stdout.read()
        return self.process.wait()


def rows(text):
    return [json.loads(line)["row"] for line in text.splitlines() if '"row"' in line]
