"""The dispatcher's laws, whatever hosts do: stateful properties, and a few lives of units written out."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from examples import examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dlmini.volunteer.dispatch_events import Add, Ask, Join, Judge, Refuse, Report, Send, Tick, Took, event_of, line
from dlmini.volunteer.dispatcher import Dispatcher, replay
from dlmini.volunteer.hosts import coin
from dlmini.volunteer.unit import (
    ERROR,
    INVALID,
    NO_REPLY,
    NOBODY,
    SENT,
    SUCCESS,
    UNSENT,
    Accept,
    Expired,
    GiveUp,
    Judged,
    Offer,
    Reported,
    Sent,
    Terms,
    Validate,
    begin,
    transition,
)
from dlmini.volunteer.validator import Bitwise, Close, canonical, judge

HOSTS, DELAY = 6, 10.0
OPTIONS = {"seed": 3, "daily": 50, "at_once": 3}


@st.composite
def terms(draw):
    quorum = draw(st.integers(1, 3))
    target = draw(st.integers(quorum, 4))
    success = draw(st.integers(target, 5))
    total = draw(st.integers(success, 7))
    flags = draw(st.booleans()), draw(st.booleans())
    return Terms(quorum, target, draw(st.integers(0, min(3, total))), total, success, DELAY, *flags)


class Life(RuleBasedStateMachine):
    """Hosts ask, answer rightly or wrongly, fail, vanish, repeat themselves, and answer for others."""

    @initialize()
    def begin(self):
        self.it, self.journal, self.at = Dispatcher(**OPTIONS), [], 0.0
        self.it.slack = 2  # so that sweeping is tried, too
        self.accepted, self.given_up, self.terms, self.made = {}, {}, {}, 0
        self.out, self.answers, self.asked = {}, {}, {}  # (unit, copy) -> host; -> answer; unit -> (copies, quorum)
        for host in range(HOSTS):
            self.do(Join(0.0, host, "ab"[host % 2]))

    def do(self, event):
        orders = self.it.apply(event)
        if any(not isinstance(order, Refuse) for order in orders):
            self.journal.append(json.dumps(line(event)))
        for order in orders:
            if isinstance(order, Accept):
                assert order.unit not in self.accepted, "accepted twice"
                assert order.unit not in self.given_up
                self.accepted[order.unit] = order.copy
            elif isinstance(order, GiveUp):
                assert order.unit not in self.given_up
                assert order.unit not in self.accepted
                self.given_up[order.unit] = order.why
            elif isinstance(order, Validate):
                self.asked[order.unit] = order.copies, order.quorum
        return orders

    @rule(count=st.integers(1, 3), terms=terms())
    def add(self, count, terms):
        self.terms |= dict.fromkeys(range(self.it.born, self.it.born + count), terms)
        self.do(Add(self.at, count, terms))

    @rule(host=st.integers(0, HOSTS))
    def ask(self, host):
        for order in self.do(Ask(self.at, host)):
            if isinstance(order, Send):
                assert order.host == host
                assert order.deadline == self.at + DELAY
                self.out[order.unit, order.copy] = host

    @precondition(lambda self: self.out)
    @rule(data=st.data(), answer=st.sampled_from([0, 0, 0, 1, 2, None]))
    def report(self, data, answer):
        """None: an error. A copy may be reported again, or after its deadline, or by somebody else."""
        unit, copy = data.draw(st.sampled_from(sorted(self.out)))
        owner = self.out[unit, copy]
        host = data.draw(st.sampled_from([owner, owner, owner, (owner + 1) % HOSTS]))
        orders = self.do(Report(self.at, host, unit, copy, answer is not None))
        if any(isinstance(order, Took) for order in orders):
            assert host == owner
            assert (unit, copy) not in self.answers, "taken twice"
            self.answers[unit, copy] = answer

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def validate(self, data):
        """Now or later: the validator may be slow."""
        unit = data.draw(st.sampled_from(sorted(self.asked)))
        copies, quorum = self.asked.pop(unit)
        verdict = judge({k: np.array([self.answers[unit, k]]) for k in copies}, quorum)
        self.do(Judge(self.at, unit, *verdict))

    @rule(seconds=st.sampled_from([0.5, 3.0, DELAY, 30.0]))
    def wait(self, seconds):
        self.at += seconds
        self.do(Tick(self.at))

    @invariant()
    def no_unit_is_lost(self):
        open_units = {n for n, unit in self.it.units.items() if not unit.over}
        ended = [*self.accepted, *self.given_up]
        assert sorted([*open_units, *ended]) == [*range(self.it.born)]
        assert self.it.done == len(self.accepted)
        assert self.it.failed == self.given_up
        assert all(self.given_up.values()), "a unit that is given up has a reason"

    @invariant()
    def every_open_unit_can_still_end(self):
        for unit in self.it.units.values():
            assert unit.over or unit.count(UNSENT, SENT) or unit.number in self.asked

    @invariant()
    def counts_keep_within_their_maxima(self):
        for n, unit in self.it.units.items():
            assert len(unit.copies) <= unit.terms.max_total
            if not unit.failed and not unit.over:
                assert unit.count(ERROR, INVALID) <= unit.terms.max_error
                assert unit.count(SUCCESS) <= unit.terms.max_success + (n in self.asked)

    @invariant()
    def deadlines_are_kept(self):
        sent = [copy for unit in self.it.units.values() for copy in unit.copies if copy.state == SENT]
        assert all(copy.deadline > self.at for copy in sent)
        assert {host: row.busy for host, row in self.it.hosts.items() if row.busy} == Counter(c.host for c in sent)
        assert all(row.busy <= OPTIONS["at_once"] for row in self.it.hosts.values())

    @invariant()
    def the_queue_holds_what_is_unsent(self):
        queued = sorted(key for queue in self.it.queues.values() for key in queue)
        assert queued == sorted((n, k) for n, unit in self.it.units.items() for k in unit.having(UNSENT))

    @invariant()
    def nobody_checks_himself(self):
        for unit in self.it.units.values():
            hosts = [copy.host for copy in unit.copies if copy.state in (SENT, SUCCESS)]
            assert len(hosts) == len({*hosts})
            if unit.terms.alike and not unit.over:
                assert len({host % 2 for host in hosts}) <= 1

    @invariant()
    def what_is_accepted_was_agreed_upon(self):
        for unit, copy in self.accepted.items():
            alike = sum(a == self.answers[unit, copy] for (u, _), a in self.answers.items() if u == unit)
            needed = 1 if self.terms[unit].adaptive else self.terms[unit].quorum // 2 + 1
            assert alike >= needed

    @invariant()
    def copies_are_counted(self):
        counts = Counter(copy.state for unit in self.it.units.values() for copy in unit.copies)
        assert self.it.counts[SENT] == counts[SENT]
        assert self.it.counts[UNSENT] == counts[UNSENT]
        taken = sum(self.it.counts[state] for state in (SUCCESS, INVALID))
        assert taken == len(self.answers)

    def teardown(self):
        if hasattr(self, "it"):
            again = replay(map(event_of, map(json.loads, self.journal)), **OPTIONS)
            assert again.state() == self.it.state()


class TestDispatcher(Life.TestCase):
    settings = examples(60, stateful_step_count=60)


def answered(unit, copy, host, ok=True):
    unit, _ = transition(unit, Sent(copy, host, 10.0))
    return transition(unit, Reported(copy, ok))


def test_two_that_agree_end_a_unit():
    unit, orders = begin(7, Terms())
    assert orders == [Offer(7, (0, 1))]
    unit, orders = answered(unit, 0, host=3)
    assert orders == []
    unit, orders = answered(unit, 1, host=4)
    assert orders == [Validate(7, (0, 1), 2)]
    unit, orders = transition(unit, Judged(0, (0, 1)))
    assert orders == [Accept(7, 0)]
    assert unit.over


def test_two_that_differ_call_for_a_third_and_the_odd_one_is_invalid():
    unit, _ = begin(0, Terms())
    unit, _ = answered(unit, 0, host=1)
    unit, _ = answered(unit, 1, host=2)
    unit, orders = transition(unit, Judged(NOBODY))
    assert orders == [Offer(0, (2,))]
    unit, orders = answered(unit, 2, host=3)
    assert orders == [Validate(0, (0, 1, 2), 2)]
    unit, orders = transition(unit, Judged(1, (1, 2), (0,)))
    assert orders == [Accept(0, 1)]
    assert [copy.state for copy in unit.copies] == [INVALID, SUCCESS, SUCCESS]


def test_errors_beyond_the_maximum_end_a_unit_and_say_so():
    unit, _ = begin(0, Terms(quorum=1, target=1, max_error=1))
    unit, orders = answered(unit, 0, host=1, ok=False)
    assert orders == [Offer(0, (1,))]
    unit, orders = answered(unit, 1, host=2, ok=False)
    assert orders == [GiveUp(0, "2 errors, more than 1")]


def test_silence_is_no_error_but_uses_up_copies():
    unit, _ = begin(0, Terms(quorum=1, target=1, max_error=0, max_total=2, max_success=1))
    for copy in range(2):
        unit, orders = transition(transition(unit, Sent(copy, copy, 1.0))[0], Expired(copy))
    assert orders == [GiveUp(0, "2 copies made, and too few good answers")]
    assert unit.count(NO_REPLY) == 2


def test_hope_lasts_as_long_as_somebody_is_at_it():
    """Three of three copies made, one failed, two under way: the quorum of two can still be reached."""
    unit, _ = begin(0, Terms(quorum=2, target=3, max_total=3, max_success=3, max_error=3))
    unit, _ = answered(unit, 0, host=1, ok=False)
    assert not unit.over
    unit, _ = answered(unit, 1, host=2)
    unit, orders = answered(unit, 2, host=3)
    assert orders == [Validate(0, (1, 2), 2)]


def with_hosts(count=3, **options):
    it = Dispatcher(**options)
    for host in range(count):
        it.apply(Join(0.0, host))
    return it


def test_a_late_answer_is_refused_with_a_reason():
    it = with_hosts()
    it.apply(Add(0.0, 1, Terms(1, 1, delay=5.0)))
    it.apply(Ask(0.0, 0))
    orders = it.apply(Report(5.0, 0, 0, 0, True))
    assert orders[-1] == Refuse(0, "copy 0 of unit 0 is not awaited: its deadline has passed")


def test_what_was_made_anew_goes_first():
    it = with_hosts()
    it.apply(Add(0.0, 3, Terms(1, 1)))
    assert it.apply(Ask(0.0, 0))[0].unit == 0
    it.apply(Report(1.0, 0, 0, 0, False))
    assert it.apply(Ask(1.0, 1))[0][1:3] == (0, 1)


def test_a_host_that_fails_gets_less_a_day_and_one_that_answers_more():
    it = with_hosts(1, daily=8)
    it.apply(Add(0.0, 100, Terms(1, 1)))
    for _ in range(4):
        send = it.apply(Ask(0.0, 0))[0]
        it.apply(Report(0.0, 0, send.unit, send.copy, False))
    assert it.hosts[0].quota == 4
    assert it.apply(Ask(0.0, 0)) == []  # four taken today
    send = it.apply(Ask(86400.0, 0))[0]
    it.apply(Report(86400.0, 0, send.unit, send.copy, True))
    assert it.hosts[0].quota == 8


def test_a_host_that_was_long_right_is_believed_alone_and_checked_now_and_then():
    it = with_hosts(2, seed=1)
    it.apply(Add(0.0, 400, Terms(adaptive=True)))
    checked, at = [], 0.0
    while it.done < 400:
        at += 1
        for host in (0, 1):
            for send in it.apply(Ask(at, host))[:1]:
                for order in it.apply(Report(at, host, send.unit, send.copy, True)):
                    if isinstance(order, Validate):
                        checked.append(len(order.copies))
                        it.apply(Judge(at, order.unit, order.copies[0], order.copies))
    assert all(n == 2 for n in checked[:10])
    assert checked[200:].count(1) > checked[200:].count(2) > 0
    assert it.hosts[0].row == it.hosts[1].row


def test_coins_are_even_and_depend_on_unit_and_host():
    drawn = np.array([[coin(5, unit, host) for unit in range(60)] for host in range(60)])
    assert abs(drawn.mean() - 0.5) < 3 * 0.2887 / 60
    assert len(np.unique(drawn)) == 3600


def test_terms_that_could_not_end_well_are_refused():
    with pytest.raises(ValueError, match="quorum <= target <= max_success <= max_total"):
        Terms(quorum=3, target=2)
    with pytest.raises(ValueError, match="max_error <= max_total"):
        Terms(max_error=9)


@pytest.mark.parametrize(
    ("answers", "quorum", "found"),
    [
        ([1], 1, 0),
        ([1, 1], 2, 0),
        ([1, 2], 2, None),
        ([1, 2, 2], 2, 1),
        ([1, 2, 3, 2], 3, 1),
        ([1], 2, None),
        ([], 1, None),
    ],
)
def test_the_canonical_answer_is_the_first_with_enough_friends(answers, quorum, found):
    assert canonical([np.array([a]) for a in answers], quorum) == found


def test_closeness_is_not_handed_on():
    """a ~ b ~ c, but not a ~ c: b has both for friends, and wins where two friends are wanted beside it."""
    near = Close(0.1)
    a, b, c = (np.array([x]) for x in (1.0, 1.09, 1.18))
    assert [near(x, y) for x, y in pairwise((a, b, c))] == [True, True]
    assert not near(a, c)
    assert canonical([a, b, c], 4, near) is None
    assert canonical([a, b, c, c], 4, near) == 1
    assert judge({4: a, 5: b, 6: c}, 3, near) == Judged(4, (4, 5), (6,))


def test_what_is_no_number_agrees_with_nothing_by_closeness():
    nan = np.array([np.nan])
    assert not Close(1.0)(nan, nan)
    for endless in (np.inf, 1e200):  # no length: it must not agree with everybody
        assert not Close(1.0)(np.full(2, endless), np.ones(2))
    assert Bitwise()(nan, nan)


def test_a_deadline_is_never_swept_out_before_its_copy_has_come():
    it = with_hosts(40)
    it.slack = 0
    it.apply(Add(0.0, 40, Terms(1, 1, delay=5.0)))
    for host in range(40):
        send = it.apply(Ask(0.0, host))[0]
        if host % 8:
            it.apply(Report(0.0, host, send.unit, send.copy, True))
    assert len(it.deadlines) < 40
    it.apply(Tick(5.0))
    assert it.counts[NO_REPLY] == 5
