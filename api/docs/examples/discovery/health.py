import json
import os
import urllib.request

for path in "/health", "/status":
    with urllib.request.urlopen(os.environ["PARLEY_URL"] + path) as answer:
        print(path, json.load(answer))
