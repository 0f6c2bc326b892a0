"""tools/run_tests.py: reading reports, and the one line that counts."""
import pytest
import run_tests

CTEST = """<testsuite name="x" tests="5">
<testcase name="base/A.Passes" classname="base/A.Passes" status="run"/>
<testcase name="base/A.Fails" classname="base/A.Fails" status="fail"><failure message=""/></testcase>
<testcase name="base/A.Skips" classname="base/A.Skips" status="notrun">
  <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
<testcase name="base/A.Off" classname="base/A.Off" status="disabled"/>
<testcase name="kv_test" classname="kv_test" status="notrun">
  <skipped message="Unable to find executable"/></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest">
<testcase classname="run_test" name="test_ok"/>
<testcase classname="run_test" name="test_bad"><failure message="assert"/></testcase>
<testcase classname="run_test" name="test_fixture"><error message="boom"/></testcase>
<testcase classname="run_test" name="test_later"><skipped message="no model"/></testcase>
</testsuite></testsuites>"""


def read(tmp_path, text):
    path = tmp_path / "report.xml"
    path.write_text(text)
    tally = run_tests.Tally()
    run_tests.read_junit(path, tally)
    return tally


def test_reads_what_ctest_writes(tmp_path):
    tally = read(tmp_path, CTEST)
    assert tally.passed == ["base/A.Passes"]
    assert tally.failed == ["base/A.Fails", "kv_test (not built)"]
    assert tally.skipped == ["base/A.Skips", "base/A.Off"]


def test_reads_what_pytest_writes(tmp_path):
    tally = read(tmp_path, PYTEST)
    assert tally.passed == ["run_test.test_ok"]
    assert tally.failed == ["run_test.test_bad", "run_test.test_fixture"]
    assert tally.skipped == ["run_test.test_later"]


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(run_tests, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    (tmp_path / "results").mkdir()
    return tmp_path


def junit(folder, command):
    return run_tests.junit_runner("it", ["sh", "-c", command], folder / "it.xml")


def test_a_runner_that_dies_without_a_report_has_failed(results):
    assert junit(results, "exit 3").failed == ["it: exit status 3", ]


def test_a_program_that_is_not_there_has_failed(results):
    assert run_tests.run("it", ["./no-such-program"]) == 127


def test_a_runner_that_ran_nothing_has_failed(results):
    assert junit(results, "true").failed == ["it: ran no test"]


def test_an_old_report_is_not_taken_for_a_new_one(results):
    (results / "it.xml").write_text(PYTEST)
    assert junit(results, "true").failed == ["it: ran no test"]


def test_a_failed_status_without_a_failed_test_is_a_failure(results):
    (results / "new.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    tally = junit(results, "cp new.xml it.xml; exit 1")
    assert tally.passed == ["a"]
    assert tally.failed == ["it: exit status 1"]


def main(monkeypatch, capsys, runners, *arguments):
    monkeypatch.setattr(run_tests, "RUNNERS", runners)
    monkeypatch.setattr(run_tests, "HOME", run_tests.RESULTS / "home")
    monkeypatch.setattr("sys.argv", ["run_tests.py", *arguments])
    status = run_tests.main()
    return status, capsys.readouterr().out.splitlines()


def test_the_last_line_sums_all_runners(results, monkeypatch, capsys):
    runners = {"one": lambda _: run_tests.Tally(["a", "b"], [], ["s"]),
               "two": lambda _: run_tests.Tally(["c"], ["bad"], [])}
    status, lines = main(monkeypatch, capsys, runners)
    assert status == 1
    assert lines[-3:] == ["skipped: s", "failed: bad", "3 passed, 1 failed"]


def test_all_passed_exits_with_zero_and_only_picks(results, monkeypatch, capsys):
    runners = {"one": lambda _: run_tests.Tally(["a"], [], []),
               "two": lambda _: run_tests.Tally([], ["bad"], [])}
    status, lines = main(monkeypatch, capsys, runners, "--only", "one")
    assert (status, lines[-1]) == (0, "1 passed, 0 failed")


def test_an_unknown_runner_is_wrong_use(results, monkeypatch, capsys):
    with pytest.raises(SystemExit) as caught:
        main(monkeypatch, capsys, {"one": None}, "--only", "three")
    assert caught.value.code == 2
