package remote

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/cmd/parley/command"
)

// TestAccountThings: numbers, lists, keys, secrets, evidence, latencies and webhooks, each way to ask for them.
func TestAccountThings(t *testing.T) {
	s := fakeServer(t)
	for _, tt := range []struct {
		line, in string
		says     []string
		body     string // that was sent; empty: not looked at
	}{
		{"number list", "", []string{"1 number, 5.25 USD a month\nnum_1", "+34911234567", "active", "agent ag_one"}, ""},
		{"number search --country es --locality Madrid", "", []string{"1 number\n", "+34910000009", "Madrid"}, ""},
		{"number buy +34910000009 --agent ag_one", "", []string{"+34910000009", "agent ag_one"}, `{"agent_id":"ag_one","phone_number":"+34910000009"}`},
		{"number buy +34910000009", "", []string{"agent none"}, `{"phone_number":"+34910000009"}`},
		{"number assign +34911234567 --agent ag_two", "", []string{"agent ag_two"}, `{"agent_id":"ag_two"}`},
		{"number assign num_1 --webhook wh_1", "", []string{"num_1"}, `{"webhook_id":"wh_1"}`},
		{"number rules +34911234567", "", []string{"schedule:\n", "- 09:00-14:00"}, ""},
		{"number rules num_1 --file -", "closed: {message: Bye.}\nschedule: {monday: []}\n", []string{"message: Bye."}, `{"closed":{"message":"Bye."},"schedule":{"monday":[]}}`},
		{"number try +34911234567 --at 2026-12-25T10:00 --keys 2 --lines-out", "", []string{"message  \"Closed.\"\n", "It is Friday.\nFriday: closed.\n"}, `{"at":"2026-12-25T10:00","out":"lines","keys":"2"}`},
		{"number try num_1 --file -", "language: es", []string{"message"}, `{"rules":{"language":"es"}}`},
		{"number release +34911234567", "", []string{"released\t+34911234567"}, ""},
		{"trunk list", "", []string{"1 trunk\n", "trk_1", "office", "1 of 2 targets up, 2 calls, registered until"}, ""},
		{"trunk show office", "", []string{"name: office\n", "host: sip.carrier.example", "country: DE"}, ""},
		{"trunk create -", "name: office\ntargets:\n  - host: sip.carrier.example\n", []string{"trk_1\n"}, `{"name":"office","targets":[{"host":"sip.carrier.example"}]}`},
		{"trunk create --preset asterisk --name pbx --target 192.0.2.20:5080 --target tls:192.0.2.21 --allow 192.0.2.20 --inbound-username pbx", "", []string{"trk_1\n"},
			`{"name":"pbx","preset":"asterisk","targets":[{"host":"192.0.2.20","port":5080},{"host":"192.0.2.21","transport":"tls"}],"allow":["192.0.2.20"],"inbound_username":"pbx"}`},
		{"trunk create - --preset telnyx --username me --from-host a.example", "{name: line, register: false, username: you}", []string{"trk_1\n"},
			`{"name":"line","preset":"telnyx","username":"me","register":false,"from_host":"a.example"}`},
		{"trunk create --name line --target sip.carrier.example --outbound-proxy tcp:192.0.2.3:5070 --contact-host voice.example.com --public-ip 203.0.113.9", "", []string{"trk_1\n"},
			`{"name":"line","targets":[{"host":"sip.carrier.example"}],"outbound_proxy":{"host":"192.0.2.3","port":5070,"transport":"tcp"},"contact_host":"voice.example.com","public_ip":"203.0.113.9"}`},
		{"trunk presets", "", []string{"1 preset\n", "asterisk", "documented", "Asterisk and FreePBX"}, ""},
		{"trunk presets asterisk", "", []string{"targets, allow", "https://docs.asterisk.example", "On the other side:\n1. SIP Server: voice.example.com\n"}, ""},
		{"trunk set office -", "{name: office, country: DE, strip: 1}", []string{"udp:192.0.2.10:5060", "503 Service Unavailable"}, `{"name":"office","country":"DE","strip":1}`},
		{"trunk check office", "", []string{"192.0.2.10:5060", "up", "down", "calls"}, ""},
		{"trunk number office +4934112345678 --agent ag_one", "", []string{"+4934112345678", "0 USD", "agent ag_one"}, `{"phone_number":"+4934112345678","agent_id":"ag_one"}`},
		{"trunk delete office", "", []string{"deleted\toffice"}, ""},
		{"message send --from +12125550100 +14155550177 Hello --once one", "", []string{"msg_2", "Hello", "not in service"}, `{"from":"+12125550100","to":"+14155550177","text":"Hello"}`},
		{"message list --direction outbound", "", []string{"1 message\n", "+12125550100 -> +14155550177", "Your table is booked."}, ""},
		{"message show msg_1", "", []string{"1, gsm7", "0.012 USD", "ses_1"}, ""},
		{"message delete msg_1", "", []string{"deleted\tmsg_1"}, ""},
		{"do-not-call list", "", []string{"1 number\n", "+34612345678", "by api", "wrote to us"}, ""},
		{"do-not-call add +34612345679 --reason asked", "", []string{"+34612345679", "asked"}, `{"number":"+34612345679","reason":"asked"}`},
		{"do-not-call check +34612345678", "", []string{"wrote to us"}, ""},
		{"do-not-call remove +34612345678", "", []string{"removed\t+34612345678"}, ""},
		{"do-not-call export", "", []string{"table,do-not-call\r\n"}, ""},
		{"do-not-call import -", "number,reason\n+34612345678,x\n", []string{"2 added, 1 on the list before"}, "number,reason\n+34612345678,x\n"},
		{"consents", "", []string{"1 consent\n1 ", "ses_1", "192.0.2.7"}, ""},
		{"consents export", "", []string{"table,consents\r\n"}, ""},
		{"latency", "", []string{"day         calls", "all         2      9      781  1562  2343", "2026-03-01  2      9      780"}, ""},
		{"latency engines", "", []string{"1 engine\n", "haiku", "740"}, ""},
		{"key list", "", []string{"1 key\n", "website", "…x7Qa", "member", "used never"}, ""},
		{"key create --name ci --role owner --money", "", []string{"sk_made", "shown once"}, `{"name":"ci","role":"owner","money":true}`},
		{"key revoke key_1", "", []string{"revoked\tkey_1"}, ""},
		{"secret list", "", []string{"1 secret\n", "BOOKING_KEY", "not bound"}, ""},
		{"secret set BOOKING_KEY --host api.example.com --host x.example.com", "Bearer 8f0c 2a71\n", []string{"api.example.com x.example.com"},
			`{"value":"Bearer 8f0c 2a71","hosts":["api.example.com","x.example.com"]}`},
		{"secret delete BOOKING_KEY", "", []string{"deleted\tBOOKING_KEY"}, ""},
		{"engine-key list", "", []string{"1 key\n", "flux", "refused", "status 401"}, ""},
		{"engine-key set flux", "a-key-of-deepgram\n", []string{"flux", "…gram"}, ""},
		{"engine-key delete flux", "", []string{"deleted\tflux"}, ""},
		{"webhook list", "", []string{"1 webhook\n", "https://example.com/parley", "enabled", "all events"}, ""},
		{"webhook show wh_1", "", []string{"wh_1"}, ""},
		{"webhook create https://example.com/x --event call.ended --description Bookings", "", []string{"https://example.com/x", "whsec_made"},
			`{"url":"https://example.com/x","description":"Bookings","events":["call.ended"]}`},
		{"webhook update wh_1 --event all --to https://example.com/y", "", []string{"https://example.com/y"}, `{"url":"https://example.com/y","events":[]}`},
		{"webhook disable wh_1", "", []string{"disabled: asked"}, `{"enabled":false}`},
		{"webhook enable wh_1", "", []string{"enabled"}, `{"enabled":true}`},
		{"webhook rotate wh_1", "", []string{"whsec_made"}, ""},
		{"webhook test wh_1", "", []string{"evt_1"}, ""},
		{"webhook deliveries wh_1", "", []string{"1 event\n", "call.ended", "1 attempt ", "200 after 83 ms"}, ""},
		{"webhook retry wh_1 evt_1", "", []string{"evt_1"}, ""},
		{"webhook delete wh_1", "", []string{"deleted\twh_1"}, ""},
	} {
		before := len(s.Bodies())
		o := run(tt.in, strings.Fields(tt.line)...)
		if o.Status != command.ExitDone {
			t.Errorf("%s: exit status %d: %s%s", tt.line, o.Status, o.Out, o.ErrOut)
		}
		for _, want := range tt.says {
			if !strings.Contains(o.Out, want) {
				t.Errorf("%s: %q is not in\n%s", tt.line, want, o.Out)
			}
		}
		if sent := s.Bodies()[before:]; tt.body != "" && !slices.Equal(sent, []string{tt.body}) {
			t.Errorf("%s: sent was %q", tt.line, sent)
		}
		if strings.Contains(tt.line, "export") || strings.HasPrefix(tt.line, "number buy") {
			continue
		}
		if o := run(tt.in, append(strings.Fields(tt.line), "--json")...); o.Status != command.ExitDone || !json.Valid([]byte(o.Out)) {
			t.Errorf("%s --json: exit status %d: %s%s", tt.line, o.Status, o.Out, o.ErrOut)
		}
	}
	for _, r := range s.Requests() {
		if strings.Contains(r, "8f0c") || strings.Contains(r, "deepgram") {
			t.Errorf("a secret is in an address: %s", r)
		}
	}
}

