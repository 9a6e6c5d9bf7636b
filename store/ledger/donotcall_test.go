package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// calls starts an outbound call from the account.
func (f *fixture) calls(account, to string) error {
	f.T.Helper()
	r := f.Request(account, outboundES)
	r.To = to
	s, err := f.StartSession(f.Context(), r)
	if err == nil {
		_, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "busy"})
	}
	return err
}

func (f *fixture) numbers(account string) (list []string) {
	f.T.Helper()
	found, err := f.DoNotCalls(f.Context(), account, store.Page{})
	f.OK(err)
	for _, e := range found {
		list = append(list, e.Number)
	}
	return list
}

// TestDoNotCall: a listed number is not called by its account, whatever else would
// refuse the call, and is by others.
func TestDoNotCall(t *testing.T) {
	const number, other = "+34612345678", "+34612345679"
	f := setup(t)
	mine, theirs, fresh := f.NewAccount(10*usd), f.NewAccount(10*usd), f.NewAccount(0)
	for _, account := range []string{mine, fresh} {
		e, added, err := f.AddDoNotCall(f.Context(), account, store.DoNotCall{Number: "+34 612-345-678", Reason: " wrote to us ", Source: store.ListedByAPI})
		if err != nil || !added || e.Number != number || e.Reason != "wrote to us" || !e.Since.Equal(t0) || e.Call != nil {
			t.Fatalf("%+v, %v, %v", e, added, err)
		}
	}
	e, added, err := f.AddDoNotCall(f.At(t0.Add(time.Hour)), mine, store.DoNotCall{Number: number, Reason: "again", Source: store.ListedByOperator})
	if err != nil || added || e.Reason != "wrote to us" || e.Source != store.ListedByAPI || !e.Since.Equal(t0) {
		t.Errorf("again: %+v, %v, %v", e, added, err)
	}
	before := f.Show(mine).Pots
	if err := f.calls(mine, number); !errors.Is(err, store.ErrDoNotCall) {
		t.Errorf("called: %v", err)
	}
	f.Want(mine, before)
	if err := f.calls(fresh, number); !errors.Is(err, store.ErrDoNotCall) {
		t.Errorf("without a top-up: %v", err)
	}
	f.OK(f.calls(mine, other))
	f.OK(f.calls(theirs, number))
	r := f.Request(mine, inboundES)
	r.From, r.To = number, "+34911234567"
	if _, err := f.StartSession(f.Context(), r); err != nil {
		t.Errorf("it does not get through to us: %v", err)
	}

	for name, err := range map[string]error{
		"foreign":  f.RemoveDoNotCall(f.Context(), theirs, number),
		"unknown":  f.RemoveDoNotCall(f.Context(), mine, other),
		"nonsense": f.RemoveDoNotCall(f.Context(), mine, "x\x00"),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.OK(f.RemoveDoNotCall(f.Context(), mine, number))
	f.OK(f.calls(mine, number))
	if _, err := f.DoNotCall(f.Context(), mine, number); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
	f.Verified()
}

// TestOptOut: what is asked for in a call is entered with the call, once, and only in
// a call of the account.
func TestOptOut(t *testing.T) {
	const caller, callee = "+34612345678", "+34612345679"
	f := setup(t)
	mine, theirs := f.NewAccount(10*usd), f.NewAccount(10*usd)
	begin := func(terms billing.Terms, from, to string) string {
		t.Helper()
		r := f.Request(mine, terms)
		r.From, r.To = from, to
		s, err := f.StartSession(f.Context(), r)
		f.OK(err)
		return s.ID
	}
	in, out := begin(inboundES, caller, "+34911234567"), begin(outboundES, "+34911234567", callee)
	withheld, national := begin(inboundES, "", "+34911234567"), begin(inboundES, "612345678", "+34911234567")
	bare, zeros := begin(inboundES, "34612345677", "+34911234567"), begin(inboundES, "0034612345676", "+34911234567")
	for range 2 {
		f.OK(f.OptOut(f.Context(), mine, "", in))
	}
	f.OK(f.OptOut(f.At(t0.Add(time.Second)), mine, "", out))
	f.OK(f.OptOut(f.At(t0.Add(2*time.Second)), mine, "+34 91 765 43 21", in))
	if got, want := fmt.Sprint(f.numbers(mine)), fmt.Sprint([]string{"+34917654321", callee, caller}); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	e, err := f.DoNotCall(f.Context(), mine, caller)
	if err != nil || e.Source != store.ListedByAgent || e.Call == nil || *e.Call != in || e.Reason == "" {
		t.Errorf("%+v, %v", e, err)
	}
	for _, call := range []string{withheld, national} {
		if err := f.OptOut(f.Context(), mine, "", call); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a withheld number, or one without its country: %v", err)
		}
	}
	f.OK(f.OptOut(f.Context(), mine, "", bare))
	f.OK(f.OptOut(f.Context(), mine, "", zeros))
	for _, number := range []string{"+34612345677", "+34612345676"} {
		if _, err := f.DoNotCall(f.Context(), mine, number); err != nil {
			t.Errorf("%s: %v", number, err)
		}
	}
	if err := f.OptOut(f.Context(), theirs, caller, in); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody else's call: %v", err)
	}
	if got := f.numbers(theirs); len(got) != 0 {
		t.Errorf("they have %v", got)
	}
	if err := f.calls(mine, callee); !errors.Is(err, store.ErrDoNotCall) {
		t.Errorf("called again: %v", err)
	}
}

