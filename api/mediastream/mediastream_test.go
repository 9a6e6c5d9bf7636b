package mediastream_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/mediastream"
	"parley/api/mediastream/mediastreamtest"
	"parley/media"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
	"parley/media/mediatest"
	"parley/store"
)

// desk takes calls in a test.
type desk struct {
	*apitest.Server
	carrier *mediastreamtest.Carrier
	address string
	now     func() time.Time // of the server
	// elsewhere gets the questions that are for another server; nil: none are.
	elsewhere chan string
}

// Forward implements api.Peers.
func (d *desk) Forward(w http.ResponseWriter, r *http.Request, _ int64) bool {
	if d.elsewhere == nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	d.elsewhere <- string(body)
	w.WriteHeader(http.StatusNotImplemented)
	return true
}

// newDesk serves a trunk to a carrier, whose calls take takes.
func newDesk(t *testing.T, where apitest.Place, name string, take func(context.Context, *mediastream.Call)) *desk {
	t.Helper()
	d := &desk{carrier: mediastreamtest.New(t, name), now: time.Now}
	routes := api.New(apitest.Keys{})
	mediastream.Mount(routes, &mediastream.Handler{Take: take, Peers: d, Now: func() time.Time { return d.now() }, Log: slog.New(slog.DiscardHandler),
		Trunk: func(_ context.Context, id string) (*mediastream.Trunk, error) {
			if id != "trk_1" {
				return nil, store.ErrNotFound
			}
			return &mediastream.Trunk{ID: id, Account: "acc_1", Carrier: name, Secret: d.carrier.Secret()}, nil
		}})
	d.Server = apitest.Serve(t, where, routes.Handler(api.Options{}))
	d.carrier.Client, d.carrier.Dialer, d.address = d.Client(), d.Dialer, d.URL+mediastream.Path+"trk_1"
	return d
}

// ask asks about a call.
func (d *desk) ask(call string) mediastreamtest.Answer {
	return d.carrier.Ask(d.address, call, "+34600123456", "+34911234567")
}

// lent is the leg of a call that the test conducts itself.
type lent struct {
	*mediastream.Leg
	over chan struct{}
}

func (l *lent) Run(ctx context.Context) error {
	defer close(l.over)
	return l.Leg.Run(ctx)
}

// lend answers calls, and lends their legs until these have run.
func lend(t *testing.T, legs chan *lent) func(context.Context, *mediastream.Call) {
	return func(ctx context.Context, c *mediastream.Call) {
		leg, err := c.Answer(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		l := &lent{leg, make(chan struct{})}
		legs <- l
		<-l.over
	}
}

// TestLegConforms: the suite of all legs, for each carrier.
func TestLegConforms(t *testing.T) {
	for _, name := range append(mediastreamtest.Names, "telnyx PCMA") {
		t.Run(name, func(t *testing.T) {
			name, encoding, other := strings.Cut(name, " ")
			mediatest.TestLegSimulated(t, func(t *testing.T) mediatest.LegPair {
				legs := make(chan *lent, 1)
				d := newDesk(t, apitest.InMemory, name, lend(t, legs))
				if other {
					d.carrier.Encoding = encoding
				}
				far, _ := d.carrier.Open(d.ask("CA1"))
				return mediatest.LegPair{Leg: <-legs, Far: far}
			})
		})
	}
}

// TestAsked: what a carrier says of a call is known before it is answered, and a call may be refused or sent on.
func TestAsked(t *testing.T) {
	for _, name := range mediastreamtest.Names {
		t.Run(name, func(t *testing.T) {
			var call string // another one each time, for the one before may not be over yet
			var do func(c *mediastream.Call)
			d := newDesk(t, apitest.OverNetwork, name, func(_ context.Context, c *mediastream.Call) {
				if c.ID != call || c.From != "+34600123456" || c.To != "+34911234567" || c.Trunk().Account != "acc_1" {
					t.Errorf("%+v", c.Asked)
				}
				do(c)
			})
			for _, tt := range []struct {
				what string
				do   func(c *mediastream.Call)
				want mediastreamtest.Answer
			}{
				{"refused", func(c *mediastream.Call) { c.Refuse(false) }, mediastreamtest.Answer{Refused: true}},
				{"busy", func(c *mediastream.Call) { c.Refuse(true) }, mediastreamtest.Answer{Refused: true, Busy: true}},
				{"left", func(*mediastream.Call) {}, mediastreamtest.Answer{Refused: true}},
				{"sent on", func(c *mediastream.Call) {
					if err := c.Redirect("+34933333333"); err != nil {
						t.Error(err)
					}
					if _, err := c.Answer(t.Context()); !errors.Is(err, mediastream.ErrDecided) {
						t.Errorf("answered after that: %v", err)
					}
				}, mediastreamtest.Answer{Number: "+34933333333"}},
			} {
				call, do = "CA "+tt.what, tt.do
				got := d.ask(call)
				if got.Refused != tt.want.Refused || got.Busy != tt.want.Busy || got.Number != tt.want.Number || got.Socket != "" {
					t.Errorf("%s: %+v", tt.what, got)
				}
				d.Wait()
			}
		})
	}
}

// TestWithheldNumbers: a caller without a number has the same name at all carriers.
func TestWithheldNumbers(t *testing.T) {
	for name, written := range map[string]string{"twilio": "+266696687", "telnyx": "anonymous", "vonage": ""} {
		d := newDesk(t, apitest.OverNetwork, name, func(_ context.Context, c *mediastream.Call) {
			if c.From != mediastream.Anonymous {
				t.Errorf("%s: %q", name, c.From)
			}
		})
		d.carrier.Ask(d.address, "CA1", written, "+34911234567")
	}
}

// TestForgedQuestions: nobody else asks, and only where there is a trunk.
func TestForgedQuestions(t *testing.T) {
	for _, name := range mediastreamtest.Names {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, apitest.OverNetwork, name, func(context.Context, *mediastream.Call) { t.Error("taken") })
			d.carrier.Forged = true
			if a := d.ask("CA1"); a.Status != 400 {
				t.Errorf("forged: %d", a.Status)
			}
			if a := d.carrier.Ask(d.URL+mediastream.Path+"trk_2", "CA1", "", ""); a.Status != 404 {
				t.Errorf("of a trunk that is not there: %d", a.Status)
			}
		})
	}
}

