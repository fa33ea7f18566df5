"""A project without its network: the dispatcher, the store and the work, tied together. Every call brings its time.

What a caller is told has been committed. If the disk fails in the middle, memory is read anew from the journal, so that
the two never differ.
"""

from __future__ import annotations

import secrets
import sqlite3
from hashlib import blake2b

import numpy as np

from dlmini.volunteer.described import fingerprint, work_of
from dlmini.volunteer.dispatch_events import (
    Add,
    Ask,
    Join,
    Judge,
    Missed,
    Refuse,
    Report,
    Send,
    Tick,
    Took,
    event_of,
    line,
)
from dlmini.volunteer.dispatcher import Dispatcher
from dlmini.volunteer.dispatcher_snapshot import due, restored, taken
from dlmini.volunteer.news import News
from dlmini.volunteer.rounds import AsTheyCome, Rounds
from dlmini.volunteer.store import Store, unreadable
from dlmini.volunteer.unit import STATES, Accept, GiveUp, Terms, Validate
from dlmini.volunteer.validator import Bitwise, Close, judge
from dlmini.volunteer.work import Work

EVENTS_SHOWN, HOSTS_SHOWN = 30, 300
ON = 60.0  # seconds since a host was heard of


class Refused(ValueError):
    """What a host asked for and cannot have: the status and the sentence that it is told."""

    def __init__(self, status: int, why: str):
        super().__init__(why)
        self.status = status


def secret_of(token: str) -> str:
    """What is kept of a token: who reads the file cannot speak for a host."""
    return blake2b(token.encode(), digest_size=32).hexdigest()


