"""Pictures: the only room with matplotlib and widgets. A figure is made of events, or of rows with plain attributes.

Each name is imported when first used. Figures appear in a notebook by themselves; in a script, `savefig` them.
"""

from importlib import import_module

_FILES = {
    "palette": "theme",
    "gantt": "timeline",
    "learning": "curves reached",
    "frontier": "pareto",
    "bars": "time_split speed_up",
    "pipelines": "bubbles memory_over_time",
    "matrices": "mixing_matrix link_heatmap",
    "waits": "wait_graph",
    "rings": "ring_animation film_strip",
    "laws": "law_card",
    "masks": "segmentation",
    "guess_cards": "guess see",
    "dashboards": "dashboard",
}
_HOME = {name: file for file, names in _FILES.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"dlmini.show has no name {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"dlmini.show.{_HOME[name]}"), name)


def __dir__():
    return sorted({*globals(), *__all__})
