import pytest

from statgraph.errors import option
from statgraph.progress import Step, TrainingStep, counted, resumable, silent


def test_details_of_a_training_step():
    assert TrainingStep("stage2", 5, 10, epoch=1, epochs=2, loss=1.23456).detail == "epoch 1/2  loss 1.235"
    step = TrainingStep("stage2", 5, 10, epoch=1, epochs=2, loss=0.5, dev=0.876, metric="quality")
    assert step.detail == "epoch 1/2  loss 0.500  dev quality 87.6"
    assert Step("index", 1, 2).detail == ""


def test_a_counter_reports_steps_of_one_name():
    steps = []
    counted(steps.append, "embedding")(3, 4)
    assert steps == [Step("embedding", 3, 4)]
    silent(steps[0])


@pytest.mark.parametrize(("applies", "notes"), [(True, ["To resume, run the same command with resume"]), (False, [])])
def test_an_interrupt_says_how_to_resume_what_can_be_resumed(applies, notes):
    with pytest.raises(KeyboardInterrupt) as interrupt, resumable(f"with {option('resume')}", lambda: applies):
        raise KeyboardInterrupt
    assert getattr(interrupt.value, "__notes__", []) == notes
