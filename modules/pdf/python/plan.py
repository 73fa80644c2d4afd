"""A plan: inputs, steps, output. Every input is read once, the result is written once."""

from __future__ import annotations

import re
from contextlib import ExitStack
from io import BytesIO
from typing import Any

from pikepdf import ObjectStreamMode, Pdf, StreamDecodeLevel

from inputs import BadInput, blamed_on, open_input, reason, refuse_incomplete, starved, warnings_of
from merge import Merge
from output import Output


class BadPlan(Exception):
    """The plan itself makes no sense: a fault of the service, never of a document."""


def apply(plan: dict[str, Any]) -> dict[str, Any]:
    """Carries the plan out. Raises BadInput, BadPlan, MemoryError, OSError (the output can't be written)."""
    with ExitStack() as opened:
        sources: list[Pdf] = []
        for index, file in enumerate(plan['inputs']):
            sources.append(opened.enter_context(open_input(index, file)))
        result = opened.enter_context(follow(plan['steps'], sources))
        save(result, sources, plan['output'])
        return {'pages': len(result.pages)}


def follow(steps: list[dict[str, Any]], sources: list[Pdf]) -> Pdf:
    if [step['do'] for step in steps] != ['merge']:
        raise BadPlan('a plan is one merge')
    merge = Merge(keep_outline=steps[0]['outline'] == 'keep')
    for index, source in enumerate(sources):
        with blamed_on(index, source):
            merge.add(source)
            refuse_incomplete(source)
    return merge.finish()


def save(result: Pdf, sources: list[Pdf], output: str) -> None:
    """Writes the result; streams stay as they are. Objects are packed where an input had them packed."""
    packed = any('/W' in source.trailer for source in sources)
    try:
        with Output(output) as file:
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
        raise BadInput('PDF_UNREADABLE', unwritable(sources), reason(error)) from error
    if any(starved(warnings_of(pdf)) for pdf in [result, *sources]):
        raise MemoryError('while the result was written')


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
