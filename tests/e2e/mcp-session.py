"""Sessions with `poet mcp`, of which the results are printed, a line each: mcp-session.py SCENARIO [ARGUMENT...]"""
import importlib
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
mcp = importlib.import_module("mcp-client")


def code(place):
    """The call on a line of a test program, FILE:LINE."""
    name, number = place.split(":")
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for directory in "tests/hangs", "examples":
        path = os.path.join(root, directory, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as source:
                return source.read().splitlines()[int(number) - 1].split(";")[0].strip()
    return place


def record_until(client, program, source, finding):
    """Records a program, and cancels that once its trace has the finding."""
    client.send("tools/call", {"name": "record", "arguments": {"program": list(program), "output": source, "timeout_s": 280}}, source)
    while finding not in subprocess.run(["poet", "blocked", "--format=json", source], capture_output=True).stdout:
        time.sleep(0.1)
    client.send("notifications/cancelled", {"requestId": "other"})
    client.send("notifications/cancelled", {"requestId": source})


def hangs(*programs):
    """Records each program, and finds out why it hangs, with the tools alone."""
    client = mcp.Client()
    client.start()
    for program in programs:
        words = program.split()
        source = f"mcp-{words[-1].strip('./')}.poet"
        record_until(client, words, source, b'"certainty":"certain"')
        findings, blocked, certainty = (json.loads(text) for text in client.call("diagnose", source=source))
        found = findings["findings"][0]
        where = client.call("query", source=source, sql="select distinct site from blocked where waits_for in "
                            "(select value from findings, json_each(objects))")[0]
        print(f"{words[-1].strip('./')}: {found['kind']} ({found['certainty']}): {' '.join(sorted(found['objects']))} at",
              ", ".join(sorted({code(row["site"]) for row in mcp.rows(where)})))
        assert certainty["certainty"]["lost"] == 0 and blocked["blocked"], certainty
    assert client.stop() == 0


def errors():
    """Prints the code of the answer to each wrong message."""
    client = mcp.Client()
    client.start()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    lines = [
        b"{", b"nonsense", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1,"method":"ping"} trailing', b"{}" * 3, b"[" * 3000,
        b'{"jsonrpc":"2.0","id":1,"method":"\x00"}', b'{"a":' * 500, b"'single'",
        b"[]", b"1", b'"text"', b"null", b'{"id":1,"method":"ping"}', b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":[1],"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":7}', b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"x" * (1 << 20) + b'"}',
        b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', b'{"jsonrpc":"2.0","id":1,"method":""}',
    ]
    calls = [
        None, {}, {"name": 1}, {"name": "nothing"}, {"name": "order"}, {"name": "order", "arguments": []},
        {"name": "order", "arguments": {"a": "1:1"}}, {"name": "order", "arguments": {"a": 1, "b": "1:1"}},
        {"name": "order", "arguments": {"a": "1:1", "b": "1:1", "c": "1:1"}}, {"name": "waits", "arguments": {"top": -1}},
        {"name": "waits", "arguments": {"top": "5"}}, {"name": "waits", "arguments": {"top": 1e300}},
        {"name": "record", "arguments": {"program": "ls", "output": "x"}}, {"name": "record", "arguments": {"program": [], "output": "x"}},
        {"name": "record", "arguments": {"program": [""], "output": "x"}}, {"name": "record", "arguments": {"program": ["ls"]}},
        {"name": "query", "arguments": {"sql": "select\0 1"}}, {"name": "query", "arguments": {"sql": ""}},
        {"name": "query", "arguments": {"sql": None}},
    ]
    lines += [json.dumps(dict(call, params=c) if c is not None else call).encode() for c in calls]
    codes = []
    for line in lines:
        client.send_bytes(line)
        codes.append(client.receive().get("error", {}).get("code"))
    print(*codes[:9])
    print(*codes[9:22])
    print(*codes[22:24])
    print(*codes[24:])
    # Neither notifications nor responses nor empty lines have an answer.
    for line in (b"", b"  ", b'{"jsonrpc":"2.0","method":"nothing"}', b'{"jsonrpc":"2.0","id":5,"result":{}}',
                 b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}'):
        client.send_bytes(line)
    print(client.request("ping")["result"], client.stop())


