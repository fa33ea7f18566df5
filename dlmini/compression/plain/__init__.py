"""The inner loops of compression in NumPy: the readable truth. Names, arguments and bits are those of `kernels`."""
