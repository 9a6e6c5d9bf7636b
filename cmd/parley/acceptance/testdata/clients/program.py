# A program of somebody who has installed the client. It prints what the test compares.
import asyncio
import os

from parley_client import Parley, ParleyError
from parley_client.session import Session

parley = Parley(os.environ["PARLEY_URL"], os.environ["PARLEY_API_KEY"])

print("account", parley.get_own_account()["name"])

made = parley.create_agent({"name": "Second", "metadata": {"team": "clients"}})
print("agents", sum(agent["name"] != "" for agent in parley.each_agents(limit=1)))
page = parley.list_agents(metadata={"team": "clients"})
print("of the team", len(page["data"]), str(page["has_more"]).lower())


def refused(what):
    try:
        what()
    except ParleyError as e:
        print("refused", e.status, e.code, str(e.request_id.startswith("req_")).lower())


refused(lambda: parley.update_agent(made["id"], {"name": "Third"}, if_match='"7"'))
parley.delete_agent(made["id"])
refused(lambda: parley.get_agent(made["id"]))

with parley.synthesize({"text": "Good morning.", "voice": "F1", "language": "en"}) as spoken:
    print("spoken", spoken.headers["Content-Type"], str(len(spoken.read()) > 44_100).lower())
with open("speech.wav", "rb") as f:
    print("heard", parley.transcribe({"audio": ("speech.wav", f.read()), "language": "en"})["text"])


async def talk():
    samples, asked, call = 0, 0, ""
    async with Session(parley, agent_id=os.environ["AGENT_ID"], metadata={"order": "42"}) as session:
        await session.send_audio(bytes(640))
        async for event in session:
            samples += len(event.audio)
            said = event.data.get("data")
            match event.type, said:
                case "reconnecting", _:
                    print("session reconnecting", flush=True)
                case "session", {"resumed": True}:
                    print("session live", flush=True)
                    print("same call", str(said["id"] == call).lower(), flush=True)
                case "session", _:
                    call = said["id"]
                case "status", "prompt_set":
                    print("session live", flush=True)
                case "transcript", str() if event.data["role"] == "agent" and "nine" in said:
                    print("agent answers", str(samples > 0).lower(), flush=True)
                case "status", "listening":
                    if asked % 2 == 0:
                        await session.send_text("When do you open on Monday?")
                    elif asked == 1:
                        print("cut", flush=True)
                    else:
                        await session.close()
                    asked += 1
    print("session ended")


asyncio.run(talk())
