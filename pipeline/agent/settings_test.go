package agent

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/pipeline/turn"
)

func TestParseSettings(t *testing.T) {
	for _, c := range []struct{ data, wrong string }{
		{"", ""}, {" \n", ""}, {"{}", ""}, {"{} \n", ""}, {"null", ""},
		{`{"min_endpoint_ms":100,"max_endpoint_ms":6000,"barge_in_ms":3000,"interruptible":"after_first_sentence","first_message_interruptible":"never","key_interrupts":false,"speculative_voice":true,"idle_seconds":0,"idle_reprompts":0,
			"max_duration_seconds":10,"ring_ms":0,"goodbye":"Bye.","phrases":["a"],"speculative_llm":true}`, ""},
		{"{", "settings: is no JSON"}, {"[]", "settings: a list, must be an object"}, {"{} {}", "more than one"}, {`{"idle":1}`, "settings.idle: is not known"},
		{`{"min_endpoint_ms":99}`, "settings.min_endpoint_ms: 99, allowed are 100 to 2000"}, {`{"min_endpoint_ms":1.5}`, "min_endpoint_ms"},
		{`{"max_endpoint_ms":6001}`, "max_endpoint_ms"}, {`{"barge_in_ms":0}`, "barge_in_ms"}, {`{"idle_seconds":-1}`, "idle_seconds"},
		{`{"idle_reprompts":11}`, "idle_reprompts"}, {`{"max_duration_seconds":9}`, "max_duration_seconds"}, {`{"ring_ms":30001}`, "ring_ms"},
		{`{"interruptible":"sometimes"}`, `settings.interruptible: "sometimes", allowed are always, never and after_first_sentence`}, {`{"first_message_interruptible":""}`, "first_message_interruptible"}, {`{"phrases":["` + strings.Repeat(`","`, 2000) + `"]}`, "settings.phrases: 2001 entries, allowed are 2000"},
		{`{"pronunciation":[{"word":"SQL","say":"sequel"},{"word":"C++","say":"see plus plus"}]}`, ""},
		{`{"pronunciation":[{"word":"SQL"}]}`, "settings.pronunciation[0].say: is missing"},
		{`{"pronunciation":[{"word":"SQL","say":"` + strings.Repeat("x", 201) + `"}]}`, "settings.pronunciation[0].say: 201 characters, allowed are 200"},
		{`{"pronunciation":[{"word":"SQL","as":"sequel"}]}`, "settings.pronunciation[0].as: is not known"},
		{`{"pronunciation":[{"word":"SQL","say":"` + strings.Repeat("é", 101) + `"}]}`, "the say of entry 1 has 202 bytes, allowed are 200"},
		{`{"pronunciation":[` + strings.Repeat(`{"word":"a","say":"b"},`, 500) + `{"word":"a","say":"b"}]}`, "settings.pronunciation: 501 entries, allowed are 500"},
	} {
		_, err := ParseSettings([]byte(c.data))
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%.40s: %v, want %q", c.data, err, c.wrong)
		}
	}
}

// Each setting is in the schema, and the schema has no other.
func TestEverySettingIsDescribed(t *testing.T) {
	var have []string
	for f := range reflect.TypeFor[Settings]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		have = append(have, name)
	}
	slices.Sort(have)
	if described := slices.Sorted(maps.Keys(SettingsSchema.Properties)); !slices.Equal(have, described) {
		t.Errorf("settings are %v, settings_schema.go describes %v", have, described)
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
	if want := turn.DefaultConfig("de"); c.MinDelay != want.MinDelay || c.FalseInterruptionTimeout != want.FalseInterruptionTimeout || c.Idle != want.Idle || c.Language != "de" || c.Barge != turn.Always {
		t.Errorf("the default is %+v", c)
	}
	if s.MaxDuration() != DefaultMaxDuration || s.Ring() != DefaultRing {
		t.Errorf("it lasts %v and rings %v", s.MaxDuration(), s.Ring())
	}
	c, s = parse(`{"min_endpoint_ms":900,"max_endpoint_ms":300,"barge_in_ms":2000,"interruptible":"never","idle_seconds":3,"idle_reprompts":5,"max_duration_seconds":60,"ring_ms":0}`)
	if c.MinDelay != 900*ms || c.MaxDelay != 900*ms || c.BargeInAfter != 2000*ms || c.Idle != 3*media.Second || c.Reprompts != 5 || c.Barge != turn.Never {
		t.Errorf("got %+v", c)
	}
	if c.ScoredDelay != 900*ms {
		t.Errorf("a scored pause may be %v", c.ScoredDelay.Duration())
	}
	if c, _ := parse(`{"max_endpoint_ms":300}`); c.MinDelay != 300*ms || c.MaxDelay != 300*ms {
		t.Errorf("the waits are %v to %v", c.MinDelay.Duration(), c.MaxDelay.Duration())
	}
	if c.FalseInterruptionTimeout <= c.BargeInAfter {
		t.Errorf("the timeout is %v, before anybody can have spoken for %v", c.FalseInterruptionTimeout.Duration(), c.BargeInAfter.Duration())
	}
	if c.Greeting != turn.Never || !c.Keys || !s.Speculate(true) || s.Speculate(false) {
		t.Errorf("the first message %v, keys %v, speculation %v", c.Greeting, c.Keys, s.Speculate(true))
	}
	first, s2 := parse(`{"interruptible":"after_first_sentence","first_message_interruptible":"always","key_interrupts":false,"speculative_llm":false}`)
	if first.Barge != turn.AfterFirst || first.Greeting != turn.Always || first.Keys || s2.Speculate(true) {
		t.Errorf("got %+v", first)
	}
	if held, _ := parse(`{"hold_announcement_seconds":45}`); held.Announce != 45*media.Second || c.Announce != 0 {
		t.Errorf("announcements come each %v, and without a setting each %v", held.Announce.Duration(), c.Announce.Duration())
	}
	if s.MaxDuration() != time.Minute || s.Ring() != 0 {
		t.Errorf("it lasts %v and rings %v", s.MaxDuration(), s.Ring())
	}
}

