"""Destinations: where in its own document a link or an outline entry leads."""

from __future__ import annotations

from functools import cached_property

from pikepdf import Array, Dictionary, Name, Object, Pdf, String

from objects import MAX_DEPTH, child, tree_entries


class Destinations:
    """Makes every destination of one document explicit, so that it keeps its meaning beside those of others."""

    def __init__(self, source: Pdf, pages: list[Object]) -> None:
        self._root = source.Root
        self._pages = pages

    def explicit(self, destination: object) -> Array | None:
        """The destination as [page, how to show it]; None where its target is not a page of this document."""
        for _ in range(4):  # a name that leads to a name …: two steps are usual
            if isinstance(destination, Array):
                return self._with_page(destination)
            if isinstance(destination, Dictionary):
                destination = destination.get('/D')
            elif isinstance(destination, String):
                destination = self._named.get(bytes(destination))
            elif isinstance(destination, Name):
                by_name = child(self._root, '/Dests')
                destination = None if by_name is None else by_name.get(destination)
            else:
                return None
        return None

    def settle_action(self, action: Dictionary) -> bool:
        """Makes the targets of an action and of those that follow it explicit; False where it leads nowhere."""
        for _ in range(MAX_DEPTH):
            if not self._settle_one(action):
                return False
            following = action.get('/Next')
            if isinstance(following, Array):
                kept = [each for each in following if isinstance(each, Dictionary) and self._settle_one(each)]
                action['/Next'] = Array(kept)
            if not isinstance(following, Dictionary):
                return True
            if not self._settle_one(following):
                del action['/Next']
                return True
            action = following
        return True

    def _settle_one(self, action: Dictionary) -> bool:
        if action.get('/S') != Name.GoTo:
            return True
        target = self.explicit(action.get('/D'))
        if target is None:
            return False
        action['/D'] = target
        if '/SD' in action:
            del action['/SD']  # leads into the structure tree, which stays behind
        return True

    def _with_page(self, target: Array) -> Array | None:
        page = target[0] if len(target) > 0 else None
        if isinstance(page, int) and 0 <= page < len(self._pages):
            return Array([self._pages[page], *list(target)[1:]])
        return target if isinstance(page, Dictionary) and page.objgen in self._page_ids else None

    @cached_property
    def _page_ids(self) -> set[tuple[int, int]]:
        return {page.objgen for page in self._pages}

    @cached_property
    def _named(self) -> dict[bytes, Object]:
        tree = child(child(self._root, '/Names'), '/Dests')
        named: dict[bytes, Object] = {}
        for name, target in tree_entries(tree, '/Names'):
            if isinstance(name, String):
                named.setdefault(bytes(name), target)
        return named
