"""What a course keeps beside programs: who is in it, which hand-in counts, what being late costs, marks by hand."""
