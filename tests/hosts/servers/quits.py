"""A server that ends at once, and says why with a secret in it."""

import os
import sys

sys.stderr.write(f"cannot log in with {os.environ.get('SECRET_KEY')}\n")
sys.exit(3)
