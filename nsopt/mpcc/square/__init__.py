"""Square programs for the kernels, and the options of Newton's method on them."""
