"""The wires of the board: everything electricity passes through, and nothing that knows a rule of a game."""
