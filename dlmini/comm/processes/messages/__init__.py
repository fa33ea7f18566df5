"""Messages between processes: ring buffers in shared memory, sending, receiving, and slow networks imitated."""
