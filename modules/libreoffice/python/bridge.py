"""Converts documents in one soffice, over UNO: `bridge.py PIPE`, where soffice listens on the pipe of that name.

A JSON object a line: `{"id": 1, "do": "convert", …}` or `{"id": 2, "do": "ping"}` in, `{"id": 1, "ok": …}` or
`{"id": 1, "error": {"code": …}}` out; before that, once, `{"ready": …}`. It ends when its stdin does.
"""

import json
import os
import queue
import sys
import threading
import time
from typing import Any

import uno
from com.sun.star.connection import NoConnectException

from convert import Job, Office, Refusal

CONNECT_EVERY = 0.005


class Channel:
    """Our side of the line protocol. What libraries print goes to stderr."""

    def __init__(self) -> None:
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self.lock = threading.Lock()
        os.dup2(2, 1)

    def say(self, message: dict[str, Any]) -> None:
        with self.lock:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()

    def answer(self, id: int, work: Any, office: Office) -> None:
        try:
            self.say({"id": id, "ok": work()})
        except Exception as error:
            self.say({"id": id, "error": describe(error, office)})


def describe(error: Exception, office: Office) -> dict[str, str]:
    """A soffice that dies fails in many ways, some of which look like a bad document: what counts is that it is dead."""
    if not office.lives():
        return {"code": "ENGINE", "detail": f"{type(error).__name__}: {error}"}
    if isinstance(error, Refusal):
        return {"code": error.code, "detail": error.detail}
    return {"code": "FAILED", "detail": f"{type(error).__name__}: {error}"}


def main(pipe: str) -> None:
    channel = Channel()
    connected: "queue.SimpleQueue[Office]" = queue.SimpleQueue()
    jobs: "queue.SimpleQueue[tuple[int, Job]]" = queue.SimpleQueue()
    threading.Thread(target=work, args=(pipe, channel, connected, jobs), daemon=True).start()
    office: Office | None = None
    for line in sys.stdin:
        message = json.loads(line)
        id, verb = message.pop("id"), message.pop("do")
        if verb == "convert":
            jobs.put((id, Job(**message)))
        else:
            office = office or connected.get()
            # A thread of its own: soffice may be slow to answer, or never do.
            threading.Thread(target=channel.answer, args=(id, office.ping, office), daemon=True).start()
    os._exit(0)  # a conversion may still hold its thread


def work(pipe: str, channel: Channel, connected: "queue.SimpleQueue[Office]", jobs: "queue.SimpleQueue[tuple[int, Job]]") -> None:
    office = Office(connect(pipe))
    connected.put(office)
    channel.say({"ready": office.describe()})
    while True:
        id, job = jobs.get()
        channel.answer(id, lambda: office.convert(job), office)


def connect(pipe: str) -> Any:
    """Nothing tells when soffice listens: a connection is tried until there is one. Whoever started us sets the limit."""
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    while True:
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(CONNECT_EVERY)


main(sys.argv[1])
