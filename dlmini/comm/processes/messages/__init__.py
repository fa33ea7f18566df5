"""Messages between processes: ring buffers in shared memory, what is sent, what has come, and slow networks imitated."""
