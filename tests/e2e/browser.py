"""Opens a page in headless Chromium and does what standard input says, a line each, until it ends:
    eval EXPRESSION     prints its value (a promise's, too)
    key [C-][A-][S-]KEY presses a key of the keyboard
    click X Y [C-]      clicks
    shot FILE           saves what is seen as PNG
    print FILE          prints into a PDF
    dark                looks as on a desk where dark is liked
At the end: what the page complained of, a line each, and status 1 if there was anything.  Talks by a pipe: no port is opened.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

LETTERS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}


class Browser:
    def __init__(self, width=1300, height=800):
        self.place = tempfile.mkdtemp()
        ours, theirs = os.pipe(), os.pipe()
        os.dup2(ours[0], 8)
        os.dup2(theirs[1], 9)
        command = ["sh", "-c", "exec 3<&8 4>&9; exec \"$@\"", "sh", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                   "--remote-debugging-pipe", "--user-data-dir=" + self.place, "--hide-scrollbars",
                   "--disable-dev-shm-usage", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(8, 9), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (8, 9, ours[0], theirs[1]):
            os.close(fd)
        self.out, self.into, self.rest = ours[1], theirs[0], b""
        self.number, self.session, self.complaints, self.loaded = 0, None, [], False

    def read(self):
        parts = [self.rest]
        while b"\0" not in parts[-1]:
            parts.append(os.read(self.into, 1 << 20))
            if not parts[-1]:
                sys.exit("the browser has gone")
        message, _, self.rest = b"".join(parts).partition(b"\0")
        return json.loads(message)

    def note(self, m):
        method, p = m.get("method"), m.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.complaints.append(d.get("exception", {}).get("description", d.get("text", "?")))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(p["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not p["request"]["url"].startswith("file:"):
            self.complaints.append("asks for " + p["request"]["url"])

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            m = self.read()
            if m.get("id") == self.number:
                if "error" in m:
                    sys.exit(f"{method}: {m['error']['message']}")
                return m.get("result", {})
            self.note(m)

    def open(self, url):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for what in ("Page", "Runtime", "Log", "Network"):
            self.ask(what + ".enable")
        self.ask("Page.navigate", url=url)
        while not self.loaded:
            self.note(self.read())
        self.settle()

    def settle(self):
        self.evaluate("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(f, 160))))")

    def evaluate(self, text):
        r = self.ask("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in r:
            return "exception: " + r["exceptionDetails"].get("exception", {}).get("description", "?")
        v = r["result"].get("value")
        return v if isinstance(v, str) else json.dumps(v)

    def key(self, name):
        bits = 0
        while name[1:2] == "-" and len(name) > 2:
            bits |= {"A": 1, "C": 2, "S": 8}[name[0]]
            name = name[2:]
        key = {"key": name, "modifiers": bits, "windowsVirtualKeyCode": LETTERS.get(name, ord(name[0].upper()))}
        if len(name) == 1 and not bits & 3:
            key["text"] = name
        self.ask("Input.dispatchKeyEvent", type="keyDown", **key)
        key.pop("text", None)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **key)
        self.settle()

    def click(self, x, y, bits=0):
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=float(x), y=float(y), button="left", clickCount=1, modifiers=bits)
        self.settle()

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.place, ignore_errors=True)


def main():
    browser = Browser()
    try:
        browser.open(sys.argv[1])
        for line in sys.stdin:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "eval":
                print(browser.evaluate(rest), flush=True)
            elif word == "key":
                browser.key(rest)
            elif word == "click":
                x, y, *bits = rest.split()
                browser.click(x, y, 2 if bits else 0)
            elif word == "shot":
                with open(rest, "wb") as f:
                    f.write(base64.b64decode(browser.ask("Page.captureScreenshot", format="png")["data"]))
            elif word == "print":
                with open(rest, "wb") as f:
                    f.write(base64.b64decode(browser.ask("Page.printToPDF", landscape=True)["data"]))
            elif word == "dark":
                browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
                browser.settle()
    finally:
        browser.close()
    for c in browser.complaints:
        print("complaint: " + c)
    sys.exit(1 if browser.complaints else 0)


main()
