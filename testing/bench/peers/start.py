"""From starting a peer to the first byte of its first question, as `src/measure/start.rs` does it for Windlass.

    start.py NAME DURABILITY COMMAND...
"""

import json
import os
import socket
import subprocess
import sys
import time

name, durability, *command = sys.argv[1:]
with socket.create_server(("127.0.0.1", 0)) as listener:
    listener.settimeout(60)
    environment = {**os.environ, "MODEL_SERVER": f"http://127.0.0.1:{listener.getsockname()[1]}"}
    begun = time.perf_counter()
    peer = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        connection, _ = listener.accept()
        assert connection.recv(64), "it connected and asked nothing"
        first_ms = (time.perf_counter() - begun) * 1e3
    finally:
        peer.kill()
        peer.wait()
print(json.dumps({"peer": name, "mode": "start", "dur": durability, "first_ms": first_ms}))
