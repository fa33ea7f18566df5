"""Sandblaster is L-BFGS: the same steps as in one process, whoever computes them, on every transport."""

import numpy as np
import pytest
from sandblaster_tasks import Bowl, serial, smooth

from dlmini import Classify, Cluster, Mpi, Processes, Sandblaster, Simulated, lbfgs, load, mlp, train
from dlmini.comm.mpi.mpiexec import missing
from dlmini.events import Measured, Portion, Round
from dlmini.outcome import Outcome


def trained(task, on, **recipe):
    return train(task, Sandblaster(**{"tolerance": 0, **recipe}), on).result(900)


@pytest.mark.parametrize("form", ["dots", "two_loop"])
@pytest.mark.parametrize(("shards", "portions"), [(1, 2), (1, 30), (2, 7), (3, 12), (5, 23)])
@pytest.mark.filterwarnings("ignore:portions")
def test_twenty_iterations_equal_the_serial_ones_to_1e_10(shards, portions, form):
    task = smooth()
    ours = trained(task, Simulated(2 + shards + 1), portions=portions, shards=shards, form=form, rounds=20)
    truth = serial(task, portions, 20)
    assert truth.iterations == 20
    np.testing.assert_allclose(ours.weights, truth.w, rtol=0, atol=1e-10)


def test_it_finds_the_least_squares_of_a_task_that_can_only_say_batches():
    task = Bowl()
    ours = trained(task, Simulated(5), portions=8, shards=2, rounds=60)
    x, y = task._data()
    np.testing.assert_allclose(ours.weights[:6], np.linalg.lstsq(x, y, rcond=None)[0], rtol=1e-6, atol=1e-8)
    assert (ours.weights[6:] == 0).all()


@pytest.mark.parametrize("replicas", [1, 2, 5])
@pytest.mark.parametrize("backup", [True, False])
def test_any_number_of_replicas_gives_the_same_bits(replicas, backup):
    task = smooth(dtype=np.float32)
    on = Simulated(replicas + 3, Cluster(speed={0: 0.1}, jitter=0.5))
    found = trained(task, on, portions=12, shards=2, rounds=8, backup=backup).weights
    truth = trained(task, Simulated(3 + 3), portions=12, shards=2, rounds=8).weights
    assert (found == truth).all()


def test_all_three_transports_give_the_same_bits():
    task = smooth(dtype=np.float32)
    terms = {"portions": 10, "shards": 2, "rounds": 6}
    truth = trained(task, Simulated(5), **terms).weights
    assert (trained(task, Processes(5), **terms).weights == truth).all()
    if not missing():
        assert (trained(task, Mpi(5), **terms).weights == truth).all()


def test_more_shards_than_weights_and_one_of_everything():
    task = Bowl(size=3, used=3, rows=12)
    truth = trained(task, Simulated(3), portions=2, rounds=3).weights
    for shards in (2, 3, 5):
        found = trained(task, Simulated(1 + shards + 1), portions=2, shards=shards, rounds=3).weights
        np.testing.assert_allclose(found, truth, rtol=1e-10)


def test_a_real_network_learns_digits_better_than_by_chance_ever_more():
    sets = load("mnist")
    task = Classify(mlp(hidden=(16,)), *sets, batch=250)
    outcome = train(task, Sandblaster(rounds=25, evaluate_every=5, portions=10), Simulated(5)).result(900)
    looks = [m.accuracy for m in outcome.measured]
    assert len(looks) == 5
    assert looks[-1] > 0.8 > looks[0]


# ---- as a run ----


def test_events_tell_of_rounds_looks_and_portions():
    outcome = trained(smooth(), Simulated(5), portions=12, shards=1, rounds=6, evaluate_every=2)
    kinds = {kind: [e for e in outcome.events if isinstance(e, kind)] for kind in (Round, Measured, Portion)}
    for rank in (0, 1, 2, 4):  # replicas and the coordinator
        assert [e.t for e in kinds[Round] if e.rank == rank] == list(range(6))
    losses = [e.loss for e in kinds[Round] if e.rank == 4]
    assert losses == sorted(losses, reverse=True)
    assert [e.t for e in kinds[Measured]] == [1, 3, 5]
    counted = [(e.number, e.portion) for e in kinds[Portion] if e.what == "counted"]
    assert len(set(counted)) == len(counted)
    assert {p for n, p in counted if n == 1} == set(range(12))
    assert outcome.phases[0].compute >= 0
    assert outcome.messages > 0


def test_where_the_gradient_is_short_enough_it_ends_and_says_so():
    outcome = train(Bowl(), Sandblaster(tolerance=1e-4, rounds=500, portions=8), Simulated(4)).result(900)
    assert outcome.stopped.startswith("the gradient is")
    assert outcome.measured[-1].t < 499


