"""Form fields: every field keeps its own value, also where two documents use the same names.

A field's name is its identity: two fields of one name share one value. So a name that is taken becomes `name+1`, as
qpdf does it. Only names at the top of a tree need this, and all fields of one document that share a name go on sharing.
"""

from __future__ import annotations

from pikepdf import Array, Dictionary, Name, Object, Pdf, String

from annotations import TakenOff
from form_resources import FormResources
from objects import MAX_DEPTH, child, copy, items, tree_nodes


class FormFields:
    """Gathers the forms of all sources in one."""

    def __init__(self, result: Pdf) -> None:
        self._result = result
        self._fields: list[Object] = []
        self._order: list[Object] = []
        self._taken: set[str] = set()
        self._resources = FormResources(result)
        self._needs_appearances = False
        self._signed = False

    def add(self, source: Pdf, pages: list[TakenOff | None]) -> None:
        form = child(source.Root, '/AcroForm')
        roots = field_roots(form, pages)
        if not roots:
            return
        copies = [copy(self._result, source, root) for root in roots]
        self._rename(copies)
        self._fields += copies
        if form is None:
            return
        self._resources.add(source, form, copies)
        self._order += [copy(self._result, source, each) for each in items(form, '/CO') if isinstance(each, Dictionary)]
        self._needs_appearances = self._needs_appearances or form.get('/NeedAppearances') is True
        flags = form.get('/SigFlags')
        self._signed = self._signed or (isinstance(flags, int) and bool(flags & 1))

    def finish(self) -> None:
        if not self._fields:
            return
        form = Dictionary(Fields=Array(self._fields))
        self._resources.finish(form)
        if self._order:
            form['/CO'] = Array(self._order)
        if self._needs_appearances:
            form['/NeedAppearances'] = True
        if self._signed:
            form['/SigFlags'] = 1  # there are signatures; not 2, append only: that bound the file as it was
        self._result.Root['/AcroForm'] = self._result.make_indirect(form)

    def _rename(self, roots: list[Object]) -> None:
        named = [field for root in roots for field in first_named(root)]
        given: dict[str, str] = {}
        for field in named:
            name = str(field['/T'])
            if name not in given:
                given[name] = self._free(name)
            if given[name] != name:
                field['/T'] = String(given[name])
        self._taken.update(given.values())

    def _free(self, name: str) -> str:
        number = 0
        free = name
        while free in self._taken:
            number += 1
            free = f'{name}+{number}'
        return free


def field_roots(form: Dictionary | None, pages: list[TakenOff | None]) -> list[Object]:
    """The tops of all field trees: those that the form lists, then those that only a page knows of."""
    roots = [field for field in items(form, '/Fields') if isinstance(field, Dictionary)]
    listed = {root.objgen for root in roots}
    for page in pages:
        for annotation in page or []:
            if annotation.get('/Subtype') != Name.Widget:
                continue
            root = top_of(annotation)
            if root.is_indirect and root.objgen not in listed and is_field(root):
                listed.add(root.objgen)
                roots.append(root)
    return roots


def is_field(root: Object) -> bool:
    return '/T' in root or '/FT' in root


def top_of(field: Object) -> Object:
    for _ in range(MAX_DEPTH):
        parent = child(field, '/Parent')
        if parent is None:
            break
        field = parent
    return field


def first_named(root: Object) -> list[Object]:
    """The field, if it has a name, else the first below it that have one."""
    named: list[Object] = []
    for field in tree_nodes(root, below=lambda each: not has_name(each)):
        if has_name(field):
            named.append(field)
    return named


def has_name(field: Object) -> bool:
    return isinstance(field.get('/T'), String)
