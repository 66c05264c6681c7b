"""A server that prints what is no JSON-RPC, a secret among it, and answers nothing; `--once` ends it soon."""

import os
import sys

print(f"starting with key {os.environ.get('SECRET_KEY')} ...", flush=True)
for _line in sys.stdin:
    print("{not json", flush=True)
    if "--once" in sys.argv:
        break
