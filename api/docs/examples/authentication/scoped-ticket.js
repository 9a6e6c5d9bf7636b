const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/v1/tickets`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ scope: ["synthesis"], expires_in: 60 }),
});
if (!answer.ok) throw new Error(await answer.text());
const { ticket } = await answer.json();
console.log(`${ticket} opens speech synthesis for a minute`);
