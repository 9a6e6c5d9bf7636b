package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/inference"
)

// TestProtocol is every kind of message that is no call of a tool.
func TestProtocol(t *testing.T) {
	b := start(t, nil)
	ping := `{"jsonrpc":"2.0","id":"x","method":"ping"}`
	deep := `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`
	for _, tt := range []struct {
		name, body string
		header     []string
		status     int
		id         string // "" when there is no answer
		code       int    // of the JSON-RPC error; 0: a result
	}{
		{"a ping", ping, nil, 200, `"x"`, 0},
		{"a ping that takes JSON only", ping, []string{"Accept", "application/json"}, 200, `"x"`, 0},
		{"a ping that says nothing about it", ping, []string{"Accept", ""}, 200, `"x"`, 0},
		{"a charset", ping, []string{"Content-Type", "application/json; charset=utf-8"}, 200, `"x"`, 0},
		{"another host", ping, []string{"Host", "voice.example.com"}, 200, `"x"`, 0},
		{"a page of another site", ping, []string{"Origin", "https://elsewhere.example"}, 200, `"x"`, 0},
		{"a session that is none", ping, []string{"Mcp-Session-Id", "abc"}, 200, `"x"`, 0},
		{"an older version", ping, []string{"Mcp-Protocol-Version", "2025-06-18"}, 200, `"x"`, 0},
		{"a version that is none", ping, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, `"x"`, -32600},
		{"a negative id", `{"jsonrpc":"2.0","id":-1,"method":"ping"}`, nil, 200, `-1`, 0},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, "", 0},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/x","params":7}`, nil, 202, "", 0},
		{"an answer nobody asked for", `{"jsonrpc":"2.0","id":4,"result":{}}`, nil, 202, "", 0},
		{"nothing", ``, nil, 400, `null`, -32700},
		{"half a message", `{"jsonrpc":"2.0",`, nil, 400, `null`, -32700},
		{"bytes", "\xff\x00\x01", nil, 400, `null`, -32700},
		{"a number", `7`, nil, 400, `null`, -32600},
		{"null", `null`, nil, 400, `null`, -32600},
		{"an empty object", `{}`, nil, 400, `null`, -32600},
		{"a batch", `[` + ping + `]`, nil, 400, `null`, -32600},
		{"an empty batch", ` [ ]`, nil, 400, `null`, -32600},
		{"another JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, 400, `1`, -32600},
		{"null as id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, `null`, -32600},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, 400, `null`, -32600},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, nil, 400, `null`, -32600},
		{"the largest id", `{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, nil, 200, `9007199254740991`, 0},
		{"a larger id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, nil, 400, `null`, -32600},
		{"a number as method", `{"jsonrpc":"2.0","id":1,"method":5}`, nil, 400, `1`, -32600},
		{"deep nesting", deep, nil, 400, `1`, -32600},
		{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"x"}`, nil, 200, `1`, -32601},
		{"an unknown method in the newest version", `{"jsonrpc":"2.0","id":1,"method":"x"}`, []string{"Mcp-Protocol-Version", "2026-07-28"}, 404, `1`, -32601},
		{"a stream that never ends", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`, nil, 200, `1`, -32601},
		{"a tool without a name", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, 400, `1`, -32600},
		{"parameters of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, nil, 200, `1`, -32602},
		{"an unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, nil, 200, `1`, -32602},
	} {
		code, answer, header := b.post(t, tt.body, tt.header...)
		if code != tt.status || header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d %v, %s", tt.name, code, header, answer)
		}
		if tt.id == "" {
			if len(answer) != 0 {
				t.Errorf("%s is answered: %s", tt.name, answer)
			}
			continue
		}
		got := decode(t, answer)
		wrong := 0
		if got.Error != nil {
			wrong = got.Error.Code
		}
		if string(got.ID) != tt.id || wrong != tt.code || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v, %s", tt.name, header, answer)
		}
	}
	if n := b.server.Counts.Failed(); n != 0 {
		t.Errorf("%d answers say that it was our fault", n)
	}
}

// TestVersions starts as clients of several ages do. What they say first is never
// refused, and nothing is promised that is not there.
func TestVersions(t *testing.T) {
	b := start(t, nil)
	for asked, want := range map[string]string{"2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "1999-01-01": "2025-11-25"} {
		code, answer, header := b.post(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+asked+
			`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		got := decode(t, answer).Result
		if code != 200 || got == nil || got.ProtocolVersion != want || string(got.Capabilities) != `{"tools":{}}` || header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d %s", asked, code, answer)
		}
	}
	// The newest version starts with no greeting: each message says what it is.
	code, answer, _ := b.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	if got := decode(t, answer).Result; code != 200 || got == nil || len(got.Tools) != 5 {
		t.Errorf("the newest: %d %s", code, answer)
	}
}

// TestHTTP is what is refused before anybody looks for a message.
func TestHTTP(t *testing.T) {
	b := start(t, nil)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, tt := range []struct {
		name, method, key, media, body string
		status                         int
		code                           string
	}{
		{"no credential", "POST", "", "application/json", ping, 401, "auth.missing_key"},
		{"a wrong one", "POST", "sk_x", "application/json", ping, 401, "auth.invalid_key"},
		{"a ticket", "POST", "wst_a", "application/json", ping, 200, ""},
		{"a ticket for one agent", "POST", "wst_s", "application/json", ping, 403, "auth.ticket_not_allowed"},
		{"GET", "GET", "sk_a", "", "", 405, "request.method_not_allowed"},
		{"DELETE", "DELETE", "sk_a", "", "", 405, "request.method_not_allowed"},
		{"a form", "POST", "sk_a", "application/x-www-form-urlencoded", ping, 415, "request.unsupported_media_type"},
		{"too much", "POST", "sk_a", "application/json", strings.Repeat(" ", 129<<10), 413, "request.too_large"},
		{"a preflight", "OPTIONS", "", "", "", 204, ""},
	} {
		r := httptest.NewRequest(tt.method, "/mcp", strings.NewReader(tt.body))
		r.Header.Set("Content-Type", tt.media)
		if tt.key != "" {
			r.Header.Set("X-API-Key", tt.key)
		}
		w := httptest.NewRecorder()
		b.http.Config.Handler.ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.code) {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
		if tt.status == 405 && w.Header().Get("Allow") != "POST" {
			t.Errorf("%s: allowed is %q", tt.name, w.Header().Get("Allow"))
		}
		if tt.status == 204 && !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version") {
			t.Errorf("a page may not say which protocol it speaks: %v", w.Header())
		}
	}
}

