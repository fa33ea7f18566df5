"""What was handed in: found, read without unpacking anything, and compared with each other."""