// TestListDoNotCall: all or none, and what is there stays.
func TestListDoNotCall(t *testing.T) {
	f := setup(t)
	mine := f.NewAccount(0)
	entry := func(number, reason string) store.DoNotCall {
		return store.DoNotCall{Number: number, Reason: reason, Source: store.ListedByAPI}
	}
	for name, wrong := range map[string]store.DoNotCall{
		"no number":     entry("", ""),
		"a national":    entry("612345678", ""),
		"a word":        entry("+34six", ""),
		"two lines":     entry("+34612345670", "a\nb"),
		"no UTF-8":      entry("+34612345670", "\xff"),
		"a long reason": entry("+34612345670", strings.Repeat("ñ", store.MaxReason+1)),
	} {
		n, err := f.ListDoNotCall(f.Context(), mine, []store.DoNotCall{entry("+34612345671", ""), wrong})
		var at *store.ListingError
		if n != 0 || !errors.Is(err, store.ErrInvalid) || !errors.As(err, &at) || at.At != 1 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if got := f.numbers(mine); len(got) != 0 {
		t.Fatalf("entered: %v", got)
	}
	many := make([]store.DoNotCall, 0, 1500)
	for i := range cap(many) {
		many = append(many, entry(fmt.Sprintf("+3461%07d", i), strings.Repeat("ñ", i%store.MaxReason)))
	}
	many = append(many, many[0])
	for i, want := range []int{1500, 0} {
		if n, err := f.ListDoNotCall(f.At(t0.Add(time.Duration(i)*time.Hour)), mine, many); n != want || err != nil {
			t.Errorf("%d were added, %v; want %d", n, err, want)
		}
	}
	if n, err := f.ListDoNotCall(f.Context(), "acc_nobody", many[:1]); n != 0 || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of nobody: %d, %v", n, err)
	}
	if n, err := f.ListDoNotCall(f.Context(), mine, nil); n != 0 || err != nil {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	seen := map[string]bool{}
	for p := (store.Page{Limit: 400}); ; {
		part, err := f.DoNotCalls(f.Context(), mine, p)
		f.OK(err)
		for _, e := range part {
			seen[e.Number] = true
		}
		if len(part) < p.Limit {
			break
		}
		p.After = part[len(part)-1].ID
	}
	if len(seen) != 1500 {
		t.Errorf("pages show %d", len(seen))
	}
}
