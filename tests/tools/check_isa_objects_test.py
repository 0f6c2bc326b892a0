"""tools/check_isa_objects.py: each rule by an object that breaks it and one beside it that does
not. The objects are assembled, so any machine of the architecture can judge any tier."""
import platform
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or shutil.which("as") is None,
    reason="needs an assembler for x86-64")

MINE = "_ZN6vivace4avx24TestEv"  # vivace::avx2::Test()


def check(tree, isa, text):
    path = tree({"a.s": text + "\n"}) / "a.o"
    subprocess.run(["as", path.with_suffix(".s"), "-o", path], check=True)
    done = subprocess.run([sys.executable, ROOT / "tools/check_isa_objects.py", isa, path],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.replace(f"{path}: ", "")


@pytest.mark.parametrize("text, problem", [
    (f".globl {MINE}\n{MINE}: ret", None),
    ("_ZL4Helpv: ret", None),
    (".weak _ZSt3maxv\n_ZSt3maxv: ret", "weak symbol"),
    (".globl _ZN6vivace6avx5124TestEv\n_ZN6vivace6avx5124TestEv: ret", "global symbol"),
    ("_GLOBAL__sub_I_table: ret", "static constructor"),
])
def test_symbols(tree, text, problem):
    status, output = check(tree, "avx2", text)
    assert status == (problem is not None)
    assert output.startswith(problem or "ok\n")


TIERS = ("portable", "avx2", "avxvnni", "avx512", "avx512gfni", "amx")


@pytest.mark.parametrize("instruction, allowed", [
    ("vpaddd %xmm1, %xmm2, %xmm3", "portable avx2 avxvnni avx512 avx512gfni amx"),
    ("vpaddd %ymm1, %ymm2, %ymm3", "avx2 avxvnni avx512 avx512gfni amx"),
    ("{vex} vpdpbusd %ymm1, %ymm2, %ymm3", "avxvnni"),
    ("{evex} vpdpbusd %ymm1, %ymm2, %ymm3", "avx512 avx512gfni amx"),
    ("vpaddd %ymm1, %ymm2, %ymm17", "avx512 avx512gfni amx"),
    ("vpaddd (%rax){1to16}, %zmm2, %zmm3", "avx512 avx512gfni amx"),
    ("kmovw %k1, %eax", "avx512 avx512gfni amx"),
    ("gf2p8affineqb $0, %xmm1, %xmm2", "avx512gfni amx"),
    ("vgf2p8affineqb $0, %zmm1, %zmm2, %zmm3", "avx512gfni amx"),
    ("tdpbssd %tmm6, %tmm4, %tmm0", "amx"),
    ("ldtilecfg (%rax)", "amx"),
    ("tilerelease", "amx"),
])
def test_instructions_are_refused_below_their_tier(tree, instruction, allowed):
    for isa in TIERS:
        status, output = check(tree, isa, instruction)
        if isa in allowed.split():
            assert (status, output) == (0, "ok\n"), isa
        else:
            assert status == 1 and output.startswith("not for this tier: "), isa


def test_the_emulated_tier_has_the_other_encoding_only(tree):
    assert check(tree, "avxvnni_emulated", "{evex} vpdpbusd %ymm1, %ymm2, %ymm3")[0] == 0
    assert check(tree, "avxvnni_emulated", "{vex} vpdpbusd %ymm1, %ymm2, %ymm3")[0] == 1
