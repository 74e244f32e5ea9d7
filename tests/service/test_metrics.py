from statgraph.service.metrics import Metrics


def test_two_services_count_apart():
    one, other = Metrics(), Metrics()
    one.answered(method="GET", route="/", status=200, seconds=0.003)
    one.answered(method="GET", route="/", status=200, seconds=0.2)
    one.searched_together(3)
    one.watch_waiting(lambda: 7)
    lines = one.text().decode().splitlines()
    for line in (
        'statgraph_requests_total{method="GET",route="/",status="200"} 2.0',
        'statgraph_request_seconds_bucket{le="0.005",route="/"} 1.0',
        'statgraph_request_seconds_bucket{le="0.25",route="/"} 2.0',
        'statgraph_batch_questions_bucket{le="2.0"} 0.0',
        'statgraph_batch_questions_bucket{le="4.0"} 1.0',
        "statgraph_questions_waiting 7.0",
        "statgraph_ready 0.0",
    ):
        assert line in lines
    assert "statgraph_requests_total{" not in other.text().decode()
