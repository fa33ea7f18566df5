"""A choice is heard before the Start that was pressed after it, whatever queues the kernel has for a browser's words.

A real kernel, spoken to as JupyterLab does: with a queue of its own for widgets (a subshell). Cells have another, and
a long cell holds that one.
"""

import pytest

WIDGETS = """
from dlmini.show.dashboard_widgets import button, in_one_queue, leaves, menu, row

heard = []
choice, other, start = menu({"a": 1, "b": 2, "c": 3}, "a"), menu({"x": 4, "y": 5}, "x"), button("Start", "", "")
in_one_queue(leaves([row(choice, row(other)), row(start)]))
start.on_click(lambda _: heard.append((choice.label, other.label)))
print(*(widget.comm.comm_id for widget in (choice, other, start)))
"""


class Browser:
    def __init__(self, client):
        self.client = client
        client.control_channel.send(client.session.msg("create_subshell_request", {}))
        self.queue = client.get_control_msg(timeout=60)["content"]["subshell_id"]

    def runs(self, code: str) -> str:
        return self.reads(self.client.execute(code))

    def reads(self, asked: str) -> str:
        """What a cell has printed, when it has ended."""
        said = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") == asked:
                content = message["content"]
                said += [content["text"]] if "text" in content else content.get("traceback", [])
                if content.get("execution_state") == "idle":
                    return "".join(said)

    def says(self, comm: str, data: dict) -> None:
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        message["header"]["subshell_id"] = self.queue
        self.client.shell_channel.send(message)

    def chooses(self, comm: str, index: int) -> None:
        self.says(comm, {"method": "update", "state": {"index": index}, "buffer_paths": []})

    def presses(self, comm: str) -> None:
        self.says(comm, {"method": "custom", "content": {"event": "click"}})


@pytest.fixture(scope="module")
def browser():
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(startup_timeout=120)
    info = client.kernel_info(reply=True, timeout=60)["content"]
    if "kernel subshells" not in info.get("supported_features", []):
        pytest.skip("this kernel has one queue for all")
    yield Browser(client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


UNTIL = "import time\nend = time.monotonic() + 60\nwhile len(heard) < {} and time.monotonic() < end: time.sleep(0.01)\n"


def test_what_was_chosen_before_start_is_what_starts(browser):
    choice, other, start = browser.runs(WIDGETS).split()
    browser.presses(start)  # from now on the kernel hears Start beside the cells
    assert browser.runs(UNTIL.format(1) + "print(heard)") == "[('a', 'x')]\n"
    cell = browser.client.execute(UNTIL.format(2) + "print(heard[1:])")  # a long cell ...
    browser.chooses(other, 1)  # ... which a choice need not wait for
    browser.chooses(choice, 2)
    browser.presses(start)
    assert browser.reads(cell) == "[('c', 'y')]\n"


def test_choices_and_starts_stay_in_order(browser):
    choice, other, start = browser.runs(WIDGETS).split()
    wanted = []
    for turn, (first, second) in enumerate([("a", "y"), ("c", "y"), ("c", "x"), ("b", "y"), ("a", "x")] * 4, 1):
        browser.chooses(choice, "abc".index(first))
        browser.chooses(other, "xy".index(second))
        browser.presses(start)
        wanted.append((first, second))
        assert browser.runs(UNTIL.format(turn) + "print(heard)") == f"{wanted}\n"
