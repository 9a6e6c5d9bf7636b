package operator_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// TestNodes: an operator sees the nodes that live and those that are silent, with what each has said of itself; not those that
// ended in good order, or long ago, and not what an earlier life has said.
func TestNodes(t *testing.T) {
	t.Parallel()
	d := open(t)
	lives := map[string]store.Node{}
	for _, name := range []string{"again", "drains", "fine", "gone", "left", "lost"} {
		n, err := d.db.BeginEpoch(t.Context(), name, ":8080")
		d.ok(err)
		d.ok(d.db.IntroduceNode(t.Context(), n, "10.0.0.7:8080", "1.4.0"))
		lives[name] = n
	}
	_, _, err := ledger.New(d.db).Credit(t.Context(), ledger.Credit{Account: d.account, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi", Source: "sim"})
	d.ok(err)
	for _, kind := range []billing.Kind{billing.Web, billing.Web, billing.TTS} {
		_, err := ledger.New(d.db).StartSession(t.Context(), ledger.Start{Node: lives["fine"], Account: d.account, Terms: billing.Terms{Kind: kind}, Card: billing.DefaultRateCard()})
		d.ok(err)
	}
	for _, name := range []string{"again", "drains"} {
		_, err := d.db.DrainNode(t.Context(), lives[name])
		d.ok(err)
	}
	d.ok(d.db.LeaveNode(t.Context(), lives["left"]))
	_, err = d.db.BeginEpoch(t.Context(), "again", ":8080")
	d.ok(err)
	d.ok(d.db.IntroduceNode(t.Context(), lives["again"], "10.0.0.9:8080", "0.9.0")) // its earlier life
	for name, silent := range map[string]string{"lost": "16 seconds", "gone": "8 days"} {
		_, err := d.db.Pool().Exec(t.Context(), "update nodes set heartbeat_at = now() - $2::interval where node_id = $1", name, silent)
		d.ok(err)
	}

	status, body := d.ask(d.key, "GET", "/v1/operator/nodes", "")
	var found struct {
		Data []struct {
			Name, Address, Version, State string
			Calls                         int
			HeartbeatAt                   time.Time  `json:"heartbeat_at"`
			SilentSince                   *time.Time `json:"silent_since"`
		}
	}
	d.ok(json.Unmarshal([]byte(body), &found))
	var list []string
	for _, n := range found.Data {
		list = append(list, strings.Join(strings.Fields(fmt.Sprint(n.Name, " ", n.State, " ", n.Calls, " ", n.Address, " ", n.Version)), " "))
		if (n.State == "silent") != (n.SilentSince != nil) || n.SilentSince != nil && !n.SilentSince.Equal(n.HeartbeatAt) {
			t.Errorf("%s is %s since %v", n.Name, n.State, n.SilentSince)
		}
	}
	want := "again serving 0, drains draining 0 10.0.0.7:8080 1.4.0, fine serving 2 10.0.0.7:8080 1.4.0, lost silent 0 10.0.0.7:8080 1.4.0"
	if got := strings.Join(list, ", "); status != 200 || got != want {
		t.Errorf("%d %s; want %s", status, got, want)
	}
	if status, _ := d.ask(d.owner, "GET", "/v1/operator/nodes", ""); status != 404 {
		t.Errorf("an account's owner gets %d", status)
	}
}
