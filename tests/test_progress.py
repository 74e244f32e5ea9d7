from statgraph.progress import Step, TrainingStep, counted, silent


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
