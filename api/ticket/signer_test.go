package ticket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/billing"
	"parley/store"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func signer(t testing.TB, secret string) *Signer {
	t.Helper()
	s, err := NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const secret = "a master secret of a test, long enough"

// body is what a ticket locks away.
func (s *Signer) body(t testing.TB, ticket string) []byte {
	t.Helper()
	b, err := text.DecodeString(strings.TrimPrefix(ticket, prefix))
	if err != nil {
		t.Fatal(err)
	}
	head, nonce := b[:1+secretSize], b[1+secretSize:1+secretSize+s.lock.NonceSize()]
	body, err := s.lock.Open(nil, nonce, b[len(head)+len(nonce):], head)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// clear is a ticket as the version before made them, around any texts and numbers.
func (s *Signer) clear(form byte, expires time.Time, rest string) string {
	b := binary.BigEndian.AppendUint64(append([]byte{form}, s.secret...), uint64(expires.UnixMilli()))
	b = append(append(b, "twelve bytes"...), rest...)
	return prefix + text.EncodeToString(append(b, s.seal(b)...))
}

func TestTicketsSayWhatTheySaid(t *testing.T) {
	s := signer(t, secret)
	seen := map[string]bool{}
	for _, want := range []api.Ticket{
		{Expires: t0.Add(10 * time.Minute)},
		{Expires: t0.Add(time.Minute), Scope: api.Synthesis | api.Numbers},
		{Expires: t0.Add(time.Millisecond), Agent: "ag_06er5bt0v9k1o7m2q3s4t5u6v0", MaxSessions: 10, MaxDuration: 2 * time.Hour},
		{Expires: t0.Add(time.Minute), Agent: "ag_1", MaxSessions: 1, MaxCost: 1000 * billing.USD},
		{Expires: t0.Add(time.Minute), Agent: "ag_1", MaxSessions: 1, Variables: map[string]string{"name": "Ana ñ"}},
		{Expires: t0.Add(time.Minute), Agent: "ag_1", MaxSessions: 1, MaxCost: billing.USD, Metadata: map[string]string{"order": "42"}},
	} {
		p := api.Principal{Account: "acc_06er5bt0v9k1o7m2q3s4t5u6v0", Key: "key_06er5bt0v9k1o7m2q3s4t5u6v0", Ticket: &want}
		for range 100 {
			ticket := s.Sign(p)
			if !regexp.MustCompile(`^wst_[A-Za-z0-9_-]{100,250}$`).MatchString(ticket) {
				t.Fatalf("a ticket of %d characters needs escaping in a URL", len(ticket))
			}
			got, err := signer(t, secret).Verify(ticket, t0) // as another node does
			if err != nil {
				t.Fatal(err)
			}
			if got.Account != p.Account || got.Key != p.Key || got.Ticket.Agent != want.Agent || got.Ticket.Scope != want.Scope || !got.Ticket.Expires.Equal(want.Expires) ||
				got.Ticket.MaxSessions != want.MaxSessions || got.Ticket.MaxDuration != want.MaxDuration || got.Ticket.MaxCost != want.MaxCost ||
				!maps.Equal(got.Ticket.Variables, want.Variables) || !maps.Equal(got.Ticket.Metadata, want.Metadata) {
				t.Fatalf("%+v, %+v; want %+v", got, got.Ticket, want)
			}
			if inside, _ := text.DecodeString(ticket[len(prefix):]); bytes.Contains(inside, []byte("06er5bt0")) {
				t.Fatal("whoever holds the ticket reads what the account's things are called")
			}
			if id := got.Credential(); seen[id] || id == "" || strings.Contains(ticket, id) {
				t.Fatalf("identifier %q", id)
			}
			seen[got.Credential()] = true
		}
	}
}

func TestRefused(t *testing.T) {
	s := signer(t, secret)
	p := api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{Expires: t0.Add(time.Minute), Agent: "ag_1"}}
	good := s.Sign(p)
	noKey := *p.Ticket
	for _, tt := range []struct {
		name, ticket string
		now          time.Time
	}{
		{"expired to the millisecond", good, t0.Add(time.Minute)},
		{"expired long ago", good, t0.Add(time.Hour)},
		{"of another secret", signer(t, secret+"!").Sign(p), t0},
		{"of an unknown form", s.clear(lockedForm+1, t0.Add(time.Minute), "\x05key_1\x05acc_1\x00\x00\x00"), t0},
		{"longer inside than it says", s.locked(append(s.body(t, good), 0)), t0},
		{"with more than it says of conversations", s.locked(append(s.body(t, s.Sign(api.Principal{Account: "acc_1", Key: "key_1",
			Ticket: &api.Ticket{Expires: t0.Add(time.Minute), Agent: "ag_1", Metadata: map[string]string{"a": "b"}}})), 0)), t0},
		{"with what is no JSON", s.locked(append(s.body(t, good), 0, 1, '{')), t0},
		{"in the clear, with more", s.clear(form, t0.Add(time.Minute), "\x05key_1\x05acc_1\x00\x00\x00\x02{}"), t0},
		{"shorter inside", s.locked(s.body(t, good)[:20]), t0},
		{"in the clear, expired", s.clear(form, t0, "\x05key_1\x05acc_1\x00\x00\x00"), t0},
		{"in the clear, without its scope", s.clear(scopedForm, t0.Add(time.Minute), "\x05key_1\x05acc_1\x00\x00\x00\x00"), t0},
		{"without a key", s.Sign(api.Principal{Account: "acc_1", Ticket: &noKey}), t0},
		{"of no body", s.locked(nil), t0},
		{"empty", "", t0},
		{"the prefix", prefix, t0},
		{"an API key", "sk_" + good[4:], t0},
		{"without its prefix", good[4:], t0},
		{"in capitals", strings.ToUpper(good), t0},
		{"with padding", good + "=", t0},
		{"with a line break", good + "\n", t0},
		{"with a line break inside", good[:20] + "\r\n" + good[20:], t0},
		{"very long", prefix + strings.Repeat("A", maxSize), t0},
	} {
		if p, err := s.Verify(tt.ticket, tt.now); !errors.Is(err, store.ErrUnauthorized) || p != (api.Principal{}) {
			t.Errorf("%s: %+v, %v", tt.name, p, err)
		} else if len(tt.ticket) > 40 && strings.Contains(err.Error(), tt.ticket[10:30]) {
			t.Errorf("%s: the error tells the ticket", tt.name)
		}
	}
	if _, err := s.Verify(good, t0.Add(time.Minute-time.Millisecond)); err != nil {
		t.Errorf("just before it expires: %v", err)
	}
}

// Each character counts, and so does each one that is missing.
func TestTampered(t *testing.T) {
	s := signer(t, secret)
	good := s.Sign(api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{Expires: t0.Add(time.Minute)}})
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range good {
		if _, err := s.Verify(good[:i], t0); !errors.Is(err, store.ErrUnauthorized) {
			t.Errorf("cut at %d: %v", i, err)
		}
		for _, c := range alphabet {
			if bad := good[:i] + string(c) + good[i+1:]; bad != good {
				if _, err := s.Verify(bad, t0); !errors.Is(err, store.ErrUnauthorized) {
					t.Fatalf("%c at %d: %v", c, i, err)
				}
			}
		}
	}
}

