"""One network trained by volunteers: a published experiment on BOINC, repeated with simulated hosts.

Kurochkin and Papanov, Russian Supercomputing Days 2023. By one command, `dlmini volunteer demo`:

    published.py    what they report: 64 iterations, 19,000 good and 1,027 failed results, VM against container
    experiment.py   a population's story, and the training of exactly the units that it tells of
    sweeps.py       local sets, local steps, quorum, deadline: what each buys and costs
    study.py        all of it; report.py, pictures.py: a page and its figures
"""
