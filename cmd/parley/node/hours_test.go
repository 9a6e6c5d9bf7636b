package node

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/wire"
	"parley/media"
)

// TestCallWindow: outside the account's hours, by the clocks where the callee is, nobody is called, and a batch waits, unless it has
// hours of its own; another account has its own.
func TestCallWindow(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	w.running()
	const path = "/callcenter/call-window"
	there, err := time.LoadLocation("America/New_York")
	w.ok(err)
	hours := func(from, to time.Duration) wire.CallWindow {
		now := w.node.db.Now().In(there)
		return wire.CallWindow{Start: now.Add(from).Format("15:04"), End: now.Add(to).Format("15:04"), Timezone: "destination"}
	}
	dial := func() (*wire.Placed, error) {
		return w.node.dialler.Dial(t.Context(), w.who, callcenter.Order{From: deskNumber, To: "+12025550100", Agent: w.agent})
	}
	shown := func(key string) (status int, set wire.CallWindow) {
		status = w.get(w.server.URL+path, key, nil, &set)
		return status, set
	}
	if status, _ := shown(w.key); status != 404 {
		t.Errorf("of an account without hours: %d", status)
	}
	for _, bad := range []object{{"start": "9", "end": "20:00", "timezone": "destination"}, {"start": "09:00", "end": "20:00", "timezone": "Local"}, {"start": "09:00", "end": "20:00"}} {
		if status, _, p := w.ask(w.key, "PUT", path, bad); status != 400 {
			t.Errorf("%v: %d %+v", bad, status, p)
		}
	}
	closed := hours(2*time.Hour, 3*time.Hour)
	if status, _, p := w.ask(w.key, "PUT", path, closed); status != 200 {
		t.Fatalf("%d %+v", status, p)
	}
	if status, set := shown(w.key); status != 200 || set != closed {
		t.Errorf("set is %d %+v", status, set)
	}
	if status, _ := shown(w.other); status != 404 {
		t.Errorf("another's: %d", status)
	}
	_, err = dial()
	if p := api.ProblemOf(err); !errors.Is(err, api.ErrHours) || p.Status != 409 || p.Code != "callcenter.outside_call_window" || p.Detail == "" {
		t.Errorf("outside the hours: %v, %+v", err, p)
	}
	rows := []object{{"to": "+12025550103"}}
	status, waits, p := w.create(w.wish(object{"rows": rows}))
	if status != 200 || waits.CallWindow == nil || *waits.CallWindow != closed {
		t.Fatalf("%d %+v %+v", status, p, waits)
	}
	status, own, p := w.create(w.wish(object{"rows": rows, "call_window": object{"start": "00:00", "end": "24:00", "timezone": "destination"}}))
	if status != 200 {
		t.Fatalf("%d %+v", status, p)
	}
	eventually(t, "the batch with hours of its own is dialled", func() bool {
		time.Sleep(50 * time.Millisecond) // within the rate
		if status, now, _ := w.ask(w.key, "GET", "/callcenter/bulk-dial/"+own.ID, nil); status == 200 {
			own = now
		}
		return own.Rows[0].EndedAt != nil
	})
	if _, waits, _ = w.ask(w.key, "GET", "/callcenter/bulk-dial/"+waits.ID, nil); waits.Counts.Pending != 1 {
		t.Errorf("the batch that waits is %+v", waits)
	}
	for _, open := range []func() int{
		func() int {
			status, _, _ := w.ask(w.key, "PUT", path, hours(-time.Hour, time.Hour))
			return status
		},
		func() int {
			req, err := http.NewRequestWithContext(t.Context(), "DELETE", w.server.URL+path, nil)
			w.ok(err)
			return w.answered(req, w.key, nil, nil)
		},
	} {
		if status := open(); status/100 != 2 {
			t.Fatalf("the hours are not changed: %d", status)
		}
		placed, err := dial()
		w.ok(err)
		w.ok(w.node.cluster.Hangup(t.Context(), w.who.Account, placed.CallID))
		if last := w.ended(placed.CallID, nil); last.EndReason != string(media.APIHangup) {
			t.Errorf("the call ended as %+v", last)
		}
	}
	if status, _ := shown(w.key); status != 404 {
		t.Errorf("of hours that were removed: %d", status)
	}
}
