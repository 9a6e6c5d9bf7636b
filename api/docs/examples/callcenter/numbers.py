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


print(ask("GET", "/callcenter/status"))
for agent in ask("GET", "/callcenter/agents")["agents"]:
    print(agent["id"], agent["name"])

found = ask("GET", "/callcenter/numbers/search?country_code=FR&page=1")["numbers"]
number = next(one for one in found if one["monthly_cost"] <= 5 and one["upfront_cost"] <= 5)

# It is charged at once. The key makes it safe to send this again after a lost answer.
bought = ask(
    "POST",
    "/callcenter/numbers",
    {"phone_number": number["phone_number"], "agent_id": os.environ["AGENT_ID"]},
    {"Idempotency-Key": str(uuid.uuid4())},
)
print(bought["phone_number"], bought["status"], bought["agent_name"])  # pending for a while, with some carriers

# Now another agent, or with an empty agent_id nobody, answers it.
ask("POST", f"/callcenter/numbers/{bought['id']}/assign", {"agent_id": ""})
for one in ask("GET", "/callcenter/numbers")["numbers"]:
    print(one["phone_number"], one["status"], one["agent_name"], one["next_charge_at"])

# For good: it cannot be recovered.
print("released", ask("DELETE", f"/callcenter/numbers/{bought['id']}")["released"])
