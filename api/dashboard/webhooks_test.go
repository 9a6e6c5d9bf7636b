package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/page"
	"parley/store/storetest"
	"parley/store/webhook"
)

// TestWebhookOnADevelopersMachine: a webhook that parley listen has made is marked as such, with the time at which it goes and when its
// events were asked for last; others are not.
func TestWebhookOnADevelopersMachine(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	now := time.Now().UTC().Truncate(time.Minute)
	ctx := storetest.At(t.Context(), now)
	there, _, err := s.Hooks.Create(ctx, s.Account, webhook.Webhook{URL: "http://localhost:3000/parley", Description: "parley listen", ListensUntil: new(time.Time)})
	s.OK(err)
	here, _, err := s.Hooks.Create(ctx, s.Account, webhook.Webhook{URL: "https://example.com/parley"})
	s.OK(err)
	const mark = "On a developer’s machine until"
	until := now.Add(webhook.ListenFor).Format(time.RFC3339)
	if list := s.Get("/app/webhooks").Body; strings.Count(list, mark) != 1 || !strings.Contains(list, mark+` <time datetime="`+until) {
		t.Errorf("the list has no mark until %s: %s", until, list)
	}
	shown := s.Get("/app/webhooks/" + there.ID).Body
	for _, want := range []string{mark, "<code>parley listen</code>", `asked last <time datetime="` + now.Format(time.RFC3339), `is deleted <time datetime="` + until} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %s", want, shown)
		}
	}
	if shown := s.Get("/app/webhooks/" + here.ID).Body; strings.Contains(shown, mark) || strings.Contains(shown, "parley listen") {
		t.Errorf("a webhook with a server: %s", shown)
	}
}

// TestDeliveriesOfADeletedWebhook: a page that asks for them once more is told to stop, for its next page is under way.
func TestDeliveriesOfADeletedWebhook(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	hook, _, err := s.Hooks.Create(t.Context(), s.Account, webhook.Webhook{URL: "https://example.com/parley"})
	s.OK(err)
	at := "/app/webhooks/" + hook.ID + "/deliveries?cursor="
	if res := s.Get(at, "HX-Request", "true"); res.Status != 200 {
		t.Errorf("before: %d", res.Status)
	}
	s.OK(s.Hooks.Delete(t.Context(), s.Account, hook.ID))
	if res := s.Get(at, "HX-Request", "true"); res.Status != page.StopAsking || res.Body != "" {
		t.Errorf("after: %d %s", res.Status, res.Body)
	}
}
