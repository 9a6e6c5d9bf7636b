package wsagent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/api/apitest"
	"parley/api/tts"
	"parley/inference"
	"parley/media"
)

var (
	toolCall = inference.ToolCall{ID: "c1", Name: "order", Arguments: `{"n":1}`}
	bareCall = inference.ToolCall{ID: "c2", Name: "order"}
)

// TestCloseCodes checks the close code of each end. An error message before the close
// names the limit that ended the conversation.
func TestCloseCodes(t *testing.T) {
	for _, tt := range []struct {
		cause error
		code  int
		limit string
	}{
		{ended(media.AgentHangup, "goodbye"), 1000, ""},
		{ended(media.Completed, "transferred"), 1000, ""},
		{ended(media.APIHangup, ""), 1000, ""},
		{ended(media.APIHangup, "drain"), 1001, ""},
		{ended(media.BalanceExhausted, ""), 1008, "billing.insufficient_balance"},
		{ended(media.BalanceExhausted, media.Disputed), 1008, "billing.account_disputed"},
		{ended(media.APIHangup, media.Suspended), 1008, "billing.account_disputed"},
		{ended(media.BalanceExhausted, media.Spending), 1008, "limit.spending"},
		{ended(media.BalanceExhausted, media.TicketSpent), 1008, "limit.spending"},
		{ended(media.MaxDuration, ""), 1008, "auth.time_limited"},
		{ended(media.Failed, "engine"), 1011, ""},
		{fmt.Errorf("wrapped: %w", ended(media.MaxDuration, "")), 1008, "auth.time_limited"},
		{context.Canceled, 1001, ""},
	} {
		t.Run(tt.cause.Error(), func(t *testing.T) {
			t.Parallel()
			_, p, leg, end := conducted(t, apitest.OverNetwork)
			leg.Transcript("agent", "the last words")
			if err := end(tt.cause); err != nil {
				t.Errorf("Run: %v", err)
			}
			if m := p.want("transcript"); m.Data != "the last words" || m.Role != "agent" {
				t.Errorf("transcript %+v", m)
			}
			limit := map[string]any{}
			if tt.limit != "" {
				m, err := p.next()
				if err != nil || m.Type != "error" {
					t.Fatalf("before the close %+v, %v", m, err)
				}
				limit = m.Data.(map[string]any)
				if limit["code"] != tt.limit || limit["retryable"] != false {
					t.Errorf("before the close %v", limit)
				}
			}
			m, err := p.next()
			e, ok := errors.AsType[*websocket.CloseError](err)
			if !ok || e.Code != tt.code || e.Text == "" || len(e.Text) > 123 {
				t.Fatalf("closed by %+v, %v", m, err)
			}
			if tt.limit != "" && limit["message"] != e.Text {
				t.Errorf("the error says %q, the close %q", limit["message"], e.Text)
			}
		})
	}
}

// TestLastWordsArrive: a client in the middle of sending gets everything up to the
// reason of the close, and is not reset.
func TestLastWordsArrive(t *testing.T) {
	t.Parallel()
	_, p, leg, end := conducted(t, apitest.OverNetwork)
	started, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 64<<10)
		for i := 0; p.WriteMessage(websocket.BinaryMessage, b) == nil; i++ {
			if i == 20 {
				close(started)
			}
		}
	}()
	<-started
	const lines = 400
	for i := range lines {
		leg.Caption("agent", fmt.Sprint(i))
		if i%20 == 0 {
			leg.Leg.Write(frame(1))
		}
	}
	if err := end(ended(media.AgentHangup, "")); err != nil {
		t.Errorf("Run: %v", err)
	}
	for i := range lines {
		if m := p.want("transcript_partial"); m.Data != fmt.Sprint(i) {
			t.Fatalf("line %d is %v", i, m.Data)
		}
	}
	p.wantClose(1000)
	p.Close()
	<-done
}

// TestFarEnds: the ways in which clients go.
func TestFarEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		leave  func(p *peer)
		code   int // what the client reads; 0: nothing
		detail media.EndDetail
	}{
		{"goodbye", func(p *peer) {
			p.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
		}, 1000, ""},
		{"goodbye without a code", func(p *peer) { p.WriteControl(websocket.CloseMessage, nil, time.Now().Add(time.Second)) }, 1005, ""},
		{"connection closed", func(p *peer) { p.NetConn().Close() }, 0, ""},
		{"connection reset", func(p *peer) {
			p.NetConn().(*net.TCPConn).SetLinger(0)
			p.NetConn().Close()
		}, 0, ""},
		{"text too long", func(p *peer) { p.WriteMessage(websocket.TextMessage, bytes.Repeat([]byte(" "), 1<<20+1)) }, 1009, "message_too_large"},
		{"audio too long", func(p *peer) { p.WriteMessage(websocket.BinaryMessage, make([]byte, 3<<20)) }, 1009, "message_too_large"},
		{"not the protocol", func(p *peer) { p.NetConn().Write([]byte("\xff\xff\xff\xff\xff\xff")) }, 1002, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, p, _, end := conducted(t, apitest.OverNetwork)
			go tt.leave(p)
			err := end(nil)
			if tt.detail == "" && err != nil {
				t.Errorf("Run: %v, want nil", err)
			}
			if e, ok := errors.AsType[*media.Ended](err); tt.detail != "" && (!ok || e.Reason != media.Failed || e.Detail != tt.detail) {
				t.Errorf("Run: %v, want %s", err, tt.detail)
			}
			if tt.code != 0 {
				p.wantClose(tt.code)
			}
		})
	}
}

