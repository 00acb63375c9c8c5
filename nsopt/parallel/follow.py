"""A worker of `run_all`: deaf to Ctrl-C, and gone when the process that started it is gone.

Workers run this text before all else, so that only the standard library is imported for it.
"""

import ctypes
import os
import signal
import sys
import threading
import time

KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def follow(parent: int, thread_lasts: bool) -> None:
    """Leave Ctrl-C and SIGTERM to the process ``parent``, and end when it has ended.

    On Linux the kernel ends this process, within compiled code too, if ``thread_lasts``: the main
    thread started it, for the end of another thread is an end too. Elsewhere a thread of this
    process does, once it is let run.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    if sys.platform == "linux" and thread_lasts:
        ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if os.getppid() != parent:  # it has ended already
        os._exit(1)
    threading.Thread(target=watch, daemon=True).start()
