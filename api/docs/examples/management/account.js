const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/v1/account`, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
if (!answer.ok) throw new Error(await answer.text());
const mine = await answer.json();
console.log(`${mine.name}, with the key ${mine.key.name} (${mine.key.role})`);
console.log(`concurrency: ${mine.concurrency.live} of ${mine.concurrency.limit}`);