// TestAccountMistakes: what is wrong with a command line, and what is not there.
func TestAccountMistakes(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	for line, status := range map[string]int{
		"number search": command.ExitUsage, "number assign num_1": command.ExitUsage, "number rules num_1 --file none.yaml": command.ExitFailed, "number try num_1 --lines-out --no-balance": command.ExitUsage, "number release +34900000000": command.ExitNotFound,
		"do-not-call check +34612345679": command.ExitNotFound, "message show msg_9": command.ExitNotFound, "message send +14155550177 Hello": command.ExitUsage, "do-not-call import none.csv": command.ExitFailed, "do-not-call export --json": command.ExitUsage,
		"latency --by week": command.ExitUsage, "latency --direction up": command.ExitUsage, "latency engines --direction up": command.ExitUsage, "key create": command.ExitUsage, "key revoke key_nobody": command.ExitNotFound,
		"secret set KEY": command.ExitUsage, "secret delete nobody": command.ExitNotFound, "webhook update wh_1": command.ExitUsage,
		"webhook deliveries wh_1 --limit 0": command.ExitUsage, "webhook delete wh_nobody": command.ExitNotFound, "engine-key test flux": command.ExitFailed,
		"trunk create none.yaml": command.ExitFailed, "trunk create --preset asterisk": command.ExitUsage, "trunk create --name x --target a:b": command.ExitUsage, "trunk presets nobody": command.ExitUsage, "trunk check broken": command.ExitFailed, "trunk delete nobody": command.ExitNotFound,
	} {
		if o := run("", strings.Fields(line)...); o.Status != status {
			t.Errorf("%s: exit status %d: %s%s", line, o.Status, o.Out, o.ErrOut)
		}
	}
	if n := len(s.Bodies()); n != 0 {
		t.Errorf("%d changes were asked for", n)
	}
	// A secret is not part of the command that --curl prints.
	o := run("hunter22\n", "secret", "set", "KEY", "--curl")
	if o.Status != command.ExitDone || strings.Contains(o.Out+o.ErrOut, "hunter22") || !strings.Contains(o.Out, "/v1/secrets/KEY'") || !strings.HasSuffix(o.Out, " -d @-\n") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run("", "consents", "export", "consents.csv", "--json"); o.Status != command.ExitDone || !strings.Contains(o.Out, `"file":"consents.csv"`) {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if b, err := os.ReadFile(filepath.Join(".", "consents.csv")); err != nil || string(b) != "table,consents\r\n" {
		t.Errorf("%q, %v", b, err)
	}
}
