"""Annotations: taken off the pages of a source, their links settled, and put onto the copies."""

from __future__ import annotations

from pikepdf import Array, Dictionary, Name, Object, Pdf

from destinations import Destinations
from objects import array, child, copy, dictionary, keys


class TakenOff(list[Dictionary]):
    """The annotations of one page, and the page's own actions if it has any."""

    page_actions: Dictionary | None = None


def detach(page: Object, destinations: Destinations) -> TakenOff | None:
    """Takes a page's annotations and actions off it, without the links that lead nowhere; None if it has none."""
    if '/B' in page:
        del page['/B']  # beads of an article, whose list stays behind
    actions = page.get('/AA') if '/AA' in page else None
    annotations = page.get('/Annots') if '/Annots' in page else None
    if actions is None and annotations is None:
        return None
    taken = TakenOff()
    for annotation in array(annotations) or []:
        if isinstance(annotation, Dictionary) and settle_links(annotation, destinations):
            taken.append(annotation)
    if annotations is not None:
        del page['/Annots']
    if actions is not None:
        taken.page_actions = dictionary(actions)
        settle_triggers(page, destinations)
        del page['/AA']
    return taken


def attach(taken: TakenOff, page: Object, result: Pdf, source: Pdf) -> None:
    """Puts the copies of the annotations onto the copy of their page."""
    if taken:
        page['/Annots'] = copy(result, source, source.make_indirect(Array(taken)))
    if taken.page_actions is not None:
        page['/AA'] = copy(result, source, taken.page_actions)


def settle_links(annotation: Dictionary, destinations: Destinations) -> bool:
    """Makes every target explicit. False: it is a link whose target isn't there, and is to be dropped."""
    if '/AA' in annotation:
        settle_triggers(annotation, destinations)
    if '/Dest' in annotation:
        target = destinations.explicit(annotation['/Dest'])
        if target is None:
            del annotation['/Dest']
            return annotation.get('/Subtype') != Name.Link
        annotation['/Dest'] = target
    action = annotation.get('/A') if '/A' in annotation else None
    if isinstance(action, Dictionary) and not destinations.settle_action(action):
        del annotation['/A']
        return annotation.get('/Subtype') != Name.Link
    return True


def settle_triggers(owner: Object, destinations: Destinations) -> None:
    """The actions that are done when something happens to a page or an annotation."""
    triggers = child(owner, '/AA')
    for event in keys(triggers):
        action = dictionary(triggers.get(event))
        if action is not None and not destinations.settle_action(action):
            del triggers[event]
