import datetime
import json
import os
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
        return json.load(answer)


tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
numbers = ask("GET", "/callcenter/numbers")["numbers"]
wish = {
    "name": "Reminders",
    "from": numbers[0]["phone_number"],
    "agent_id": os.environ["AGENT_ID"],
    "consent_confirmed": True,  # only when all of them have agreed to be called
    "on_machine": "hangup",
    "call_window": {"start": "09:00", "end": "20:00", "timezone": "destination"},
    "retries": [{"on": "busy", "attempts": 3, "after_seconds": 900}],
    "metadata": {"season": "spring"},  # kept with the calls
    "rows": [{"to": "+12025550101"}, {"to": "+12025550102", "scheduled_at": tomorrow.isoformat()}],
}
for row in ask("POST", "/callcenter/bulk-dial/check", wish)["rows"]:  # calls nobody
    print(row["to"], row["due_at"], row["per_minute"], row.get("error"))
# The key makes it safe to send again after a lost answer.
batch = ask("POST", "/callcenter/bulk-dial", wish, {"Idempotency-Key": str(uuid.uuid4())})
at = "/callcenter/bulk-dial/" + batch["id"]
print(ask("POST", at + "/pause")["state"])
print(ask("POST", at + "/resume")["state"])
for each in ask("GET", "/callcenter/bulk-dial")["batches"]:
    print(each["name"], each["counts"])
for row in ask("GET", at)["rows"]:
    print(row["to"], row["status"], row["end_reason"], row["cost"], row["summary"])
print(ask("POST", at + "/cancel")["state"])
table = urllib.request.Request(
    os.environ["PARLEY_URL"] + at + "/results.csv", headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}
)
with urllib.request.urlopen(table) as answer:
    print(answer.read().decode())
