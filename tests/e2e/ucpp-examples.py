#!/usr/bin/env python3
"""The examples of real uC++, traced and untraced: output, status, poet check, processor time.

    ucpp-examples.py SOURCE RESULTS KERNEL [NAME...]     runs them; KERNEL: -multi,-nodebug
    ucpp-examples.py --table RESULTS...                  N of M, and what is not as it should be

SOURCE is the directory of uC++'s source, which has src/examples; u++ and poetcc++ are found by
PATH. RESULTS gets a line of JSON for each example, and what is there already is not run again.
Each is compiled as its Makefile does (-O2) and run twice untraced, then traced, twice if it takes
long. Where the untraced ones print the same (eight more, if the traced one prints something else),
so must the traced ones. Processor time is the lower one of two.
POET_TEST_LIMIT: seconds that an untraced run may take (120).
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = float(os.environ.get("POET_TEST_LIMIT", "120"))
TRACE = re.compile(r"([0-9]-)?run\.poet")
ADDRESS = re.compile(rb"0x[0-9a-f]{5,}")
# Arguments and standard input; a program that is not here has neither.
ARGUMENTS = {
    "Sim": [["1", "100", "5000"], ["4", "100", "5000"]],
    "Paging": [["{examples}/PageRequests"]],
    "AbortExit": [[str(i)] for i in range(1, 8)],
    "IO/CmdLine": [["34", "0", "{examples}/IO/File.cc"]],
    "IO/File": [["{examples}/IO/File.cc"]],
    "IO/Filebuf": [["{examples}/IO/Filebuf.cc"]],
    "IO/StringIO": [["{kernel}"]],
}
SLOW_INPUT = {"IO/NBStream", "IO/NBFile"}
SERVED = ["UNIXSTREAM", "UNIXDGRAM", "INETSTREAM", "INETDGRAM", "UNIXSTREAMSendfile",
          "INETSTREAMSendfile"]


class Examples:
    def __init__(self, source, kernel):
        self.examples = os.path.join(source, "src/examples")
        self.kernel = os.path.join(source, "src/kernel/uC++.cc")
        self.options = kernel.split(",")

    def compile(self, name, out, traced):
        command = ["poetcc++", "-trace"] if traced else ["u++"]
        path = os.path.join(self.examples, name + ".cc")
        return subprocess.run([*command, "-quiet", "-O2", *self.options, "-I.", path, "-o", out],
                              env=dict(os.environ, CXX="u++"), stdin=subprocess.DEVNULL,
                              capture_output=True)

    def arguments(self, name):
        for words in ARGUMENTS.get(name, [[]]):
            yield [word.format(examples=self.examples, kernel=self.kernel) for word in words]


class Started:
    """A program that runs; output and errors go to one file."""

    def __init__(self, command, trace, stdin=subprocess.DEVNULL, output=None):
        self.output = output or tempfile.NamedTemporaryFile()
        self.trace = trace
        if trace and os.path.exists(trace):
            os.unlink(trace)
        environment = dict(os.environ, POET_QUIET="1")
        environment.update({"POET_OUTPUT": trace} if trace else {"POET_SERVER": "none"})
        self.begin = time.monotonic()
        self.process = subprocess.Popen(command, stdin=stdin, stdout=self.output,
                                        stderr=subprocess.STDOUT, env=environment,
                                        start_new_session=True)

    def end(self, limit):
        """Waits for it, and returns its status, processor time and output."""
        while time.monotonic() - self.begin < limit:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                return self.result(os.waitstatus_to_exitcode(status), usage)
            time.sleep(0.005 if time.monotonic() - self.begin < 1 else 0.05)
        os.killpg(self.process.pid, signal.SIGKILL)
        _, _, usage = os.wait4(self.process.pid, 0)
        return self.result("time limit", usage)

    def result(self, status, usage):
        self.process.returncode = 0
        self.output.seek(0)
        output = self.output.read()
        return {"status": status, "cpu_s": round(usage.ru_utime + usage.ru_stime, 4),
                "elapsed_s": round(time.monotonic() - self.begin, 3), "output": output}


def run_program(command, trace, name, limit):
    """Runs it once, and returns the results of its processes."""
    if name not in SLOW_INPUT:
        return [Started(command, trace).end(limit)]
    writer = subprocess.Popen(["sh", "-c", "for i in 1 2 3 4; do echo $i; sleep 1; done"],
                              stdout=subprocess.PIPE)
    result = Started(command, trace, stdin=writer.stdout).end(limit)
    writer.stdout.close()
    writer.wait()
    return [result]


def run_served(server, client, trace, sends_name, kernel, limit):
    """Runs a server, and two clients that send it a file, or its name, and get that back."""
    is_unix = "UNIX" in server
    address = "sock" if is_unix else None
    if os.path.exists("sock"):
        os.unlink("sock")
    serving = Started([server, address] if is_unix else [server], trace)
    while not address or (is_unix and not os.path.exists("sock")):
        time.sleep(0.05)
        with open(serving.output.name, "rb") as f:
            address = address or f.read().decode().strip().split("\n")[0]
        if time.monotonic() - serving.begin > limit:
            break
    time.sleep(0.2)
    results = []
    for i in range(2):
        with tempfile.TemporaryFile() as given:
            given.write((kernel + "\n").encode() if sends_name else open(kernel, "rb").read())
            given.seek(0)
            results.append(Started([client, address], trace and f"{i}-{trace}", stdin=given)
                           .end(limit))
    served = serving.end(limit)
    if not is_unix: # the first line is the port
        served["output"] = b"".join(served["output"].splitlines(keepends=True)[1:])
    return [*results, served]


def finished(trace):
    for _ in range(2400):
        stat = subprocess.run(["poet", "stat", "--json", trace], capture_output=True, text=True)
        if '"finished":true' in stat.stdout:
            return json.loads(stat.stdout.splitlines()[0])
        time.sleep(0.25)
    return None


def switches(trace):
    """How often a processor began to run a task."""
    table = subprocess.run(["poet", "states", "--by", "processor", "--json", trace],
                           capture_output=True, text=True)
    return sum(json.loads(line).get("total", {}).get("intervals", 0)
               for line in table.stdout.splitlines())


def masked(results):
    return [ADDRESS.sub(b"0x?", result["output"]) for result in results]


def varies(run, plain):
    """Whether an untraced run prints something else if it is run more often."""
    return any(masked(run(None)) != masked(plain) for _ in range(8))


def examine(trace):
    """The first fault of a trace, and how many events and switches are in it."""
    stat = finished(trace)
    if not stat:
        return "is not finished", 0, 0
    check = subprocess.run(["poet", "check", trace], capture_output=True, text=True)
    fault = "" if check.returncode == 0 else (check.stdout + check.stderr).split("\n")[0]
    return fault, stat.get("events", 0), switches(trace)


def compare(name, run):
    """Runs one example, by run(trace), and returns what was seen."""
    plain = []
    for _ in range(2):
        plain.append(run(None))
        if any(r["status"] == "time limit" for r in plain[-1]):
            return {"name": name, "skipped": f"does not end within {LIMIT:.0f} s"}
    fact = {"name": name, "status": [r["status"] for r in plain[0]]}
    takes_long = min(sum(r["cpu_s"] for r in rs) for rs in plain) > 0.2
    comparable = masked(plain[0]) == masked(plain[1])
    faults, traced, events, switched = [], [], 0, 0
    for _ in range(2 if takes_long else 1):
        results = run("run.poet")
        traced.append(results)
        if [r["status"] for r in results] not in ([r["status"] for r in p] for p in plain):
            faults.append(f"status {[r['status'] for r in results]}")
        if comparable and masked(results) != masked(plain[0]):
            comparable = not varies(run, plain[0])
        if comparable and masked(results) != masked(plain[0]):
            faults.append("other output")
            with open(f"{name.replace('/', '-')}.output", "wb") as f:
                f.write(b"\n=== plain\n".join(masked(plain[0])) + b"\n=== traced\n" +
                        b"\n===\n".join(masked(results)))
        for trace in sorted(f for f in os.listdir(".") if TRACE.fullmatch(f)):
            fault, events, switched = examine(trace)
            faults += [f"poet check: {fault}"] if fault else []
            if fault:
                os.rename(trace, f"{name.replace('/', '-')}.{trace}")
            else:
                os.unlink(trace)
    cpu = [min(sum(r["cpu_s"] for r in rs) for rs in runs) for runs in (plain, traced)]
    return {**fact, "comparable": comparable, "faults": sorted(set(faults)), "events": events,
            "switches": switched, "plain_cpu_s": cpu[0], "traced_cpu_s": cpu[1],
            "plain_s": min(sum(r["elapsed_s"] for r in rs) for rs in plain)}


def run_example(examples, name):
    programs = ["plain", "traced"]
    for program in programs:
        done = examples.compile(name, "./" + program, program == "traced")
        if done.returncode != 0:
            which = "does not compile" if program == "plain" else "does not compile traced"
            yield {"name": name, "skipped": which} if program == "plain" else \
                  {"name": name, "faults": [which + ": " + done.stderr.decode()[-300:]]}
            return
    for words in examples.arguments(name):
        title = name + "".join(" " + os.path.basename(word) for word in words)
        yield compare(title, lambda trace: run_program(
            ["./traced" if trace else "./plain", *words], trace, name,
            LIMIT * 6 if trace else LIMIT))


def run_pair(examples, kind):
    for traced in (False, True):
        for side in ("Client", "Server"):
            out = f"./{side}{kind}" + ("-traced" if traced else "")
            if examples.compile(f"IO/{side}{kind}", out, traced).returncode != 0:
                return {"name": f"IO/{kind}", "skipped": "does not compile"}
    return compare(f"IO/Client, Server {kind}", lambda trace: run_served(
        f"./Server{kind}" + ("-traced" if trace else ""),
        f"./Client{kind}" + ("-traced" if trace else ""), trace, "Sendfile" in kind,
        examples.kernel, LIMIT * 6 if trace else LIMIT))


def run(source, results, kernel, wanted):
    examples = Examples(source, kernel)
    results = os.path.abspath(results)
    known = set()
    if os.path.exists(results):
        with open(results) as f:
            known = {json.loads(line)["example"] for line in f}
    names = sorted(f[:-3] for f in os.listdir(examples.examples) if f.endswith(".cc"))
    names += sorted("IO/" + f[:-3] for f in os.listdir(examples.examples + "/IO")
                    if f.endswith(".cc") and not f.startswith(("Client", "Server")))
    names += ["IO/" + kind for kind in SERVED]
    work = results + ".work"
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    for data in os.listdir(examples.examples):
        if data.endswith(".data") and not os.path.exists(data):
            os.symlink(os.path.join(examples.examples, data), data)
    if not os.path.exists("uCalibrate.h"):
        examples.compile("uCalibrate", "./calibrate", False)
        with open("uCalibrate.h", "wb") as f:
            f.write(subprocess.run(["./calibrate"], capture_output=True).stdout)
    for name in names:
        if name in known or (wanted and name not in wanted):
            continue
        is_pair = name.startswith("IO/") and name[3:] in SERVED
        for fact in [run_pair(examples, name[3:])] if is_pair else run_example(examples, name):
            with open(results, "a") as f:
                print(json.dumps({"example": name, "kernel": kernel, **fact}), file=f)


def cost(fact):
    """What tracing costs, as text, and whether that is more than it may be."""
    plain, traced, count = fact["plain_cpu_s"], fact["traced_cpu_s"], fact["switches"]
    added = traced - plain
    if plain > 0.5 and count / max(fact["plain_s"], 1e-3) < 1e5:
        return f"{traced / plain:.2f} times", traced > 1.3 * plain
    # what starting costs is measured by none: 20 ms is what a program without events takes more
    each = added * 1e9 / count if count else 0
    return f"{each:.0f} ns a switch", added > 0.05 and each > 300


def table(files):
    for file in files:
        with open(file) as f:
            facts = [json.loads(line) for line in f]
        ran = [fact for fact in facts if "skipped" not in fact]
        sound = [fact for fact in ran if not fact["faults"]]
        print(f"{facts[0]['kernel']}: {len(sound)} of {len(facts)} examples are sound; "
              f"output compared in {sum(fact.get('comparable', False) for fact in ran)}")
        for fact in facts:
            if "skipped" in fact:
                print(f"  {fact['name']}: {fact['skipped']}")
        for fact in ran:
            if fact["faults"]:
                print(f"  {fact['name']}: {'; '.join(fact['faults'])}")
        for fact in ran:
            text, dear = cost(fact) if "plain_cpu_s" in fact else ("", False)
            if dear:
                print(f"  {fact['name']}: {text}: {fact['plain_cpu_s']:.2f} s, traced "
                      f"{fact['traced_cpu_s']:.2f} s, {fact['switches']} switches, "
                      f"{fact['events']} events")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.argv[1] == "--table":
        table(sys.argv[2:])
    else:
        run(os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3], set(sys.argv[4:]))
