import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/account",
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]},
)
with urllib.request.urlopen(request) as answer:
    mine = json.load(answer)
print(f"{mine['name']}, with the key {mine['key']['name']} ({mine['key']['role']})")
print(f"concurrency: {mine['concurrency']['live']} of {mine['concurrency']['limit']}")
