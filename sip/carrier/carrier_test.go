package carrier_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/sip/carrier"
)

// orders is a Carrier of which only Lookup is asked.
type orders struct {
	carrier.Carrier
	looks []func() (carrier.Ordered, error)
}

func (o *orders) Lookup(_ context.Context, reference string) (carrier.Ordered, error) {
	if reference != "order" || len(o.looks) == 0 {
		return carrier.Ordered{}, errors.New("one look too many")
	}
	look := o.looks[0]
	o.looks = o.looks[1:]
	return look()
}

func TestAwait(t *testing.T) {
	pending := carrier.Ordered{State: carrier.Pending, Reason: "documents"}
	active := carrier.Ordered{State: carrier.Active, NumberID: "1"}
	see := func(o carrier.Ordered) func() (carrier.Ordered, error) {
		return func() (carrier.Ordered, error) { return o, nil }
	}
	away := func() (carrier.Ordered, error) { return carrier.Ordered{}, carrier.ErrUnavailable }
	for _, c := range []struct {
		name  string
		start carrier.Ordered
		looks []func() (carrier.Ordered, error)
		want  carrier.Ordered
		after time.Duration
	}{
		{"settled already", active, nil, active, 0},
		{"settles", carrier.Ordered{State: carrier.Pending}, []func() (carrier.Ordered, error){see(pending), away, see(active)}, active, 3 * time.Second},
		{"takes too long", carrier.Ordered{State: carrier.Pending},
			[]func() (carrier.Ordered, error){see(pending), away, away, see(pending)}, pending, 4500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
			defer cancel()
			begin := time.Now()
			got := carrier.Await(ctx, &orders{looks: c.looks}, "order", c.start, time.Second)
			if got != c.want || time.Since(begin) != c.after {
				t.Errorf("%s: %+v after %s, want %+v after %s", c.name, got, time.Since(begin), c.want, c.after)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	for s, want := range map[string]bool{
		"num_01HZX-9": true, "0192f7a0-7b1c-7def-8aaa-000000000001": true, "": false, "a b": false, "a/b": false, "\u00e4": false,
	} {
		if carrier.ValidReference(s) != want {
			t.Errorf("%q is a reference: %v", s, !want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for s, want := range map[string]bool{
		"+34911234567": true, "+123456": false, "+1234567": true, "+123456789012345": true, "+1234567890123456": false,
		"34911234567": false, "+0911234567": false, "+34 911234567": false, "": false,
	} {
		if carrier.ValidNumber(s) != want {
			t.Errorf("%q is a number: %v", s, !want)
		}
	}
}
