import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/ws-ticket",
    method="POST",
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]},
)
with urllib.request.urlopen(request) as answer:
    minted = json.load(answer)
print(f"{minted['ticket']} opens sockets for {minted['expires_in']} seconds")
