"""Ctrl-C and SIGTERM: heard at once, after the step under way, or only remembered.

Scopes nest, and the innermost one decides. After SIGTERM a process keeps what it has and begins
nothing more. After Ctrl-C so does what called the scope that only remembered it, be it a script, a
cell of a notebook or a line at the prompt: its next scope raises KeyboardInterrupt, once. Nothing
is changed outside the main thread, where signals do not arrive, nor where a program handles or
ignores a signal by itself.

Python drops what is raised while an object is deleted, in ``__del__``, callbacks of weak references
and of the garbage collector: such a signal is heard again right after it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

EXIT_CODE = 130
"""Of a command that was interrupted, by either signal."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)
NEVER = sys.maxsize

PAUSE = 1e-3
"""Time [s] after which a signal is heard again whose exception Python dropped."""

Asked = Callable[[], bool]


class Interrupt(KeyboardInterrupt):
    """The KeyboardInterrupt of a command.

    Of a plain one that passes through ``exec`` of a text, as of every dataclass while a module is
    imported, Python remembers that nobody handled it, and dies of SIGINT at the end of ``-m``. A
    script that does not handle a plain one is to die so, for its shell to end as well.
    """


@dataclass
class _Scope:
    """A scope that raises KeyboardInterrupt at the signal of number ``patience``.

    ``last`` is the signal heard last, ``dropped`` tells whether Python dropped what it raised,
    ``recalled`` whether Ctrl-C came before it, in an earlier call of the same script or cell.
    """

    patience: int
    notice: str = ""
    heard: int = 0
    last: signal.Signals = signal.SIGINT
    dropped: bool = False
    recalled: bool = False


_scopes: list[_Scope] = []
_pressed = threading.Event()
_told_to_end = threading.Event()
_to_end: list[FrameType] = []
"""The script or cell that is to end, for Ctrl-C came and a scope of it only remembered that."""


def is_interrupted() -> bool:
    """Return whether Ctrl-C is to end what is within scopes at this moment, or SIGTERM came."""
    return _pressed.is_set()


def remember() -> None:
    """Have a KeyboardInterrupt that was caught, to keep something, end what is going on too."""
    if _scopes and threading.current_thread() is threading.main_thread():
        _pressed.set()


def forget() -> None:
    """Go on although SIGTERM came, or Ctrl-C before in the same script or cell."""
    _told_to_end.clear()
    _to_end.clear()
    if not _scopes:
        _pressed.clear()


@contextmanager
def interruptible() -> Iterator[Asked]:
    """Raise KeyboardInterrupt at once, also for what an enclosing scope only remembers.

    CasADi makes another exception of it, so any one that arises then counts as an interrupt.
    """
    with _scope(1) as asked:
        if asked():
            raise _interrupt()
        try:
            yield asked
            if len(_scopes) == 1 and _scopes[0].dropped:  # of an inner one the outer may ask
                raise _interrupt()
        except Exception:
            if asked() and _raise():
                raise _interrupt() from None
            raise


@contextmanager
def defer_interrupt() -> Iterator[Asked]:
    """Remember the first Ctrl-C, for the caller to ask `is_interrupted` between steps.

    Inside a solver an exception would be lost or leave a step half solved. The second one
    interrupts at once.
    """
    with _scope(2, "stopping after this step; Ctrl-C again to stop at once") as asked:
        yield asked


@contextmanager
def suspend_interrupts(notice: str = "") -> Iterator[Asked]:
    """Only remember Ctrl-C, however often it is pressed; tell ``notice`` once."""
    with _scope(NEVER, notice) as asked:
        yield asked


@contextmanager
def _scope(patience: int, notice: str = "") -> Iterator[Asked]:
    if threading.current_thread() is not threading.main_thread():
        yield is_interrupted
        return
    scope, depth = _Scope(patience, notice), len(_scopes)
    _scopes.append(scope)
    previous, raised = {} if depth else _install(), False
    if not depth:
        _recall()
    try:
        with nullcontext() if depth else _raise_dropped_ones_again():
            yield is_interrupted
    except KeyboardInterrupt:
        raised = True
        raise
    finally:
        scope.patience = NEVER  # nothing may break off what follows
        if not depth and not raised and _pressed.is_set() and not _told_to_end.is_set():
            _to_end.append(_script())
        try:
            for number, handler in previous.items():
                signal.signal(number, handler)
        finally:
            del _scopes[depth:]  # whatever is pressed once the handlers are those of before
            if not depth and not _told_to_end.is_set():
                _pressed.clear()


