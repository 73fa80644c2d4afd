"""The way out for a result: a file whose errors wait until they can be told."""

from __future__ import annotations

import io
import os

BUFFER = 256 * 1024


class Output(io.BufferedWriter):
    """A new file. An exception inside libqpdf's write aborts the process, so a full disk is kept for `close`."""

    def __init__(self, path: str) -> None:
        self._drain = Drain(path)
        super().__init__(self._drain, BUFFER)

    def close(self) -> None:
        super().close()
        error, self._drain.error = self._drain.error, None
        if error is not None:
            raise error


class Drain(io.RawIOBase):
    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, content: memoryview) -> int:
        left = memoryview(content)
        while len(left) > 0 and self.error is None:
            try:
                left = left[os.write(self._file, left) :]
            except OSError as error:
                self.error = error
        return len(content)

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._file)
