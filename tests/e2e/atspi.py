"""What a screen reader receives of a window (AT-SPI): its widgets, in their order."""
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402


def walk(widget):
    if widget is None:
        return
    yield widget
    for i in range(widget.get_child_count()):
        yield from walk(widget.get_child_at_index(i))


def said_of(widget, what):
    try:
        return what(widget)
    except Exception:  # it has nothing of the kind, or is gone
        return None


def found_in(program, what):
    try:
        return next(filter(None, (said_of(widget, what) for widget in walk(program))), None)
    except Exception:  # a widget went while its parts were asked for
        return None


def until(what, seconds=60):
    """What `what` says of the first widget of which it says something; waits for it, as programs take their time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for i in range(Atspi.get_desktop(0).get_child_count()):
            found = found_in(Atspi.get_desktop(0).get_child_at_index(i), what)
            if found:
                return found
        time.sleep(0.05)
    return None
