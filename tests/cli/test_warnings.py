"""What Python's warnings look like on the command line."""

import warnings

import pytest

from nsopt.cli import command

pytestmark = pytest.mark.unit


def test_a_warning_is_a_line_without_its_place_in_the_source(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with command():
            warnings.warn("the joint 'tip' is off", stacklevel=1)
    assert capsys.readouterr().err == "WARNING               the joint 'tip' is off\n"
