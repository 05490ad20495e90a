"""``python -m broadphase compare``: this library side by side with others."""

from __future__ import annotations

import sys


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["compare"]:
        from .compare import main as compare

        return compare(arguments[1:])
    print("usage: python -m broadphase compare [--help]", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
