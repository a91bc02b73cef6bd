"""What hal/debounce.py and hal/matrix.py want of hal/ports.py, for MicroPython: copied to the board as hal/ports.py."""

from collections import namedtuple

Edge = namedtuple("Edge", "t_us cell down")
Lines = object
