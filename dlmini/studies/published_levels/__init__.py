"""The third source's experiment as it was published, beside ours (Tolstobrov 2022: Local-SGD, gossip, sparsification).

    readings.py     what the document leaves open, as switches
    algorithms.py   Algorithms 1 to 3, line by line: what a rank runs
    description.py  `AsPublished`: what `train` takes in the place of a recipe; the ten configurations
    dealing.py      its task: data dealt anew every epoch, the loss a sum over the batch
    clusters.py     machines shaped like Polus and Lomonosov-2
    side_by_side.py both tens under equal conditions, and what each switch changes
    timing.py       how long configurations take on these clusters
    hybrid.py       P ranks of T threads against P T ranks, measured
By one command: `dlmini compare --as-published`.
"""
