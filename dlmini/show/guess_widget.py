"""The place to enter a guess: a number to type or to slide, or answers to choose from. Untouched, it is no guess."""

from __future__ import annotations

from html import escape
from math import log10

import ipywidgets

from dlmini.course.guesses import Question, number
from dlmini.show.stills import WithStill

WIDE = 50  # from such a ratio of most to least on, a slider moves by factors


class Ask(WithStill, ipywidgets.VBox):
    """A question with its place for an answer. `give` keeps an answer and says so; None takes it back."""

    def __init__(self, asked: Question, paper, standing, give):
        self.asked, self.paper, self.give = asked, paper, give
        self.note = ipywidgets.HTML()
        self.answers = self.choices(standing) if asked.of else self.numbers(standing)
        title = ipywidgets.HTML(f'<b class="dlmini-question">{escape(asked.text)}</b>')
        row = ipywidgets.HBox([*self.answers, self.note], layout={"align_items": "center", "flex_flow": "row wrap"})
        super().__init__([title, row])
        self.add_class("dlmini-guess")
        self.layout.margin = "0 0 6px 0"
        self.say("no guess yet" if standing is None else f"noted: {asked.said(standing)}")

    def __repr__(self) -> str:
        return repr(self.paper)

    def _still_bundle(self) -> dict:
        """Where there are no widgets: the question for paper."""
        return {"text/html": self.paper._repr_html_(), "text/plain": repr(self.paper)}

    def say(self, words: str) -> None:
        self.note.value = f'<span class="dlmini-note" style="opacity:.75;padding:0 8px">{escape(words)}</span>'

    def choices(self, standing) -> list[ipywidgets.Widget]:
        buttons = ipywidgets.ToggleButtons(options=self.asked.of, value=standing, description="your guess")
        buttons.style.button_width = "auto"
        buttons.observe(lambda change: self.say(self.give(self.asked, change["new"])), "value")
        return [buttons]

    def numbers(self, standing) -> list[ipywidgets.Widget]:
        typed = "" if standing is None else number(standing).replace(",", "")
        look = {"layout": {"width": "14em"}, "style": {"description_width": "initial"}, "continuous_update": False}
        self.box = ipywidgets.Text(value=typed, placeholder="type or slide", description="your guess", **look)
        self.slider, self.following = self.make_slider(), False
        self.follow(standing)
        self.box.observe(lambda change: self.typed(change["new"]), "value")
        self.slider.observe(lambda change: self.slid(change["new"]), "value")
        return [self.box, ipywidgets.Label(self.asked.unit), self.slider]

    def make_slider(self) -> ipywidgets.Widget:
        least, most = self.asked.between
        look = {"readout": False, "continuous_update": False, "layout": {"width": "19em"}}
        look |= {"description": "or slide", "style": {"description_width": "initial"}}
        if self.asked.by_ratio and most / least >= WIDE:
            return ipywidgets.FloatLogSlider(value=least, base=10, min=log10(least), max=log10(most), step=0.05, **look)
        whole = all(isinstance(edge, int) for edge in (least, most)) and most - least <= 200
        step = 1 if whole else (most - least) / 200
        return ipywidgets.FloatSlider(value=least, min=least, max=most, step=step, **look)

    def slid(self, value: float) -> None:
        """What is slid stands in the box, with two digits: a hand is no more exact. The slider stays where it is."""
        if self.following:
            return
        self.following = True
        self.box.value = f"{float(f'{value:.2g}'):.12g}"
        self.following = False
        self.say(self.give(self.asked, float(self.box.value)))

    def typed(self, words: str) -> None:
        if self.following:
            return
        try:
            answer = float(words) if words.strip() else None
            self.say(self.give(self.asked, answer))
            self.follow(answer)
        except ValueError:
            self.say(f"{words[:20]!r} is no number; write 0.5, 20 or 1e-3")

    def follow(self, answer: float | None) -> None:
        """The slider goes to what was typed, as far as it can."""
        least, most = self.asked.between
        self.following = True
        try:
            self.slider.value = least if answer is None else min(max(answer, least), most)
        finally:
            self.following = False
