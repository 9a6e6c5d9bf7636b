const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/v1/balance`, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
if (!answer.ok) throw new Error(await answer.text());
const wallet = await answer.json();
console.log(`Balance ${wallet.balance} USD: ${wallet.paid} paid, ${wallet.bonus} bonus`);
for (const warning of wallet.warnings) console.warn(warning.kind, warning.message);
