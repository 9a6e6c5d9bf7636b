package requests

import "testing"

// TestRedact: values of fields that are called like secrets or like something said are not kept, wherever they are, and of a text that was cut
// none that has begun.
func TestRedact(t *testing.T) {
	for body, want := range map[string]struct {
		text  string
		whole bool
	}{
		`{"name":"Lola","n":1.50,"list":[true,null,{"a":"<b>"}]}`:                                   {`{"name":"Lola","n":1.50,"list":[true,null,{"a":"<b>"}]}`, true},
		`{"password":"x","api_key":"y","apiKey":7,"X-Signature":"z","access_token":null}`:           {`{"password":"…","api_key":"…","apiKey":"…","X-Signature":"…","access_token":"…"}`, true},
		`{"http":{"url":"https://x","headers":{"Authorization":"Bearer s"}},"value":["s",{"a":1}]}`: {`{"http":{"url":"https://x","headers":"…"},"value":"…"}`, true},
		`{"name":"Lola","secret":"hal`:                                                              {`{"name":"Lola","secret":…`, false},
		`{"name":"Lola","headers":{"a":"s`:                                                          {`{"name":"Lola","headers":"…"…`, false},
		`{"name":"Lola","prompt":"We are open`:                                                      {`{"name":"Lola","prompt":…`, false},
		`{"text":"said","note":"n","audio":"UklGRg","context":"x"}`:                                 {`{"text":"…","note":"…","audio":"…","context":"x"}`, true},
		`{"a":1} {"b":2}`:  {`{"a":1}`, false},
		`not json`:         {"", false},
		`{"a":"x\u0000y"}`: {`{"a":"xy"}`, true},
	} {
		if text, whole := redact([]byte(body)); text != want.text || whole != want.whole {
			t.Errorf("%s: %s %v, want %s %v", body, text, whole, want.text, want.whole)
		}
	}
	for _, tt := range []struct{ path, query, want string }{
		{"/v1/calls", "limit=5&metadata[order]=42&q=a+b", "/v1/calls?limit=5&metadata[order]=42&q=…"},
		{"/ws/agent", "api_key=sk_secret&agent_id=ag_1&ticket=wst_x&access%5Ftoken=t", "/ws/agent?api_key=…&agent_id=ag_1&ticket=…&access%5Ftoken=…"},
		{"/ws/agent", "api_key=sk_secret&resume=ses_1.1.2.x", "/ws/agent?api_key=…&resume=…"},
		{"/v1/a b'c", "%zz=secret&flag", "/v1/a%20b%27c?%zz=…&flag"},
		{"/x", "a=\x00\xff", "/x?a="},
	} {
		if got := target(tt.path, tt.query); got != tt.want {
			t.Errorf("%s?%s: %s, want %s", tt.path, tt.query, got, tt.want)
		}
	}
}
