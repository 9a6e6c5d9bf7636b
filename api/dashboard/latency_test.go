package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// TestLatency: how long the turns of the account took, by day, stage, engine and agent, of what is asked for.
func TestLatency(t *testing.T) {
	x := newExchange(t)
	day := time.Now().UTC().Add(-time.Hour)
	node, _, err := ledger.New(x.DB).RegisterNode(t.Context(), "node2", "127.0.0.1:1")
	x.OK(err)
	slow := func(account string, ms string) {
		t.Helper()
		s, err := ledger.New(x.DB).StartSession(storetest.At(t.Context(), day), ledger.Start{Node: node, Account: account, Terms: billing.Terms{Kind: billing.Web}, Card: billing.DefaultRateCard()})
		x.OK(err)
		x.OK(history.New(x.DB).SaveConversation(t.Context(), account, s.ID, history.Conversation{Turns: json.RawMessage(`[{"turn":1,"generation":1,"at_ms":1,"endpoint_ms":` + ms + `,"model_ms":0,"voice_ms":0,"total_ms":` + ms + `}]`)}))
		_, err = ledger.New(x.DB).CloseSession(storetest.At(t.Context(), day.Add(time.Minute)), s, ledger.Closing{Reason: "user_hangup"})
		x.OK(err)
	}
	slow(x.Account, "5000")
	other, err := ledger.New(x.DB).CreateAccount(t.Context(), "Other", billing.DefaultRateCard())
	x.OK(err)
	slow(other.ID, "77777")

	date := day.Format("2 Jan 2006")
	row := `<th scope="row">` + day.Format(time.DateOnly) + "</th>"
	for path, want := range map[string][]string{
		"/app/latency": {`<p class="value">800 ms</p><p class="note">half of the turns`, `<p class="value">5000 ms</p><p class="note">99 of 100`, `<p class="value">3</p><p class="note">in 2 calls`,
			"<title>" + date + ", p99: 5000 ms</title>", "<title>" + date + ", p50: 800 ms</title>", row + `<td class="number">800</td><td class="number">5000</td>`,
			`haiku <span class="soft">Language model</span>`, "No agent", "Ana &lt;script&gt;", "By stage", `aria-current="page">30 days`},
		"/app/latency?direction=inbound":                       {`<p class="value">210 ms</p>`, row + `<td class="number">210</td><td class="number">800</td>`, "haiku"},
		"/app/latency?direction=inbound&stage=endpoint":        {`End of turn <span class="soft">by day</span>`, row + `<td class="number">200</td><td class="number">400</td>`, "direction=inbound&amp;from=", "&amp;stage=endpoint"},
		"/app/latency?direction=web":                           {`<p class="value">5000 ms</p>`, "No call of this period was served by one engine alone."},
		"/app/latency?direction=outbound":                      {"No turns"},
		"/app/latency?agent_id=ag_nobody":                      {"No turns"},
		"/app/latency?stage=nonsense":                          {`Response latency <span class="soft">by day</span>`},
		"/app/latency?from=2001-01-01&to=2001-02-01":           {"No turns", `value="2001-01-01"`},
		"/app/latency?from=2001-01-01":                         {"92 days at most", `value="2001-01-01"`},
		"/app/latency?from=nonsense":                           {"Enter a date such as 2026-03-01.", `value="nonsense"`},
		"/app/latency?from=2026-03-01T10:00:00Z":               {"Enter a date such as 2026-03-01."},
		"/app/latency?direction=inbound&agent_id=" + x.speaker: {`<p class="value">210 ms</p>`},
		"/app/insights":                                        {`Response latency (p50) <span class="soft">by day</span>`, `data-label="Response latency (p50)">`},
	} {
		page := x.Get(path)
		for _, w := range want {
			if !strings.Contains(page.Body, w) {
				t.Errorf("%s: no %q in\n%s", path, w, page.Body)
			}
		}
		if strings.Contains(page.Body, "77777") || strings.Contains(page.Body, "<script>alert") {
			t.Errorf("%s holds what is another account's, or what somebody said as it was said", path)
		}
	}
	all := x.Get("/app/latency").Body
	if by := all[strings.Index(all, `id="by-agent"`):]; strings.Index(by, "No agent") > strings.Index(by, "Ana &lt;") {
		t.Error("the slowest agent is not the first")
	}
	if one := x.Get("/app/latency?agent_id=" + x.speaker).Body; strings.Contains(one, `id="by-agent"`) {
		t.Error("one agent is compared with itself")
	}
	for path, status := range map[string]int{"/app/latency?from=nonsense": http.StatusUnprocessableEntity, "/app/latency?from=2001-01-01": http.StatusUnprocessableEntity, "/app/latency?from=2026-01-01&to=2026-01-02": http.StatusOK} {
		if page := x.Get(path); page.Status != status {
			t.Errorf("%s: %d", path, page.Status)
		}
	}
}
