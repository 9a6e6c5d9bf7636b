import json
import os
import urllib.request


def read(path):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


refused = read("/v1/requests?outcome=refused&limit=5")["data"]
for request in refused:
    print(request["status"], request["code"], read("/v1/requests/" + request["id"])["curl"])
print(len(refused), "requests were refused")
