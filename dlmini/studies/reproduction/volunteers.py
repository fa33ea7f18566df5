"""S0: deep learning in volunteer computing (Kurochkin, Papanov)."""

from __future__ import annotations

from dlmini.nn import volunteer_net
from dlmini.studies.reproduction.row import Row
from dlmini.studies.volunteers.experiment import WORK
from dlmini.studies.volunteers.published import FAILED, GOOD, ITERATIONS, LAYERS, MEGABYTE, SUCCESS, WEIGHTS
from dlmini.studies.volunteers.study import story_of
from dlmini.volunteer.delivery import CONTAINER, VM

TITLE = "S0: one network trained by volunteers"
DEMO = "dlmini volunteer demo"
FITTED = "one constant of the hosts is fitted to this"


def rows(long: bool = False) -> list[Row]:
    model, vm, container = volunteer_net(), story_of(VM, WORK), story_of(CONTAINER, WORK)
    layers = sum(bool(shapes) for shapes in model.parts)
    first = [sorted(story.first_results)[len(story.first_results) // 2] for story in (vm, container)]
    return [
        Row("weights", WEIGHTS, model.size, "dlmini train --model volunteer_net", "", ""),
        Row("layers", LAYERS, f"{layers} with weights, 2 poolings", "dlmini train --model volunteer_net"),
        Row("a parameter set", MEGABYTE, 4 * model.size / 1e6, DEMO, "float32", "MB"),
        Row("iterations", ITERATIONS, len(vm.iterations), DEMO),
        Row("good results", GOOD, vm.good, DEMO, "units are as many as that makes"),
        Row("failed results", FAILED, vm.failed, DEMO, FITTED),
        Row("success, VM", round(100 * SUCCESS, 2), 100 * vm.success, DEMO, FITTED, "%"),
        Row(
            "success, container",
            "not said",
            100 * container.success,
            DEMO,
            "the same people, by the document's table",
            "%",
        ),
        Row(
            "first result, VM",
            "not said",
            first[0] / 60,
            DEMO,
            "median; download, unpacking and start by its table",
            "min",
        ),
        Row("first result, container", "not said", first[1] / 60, DEMO, "median", "min"),
    ]
