import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/operator/checks",
    headers={"Authorization": "Bearer " + os.environ["OPERATOR_KEY"]},
)
with urllib.request.urlopen(request) as answer:
    for check in json.load(answer)["data"]:
        print(check["status"], check["name"], check["detail"], check["fix"])
