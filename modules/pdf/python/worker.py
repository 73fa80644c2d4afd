"""The PDF worker: carries out plans on PDFs, one after the other, for as long as its stdin is open.

One JSON object a line. In: {"id": 1, "do": "apply", "plan": {"inputs": ["/a.pdf"], "steps": [...], "output": "/o.pdf"}}
or {"id": 2, "do": "ping"}. Out: {"ready": {...}} once, then {"id": 1, "ok": ...} or
{"id": 1, "error": {"code": "PDF_UNREADABLE", "facts": {"input": "0"}, "detail": "..."}}.

Stdin is read by a thread of its own, so that a ping is answered while a plan is carried out, and the end of stdin
ends the worker at once. libqpdf holds Python's lock during long calls, so that answer can be late: a late answer says
nothing while the worker gains CPU time.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import queue
import resource
import sys
import threading
from typing import Any, BinaryIO

import pikepdf

from inputs import BadInput
from plan import BadPlan, apply


def main(arguments: list[str]) -> None:
    """Serves until stdin ends. The one argument is the most memory, in bytes, that the worker may hold; 0: any."""
    limit_memory(int(arguments[0]) if arguments else 0)
    deepen_stack()
    answers = private_stdout()
    tasks: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    gc.freeze()
    say(answers, {'ready': versions()})
    threading.Thread(target=read_requests, args=(tasks, answers), daemon=True).start()
    while True:
        request = tasks.get()
        say(answers, answer(request))


def versions() -> dict[str, str]:
    return {
        'pikepdf': pikepdf.__version__,
        'qpdf': pikepdf.__libqpdf_version__,
        'python': sys.version.split()[0],
    }


def limit_memory(limit: int) -> None:
    """Data, not address space: files mapped for reading don't count, everything that is allocated does."""
    if limit > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def deepen_stack() -> None:
    """libqpdf follows references by recursion: a chain of 100,000 objects needs more than the usual 8 MiB."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = 100 * 1024 * 1024  # below the 128 MiB that the kernel leaves free under every stack
    if most == resource.RLIM_INFINITY or most > wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, most))


def private_stdout() -> BinaryIO:
    """The answers' way out; whatever a library prints goes to stderr from now on."""
    answers = os.fdopen(os.dup(1), 'wb', buffering=0)
    os.dup2(2, 1)
    return answers


def read_requests(tasks: queue.SimpleQueue[dict[str, Any]], answers: BinaryIO) -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request['do'] == 'ping':
            say(answers, {'id': request['id'], 'ok': {}})
        else:
            tasks.put(request)
    os._exit(0)


def say(answers: BinaryIO, message: dict[str, Any]) -> None:
    """One write, so that lines of the two threads never mix (a line is shorter than a pipe takes at once)."""
    answers.write(json.dumps(message).encode() + b'\n')


def answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        if request['do'] != 'apply':
            raise BadPlan(f'unknown verb {request["do"]!r}')
        return {'id': request['id'], 'ok': apply(request['plan'])}
    except Exception as error:  # whatever a PDF brings about, the worker lives on
        return {'id': request['id'], 'error': describe(error)}


def describe(error: Exception) -> dict[str, Any]:
    detail = f'{type(error).__name__}: {error}'[:500]
    if isinstance(error, BadInput):
        return {'code': error.code, 'facts': {'input': str(error.index)}, 'detail': str(error)[:500]}
    if isinstance(error, MemoryError):
        return {'code': 'MEMORY', 'facts': {}, 'detail': detail}
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return {'code': 'DISK_FULL', 'facts': {}, 'detail': detail}
    return {'code': 'FAILED', 'facts': {}, 'detail': detail}


if __name__ == '__main__':
    main(sys.argv[1:])
