"""Pictures of the study that no other room draws."""

from __future__ import annotations

from dlmini.studies.classroom import reckoned
from dlmini.studies.classroom.published import COMPUTE, TABLE


def epoch_bars(found):
    """Seconds of an epoch of six computers: published, reckoned, simulated; the darker part is synchronisation."""
    from dlmini.show.palette import BLACK, PHASE, themed
    from dlmini.show.paper import sheet

    worlds = {"published": {c.name: (c.compute, c.synchronisation) for c in TABLE}}
    worlds["reckoned"] = {r.name.removeprefix("star, "): (COMPUTE, r.synchronisation) for r in reckoned.rows()}
    worlds |= {"simulated": {t.name: (COMPUTE, t.synchronisation) for t in found.timed}} if found.timed else {}
    names = [*dict.fromkeys(name for world in worlds.values() for name in world)]

    @themed
    def draw():
        figure, ax = sheet(10, 1.2 + 0.3 * len(names) * len(worlds))
        thick = 0.8 / len(worlds)
        for k, (world, rows) in enumerate(worlds.items()):
            for i, name in enumerate(names):
                if name in rows:
                    place, (compute, synced) = i + thick * (k - (len(worlds) - 1) / 2), rows[name]
                    ends = {"edgecolor": BLACK, "linewidth": 0.3, "height": 0.9 * thick}
                    ax.barh(place, compute, color=PHASE["compute"], label="computing" if not (i or k) else None, **ends)
                    ax.barh(place, synced, left=compute, color=PHASE["communication"], **ends,
                            label="synchronisation" if not (i or k) else None)  # fmt: skip
                    ax.annotate(f"{compute + synced:.1f} {world}", (compute + synced, place), (4, 0),
                                textcoords="offset points", va="center", fontsize="small")  # fmt: skip
        ax.set_yticks(range(len(names)), names)
        ax.set(ylim=(len(names) - 0.4, -0.6), xlim=(0, 125), xlabel="seconds of an epoch of six computers")
        ax.grid(axis="y", visible=False)
        figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return figure

    return draw()


def examples(form):
    """Tiles and their masks, as the document's first figure shows them."""
    from dlmini.data import aerial
    from dlmini.show.masks import colours, legend
    from dlmini.show.palette import themed
    from dlmini.show.paper import sheet

    data = aerial(5, max(128, form.side))

    @themed
    def draw():
        figure, axes = sheet(12, 5.6, rows=2, columns=5)
        table = colours(data.classes)
        for column, image, mask in zip(axes.T, data.x, data.y, strict=True):
            column[0].imshow(image)
            column[1].imshow(table[mask], interpolation="nearest")
            for ax in column:
                ax.set_axis_off()
        legend(figure, data.classes, table)
        return figure

    return draw()
