import json
import os
import urllib.request


def read(path):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path, headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


calls = read("/v1/calls?limit=10")["data"]
print(f"{len(calls)} calls on this page")
if calls:
    call = read("/v1/calls/" + calls[0]["id"])
    print(f"{call['direction']} from {call['from']} to {call['to']}, {call['duration']} s, {call['end_reason'] or call['status']}")
    for line in call["transcript"]:
        print(f"{line['at']:.1f} s {line['role']}: {line['text']}")
    quality = read(f"/v1/calls/{call['id']}/quality")
    if quality["available"]:
        print(f"MOS {quality['mos']}, {quality['loss']:.1%} lost, round trip {quality['rtt_ms']} ms")
    for message in read(f"/v1/calls/{call['id']}/sip")["data"]:
        print(message["at"], message["direction"], message["message"].splitlines()[0])
