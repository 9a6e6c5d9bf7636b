package dashboard_test

import (
	"strings"
	"testing"

	"parley/api/dashboard/dashboardtest"
)

// TestOverview: it shows the last 30 days as Insights does, what goes on, and one thing to do first.
func TestOverview(t *testing.T) {
	x := newExchange(t)
	page := x.Get("/app/").Body
	for _, want := range []string{"Last 30 days", `<p class="value">100.0 %</p>`, `Response latency (p50) <span class="soft">by day</span>`, `Answer rate <span class="soft">by day</span>`,
		`Cost <span class="soft">by day</span>`, `data-label="Response latency (p50)">`, `<a class="button primary" href="/app/playground">Talk to an agent</a>`,
		`id="in-progress">1<`, x.lasts, `hx-get="/app/overview/live"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if n := strings.Count(page, "button primary"); n != 1 {
		t.Errorf("%d buttons say that they come first", n)
	}
	bare := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn().Get("/app/").Body
	if strings.Contains(bare, "Last 30 days") || !strings.Contains(bare, `<a class="button primary" href="/app/agents/new">New agent</a>`) || !strings.Contains(bare, "No live calls.") {
		t.Errorf("an account without calls: %s", bare)
	}
}
