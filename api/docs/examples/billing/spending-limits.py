import json
import os
import urllib.request


def limits(method, path="", body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/v1/spending-limits" + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


# In place of account stands the identifier of a key or an agent; None takes the limit away.
limits("PATCH", "/account", {"daily_limit": 20})
for limit in limits("GET")["data"]:
    print(limit["name"], limit["spent"], "of", limit["daily_limit"])
