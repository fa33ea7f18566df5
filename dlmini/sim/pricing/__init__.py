"""What a collective costs without being played: all clocks at once, or message by message with ghosts."""