def failures(source):
    """Prints what tools answer that fail, and whether they are marked as errors."""
    client = mcp.Client("--timeout", "100")
    client.start()
    for tool, arguments in (("diagnose", {"source": "none.poet"}), ("diagnose", {"source": "--output=made"}),
                            ("query", {"source": source, "sql": "select wrong from waits"}),
                            ("query", {"source": source, "sql": "attach 'made' as m"}),
                            ("query", {"source": "--csv", "sql": "select 1"}), ("order", {"source": source, "a": "1:1", "b": "99:1"}),
                            ("waits", {"source": source, "from": "--output=made"}),
                            ("show", {"source": source, "lines": "$(touch made)"})):
        result = client.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        print(tool, result["isError"], result["content"][0]["text"].splitlines()[0])
    print(client.stop())


def cancel(source, *program):
    """Cancels the recording of a program that hangs, once it does; then diagnoses it."""
    client = mcp.Client()
    client.start()
    record_until(client, program, source, b'"kind":"deadlock"')
    findings = json.loads(client.call("diagnose", source=source)[0])["findings"]
    print(*(found["kind"] for found in findings), client.stop())


def limits(source):
    """Prints how an answer that is too long, and a program that takes too long, end."""
    client = mcp.Client("--bytes", "2000")
    client.start()
    text, certainty = client.call("query", source=source, sql="select event, type from events")
    lines = text.splitlines()
    print(len(text) < 2200, all(json.loads(line) for line in lines[:-1]), lines[-1].split(" of ")[1].split("; ")[1])
    print(json.loads(certainty)["certainty"]["trace"])
    ended = json.loads(client.call("record", program=["sleep", "1000"], output="slept.poet", timeout_s=1)[0])
    print(ended["exit_status"], ended["timed_out"])
    print(client.stop())


def tools(*options):
    """Prints the tools, and the required parameters of each."""
    client = mcp.Client(*options)
    client.start()
    for tool in client.request("tools/list")["result"]["tools"]:
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and set(schema["required"]) <= set(schema["properties"]), tool
        print(tool["name"], *schema["required"])
    print(client.stop())


def answers(source):
    """Calls each tool that reads; prints which have a certainty."""
    client = mcp.Client()
    client.start()
    arguments = {"order": {"a": "1:1", "b": "2:2"}, "why": {"a": "1:1", "b": "2:2"}, "query": {"sql": "select 1"},
                 "find": {"pattern": "s: start; e: exit; s -> e"}}
    for tool in client.request("tools/list")["result"]["tools"]:
        if tool["annotations"]["readOnlyHint"] and tool["name"] != "runs":
            texts = client.call(tool["name"], source=source, **arguments.get(tool["name"], {}))
            certainty = json.loads(texts[-1])["certainty"]
            print(tool["name"], len(texts) > 1, certainty["lost"])
    print("runs", len(json.loads(client.call("runs")[0])) > 0)
    print(client.stop())


def fuzz(seed):
    """Sends damaged messages; prints whether a ping is answered after them."""
    random.seed(int(seed))
    client = mcp.Client("--read-only")
    client.start()
    good = [b'{"jsonrpc":"2.0","id":7,"method":"ping"}', b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}',
            b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"order","arguments":{"a":"1:1","b":"1:2"}}}',
            b'{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2099-01-01"}}']
    pieces = [b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u0000", b"\x80", b"\xf0\x9f", b"null", b"1e999", b",", b":", b"\x00", b"  "]
    for _ in range(300):
        line = bytearray(random.choice(good))
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(line) + 1)
            line[at:at + random.randrange(3)] = random.choice(pieces)
        client.send_bytes(bytes(line).replace(b"tools/call", b"tools/list"))
    client.send("ping", {}, "last")
    answers = 1
    while client.receive()["id"] != "last":
        answers += 1
    print(answers > 100, client.stop())


globals()[sys.argv[1]](*sys.argv[2:])