func TestTransferSettings(t *testing.T) {
	list := func(n int) string {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(`{"number":"+3491123%04d"}`, 4000+i))
		}
		return `{"transfer_to":[` + strings.Join(entries, ",") + `]}`
	}
	for _, c := range []struct{ data, wrong string }{
		{`{"transfer_to":[{"number":"+34 911 234 567","name":" sales ","description":"Orders","warm":true},{"number":"+34911234568","stay":true}],"transfer_any":true}`, ""}, {`{"listening_tone":true}`, ""},
		{`{"hold_announcement_seconds":0}`, ""}, {`{"hold_announcement_seconds":20,"hold_announcement":"Wait."}`, ""}, {`{"hold_announcement_seconds":300}`, ""},
		{`{"hold_announcement_seconds":19}`, "settings.hold_announcement_seconds: 19, must be 0 or at least 20"},
		{`{"hold_announcement_seconds":301}`, "hold_announcement_seconds"}, {`{"hold_announcement":"` + strings.Repeat("a", 301) + `"}`, "settings.hold_announcement: 301 characters, allowed are 300"},
		{`{"send_dtmf":false,"collect_digits":false,"opt_out":false}`, ""}, {`{"send_sms":true,"sms_from":"+12125550100"}`, ""},
		{`{"sms_from":"12125550100"}`, "must be a telephone number such as +12125550100"}, {list(32), ""}, {list(33), "settings.transfer_to: 33 entries, allowed are 32"},
		{`{"transfer_to":[{"number":"911234567"}]}`, "settings.transfer_to[0].number: must be a telephone number"},
		{`{"transfer_to":[{"number":" SIP:200@PBX.example.com;transport=TCP","name":"ward"},{"number":"sip:lola@[2001:db8::7]:5070"}]}`, ""},
		{`{"transfer_to":[{"number":"sip:200@pbx.example.com"},{"number":"sip:200@PBX.example.com"}]}`, `settings.transfer_to[1]: there are two of "sip:200@pbx.example.com"`},
		{`{"transfer_to":[{"number":"sip:200"}]}`, "settings.transfer_to[0].number: This is not a SIP address"},
		{`{"transfer_to":[{"number":"sip:+34911234567@pbx.example.com"}]}`, "settings.transfer_to[0].number: This is the SIP address of a telephone number."},
		{`{"transfer_to":[{"number":"sip:112@pbx.example.com"}]}`, "settings.transfer_to[0].number: is an emergency number."},
		{`{"transfer_to":[{"number":"112"}]}`, "settings.transfer_to[0].number: is an emergency number. Parley does not place emergency calls."},
		{`{"transfer_to":[{"number":"+34911234567","extension":1}]}`, "extension"},
		{`{"transfer_to":[{"number":"+34911234567","name":"` + strings.Repeat("a", 61) + `"}]}`, "settings.transfer_to[0].name: 61 characters, allowed are 60"},
		{`{"transfer_to":[{"number":"+34911234567","description":"a\nb"}]}`, `settings.transfer_to[0].description: "a\nb", must be one line`},
		{`{"transfer_to":[{"number":"+34911234567","name":"Sales"},{"number":"+34911234568","name":"sales"}]}`, `settings.transfer_to[1]: there are two of "sales"`},
	} {
		_, err := ParseSettings([]byte(c.data))
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%.60s: %v, want %q", c.data, err, c.wrong)
		}
	}
}
