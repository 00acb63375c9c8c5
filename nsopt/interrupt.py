"""Ctrl-C and SIGTERM: one flag that loops read, one guard around what computes.

Within `guard` the first signal sets the flag, so that what is computed so far is kept, and the
second raises KeyboardInterrupt. Within `interruptible`, where there is nothing to keep yet, the
first one raises it. The innermost decides. After a call that returned what it had, the next one of
the same script or cell raises, once: a loop of calls ends.

Nothing is changed in other threads than the main one, where signals do not arrive, nor where a
program handles or ignores a signal by itself.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

EXIT_CODE = 130  # exit code of a command that was interrupted, by either signal
SIGNALS = (signal.SIGINT, signal.SIGTERM)  # signals that are handled here

NEVER = sys.maxsize
"""Number of signals after which a guard never raises."""

NOTICE = "\nstopping soon, with what is computed so far; Ctrl-C again to stop at once"
EARLIER = (
    "Ctrl-C or SIGTERM came in an earlier call, which returned what it had so far: to go on after "
    "a result whose `interrupted` is true, call nsopt.interrupt.forget(); a call after this "
    "KeyboardInterrupt runs"
)

_pressed = threading.Event()
"""The flag: whether what is under way is to end."""
_patience: list[int] = []
"""Of each guard that is entered, after how many signals it raises; the innermost last."""
_ended: list[FrameType] = []
"""The script or cell of which a call returned early; its next one raises."""


class CommandInterrupt(KeyboardInterrupt):
    """The KeyboardInterrupt of a command, which ends with `EXIT_CODE`.

    Python remembers of a plain one that passes through ``exec`` of a text, as of every dataclass
    while a module is imported, that nobody handled it, and dies of SIGINT at the end of ``-m``. A
    script that does not handle a plain one is to die so, for its shell to end as well.
    """


def is_interrupted() -> bool:
    """Return whether what is under way is to end, for Ctrl-C or SIGTERM came."""
    return _pressed.is_set()


def forget() -> None:
    """Go on although Ctrl-C or SIGTERM came before in the same script or cell."""
    _pressed.clear()
    _ended.clear()


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at once, also for a signal that an outer guard only remembers.

    What CasADi and Python make of one counts as one: another exception, or nothing, where it came
    while arguments were looked at or an object was deleted.
    """
    with guard(patience=1):
        _raise_if_interrupted()
        try:
            yield
        except Exception:
            if _patience and _patience[-1] <= 0:
                _raise_if_interrupted()
            raise
        if len(_patience) == 1:  # an outer one asks by itself, after it has kept what came of this
            _raise_if_interrupted()


@contextmanager
def guard(patience: int = 2) -> Iterator[None]:
    """Keep what is computed from signals before the ``patience``-th; loops ask `is_interrupted`.

    Within a solver an exception would be lost, or leave a step half solved.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    depth = len(_patience)
    _patience.append(NEVER)  # nothing breaks off what comes before and after
    ours = (signal.default_int_handler, signal.SIG_DFL)
    before = {x: signal.signal(x, _hear) for x in SIGNALS if signal.getsignal(x) in ours}
    try:
        if not depth and _find_script() in _ended:
            _pressed.set()
        elif not depth:
            _ended.clear()
        _patience[depth] = patience
        yield
    except KeyboardInterrupt:
        if not depth:
            _pressed.clear()  # the caller knows
        raise
    finally:
        _patience[depth] = NEVER
        try:
            for number, handler in before.items():
                signal.signal(number, handler)
        finally:
            del _patience[depth:]
            if not depth:
                _ended[:] = [_find_script()] if is_interrupted() else []
                _pressed.clear()


def _hear(number: int, frame: FrameType | None) -> None:
    """Handle a signal."""
    del number, frame
    if not _patience:  # a command that has nothing to keep: it has not begun, or has ended
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.write(2, b"error: interrupted\n")
        os._exit(EXIT_CODE)
    _pressed.set()
    _patience[-1] -= 1
    if _patience[-1] <= 0:
        _raise_if_interrupted()
    with suppress(Exception):  # it may have come within another print
        print(NOTICE, file=sys.stderr)


def _raise_if_interrupted() -> None:
    if is_interrupted():
        kind = CommandInterrupt if _IS_COMMAND else KeyboardInterrupt
        raise kind(*([EARLIER] if _ended else [])) from None


def _find_script() -> FrameType:
    """Return the frame of the script, or of the cell or line of a prompt, that is under way."""
    frames = [sys._getframe()]
    while (caller := frames[-1].f_back) is not None:
        frames.append(caller)
    main = vars(sys.modules["__main__"])
    return next((x for x in reversed(frames) if x.f_globals is main), frames[-1])


def _is_command() -> bool:
    """Return whether this process is the command line, of which Python knows only its call."""
    called = sys.argv[0] if getattr(sys, "argv", None) else ""
    return called == "-m" or Path(called).stem == "nsopt"  # "-m" while it looks for nsopt.__main__


_IS_COMMAND = _is_command()

if _IS_COMMAND:  # in the first line of nsopt, so that imports may be interrupted too
    for _number in SIGNALS:  # also in the background of a script, where Ctrl-C is ignored at first
        signal.signal(_number, _hear)
