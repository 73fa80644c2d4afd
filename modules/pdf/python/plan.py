"""A plan: inputs, steps, output. Every input is read once, the result is written once."""

from __future__ import annotations

import re
from contextlib import ExitStack
from io import BytesIO
from typing import Any

import pikepdf
from pikepdf import ObjectStreamMode, PasswordError, Pdf, StreamDecodeLevel

from merge import Merge

# Files up to this size are read in one piece: libqpdf's small reads through Python cost more than the copy.
READ_WHOLE = 4 * 1024 * 1024


class BadPlan(Exception):
    """The plan itself makes no sense: a fault of the service, never of a document."""


class BadInput(Exception):
    """An input can't be read; `index` is its place among the plan's inputs."""

    def __init__(self, code: str, index: int, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.index = index


def apply(plan: dict[str, Any]) -> dict[str, Any]:
    """Carries the plan out. Raises BadInput, BadPlan, MemoryError, OSError (the output can't be written)."""
    with ExitStack() as opened:
        sources: list[Pdf] = []
        for index, file in enumerate(plan['inputs']):
            sources.append(reading(index, lambda: opened.enter_context(open_pdf(file))))
        result = follow(plan['steps'], sources)
        opened.enter_context(result)
        save(result, sources, plan['output'])
        return {'pages': len(result.pages)}


def follow(steps: list[dict[str, Any]], sources: list[Pdf]) -> Pdf:
    if [step['do'] for step in steps] != ['merge']:
        raise BadPlan('a plan is one merge')
    merge = Merge(keep_outline=steps[0]['outline'] == 'keep')
    for index, source in enumerate(sources):
        reading(index, lambda: merge.add(source))
    return merge.finish()


def open_pdf(file: str) -> Pdf:
    with open(file, 'rb') as content:
        start = content.read(READ_WHOLE + 1)
    pdf = pikepdf.open(BytesIO(start) if len(start) <= READ_WHOLE else file)
    if len(pdf.pages) == 0:
        raise ValueError('the document has no pages')
    return pdf


def reading(index: int, work: Any) -> Any:
    """Whatever goes wrong while an input is read is that input's fault, except what the machine lacks.

    Broken PDFs bring about PdfError, but also IndexError, RuntimeError, UnicodeDecodeError, AttributeError and more.
    """
    try:
        return work()
    except (MemoryError, OSError):
        raise
    except PasswordError as error:
        raise BadInput('PDF_ENCRYPTED', index, str(error)) from error
    except Exception as error:
        code = 'PDF_ENCRYPTED' if 'unsupported encryption' in str(error) else 'PDF_UNREADABLE'
        raise BadInput(code, index, f'{type(error).__name__}: {error}') from error


def save(result: Pdf, sources: list[Pdf], output: str) -> None:
    """Writes the result; streams stay as they are. Objects are packed where an input had them packed."""
    packed = any('/W' in source.trailer for source in sources)
    try:
        with open(output, 'wb') as file:
            result.save(
                file,
                min_version=newest_version(sources),
                fix_metadata_version=False,
                stream_decode_level=StreamDecodeLevel.none,
                object_stream_mode=ObjectStreamMode.generate if packed else ObjectStreamMode.disable,
            )
    except (MemoryError, OSError):
        raise
    except Exception as error:
        raise BadInput('PDF_UNREADABLE', unwritable(sources), f'{type(error).__name__}: {error}') from error


def unwritable(sources: list[Pdf]) -> int:
    """The input that can't be written again; asked only when the result couldn't be."""
    for index, source in enumerate(sources):
        try:
            source.save(BytesIO(), stream_decode_level=StreamDecodeLevel.none)
        except Exception:
            return index
    return 0


def newest_version(sources: list[Pdf]) -> tuple[str, int]:
    """The result needs what its most demanding input needs."""
    known = [(source.pdf_version, source.extension_level) for source in sources]
    return max([version for version in known if re.fullmatch(r'\d\.\d', version[0])], default=('1.4', 0))
