"""DistBelief's figure: accuracy against time for four ways to train one network, on machines that are not equal.

Dean et al., Large scale distributed deep networks, NIPS 2012, as a report by A. A. Makogon (HSE, 2022) tells it. By one
command, `dlmini distbelief`:

    machines.py    fast, slow and straggling machines, and one that stands for the graphics card
    methods.py     SGD, Downpour, Downpour with Adagrad, Sandblaster L-BFGS: each with one number to be chosen
    racing.py      a race in virtual time or on processes; the search for that number, the same for all
    scaling.py     one network on several machines: where it stops to gain, reckoned and simulated
    published.py   who says what: the report, Dean et al., and where they differ
"""
