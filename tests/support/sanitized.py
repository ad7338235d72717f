"""Skips a test that measures where a sanitizer would falsify it."""

import os

import pytest

counts_memory = pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps for a while what was freed")
