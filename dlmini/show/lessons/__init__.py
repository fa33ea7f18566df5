"""The pictures of each lesson: one module per lesson, still or moving."""
