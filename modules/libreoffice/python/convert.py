"""What the bridge does with a document: load, prepare, export, close; and what became of it if it failed."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import uno
import unohelper
from com.sun.star.awt import XCallback
from com.sun.star.beans import PropertyValue
from com.sun.star.container import NoSuchElementException
from com.sun.star.io import IOException
from com.sun.star.lang import DisposedException
from com.sun.star.lang import IllegalArgumentException
from com.sun.star.task import XInteractionHandler2
from com.sun.star.view.PaperOrientation import LANDSCAPE

# The export filter for each kind of document: com.sun.star.frame.ModuleManager names the kinds.
PDF_FILTERS = {
    "com.sun.star.text.TextDocument": "writer_pdf_Export",
    "com.sun.star.text.WebDocument": "writer_web_pdf_Export",
    "com.sun.star.text.GlobalDocument": "writer_globaldocument_pdf_Export",
    "com.sun.star.sheet.SpreadsheetDocument": "calc_pdf_Export",
    "com.sun.star.presentation.PresentationDocument": "impress_pdf_Export",
    "com.sun.star.drawing.DrawingDocument": "draw_pdf_Export",
    "com.sun.star.formula.FormulaProperties": "math_pdf_Export",
}

# Bytes; LibreOffice tells no full disk from other trouble with writing.
NEARLY_FULL = 256 * 1024

INSERTED = 1  # com.sun.star.document.RedlineDisplayType


class Refusal(Exception):
    """A document or an option that can't be: the client's to mend."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(detail or code)
        self.code = code
        self.detail = detail


@dataclass
class Job:
    input: str
    output: str
    # Import filters that may read it. Of several, the one that LibreOffice's own detection finds.
    filters: list[str]
    # Import options by filter: how text is encoded, and what separates cells.
    filterOptions: dict[str, str] = field(default_factory=dict)
    password: str = ""
    # Whether a password that nothing asks for is a fault.
    strictPassword: bool = False
    landscape: bool = False
    updateIndexes: bool = True
    # Sheets get no header: it would print the file's name.
    hideHeaders: bool = False
    # The properties of the PDF export filter.
    export: dict[str, Any] = field(default_factory=dict)


class Office:
    def __init__(self, context: Any) -> None:
        self.context = context
        self.desktop = self.service("com.sun.star.frame.Desktop")
        self.types = self.service("com.sun.star.document.TypeDetection")
        self.filters = self.service("com.sun.star.document.FilterFactory")
        self.modules = self.service("com.sun.star.frame.ModuleManager")
        self.main_thread = self.service("com.sun.star.awt.AsyncCallback")
        self.busy = False

    def service(self, name: str) -> Any:
        return self.context.ServiceManager.createInstanceWithContext(name, self.context)

    def describe(self) -> dict[str, Any]:
        configuration = self.service("com.sun.star.configuration.ConfigurationProvider")
        product = configuration.createInstanceWithArguments(
            "com.sun.star.configuration.ConfigurationAccess", (prop("nodepath", "/org.openoffice.Setup/Product"),)
        )
        version = product.getByName("ooSetupVersionAboutBox")
        return {"version": version, "filters": self.filters.getElementNames()}

    def ping(self) -> None:
        """Between conversions it asks for what needs soffice's global lock, so that a deadlock shows; else for what doesn't."""
        if self.busy:
            self.context.getValueByName("/singletons/none")
        else:
            self.desktop.getActiveFrame()

    def lives(self) -> bool:
        try:
            self.context.getValueByName("/singletons/none")
            return True
        except Exception:
            return False

    def convert(self, job: Job) -> None:
        """In soffice's main thread, so that it handles no event while a document is open: on a comment, one would make it open
        a window whose description is not part of a LibreOffice without GUI, and abort."""
        self.busy = True
        try:
            call = Call(lambda: self.convert_at_once(job))
            self.main_thread.addCallback(call, None)
            call.result()
        finally:
            self.busy = False

    def convert_at_once(self, job: Job) -> None:
        document = self.load(job)
        try:
            self.prepare(document, job)
            self.export(document, job)
        finally:
            close(document)

    def load(self, job: Job) -> Any:
        url = uno.systemPathToFileUrl(job.input)
        answers = Answers(job.password)
        chosen = self.choose_filter(url, job.filters)
        arguments = [
            prop("Hidden", True),
            prop("ReadOnly", True),
            prop("MacroExecutionMode", 0),  # never
            prop("UpdateDocMode", 0),  # links stay as they are
            prop("InteractionHandler", answers),
            prop("FilterName", chosen),
        ]
        if chosen in job.filterOptions:
            arguments.append(prop("FilterOptions", job.filterOptions[chosen]))
        detail = "no filter could load it"
        try:
            document = self.desktop.loadComponentFromURL(url, "_blank", 0, tuple(arguments))
        except (IllegalArgumentException, IOException) as error:
            document, detail = None, str(error)
        if document is None:
            raise Refusal(answers.why() or "UNREADABLE", detail)
        if job.password and job.strictPassword and not answers.asked:
            close(document)
            raise Refusal("PASSWORD_UNNEEDED")
        return document

    def choose_filter(self, url: str, candidates: list[str]) -> str:
        """Always named: a document whose filter is not named becomes whatever its content resembles."""
        if len(candidates) == 1:
            return candidates[0]
        found, _ = self.types.queryTypeByDescriptor((prop("URL", url),), True)
        for name in candidates:
            try:
                if found == value_of(self.filters.getByName(name), "Type"):
                    return name
            except NoSuchElementException:
                continue
        raise Refusal("UNREADABLE", f"its content is {found or 'unknown'}")

    def prepare(self, document: Any, job: Job) -> None:
        if job.landscape and hasattr(document, "setPrinter"):
            document.setPrinter((prop("PaperOrientation", LANDSCAPE),))
        if hasattr(document, "RedlineDisplayType"):
            document.RedlineDisplayType = INSERTED  # tracked changes as if accepted; ShowChanges can be set without effect
        if job.hideHeaders and hasattr(document, "getSheets"):
            hide_headers(document)
        if job.updateIndexes and hasattr(document, "getDocumentIndexes"):
            update_indexes(document)

    def export(self, document: Any, job: Job) -> None:
        options = tuple(prop(name, value) for name, value in job.export.items())
        arguments = (
            prop("FilterName", PDF_FILTERS.get(self.modules.identify(document), "writer_pdf_Export")),
            # As an Any of exactly this type, or the filter doesn't see its options.
            prop("FilterData", uno.Any("[]com.sun.star.beans.PropertyValue", options)),
        )
        try:
            document.storeToURL(uno.systemPathToFileUrl(job.output), arguments)
        except IOException as error:
            raise Refusal(why_not_written(job), str(error)) from error


