"""What takes aider's place, and where our faults end: in one visible line, and aider goes its own way.

The rule of every wrapper: the original's signature, the original's path when the gardener is off, and every
statement of ours in a `guard`, so that no exception of ours reaches the host. A hook gets the coder and the
arguments of the call and is guarded already. Lists are replaced only after all work on them is done, so the
last good view stays.
"""

from __future__ import annotations

import inspect
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import wraps
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import fault_log

if TYPE_CHECKING:
    from aider_gardener.adapters.aider.coder import HostCoder

ATTRIBUTE = "_gardener"
"""Where a coder holds its gardener, None once it is off or has failed."""

Wrap = Callable[[object], object]
"""Gets what aider has at a patch point, returns what takes its place."""
Hook = Callable[..., Any]


@contextmanager
def guard(coder: HostCoder | None, what: str = "") -> Iterator[None]:
    """`with guard(coder):` swallows any Exception raised inside and ends the gardener of the coder's chat. A
    Ctrl-C counts behind it, or chat and lists would differ; pressed twice it counts at once.

    With `what`, a command's name, only that has failed and the gardener goes on. `coder` None: there is none
    yet, and nobody to tell.
    """
    with _interrupts_wait():
        try:
            yield
        except Exception as error:  # reason: Ctrl-C and exits are the host's
            name = type(error).__name__
            if coder is not None and not what:
                coder.__dict__[ATTRIBUTE] = None
            with suppress(Exception):  # reason: a terminal that is gone must not end the chat
                frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
                fault_log().error("%s\n%s", name, frames)
                if coder is not None:
                    io: Any = coder.io  # the words are ours alone, and `Terminal` may be what failed
                    io.tool_warning(
                        f"aider-gardener: {what} failed ({name})."
                        if what
                        else f"aider-gardener stopped in this chat ({name}); aider goes on without it."
                    )


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """A context within which Ctrl-C is only noted the first time, unless one is around it already."""
    pythons = signal.default_int_handler
    if signal.getsignal(signal.SIGINT) is not pythons or current_thread() is not main_thread():
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda at, frame: pythons(at, frame) if pressed else pressed.append(at))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, pythons)
        if pressed:
            raise KeyboardInterrupt


def guarded(hook: Hook) -> Hook:
    """A hook that gets a coder and the arguments; it returns None where it failed."""

    @wraps(hook)
    def run(coder: Any, *args: object, **options: object) -> object:
        with guard(coder):
            return hook(coder, *args, **options)
        return None

    return run


@contextmanager
def guarded_context(coder: HostCoder, context: AbstractContextManager[object] | None) -> Iterator[None]:
    """A context of ours, if there is one, around work of the host's: it is left where it could be entered,
    and told of the host's errors, which go on up."""
    entered = ExitStack()
    try:
        with guard(coder):
            if context is not None:
                entered.enter_context(context)
        yield
    except BaseException as error:
        with guard(coder):
            entered.__exit__(type(error), error, error.__traceback__)
        raise
    with guard(coder):
        entered.close()


# The general wrappers


def hooked(
    *,
    before: Hook | None = None,
    instead: Hook | None = None,
    after: Hook | None = None,
    result: Hook | None = None,
) -> Wrap:
    """The original with hooks of ours: `before` and `after` it, `instead` of it where that returns anything.
    `result` gets what the original returned before the arguments; what it makes of that, if anything, is
    returned."""

    def wrap(original: Any) -> Any:
        @wraps(original)
        def wrapper(owner: object, *args: object, **options: object) -> object:
            coder = _coder_of(owner)
            if before:
                before(coder, *args, **options)
            value = instead(coder, *args, **options) if instead else None
            if value is not None:
                return value
            value = original(owner, *args, **options)
            if after:
                after(coder, *args, **options)
            changed = result(coder, value, *args, **options) if result else None
            return value if changed is None else changed

        return wrapper

    return wrap


def around(hook: Hook) -> Wrap:
    """The original runs within the context that the hook makes, to the end of what it yields."""

    def wrap(original: Any) -> Any:
        def context(owner: object, *args: object, **options: object) -> AbstractContextManager[None]:
            coder = _coder_of(owner)
            return guarded_context(coder, hook(coder, *args, **options))

        @wraps(original)
        def stream(*args: object, **options: object) -> Iterator[object]:
            with context(*args, **options):
                yield from original(*args, **options)

        @wraps(original)
        def wrapper(*args: object, **options: object) -> object:
            with context(*args, **options):
                return original(*args, **options)

        return stream if inspect.isgeneratorfunction(original) else wrapper

    return wrap


def added(value: object) -> Wrap:
    """What is put where aider has nothing, or in the place of what must not run."""
    return lambda _original: value


def _coder_of(owner: object) -> Any:
    """The coder that a call is about: its own, or that of its commands."""
    return getattr(owner, "coder", owner)
