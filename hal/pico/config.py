"""Your board: what is wired where. Everything that differs from board to board is here, and nothing else."""

NAME = "MORBAK Pico board"
# GPIO numbers. Row 1 is side a's, from its left; each switch with its diode's band towards the row.
ROWS = (2, 3, 4, 5, 6, 7, 8)
COLUMNS = (9, 10, 11, 12, 13, 14, 15)
DIODES = True
LEDS = 16
# The cell (row x columns + column) under each LED of the chain; this one runs to and fro.
CHAIN = tuple(
    row * len(COLUMNS) + (len(COLUMNS) - 1 - column if row % 2 else column)
    for row in range(len(ROWS))
    for column in range(len(COLUMNS))
)
COLOUR_ORDER = "GRB"
# Contacts: a press counts at once, a release once it has lasted; how long columns take to settle.
PRESS_US = 0
RELEASE_US = 10_000
SETTLE_US = 5
SCAN_HZ = 1_000
# What the LEDs may ask of the supply (70 % of what is printed on it), and what one draws, with a quarter to spare.
SUPPLY_MA = 2_100
IDLE_UA, RED_UA, GREEN_UA, BLUE_UA = 1_250, 20_000, 13_750, 18_750
# A loop that stands still for so long starts the board anew; 0 = never, while you work on this code.
WATCHDOG_MS = 2_000