// TestPanics has an engine that panics where only the library could catch it.
func TestPanics(t *testing.T) {
	b := start(t, func(b *bench) {
		b.server.Engines[0].Info = func() inference.Info { panic("sk_secret") }
	})
	code, answer, _ := b.post(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_models"}}`)
	got := decode(t, answer)
	if code != 200 || got.Error == nil || got.Error.Code != -32603 || strings.Contains(string(answer), "secret") {
		t.Errorf("%d %s", code, answer)
	}
	if code, answer, _ := b.post(t, `{"jsonrpc":"2.0","id":4,"method":"ping"}`); code != 200 {
		t.Errorf("afterwards: %d %s", code, answer)
	}
}

// TestLibraryClient talks to the endpoint as a client of the protocol's own library.
func TestLibraryClient(t *testing.T) {
	b := start(t, nil)
	ctx := t.Context()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: b.http.URL + "/mcp",
		HTTPClient: &http.Client{Transport: bearer{"sk_a", b.http.Client().Transport}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if info := session.InitializeResult(); info.ServerInfo.Name != "parley" || info.ServerInfo.Version != "1.2.3" ||
		info.Capabilities.Tools == nil {
		t.Errorf("the server says %+v", info)
	}
	list, err := session.ListTools(ctx, nil)
	if err != nil || len(list.Tools) != 5 {
		t.Fatalf("%v, %v", list, err)
	}
	speech, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "synthesize_speech",
		Arguments: map[string]any{"text": "Good morning.", "voice": "F1", "language": "en"}})
	if err != nil || speech.IsError || len(speech.Content) != 1 {
		t.Fatalf("%+v, %v", speech, err)
	}
	if audio, ok := speech.Content[0].(*sdk.AudioContent); !ok || audio.MIMEType != "audio/wav" || len(audio.Data) < 1000 {
		t.Errorf("%+v", speech.Content[0])
	}
	wrong, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "synthesize_speech", Arguments: map[string]any{"text": "x", "voice": "Z", "language": "en"}})
	if err != nil || !wrong.IsError {
		t.Errorf("%+v, %v", wrong, err)
	}
	if _, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "nothing"}); err == nil {
		t.Error("a tool that does not exist was called")
	}
	if b.server.Counts.Failed() != 0 {
		t.Error("some of it was our fault")
	}
}

// TestLibraryClientIsRefused has a client without a credential.
func TestLibraryClientIsRefused(t *testing.T) {
	b := start(t, nil)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	if _, err := client.Connect(context.Background(), &sdk.StreamableClientTransport{Endpoint: b.http.URL + "/mcp"}, nil); err == nil {
		t.Error("a client without a credential was let in")
	}
}
