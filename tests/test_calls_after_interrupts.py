"""A call that does not begin because of an earlier Ctrl-C or SIGTERM says what to do."""

import signal

import pytest

from nsopt.interrupt import forget, guard, interruptible


@pytest.fixture(autouse=True)
def to_go_on():
    """Go on after a test in which SIGTERM came."""
    yield
    forget()


@pytest.mark.unit
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_call_that_does_not_begin_says_what_to_do(number):
    """But not one that is interrupted itself, which the user sees."""

    def run(presses):
        with interruptible():
            if presses:
                signal.raise_signal(number)

    with guard():
        signal.raise_signal(number)
    with pytest.raises(KeyboardInterrupt, match=r"call nsopt\.interrupt\.forget\(\)") as why:
        run(presses=False)
    assert "earlier call" in str(why.value)
    with guard():
        signal.raise_signal(number)
    forget()
    run(presses=False)  # as it says
    with pytest.raises(KeyboardInterrupt) as why:
        run(presses=True)
    assert not why.value.args