class Call(unohelper.Base, XCallback):
    """Work for soffice's main thread. That waits for `notify` to return, and does itself what is asked of soffice meanwhile."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.over = threading.Event()
        self.error: Exception | None = None

    def notify(self, _data: Any) -> None:
        try:
            self.work()
        except Exception as error:
            self.error = error
        self.over.set()

    def result(self) -> None:
        self.over.wait()
        if self.error:
            raise self.error


class Answers(unohelper.Base, XInteractionHandler2):
    """Answers what soffice would ask a person. The request itself can't be read over this binding, only what may be answered."""

    def __init__(self, password: str) -> None:
        self.password = password
        self.asked = 0

    def why(self) -> str | None:
        """What kept a document from being loaded, if it was the password."""
        if not self.asked:
            return None
        return "PASSWORD_WRONG" if self.password else "PASSWORD_REQUIRED"

    def handle(self, request: Any) -> None:
        self.handleInteractionRequest(request)

    def handleInteractionRequest(self, request: Any) -> bool:  # noqa: N802
        offered = request.getContinuations()
        ask = next((one for one in offered if hasattr(one, "setPassword")), None)
        if ask:
            self.asked += 1
            if self.password and self.asked == 1:
                ask.setPassword(self.password)
                ask.select()
                return True
        options = next((one for one in offered if hasattr(one, "setFilterOptions")), None)
        choice = options or next((one for one in offered if is_abort(one)), None)
        if choice:
            choice.select()
        return choice is not None


def is_abort(continuation: Any) -> bool:
    names = [kind.typeName for kind in continuation.getTypes()]
    return "com.sun.star.task.XInteractionAbort" in names or "com.sun.star.task.XInteractionDisapprove" in names


def why_not_written(job: Job) -> str:
    disk = os.statvfs(os.path.dirname(job.output))
    if disk.f_bavail * disk.f_frsize < NEARLY_FULL:
        return "DISK_FULL"
    return "PAGE_RANGES" if job.export.get("PageRange") else "NOT_CONVERTIBLE"


def hide_headers(document: Any) -> None:
    styles = document.getStyleFamilies().getByName("PageStyles")
    for name in styles.getElementNames():
        styles.getByName(name).HeaderIsOn = False


def update_indexes(document: Any) -> None:
    indexes = document.getDocumentIndexes()
    if indexes.getCount() == 0:
        return
    # A table of contents that grows moves the pages it lists: the second round gets their numbers right.
    for _ in range(2):
        document.refresh()
        for position in range(indexes.getCount()):
            indexes.getByIndex(position).update()


def close(document: Any) -> None:
    try:
        document.close(True)
    except DisposedException:
        pass  # soffice has gone; whatever came before says so


def prop(name: str, value: Any) -> PropertyValue:
    return PropertyValue(name, 0, value, 0)


def value_of(properties: Any, name: str) -> Any:
    return next((one.Value for one in properties if one.Name == name), None)
