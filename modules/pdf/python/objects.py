"""Small helps for objects that may be anything: a broken document has numbers where dictionaries should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pikepdf import Array, Dictionary, Object, Pdf

# Trees deeper than this are taken for a loop; none that a program writes comes near.
MAX_DEPTH = 64


def dictionary(value: object) -> Dictionary | None:
    return value if isinstance(value, Dictionary) else None


def array(value: object) -> Array | None:
    return value if isinstance(value, Array) else None


def child(parent: Object | None, key: str) -> Dictionary | None:
    """The dictionary under a key; None where there is none, or something else."""
    return None if parent is None else dictionary(parent.get(key))


def items(parent: Object | None, key: str) -> list[Object]:
    """The elements of the array under a key; none where there is something else."""
    found = None if parent is None else array(parent.get(key))
    return [] if found is None else list(found)


def keys(parent: Object | None) -> list[str]:
    """The keys of a dictionary; none where one of them is not UTF-8, since pikepdf can't say those."""
    try:
        return [] if parent is None else list(parent.keys())
    except UnicodeDecodeError:
        return []


def copy(result: Pdf, source: Pdf, value: Object) -> Object:
    """Copies an object of the source, with all it refers to. Pages must have been copied before."""
    return result.copy_foreign(value if value.is_indirect else source.make_indirect(value))


def tree_nodes(root: Object, below: Callable[[Object], bool] = lambda node: True) -> Iterator[Object]:
    """A node and all that its `/Kids` lead to, each once; below a node only if `below` says so."""
    seen: set[tuple[int, int]] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_indirect:
            if node.objgen in seen:
                continue
            seen.add(node.objgen)
        yield node
        if below(node):
            stack += reversed([kid for kid in items(node, '/Kids') if isinstance(kid, Dictionary)])


def tree_entries(tree: Dictionary | None, leaves: str) -> Iterator[tuple[Object, Object]]:
    """All (key, value) pairs of a name tree (`/Names`) or number tree (`/Nums`), in order."""
    for node in tree_nodes(tree) if tree is not None else []:
        pairs = items(node, leaves)
        yield from zip(pairs[0::2], pairs[1::2])
