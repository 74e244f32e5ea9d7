import pytest

from statgraph.law.splitting import by_hash, by_labels, by_topics, near_duplicates, split_of, with_near_duplicates


def test_splits_are_the_same_on_every_machine():
    # First bytes of the SHA-256: 0x58 / 256 = 0.34, 0xbe / 256 = 0.74, 0xc7 / 256 = 0.78; train is below 0.60, dev
    # below 0.75.
    assert [split_of(question_id) for question_id in ("q3", "q2", "q1")] == ["train", "dev", "test"]


def test_groups_of_no_common_label_are_split_by_their_ids():
    labels = {question_id: [f"label of {question_id}"] for question_id in ("q1", "q2", "q3")}
    assert by_labels(labels, {}) == by_hash(labels, {}) == {"q1": "test", "q2": "dev", "q3": "train"}


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("ab", "ab", True),
        ("abc", "ab", True),  # 2 of 3
        ("abc", "abd", False),  # 2 of 4: half is not most
        ("abcd", "abce", True),  # 3 of 5
        ("a", "abc", False),  # all of the one, a third of both
        ("", "", False),
    ],
)
def test_groups_that_share_most_of_their_labels_are_in_the_split_of_the_smallest_id(first, second, together):
    splits = by_labels({"q3": second, "q2": first}, {})
    assert splits == {"q2": "dev", "q3": "dev" if together else "train"}


def test_a_chain_of_likenesses_is_one_set():
    chain = {"q1": "abcd", "q2": "abcde", "q3": "abcdef", "q4": "cdefg"}  # shares 4/5, 5/6, 4/7; 4/6 of q1 and q3
    assert near_duplicates(chain) == [{"q1", "q2", "q3", "q4"}]


def test_who_has_a_near_duplicate_among_others():
    labels = {"t1": "ab", "t2": "ab", "t3": "xy", "d1": "ab", "d2": "xz", "d3": "xy", "d4": "d"}
    assert with_near_duplicates(labels, {"t1", "t2", "t3"}) == {"t1", "t2", "d1", "d3"}
    assert with_near_duplicates(labels, {"d4"}) == set()


def test_splits_do_not_depend_on_the_order_of_groups_and_labels():
    labels = {f"q{number}": [f"a{number // 3}", f"a{number // 4}", f"a{number % 5}"] for number in range(40)}
    turned = {group: labels[group][::-1] for group in reversed(labels)}
    assert by_labels(turned, {}) == by_labels(labels, {})
    assert by_labels(labels, {}) != by_hash(labels, {})


TOPICS = {
    "lamps": "Who pays for the lamps that light our streets?",
    "wells": "May I drink the water of the wells?",
    "dogs": "Are dogs to be led through gardens?",
    "bridges": "Do carts pay a toll at bridges?",
}


def test_the_questions_of_a_topic_are_in_one_split():
    texts = {f"{topic} {n}": f"{text} {n}" for topic, text in TOPICS.items() for n in range(8)}
    splits = by_topics(dict.fromkeys(texts, ()), texts)
    assert {len({splits[f"{topic} {n}"] for n in range(8)}) for topic in TOPICS} == {1}
    assert sorted(set(splits.values())) == ["dev", "test", "train"]
    assert splits == by_topics(dict.fromkeys(reversed(texts), ()), texts)  # whatever their order
    assert by_topics({}, {}) == {}
    assert by_topics({"q1": ()}, {}) == {"q1": "train"}
