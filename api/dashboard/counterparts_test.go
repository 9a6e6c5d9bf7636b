package dashboard

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// counterparts are, for each address of the dashboard, the routes with which a program does
// the same, parted by commas: whatever the dashboard can do, the API can do.
var counterparts = map[string]string{
	"GET /app/{$}":           "GET /v1/balance, GET /v1/agents, GET /v1/keys, GET /v1/calls, GET /v1/statistics, GET /callcenter/numbers",
	"GET /app/overview/live": "GET /v1/calls",
	"GET /app/find":          "GET /v1/agents, GET /v1/knowledge, GET /v1/calls",

	"GET /app/agents":                                  "GET /v1/agents, GET /callcenter/numbers",
	"GET /app/agents/new":                              "GET /v1/agents/schema, GET /v1/knowledge, GET /v1/sounds, GET /v1/agents",
	"POST /app/agents":                                 "POST /v1/agents",
	"POST /app/agents/check":                           "POST /v1/agents/validate",
	"GET /app/agents/import":                           "GET /v1/agents/schema",
	"POST /app/agents/import":                          "POST /v1/agents",
	"GET /app/agents/{id}":                             "GET /v1/agents/{id}, GET /v1/spending-limits, GET /v1/knowledge, GET /v1/sounds, GET /v1/agents, GET /v1/agents/{id}/cases",
	"POST /app/agents/{id}":                            "PUT /v1/agents/{id}",
	"POST /app/agents/{id}/limit":                      "PATCH /v1/spending-limits/{id}",
	"POST /app/agents/{id}/metadata":                   "PATCH /v1/agents/{id}",
	"GET /app/agents/{id}/document":                    "GET /v1/agents/{id}",
	"POST /app/agents/{id}/document":                   "PUT /v1/agents/{id}",
	"GET /app/agents/{id}/export":                      "GET /v1/agents/{id}",
	"GET /app/agents/{id}/functions":                   "GET /v1/agents/{id}, GET /v1/agents/schema",
	"POST /app/agents/{id}/functions":                  "PUT /v1/agents/{id}",
	"GET /app/agents/{id}/functions/new":               "GET /v1/agents/schema",
	"POST /app/agents/{id}/functions/check":            "POST /v1/agents/validate",
	"POST /app/agents/{id}/functions/try":              "POST /v1/functions/test",
	"GET /app/agents/{id}/functions/{no}":              "GET /v1/agents/{id}, GET /v1/agents/schema",
	"POST /app/agents/{id}/functions/{no}":             "PUT /v1/agents/{id}",
	"POST /app/agents/{id}/functions/{no}/check":       "POST /v1/agents/validate",
	"POST /app/agents/{id}/functions/{no}/try":         "POST /v1/functions/test",
	"POST /app/agents/{id}/functions/{no}/delete":      "PUT /v1/agents/{id}",
	"GET /app/agents/{id}/embed":                       "GET /v1/agents/{id}",
	"POST /app/agents/{id}/embed/ticket":               "POST /v1/session-tickets",
	"GET /app/agents/{id}/compare":                     "POST /v1/agents/{id}/compare, GET /v1/agents/{id}/versions",
	"POST /app/agents/{id}/compare":                    "POST /v1/agents/{id}/compare, GET /v1/agents/{id}/versions",
	"GET /app/agents/{id}/versions":                    "GET /v1/agents/{id}/versions",
	"GET /app/agents/{id}/versions/{version}":          "GET /v1/agents/{id}/versions/{version}, GET /v1/agents/{id}/versions/{version}/diff",
	"POST /app/agents/{id}/versions/{version}/restore": "PUT /v1/agents/{id}",
	"GET /app/agents/{id}/delete":                      "GET /v1/agents/{id}",
	"POST /app/agents/{id}/delete":                     "DELETE /v1/agents/{id}",

	"POST /app/agents/{id}/talk":                             "PUT /v1/agents/{id}, GET /ws/agent",
	"POST /app/agents/{id}/try":                              "POST /v1/agents/{id}/simulations",
	"GET /app/agents/{id}/tests":                             "GET /v1/agents/{id}/cases, GET /v1/agents/{id}/simulations, GET /v1/simulations/{id}",
	"POST /app/agents/{id}/tests":                            "POST /v1/agents/{id}/cases",
	"GET /app/agents/{id}/tests/new":                         "GET /v1/agents/{id}",
	"POST /app/agents/{id}/tests/run":                        "POST /v1/agents/{id}/simulations",
	"GET /app/agents/{id}/tests/{case}":                      "GET /v1/agents/{id}/cases/{case}",
	"POST /app/agents/{id}/tests/{case}":                     "PUT /v1/agents/{id}/cases/{case}",
	"POST /app/agents/{id}/tests/{case}/delete":              "DELETE /v1/agents/{id}/cases/{case}",
	"GET /app/agents/{id}/simulations/{simulation}":          "GET /v1/simulations/{id}",
	"GET /app/agents/{id}/simulations/{simulation}/progress": "GET /v1/simulations/{id}",
	"POST /app/agents/{id}/simulations/{simulation}/cancel":  "POST /v1/simulations/{id}/cancel",

	"GET /app/knowledge":                                    "GET /v1/knowledge",
	"POST /app/knowledge":                                   "POST /v1/knowledge",
	"GET /app/knowledge/{id}":                               "GET /v1/knowledge/{id}, GET /v1/knowledge/{id}/documents, POST /v1/knowledge/{id}/search",
	"POST /app/knowledge/{id}":                              "PATCH /v1/knowledge/{id}",
	"POST /app/knowledge/{id}/delete":                       "DELETE /v1/knowledge/{id}",
	"GET /app/knowledge/{id}/documents":                     "GET /v1/knowledge/{id}, GET /v1/knowledge/{id}/documents",
	"POST /app/knowledge/{id}/files":                        "POST /v1/knowledge/{id}/documents",
	"POST /app/knowledge/{id}/addresses":                    "POST /v1/knowledge/{id}/documents",
	"POST /app/knowledge/{id}/documents/{document}/refresh": "POST /v1/knowledge/{id}/documents/{document}/refresh",
	"POST /app/knowledge/{id}/documents/{document}/delete":  "DELETE /v1/knowledge/{id}/documents/{document}",

	"GET /app/sounds":              "GET /v1/sounds, GET /v1/sounds/{id}/audio",
	"POST /app/sounds":             "POST /v1/sounds",
	"POST /app/sounds/{id}/delete": "DELETE /v1/sounds/{id}",

	"GET /app/playground":                "GET /v1/agents, GET /ws/agent, POST /webrtc/agent",
	"GET /app/playground/test-call/{id}": "GET /v1/agents/{id}, GET /ws/agent",
	"GET /app/speech":                    "GET /v1/pricing, POST /tts/synthesize, POST /stt/transcribe, POST /denoise",
	"POST /app/ticket":                   "POST /ws-ticket",

	"GET /app/me": "GET /v1/account", // a password and a theme are a person's

	"GET /app/live":                         "GET /v1/calls",
	"GET /app/live/rows":                    "GET /v1/calls",
	"GET /app/live/{id}":                    "GET /v1/calls/{id}, GET /v1/calls/{id}/events",
	"GET /app/calls":                        "GET /v1/calls",
	"GET /app/insights":                     "GET /v1/statistics, GET /v1/agents",
	"GET /app/latency":                      "GET /v1/latency, GET /v1/latency/engines, GET /v1/agents",
	"GET /app/calls/{id}":                   "GET /v1/calls/{id}, GET /v1/calls/{id}/recording, GET /v1/calls/{id}/recording/peaks, GET /v1/calls/{id}/quality",
	"GET /app/calls/{id}/meter":             "GET /v1/calls/{id}",
	"GET /app/calls/{id}/signalling":        "GET /v1/calls/{id}/sip",
	"GET /app/calls/{id}/completions":       "GET /v1/calls/{id}/completions",
	"GET /app/calls/{id}/completions/{no}":  "GET /v1/calls/{id}/completions/{no}",
	"POST /app/calls/{id}/hangup":           "POST /v1/calls/{id}/hangup",
	"GET /app/calls/{id}/recording/delete":  "GET /v1/calls/{id}",
	"POST /app/calls/{id}/recording/delete": "DELETE /v1/calls/{id}/recording",
	"POST /app/calls/{id}/keep":             "PATCH /v1/calls/{id}",
	"GET /app/calls/{id}/delete":            "GET /v1/calls/{id}",
	"POST /app/calls/{id}/delete":           "DELETE /v1/calls/{id}",

	"GET /app/dial":                  "GET /callcenter/numbers, GET /callcenter/agents",
	"POST /app/dial":                 "POST /callcenter/dial",
	"GET /app/numbers":               "GET /callcenter/numbers, GET /v1/webhooks",
	"POST /app/numbers":              "POST /callcenter/numbers",
	"GET /app/numbers/search":        "GET /callcenter/numbers/search",
	"GET /app/numbers/buy":           "GET /v1/pricing, GET /callcenter/agents",
	"POST /app/numbers/{id}/assign":  "POST /callcenter/numbers/{id}/assign",
	"GET /app/numbers/{id}/rules":    "GET /callcenter/numbers, GET /callcenter/numbers/{id}/rules, POST /callcenter/numbers/{id}/try",
	"POST /app/numbers/{id}/pace":    "POST /callcenter/numbers/{id}/assign",
	"POST /app/numbers/{id}/rules":   "PUT /callcenter/numbers/{id}/rules",
	"GET /app/numbers/{id}/release":  "GET /callcenter/numbers",
	"POST /app/numbers/{id}/release": "DELETE /callcenter/numbers/{id}",

	"GET /app/bulk":                  "GET /callcenter/bulk-dial, GET /callcenter/call-window",
	"POST /app/bulk/hours":           "PUT /callcenter/call-window, DELETE /callcenter/call-window",
	"GET /app/bulk/new":              "GET /callcenter/numbers, GET /callcenter/agents, GET /callcenter/call-window",
	"GET /app/bulk/template.csv":     "POST /callcenter/bulk-dial", // whose rows have its columns
	"POST /app/bulk/review":          "POST /callcenter/bulk-dial/check, GET /v1/agents/{id}",
	"POST /app/bulk":                 "POST /callcenter/bulk-dial, GET /v1/agents/{id}",
	"GET /app/bulk/{id}":             "GET /callcenter/bulk-dial/{id}",
	"GET /app/bulk/{id}/progress":    "GET /callcenter/bulk-dial/{id}",
	"GET /app/bulk/{id}/results.csv": "GET /callcenter/bulk-dial/{id}/results.csv",
	"POST /app/bulk/{id}/{turn}":     "POST /callcenter/bulk-dial/{id}/pause, POST /callcenter/bulk-dial/{id}/resume, POST /callcenter/bulk-dial/{id}/cancel",

	"GET /app/balance":               "GET /v1/balance, GET /v1/usage, GET /v1/topups, GET /v1/topups/{id}, GET /v1/auto-recharge, GET /v1/spending-limits",
	"POST /app/balance/topups":       "POST /v1/topups",
	"POST /app/balance/recharge":     "PUT /v1/auto-recharge",
	"POST /app/balance/limit":        "PATCH /v1/spending-limits/{id}",
	"GET /app/balance/statement":     "GET /v1/ledger, GET /v1/ledger.csv",
	"GET /app/balance/receipts/{id}": "GET /v1/calls/{id}/receipt",

	"GET /app/keys":              "GET /v1/keys, GET /v1/spending-limits",
	"POST /app/keys":             "POST /v1/keys",
	"POST /app/keys/{id}/revoke": "DELETE /v1/keys/{id}",
	"GET /app/keys/{id}/limit":   "GET /v1/keys, GET /v1/spending-limits",
	"POST /app/keys/{id}/limit":  "PATCH /v1/spending-limits/{id}",

	"GET /app/requests":      "GET /v1/requests, GET /v1/keys",
	"GET /app/requests/{id}": "GET /v1/requests/{id}",

	"GET /app/messages":               "GET /v1/messages, GET /callcenter/numbers",
	"POST /app/messages":              "POST /v1/messages",
	"GET /app/do-not-call":            "GET /v1/do-not-call, GET /v1/do-not-call/{number}, GET /v1/do-not-call.csv",
	"POST /app/do-not-call":           "POST /v1/do-not-call",
	"POST /app/do-not-call/remove":    "DELETE /v1/do-not-call/{number}",
	"GET /app/consents":               "GET /v1/consents, GET /v1/consents.csv",
	"GET /app/secrets":                "GET /v1/secrets",
	"POST /app/secrets":               "PUT /v1/secrets/{name}",
	"POST /app/secrets/{name}/delete": "DELETE /v1/secrets/{name}",

	"GET /app/trunks":                                     "GET /v1/trunks, GET /v1/trunk-presets",
	"POST /app/trunks":                                    "POST /v1/trunks",
	"GET /app/trunks/{id}":                                "GET /v1/trunks/{id}, GET /callcenter/numbers, GET /callcenter/agents",
	"POST /app/trunks/{id}":                               "PUT /v1/trunks/{id}",
	"POST /app/trunks/{id}/check":                         "POST /v1/trunks/{id}/check",
	"POST /app/trunks/{id}/extensions":                    "PUT /v1/trunks/{id}",
	"POST /app/trunks/{id}/numbers":                       "POST /v1/trunks/{id}/numbers",
	"POST /app/trunks/{id}/delete":                        "DELETE /v1/trunks/{id}",
	"GET /app/webhooks":                                   "GET /v1/webhooks",
	"POST /app/webhooks":                                  "POST /v1/webhooks",
	"GET /app/webhooks/{id}":                              "GET /v1/webhooks/{id}, GET /v1/webhooks/{id}/deliveries",
	"GET /app/webhooks/{id}/deliveries":                   "GET /v1/webhooks/{id}/deliveries",
	"POST /app/webhooks/{id}":                             "PATCH /v1/webhooks/{id}",
	"POST /app/webhooks/{id}/enable":                      "PATCH /v1/webhooks/{id}",
	"POST /app/webhooks/{id}/delete":                      "DELETE /v1/webhooks/{id}",
	"POST /app/webhooks/{id}/rotate":                      "POST /v1/webhooks/{id}/rotate",
	"POST /app/webhooks/{id}/test":                        "POST /v1/webhooks/{id}/test",
	"POST /app/webhooks/{id}/deliveries/{delivery}/retry": "POST /v1/webhooks/{id}/deliveries/{delivery}/retry",

	"GET /app/people":                          "GET /v1/members, GET /v1/invitations",
	"POST /app/people":                         "POST /v1/invitations",
	"POST /app/people/{user}/role":             "PATCH /v1/members/{user_id}",
	"POST /app/people/{user}/calls":            "PATCH /v1/members/{user_id}",
	"POST /app/people/{user}/remove":           "DELETE /v1/members/{user_id}",
	"POST /app/people/invitations/{id}/revoke": "DELETE /v1/invitations/{id}",

	"GET /app/engines":                       "GET /api/status/health, GET /api/status/models, GET /status, GET /health, GET /v1/engine-keys, GET /v1/latency/engines, GET /v1/usage/engines, GET /v1/operator/usage/engines",
	"GET /app/engines/state":                 "GET /api/status/health, GET /api/status/models, GET /status, GET /health",
	"POST /app/engines/keys":                 "PUT /v1/engine-keys/{engine}",
	"POST /app/engines/keys/{engine}/test":   "POST /v1/engine-keys/{engine}/test",
	"POST /app/engines/keys/{engine}/delete": "DELETE /v1/engine-keys/{engine}",

	"GET /app/setup":                      "GET /v1/operator/checks",
	"GET /app/nodes":                      "GET /v1/operator/nodes",
	"GET /app/setup/checks":               "GET /v1/operator/checks",
	"GET /app/operator":                   "GET /v1/operator/accounts",
	"POST /app/operator":                  "POST /v1/operator/accounts",
	"GET /app/operator/{id}":              "GET /v1/operator/accounts/{id}",
	"POST /app/operator/{id}/suspend":     "PATCH /v1/operator/accounts/{id}",
	"POST /app/operator/{id}/concurrency": "PATCH /v1/operator/accounts/{id}",
	"POST /app/operator/{id}/resolve":     "POST /v1/operator/accounts/{id}/resolve-disputes",
}

