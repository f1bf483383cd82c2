"""What takes aider's place, and where our faults end: in one visible line, and aider goes its own way.

The rule of every wrapper: the original's signature, the original's path when the gardener is off, and every
statement of ours in a `Guard`, so that no exception of ours reaches the host. A hook gets the coder and the
arguments of the call and is guarded already. Lists are replaced only after all work on them is done, so the
last good view stays.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import fault_log

if TYPE_CHECKING:
    from aider_gardener.adapters.aider.coder import HostCoder

ATTRIBUTE = "_gardener"
"""Where a coder holds its gardener, None once it is off or has failed."""

Wrap = Callable[[Any], Any]
"""Gets what aider has at a patch point, returns what takes its place."""
Hook = Callable[..., Any]


class Guard:
    """`with Guard(coder):` swallows any Exception raised inside and ends the gardener of the coder's chat.

    With `what`, a command's name, only that has failed and the gardener goes on. `coder` None: there is none
    yet, and nobody to tell.
    """

    def __init__(self, coder: HostCoder | None, what: str = "") -> None:
        self.coder = coder
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):  # reason: Ctrl-C and exits are the host's
            return False
        name = type(error).__name__
        if self.coder is not None and not self.what:
            self.coder.__dict__[ATTRIBUTE] = None
        try:
            frames = "".join(traceback.format_list(traceback.extract_tb(trace)))
            fault_log().error("%s\n%s", name, frames)
            if self.coder is not None:
                io: Any = self.coder.io  # the words are ours alone, and `Terminal` may be what failed
                io.tool_warning(
                    f"aider-gardener: {self.what} failed ({name})."
                    if self.what
                    else f"aider-gardener stopped in this chat ({name}); aider goes on without it."
                )
        except Exception:  # reason: a terminal that is gone must not end the chat
            return True
        return True


def guarded(hook: Hook) -> Hook:
    """A hook that gets a coder and the arguments; it returns None where it failed."""

    @wraps(hook)
    def run(coder: Any, *args: Any, **options: Any) -> Any:
        with Guard(coder):
            return hook(coder, *args, **options)
        return None

    return run


@contextmanager
def guarded_context(coder: HostCoder, context: AbstractContextManager[Any] | None) -> Iterator[None]:
    """A context of ours, if there is one, around work of the host's: it is left where it could be entered,
    and told of the host's errors, which go on up."""
    entered = ExitStack()
    with Guard(coder):
        if context is not None:
            entered.enter_context(context)
    try:
        yield
    except BaseException as error:
        with Guard(coder):
            entered.__exit__(type(error), error, error.__traceback__)
        raise
    with Guard(coder):
        entered.close()


# The general wrappers


def beside(
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
        def wrapper(owner: Any, *args: Any, **options: Any) -> Any:
            coder = _coder_of(owner)
            if before:
                before(coder, *args, **options)
            made = instead(coder, *args, **options) if instead else None
            if made is not None:
                return made
            made = original(owner, *args, **options)
            if after:
                after(coder, *args, **options)
            changed = result(coder, made, *args, **options) if result else None
            return made if changed is None else changed

        return wrapper

    return wrap


def around(hook: Hook) -> Wrap:
    """The original runs within the context that the hook makes, to the end of what it yields."""

    def wrap(original: Any) -> Any:
        def context(owner: Any, *args: Any, **options: Any) -> AbstractContextManager[None]:
            coder = _coder_of(owner)
            return guarded_context(coder, hook(coder, *args, **options))

        @wraps(original)
        def stream(*args: Any, **options: Any) -> Iterator[Any]:
            with context(*args, **options):
                yield from original(*args, **options)

        @wraps(original)
        def wrapper(*args: Any, **options: Any) -> Any:
            with context(*args, **options):
                return original(*args, **options)

        return stream if inspect.isgeneratorfunction(original) else wrapper

    return wrap


def added(value: Any) -> Wrap:
    """What is put where aider has nothing, or in the place of what must not run."""
    return lambda _original: value


def _coder_of(owner: Any) -> Any:
    """The coder that a call is about: its own, or that of its commands."""
    return getattr(owner, "coder", owner)
