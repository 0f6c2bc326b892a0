"""tools/build_page.py: what of the web page goes into the program, and how."""
import gzip
import re

import build_page
import pytest


@pytest.fixture
def dist(tree):
    return tree({"dist/index.html": "<p>hello</p>" * 50,
                 "dist/assets/app-Ab3_x-9z.js": "let a = 1;\n" * 50,
                 "dist/assets/app-Ab3_x-9z.js.map": "{}",
                 "dist/assets/short-12345678.css": "a{}",
                 "dist/icon.svg": "<svg/>"}) / "dist"


def test_files_are_packed_with_their_types(dist, tmp_path):
    build_page.pack(dist, tmp_path / "out")
    table = (tmp_path / "out/page_table.cc").read_text()
    blob = (tmp_path / "out/page.bin").read_bytes()
    found = {path: (content_type, int(begin), int(size), zipped == "true", immutable == "true")
             for path, content_type, begin, size, zipped, immutable in re.findall(
                 r'\{"(\S+)", "([^"]+)", (\d+), (\d+), (\w+), (\w+)\}', table)}
    assert set(found) == {"/index.html", "/assets/app-Ab3_x-9z.js", "/assets/short-12345678.css",
                          "/icon.svg"}
    for path, (_, begin, size, zipped, _) in found.items():
        content = blob[begin:begin + size]
        assert (gzip.decompress(content) if zipped else content) == (dist / path[1:]).read_bytes()
    assert found["/index.html"][0] == "text/html; charset=utf-8"
    assert found["/index.html"][3:] == (True, False)
    assert found["/assets/app-Ab3_x-9z.js"][3:] == (True, True)
    assert found["/icon.svg"][3:] == (False, False), "nothing is gained by compressing it"


def test_the_same_files_are_the_same_bytes(dist, tmp_path):
    for name in ("one", "two"):
        build_page.pack(dist, tmp_path / name)
    assert (tmp_path / "one/page.bin").read_bytes() == (tmp_path / "two/page.bin").read_bytes()


def test_a_file_of_an_unknown_kind_is_named(dist, tmp_path):
    (dist / "what.xyz").write_text("?")
    with pytest.raises(SystemExit, match="what.xyz: no content type"):
        build_page.pack(dist, tmp_path / "out")