class Engine:
    """folder: where the project lives; it goes on where it was. work: a Work or a FederatedWork. same: how answers are
    compared, to the bit if nothing is said."""

    def __init__(self, folder, work=None, terms: Terms | None = None, same=None, durable=False):
        self.store = Store(folder, durable)
        self.news, self.seen = News(EVENTS_SHOWN), {}
        try:
            self.settle(work, terms, same)
            self.size = self.work.size
            self.load()
            self.begin()
        except BaseException as error:
            self.store.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise unreadable(self.store.file, error) from error
            raise

    def settle(self, work, terms, same) -> None:
        """A new project is what was asked for, if that can be done; one that is there stays what it is."""
        if self.store.about("work") is None:
            work = work_of((work or Work()).plain())  # as others will read it
            work.check()
            self.found(work, terms or Terms(), same)
        kept = self.store.about("work")
        if work is not None and work.plain() != kept:
            raise ValueError(f"{self.store.file} holds another project; name another folder, or go on with it as it is")
        self.work, self.terms = work or work_of(kept), Terms(*self.store.about("terms"))
        self.work.check()
        tolerance = self.store.about("tolerance")
        self.same = same or Bitwise() if tolerance is None else Close(tolerance) if tolerance else Bitwise()
        self.admin = self.store.about("admin")
        self.rounds = (Rounds if self.work.waits else AsTheyCome)(self.work, self.store, self.tell)

    def found(self, work, terms: Terms, same) -> None:
        """Write a new project down, unless another server has just done so."""
        with self.store.together():
            if self.store.about("work") is None:
                self.store.note("work", work.plain())
                self.store.note("terms", terms.plain())
                if same is None or isinstance(same, Bitwise | Close):
                    self.store.note("tolerance", getattr(same, "tolerance", 0))
                self.store.note("admin", secrets.token_urlsafe(24))

    def begin(self) -> None:
        """The first weights and units, unless they are there."""
        if not self.it.born:
            with self.store.together():
                self.load()  # another server may have been faster
                if not self.it.born:
                    self.store.keep_weights(0, self.work.initial())
                    self.add(0.0, self.rounds.first())

    def hold(self) -> None:
        """Be the only server; what another one did until now is read."""
        self.store.hold()
        self.load()

    def load(self) -> None:
        """The state of the dispatcher: the last snapshot, and what the journal says since. One that cannot be read is
        not needed, since the journal is whole."""
        self.spoiled = True  # until all of it was read
        try:
            snapped, state = self.store.snapshot()
            it = restored(state, seed=self.work.seed) if snapped else Dispatcher(self.work.seed)
        except (ValueError, LookupError, TypeError, AttributeError):
            snapped, it = 0, Dispatcher(self.work.seed)
        for entry in self.store.journal(snapped):
            it.apply(event_of(entry))
        self.snapped, self.it = snapped, it
        self.rounds.memory.forget()
        self.names = {number: name for number, name, *_ in self.store.hosts()}
        self.tokens = {token: number for number, _, token, _ in self.store.hosts()}
        self.paused = bool(self.store.about("paused"))
        self.spoiled = False

    # ---- what hosts ask ----

    def join(self, at: float, name: str, kind: str) -> tuple[int, str]:
        number, token = len(self.names), secrets.token_urlsafe(24)
        with self.changing():
            self.store.add_host(number, name, secret_of(token), kind)
            self.do(Join(at, number, kind))
        self.names[number], self.tokens[secret_of(token)] = name, number
        self.tell(f"{name} joins")
        return number, token

    def host(self, at: float, token: str) -> int:
        found = self.tokens.get(secret_of(token))
        if found is None:
            raise Refused(401, "this token is not known here; join first")
        self.seen[found] = at
        return found

    def ask(self, at: float, host: int) -> Send | None:
        if self.paused or self.finished:
            return None
        with self.changing():
            orders = self.do(Ask(at, host))
        return next((order for order in orders if isinstance(order, Send)), None)

    def report(self, at: float, host: int, unit: int, copy: int, data: bytes, digest: str) -> None:
        """Weights as bytes: checked before anything is stored."""
        weights = self.checked(data, digest)
        with self.changing():
            orders = self.do(Report(at, host, unit, copy, True), (digest, weights))
        self.demand_taken(orders)

    def report_error(self, at: float, host: int, unit: int, copy: int, why: str) -> None:
        with self.changing():
            orders = self.do(Report(at, host, unit, copy, False))
        self.demand_taken(orders)
        self.tell(f"{self.names[host]} failed at unit {unit}: {why}", f"{host} failed")

    def tick(self, at: float) -> None:
        with self.changing():
            self.do(Tick(at))

    def pause(self, on: bool) -> None:
        with self.store.together():
            self.store.note("paused", on)
        self.paused = on

    # ---- how it is done ----

    def checked(self, data: bytes, digest: str) -> bytes:
        if len(data) != 4 * self.size:
            raise Refused(400, f"{len(data)} bytes came; {self.size} numbers of 4 bytes are wanted")
        if fingerprint(data) != digest:
            raise Refused(400, "the checksum does not fit the bytes: they were damaged on the way; send them again")
        if not np.isfinite(np.frombuffer(data, "<f4")).all():
            raise Refused(422, "there are weights that are no finite numbers; report an error in place of them")
        return data

    def demand_taken(self, orders: list) -> None:
        for order in orders:
            if isinstance(order, Refuse):
                raise Refused(409, order.why)

    def changing(self):
        return Changing(self)

    def do(self, event, answer=None) -> list:
        """Let something happen: journal it, and obey the orders. Inside a transaction."""
        orders = self.it.apply(event)
        if any(not isinstance(order, Refuse) for order in orders):
            self.snap(self.store.log(line(event)))
        for order in orders:
            self.obey(order, event, answer)
        return orders

    def snap(self, number: int) -> None:
        """After some lines of the journal keep the state itself, so that nobody has to replay them."""
        if due(self.it, number - self.snapped):
            self.store.keep_snapshot(number, taken(self.it))
            self.snapped = number

    def obey(self, order, event, answer) -> None:
        if isinstance(order, Took):
            self.store.keep_answer(order.unit, order.copy, *answer)
        elif isinstance(order, Validate):
            self.do(Judge(event.at, order.unit, *self.verdict(order)))
        elif isinstance(order, Accept):
            self.store.accept(*order, self.it.done)
            self.add(event.at, self.rounds.over(self.it))
        elif isinstance(order, GiveUp):
            self.tell(f"unit {order.unit} is given up: {order.why}")
            self.add(event.at, self.rounds.over(self.it))
        elif isinstance(order, Missed):
            self.tell(f"{self.names.get(order.host)} missed the deadline of unit {order.unit}", f"{order.host} missed")

    def verdict(self, order: Validate):
        """By digests where bits decide; else by the weights."""
        if isinstance(self.same, Bitwise):
            answers, same = self.store.digests(order.unit, order.copies), str.__eq__
        else:
            answers, same = {k: self.store.answer(order.unit, k) for k in order.copies}, self.same
        found = judge(answers, order.quorum, same)
        for copy in found.invalid:
            host = self.it.units[order.unit].copies[copy].host
            said = f"{self.names.get(host)} gave an answer to unit {order.unit} that others do not confirm"
            self.tell(said, f"{host} invalid")
        return found

    def add(self, at: float, count: int) -> None:
        if count:
            self.rounds.added(self.it.born, count)
            self.do(Add(at, count, self.terms))

    def drift(self, unit: int) -> bytes | None:
        """What the host of a unit needs beyond the weights; None: nothing."""
        if not 0 <= unit < self.it.born or unit not in self.it.units:
            raise Refused(410, "this unit is over; ask for new work")
        found = self.work.drift(unit, self.rounds.memory) if self.work.drifts else None
        return None if found is None else found.astype("<f4").tobytes()

    @property
    def iteration(self) -> int:
        """The iteration under way; after the last one their number."""
        return self.store.newest()

    @property
    def finished(self) -> bool:
        return self.it.done + len(self.it.failed) == self.it.born > 0

    def tell(self, text: str, kind: str = "") -> None:
        self.news.tell(text, kind)

    def status(self, at: float) -> dict:
        """What the page shows. A host is on if it was heard of lately."""
        it, last = self.it, range(max(0, len(self.names) - HOSTS_SHOWN), len(self.names))
        hosts = [
            {
                "name": self.names[n],
                "on": at - self.seen.get(n, -ON) < ON,
                "busy": it.hosts[n].busy,
                "good": it.hosts[n].good,
                "bad": it.hosts[n].bad,
            }
            for n in last
        ]
        return {
            "work": self.work.plain(),
            "told": self.work.told(),
            "iterations": self.work.versions,
            "iteration": self.iteration,
            "finished": self.finished,
            "paused": self.paused,
            "done": it.done,
            "given_up": {str(unit): why for unit, why in it.failed.items()},
            "copies": {state: it.counts[state] for state in STATES},
            "hosts": hosts,
            "accuracy": self.store.accuracies(),
            "events": self.news.lines(),
        }


class Changing:
    """A transaction; when it fails, memory is read anew from the journal: now, or before the next one if the disk does
    not let it be read either."""

    def __init__(self, engine: Engine):
        self.engine, self.whole = engine, engine.store.together()

    def __enter__(self):
        if self.engine.spoiled:
            self.engine.load()
        self.whole.__enter__()

    def __exit__(self, *error):
        try:
            self.whole.__exit__(*error)
        except BaseException:  # it could not be committed
            self.engine.load()
            raise
        if error[0] is not None:
            self.engine.load()
