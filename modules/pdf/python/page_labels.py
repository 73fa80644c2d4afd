"""Page labels: `iv`, `A-3`. A part without any counts on from the first page of the result."""

from __future__ import annotations

from pikepdf import Array, Dictionary, Name, Object, Pdf, String

from objects import child, tree_entries


class PageLabels:
    def __init__(self) -> None:
        self._ranges: list[tuple[int, Object]] = []
        self._any = False

    def add(self, source: Pdf, offset: int, count: int) -> None:
        own = [
            (start, clean_label(label))
            for start, label in tree_entries(child(source.Root, '/PageLabels'), '/Nums')
            if isinstance(start, int) and 0 <= start < count and isinstance(label, Dictionary)
        ]
        self._any = self._any or bool(own)
        if not own or own[0][0] > 0:
            own.insert(0, (0, Dictionary(S=Name.D, St=offset + 1)))
        self._ranges += [(offset + start, label) for start, label in own]

    def finish(self, result: Pdf) -> None:
        if self._any:
            pairs = [part for each in sorted(self._ranges, key=lambda each: each[0]) for part in each]
            result.Root['/PageLabels'] = Dictionary(Nums=Array(pairs))


def clean_label(label: Dictionary) -> Dictionary:
    """A label has a style, a prefix and a first number, all of them plain values."""
    clean = Dictionary()
    style, prefix, first = label.get('/S'), label.get('/P'), label.get('/St')
    if isinstance(style, Name):
        clean['/S'] = style
    if isinstance(prefix, String):
        clean['/P'] = String(bytes(prefix))
    if isinstance(first, int):
        clean['/St'] = first
    return clean
