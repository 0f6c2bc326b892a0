"""tools/setup.sh where nothing may be installed: what it says, and that it is right.

Each test gives it a PATH of its own, so that the machine's tools do not matter.
"""
import os
import shutil
import subprocess

import pytest
from conftest import ROOT

SETUP = ROOT / "tools/setup.sh"
PLAIN = ["bash", "env", "sed", "id", "dirname", "mkdir", "find", "tail", "tee", "awk", "sleep"]


@pytest.fixture
def bare(tmp_path):
    """Runs set-up where only the plain tools and `stubs` (name -> script) exist."""

    def run(os_release, stubs=None, arguments=()):
        folder = tmp_path / "bin"
        folder.mkdir()
        stubs = stubs or {}
        for name in PLAIN:
            if name not in stubs:  # writing to the link would write to the system's program
                (folder / name).symlink_to(shutil.which(name))
        for name, script in stubs.items():
            with open(folder / name, "x", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        release = tmp_path / "os-release"
        release.write_text(os_release)
        return subprocess.run([folder / "bash", SETUP, *arguments], capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL,
                              env={"PATH": str(folder), "VIVACE_OS_RELEASE": str(release)})

    return run


def test_an_unknown_distribution_gets_the_exact_list(bare):
    done = bare('ID=fedora\nVERSION_ID=44\n', {"apt-get": "exit 99"})
    assert done.returncode == 1
    assert "the program g++ (Debian: g++)" in done.stderr
    assert "the header <tl/expected.hpp> (Debian: libexpected-dev)" in done.stderr
    assert "the Python module ensurepip (Debian: python3-venv)" in done.stderr
    assert "install the above" in done.stderr


@pytest.mark.parametrize("os_release", ["ID=debian\nVERSION_ID=11\n", "ID=ubuntu\nVERSION_ID=22.04\n",
                                        ""])
def test_too_old_or_unnamed_distributions_are_not_guessed_at(bare, os_release):
    done = bare(os_release, {"apt-get": "exit 99"})
    assert done.returncode == 1
    assert "package names are not known here" in done.stderr


def test_a_normal_user_without_sudo_gets_one_command(bare):
    done = bare('ID=debian\nVERSION_ID="12"\n',
                {"apt-get": "exit 99", "apt-cache": "true", "id": "echo 1000"})
    assert done.returncode == 1
    command = done.stderr.splitlines()[-1]
    assert command.startswith("setup:   apt-get update && apt-get install")
    for package in ("g++", "ninja-build", "libexpected-dev", "python3-venv"):
        assert f" {package}" in command


def test_sudo_that_would_ask_is_not_used_without_a_terminal(bare):
    done = bare('ID=ubuntu\nVERSION_ID="24.04"\n',
                {"apt-get": "exit 99", "apt-cache": "true", "id": "echo 1000", "sudo": "exit 1"})
    assert done.returncode == 1
    assert "installing needs root" in done.stderr


def test_an_old_compiler_is_named_with_its_version(bare):
    done = bare("ID=fedora\n", {"g++": '[ "$1" = -dumpversion ] && echo 9 || true'})
    assert "g++ 12 or newer (here: 9)" in done.stderr


@pytest.mark.parametrize("os_release, package", [
    ('ID=debian\nVERSION_ID="12"\n', "libboost1.81-dev"),
    ('ID=debian\nVERSION_ID="13"\n', "libboost-dev"),
    ('ID=ubuntu\nVERSION_ID="24.04"\n', "libboost-dev")])
def test_boost_has_another_name_where_the_plain_one_is_too_old(bare, os_release, package):
    done = bare(os_release, {"apt-get": "exit 99", "apt-cache": "true", "id": "echo 1000"})
    assert f"Boost 1.81 or newer with Beast (Debian: {package})" in done.stderr
    assert f" {package}" in done.stderr.splitlines()[-1]


def test_an_old_boost_is_missing(bare):
    done = bare("ID=fedora\n", {"g++": 'case "$1" in -E) echo \'HAVE "1_74"\' ;; *) echo 12 ;; esac'})
    assert "Boost 1.81 or newer" in done.stderr


def test_an_old_node_is_named_with_its_version(bare):
    done = bare("ID=fedora\n", {"node": "echo v16.20.2", "npm": "true"})
    assert "Node.js 18 or newer (here: 16.20.2) (Debian: nodejs)" in done.stderr
    assert "the program npm" not in done.stderr


def test_a_new_node_is_enough(bare):
    done = bare("ID=fedora\n", {"node": "echo v18.0.0", "npm": "true"})
    assert "ode" not in done.stderr.replace("code", "")


@pytest.mark.parametrize("os_release, stubs, named", [
    ('ID=debian\nVERSION_ID="12"\n', {}, True),
    ('ID=debian\nVERSION_ID="12"\n', {"chromium": "true"}, False),
    ('ID=ubuntu\nVERSION_ID="24.04"\n', {}, False)])
def test_only_the_tests_need_a_browser_and_ubuntu_packages_none(bare, os_release, stubs, named):
    plain = {"apt-get": "exit 99", "apt-cache": "true", "id": "echo 1000"}
    done = bare(os_release, plain | stubs, ["test"])
    assert (" chromium" in done.stderr.splitlines()[-1]) == named


def test_an_unknown_kind_is_wrong_use(bare):
    done = bare("", arguments=["everything"])
    assert done.returncode == 2
    assert "unknown kind 'everything'" in done.stderr


def test_a_ready_machine_needs_no_package_tool():
    """This test itself runs on one: not even the distribution matters then."""
    done = subprocess.run([SETUP], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL,
                          env=os.environ | {"VIVACE_OS_RELEASE": "/dev/null"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