// TestLongestMessage: a mebibyte is taken.
func TestLongestMessage(t *testing.T) {
	t.Parallel()
	s, p, _, _ := conducted(t, apitest.OverNetwork)
	const head, tail = `{"type":"prompt","data":"`, `"}`
	p.say("%s%s%s", head, strings.Repeat("a", 1<<20-len(head)-len(tail)), tail)
	if got := <-s.agents.told; len(got) < 1<<20-len(head)-len(tail) {
		t.Errorf("told %d bytes", len(got))
	}
}

// TestSlowClient: one that does not read is disconnected, for what it is sent
// cannot be dropped, and the conductor never waits for it.
func TestSlowClient(t *testing.T) {
	for _, tt := range []struct {
		name string
		send func(leg *lent)
		most int
	}{
		{"audio", func(leg *lent) { leg.Leg.Write(frame(1)) }, 100},
		{"text", func(leg *lent) { leg.Caption("user", "word") }, 600},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, leg, end := conducted(t, apitest.InMemory)
				began := time.Now()
				for range tt.most {
					tt.send(leg)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("waited for %v", took)
				}
				err := end(nil)
				if e, ok := errors.AsType[*media.Ended](err); !ok || e.Reason != media.Failed || e.Detail != "slow_client" {
					t.Errorf("Run: %v", err)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("Run returned after %v", took)
				}
			})
		})
	}
}

// TestStuckClient: one that has stopped reading is lost after 5 s even when little
// is sent to it, and one that answers nothing holds up our goodbye for 2 s.
func TestStuckClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, leg, end := conducted(t, apitest.InMemory)
		began := time.Now()
		leg.Status("listening", 0)
		err := end(nil)
		if e, ok := errors.AsType[*media.Ended](err); !ok || e.Detail != "slow_client" || time.Since(began) != 5*time.Second {
			t.Errorf("Run: %v after %v", err, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, _, leg, end := conducted(t, apitest.InMemory)
		leg.Status("listening", 0)
		began := time.Now()
		if err := end(ended(media.AgentHangup, "")); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("Run: %v after %v", err, time.Since(began))
		}
	})
}

// TestGoodbyeUnanswered: a client that reads but never answers the close keeps the
// connection a second longer, and not the conversation.
func TestGoodbyeUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, _, end := conducted(t, apitest.InMemory)
		p.SetCloseHandler(func(int, string) error { return nil })
		began := time.Now()
		go end(ended(media.AgentHangup, ""))
		p.wantClose(1000)
		if err := end(nil); err != nil || time.Since(began) != 0 {
			t.Errorf("Run: %v after %v", err, time.Since(began))
		}
		s.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("the connection was given up after %v, want 1 s", took)
		}
	})
}

// TestPing: a silent client lives while it answers pings, which come each 20 s,
// and is given up when it has missed them for a minute.
func TestPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, leg, _ := conducted(t, apitest.InMemory)
		var pings atomic.Int32
		var deaf atomic.Bool
		pong := p.PingHandler()
		p.SetPingHandler(func(s string) error {
			pings.Add(1)
			if deaf.Load() {
				return nil
			}
			return pong(s)
		})
		go p.drain()
		time.Sleep(10*time.Minute + time.Second)
		if n := pings.Load(); n != 30 {
			t.Errorf("%d pings in 10 minutes, want 30", n)
		}
		deaf.Store(true)
		began := time.Now()
		<-leg.over
		if gone := time.Since(began); gone < 40*time.Second || gone > time.Minute {
			t.Errorf("given up after %v", gone)
		}
	})
}

// callID is how clients know a function call: nobody can guess it.
var callID = regexp.MustCompile(`"call_[A-Z2-7]{26}"`)

// TestMessages: the form of everything that is sent.
func TestMessages(t *testing.T) {
	t.Parallel()
	_, p, leg, _ := conducted(t, apitest.OverNetwork)
	for _, tt := range []struct {
		send func()
		want string
	}{
		{func() { leg.Status("listening", 0) }, `{"type":"status","data":"listening"}`},
		{func() { leg.Status("thinking", 3) }, `{"type":"status","data":"thinking","generation":3}`},
		{func() { leg.Transcript("user", "") }, `{"type":"transcript","data":"","role":"user"}`},
		{func() { leg.Correction("user", "b", "a") }, `{"type":"transcript_update","data":"b","role":"user","replaces":"a"}`},
		{func() { leg.Caption("agent", "h") }, `{"type":"transcript_partial","data":"h","role":"agent"}`},
		{func() { leg.ToolCall(toolCall, 2) }, `{"type":"tool_call","generation":2,"name":"order","arguments":"{\"n\":1}","call_id":"call_"}`},
		{func() { leg.ToolCall(bareCall, 0) }, `{"type":"tool_call","name":"order","arguments":"{}","call_id":"call_"}`},
		{func() { leg.Visemes([]tts.Viseme{{V: 1, C: "a", T: 0.5, ID: 0}}, 2) }, `{"type":"visemes","data":[{"v":1,"c":"a","t":0.5,"id":0}],"generation":2}`},
		{func() { leg.Visemes(nil, 2) }, `{"type":"visemes","data":[],"generation":2}`},
		{func() { leg.Error(errors.New("inner"), "d") },
			`{"type":"error","data":{"code":"internal.error","message":"Something went wrong on our side.","detail":"d","retryable":true}}`},
	} {
		tt.send()
		_, b, err := p.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		b = callID.ReplaceAll(b, []byte(`"call_"`))
		if string(b) != tt.want {
			t.Errorf("sent %s\nwant %s", b, tt.want)
		}
	}
	leg.Leg.Write(frame(-2))
	if m, err := p.next(); err != nil || len(m.audio) != 1764 || m.audio[0] != 0xfe || m.audio[1] != 0xff {
		t.Errorf("audio %+v, %v", m, err)
	}
	if !leg.WantsVisemes() {
		t.Error("does not want visemes")
	}
}