// ofBrowsers are the addresses that have no counterpart, and why.
var ofBrowsers = map[string]string{
	"GET /app/sign-in":                 "a program sends its credential with each request",
	"POST /app/sign-in":                "a program sends its credential with each request",
	"POST /app/sign-out":               "a program has no sign-in; a key ends when it is revoked",
	"POST /app/sign-out-everywhere":    "a program has no sign-in; a key ends when it is revoked",
	"POST /app/theme":                  "a theme is a browser's",
	"GET /app/welcome":                 "the first person of a server, by a link that the server prints",
	"POST /app/welcome":                "the first person of a server, by a link that the server prints",
	"GET /app/password":                "a password is a person's, for the sign-in",
	"POST /app/password":               "a password is a person's, for the sign-in",
	"POST /app/me/password":            "a password is a person's, for the sign-in",
	"GET /app/invitation":              "who was invited begins to sign in with it",
	"POST /app/invitation":             "who was invited begins to sign in with it",
	"GET /app/accounts":                "which of a person's accounts their browser looks at; a key has one",
	"POST /app/accounts/switch":        "which of a person's accounts their browser looks at; a key has one",
	"POST /app/call-views":             "a view is a filter that a person keeps for the page; a program has its own",
	"POST /app/call-views/{id}/rename": "a view is a filter that a person keeps for the page; a program has its own",
	"POST /app/call-views/{id}/delete": "a view is a filter that a person keeps for the page; a program has its own",
	"GET /app/{rest...}":               "there is nothing",
}

