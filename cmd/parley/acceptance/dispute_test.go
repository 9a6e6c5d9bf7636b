package acceptance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/billing"
	"parley/store/payments"
)

// TestDisputedAccount: an operator marks a disputed payment. The agent says goodbye
// on both ways in, nobody is answered, and all goes on when it is resolved.
func TestDisputedAccount(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	who, other := newCustomer(t, s, "10"), newCustomer(t, s, "10")
	phone := newPhone(t)
	onPhone := call(t, s, phone, who.number)
	onSocket, stranger := connect(t, s, who.key, who.agent), connect(t, s, other.key, other.agent)
	onSocket.awaitStatus("listening")
	stranger.awaitStatus("listening")
	onPhone.awaitVoice("the greeting", 0, time.Second)
	mark, from := onPhone.mark(), time.Now()

	var shown struct{ Disputed bool }
	if admin(t, s.dir, &shown, "account", "dispute", who.account, "--open"); !shown.Disputed {
		t.Error("the account is not disputed")
	}
	if code, why := onSocket.awaitClose(); code != websocket.ClosePolicyViolation || !strings.Contains(why, "disputed") {
		t.Errorf("closed with %d %q", code, why)
	}
	if v := voiced(heard(onSocket.since(from)), voiceRate); v < 300*time.Millisecond {
		t.Errorf("the goodbye on the socket has %s of voice", v)
	}
	select {
	case <-onPhone.over:
	case <-time.After(patience):
		t.Fatal("the telephone call does not end")
	}
	if onPhone.hears(mark) < 300*time.Millisecond {
		t.Errorf("the goodbye on the telephone has %s of voice", onPhone.hears(mark))
	}
	onSocket.hangUp()
	b := openBooks(t, s)
	for _, x := range b.closed(who.account, 2) {
		if x.Reason != "balance_exhausted" || x.Detail != "disputed" {
			t.Errorf("%s session ended with %s %s", x.Terms.Kind, x.Reason, x.Detail)
		}
		b.checkAmount(x)
	}
	refusedSocket(t, s, who.key, who.agent, "billing.account_disputed", websocket.ClosePolicyViolation)
	if got := refusalCode(t, s, phone, who.number); got != 480 {
		t.Errorf("the telephone gets %d", got)
	}
	if live := b.bills(other.account); len(live) != 1 || live[0].State != "live" {
		t.Errorf("somebody else's: %+v", live)
	}
	stranger.hangUp()

	if admin(t, s.dir, &shown, "account", "dispute", who.account, "--resolve"); shown.Disputed {
		t.Error("the account is disputed")
	}
	call(t, s, phone, who.number).hangUp()
	b.closed(who.account, 3)
	checkBooks(t, s.dir)
}

// TestRefundByCommand: a running server makes the refund that a command asks for, and
// never one of money that is not there.
func TestRefundByCommand(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	who := newCustomer(t, s, "")
	r, err := http.NewRequest(http.MethodPost, "http://"+s.addrs["http"]+"/v1/topups", strings.NewReader(`{"amount": 20}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+who.key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var top struct{ ID, URL string }
	err = json.NewDecoder(resp.Body).Decode(&top)
	resp.Body.Close()
	if err != nil || top.URL == "" {
		t.Fatalf("%s: %+v, %v", resp.Status, top, err)
	}
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if resp, err = stay.PostForm(top.URL, url.Values{"action": {"pay"}}); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	var shown account
	eventually(t, "the payment is credited", func() bool {
		shown = account{}
		admin(t, s.dir, &shown, "account", "show", who.account)
		return shown.Pots.Paid == "20"
	})
	wantTopups(t, s.dir, who.account, top.ID, "0")
	var refund struct{ State, Code string }
	admin(t, s.dir, &refund, "account", "refund", who.account, top.ID, "12.50")
	wantTopups(t, s.dir, who.account, top.ID, "12.5")
	eventually(t, "the refund is made", func() bool { // usually before the command ends
		b := openBooks(t, s)
		defer b.close()
		got, err := payments.New(b.db).TopUp(b.ctx, who.account, top.ID)
		asked, err2 := payments.New(b.db).AskedRefunds(b.ctx, "sim")
		return err == nil && err2 == nil && got.Refunded == 12*billing.USD+50*billing.Cent && len(asked) == 0
	})
	for amount, status := range map[string]int{"7.51": 2, "7.505": 2, "-1": 2} {
		if o := do(t, command(s.dir, nil, "admin", "account", "refund", who.account, top.ID, "--", amount)); o.status != status {
			t.Errorf("%s: exit status %d: %s", amount, o.status, o.errOut)
		}
	}
	admin(t, s.dir, &struct{}{}, "account", "credit", who.account, "--kind", "adjustment", "--", "-6")
	if o := do(t, command(s.dir, nil, "admin", "account", "refund", who.account, top.ID, "5")); o.status == 0 || o.status == 2 || !strings.Contains(o.errOut, "balance") {
		t.Errorf("of what is spent: exit status %d: %s", o.status, o.errOut)
	}
	checkBooks(t, s.dir)
}

// wantTopups wants the account to have one top-up, of 20 USD, that was paid, and so much
// of it given back.
func wantTopups(t *testing.T, dir, account, id string, refunded json.Number) {
	t.Helper()
	var list struct {
		Topups []struct {
			ID                     string `json:"topup_id"`
			State, Payment         string
			Amount, Paid, Refunded json.Number
			SettledAt              *time.Time `json:"settled_at"`
		}
	}
	admin(t, dir, &list, "account", "topups", account)
	if len(list.Topups) != 1 {
		t.Fatalf("%+v", list)
	}
	if x := list.Topups[0]; x.ID != id || x.State != "succeeded" || x.Payment == "" || x.Amount != "20" || x.Paid != "20" || x.Refunded != refunded || x.SettledAt == nil {
		t.Errorf("%+v, want %s refunded", x, refunded)
	}
}
