import json
import os
import urllib.request

for part in "health", "voices", "models":
    request = urllib.request.Request(
        f"{os.environ['PARLEY_URL']}/api/status/{part}",
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]},
    )
    with urllib.request.urlopen(request) as answer:
        print(part, json.load(answer))
