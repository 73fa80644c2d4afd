"""Attachments of the document as a whole; those on a page travel with its annotations."""

from __future__ import annotations

from pathlib import PurePosixPath

from pikepdf import Array, Dictionary, Object, Pdf, String

from objects import child, copy, items, tree_entries


class Attachments:
    """Gathers the attachments of all sources; of two with one name the second becomes `a (2).txt`."""

    def __init__(self, result: Pdf) -> None:
        self._result = result
        self._files: dict[bytes, Object] = {}
        self._names: set[str] = set()
        self._associated: list[Object] = []

    def add(self, source: Pdf) -> None:
        tree = child(child(source.Root, '/Names'), '/EmbeddedFiles')
        for key, file in tree_entries(tree, '/Names'):
            if isinstance(key, String) and isinstance(file, Dictionary):
                self._add_file(key, copy(self._result, source, file))
        for file in items(source.Root, '/AF'):
            if isinstance(file, Dictionary):
                self._associated.append(copy(self._result, source, file))

    def finish(self) -> None:
        if self._files:
            pairs = [part for key in sorted(self._files) for part in (String(key), self._files[key])]
            names = self._result.make_indirect(Dictionary(Names=Array(pairs)))
            self._result.Root['/Names'] = Dictionary(EmbeddedFiles=names)
        if self._associated:
            self._result.Root['/AF'] = Array(self._associated)

    def _add_file(self, key: String, file: Object) -> None:
        name = str(next(shown for shown in (file.get('/UF'), file.get('/F'), key) if isinstance(shown, String)))
        free = free_name(name, self._names)
        self._names.add(free)
        if free != name:
            file['/UF'] = String(free)
            file['/F'] = String(free)
        self._files[free_key(bytes(key) if free == name else bytes(String(free)), self._files)] = file


def free_name(name: str, taken: set[str]) -> str:
    path = PurePosixPath(name)
    number = 2
    free = name
    while free in taken:
        free = f'{path.stem} ({number}){path.suffix}'
        number += 1
    return free


def free_key(key: bytes, taken: dict[bytes, Object]) -> bytes:
    number = 2
    free = key
    while free in taken:
        free = key + f' ({number})'.encode()
        number += 1
    return free
