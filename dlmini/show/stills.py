"""Live cells leave a still picture: after a restart of the kernel, in a notebook that is opened again, on paper.

A front end keeps of a widget only its number, and without the kernel that made it says "model not found". So a cell
shows two things: the widget, and under it the still picture. While the widget lives, the picture is hidden; where it
does not, the picture is there and the sentence about a missing model is hidden. Styles that come with the picture do
this, in every front end that lets a notebook have some. The picture is taken again when the live one changes.
"""

from __future__ import annotations

from dlmini.show.paper import Sheet, picture_of

VIEW = "application/vnd.jupyter.widget-view+json"
MARK = {"dlmini": "still"}  # in an output's metadata
LIVE = "Live in the notebook; a still picture of it follows."
STYLE = (  # one :has may not stand inside another
    "<style>body:has(.dlmini-alive-{0}) .dlmini-still-{0},"
    ".jp-OutputArea:has(.dlmini-alive-{0}) .jp-OutputArea-child:has(.dlmini-still-{0}),"
    ".jp-OutputArea:not(:has(.dlmini-alive-{0})) .jp-OutputArea-child:has(+.jp-OutputArea-child .dlmini-still-{0})"
    "{{display:none}}</style>"
)


class WithStill:
    """Of a widget: `still()` is the figure that stands for it, `renew()` takes it again.

    picture: a part of it that shows this figure, if there is one; what it shows is not drawn a second time.
    """

    _shown, picture = False, None

    def still(self) -> Sheet:
        return self.figure

    def _still_bundle(self) -> dict:
        """What an output offers to who has no widgets."""
        return picture_of(self.still())[0] if self.picture is None else self.picture.bundle

    def _ipython_display_(self, **given) -> None:
        from IPython.display import display

        if not self._shown:
            self._shown = True
            self.add_class(f"dlmini-alive-{self.model_id}")
            if self.picture is not None:
                self.picture.observe(lambda _: self.renew(), "value")
        view = super()._repr_mimebundle_(**given)
        display({VIEW: view[VIEW], "text/plain": LIVE}, raw=True)
        display(self._hidden(), raw=True, metadata=MARK, display_id=f"dlmini-still-{self.model_id}")

    def renew(self) -> None:
        """The picture as it is now, wherever it was shown. May be called from any thread."""
        if self._shown:
            from IPython.display import update_display

            update_display(self._hidden(), raw=True, metadata=MARK, display_id=f"dlmini-still-{self.model_id}")

    def _hidden(self) -> dict:
        """The still, which hides itself where the widget is alive."""
        found, name = self._still_bundle(), self.model_id
        html = f'{STYLE.format(name)}<div class="dlmini-still-{name}">{found["text/html"]}</div>'
        return {**found, "text/html": html}

    def _repr_mimebundle_(self, **given) -> dict:
        """For who asks for one output: the widget, and what stands for it."""
        return {**super()._repr_mimebundle_(**given), **self._still_bundle()}
