"""A class of thirty, made up and graded: what a teacher sees before the first real one."""
