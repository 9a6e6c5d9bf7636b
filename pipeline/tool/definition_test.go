package tool

import (
	"encoding/json"
	"fmt"
	"net/http"
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
		{`{"type":"http","name":"f","parameters":{"type":"object","properties":{"a":{"type":"string","pattern":"("}}},"http":{}}`, "tools[1].parameters.properties.a.pattern: is no pattern"},
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
		{http(`,"surprise":7`), `tools[1].http.surprise: unknown field "surprise"`},
		{`{"type":"http","name":"f","surprise":7,"http":{}}`, `tools[1].surprise: unknown field "surprise"`},
		{`{"type":"mcp","name":"m","mcp":{"url":"https://a.example","tools":[]}}`, `tools[1].mcp.tools: unknown field "tools"`},
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

// TestUselessFunctions: the author of a function that no model could call learns where,
// and one that was stored before does not cost its agent the others.
func TestUselessFunctions(t *testing.T) {
	for _, tt := range []struct{ def, want string }{
		{`{"type":"function","function":{"name":"end_call"}}`, "tools[0].function.name: end_call is taken"},
		{`{"type":"function","function":{"name":"f","parameters":{"type":"nonsense"}}}`, "tools[0].function.parameters.type: must be one of object, array"},
		{`{"type":"http","name":"f","parameters":{"type":"object","properties":{"a":{"type":"array","items":{"type":"strin"}}}},"http":{"method":"GET","url":"https://a.example"}}`,
			"tools[0].parameters.properties.a.items.type: must be one of"},
		{`{"type":"http","name":"f","parameters":{"type":"object","properties":{"a":{"type":["string","nul"]}}},"http":{"method":"GET","url":"https://a.example"}}`,
			"tools[0].parameters.properties.a.type: must be one of"},
	} {
		raw := json.RawMessage("[" + tt.def + "]")
		if wrong := Mistakes(raw, nil); len(wrong) != 1 || !strings.HasPrefix(wrong[0].Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.def, wrong, tt.want)
		}
		if defs, err := Parse(raw); err != nil || len(defs) != 1 {
			t.Errorf("%s, stored: %v, %v", tt.def, defs, err)
		}
	}
}

// TestLiteralAddresses: an address of a number that no request may go to is refused when
// it is written, and exactly then when the request would be.
func TestLiteralAddresses(t *testing.T) {
	open, closed := guard(t, nil, "127.0.0.0/8", "fd00::1"), guard(t, nil)
	for _, tt := range []struct {
		url      string
		ok, open bool // for servers that allow nothing, and those that allow what is above
	}{
		{"https://127.0.0.1/a", false, true}, {"http://127.9.9.9:3000/{id}", false, true}, {"https://[fd00::1]/", false, true},
		{"https://10.0.0.1", false, false}, {"http://169.254.169.254/latest", false, false}, {"https://[::ffff:10.0.0.1]:8443/", false, false},
		{"https://[fe80::1%25eth0]/", false, false}, {"http://9.9.9.9/", false, false}, {"https://9.9.9.9:22/", false, false},
		{"https://9.9.9.9/", true, true}, {"https://9.9.9.9:8443/?a={id}", true, true}, {"https://a.example", true, true}, {"http://localhost:1", true, true},
	} {
		for def, path := range map[string]string{
			`{"type":"http","name":"f","parameters":{"type":"object","properties":{"id":{"type":"string"}}},"http":{"method":"POST","url":"` + tt.url + `"}}`: "tools[0].http.url: ",
			`{"type":"mcp","name":"f","mcp":{"url":"` + tt.url + `"}}`:                                                                                        "tools[0].mcp.url: ",
			`{"type":"crm","crm":{"provider":"rest","url":"` + tt.url + `"}}`:                                                                                 "tools[0].crm.url: ",
		} {
			if strings.Contains(tt.url, "{") && !strings.Contains(path, "http.") {
				continue
			}
			raw := json.RawMessage("[" + def + "]")
			for g, ok := range map[*Guard]bool{closed: tt.ok, open: tt.open, nil: true} {
				if wrong := Mistakes(raw, g); ok != (len(wrong) == 0) || !ok && !strings.HasPrefix(wrong.Error(), path) {
					t.Errorf("%s: %v, want %v", def, wrong, ok)
				}
			}
			if defs, err := Parse(raw); err != nil || len(defs) != 1 {
				t.Errorf("%s, stored: %v, %v", def, defs, err)
			}
			if tt.ok { // it would be reached
				continue
			}
			r, err := http.NewRequest("GET", strings.ReplaceAll(tt.url, "{id}", "1"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := closed.Client().Do(r); !strings.Contains(fmt.Sprint(err), strings.TrimPrefix(Mistakes(raw, closed)[0].Problem, path)) {
				t.Errorf("%s: the request fails with %v", tt.url, err)
			}
		}
	}
}