// TestStaleQuestions: where a carrier says when it asks, that must be now.
func TestStaleQuestions(t *testing.T) {
	for _, name := range []string{"telnyx", "vonage"} {
		d := newDesk(t, apitest.OverNetwork, name, func(context.Context, *mediastream.Call) { t.Error("taken") })
		d.now = func() time.Time { return time.Now().Add(6 * time.Minute) }
		if a := d.ask("CA1"); a.Status != 400 {
			t.Errorf("%s: %d", name, a.Status)
		}
	}
}

// TestSocketIsOnesAndOnce: a socket opens once, for the call that was asked about.
func TestSocketIsOnesAndOnce(t *testing.T) {
	for _, name := range mediastreamtest.Names {
		synctest.Test(t, func(t *testing.T) {
			answers := make(chan error, 2)
			d := newDesk(t, apitest.InMemory, name, func(ctx context.Context, c *mediastream.Call) {
				leg, err := c.Answer(ctx)
				if err == nil {
					err = leg.Run(ctx)
				}
				answers <- err
			})
			a := d.ask("CA1")
			if again := d.ask("CA1"); again.Status != 400 {
				t.Errorf("%s: asked about twice: %+v", name, again)
			}
			far, _ := d.carrier.Open(a)
			if _, status := d.carrier.Open(a); status != 404 {
				t.Errorf("%s: opened twice: %d", name, status)
			}
			synctest.Wait()
			far.Hangup()
			if err := <-answers; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			far.Closed()
			synctest.Wait()
			other, _ := d.carrier.OpenAs(d.ask("CA1"), "CA2")
			other.Closed()
			if err := <-answers; err == nil {
				t.Errorf("%s: another call's stream was taken", name)
			}
			unopened := d.ask("CA3")
			if err := <-answers; err == nil {
				t.Errorf("%s: a call without a stream was answered", name)
			}
			synctest.Wait()
			if _, status := d.carrier.Open(unopened); status != 404 {
				t.Errorf("%s: opened too late: %d", name, status)
			}
		})
	}
}

// TestAudioOfAnotherKind: a stream whose audio is not what was asked for is no call.
func TestAudioOfAnotherKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan error, 1)
		d := newDesk(t, apitest.InMemory, "telnyx", func(ctx context.Context, c *mediastream.Call) {
			_, err := c.Answer(ctx)
			answers <- err
		})
		d.carrier.Encoding = "OPUS"
		far, _ := d.carrier.Open(d.ask("CA1"))
		far.Closed()
		if <-answers == nil {
			t.Error("it was taken")
		}
	})
}

