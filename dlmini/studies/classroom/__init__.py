"""Six classroom computers that train a U-Net together: the experiment of Krivosheev, Kuznetsov and Spitsyn, again.

Creating a cluster for training machine learning algorithms from the personal computers of a classroom (Tomsk
Polytechnic University; in Russian). By one command, `dlmini classroom`, in three worlds:

    reckoned     a fixed cost and a bandwidth from two of the published rows; the others are predictions     reckoned.py
    simulated    virtual time, and real training on generated tiles: accuracy, bytes, batch sizes, mistakes  learning.py
    real         Open MPI between network namespaces whose links carry 1 Gbit/s                              real.py
"""
