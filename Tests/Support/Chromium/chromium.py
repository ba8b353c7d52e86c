"""A headless Chromium, controlled over a pipe (--remote-debugging-pipe): the messages are JSON, and each is
followed by a NUL.
"""

import json
import os
import select
import subprocess
import time

PATIENCE = 60  # seconds for one answer; ten thousand rows take one or two


class Browser:
    """One Chromium process, and the events of the open page."""

    def __init__(self, profile):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def connect():  # the browser reads from 3 and writes to 4
            reading = os.dup(to_browser)
            writing = os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-dev-shm-usage", "--disable-background-networking",
                "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank",
            ],
            close_fds=False, preexec_fn=connect, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.unread = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call(
            "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self, deadline):
        while b"\0" not in self.unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            received = os.read(self.read_end, 1 << 20)
            if not received:
                raise EOFError("Chromium has ended")
            self.unread += received
        first, self.unread = self.unread.split(b"\0", 1)
        return json.loads(first)

    def call(self, method, patience=PATIENCE, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + patience
        while True:
            message = self.message(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, address):
        self.events = []
        self.call("Page.navigate", url=address)
        deadline = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message(deadline))

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            return answer["exceptionDetails"].get("exception", {}).get("description", "throws")
        return answer["result"].get("value")

    def longest_task(self, action):
        """Returns the CPU time, in milliseconds, of the longest task of a page's main thread while `action` runs."""
        session, self.session = self.session, None
        self.call("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": ["toplevel"]})
        self.session = session
        action()
        self.session, self.events = None, []
        self.call("Tracing.end")
        deadline = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Tracing.tracingComplete" for event in self.events):
            self.events.append(self.message(deadline))
        self.session = session
        traced = [entry for event in self.events if event.get("method") == "Tracing.dataCollected"
                  for entry in event["params"]["value"]]
        main = {(entry["pid"], entry["tid"]) for entry in traced
                if entry["name"] == "thread_name" and entry["args"]["name"] == "CrRendererMain"}
        return max(entry.get("tdur", 0) / 1000 for entry in traced
                   if entry["name"].endswith("RunTask") and (entry["pid"], entry["tid"]) in main)

    def complaints(self, address):
        """Returns the messages and requests since the page was opened, except the requests for `address`."""
        found = []
        for event in self.events:
            method, details = event.get("method"), event.get("params", {})
            if method == "Runtime.consoleAPICalled":
                found.append(f"console: {details['args']}")
            elif method == "Runtime.exceptionThrown":
                found.append(f"exception: {details['exceptionDetails']}")
            elif method == "Log.entryAdded":
                found.append(f"log: {details['entry']['text']}")
            elif method == "Page.javascriptDialogOpening":
                found.append(f"a dialogue: {details['message']}")
            elif method == "Network.requestWillBeSent":
                if details["request"]["url"] != address:
                    found.append(f"a request: {details['request']['url']}")
        return found

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (EOFError, OSError, TimeoutError):
            pass
        self.process.wait(timeout=PATIENCE)


