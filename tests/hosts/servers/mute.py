"""A server that never answers, and stays when its input closes; it writes its process id into the file it is given."""

import os
import sys
import time
from pathlib import Path

if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text(str(os.getpid()))

for _ in sys.stdin:
    pass
time.sleep(600)
