"""What was handed in, found and read without unpacking anything and without running it, in a process under limits."""
