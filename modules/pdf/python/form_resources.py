"""What form fields draw their text with: the form's fonts (`/DR`) and default appearance (`/DA`)."""

from __future__ import annotations

import re

from pikepdf import Dictionary, Object, Pdf, String

from objects import child, copy, keys, tree_nodes


class FormResources:
    """Gathers fonts and defaults. A font whose name another font has gets a new one, in its fields' appearances too."""

    def __init__(self, result: Pdf) -> None:
        self._result = result
        self._resources = Dictionary()
        self._appearance: bytes | None = None

    def add(self, source: Pdf, form: Dictionary, fields: list[Object]) -> None:
        """Takes the resources of a form over. `fields`: the copies of its top fields."""
        renamed = self._add_resources(source, child(form, '/DR'))
        for field in fields if renamed else []:
            rename_in_tree(field, renamed)
        self._hand_down(form, fields, renamed)

    def finish(self, form: Dictionary) -> None:
        if keys(self._resources):
            form['/DR'] = self._resources
        if self._appearance is not None:
            form['/DA'] = String(self._appearance)

    def _add_resources(self, source: Pdf, resources: Dictionary | None) -> dict[bytes, bytes]:
        """Old name → new name of each font that had to be renamed."""
        renamed: dict[bytes, bytes] = {}
        for category in keys(resources):
            own = child(resources, category)
            if own is None:
                continue
            if category not in self._resources:
                self._resources[category] = Dictionary() if keys(own) else copy(self._result, source, own)
            shared = self._resources[category]
            for name in keys(own):
                free = place(shared, name, own.get(name)) if category == '/Font' else name
                if free not in shared:
                    shared[free] = copy(self._result, source, own.get(name))
                if free != name:
                    renamed[name.encode()] = free.encode()
        return renamed

    def _hand_down(self, form: Dictionary, fields: list[Object], renamed: dict[bytes, bytes]) -> None:
        """Gives the form's defaults to its own fields, since those of another form may differ."""
        appearance, alignment = form.get('/DA'), form.get('/Q')
        if isinstance(appearance, String):
            default = rename(bytes(appearance), renamed)
            if self._appearance is None:
                self._appearance = default
            for field in fields:
                if '/DA' not in field:
                    field['/DA'] = String(default)
        if isinstance(alignment, int) and alignment != 0:
            for field in fields:
                if '/Q' not in field:
                    field['/Q'] = alignment


def place(fonts: Object, name: str, font: object) -> str:
    """The name under which the same font is there already, or one that is free."""
    number = 1
    free = name
    while free in fonts and not same_font(fonts.get(free), font):
        number += 1
        free = f'{name}_{number}'
    return free


def same_font(one: object, other: object) -> bool:
    """Whether both are the same standard font. Embedded ones never are: to find out would cost more than it saves."""
    if not isinstance(one, Dictionary) or not isinstance(other, Dictionary):
        return False
    known = essence(one)
    return known is not None and known == essence(other)


def essence(font: Dictionary) -> tuple[bytes, ...] | None:
    """What makes a standard font: its kind, its name, its encoding."""
    if '/FontDescriptor' in font or '/BaseFont' not in font:
        return None
    encoding = font.get('/Encoding')
    if isinstance(encoding, Dictionary):
        encoding = encoding.get('/Differences')
    return tuple(written(part) for part in (font.get('/Subtype'), font['/BaseFont'], encoding))


def written(value: object) -> bytes:
    return value.unparse(resolved=True) if isinstance(value, Object) else repr(value).encode()


def rename(appearance: bytes, renamed: dict[bytes, bytes]) -> bytes:
    """A default appearance with the new names of its fonts: `/Helv 12 Tf 0 g`."""
    return re.sub(rb'/[^\s/()<>\[\]{}%]+', lambda found: renamed.get(found[0], found[0]), appearance)


def rename_in_tree(root: Object, renamed: dict[bytes, bytes]) -> None:
    for field in tree_nodes(root):
        appearance = field.get('/DA')
        if isinstance(appearance, String):
            field['/DA'] = String(rename(bytes(appearance), renamed))