// TestTicketsInTheClear: those that a version before made are good until they expire.
func TestTicketsInTheClear(t *testing.T) {
	s := signer(t, secret)
	for ticket, scope := range map[string]api.Scope{
		s.clear(form, t0.Add(time.Minute), "\x05key_1\x05acc_1\x04ag_1\x03\x05"):           0,
		s.clear(scopedForm, t0.Add(time.Minute), "\x05key_1\x05acc_1\x04ag_1\x03\x05\x01"): 1,
	} {
		p, err := s.Verify(ticket, t0)
		if err != nil || p.Key != "key_1" || p.Account != "acc_1" || p.Ticket.Agent != "ag_1" || p.Ticket.MaxSessions != 3 ||
			p.Ticket.MaxDuration != 5*time.Second || p.Ticket.Scope != scope || !p.Ticket.Expires.Equal(t0.Add(time.Minute)) || len(p.Ticket.ID) < 20 {
			t.Errorf("%+v %+v, %v", p, p.Ticket, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	s := signer(f, secret)
	good := s.Sign(api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{Expires: t0.Add(time.Minute), Agent: "ag_1", MaxSessions: 3}})
	f.Add(good, s.body(f, good))
	f.Add(prefix, []byte{lockedForm})
	f.Add("sk_", []byte(nil))
	f.Fuzz(func(t *testing.T, ticket string, b []byte) {
		if _, err := s.Verify(ticket, t0); err == nil && ticket != good {
			t.Errorf("%q was not signed", ticket)
		}
		// Whatever is behind a good seal is read without harm, and means what it says.
		p, err := s.Verify(s.locked(b), t0)
		switch {
		case err == nil:
			again, err := s.Verify(s.Sign(p), t0)
			if again.Ticket != nil {
				again.Ticket.ID = p.Ticket.ID
			}
			if err != nil || again.Account != p.Account || again.Key != p.Key || !reflect.DeepEqual(again.Ticket, p.Ticket) {
				t.Errorf("%+v became %+v, %v", p, again, err)
			}
		case !errors.Is(err, store.ErrUnauthorized):
			t.Error(err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	s := signer(b, secret)
	ticket := s.Sign(api.Principal{Account: "acc_06er5bt0v9k1o7m2q3s4t5u6v0", Key: "key_06er5bt0v9k1o7m2q3s4t5u6v0", Ticket: &api.Ticket{Expires: t0}})
	b.ReportMetric(float64(len(ticket)), "characters")
	for b.Loop() {
		if _, err := s.Verify(ticket, t0.Add(-time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
}
