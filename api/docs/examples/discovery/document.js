const answer = await fetch(`${process.env.PARLEY_URL}/openapi.json`);
const document = await answer.json();
console.log(`OpenAPI ${document.openapi}, ${Object.keys(document.paths).length} paths`);
