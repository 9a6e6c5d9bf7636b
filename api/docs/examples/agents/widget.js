import { createServer } from "node:http";

const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID, PORT = "3000" } = process.env;
const policy = `default-src 'self'; script-src 'self' ${PARLEY_URL}; connect-src 'self' ${PARLEY_URL} ${PARLEY_URL.replace(/^http/, "ws")}`;
const page = `<!doctype html>
<html lang="en">
<title>Casa Lola</title>
<h1>Casa Lola</h1>
<script src="${PARLEY_URL}/widget.js" data-agent-name="Lola" data-ticket-url="/talk-ticket" async></script>
</html>`;

// A ticket for one conversation of five minutes. Count here how many each visitor gets.
async function mint() {
  const answer = await fetch(`${PARLEY_URL}/v1/session-tickets`, {
    method: "POST",
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ agent_id: AGENT_ID, ttl_seconds: 60, max_sessions: 1, max_duration_seconds: 300 }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

const server = createServer(async (request, response) => {
  if (request.method === "GET" && request.url === "/") {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy }).end(page);
  } else if (request.method === "POST" && request.url === "/talk-ticket") {
    try {
      const ticket = await mint();
      response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-store" }).end(ticket);
    } catch (error) {
      console.error(error);
      response.writeHead(502).end();
    }
  } else {
    response.writeHead(404).end();
  }
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