// conducted gives a test the leg of a call that runs.
func conducted(t *testing.T, name string) (far *mediastreamtest.Call, leg *lent, ended chan error) {
	t.Helper()
	legs := make(chan *lent, 1)
	d := newDesk(t, apitest.InMemory, name, lend(t, legs))
	far, _ = d.carrier.Open(d.ask("CA1"))
	leg, ended = <-legs, make(chan error, 1)
	ctx, stop := context.WithCancelCause(context.Background())
	go func() { ended <- leg.Run(ctx) }()
	t.Cleanup(func() { stop(&media.Ended{Reason: media.APIHangup}) })
	return far, leg, ended
}

// speak writes what is due until so much was written.
func speak(leg media.Leg, d time.Duration) {
	frame := media.Frame{Samples: make([]int16, leg.Format().Out.FrameSamples()), Rate: leg.Format().Out}
	for n := 0; n < int(d/media.FrameDuration); {
		time.Sleep(time.Until(leg.Next()))
		for due := leg.Due(time.Now()); due > 0 && n < int(d/media.FrameDuration); due-- {
			leg.Write(frame)
			n++
		}
	}
}

// TestPlayedByMarks: what was heard is what the carrier says, which plays 40 ms late, and is not far behind it between two marks; a
// barge-in clears what it has, and what it says of that later does not count.
func TestPlayedByMarks(t *testing.T) {
	for _, name := range mediastreamtest.Names {
		synctest.Test(t, func(t *testing.T) {
			far, leg, _ := conducted(t, name)
			speak(leg, time.Second)
			heard := 0
			for range 40 {
				synctest.Wait()
				heard += len(far.Receive())
				really, said := leg.Format().Out.Duration(heard), leg.Played(time.Now())
				if off := (said - really).Duration(); off > 100*time.Millisecond || off < -100*time.Millisecond {
					t.Errorf("%s: %v were played, and %v said", name, really.Duration(), said.Duration())
				}
				time.Sleep(media.FrameDuration)
			}
			time.Sleep(time.Second)
			if leg.Played(time.Now()) != media.Second {
				t.Errorf("%s: %v played in the end", name, leg.Played(time.Now()).Duration())
			}
			speak(leg, 400*time.Millisecond)
			leg.Flush(time.Now())
			synctest.Wait()
			played := leg.Played(time.Now())
			time.Sleep(2 * time.Second)
			if far.Clears() != 1 || leg.Played(time.Now()) != played || played >= media.Second+400*media.Millisecond {
				t.Errorf("%s: %v, then %v played, %d cleared", name, played.Duration(), leg.Played(time.Now()).Duration(), far.Clears())
			}
		})
	}
}

// TestKeysOverflow: a leg whose keys nobody reads ends.
func TestKeysOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, _, ended := conducted(t, "twilio")
		for range media.EventQueue + 1 {
			far.Digit('5')
		}
		var why *media.Ended
		if err := <-ended; !errors.As(err, &why) || why.Detail != "event_overflow" {
			t.Errorf("it ended by %v", err)
		}
	})
}

// TestNonsense: messages that make no sense are nothing, and the call goes on.
func TestNonsense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, leg, _ := conducted(t, "twilio")
		for _, m := range []string{`{`, `[]`, `""`, `{"event":`, `{"event":"media"}`, `{"event":"media","media":{"payload":"!"}}`, `{"event":"media","media":{"payload":"`, `{"event":"mark","mark":{"name":"x"}}`,
			`{"event":"dtmf","dtmf":{"digit":"55"}}`, `{"event":"dtmf","dtmf":{"digit":"x"}}`, `{"event":{"event":"stop"}}`, `{"a":"\"}","event" : "dt\u006df", "dtmf" : {"digit":"7"}}`} {
			far.Say(m)
		}
		synctest.Wait()
		if e := <-leg.Events(); e.Digit != '7' {
			t.Errorf("%+v", e)
		}
	})
}

