"""What a mechanism is: bodies, frames, the contracts of elements, joints between bodies."""
