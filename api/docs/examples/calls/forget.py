import json
import os
import urllib.parse
import urllib.request


def ask(path, method="GET"):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path, method=method, headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}
    )
    return urllib.request.urlopen(request)


number = urllib.parse.quote("+34600111222", safe="")
with ask(f"/v1/calls?limit=100&number={number}") as answer:
    calls = json.load(answer)["data"]
for call in calls:
    ask(f"/v1/calls/{call['id']}", "DELETE").close()
print(len(calls), "calls forgotten")
