"""Inputs: opened, and blamed for what goes wrong while they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

import pikepdf
from pikepdf import Dictionary, Object, PasswordError, Pdf

from objects import child

# Files up to this size are read in one piece: libqpdf's small reads through Python cost more than the copy.
READ_WHOLE = 4 * 1024 * 1024


class BadInput(Exception):
    """An input can't be read; `index` is its place among the plan's inputs."""

    def __init__(self, code: str, index: int, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.index = index


def open_input(index: int, file: str) -> Pdf:
    """Raises BadInput `PDF_UNREADABLE` or `PDF_ENCRYPTED`."""
    with blamed_on(index):
        with open(file, 'rb') as content:
            start = content.read(READ_WHOLE + 1)
        pdf = pikepdf.open(BytesIO(start) if len(start) <= READ_WHOLE else file)
        if len(pdf.pages) == 0:
            raise ValueError('the document has no pages')
        return pdf


@contextmanager
def blamed_on(index: int, pdf: Pdf | None = None) -> Iterator[None]:
    """Whatever goes wrong while an input is read is that input's fault, except what the machine lacks.

    Broken PDFs bring about PdfError, but also IndexError, RuntimeError, UnicodeDecodeError, AttributeError and more.
    """
    try:
        yield
    except (MemoryError, OSError):
        raise
    except PasswordError as error:
        raise BadInput('PDF_ENCRYPTED', index, reason(error)) from error
    except Exception as error:
        if starved([str(error)] if pdf is None else warnings_of(pdf)):
            raise MemoryError(reason(error)) from error
        code = 'PDF_ENCRYPTED' if 'unsupported encryption' in str(error) else 'PDF_UNREADABLE'
        raise BadInput(code, index, reason(error)) from error


def refuse_incomplete(pdf: Pdf) -> None:
    """libqpdf repairs what it can, as it comes to it. What got lost on the way must not be lost in silence."""
    warnings = warnings_of(pdf)
    if starved(warnings):
        raise MemoryError(warnings[0])
    if not warnings:
        return
    count = pdf.Root.Pages.get('/Count')
    if isinstance(count, int) and count > len(pdf.pages):
        raise ValueError(f'the document is damaged: {count - len(pdf.pages)} of its {count} pages are lost')
    for number, page in enumerate(pdf.pages, 1):
        if not isinstance(page.obj, Dictionary):
            raise ValueError(f'the document is damaged: page {number} is lost')
        if '/Contents' not in page.obj and has_use_for_content(page.obj):
            raise ValueError(f'the document is damaged: the content of page {number} is lost')


def has_use_for_content(page: Object) -> bool:
    """libqpdf hides a reference to an object that is lost; what the content used is still named."""
    resources = child(page, '/Resources')
    return any(child(resources, kind) is not None for kind in ('/Font', '/XObject'))


def warnings_of(pdf: Pdf) -> list[str]:
    """What libqpdf has met with since the last call."""
    try:
        return [str(warning) for warning in pdf.get_warnings()]
    except UnicodeDecodeError:
        return ['a warning that quotes bytes of the document']


def starved(messages: list[str]) -> bool:
    """libqpdf takes a lack of memory for damage, and goes on without the object that it was reading."""
    return any('bad_alloc' in message for message in messages)


def reason(error: Exception) -> str:
    """The error in words, without the name that libqpdf gives to a file that is in memory."""
    return re.sub(r'<_io\.BytesIO object at \w+>:? ?', '', f'{type(error).__name__}: {error}')
