import json
import os
import time
import urllib.request


def send(method, path, data, kind="application/json"):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=data,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": kind},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def ask(method, path, body=None):
    return send(method, path, json.dumps(body).encode() if body else None)


made = ask("POST", "/v1/knowledge", {"name": "Handbook", "language": "en"})
base = "/v1/knowledge/" + made["id"]
ask("PATCH", base, {"name": "Bicycle shop"})

form = (
    '--end\r\nContent-Disposition: form-data; name="file"; filename="hours.md"\r\n\r\n'
    "# Opening hours\n\nWe open at nine and close at noon on Saturdays.\n\r\n--end--\r\n"
)
file = send("POST", base + "/documents", form.encode(), "multipart/form-data; boundary=end")
while file["state"] in ("queued", "reading"):
    time.sleep(0.2)
    file = ask("GET", f"{base}/documents/{file['id']}")
print(file["title"], file["state"], file.get("reason", ""))

page = ask("POST", base + "/documents", {"url": "https://example.com/", "title": "Example"})
ask("POST", f"{base}/documents/{page['id']}/refresh")  # fetches it again
for d in ask("GET", base + "/documents")["data"]:
    print(d["title"], d["state"])

for p in ask("POST", base + "/search", {"query": "closing time on Saturday"})["passages"]:
    print(f"{p['title']}, {p['heading']}: {p['text']}")
print(ask("GET", base)["passages"], "passages")  # name it in settings.knowledge_bases of an agent

ask("DELETE", f"{base}/documents/{page['id']}")
ask("DELETE", base)
print(len(ask("GET", "/v1/knowledge")["data"]), "left; removed")
