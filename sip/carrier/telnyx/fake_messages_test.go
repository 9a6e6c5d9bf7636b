package telnyx_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parley/sip/carrier"
	"parley/sip/carrier/carriertest"
)

// The numbers that messages go to.
const (
	reached   = "+14155550100"
	unreached = "+14155550102"
	blocked   = "+14155550103"
)

// sendLocked takes a message as POST /v2/messages documents it: from, to, text, and of what may be left out what we send.
func (f *fake) sendLocked(r *http.Request) (int, doc) {
	var in struct {
		From    string   `json:"from"`
		To      string   `json:"to"`
		Text    string   `json:"text"`
		Type    string   `json:"type"`
		Profile string   `json:"messaging_profile_id"`
		Webhook string   `json:"webhook_url"`
		Tags    []string `json:"tags"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || in.Text == "" || in.Type != "SMS" || in.Profile != profile || in.Webhook != hook || len(in.Tags) != 1 {
		f.t.Errorf("message %+v, %v", in, err)
	}
	ours := false
	for _, n := range f.numbers {
		ours = ours || n["phone_number"] == in.From && n["status"] == "active"
	}
	switch {
	case !ours:
		return refusal(http.StatusBadRequest, "40305", "Invalid 'from' address", "The 'from' address should be a number of the messaging profile.")
	case in.To == blocked:
		return refusal(http.StatusUnprocessableEntity, "40300", "Blocked due to STOP message", "The recipient has opted out.")
	}
	f.seq++
	m := doc{
		"record_type": "message", "direction": "outbound", "id": fmt.Sprintf("40385f64-5717-4562-b3fc-%012d", f.seq), "type": "SMS",
		"messaging_profile_id": in.Profile, "from": doc{"phone_number": in.From, "carrier": "Telnyx", "line_type": "VoIP"},
		"to":   []doc{{"phone_number": in.To, "status": "queued", "carrier": "T-MOBILE USA, INC.", "line_type": "Wireless"}},
		"text": in.Text, "tags": in.Tags, "encoding": "UTF-16", "parts": 1, "cost": nil, "received_at": "2026-01-31T11:59:58.000Z",
		"sent_at": nil, "completed_at": nil, "errors": []doc{}, "webhook_url": in.Webhook,
	}
	f.texts = append(f.texts, m)
	return http.StatusOK, doc{"data": m}
}

func (f *fake) textLocked(id string) (int, doc) {
	for _, m := range f.texts {
		if m["id"] == id {
			return http.StatusOK, doc{"data": m}
		}
	}
	return refusal(http.StatusNotFound, "10005", "Resource not found", "The requested resource or URL could not be found.")
}

func (f *fake) Sender(t testing.TB, m carrier.Messenger) string {
	number, _ := f.Held(t, f.Owned(t, m))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = nil
	return number
}

func (f *fake) Callee(want carrier.MessageState) string {
	return map[carrier.MessageState]string{carrier.Delivered: reached, carrier.Undelivered: unreached}[want]
}

func (f *fake) Refusing() string { return blocked }

func (f *fake) Arrive(testing.TB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.texts {
		to := m["to"].([]doc)[0]
		to["status"] = "delivered"
		if to["phone_number"] == unreached {
			to["status"] = "delivery_failed"
			m["errors"] = []doc{{"code": "40002", "title": "Blocked as spam -\ntemporary", "detail": "Try another wording."}}
		}
	}
}

func (f *fake) Texts(testing.TB) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.texts)
}

func TestMessages(t *testing.T) {
	carriertest.RunMessages(t, func(t *testing.T) (carrier.Messenger, carriertest.TextControls) {
		f := newFake(t)
		c, _ := newCarrier(t, f)
		return c, f
	})
}

// TestMessageIsSentOnce: whatever leaves open whether it was taken ends the request; only a carrier that was busy is asked again.
func TestMessageIsSentOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		a     answer
		asked int
		taken int
		clear bool
	}{
		{"taken, answer lost", answer{lost: true}, 1, 1, false},
		{"taken or not", answer{status: 502}, 1, 0, false},
		{"no JSON", answer{status: 200, body: "<html>"}, 1, 0, false},
		{"no message", answer{status: 200, body: `{"data":{}}`}, 1, 0, false},
		{"busy", answer{status: 429}, 2, 1, true},
	} {
		f := newFake(t)
		p, _ := newCarrier(t, f)
		from := f.Sender(t, p)
		c.a.request = "POST /messages"
		f.answer(c.a)
		_, err := p.Send(t.Context(), carrier.Message{Reference: "msg_1", From: from, To: reached, Text: "Hello"})
		if got := strings.Count(strings.Join(f.asked(), " "), "POST /messages"); got != c.asked || f.Texts(t) != c.taken {
			t.Errorf("%s: asked %d times, %d messages", c.name, got, f.Texts(t))
		}
		if c.clear != (err == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
