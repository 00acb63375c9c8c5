"""Ctrl-C and SIGTERM: they interrupt at once, after the step under way, or are only remembered.

Scopes (`interruptible`, `defer_interrupt`, `suspend_interrupts`) nest, and the innermost one
decides. After SIGTERM a process keeps what it has and begins nothing more. After a Ctrl-C that a
scope only remembered its caller does so, be it a script, a cell of a notebook or a line at the
prompt: the next scope that this caller enters raises KeyboardInterrupt, once. Nothing is changed
outside the main thread, where signals do not arrive, nor where a program handles or ignores a
signal by itself.

Python drops what is raised while an object is deleted, in ``__del__``, callbacks of weak references
and of the garbage collector: such a signal is sent again right after it.
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
"""Exit code of a command that was interrupted, by either signal."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals that are handled here."""

NEVER = sys.maxsize
"""Patience of a scope that no signal ends."""

PAUSE = 1e-3
"""Time [s] after which a signal is sent again whose exception Python dropped."""

Asked = Callable[[], bool]
"""A function that tells whether a signal came; see `is_interrupted`."""


class Interrupt(KeyboardInterrupt):
    """The KeyboardInterrupt of a command, which ends with `EXIT_CODE`.

    Python remembers of a plain one that passes through ``exec`` of a text, as of every dataclass
    while a module is imported, that nobody handled it, and dies of SIGINT at the end of ``-m``. A
    script that does not handle a plain one is to die so, for its shell to end as well.
    """


@dataclass
class _Scope:
    """A scope, which raises KeyboardInterrupt at the ``patience``-th signal."""

    patience: int
    notice: str = ""  # printed at the first signal that does not raise
    heard: int = 0  # signals so far
    last: signal.Signals = signal.SIGINT
    dropped: bool = False  # whether Python dropped what the last signal raised
    recalled: bool = False  # whether Ctrl-C came before, in an earlier call of the script or cell


_scopes: list[_Scope] = []
"""The scopes that are entered, the innermost last."""
_pressed = threading.Event()
"""Whether Ctrl-C or SIGTERM came that what is under way is to end for."""
_told_to_end = threading.Event()
"""Whether SIGTERM came."""
_to_end: list[FrameType] = []
"""The script or cell that is to end, for Ctrl-C came and a scope of it only remembered that."""


def is_interrupted() -> bool:
    """Return whether what is under way is to end, for Ctrl-C or SIGTERM came."""
    return _pressed.is_set()


def remember() -> None:
    """End what is under way by `is_interrupted`, after a KeyboardInterrupt that was caught."""
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
    with _enter_scope(1) as asked:
        if asked():
            raise _make_interrupt()
        try:
            yield asked
            if len(_scopes) == 1 and _scopes[0].dropped:  # an outer scope would ask by itself
                raise _make_interrupt()
        except Exception:
            if asked() and _has_raised():
                raise _make_interrupt() from None
            raise


@contextmanager
def defer_interrupt() -> Iterator[Asked]:
    """Remember the first Ctrl-C, for the caller to ask `is_interrupted` between steps.

    Inside a solver an exception would be lost or leave a step half solved. The second one
    interrupts at once.
    """
    with _enter_scope(2, "stopping after this step; Ctrl-C again to stop at once") as asked:
        yield asked


@contextmanager
def suspend_interrupts(notice: str = "") -> Iterator[Asked]:
    """Only remember Ctrl-C, however often it is pressed; tell ``notice`` once."""
    with _enter_scope(NEVER, notice) as asked:
        yield asked


@contextmanager
def _enter_scope(patience: int, notice: str = "") -> Iterator[Asked]:
    """Handle signals by a new scope; the outermost one installs and restores the handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield is_interrupted
        return
    scope, depth = _Scope(patience, notice), len(_scopes)
    _scopes.append(scope)
    previous, raised = {} if depth else _install_handlers(), False
    if not depth:
        _recall()
    try:
        with nullcontext() if depth else _resend_dropped():
            yield is_interrupted
    except KeyboardInterrupt:
        raised = True
        raise
    finally:
        scope.patience = NEVER  # nothing may break off what follows
        if not depth and not raised and _pressed.is_set() and not _told_to_end.is_set():
            _to_end.append(_find_script())
        try:
            for number, handler in previous.items():
                signal.signal(number, handler)
        finally:
            del _scopes[depth:]  # also where a signal arrives right after the handlers are restored
            if not depth and not _told_to_end.is_set():
                _pressed.clear()


def _recall() -> None:
    """Remember Ctrl-C that came before in the script or cell under way; forget any other."""
    if any(frame in _to_end for frame in _yield_callers()):
        _pressed.set()
        _scopes[0].recalled = True
    _to_end.clear()


def _find_script() -> FrameType:
    """Return the frame of the script, the cell or the line that called this module."""
    frames, main = [*_yield_callers()], vars(sys.modules["__main__"])
    return next((x for x in reversed(frames) if x.f_globals is main), frames[-1])


def _yield_callers() -> Iterator[FrameType]:
    """Yield the frames of the callers, the nearest first."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        yield frame


def _has_raised() -> bool:
    """Return whether the innermost scope has raised KeyboardInterrupt."""
    return bool(_scopes) and _scopes[-1].heard >= _scopes[-1].patience


def _install_handlers() -> dict[signal.Signals, Any]:
    """Handle the signals that nobody else does; return the handlers that they had."""
    ours = (signal.default_int_handler, signal.SIG_DFL, _exit_at_once)
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    replaced = {number: old for number, old in previous.items() if old in ours}
    for number in replaced:
        signal.signal(number, _hear)
    return replaced


def _hear(number: int, frame: FrameType | None) -> None:
    """Handle a signal: raise KeyboardInterrupt if the innermost scope has no more patience."""
    del frame
    _pressed.set()
    if number == signal.SIGTERM:
        _told_to_end.set()
    scope = _scopes[-1] if _scopes else _Scope(1)
    scope.heard, scope.last, scope.dropped = scope.heard + 1, signal.Signals(number), False
    if scope.heard >= scope.patience:
        raise _make_interrupt()
    if scope.notice and scope.heard == 1:
        with suppress(Exception):  # the signal may have come within another print
            print(f"\n{scope.notice}", file=sys.stderr)


@contextmanager
def _resend_dropped() -> Iterator[None]:
    """Send signals again whose KeyboardInterrupt Python dropped."""
    previous = sys.unraisablehook

    def hook(dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt) and _has_raised():
            _scopes[-1].dropped = True
            # What is raised here is dropped too, and a thread of `threading` takes locks that may
            # be held by what was going on.
            start_new_thread(_send_again, (_scopes[-1],))
        else:
            previous(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        if sys.unraisablehook is hook:
            sys.unraisablehook = previous


def _send_again(scope: _Scope) -> None:
    """Send the main thread the signal of a scope again, unless that has ended meanwhile."""
    time.sleep(PAUSE)
    if scope.dropped and any(x is scope for x in _scopes):
        if os.name == "posix":
            signal.pthread_kill(threading.main_thread().ident or 0, scope.last)  # ends its waits
        else:
            interrupt_main(scope.last)


def _make_interrupt() -> KeyboardInterrupt:
    return (Interrupt if _COMMAND else KeyboardInterrupt)(*_explain_earlier_signal())


def _explain_earlier_signal() -> list[str]:
    """Return why a call does not begin, for a signal came before it, and the remedy; else none."""
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
