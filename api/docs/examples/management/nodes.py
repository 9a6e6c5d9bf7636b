import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/operator/nodes",
    headers={"Authorization": "Bearer " + os.environ["OPERATOR_KEY"]},
)
with urllib.request.urlopen(request) as answer:
    for node in json.load(answer)["data"]:
        print(node["name"], node["state"], "at", node["address"], "has", node["calls"], "calls")
