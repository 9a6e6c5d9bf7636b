package carriertest

import (
	"errors"
	"strings"
	"testing"

	"parley/sip/carrier"
)

// TextControls play the telephones that messages go to.
type TextControls interface {
	Controls
	// Sender is a number of ours that can send.
	Sender(testing.TB, carrier.Messenger) string
	// Callee is a number that is not ours, whose messages come to what is wanted; empty: none does.
	Callee(carrier.MessageState) string
	// Refusing is a number to which the carrier sends nothing; empty: there is none.
	Refusing() string
	// Arrive lets time pass until every message has come to its end.
	Arrive(testing.TB)
	// Texts counts the messages that the carrier has taken.
	Texts(testing.TB) int
}

// RunMessages runs what every carrier.Messenger has to pass besides Run.
func RunMessages(t *testing.T, make func(*testing.T) (carrier.Messenger, TextControls)) {
	for _, c := range []struct {
		name string
		test func(*texts)
	}{
		{"a message is delivered", (*texts).delivered},
		{"a message is not delivered", (*texts).undelivered},
		{"a message is refused", (*texts).refused},
		{"bad messages", (*texts).bad},
		{"unknown messages", (*texts).unknown},
		{"the carrier is busy", (*texts).busy},
		{"the answer is lost", (*texts).answerLost},
		{"the carrier is away", (*texts).away},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, controls := make(t)
			s := &texts{suite: &suite{T: t, p: m, c: controls}, m: m, tc: controls}
			s.from = controls.Sender(t, m)
			c.test(s)
		})
	}
}

type texts struct {
	*suite
	m    carrier.Messenger
	tc   TextControls
	from string
}

// hello is a message to a number.
func (s *texts) hello(to string) carrier.Message {
	return carrier.Message{Reference: s.reference(), From: s.from, To: to, Text: "Grüße, 1 € & [more]\nя 😀"}
}

func (s *texts) callee(want carrier.MessageState) string {
	s.Helper()
	to := s.tc.Callee(want)
	if to == "" {
		s.Skip("no number behaves so")
	}
	return to
}

// ends sends a message and sees what comes of it.
func (s *texts) ends(want carrier.MessageState) carrier.Delivery {
	s.Helper()
	m := s.hello(s.callee(want))
	d, err := s.m.Send(s.Context(), m)
	s.must(err)
	if d.ID == "" || d.Reference != m.Reference || d.State != carrier.Sent || strings.Contains(d.ID, m.Text) {
		s.Errorf("sent: %+v", d)
	}
	s.tc.Arrive(s)
	end, err := s.m.Delivery(s.Context(), d.ID)
	s.must(err)
	if end.ID != d.ID || end.State != want || s.tc.Texts(s) != 1 {
		s.Errorf("it ended as %+v, of %d messages", end, s.tc.Texts(s))
	}
	return end
}

func (s *texts) delivered() { s.ends(carrier.Delivered) }

func (s *texts) undelivered() {
	if d := s.ends(carrier.Undelivered); d.Reason == "" || strings.Contains(d.Reason, "\n") {
		s.Errorf("%+v has no reason", d)
	}
}

func (s *texts) refused() {
	to := s.tc.Refusing()
	if to == "" {
		s.Skip("no number behaves so")
	}
	_, err := s.m.Send(s.Context(), s.hello(to))
	s.wants(err, carrier.ErrRefused)
	if r, ok := errors.AsType[*carrier.Refusal](err); !ok || r.Reason == "" {
		s.Errorf("%v has no reason", err)
	}
	if errors.Is(err, carrier.ErrUnclear) || s.tc.Texts(s) != 0 {
		s.Errorf("%v, and %d messages", err, s.tc.Texts(s))
	}
}

func (s *texts) bad() {
	good := s.hello(s.callee(carrier.Delivered))
	for _, change := range []func(*carrier.Message){
		func(m *carrier.Message) { m.Reference = "a b" }, func(m *carrier.Message) { m.Reference = "" },
		func(m *carrier.Message) { m.From = "Parley" }, func(m *carrier.Message) { m.To = "112" }, func(m *carrier.Message) { m.To = "" },
		func(m *carrier.Message) { m.Text = "" }, func(m *carrier.Message) { m.Text = "\xff" },
	} {
		m := good
		change(&m)
		_, err := s.m.Send(s.Context(), m)
		s.wants(err, carrier.ErrRefused)
	}
	if n := s.tc.Texts(s); n != 0 {
		s.Errorf("%d messages", n)
	}
}

func (s *texts) unknown() {
	for _, id := range strange {
		_, err := s.m.Delivery(s.Context(), id)
		s.wants(err, carrier.ErrNotFound)
	}
}

func (s *texts) busy() {
	m := s.hello(s.callee(carrier.Delivered))
	s.network(Busy)
	d, err := s.m.Send(s.Context(), m)
	s.must(err)
	s.network(Busy)
	_, err = s.m.Delivery(s.Context(), d.ID)
	s.must(err)
	if n := s.tc.Texts(s); n != 1 {
		s.Errorf("%d messages", n)
	}
}

// answerLost: whoever cannot know whether a message was sent is told so, and it was not sent twice.
func (s *texts) answerLost() {
	s.network(AnswerLost)
	_, err := s.m.Send(s.Context(), s.hello(s.callee(carrier.Delivered)))
	if err != nil {
		s.wants(err, carrier.ErrUnavailable)
		s.wants(err, carrier.ErrUnclear)
	}
	if n := s.tc.Texts(s); n != 1 {
		s.Errorf("%d messages", n)
	}
}

func (s *texts) away() {
	m := s.hello(s.callee(carrier.Delivered))
	d, err := s.m.Send(s.Context(), m)
	s.must(err)
	s.network(Unreachable)
	m.Reference = s.reference()
	_, err = s.m.Send(s.Context(), m)
	s.wants(err, carrier.ErrUnavailable)
	_, err = s.m.Delivery(s.Context(), d.ID)
	s.wants(err, carrier.ErrUnavailable)
	s.network(Repaired)
	_, err = s.m.Delivery(s.Context(), d.ID)
	s.must(err)
}
