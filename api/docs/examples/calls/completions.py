import json
import os
import urllib.request


def read(path):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path, headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


calls = read("/v1/calls?limit=1")["data"]
if not calls:
    print("no call yet")
else:
    path = f"/v1/calls/{calls[0]['id']}/completions"
    asked = read(path)["data"]
    print(f"{len(asked)} questions to the model")
    for c in asked:
        whole = read(f"{path}/{c['no']}")  # all that the model was given
        print(c["outcome"], c["took_ms"], c["answer"], len(whole["system"]), len(whole["messages"]))