// TestOnward: a call goes on to the number that it is transferred to when the carrier asks, which does so once the socket is closed. To
// other questions the answer is that it is over, also when nobody knows of it any more.
func TestOnward(t *testing.T) {
	const number = "+34933333333"
	for _, name := range mediastreamtest.Names {
		synctest.Test(t, func(t *testing.T) {
			legs := make(chan *lent, 1)
			d := newDesk(t, apitest.InMemory, name, lend(t, legs))
			asked := d.ask("CA1")
			far, _ := d.carrier.Open(asked)
			leg, ended, moved := <-legs, make(chan error, 1), make(chan error, 1)
			go func() { ended <- leg.Run(context.Background()) }()
			go func() { moved <- leg.Transfer(context.Background(), number) }()
			if code := far.Closed(); code != 1000 {
				t.Errorf("%s: the socket is closed with %d", name, code)
			}
			if name == "vonage" { // it tells of all that happens to the socket, perhaps late
				if a := d.carrier.Event(asked, "answered"); !a.Over || a.Number != "" {
					t.Errorf("of its beginning: %+v", a)
				}
			}
			if err := leg.Transfer(t.Context(), "+34944444444"); !errors.Is(err, mediastream.ErrTransferring) {
				t.Errorf("%s: transferred twice: %v", name, err)
			}
			d.carrier.Forged = true
			if a := d.carrier.Next(asked); a.Status != 400 {
				t.Errorf("%s: forged: %+v", name, a)
			}
			d.carrier.Forged = false
			synctest.Wait()
			if len(ended)+len(moved) > 0 {
				t.Errorf("%s: it ended before the carrier has asked", name)
			}
			if a := d.carrier.Next(asked); a.Number != number || a.Over {
				t.Errorf("%s: %+v", name, a)
			}
			if err := <-moved; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := <-ended; err != nil {
				t.Errorf("%s: it ended by %v", name, err)
			}
			synctest.Wait()
			if a := d.carrier.Next(asked); !a.Over || a.Number != "" {
				t.Errorf("%s: asked again: %+v", name, a)
			}

			asked = d.ask("CA2")
			far, _ = d.carrier.Open(asked)
			leg = <-legs
			go func() { ended <- leg.Run(context.Background()) }()
			synctest.Wait()
			if a := d.carrier.Next(asked); !a.Over { // the socket broke
				t.Errorf("%s: of a call that is transferred nowhere: %+v", name, a)
			}
			began := time.Now()
			if err := leg.Transfer(t.Context(), number); !errors.Is(err, mediastream.ErrLeft) || time.Since(began) > 5*time.Second {
				t.Errorf("%s: nobody asked, and the transfer has %v after %v", name, err, time.Since(began))
			}
			if err := <-ended; err != nil {
				t.Errorf("%s: it ended by %v", name, err)
			}
			far.Closed()
		})
	}
}

// TestOnwardElsewhere: the server that has the call gets the question of a carrier that has signed it, as it is, and nobody else's.
func TestOnwardElsewhere(t *testing.T) {
	for _, name := range mediastreamtest.Names {
		d := newDesk(t, apitest.OverNetwork, name, func(ctx context.Context, c *mediastream.Call) { _, _ = c.Answer(ctx) })
		asked := d.ask("CA1")
		d.elsewhere = make(chan string, 1)
		d.carrier.Forged = true
		if a := d.carrier.Next(asked); a.Status != 400 || len(d.elsewhere) != 0 {
			t.Errorf("%s: forged: %+v", name, a)
		}
		d.carrier.Forged = false
		if d.carrier.Next(asked); len(d.elsewhere) != 1 {
			t.Errorf("%s: the question was not sent on", name)
		} else if body := <-d.elsewhere; !strings.Contains(body, "CA1") {
			t.Errorf("%s: sent on was %q", name, body)
		}
		d.elsewhere = nil
		far, _ := d.carrier.Open(asked)
		far.Close()
	}
}

// TestPanicEndsItsCall: a fault where a call is taken or carried ends that call; the next is taken.
func TestPanicEndsItsCall(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 2)
			d := newDesk(t, apitest.InMemory, "twilio", func(ctx context.Context, c *mediastream.Call) {
				leg, err := c.Answer(ctx)
				if err == nil {
					err = leg.Run(ctx)
				}
				ended <- err
			})
			isolatetest.Inject(t, site.Name)
			if a := d.ask("CA1"); a.Socket != "" {
				far, _ := d.carrier.Open(a)
				far.Closed()
				if err := <-ended; err == nil || errors.Is(err, isolate.Internal) && site.Package() == "api/mediastream" {
					t.Errorf("it ended by %v", err)
				}
			} else if !a.Refused {
				t.Errorf("%+v", a)
			}
			synctest.Wait()
			far, _ := d.carrier.Open(d.ask("CA1"))
			synctest.Wait()
			far.Hangup()
			if err := <-ended; err != nil {
				t.Errorf("the next ended by %v", err)
			}
		})
	}, "api/socket")
}
