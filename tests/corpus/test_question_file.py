import pytest

from statgraph.corpus.question_file import read_question_file
from statgraph.errors import CorpusError


def test_questions_of_a_file_come_in_its_order(tmp_path):
    path = tmp_path / "asked.jsonl"
    path.write_text(
        '{"_id": "b", "text": " Qui paie\\u00a0? ", "metadata": {"x": 1}}\n\n{"_id": 7, "text": "誰が払うか"}\n',
        encoding="utf-8",
    )
    assert read_question_file(path) == (["b", "7"], ["Qui paie\u00a0?", "誰が払うか"])


@pytest.mark.parametrize(
    ("name", "problem"), [("none.jsonl", "no such file"), (".", "is a folder"), ("blank.jsonl", "holds no questions")]
)
def test_a_file_without_questions_is_refused(tmp_path, name, problem):
    (tmp_path / "blank.jsonl").write_text("\n \n")
    with pytest.raises(CorpusError, match=problem) as refused:
        read_question_file(tmp_path / name)
    assert str(refused.value).startswith(f"{tmp_path / name}: ")


def test_every_problem_of_a_question_file_is_listed(tmp_path):
    path = tmp_path / "asked.jsonl"
    path.write_bytes(b'{"_id": "a", "text": "Who?"}\n{"_id": "a", "text": "When?"}\n{"_id": "c"\n')
    with pytest.raises(CorpusError) as refused:
        read_question_file(path)
    assert [problem[:14] for problem in refused.value.problems] == ["asked.jsonl:2:", "asked.jsonl:3:"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "asked.jsonl",
            '{"id": 1, "text": "Who?", "articles": ["a", "b"], "split": "dev"}\n{"id": "2", "text": "When?"}\n',
        ),
        ("asked.csv", 'id,text,articles,split\n1,Who?,"a,b",dev\n2,When?,,\n'),
        ("asked.CSV", "\ufeffid;text\n1;Who?\n2;When?\n"),
        ("asked.tsv", "_id\ttext\n1\tWho?\n2\tWhen?\n"),
        ("questions_fr_test.csv", 'id,category,question,article_ids\n1,rent,Who?,"7,8"\n2,rent,When?,9\n'),
    ],
)
def test_every_layout_of_questions_that_import_takes_is_read(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_question_file(tmp_path / name) == (["1", "2"], ["Who?", "When?"])


@pytest.mark.parametrize("content", ['{"nr": 7, "frage": "Wer?"}\n', "nr;frage\n7;Wer?\n"])
def test_a_refusal_names_what_the_file_holds(tmp_path, content):
    path = tmp_path / ("asked.jsonl" if content.startswith("{") else "asked.csv")
    path.write_text(content)
    with pytest.raises(CorpusError, match=r"asked\.\w+:1: no .*found: nr, frage"):
        read_question_file(path)