def _recall() -> None:
    """Hear Ctrl-C again that came before in the script or cell under way; forget any other."""
    if any(frame in _to_end for frame in _callers()):
        _pressed.set()
        _scopes[0].recalled = True
    _to_end.clear()


def _script() -> FrameType:
    """Return the frame of the script, the cell or the line that called this module."""
    frames, main = [*_callers()], vars(sys.modules["__main__"])
    return next((x for x in reversed(frames) if x.f_globals is main), frames[-1])


def _callers() -> Iterator[FrameType]:
    """Yield the frames of those that called, from the nearest on."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        yield frame


def _raise() -> bool:
    """Return whether the innermost scope has raised KeyboardInterrupt."""
    return bool(_scopes) and _scopes[-1].heard >= _scopes[-1].patience


def _install() -> dict[signal.Signals, Any]:
    """Handle the signals that nobody else does; return their handlers until now."""
    ours = (signal.default_int_handler, signal.SIG_DFL, _exit_at_once)
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    replaced = {number: old for number, old in previous.items() if old in ours}
    for number in replaced:
        signal.signal(number, _press)
    return replaced


def _press(number: int, frame: FrameType | None) -> None:
    del frame
    _pressed.set()
    if number == signal.SIGTERM:
        _told_to_end.set()
    scope = _scopes[-1] if _scopes else _Scope(1)
    scope.heard, scope.last, scope.dropped = scope.heard + 1, signal.Signals(number), False
    if scope.heard >= scope.patience:
        raise _interrupt()
    if scope.notice and scope.heard == 1:
        with suppress(Exception):  # the signal may have come within another print
            print(f"\n{scope.notice}", file=sys.stderr)


@contextmanager
def _raise_dropped_ones_again() -> Iterator[None]:
    """Have Python tell of KeyboardInterrupts that it drops, and raise them again."""
    told = sys.unraisablehook

    def hook(dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt) and _raise():
            _scopes[-1].dropped = True
            # What is raised here is dropped too, and a thread of `threading` takes locks that may
            # be held by what was going on.
            start_new_thread(_press_again, (_scopes[-1],))
        else:
            told(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        if sys.unraisablehook is hook:
            sys.unraisablehook = told


def _press_again(scope: _Scope) -> None:
    """Send the main thread the signal of a scope again, unless that has ended meanwhile."""
    time.sleep(PAUSE)
    if scope.dropped and any(x is scope for x in _scopes):
        if os.name == "posix":
            signal.pthread_kill(threading.main_thread().ident or 0, scope.last)  # ends its waits
        else:
            interrupt_main(scope.last)


def _interrupt() -> KeyboardInterrupt:
    return (Interrupt if _COMMAND else KeyboardInterrupt)(*_earlier_signal())


def _earlier_signal() -> list[str]:
    """Return what to do where a call does not begin because of a signal before it, else nothing."""
    if not _scopes or any(scope.heard for scope in _scopes):
        return []
    if _told_to_end.is_set():
        return ["SIGTERM told this process to end: to go on, call nsopt.interrupt.forget()"]
    if _scopes[0].recalled:
        return [
            "Ctrl-C came in an earlier call, which returned what it had so far: to go on after a "
            "result whose `interrupted` is true, call nsopt.interrupt.forget(); a call after this "
            "KeyboardInterrupt runs"
        ]
    return []


def _exit_at_once(number: int, frame: FrameType | None) -> None:
    """End a command that has nothing to keep: before it has begun, or after its end."""
    del number, frame
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, b"error: interrupted\n")
    os._exit(EXIT_CODE)


def _is_command() -> bool:
    """Return whether this process is the command line, of which Python knows only its call."""
    called = sys.argv[0] if getattr(sys, "argv", None) else ""
    return called == "-m" or Path(called).stem == "nsopt"  # "-m" while it looks for nsopt.__main__


_COMMAND = _is_command()

if _COMMAND:  # in the first line of nsopt, so that imports may be interrupted too
    for _number in SIGNALS:  # also in the background of a script, where Ctrl-C is ignored at first
        signal.signal(_number, _exit_at_once)
