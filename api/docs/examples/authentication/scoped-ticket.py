import json
import os
import urllib.request

wanted = {"scope": ["synthesis"], "expires_in": 60}
request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/tickets",
    data=json.dumps(wanted).encode(),
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    minted = json.load(answer)
print(f"{minted['ticket']} opens speech synthesis for a minute")
