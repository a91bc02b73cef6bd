"""Stands for CircuitPython's `board` on a machine with one pin; FAKE_BLINKA="none" is a PC, where it raises."""

import os

if os.environ.get("FAKE_BLINKA") == "none":
    raise NotImplementedError("Board not supported")
if os.environ.get("BLINKA_SKIP_DEPENDENCY_CHECK") != "1":
    raise AssertionError("Blinka would ask a question on the terminal")

D18 = "GPIO18"
