"""The inner loops of compression, compiled: one pass over the memory each. Their NumPy twins are in `plain`.

Every whole number is wrapped (`np.uint32(...)`) because Numba would widen it to 64 bits, and half as many fit into a
vector register. Branches are written as choices between two finished values, which vectorise. Sums run in float64 and
are rounded once: so their order, which differs from NumPy's, shows in the float32 result about once in 10^8 times.
"""
