import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from(process.env.WEBHOOK_SECRET.replace("whsec_", ""), "base64");
const seen = new Set(); // in earnest a table: an event may come twice

function good(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signatures } = headers;
  if (!id || !signatures || !(Math.abs(Date.now() / 1000 - Number(at)) <= 300)) return false;
  const want = Buffer.from("v1," + createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest("base64"));
  return signatures.split(" ").some((s) => s.length === want.length && timingSafeEqual(Buffer.from(s), want));
}

createServer(async (request, answer) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts); // as it came: not parsed and written anew
  if (!good(request.headers, body)) return answer.writeHead(401).end();
  answer.writeHead(204).end(); // within five seconds: work comes later
  const event = JSON.parse(body);
  if (seen.has(event.id)) return;
  seen.add(event.id);
  console.log(event.type, event.data.id);
}).listen(process.env.PORT ?? 8000);
