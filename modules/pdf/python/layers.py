"""Layers (optional content): without their list in the catalog, what a document hides would show."""

from __future__ import annotations

from pikepdf import Array, Dictionary, Name, Object, Pdf

from objects import array, child, copy, items

# Lists of the default configuration that mean the same when they are put one after the other.
LISTS = ('/ON', '/OFF', '/Order', '/RBGroups', '/Locked', '/AS')


class Layers:
    """Gathers the layers of all sources, each with the state that its own document gives it."""

    def __init__(self, result: Pdf) -> None:
        self._result = result
        self._groups: list[Object] = []
        self._lists: dict[str, list[Object]] = {key: [] for key in LISTS}

    def add(self, source: Pdf) -> None:
        properties = child(source.Root, '/OCProperties')
        if properties is None or array(properties.get('/OCGs')) is None:
            return
        copied = copy(self._result, source, properties)
        groups = items(copied, '/OCGs')
        self._groups += groups
        default = child(copied, '/D')
        for key in LISTS:
            self._lists[key] += items(default, key)
        if default is not None and default.get('/BaseState') == Name.OFF:
            shown = {group.objgen for group in items(default, '/ON')}
            self._lists['/OFF'] += [group for group in groups if group.objgen not in shown]

    def finish(self) -> None:
        if not self._groups:
            return
        default = Dictionary({key: Array(values) for key, values in self._lists.items() if values})
        self._result.Root['/OCProperties'] = Dictionary(OCGs=Array(self._groups), D=default)
