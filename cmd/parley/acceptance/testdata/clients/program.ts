// A program of somebody who has installed the client. It prints what the test compares.
import { readFileSync } from "node:fs";
import { Parley, ParleyError, converse } from "parley-client";

const { PARLEY_URL = "", PARLEY_API_KEY = "", AGENT_ID = "" } = process.env;
const parley = new Parley({ baseUrl: PARLEY_URL, apiKey: PARLEY_API_KEY });

const account = await parley.getOwnAccount();
console.log("account", account.name);

const made = await parley.createAgent({ name: "Second", metadata: { team: "clients" } });
let agents = 0;
for await (const agent of parley.listAgents({ limit: 1 })) agents += agent.name === "" ? 0 : 1;
console.log("agents", agents);
const page = await parley.listAgents({ metadata: { team: "clients" } });
console.log("of the team", page.data.length, page.has_more);

const refused = async (what: Promise<unknown>) => {
  try {
    await what;
  } catch (e) {
    if (!(e instanceof ParleyError)) throw e;
    console.log("refused", e.status, e.code, e.requestId.startsWith("req_"));
  }
};
await refused(parley.updateAgent(made.id, { name: "Third" }, { ifMatch: '"7"' }));
await parley.deleteAgent(made.id);
await refused(parley.getAgent(made.id));

const spoken = await parley.synthesize({ text: "Good morning.", voice: "F1", language: "en" });
console.log("spoken", spoken.headers.get("Content-Type"), (await spoken.arrayBuffer()).byteLength > 44_100);
const heard = await parley.transcribe({ audio: new Blob([readFileSync("speech.wav")]), language: "en" });
console.log("heard", heard.text);

let samples = 0;
let asked = 0;
let call = "";
const session = converse(parley, { agentId: AGENT_ID, metadata: { order: "42" } });
session.on("audio", (sound) => (samples += sound.samples.length));
session.on("state", ({ state }) => state !== "connecting" && console.log("session", state));
session.on("message", ({ message }) => {
  if (message.type === "session" && message.data.resumed) console.log("same call", message.data.id === call);
  else if (message.type === "session") call = message.data.id;
  if (message.type === "transcript" && message.role === "agent" && /nine/.test(message.data)) console.log("agent answers", samples > 0);
  if (message.type !== "status" || message.data !== "listening") return;
  if (asked % 2 === 0) session.sendText("When do you open on Monday?");
  else if (asked === 1) console.log("cut");
  else session.stop();
  asked++;
});
session.sendAudio(new Int16Array(320));
await session.start();
