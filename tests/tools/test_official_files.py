from click.testing import CliRunner

from tools import official_files


def test_a_folder_without_formats_is_refused_and_the_page_is_kept(tmp_path, monkeypatch):
    page = tmp_path / "official-files.md"
    page.write_text("measured\n", encoding="utf-8")
    monkeypatch.setattr(official_files, "PAGE", page)
    refused = CliRunner().invoke(official_files.main, [str(tmp_path)])
    assert refused.exit_code == 2
    assert f"{tmp_path}: no folder of a format in it" in refused.output
    assert page.read_text(encoding="utf-8") == "measured\n"
