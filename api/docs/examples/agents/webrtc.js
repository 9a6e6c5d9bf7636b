import { readFileSync } from "node:fs";

const server = process.env.PARLEY_URL;
const key = { Authorization: `Bearer ${process.env.PARLEY_API_KEY}` };

const begun = await fetch(`${server}/webrtc/agent?agent_id=${process.env.AGENT_ID}`, {
  method: "POST",
  headers: { ...key, "Content-Type": "application/sdp" },
  body: readFileSync("offer.sdp"), // what your WebRTC library offers
});
if (begun.status !== 201) throw new Error(await begun.text());
console.log(await begun.text()); // the library takes the answer, and connects
const session = new URL(begun.headers.get("Location"), server);

const changed = await fetch(session, {
  method: "PATCH",
  headers: { ...key, "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": begun.headers.get("ETag") },
  body: "a=end-of-candidates\r\n", // or candidates that were found later
});
console.log(changed.status);

const ended = await fetch(session, { method: "DELETE", headers: key });
console.log(ended.status);
