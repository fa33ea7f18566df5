"""Speed, as ratios to peers, measured interleaved in one run. Never a threshold in a test."""
