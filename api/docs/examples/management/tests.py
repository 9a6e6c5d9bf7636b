import json
import os
import time
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


prompt = 'When the caller says "when are you open": We are open from nine to six.'
agent = "/v1/agents/" + ask("POST", "/v1/agents", {"name": "Lola", "first_message": "Casa Lola, hello.", "prompt": prompt})["id"]
case = ask("POST", agent + "/cases", {"name": "Hours", "script": {"caller": [{"say": "When are you open?"}]}})["id"]
script = {
    "caller": [{"say": "When are you open?", "expect": ["nine"]}],
    "criteria": [{"name": "closing time", "rubric": 'The agent also says when it closes: "to six".'}],  # judged by the model
}
ask("PUT", f"{agent}/cases/{case}", {"name": "Opening hours", "script": script})
print(ask("GET", f"{agent}/cases/{case}")["name"], len(ask("GET", agent + "/cases")["data"]))


def simulate(wanted):
    s = ask("POST", agent + "/simulations", wanted)
    while not s["ended_at"]:
        time.sleep(0.5)
        s = ask("GET", "/v1/simulations/" + s["id"])
    for result in (r for c in s["cases"] for r in c["results"]):
        for check in result["checks"]:
            print(check["ok"], check["expected"], check.get("found", ""))
    print(f"{s['state']}: {str(s['ok']).lower()}")
    return s["id"]


simulate({})  # all cases of the agent as it is
last = simulate({"cases": [case], "runs": 2, "definition": {"name": "Lola", "prompt": "We are closed."}})  # and of a draft

ask("POST", f"/v1/simulations/{last}/cancel")  # one that has ended stays as it is
print(len(ask("GET", agent + "/simulations")["data"]), "simulations")
ask("DELETE", f"{agent}/cases/{case}")
ask("DELETE", agent)
