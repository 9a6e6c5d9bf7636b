package manage_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestSecrets(t *testing.T) {
	o := open(t)
	const value = "Bearer hunter2-hunter2"
	put := o.As(o.A, "PUT", "/v1/secrets/BOOKING_KEY", `{"value":"`+value+`"}`)
	o.Want("put", put, 200, "")
	o.Want("put again", o.As(o.A, "PUT", "/v1/secrets/BOOKING_KEY", `{"value":"`+value+`!"}`), 200, "")
	o.Want("another", o.As(o.A, "PUT", "/v1/secrets/A", `{"value":"x"}`), 200, "")
	list := o.As(o.A, "GET", "/v1/secrets", "")
	o.Want("list", list, 200, "")
	var names []string
	for _, s := range o.json(list)["data"].([]any) {
		names = append(names, fmt.Sprint(s.(map[string]any)["name"]))
	}
	if strings.Join(names, " ") != "A BOOKING_KEY" {
		t.Errorf("%s", list.Body)
	}
	if body := string(o.As(o.B, "GET", "/v1/secrets", "").Body); strings.TrimSpace(body) != `{"data":[],"has_more":false,"next_cursor":null}` {
		t.Errorf("another account sees %s", body)
	}
	o.Want("delete another's", o.As(o.B, "DELETE", "/v1/secrets/BOOKING_KEY", ""), 404, "request.not_found")
	for path, body := range map[string]string{"/v1/secrets/1A": `{"value":"x"}`, "/v1/secrets/A-B": `{"value":"x"}`, "/v1/secrets/%00": `{"value":"x"}`,
		"/v1/secrets/B": `{"value":""}`, "/v1/secrets/C": `{"value":"a\nb"}`, "/v1/secrets/D": `{}`, "/v1/secrets/E": `{"value":"` + strings.Repeat("é", 5000) + `"}`} {
		o.Want(path, o.As(o.A, "PUT", path, body), 400, "validation.invalid_request_format")
	}
	o.Want("delete", o.As(o.A, "DELETE", "/v1/secrets/BOOKING_KEY", ""), 204, "")
	o.Want("delete again", o.As(o.A, "DELETE", "/v1/secrets/BOOKING_KEY", ""), 404, "request.not_found")
	for what, text := range map[string]string{"the log": o.log.String(), "an answer": string(put.Body) + string(list.Body)} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s holds the value", what)
		}
	}
}

// TestFunctionsOfTheServer: definitions are kept as they are, and one that is wrong is
// answered with the path of the field.
func TestFunctionsOfTheServer(t *testing.T) {
	o := open(t)
	const good = `{"type":"http","name":"order","http":{"method":"GET","url":"https://api.example.com/o","headers":{"A":"{{secret.K}}"}}},{"type":"web_search"},{"type":"crm"}`
	made := o.As(o.A, "POST", "/v1/agents", `{"name":"N","tools":[`+good+`]}`)
	o.Want("create", made, 201, "")
	tools := o.json(made)["tools"].([]any)
	if len(tools) != 3 || !strings.Contains(string(made.Body), "{{secret.K}}") {
		t.Errorf("%s", made.Body)
	}
	bad := o.As(o.A, "PATCH", "/v1/agents/"+o.A.Agent, `{"tools":[{"type":"http","name":"x","http":{"method":"GET","url":"ftp://a"}}]}`)
	o.Want("change", bad, 400, "validation.invalid_request_format")
	if d := fmt.Sprint(o.json(bad)["detail"]); d != "tools[0].http.url: must be an absolute https address" {
		t.Error(d)
	}
	for _, tools := range []string{`[{"type":"ftp"}]`, `[{"name":"x"}]`, `[{"type":"web_search"},{"type":"web_search"}]`} {
		o.Want(tools, o.As(o.A, "POST", "/v1/agents", `{"name":"N","tools":`+tools+`}`), 400, "validation.invalid_request_format")
	}
}
