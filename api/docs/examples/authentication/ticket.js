const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/ws-ticket`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}` },
});
const { ticket, expires_in } = await answer.json();
console.log(`${ticket} opens sockets for ${expires_in} seconds`);
