"""Outlines (bookmarks): read from a source without trust in its links, written anew into the result."""

from __future__ import annotations

from dataclasses import dataclass, field

from pikepdf import Dictionary, Object, Pdf, String

from destinations import Destinations
from objects import MAX_DEPTH, child, copy, dictionary

# What an entry keeps besides its title and its target: its colour and its style.
LOOKS = ('/C', '/F')


@dataclass
class Node:
    """An entry of the result's outline: the entry itself, and those below it."""

    entry: Dictionary
    open: bool
    children: list[Node] = field(default_factory=list)


def read_outline(source: Pdf, result: Pdf, destinations: Destinations) -> list[Node]:
    """The source's outline as entries of the result. Loops are cut; a target that isn't there leaves the title."""
    top = child(source.Root, '/Outlines')
    return [] if top is None else Reader(source, result, destinations).below(top, 0)


class Reader:
    """A class, since a closure that calls itself is a loop, which would hold the documents long after their use."""

    def __init__(self, source: Pdf, result: Pdf, destinations: Destinations) -> None:
        self._source = source
        self._result = result
        self._destinations = destinations
        self._seen: set[tuple[int, int]] = set()

    def below(self, parent: Dictionary, depth: int) -> list[Node]:
        nodes: list[Node] = []
        entry = child(parent, '/First')
        while entry is not None and entry.objgen not in self._seen and depth < MAX_DEPTH:
            if entry.is_indirect:
                self._seen.add(entry.objgen)
            count = entry.get('/Count')
            is_open = not (isinstance(count, int) and count < 0)
            copied = copy(self._result, self._source, clean_entry(self._source, entry, self._destinations))
            nodes.append(Node(copied, is_open, self.below(entry, depth + 1)))
            entry = child(entry, '/Next')
        return nodes


def clean_entry(source: Pdf, entry: Dictionary, destinations: Destinations) -> Object:
    """The entry alone: title, looks and target, with no way to its neighbours."""
    title = entry.get('/Title')
    clean = Dictionary(Title=title if isinstance(title, String) else String(''))
    for key in LOOKS:
        if key in entry:
            clean[key] = entry[key]
    action = dictionary(entry.get('/A'))
    if '/Dest' in entry:
        target = destinations.explicit(entry['/Dest'])
        if target is not None:
            clean['/Dest'] = target
    elif action is not None and destinations.settle_action(action):
        clean['/A'] = action
    return source.make_indirect(clean)


def write_outline(result: Pdf, nodes: list[Node]) -> None:
    """Makes these the outline of the result, in place of any that it has."""
    if not nodes:
        if '/Outlines' in result.Root:
            del result.Root['/Outlines']
        return
    top = result.make_indirect(Dictionary(Type='/Outlines'))
    top['/Count'] = chain(top, nodes)
    result.Root['/Outlines'] = top


def chain(parent: Object, nodes: list[Node]) -> int:
    """Links the entries with their parent and each other; how many of them and below are visible."""
    visible = 0
    previous: Object | None = None
    for node in nodes:
        node.entry['/Parent'] = parent
        if previous is not None:
            node.entry['/Prev'] = previous
            previous['/Next'] = node.entry
        previous = node.entry
        visible += 1
        if node.children:
            below = chain(node.entry, node.children)
            node.entry['/Count'] = below if node.open else -below
            visible += below if node.open else 0
    parent['/First'] = nodes[0].entry
    parent['/Last'] = nodes[-1].entry
    return visible
