"""The type of arrays of numbers."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Of real numbers, of any shape; docstrings tell that."""
