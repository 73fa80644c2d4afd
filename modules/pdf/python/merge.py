"""Merging: the pages of several documents in one, with all that leads from and to them."""

from __future__ import annotations

import pikepdf
from pikepdf import Pdf

from annotations import attach, detach
from attachments import Attachments
from destinations import Destinations
from form_fields import FormFields
from layers import Layers
from outline import Node, read_outline, write_outline
from page_labels import PageLabels


class Merge:
    """Takes one source after the other. A source must stay open until the result has been written.

    Links survive because of the order of work. libqpdf copies a page together with what hangs on it, but replaces
    each reference to a page that it has not copied yet by null. So annotations are taken off first, the bare pages
    are copied, and whatever refers to pages comes after them.
    """

    def __init__(self, *, keep_outline: bool) -> None:
        self._result = pikepdf.new()
        self._keep_outline = keep_outline
        self._outline: list[Node] = []
        self._fields = FormFields(self._result)
        self._attachments = Attachments(self._result)
        self._layers = Layers(self._result)
        self._labels = PageLabels()

    def add(self, source: Pdf) -> None:
        pages = [page.obj for page in source.pages]
        offset = len(self._result.pages)
        destinations = Destinations(source, pages)
        taken_off = [detach(page, destinations) for page in pages]
        self._result.pages.extend(source.pages)
        for index, annotations in enumerate(taken_off):
            if annotations:
                attach(annotations, self._result.pages[offset + index].obj, self._result, source)
        self._fields.add(source, taken_off)
        self._attachments.add(source)
        self._layers.add(source)
        self._labels.add(source, offset, len(pages))
        if self._keep_outline:
            self._outline += read_outline(source, self._result, destinations)

    def finish(self) -> Pdf:
        self._fields.finish()
        self._attachments.finish()
        self._layers.finish()
        self._labels.finish(self._result)
        write_outline(self._result, self._outline)
        return self._result
