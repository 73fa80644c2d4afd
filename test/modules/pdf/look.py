"""Says as JSON what a reader finds in a PDF. Shares no code with the worker that it judges. Argument: file."""

import json
import sys

import pikepdf
from pikepdf import Array, Dictionary, Name


def main(file: str) -> None:
    pdf = pikepdf.open(file)
    pages = {page.obj.objgen: number for number, page in enumerate(pdf.pages, 1)}

    def page_of(target: object) -> object:
        """The number of the page, or what stands there instead."""
        if isinstance(target, Array) and isinstance(target[0], Dictionary):
            return pages.get(target[0].objgen, 'a page that is not in the document')
        return None if target is None else f'not explicit: {target!r}'

    def led_to(owner: Dictionary) -> object:
        action = owner.get('/A')
        while isinstance(action, Dictionary):
            if action.get('/S') == Name.URI:
                return str(action.URI)
            if action.get('/S') == Name.GoTo:
                return page_of(action.get('/D'))
            action = action.get('/Next')
        return page_of(owner.get('/Dest'))

    def links(page: pikepdf.Page) -> list:
        found = [each for each in page.obj.get('/Annots', []) if each.Subtype == Name.Link]
        return [led_to(each) for each in found]

    def entries(parent: Dictionary) -> list:
        found, entry = [], parent.get('/First')
        while entry is not None:
            assert entry.Parent.objgen == parent.objgen
            item = {'title': str(entry.Title), 'to': led_to(entry)}
            if '/First' in entry:
                item |= {'open': entry.Count > 0, 'children': entries(entry)}
            found.append(item)
            entry = entry.get('/Next')
        return found

    def fields(nodes: object, above: str = '', kind: object = None) -> dict:
        found = {}
        for node in nodes:
            name = '.'.join(part for part in (above, str(node.get('/T', ''))) if part)
            kids = list(node.get('/Kids', []))
            if any('/T' in kid for kid in kids):
                found |= fields(kids, name)
                continue
            widgets = kids or [node]
            assert name not in found, f'two fields are called {name}'
            found[name] = {
                'value': str(node.get('/V', '')),
                'pages': [pages.get(widget.P.objgen) for widget in widgets],
                'states': [str(widget.AS) for widget in widgets if '/AS' in widget],
                'font': font_of(widgets[0]),
            }
            for widget in widgets:
                page = pdf.pages[pages[widget.P.objgen] - 1]
                assert widget.objgen in [each.objgen for each in page.Annots], f'{name} is not on its page'
        return found

    def font_of(widget: Dictionary) -> str:
        holder = widget
        while '/DA' not in holder and '/Parent' in holder:
            holder = holder.Parent
        written = str(holder.get('/DA', form.get('/DA', '')))
        font = form.get('/DR', Dictionary()).get('/Font', Dictionary()).get(written.split(' ')[0])
        return str(font.BaseFont) if font is not None else ''

    form = pdf.Root.get('/AcroForm', Dictionary())
    layers = pdf.Root.get('/OCProperties')
    labels = pdf.Root.get('/PageLabels')
    print(
        json.dumps(
            {
                'pages': len(pdf.pages),
                'sizes': [[float(side) for side in list(page.mediabox)[2:]] for page in pdf.pages],
                'rotations': [int(page.obj.get('/Rotate', 0)) for page in pdf.pages],
                'links': [links(page) for page in pdf.pages],
                'outline': entries(pdf.Root.Outlines) if '/Outlines' in pdf.Root else [],
                'fields': fields(form.get('/Fields', [])),
                'attachments': {
                    name: pdf.attachments[name].get_file().read_bytes().decode() for name in pdf.attachments
                },
                'layersOff': [str(each.Name) for each in layers.D.OFF] if layers is not None else [],
                'labels': [page.label for page in pdf.pages] if labels is not None else [],
                'encrypted': pdf.is_encrypted,
            }
        )
    )


main(sys.argv[1])