def test_where_no_step_gains_it_ends_and_says_so():
    """float32 cannot tell losses apart any more."""
    outcome = trained(smooth(dtype=np.float32, rows=30), Simulated(4), portions=4, rounds=3000)
    assert "no step along the slope lowers the loss" in outcome.stopped


def test_until_and_stop_end_it():
    run = train(smooth(), Sandblaster(rounds=10**6, tolerance=0, evaluate_every=1), Processes(4))
    for event in run:
        if isinstance(event, Measured) and event.t == 3:
            run.stop()
    assert run.result(900).stopped == "somebody stopped it"
    early = train(smooth(), Sandblaster(rounds=500, evaluate_every=1), Simulated(4), until=0.5).result(900)
    assert early.stopped.startswith("accuracy 50.0% reached")


@pytest.mark.parametrize("form", ["dots", "two_loop"])
def test_a_resumed_run_ends_with_the_same_bits_even_with_other_replicas(form, tmp_path):
    terms = {"portions": 12, "shards": 2, "form": form, "history": 3, "tolerance": 0}
    task, kept = smooth(), Sandblaster(rounds=6, checkpoint_every=6, **terms)
    train(task, kept, Simulated(5), folder=tmp_path).result(900)
    longer = Sandblaster(rounds=14, **terms)
    truth = train(task, longer, Simulated(5)).result(900).weights
    for on in (Simulated(5), Simulated(8), Simulated(4, Cluster(jitter=1.0))):
        assert (train(task, longer, on, resume=tmp_path).result(900).weights == truth).all()
    with pytest.raises(ValueError, match="resume with the same"):
        train(task, Sandblaster(rounds=14, **{**terms, "shards": 3}), Simulated(6), resume=tmp_path)


def test_an_outcome_is_saved_and_read_back(tmp_path):
    outcome = trained(smooth(), Simulated(4), portions=6, rounds=3)
    again = Outcome.load(outcome.save(tmp_path / "run"))
    assert again.recipe == outcome.recipe
    assert (again.weights == outcome.weights).all()


@pytest.mark.parametrize(
    ("given", "size", "sentence"),
    [
        ({"shards": 2}, 3, "3 ranks with a coordinator and shards=2 leave no replica; take at least 4 ranks"),
        ({"form": "newton"}, 4, "form is 'newton'; it must be 'two_loop' or 'dots'"),
    ],
)
def test_what_has_no_meaning_is_refused(given, size, sentence):
    with pytest.raises(ValueError, match=sentence):
        train(smooth(), Sandblaster(**given), Simulated(size))


def test_a_checkpoint_that_never_comes_is_refused(tmp_path):
    with pytest.raises(ValueError, match="checkpoint_every=9 never comes in 3 rounds"):
        train(smooth(), Sandblaster(checkpoint_every=9, rounds=3), Simulated(4), folder=tmp_path)


def test_epochs_are_refused_and_few_portions_doubted():
    with pytest.raises(ValueError, match="give it rounds="):
        train(smooth(), Sandblaster(), Simulated(4), epochs=2)
    with pytest.warns(UserWarning, match="whoever is slow holds up all"):
        train(smooth(), Sandblaster(portions=3, rounds=1), Simulated(4)).result(900)


def test_a_loss_that_is_no_number_ends_the_run_with_a_sentence():
    class Broken(Bowl):
        def loss_and_grad(self, w, batch, grad):
            raise FloatingPointError("the loss became nan")

    outcome = trained(Broken(), Simulated(4), portions=4, rounds=5)
    assert outcome.stopped == "the loss of the first weights is inf"


def test_a_gradient_that_is_no_number_is_told_from_a_short_one():
    class Wrong(Bowl):
        def loss_and_grad(self, w, batch, grad):
            loss = super().loss_and_grad(w, batch, grad)
            grad[0] = np.nan
            return loss

    assert trained(Wrong(), Simulated(4), portions=4).stopped.startswith("the gradient is nan long, though the loss is")
    assert lbfgs(lambda w, grad: grad.fill(np.nan) or 1.0, np.ones(3)).why.startswith(
        "the gradient is nan long, though"
    )


def test_portions_without_rows_count_nothing_and_too_many_are_refused():
    task = Bowl(rows=5)
    few, many = (trained(task, Simulated(4), portions=p, rounds=4).weights for p in (5, 9))
    np.testing.assert_allclose(many, few, rtol=1e-9)
    with pytest.raises(ValueError, match="portions=91: 90 rows cannot fill 91 parts"):
        trained(smooth(), Simulated(4), portions=91)
    with pytest.raises(ValueError, match="none of 6 portions has a row"):
        trained(Bowl(rows=0), Simulated(4), portions=6)
