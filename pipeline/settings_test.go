package pipeline

import (
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/pipeline/turn"
)

func TestParseSettings(t *testing.T) {
	for _, c := range []struct{ data, wrong string }{
		{"", ""}, {" \n", ""}, {"{}", ""}, {"{} \n", ""}, {"null", ""},
		{`{"min_endpoint_ms":100,"max_endpoint_ms":6000,"barge_in_ms":3000,"interruptible":"never","idle_seconds":0,"idle_reprompts":0,
			"max_duration_seconds":10,"ring_ms":0,"goodbye":"Bye.","phrases":["a"],"speculative_llm":true}`, ""},
		{"{", "settings: "}, {"[]", "settings: "}, {"{} {}", "more than one"}, {`{"idle":1}`, "idle"},
		{`{"min_endpoint_ms":99}`, "min_endpoint_ms is 99, allowed are 100 to 2000"}, {`{"min_endpoint_ms":1.5}`, "min_endpoint_ms"},
		{`{"max_endpoint_ms":6001}`, "max_endpoint_ms"}, {`{"barge_in_ms":0}`, "barge_in_ms"}, {`{"idle_seconds":-1}`, "idle_seconds"},
		{`{"idle_reprompts":11}`, "idle_reprompts"}, {`{"max_duration_seconds":9}`, "max_duration_seconds"}, {`{"ring_ms":30001}`, "ring_ms"},
		{`{"interruptible":"sometimes"}`, "interruptible"}, {`{"phrases":["` + strings.Repeat(`","`, 2000) + `"]}`, "phrases has 2001"},
	} {
		_, err := ParseSettings([]byte(c.data))
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%.40s: %v, want %q", c.data, err, c.wrong)
		}
	}
}

func TestSettingsOfATurn(t *testing.T) {
	const ms = media.Millisecond
	parse := func(data string) (turn.Config, Settings) {
		s, err := ParseSettings([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		return s.Turn("de"), s
	}
	c, s := parse("")
	if want := turn.DefaultConfig("de"); c.MinDelay != want.MinDelay || c.Verdict != want.Verdict || c.Idle != want.Idle || c.Language != "de" || c.Barge != turn.Always {
		t.Errorf("the default is %+v", c)
	}
	if s.MaxDuration() != DefaultMaxDuration || s.Ring() != DefaultRing {
		t.Errorf("it lasts %v and rings %v", s.MaxDuration(), s.Ring())
	}
	c, s = parse(`{"min_endpoint_ms":900,"max_endpoint_ms":300,"barge_in_ms":2000,"interruptible":"never","idle_seconds":3,"idle_reprompts":5,"max_duration_seconds":60,"ring_ms":0}`)
	if c.MinDelay != 900*ms || c.MaxDelay != 900*ms || c.OverlapMax != 2000*ms || c.Idle != 3*media.Second || c.Reprompts != 5 || c.Barge != turn.Never {
		t.Errorf("got %+v", c)
	}
	if c.Verdict <= c.OverlapMax {
		t.Errorf("the verdict falls after %v, before anybody can have spoken for %v", c.Verdict.Duration(), c.OverlapMax.Duration())
	}
	if s.MaxDuration() != time.Minute || s.Ring() != 0 {
		t.Errorf("it lasts %v and rings %v", s.MaxDuration(), s.Ring())
	}
}
