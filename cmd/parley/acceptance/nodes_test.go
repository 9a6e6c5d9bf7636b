package acceptance

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"parley/store/private"

	"parley/store/ledger"
)

// serveBeside starts another node on the database of a server.
func serveBeside(t *testing.T, s *server, name string, env ...string) *server {
	t.Helper()
	url, err := private.Locate(filepath.Join(s.dir, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	return serveLean(t, noDataDir(t), append([]string{"PARLEY_DATABASE_URL=" + url, "PARLEY_NODE=" + name}, env...))
}

// hangUpAt asks a node to hang a call up and returns the status of its answer.
func hangUpAt(t *testing.T, s *server, key, call string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.addrs["http"]+"/callcenter/hangup/"+call, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", key)
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestALiveNodeClosesWhatADeadOneLeft, whatever their names: the places are free again,
// nothing is held, the calls have ended for everybody who asks, and the books are in order.
func TestALiveNodeClosesWhatADeadOneLeft(t *testing.T) {
	t.Parallel()
	m := newModel()
	t.Cleanup(m.Close)
	env := append(m.env(), "PARLEY_ASR=openai", "PARLEY_ASR_URL="+m.URL+"/v1") // nobody says a word here
	one := serveLean(t, newDataDir(t), env)
	who := newCustomer(t, one, "") // who may have three conversations at once
	two := serveBeside(t, one, "another-name", env...)
	for range 3 {
		x := attach(t, two, &net.Dialer{}, who.key, who.agent)
		if _, err := x.seek(func(f frame) bool { return f.status("prompt_set") }); err != nil {
			t.Fatal(err)
		}
	}
	b := openBooks(t, one)
	live := b.live()
	if len(live) != 3 {
		t.Fatalf("%d sessions are live, want 3", len(live))
	}
	two.kill()
	if status := hangUpAt(t, one, who.key, live[0].ID); status != http.StatusServiceUnavailable {
		t.Errorf("a hang-up that nobody hears is answered with %d, want 503", status)
	}
	for _, x := range b.closed(who.account, 3) {
		if end := fmt.Sprint(x.Reason, " ", x.Detail); end != "failed node_lost" {
			t.Errorf("session %s ended as %q", x.ID, end)
		}
	}
	if status := hangUpAt(t, one, who.key, live[0].ID); status != http.StatusOK {
		t.Errorf("a hang-up of a call that has ended is answered with %d, want 200", status)
	}
	a, err := ledger.New(b.db).Account(b.ctx, who.account)
	if err != nil {
		t.Fatal(err)
	}
	if a.Live != 0 || a.Pots.Held != 0 || a.Pots.AccruedAny != 0 {
		t.Errorf("%d places are taken, %+v", a.Live, a.Pots)
	}
	again := attach(t, one, &net.Dialer{}, who.key, who.agent)
	if _, err := again.seek(func(f frame) bool { return f.status("prompt_set") }); err != nil {
		t.Errorf("another conversation: %v", err)
	}
	again.hangUp()
	b.closed(who.account, 4)
	checkBooks(t, one.dir)
	one.stop(t)
}
