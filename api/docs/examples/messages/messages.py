import json
import os
import time
import urllib.request
import uuid


def ask(method, path, body=None, headers={}):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json", **headers},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer) if answer.status != 204 else None


# A number that was bought here; messages come from no other.
offers = ask("GET", "/callcenter/numbers/search?country_code=FR")["numbers"]
number = next(o["phone_number"] for o in offers if o["phone_number"][-1] in "0123")
bought = ask("POST", "/callcenter/numbers", {"phone_number": number})

# The key makes it safe to send it again after a lost answer.
order = {"from": number, "to": "+1 202 555 0177", "text": "Your table is booked for Friday at 8 pm."}
message = ask("POST", "/v1/messages", order, {"Idempotency-Key": str(uuid.uuid4())})
print(message["status"], message["segments"], "segment")

while message["status"] == "queued":  # a webhook for message.delivered and message.failed saves asking
    time.sleep(1)
    message = ask("GET", "/v1/messages/" + message["id"])
print(message["status"], message["cost"])
for m in ask("GET", "/v1/messages?direction=outbound&peer=12025550177&limit=10")["data"]:
    print(m["created_at"], m["to"], m["text"])

ask("DELETE", "/v1/messages/" + message["id"])
print("deleted")
ask("DELETE", "/callcenter/numbers/" + bought["id"])
