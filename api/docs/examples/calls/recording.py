import json
import os
import urllib.error
import urllib.request


def ask(path, method="GET"):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path, method=method, headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}
    )
    return urllib.request.urlopen(request)


with ask("/v1/calls?limit=10&state=ended") as answer:
    calls = json.load(answer)["data"]
fetched = 0
for call in calls:
    path = f"/v1/calls/{call['id']}/recording"
    try:
        with ask(path) as recording:
            kind = "ogg" if recording.headers["Content-Type"] == "audio/ogg" else "wav"
            with open(f"{call['id']}.{kind}", "wb") as file:
                file.write(recording.read())
    except urllib.error.HTTPError as refused:
        # 404: it was not recorded; 409: not ready yet; 410: deleted, or kept long enough.
        if refused.code not in (404, 409, 410):
            raise
        continue
    with ask(path + "/peaks") as waveform:
        print(call["id"], len(json.load(waveform)["caller"]), "points")  # at most 1,200, and as many of the agent
    ask(path, "DELETE").close()
    fetched += 1
print(fetched, "recordings fetched")
