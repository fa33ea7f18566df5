"""What comes out of grading: files that other programs read, and pages for people."""
