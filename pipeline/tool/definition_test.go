package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	defs, err := Parse(json.RawMessage(`[
		{"type":"function","function":{"name":"book_table","description":"Books.","parameters":{"type":"object"},"strict":true}},
		{"type":"http","name":"order","description":"An order.","parameters":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]},
			"http":{"method":"GET","url":"https://api.example.com/orders/{id}","headers":{"Authorization":"Bearer {{secret.KEY}}"}}},
		{"type":"http","name":"note","on_interrupt":"cancel","http":{"method":"POST","url":"https://api.example.com/notes","retries":2,"idempotency_header":"Idempotency-Key"}},
		{"type":"mcp","name":"calendar","mcp":{"url":"https://mcp.example.com/mcp","allowed_tools":["list"]}},
		{"type":"web_search"},{"type":"crm","crm":{"provider":"hubspot","api_key":"{{secret.HUBSPOT}}","log_calls":false}}]`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range defs {
		got = append(got, string(d.Kind)+" "+d.Spec.Name)
	}
	if s := strings.Join(got, ", "); s != "function book_table, http order, http note, mcp calendar, web_search web_search, crm crm_lookup" {
		t.Error(s)
	}
	if !defs[1].Cancel || !defs[2].Cancel || defs[3].Cancel || defs[5].CRM.Logs() {
		t.Errorf("%+v", defs)
	}
	for _, none := range []string{"", "[]", "null"} {
		if defs, err := Parse(json.RawMessage(none)); err != nil || len(defs) != 0 {
			t.Errorf("%q: %v, %v", none, defs, err)
		}
	}
}

func TestParseNamesTheField(t *testing.T) {
	// %s is what the definition says of its request.
	http := func(s string) string {
		return `{"type":"http","name":"f","parameters":{"type":"object","properties":{"id":{"type":"string"}}},"http":{"method":"POST","url":"https://a.example/x"` + s + `}}`
	}
	for _, tt := range []struct{ def, want string }{
		{`7`, "tools[1].type: must be one of function"},
		{`{"type":"ftp"}`, "tools[1].type: must be one of function"},
		{`{}`, "tools[1].type: must be"},
		{`{"type":"function","function":{"name":"a b"}}`, "tools[1].function.name: must be"},
		{`{"type":"function","function":{"name":"first"}}`, "tools[1]: the name first is taken"},
		{`{"type":"function","function":{"name":"f","parameters":[]}}`, "tools[1].function.parameters: must be"},
		{`{"type":"http","name":"a b","http":{}}`, "tools[1].name: must be"},
		{`{"type":"http","name":"end_call","http":{}}`, "tools[1].name: end_call is taken"},
		{`{"type":"http","name":"f"}`, "tools[1].http: is missing"},
		{`{"type":"http","name":"f","mcp":{},"http":{}}`, "tools[1].mcp: is not for the type http"},
		{`{"type":"http","name":"f","parameters":{"type":"array"},"http":{}}`, "tools[1].parameters.type: must be object"},
		{`{"type":"http","name":"f","parameters":{"type":"object","properties":{"a":{"$ref":"https://x.example/s"}}},"http":{}}`, "tools[1].parameters: is no JSON Schema"},
		{`{"type":"http","name":"f","parameters":{"type":"object","properties":{"a":{"type":"string","pattern":"("}}},"http":{}}`, "tools[1].parameters: is no JSON Schema"},
		{`{"type":"http","name":"f","http":{"method":"HEAD","url":"https://a.example"}}`, "tools[1].http.method: must be one of GET"},
		{`{"type":"http","name":"f","http":{"method":"GET","url":"a.example"}}`, "tools[1].http.url: must be an absolute"},
		{`{"type":"http","name":"f","http":{"method":"GET","url":"ftp://a.example"}}`, "tools[1].http.url: must be an absolute"},
		{`{"type":"http","name":"f","http":{"method":"GET","url":"https://u:p@a.example"}}`, "tools[1].http.url: credentials"},
		{`{"type":"http","name":"f","http":{"method":"GET","url":"https://a.example/{{secret.K}}"}}`, "tools[1].http.url: secrets"},
		{`{"type":"http","name":"f","http":{"method":"GET","url":"https://{id}.example/"}}`, "tools[1].http.url: the host"},
		{`{"type":"http","name":"f","http":{"method":"GET","url":"https://a.example/{id}"}}`, "tools[1].http.url: {id} is no parameter"},
		{`{"type":"http","name":"f","http":{"method":"GET","url":"https://a.example","body":{}}}`, "tools[1].http.body: a GET"},
		{http(`,"method":7`), "tools[1].http.method: cannot be a JSON number"},
		{http(`,"headers":{"a":7}`), "tools[1].http.headers"},
		{http(`,"surprise":7`), `tools[1]: unknown field "surprise"`},
		{http(`,"headers":{"Host":"b.example"}`), `tools[1].http.headers: "Host" cannot be set`},
		{http(`,"headers":{"A b":"c"}`), `tools[1].http.headers: "A b" cannot be set`},
		{http(`,"headers":{"A":"b\r\nc: d"}`), "tools[1].http.headers.A: must be one line"},
		{http(`,"headers":{"A":"{{secret.no-name}}"}`), "tools[1].http.headers.A: a secret is written"},
		{http(`,"query":{"a":"{b}"}`), "tools[1].http.query.a: {b} is no parameter"},
		{http(`,"body":{"a":"{b}"}`), "tools[1].http.body: {b} is no parameter"},
		{http(`,"timeout_ms":30001`), "tools[1].http.timeout_ms: must be from 100 to 30000"},
		{http(`,"retries":3`), "tools[1].http.retries: must be from 0 to 2"},
		{http(`,"retries":1`), "tools[1].http.retries: repeating a POST needs idempotency_header"},
		{`{"type":"mcp","name":"m"}`, "tools[1].mcp: is missing"},
		{`{"type":"mcp","name":"a.b","mcp":{"url":"https://a.example"}}`, "tools[1].name: must be"},
		{`{"type":"mcp","name":"m","mcp":{"url":"a"}}`, "tools[1].mcp.url: must be"},
		{`{"type":"mcp","name":"m","mcp":{"url":"https://a.example","timeout_ms":1}}`, "tools[1].mcp.timeout_ms: must be"},
		{`{"type":"mcp","name":"m","on_interrupt":"x","mcp":{"url":"https://a.example"}}`, "tools[1].on_interrupt: must be"},
		{`{"type":"web_search","name":"x"}`, "tools[1].name: is not for the type web_search"},
		{`{"type":"crm","crm":{"url":"https://a.example"}}`, "tools[1].crm.provider: is missing"},
		{`{"type":"crm","crm":{"provider":"rest"}}`, "tools[1].crm.url: is missing"},
		{`{"type":"crm","crm":{"provider":"hubspot","api_key":"pat-123"}}`, "tools[1].crm.api_key: must be {{secret.NAME}}"},
	} {
		_, err := Parse(json.RawMessage(`[{"type":"function","function":{"name":"first"}},` + tt.def + `]`))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.def, err, tt.want)
		}
	}
	if _, err := Parse(json.RawMessage(`[` + strings.Repeat(`{"type":"web_search"},`, 64) + `{"type":"web_search"}]`)); err == nil || err.Error() != "tools: more than 64" {
		t.Error(err)
	}
	if _, err := Parse(json.RawMessage(`{}`)); err == nil {
		t.Error("an object was taken")
	}
}