// operation is a method or a path of the document.
var operation = regexp.MustCompile(`(?m)^  (/\S*):$|^    (get|post|put|patch|delete):$`)

// operations are those of the published document, as "GET /v1/keys".
func operations(t *testing.T) (all []string) {
	text, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := ""
	for _, m := range operation.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "" {
			path = m[1]
			continue
		}
		all = append(all, strings.ToUpper(m[2])+" "+path)
	}
	return all
}

// TestWhateverThePagesDoTheAPIDoes: each address of the dashboard names routes that do the
// same and that there are, or a reason why it is of browsers alone.
func TestWhateverThePagesDoTheAPIDoes(t *testing.T) {
	known, seen := operations(t), map[string]bool{}
	if len(known) < 100 {
		t.Fatalf("the document has %d operations", len(known))
	}
	for _, p := range (*Dashboard)(nil).pages() {
		seen[p.Route] = true
		routes, reason := counterparts[p.Route], ofBrowsers[p.Route]
		if (routes == "") == (reason == "") {
			t.Errorf("%s: name the routes with which a program does the same, or why only a browser does it", p.Route)
		}
		for r := range strings.SplitSeq(routes, ", ") {
			if routes != "" && !slices.Contains(known, r) {
				t.Errorf("%s: there is no route %s", p.Route, r)
			}
		}
	}
	for _, table := range []map[string]string{counterparts, ofBrowsers} {
		for route := range table {
			if !seen[route] {
				t.Errorf("there is no %s", route)
			}
		}
	}
}
