"""Somebody at a notebook: presses buttons, chooses from drop-downs, reads what is there."""

from lab import run_all, show_cell

PATIENCE = 120_000  # milliseconds

RUN_CELL = "() => window.jupyterapp.commands.execute('notebook:run-cell')"


class Visitor:
    def __init__(self, view):
        from playwright.sync_api import expect

        self.view, self.expect = view, expect
        self.live, self.status = view.locator(".dlmini-live"), view.locator(".dlmini-status")

    def opens_the_dashboard(self):
        """Runs all cells, and goes to the one with the dashboard."""
        run_all(self.view)
        show_cell(self.view, "dashboard(")
        self.sees("idle")

    def press(self, name):
        self.view.get_by_role("button", name=name, exact=True).click()

    def chooses(self, option):
        """In whichever drop-down offers it."""
        self.view.locator("select").filter(has=self.view.get_by_role("option", name=option)).select_option(label=option)

    def runs_again(self, text):
        """The cell with this text, and only it."""
        show_cell(self.view, text)
        self.view.evaluate(RUN_CELL)

    def sees(self, state):
        self.expect(self.live).to_have_attribute("data-state", state, timeout=PATIENCE)

    def reads(self, text):
        self.expect(self.status).to_contain_text(text, timeout=PATIENCE)

    def counts(self, what, at_least):
        wanted = f"() => Number(document.querySelector('.dlmini-live')?.dataset.{what}) >= {at_least}"
        self.view.wait_for_function(wanted, timeout=PATIENCE)

    def output(self, text):
        """What the cell with this text has shown."""
        return self.view.locator(".jp-CodeCell").filter(has_text=text).locator(".jp-OutputArea").first
