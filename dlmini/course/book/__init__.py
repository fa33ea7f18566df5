"""`dlmini course book`: the whole course as pages that need neither a kernel nor the network.

    course/*.md -> notebooks -> (run) -> FOLDER/index.html, NN_topic.html, lecturers.html, book.css

Formulas become MathML, figures are written into the page, and what is live in a notebook leaves its still picture.
"""
