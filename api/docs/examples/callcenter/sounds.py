import json
import os
import urllib.request


def send(method, path, data=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/v1/sounds" + path,
        method=method,
        data=data,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "audio/wav"},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read()


with open("speech.wav", "rb") as file:
    added = json.loads(send("POST", "?name=Waltz", file.read()))
sound = added["id"]  # name it in settings.hold_sound of an agent
for s in json.loads(send("GET", ""))["data"]:
    print(s["name"], s["duration_ms"], "ms")

wav = send("GET", f"/{sound}/audio")
with open("waltz.wav", "wb") as file:
    file.write(wav)
print(f"waltz.wav: {len(wav)} bytes")

send("DELETE", f"/{sound}")
print("removed")
