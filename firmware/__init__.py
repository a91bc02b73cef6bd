"""The meaning of the board: gestures, table, rules, lights, and the thin shells that run them."""
