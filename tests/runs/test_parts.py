from pathlib import Path

from statgraph.runs.parts import Part


def test_a_part_is_a_path_in_a_folder(tmp_path):
    assert tmp_path / Part("a.json") == tmp_path / "a.json"
    assert not Part("a.json").is_in(tmp_path)
    (tmp_path / "a.json.partial").touch()
    assert Part("a.json").is_in(tmp_path)
    assert Path(Part("a.json")) == Path("a.json")
