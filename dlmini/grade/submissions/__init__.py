"""The submissions of a class: collected from a safe distance, and compared with each other."""
